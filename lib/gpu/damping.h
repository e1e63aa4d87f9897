/* Rayleigh damping (energy/damping.h) of masses, tets and thin elements on a machine.  Vectors are the machine's, [3 nv] in the
 * order of the model's nodes. */
#ifndef ABUT_GPU_DAMPING_H
#define ABUT_GPU_DAMPING_H

#include "energy/damping.h"
#include "gpu/codim.h"
#include "gpu/tets.h"

/* Zero-filled: no damping. */
typedef struct abut_gpu_damping {
    abut_queue *q;
    const abut_damping *of;         /* borrowed, as the two below and mass */
    abut_gpu_tets *tets;
    abut_gpu_codim *codim;
    const double *mass;             /* [nv] */
    const double *from;             /* damping opposes x - from */
    double rate;                    /* a_M, weighed */
    abut_buffer K, codim_K;         /* of elements, weighed; empty without stiffness in it */
    abut_buffer energy, force;
} abut_gpu_damping;

/* Energies of: masses, tets, thin elements. */
enum { ABUT_GPU_DAMP_MASS, ABUT_GPU_DAMP_TETS, ABUT_GPU_DAMP_CODIM, ABUT_GPU_DAMPED };

/** d NULL: no damping.  Keeps all of them. */
void abut_gpu_damping_init(abut_gpu_damping *p, abut_queue *q, const abut_damping *d, abut_gpu_tets *t, abut_gpu_codim *codim,
                           const double *mass);
void abut_gpu_damping_clear(abut_gpu_damping *p);
/** Begins a step at x0: makes the stiffness matrices there, times `weight` (abut_term_step.damping).  Keeps from. */
ABUT_MUST_USE abut_status abut_gpu_damping_freeze(abut_gpu_damping *p, const double *x0, const double *from, double weight,
                                                  abut_err *err);
/** out[ABUT_GPU_DAMPED] (the machine's): D at x; entries of missing parts are not written. */
ABUT_MUST_USE abut_status abut_gpu_damping_energy(abut_gpu_damping *p, const double *x, double *out, abut_err *err);
/** g += dD/dx. */
ABUT_MUST_USE abut_status abut_gpu_damping_gradient(abut_gpu_damping *p, const double *x, double *g, abut_err *err);

#endif
