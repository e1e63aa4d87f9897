/* The sparse Cholesky of sparse/own/cholesky.h as a linear solver. */
#include "sparse/own/cholesky.h"
#include "sparse/linear_solver.h"

#include <stdlib.h>

typedef struct own {
    abut_chol *chol;        /* NULL before the first analysis */
    int threads;
} own;

static abut_status own_make(void **self, int threads, abut_err *err)
{
    own *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "Cholesky: out of memory");
    s->threads = threads;
    *self = s;
    return ABUT_OK;
}

/* Keeps the memory of the last factor where it fits. */
static abut_status own_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    own *s = self;
    return s->chol ? abut_chol_renew(s->chol, A->matrix, order, err)
                   : abut_chol_new(&s->chol, A->matrix, order, s->threads, err);
}

static abut_status own_factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a factor without an analysis");
    return precision == ABUT_SINGLE ? abut_chol_factor_single(s->chol, A->matrix, err)
                                    : abut_chol_factor(s->chol, A->matrix, err);
}

static abut_status own_apply(void *self, const double *b, double *x, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a solution without a factor");
    return abut_chol_solve(s->chol, b, x, err);
}

static abut_status own_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                             abut_err *err)
{
    (void)A, (void)goal;
    return own_apply(self, b, x, err);
}

static abut_status own_solve_parts(void *self, const uint8_t *wanted, const double *b, double *x, abut_err *err)
{
    own *s = self;
    if (!s->chol) return abut_fail(err, ABUT_E_ARG, "Cholesky: a solution without a factor");
    return abut_chol_solve_parts(s->chol, wanted, b, x, err);
}

static abut_status own_compliance(void *self, abut_columns *B, double *G, abut_err *err)
{
    own *s = self;
    int32_t row[4 * ABUT_COLUMNS_MAX];
    double val[12 * ABUT_COLUMNS_MAX];
    for (int j = 0; j < B->fresh; j++) {
        for (int c = 0; c < 4; c++) row[4 * j + c] = B->row[4 * B->which[j] + c];
        for (int c = 0; c < 12; c++) val[12 * j + c] = B->val[12 * B->which[j] + c];
    }
    const abut_status rc = abut_chol_half_solve(s->chol, B->fresh, row, val, B->which, B->Y, err);
    return rc ? rc : abut_chol_gram(s->chol, B->k, B->Y, G, err);
}

static int32_t own_bad_row(const void *self)
{
    const own *s = self;
    return s->chol ? abut_chol_bad_row(s->chol) : -1;
}

static abut_linear_stats own_stats(const void *self)
{
    const own *s = self;
    if (!s->chol) return (abut_linear_stats){ 0 };
    const abut_chol_stats c = abut_chol_get_stats(s->chol);
    return (abut_linear_stats){ .nnz = c.factor_nnz, .flops = c.factor_flops, .bytes = c.bytes };
}

static void own_free(void *self)
{
    own *s = self;
    abut_chol_free(&s->chol);
    free(s);
}

const abut_linear_solver_ops abut_linear_own = {
    .name = "own", .help = "supernodal Cholesky of this library",
    .can = ABUT_CAN_SINGLE | ABUT_CAN_PRECONDITION,
    .make = own_make, .analyse = own_analyse, .factor = own_factor, .solve = own_solve, .solve_parts = own_solve_parts,
    .apply = own_apply, .compliance = own_compliance, .bad_row = own_bad_row, .stats = own_stats, .free = own_free,
};
