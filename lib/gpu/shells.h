/* Shells and the hinges between them (energy/codim.h) on a machine.  Vectors are the machine's, [3 nv]
 * in the order of the model's nodes. */
#ifndef ABUT_GPU_SHELLS_H
#define ABUT_GPU_SHELLS_H

#include "contact/step_bound.h"
#include "energy/codim.h"
#include "gpu/buffer.h"

/* Zero-filled is empty: it has neither energy nor bounds. */
typedef struct abut_gpu_shells {
    abut_queue *q;
    const abut_codim *codim;              /* borrowed */
    size_t shells, n /* elements, hinges after shells */, nv;
    double kappa;                       /* Pa: of stretch limits and of what stiffens strain bounds; as at first */
    abut_buffer node, material, model, B, volume, law, limit, stiffness, angle;
    abut_buffer first, corner;          /* element corners at each node */
    abut_buffer energy, force, H, scalar;
} abut_gpu_shells;

/** Keeps q and codim.
 * Fails  ABUT_E_FORMAT there are rods; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_shells_init(abut_gpu_shells *s, abut_queue *q, const abut_codim *codim, abut_err *err);
void abut_gpu_shells_clear(abut_gpu_shells *s);

/** *out = what abut_codim_energy says of all parts at z, J, +inf as there.  out: the machine's.  Leaves the forces at z. */
ABUT_MUST_USE abut_status abut_gpu_shells_energy(abut_gpu_shells *s, const double *z, double *out, abut_err *err);
/** g += scale dE/dx at z; z NULL: with the forces that were left last. */
ABUT_MUST_USE abut_status abut_gpu_shells_gradient(abut_gpu_shells *s, const double *z, double scale, double *g, abut_err *err);
/** s->H[90 n]: scale times the projected Hessians of the elements at z, packed (sparse/elements.h). */
ABUT_MUST_USE abut_status abut_gpu_shells_hessian(abut_gpu_shells *s, const double *z, double scale, abut_err *err);
/** abut_limit_stretch, to the bits. */
ABUT_MUST_USE abut_status abut_gpu_shells_bound(abut_gpu_shells *s, const double *x, const double *p, double slack,
                                                abut_limit *lim, abut_err *err);
/** *room = that of abut_codim_stretch_find at x. */
ABUT_MUST_USE abut_status abut_gpu_shells_room(abut_gpu_shells *s, const double *x, double *room, abut_err *err);

#endif
