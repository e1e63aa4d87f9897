#include "sparse/cg.h"

#include "base/par.h"
#include "sparse/pcg.h"

#include <string.h>

#define MOST 5000           /* iterations */

typedef struct equation {
    const abut_operator *A;
    const abut_precond *M;
    const double *b;
    double *x;
    int *iterations;
    abut_arena *scratch;
} equation;

static abut_status solve_to(const equation *q, double tolerance, abut_err *err)
{
    abut_pcg_report rep;
    const abut_status rc = abut_pcg_solve(q->A, q->M, q->b, q->x, (abut_pcg_opts){ tolerance, MOST }, &rep, q->scratch, err);
    if (rc) return rc;
    *q->iterations += rep.iterations;
    if (rep.converged) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g", rep.residual,
                     rep.iterations, tolerance);
}

abut_status abut_cg_solve(const abut_operator *A, const abut_precond *M, const double *b, const abut_solve_goal *goal, double *x,
                          int *iterations, abut_arena *scratch, abut_err *err)
{
    const size_t n = 3 * (size_t)abut_operator_rows(A);
    const equation q = { A, M, b, x, iterations, scratch };
    memset(x, 0, n * sizeof *x);
    *iterations = 0;
    abut_status rc = solve_to(&q, goal->far, err);
    if (!rc && goal->close < goal->far && abut_largest(x, n) <= goal->near) rc = solve_to(&q, goal->close, err);
    return rc;
}
