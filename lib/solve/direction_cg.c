#include "solve/direction_cg.h"

#include "base/par.h"
#include "linalg/pcg.h"
#include "part/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PER_PART 400
#define FAR 1e-3            /* relative residual while the direction is long */
#define CLOSE 1e-8          /* and when the convergence test looks at it */
#define MOST 5000           /* iterations */

void abut_cg_reset(abut_cg *cg)
{
    cg->n = 0;
}

void abut_cg_clear(abut_cg *cg)
{
    abut_schwarz_free(&cg->schwarz);
    free(cg->part);
    free(cg->where);
    abut_arena_clear(&cg->scratch);
    *cg = (abut_cg){ 0 };
}

static abut_status reserve(abut_cg *cg, int32_t n, abut_err *err)
{
    if (n <= cg->cap) return ABUT_OK;
    free(cg->part);
    free(cg->where);
    cg->part = malloc((size_t)n * sizeof *cg->part);
    cg->where = malloc(3 * (size_t)n * sizeof *cg->where);
    cg->cap = cg->part && cg->where ? n : 0;
    return cg->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: %d rows", n);
}

/* Parts of the first matrix of a step, contacts included: what touches mostly shares a part. */
static abut_status cut(abut_cg *cg, const abut_bsr *A, int32_t nv, const int32_t *row, const double *x, abut_err *err)
{
    abut_status rc = reserve(cg, A->n, err);
    cg->k = (A->n + ROWS_PER_PART - 1) / ROWS_PER_PART;
    if (!rc) rc = abut_graph_cut(A, cg->k, cg->part, err);
    if (rc) return rc;
    for (int32_t i = 0; i < nv; i++)
        if (row[i] >= 0) memcpy(cg->where + 3 * (size_t)row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    cg->n = A->n;
    return ABUT_OK;
}

abut_status abut_cg_analyse(abut_cg *cg, const abut_bsr *A, int32_t nv, const int32_t *row, const double *x, abut_err *err)
{
    const abut_status rc = cg->n == A->n ? ABUT_OK : cut(cg, A, nv, row, x, err);
    return rc ? rc : abut_schwarz_analyse(&cg->schwarz, A, cg->k, cg->part, cg->where, err);
}

abut_status abut_cg_factor(abut_cg *cg, const abut_bsr *A, abut_err *err)
{
    return abut_schwarz_factor(cg->schwarz, A, err);
}

static abut_status solve_to(abut_cg *cg, const abut_bsr *A, const double *b, double tolerance, double *p, abut_err *err)
{
    const abut_precond M = abut_schwarz_precond(cg->schwarz);
    abut_pcg_report rep;
    const abut_status rc = abut_pcg_solve(A, &M, b, p, (abut_pcg_opts){ tolerance, MOST }, &rep, &cg->scratch, err);
    if (rc) return rc;
    cg->iterations += rep.iterations;
    if (rep.converged) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g", rep.residual,
                     rep.iterations, tolerance);
}

abut_status abut_cg_solve(abut_cg *cg, const abut_bsr *A, const double *b, double near, double *p, abut_err *err)
{
    const size_t n = 3 * (size_t)A->n;
    memset(p, 0, n * sizeof *p);
    cg->iterations = 0;
    abut_status rc = solve_to(cg, A, b, FAR, p, err);
    if (!rc && abut_largest(p, n) <= near) rc = solve_to(cg, A, b, CLOSE, p, err);
    return rc;
}
