/* A linear solver of one's own: L D L^T of the dense matrix, without pivoting (Golub and Van Loan 2013, 4.1.2).  It goes to
 * lib/sparse; rows.diff names it in the table. */
#include "sparse/linear_solver.h"

#include <stdlib.h>
#include <string.h>

typedef struct dense {
    size_t n;               /* scalar rows */
    double *L;              /* [n * n] row major: L below the diagonal, D on it */
    int32_t bad_row;
} dense;

static abut_status dense_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    dense *s = self;
    (void)order;
    free(s->L);
    s->n = 3 * (size_t)A->matrix->n;
    s->L = calloc(s->n * s->n + 1, sizeof *s->L);
    return s->L ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "dense: %zu rows", s->n);
}

static void fill(dense *s, const abut_bsr *A)
{
    memset(s->L, 0, s->n * s->n * sizeof *s->L);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++)
            for (size_t d = 0; d < 9; d++)
                s->L[(3 * (size_t)A->row[b] + d / 3) * s->n + 3 * (size_t)c + d % 3] = A->val[9 * b + d];
}

static abut_status dense_factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    dense *s = self;
    (void)precision;
    fill(s, A->matrix);
    s->bad_row = -1;
    for (size_t i = 0; i < s->n; i++) {
        double *Li = s->L + i * s->n;
        for (size_t j = 0; j <= i; j++) {
            const double *Lj = s->L + j * s->n;
            double v = Li[j];
            for (size_t k = 0; k < j; k++) v -= Li[k] * Lj[k] * s->L[k * s->n + k];
            Li[j] = j < i ? v / Lj[j] : v;
        }
        if (!(Li[i] > 0)) {
            s->bad_row = (int32_t)(i / 3);
            return abut_fail(err, ABUT_E_NUMERIC, "pivot %zu is not positive", i);
        }
    }
    return ABUT_OK;
}

static abut_status dense_apply(void *self, const double *b, double *x, abut_err *err)
{
    const dense *s = self;
    (void)err;
    for (size_t i = 0; i < s->n; i++) {
        x[i] = b[i];
        for (size_t k = 0; k < i; k++) x[i] -= s->L[i * s->n + k] * x[k];
    }
    for (size_t i = s->n; i-- > 0;) {
        x[i] /= s->L[i * s->n + i];
        for (size_t k = i + 1; k < s->n; k++) x[i] -= s->L[k * s->n + i] * x[k];
    }
    return ABUT_OK;
}

static abut_status dense_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                               abut_err *err)
{
    (void)A, (void)goal;
    return dense_apply(self, b, x, err);
}

static int32_t dense_bad_row(const void *self) { return ((const dense *)self)->bad_row; }

static abut_linear_stats dense_stats(const void *self)
{
    const dense *s = self;
    const double n = (double)s->n;
    return (abut_linear_stats){ .nnz = n * n / 2, .flops = n * n * n / 3, .bytes = s->n * s->n * sizeof(double) };
}

static void dense_clear(void *self) { free(((dense *)self)->L); }

const abut_linear_solver_ops abut_linear_dense = {
    .name = "dense", .help = "dense LDL^T", .can = ABUT_CAN_PRECONDITION,
    .size = sizeof(dense), .analyse = dense_analyse, .factor = dense_factor, .solve = dense_solve, .apply = dense_apply,
    .bad_row = dense_bad_row, .stats = dense_stats, .clear = dense_clear,
};
