/* The diagonal blocks of the Newton matrix as an initial matrix. */
#include "solve/direction/initial.h"

#include "base/par.h"
#include "math/mat3.h"

#include <stdlib.h>

typedef struct diagonal {
    double *inverse;        /* [9 cap] inverted blocks, row major */
    int32_t rows, cap;
} diagonal;

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(diagonal));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    diagonal *s = self;
    const abut_bsr *A = &at->matrix->A;
    if (A->n > s->cap) {
        free(s->inverse);
        s->inverse = malloc(9 * (size_t)A->n * sizeof *s->inverse);
        s->cap = s->inverse ? A->n : 0;
        if (!s->inverse) return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * A->n);
    }
    s->rows = A->n;
    for (int32_t i = 0; i < A->n; i++)
        if (!(abut_m3_inverse(s->inverse + 9 * (size_t)i, A->val + 9 * A->ptr[i]) > 0))
            return abut_fail(err, ABUT_E_NUMERIC, "initial matrix: diagonal block %d is not positive definite", i);
    return ABUT_OK;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const diagonal *s = of;
    #pragma omp parallel for schedule(static) if ((size_t)s->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < s->rows; i++) {
        const double *I = s->inverse + 9 * (size_t)i, *b = r + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) z[3 * (size_t)i + (size_t)k] = I[3 * k] * b[0] + I[3 * k + 1] * b[1] + I[3 * k + 2] * b[2];
    }
    return ABUT_OK;
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ apply, self, ((diagonal *)self)->rows };
}

static void stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const diagonal *)self)->rows;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void release(void *self)
{
    free(((diagonal *)self)->inverse);
    free(self);
}

const abut_initial_ops abut_initial_diagonal = { .needs = ABUT_NEEDS_MATRIX, .make = make, .factor = factor, .precond = precond,
                                                 .stats = stats, .free = release };
