/* Newton's equation A p = -g by a linear solver of the table: by iterations, or by factors, which are not made for every matrix
 * (sparse/reuse.h); or by factors, and by iterations in steps whose factors would be expensive (ordering.h).  In such a step,
 * iterations that cost more than a factor are given up for the rest of it. */
#ifndef ABUT_SOLVE_DIRECTION_NEWTON_H
#define ABUT_SOLVE_DIRECTION_NEWTON_H

#include "solve/direction.h"
#include "solve/direction/matrix.h"
#include "sparse/reuse.h"

/* Zero-filled is empty.  Stays where it is: the ordering borrows the linear solver. */
typedef struct abut_newton_solve {
    abut_linear_solver linear;  /* iterative, or with factor reuse */
    abut_linear_solver instead; /* iterative, for steps whose factors of linear would be expensive; empty: none */
    abut_ordering order;
    int exact;              /* the next solution shall be by a factor of its own matrix, in double precision */
    int no_single;          /* single precision has failed in this step for a factor wanted at once */
    int shifted;            /* the last matrix, by more than rounding needs: its solutions are shorter than Newton's directions */
    const abut_solve_options *user;
    int32_t bad_node;       /* after a factorisation that failed: of the pivot, or -1 */
    double *rhs, *sol;      /* [3 nrow] */
} abut_newton_solve;

/** orders: 1 when matrices are to be factored or solved with; 0: patterns are all that is kept. */
ABUT_MUST_USE abut_status abut_newton_solve_init(abut_newton_solve *s, const abut_objective *p, const abut_direction_options *opt,
                                                 int orders, abut_err *err);
/** Sets the iterative solver of steps whose factors would be expensive.  s->linear is direct. */
ABUT_MUST_USE abut_status abut_newton_solve_iterate_instead(abut_newton_solve *s, const abut_objective *p,
                                                            const abut_linear_solver_ops *instead, abut_err *err);
void abut_newton_solve_clear(abut_newton_solve *s);
void abut_newton_solve_begin_step(abut_newton_solve *s, abut_newton_matrix *A);
/** Returns 1 if Newton's equation is solved by iterations, in this step. */
int abut_newton_solve_iterates(const abut_newton_solve *s);
/** Sums A at `at` in the form for the linear solver: as products if it takes them, else as a matrix. */
ABUT_MUST_USE abut_status abut_newton_solve_sum(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p,
                                                const abut_point *at, abut_report *rep, abut_err *err);
/** Returns the matrix in that form. */
abut_operator abut_newton_solve_operator(const abut_newton_solve *s, const abut_newton_matrix *A);

/** s->sol = A^-1 s->rhs, by iterations or by the first factor that is good enough: the one at hand, a new one in single
 * precision, a new one in double.
 * Fails  ABUT_E_NUMERIC when no shift of the diagonal makes A positive definite: s->bad_node says where (Cholesky), else -1; when
 *        conjugate gradients do not converge */
ABUT_MUST_USE abut_status abut_newton_solve_first(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p,
                                                  abut_report *rep, abut_err *err);
/** Solves again with the matrix of the last solve; fails as abut_newton_solve_first. */
ABUT_MUST_USE abut_status abut_newton_solve_again(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p,
                                                  abut_report *rep, abut_err *err);
/** Returns 1 if the last solution is by iterations on a factor that is older, or in single precision. */
int abut_newton_solve_is_approximate(const abut_newton_solve *s);
/** Factors A in double precision; fails as a solve. */
ABUT_MUST_USE abut_status abut_newton_factor(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p,
                                             abut_report *rep, abut_err *err);
/** Factors A in single precision, *single 1, unless the factor is small or would have no positive pivots; then in double. */
ABUT_MUST_USE abut_status abut_newton_factor_single(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p,
                                                    int *single, abut_report *rep, abut_err *err);
/** Writes entries, operations and bytes of the factor into the report. */
void abut_newton_solve_stats(const abut_newton_solve *s, abut_report *rep);

/** rows[3 nrow] = scale v[3 nv] at the nodes that move; and back, 0 at the others. */
void abut_rows_gather(const abut_objective *p, const double *v, double scale, double *rows);
void abut_rows_scatter(const abut_objective *p, const double *rows, double scale, double *v);

#endif
