/* The Hessians of contacts that a solver may take (step --barrier-hessian).  One is a file with an abut_barrier_hessian_ops and a
 * row in barrier_hessians.c.
 *
 * d is the distance of a contact, thickness included, v its gradient: v_i = w_i n of the closest-point weights w and the unit
 * normal n.  b_d = 2 d b' and b_dd = 4 d^2 b'' + 2 b' are the derivatives of the barrier (energy/barrier_laws.h) along d.  The
 * Hessian of a plain contact is
 *
 *     b_dd v v^T + b_d Hess d,    b_dd > 0 > b_d,
 *
 * whose first term is the Gauss-Newton Hessian (Huang et al. 2024, GIPC, 5.3). */
#ifndef ABUT_ENERGY_BARRIER_HESSIANS_H
#define ABUT_ENERGY_BARRIER_HESSIANS_H

#include "energy/barrier_pair.h"

typedef struct abut_barrier_hessian_ops {
    const char *name, *help;
    int indefinite;     /* 1: its matrices may be */
    int rank;           /* an element has so many terms of rank one (sparse/elements.h); 0: it is packed */
    int kernel;         /* ABUT_HESSIAN_*: that of a GPU */
    int filters;        /* curvature is taken at `least` where the gap is smaller: contact.barrier.filter (GIPC, Eq. 23) */
    /** scale[n] >= 0 times the matrices of n <= ABUT_LANES plain contacts of one kind at once, x[n][12], laws of one number, one
     * after the other into val; least m.  Blocks of unused corners are not written, or 0. */
    void (*plain)(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                  const double *scale, double *val);
    /** Matrices of mollified edge pairs, as in `plain`; eps_x[n] m^4; each pair has abut_mollified_elements elements. */
    void (*mollified)(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                      const double *scale, double *val);
    /** Curvature along v of a contact at d, over kappa, m^2; a half-space has no other.  NULL: b_dd. */
    double (*normal)(abut_barrier_law law, double least, double d);
} abut_barrier_hessian_ops;

/* A choice among them. */
typedef struct abut_barrier_curvature {
    const abut_barrier_hessian_ops *ops;
    double least;       /* m; 0: no filter */
} abut_barrier_curvature;

/* The first is the default; NULL at the end. */
extern const abut_barrier_hessian_ops *const abut_barrier_hessians[];
/** Fails  ABUT_E_ARG there is none of that name (lists the names) */
ABUT_MUST_USE abut_status abut_barrier_hessian_find(const char *name, const abut_barrier_hessian_ops **ops, abut_err *err);

/** Elements of a mollified pair, whose Gauss-Newton matrix has rank 2. */
static inline size_t abut_mollified_elements(const abut_barrier_hessian_ops *ops) { return ops->rank == 1 ? 2 : 1; }

/** The curvature along v of a contact at d. */
double abut_barrier_normal(const abut_barrier_curvature *c, abut_barrier_law law, double d);

#endif
