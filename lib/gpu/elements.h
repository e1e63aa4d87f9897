/* Elements on a machine: hyperelastic tetrahedra (energy/elastic.h), shells, hinges, rod segments and bends (energy/codim.h),
 * springs and attachments (energy/spring.c), Rayleigh damping (energy/damping.c), and the inertia of nodes.  Vectors are the
 * machine's, [3 nv] in the order of the model's nodes; Hessians are projected and packed (sparse/elements.h). */
#ifndef ABUT_GPU_ELEMENTS_H
#define ABUT_GPU_ELEMENTS_H

#include "contact/step_bound.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/mass.h"
#include "gpu/machine.h"

/* ---- tets ---- */

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
/** Arguments of the kernels of tets at x. */
abut_tet_args abut_gpu_tets_args(const abut_gpu_tets *t, const double *x);
/** abut_limit_inversion, to the bits. */
ABUT_MUST_USE abut_status abut_gpu_tets_bound(abut_gpu_tets *t, const double *x, const double *p, double slack, abut_limit *lim,
                                              abut_err *err);

/* ---- shells, hinges, rod segments and bends ---- */

/* Zero-filled is empty: it has neither energy nor bounds. */
typedef struct abut_gpu_codim {
    abut_queue *q;
    const abut_codim *codim;            /* borrowed */
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
/** s->H[90 n]: scale times the Hessians of the elements at z; ahead: with the forecast of the tensions of segments
 * (abut_codim_hessian_ahead). */
ABUT_MUST_USE abut_status abut_gpu_codim_hessian(abut_gpu_codim *s, const double *z, double scale, int ahead, abut_err *err);

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

/* ---- springs and attachments ---- */

enum { ABUT_GPU_SPRINGS, ABUT_GPU_ATTACHMENTS, ABUT_GPU_TIES };

/* Zero-filled is empty: it has no energy. */
typedef struct abut_gpu_ties {
    abut_queue *q;
    const abut_model *model;                /* borrowed */
    struct abut_gpu_tie_set {
        size_t n;
        int corners;
        abut_buffer node, weight, offset, stiffness, length;
        abut_buffer first, corner;          /* corners at each node */
        abut_buffer energy, force, H;       /* H[n * abut_packed_size(corners)] */
    } set[ABUT_GPU_TIES];
} abut_gpu_ties;

/** Keeps q and m.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_ties_init(abut_gpu_ties *t, abut_queue *q, const abut_model *m, abut_err *err);
void abut_gpu_ties_clear(abut_gpu_ties *t);

/** out[k] (the machine's) = the energy of set k at z, J; sets without elements are left out.  Leaves the forces at z. */
ABUT_MUST_USE abut_status abut_gpu_ties_energy(abut_gpu_ties *t, const double *z, double *out, abut_err *err);
/** g += scale dE/dx at z; z NULL: with the forces that were left last. */
ABUT_MUST_USE abut_status abut_gpu_ties_gradient(abut_gpu_ties *t, const double *z, double scale, double *g, abut_err *err);
/** H of both sets: scale times the Hessians at z. */
ABUT_MUST_USE abut_status abut_gpu_ties_hessian(abut_gpu_ties *t, const double *z, double scale, abut_err *err);

/* ---- damping of masses, tets and thin elements ---- */

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

/* ---- nodes ---- */

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
