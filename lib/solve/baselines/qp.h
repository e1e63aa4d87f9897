/* Convex quadratic programs with sparse inequalities, by a primal-dual interior point method:
 *
 *     minimise 1/2 p^T H p + g^T p   subject to   c_i + a_i^T p >= 0
 *
 * H is positive definite, of 3x3 blocks; a row a_i has at most four blocks.  Each iteration factors H + A^T D A with
 * D = diag(lambda_i / s_i), and solves with it twice, for a predictor and a corrector (Mehrotra 1992; Nocedal and Wright 2006,
 * algorithm 16.4).
 * The same bits for every thread count, if the linear solver has them.
 *
 * The error of an answer is given in metres, by weights w of block rows that H is not below, as masses: a residual r of the
 * dynamics moves no row further than |r| / w, a multiplier lambda_i that is left no further than lambda_i times the compliance
 * sum |a_ik|^2 / w_k of its row. */
#ifndef ABUT_SOLVE_BASELINES_QP_H
#define ABUT_SOLVE_BASELINES_QP_H

#include "solve/report.h"
#include "sparse/linear_solver.h"

/* Borrowed. */
typedef struct abut_qp_rows {
    size_t n;
    const int32_t *row;     /* [4 n] block rows of each, all different; -1: unused */
    const double *a;        /* [12 n]; blocks of unused rows are not read */
    const double *c;        /* [n]; of the same unit as a p, which need not be m */
} abut_qp_rows;

typedef struct abut_qp_options {
    double within;          /* m: what residuals may be, above 0 */
    double far;             /* m: where p may end at most for inequalities to count as such that can be kept */
    int iterations;         /* at most */
} abut_qp_options;

/** H      values in a pattern that has the blocks of A^T A, too; overwritten with those of the last matrix
 * g       [3 n], w [n] above 0
 * linear  a direct solver, analysed for H
 * p       [3 n] out;  lambda [rows->n] out, 0 or more
 * Fails   ABUT_E_NUMERIC a matrix has no factor, or numbers are not finite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_qp_solve(abut_bsr *H, const double *g, const double *w, const abut_qp_rows *rows,
                                        const abut_qp_options *o, abut_linear_solver *linear, double *p, double *lambda,
                                        abut_qp_result *result, abut_err *err);

#endif
