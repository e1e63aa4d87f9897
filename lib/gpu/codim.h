/* Shells, hinges, rod segments and bends (energy/codim.h) on a machine.  Vectors are the machine's, [3 nv]
 * in the order of the model's nodes. */
#ifndef ABUT_GPU_CODIM_H
#define ABUT_GPU_CODIM_H

#include "contact/step_bound.h"
#include "energy/codim.h"
#include "gpu/buffer.h"

/* Zero-filled is empty: it has neither energy nor bounds. */
typedef struct abut_gpu_codim {
    abut_queue *q;
    const abut_codim *codim;              /* borrowed */
    size_t shells, n /* elements */, nv;
    double kappa;                       /* Pa: of stretch limits and of what stiffens strain bounds; as at first */
    abut_buffer node, material, model, B, volume, law, limit, stiffness, angle;
    abut_buffer rod_stiffness, rod_length, bend_stiffness;
    abut_buffer tension;                /* [segments] N: what the Hessian takes for theirs */
    abut_buffer first, corner;          /* element corners at each node */
    abut_buffer energy, force, H, scalar;
} abut_gpu_codim;

/** Keeps q and codim.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_codim_init(abut_gpu_codim *s, abut_queue *q, const abut_codim *codim, abut_err *err);
void abut_gpu_codim_clear(abut_gpu_codim *s);

/** *out = abut_codim_energy of all parts at z, J, or +inf; out: the machine's.  Keeps the forces at z. */
ABUT_MUST_USE abut_status abut_gpu_codim_energy(abut_gpu_codim *s, const double *z, double *out, abut_err *err);
/** g += scale dE/dx at z; z NULL: with the forces that were left last. */
ABUT_MUST_USE abut_status abut_gpu_codim_gradient(abut_gpu_codim *s, const double *z, double scale, double *g, abut_err *err);
/** s->H[90 n]: scale times the projected Hessians of the elements at z, packed (sparse/elements.h); ahead: with the forecast of
 * the tensions of segments (abut_codim_hessian_ahead). */
ABUT_MUST_USE abut_status abut_gpu_codim_hessian(abut_gpu_codim *s, const double *z, double scale, int ahead, abut_err *err);

/** H[90 n] = projected Hessians for damping: with the tensions at z, and without the stiffening by bounds. */
ABUT_MUST_USE abut_status abut_gpu_codim_frozen(abut_gpu_codim *s, const double *z, double scale, double *H, abut_err *err);

/* The forecast of tensions of the term "codim": its start at z; its update by a step from x0, where elasticity is at z, to x1
 * with the fraction `taken` (at most 1) of a direction, `reach` = dz/dx; whether it is fair at z.  mass [nv], the machine's. */
ABUT_MUST_USE abut_status abut_gpu_codim_forecast_start(abut_gpu_codim *s, const double *z, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_codim_forecast_step(abut_gpu_codim *s, const double *z, const double *x0, const double *x1,
                                                       double reach, double taken, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_codim_forecast_is_fair(abut_gpu_codim *s, const double *z, const double *mass, double inertia,
                                                          double weight, int *fair, abut_err *err);
/** abut_limit_stretch, to the bits. */
ABUT_MUST_USE abut_status abut_gpu_codim_bound(abut_gpu_codim *s, const double *x, const double *p, double slack,
                                                abut_limit *lim, abut_err *err);
/** *room = room of abut_codim_stretch_find at x. */
ABUT_MUST_USE abut_status abut_gpu_codim_room(abut_gpu_codim *s, const double *x, double *room, abut_err *err);

#endif
