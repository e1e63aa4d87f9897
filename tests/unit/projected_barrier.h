/* The Hessians of contacts by the first row of the table, projected, where a test wants them at once. */
#ifndef ABUT_TESTS_PROJECTED_BARRIER_H
#define ABUT_TESTS_PROJECTED_BARRIER_H

#include "energy/barrier.h"

/* slot[(n + n_plane) * 4] (NULL to skip), H[(n + n_plane) * abut_packed_size(4)] */
static inline void projected_barrier(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                     int32_t *slot, double *H)
{
    const abut_barrier_curvature c = { abut_barrier_hessians[0], 0 };
    abut_barrier_hessian_by(cm, pairs, &c, y, kappa, H);
    if (slot) abut_barrier_slots(cm, pairs, &c, slot);
}

#endif
