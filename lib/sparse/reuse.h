/* Reuse of factors: a linear solver that solves A x = b by conjugate gradients, preconditioned by a factor that is older than A
 * or in single precision.  The caller's goal sets the accuracy: a tenth for long x (Dembo, Eisenstat and Steihaug 1982), more for
 * short ones.
 *
 * Decisions rest on counts, not on clocks, so that equal input gives equal bytes.  An old factor may take iterations of the cost
 * of a new one.  If these do not suffice, the matrix is factored in single precision, in half the time and memory; if that is not
 * accurate enough, in double.  Small factors are made in double precision for every matrix, as reuse gains nothing.
 *
 * `factor` only notes a new matrix; `solve` makes the factor, if it needs one:
 *     the first solution with a matrix    to the goal; without one, as exact as a factor in double precision
 *     further solutions                   by the factor of the first one; without iterations if it is of the very matrix
 * and fails with ABUT_E_NUMERIC if a pivot of the factor in double precision is not positive.  Statistics of old factors and of
 * single precision are dropped at the time step's end (begin_step). */
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
abut_reuse_info abut_reuse_last(const abut_linear_solver *s);

/** Cost of a factorisation, in operations of a large one: as analysed by s, or of a factor with nnz entries and flops. */
double abut_factor_cost(const abut_linear_solver *s);
double abut_factor_cost_of(double nnz, double flops);
/** Returns the iterations of equal cost, with a product by `blocks` blocks and a preconditioner of `bytes` bytes each. */
double abut_iterations_worth(double cost, size_t bytes, size_t blocks);
/** Whether single precision may pay for the matrix that was analysed: its factor is large, and the solver has that precision. */
int abut_factor_may_be_single(const abut_linear_solver *s);

#endif
