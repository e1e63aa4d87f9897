/* H p = b with the second derivative H of the objective of a step, without projection, majorant or shift. */
#ifndef ABUT_ADJOINT_SYSTEM_H
#define ABUT_ADJOINT_SYSTEM_H

#include "base/par.h"
#include "energy/barrier_hessians.h"
#include "solve/objective.h"
#include "sparse/linear_solver.h"

/* a . b of n numbers, summed with twice the digits */
static inline double abut_adjoint_dot(size_t n, const double *a, const double *b)
{
    abut_acc s = { 0, 0 };
    for (size_t i = 0; i < n; i++) abut_acc_add(&s, a[i] * b[i]);
    return s.hi + s.lo;
}

/* Zero-filled is empty.  Borrows the objective. */
typedef struct abut_adjoint_system {
    abut_objective *o;
    abut_barrier_curvature of_run;  /* Hessians of contacts that steps are solved with */
    abut_bsr A;
    abut_linear_solver linear;
    int32_t *rows;          /* [nv] o->row of the pattern; -2: no pattern yet */
    double *diag;           /* [nv] */
    double *work;           /* [9 * 3 nv] of the solutions */
    int indefinite;         /* 1: A has no Cholesky factor; linear has the factor of the projected matrix */
    int32_t bad_node;       /* node of the failed pivot, -1: unknown */
} abut_adjoint_system;

ABUT_MUST_USE abut_status abut_adjoint_system_init(abut_adjoint_system *s, abut_objective *o, int threads, abut_err *err);
void abut_adjoint_system_clear(abut_adjoint_system *s);

/** Computes H on the unknowns of the objective at a point, and its factor.
 * Fails  ABUT_E_NUMERIC the projected matrix has no factor either; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_system_take(abut_adjoint_system *s, const abut_at *at, abut_err *err);

/** Restores the Hessians of the objective for solving steps: projected, as before abut_adjoint_system_take. */
void abut_adjoint_system_leave(const abut_adjoint_system *s);

/* How a system was solved. */
typedef struct abut_adjoint_solution {
    double error;           /* |H p - b| / |b| */
    int iterations;         /* of MINRES */
} abut_adjoint_solution;
/** p[3 nv] = H^-1 b on the unknowns, 0 elsewhere; p is not b.
 * Fails  ABUT_E_NUMERIC MINRES does not converge: the error that is left */
ABUT_MUST_USE abut_status abut_adjoint_system_solve(abut_adjoint_system *s, const double *b, double *p,
                                                    abut_adjoint_solution *how,
                                                    abut_err *err);

/** out[3 nv] += scale times the product of p[3 nv] with the second derivative, not projected, of all nodes, for the terms whose
 * kind k has its bit 1 << k in kinds; only the elements of terms, not their diagonals (masses).
 * Fails  ABUT_E_NOMEM, and as `elements` of terms */
ABUT_MUST_USE abut_status abut_adjoint_product(const abut_objective *o, const abut_at *at, int kinds, double scale,
                                               const double *p,
                                               double *out, abut_arena *scratch, abut_err *err);
/** abut_adjoint_product for the potentials taken at z: not for bounds, which the midpoint rule takes at the end of a step. */
ABUT_MUST_USE abut_status abut_adjoint_product_at_z(const abut_objective *o, const abut_at *at, double scale, const double *p,
                                                    double *out, abut_arena *scratch, abut_err *err);

#endif
