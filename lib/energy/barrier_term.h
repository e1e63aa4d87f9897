/* The contact barrier as a term, and its stiffness. */
#ifndef ABUT_ENERGY_BARRIER_TERM_H
#define ABUT_ENERGY_BARRIER_TERM_H

#include "energy/barrier.h"

struct abut_terms;
struct abut_at;

typedef struct abut_barrier_state {
    double kappa;               /* kg/m^2 */
    double in_frame;            /* kappa of the frame that was loaded; NaN: the frame has none */
    const abut_model *model;
    const abut_collmesh *cm;
    abut_barrier_curvature curvature;
    int32_t *slot;              /* [4 cap] of the elements at the last point (contact/collision_mesh.h) */
    size_t cap;
} abut_barrier_state;

/** Returns the barrier of the list, which every model has. */
abut_barrier_state *abut_barrier_state_of(const struct abut_terms *terms);
/** Chooses the Hessians of the barrier, NULL: projected; with the filter of the model.
 * Fails  ABUT_E_FORMAT the model has a filter, which these Hessians do not support */
ABUT_MUST_USE abut_status abut_barrier_choose(abut_barrier_state *b, const abut_barrier_hessian_ops *ops, abut_err *err);
/** g[3 nv] += the gradient at kappa = 1. */
ABUT_MUST_USE abut_status abut_barrier_unit_gradient(const abut_barrier_state *b, const struct abut_at *at, double *g,
                                                     abut_arena *scratch, abut_err *err);
/** Returns kappa for the next step: doubled, up to `most`, if the smallest gap, m, was below `below`, still is, and has shrunk
 * (Li 2020, App. F); else kappa. */
double abut_barrier_stiffer(double kappa, double most, double below, double gap_before, double gap_after);
/** Sets b->kappa to abut_barrier_stiffer with the bounds of its model; 1: it has grown. */
int abut_barrier_stiffen(abut_barrier_state *b, double gap_before, double gap_after);

#endif
