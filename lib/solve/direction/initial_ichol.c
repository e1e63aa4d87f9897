/* An incomplete Cholesky factor of the Newton matrix, without fill, its rows in an order of small bandwidth, as an initial
 * matrix. */
#include "solve/direction/initial.h"

#include "sparse/band.h"
#include "sparse/ichol.h"

#include <stdlib.h>

typedef struct ordered {
    abut_ichol factor;
    int32_t *order;         /* [n] row of the matrix at each place */
    double *r, *z;          /* [3 n] in that order */
} ordered;

static void empty(ordered *o)
{
    abut_ichol_clear(&o->factor);
    free(o->order);
    free(o->r);
    free(o->z);
    *o = (ordered){ 0 };
}

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(ordered));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    ordered *o = self;
    const abut_bsr *A = &at->matrix->A;
    const size_t n = (size_t)A->n;
    abut_bsr B = { 0 };
    (void)rep;
    empty(o);
    o->order = malloc((n + 1) * sizeof *o->order);
    o->r = malloc((3 * n + 1) * sizeof *o->r);
    o->z = malloc((3 * n + 1) * sizeof *o->z);
    abut_status rc = o->order && o->r && o->z ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %zu rows", n);
    if (!rc) rc = abut_band_order(A, o->order, err);
    if (!rc) rc = abut_band_permuted(A, o->order, &B, err);
    if (!rc) rc = abut_ichol_factor(&o->factor, &B, err);
    abut_bsr_clear(&B);
    return rc;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    ordered *o = of;
    const abut_precond M = abut_ichol_precond(&o->factor);
    for (int32_t k = 0; k < M.rows; k++)
        for (int i = 0; i < 3; i++) o->r[3 * k + i] = r[3 * (size_t)o->order[k] + (size_t)i];
    const abut_status rc = M.apply(M.of, o->r, o->z, err);
    for (int32_t k = 0; k < M.rows && !rc; k++)
        for (int i = 0; i < 3; i++) z[3 * (size_t)o->order[k] + (size_t)i] = o->z[3 * k + i];
    return rc;
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ apply, self, ((ordered *)self)->factor.L.n };
}

static void stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const ordered *)self)->factor.L.nnz;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void release(void *self)
{
    empty(self);
    free(self);
}

const abut_initial_ops abut_initial_ichol = { .needs = ABUT_NEEDS_MATRIX, .make = make, .factor = factor, .precond = precond,
                                              .stats = stats, .free = release };
