/* Fewer factors: a linear solver over another one that preconditions.  A x = b by a factor that is older than A or in single
 * precision, where conjugate gradients make up for the difference: to a tenth where x is long (Dembo, Eisenstat and Steihaug
 * 1982), closer where the caller looks at it; how close is the caller's goal.
 *
 * Decided by counts, not by clocks, so that the same input gives the same bytes: an old factor may take as many iterations as
 * cost what a new one would.  Where that is not enough the matrix is factored in single precision, which takes half the time and
 * memory, and where that is not exact enough, in double.  Small factors are made in double precision for every matrix: nothing is
 * gained on them.
 *
 * `factor` only notes that the matrix is another one; `solve` makes the factor, if it needs one:
 *     the first solution with a matrix    to the goal, or without one as exact as a factor in double precision
 *     another one                         by the factor that the first was made with; of the very matrix, without iterations
 * and fails with ABUT_E_NUMERIC where a pivot of the factor in double precision is not positive.  All that is learnt of old
 * factors and of single precision ends with the time step (begin_step). */
#ifndef ABUT_SPARSE_REUSE_H
#define ABUT_SPARSE_REUSE_H

#include "sparse/linear_solver.h"

/* Callbacks of the owner that orders the rows of matrices and analyses them by the solver that abut_reuse_make returns. */
typedef struct abut_reuse_order {
    int (*is_analysed)(const void *ctx);    /* the pattern of the matrix at hand */
    abut_status (*analyse)(void *ctx, const abut_bsr *A, abut_err *err);    /* unless it is */
    abut_status (*reorder)(void *ctx, const abut_bsr *A, abut_err *err);    /* before each factor: perhaps in another order */
    void *ctx;
} abut_reuse_order;

/* Work of the last solution. */
typedef struct abut_reuse_info {
    int approximate;        /* solved by iterations */
    int factors, in_double; /* factors made for it, failed ones included; number of them in double precision */
    int iterations;
    double analyse, factor, solve;  /* s */
} abut_reuse_info;

/** Makes *out over *inner and empties *inner.  order: NULL: the caller analyses each pattern before it is factored.
 * If *inner cannot precondition, every matrix is factored in double precision.
 * Fails  ABUT_E_ARG inner is iterative; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_reuse_make(abut_linear_solver *out, abut_linear_solver *inner, const abut_reuse_order *order,
                                          abut_err *err);
/** The solver underneath, for factors that are wanted at once. */
abut_linear_solver *abut_reuse_inner(const abut_linear_solver *s);
/** Returns that solver if it holds a factor of the very matrix of the last solution, in either precision; else NULL. */
abut_linear_solver *abut_reuse_factor(const abut_linear_solver *s);
abut_reuse_info abut_reuse_last(const abut_linear_solver *s);

/** Cost of a factorisation, in operations of a large one: as analysed by s, or of a factor with nnz entries and flops. */
double abut_factor_cost(const abut_linear_solver *s);
double abut_factor_cost_of(double nnz, double flops);
/** Returns the iterations of equal cost, with a product by `blocks` blocks and a preconditioner of `bytes` bytes each. */
double abut_iterations_worth(double cost, size_t bytes, size_t blocks);
/** Whether single precision may pay for the matrix that was analysed: its factor is large, and the solver has that precision. */
int abut_factor_may_be_single(const abut_linear_solver *s);

#endif
