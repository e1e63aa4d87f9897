/* Hyperelastic tetrahedra (energy/elastic.h) and the inertia of nodes, on a machine.  Vectors are the machine's, [3 nv] in the
 * order of the model's nodes. */
#ifndef ABUT_GPU_TETS_H
#define ABUT_GPU_TETS_H

#include "contact/step_bound.h"
#include "energy/elastic.h"
#include "gpu/buffer.h"

typedef struct abut_gpu_tets {
    abut_queue *q;
    const abut_elastic *elastic;        /* borrowed */
    size_t nt, nv;
    abut_buffer node, B, volume, mu, lambda, model;
    abut_buffer first, corner;          /* tet corners at each node */
    abut_buffer energy, force, scalar;
} abut_gpu_tets;

/** Keeps q and e.
 * Fails  ABUT_E_FORMAT a material has what the device does not know (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_tets_init(abut_gpu_tets *t, abut_queue *q, const abut_elastic *e, abut_err *err);
void abut_gpu_tets_clear(abut_gpu_tets *t);

/** *out = sum of volume psi at z, J; +inf where abut_elastic_recall says so.  out: the machine's.  Leaves the forces at z. */
ABUT_MUST_USE abut_status abut_gpu_tets_energy(abut_gpu_tets *t, const double *z, double *out, abut_err *err);
/** g += scale dE/dx at z; z NULL: with the forces that were left last. */
ABUT_MUST_USE abut_status abut_gpu_tets_gradient(abut_gpu_tets *t, const double *z, double scale, double *g, abut_err *err);
/** H[90 nt] = scale times the projected Hessians at z, packed (sparse/elements.h). */
ABUT_MUST_USE abut_status abut_gpu_tets_hessian(abut_gpu_tets *t, const double *z, double scale, double *H, abut_err *err);
/** abut_limit_inversion, to the bits. */
ABUT_MUST_USE abut_status abut_gpu_tets_bound(abut_gpu_tets *t, const double *x, const double *p, double slack, abut_limit *lim,
                                              abut_err *err);

/* Arrays of inertia, the machine's. */
typedef struct abut_gpu_inertia {
    const double *mass;         /* [nv] */
    const uint8_t *held;        /* [nv] */
    const double *xn, *xhat;    /* [3 nv] */
    int inertia;                /* 0: quasi-static */
    size_t nv;
} abut_gpu_inertia;

/** *out = inertia of abut_objective_energy at x; part[nv]: scratch; all the machine's. */
ABUT_MUST_USE abut_status abut_gpu_nodes_energy(abut_queue *q, const abut_gpu_inertia *of, const double *x, double *part,
                                                double *out, abut_err *err);
/** g = its gradient, 0 of held nodes. */
ABUT_MUST_USE abut_status abut_gpu_nodes_gradient(abut_queue *q, const abut_gpu_inertia *of, const double *x, double *g,
                                                  abut_err *err);
/** v = 0 of held nodes. */
ABUT_MUST_USE abut_status abut_gpu_nodes_hold(abut_queue *q, const uint8_t *held, double *v, size_t nv, abut_err *err);

#endif
