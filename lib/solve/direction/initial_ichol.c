/* An incomplete Cholesky factor of the Newton matrix, without fill, as an initial matrix. */
#include "solve/direction/initial.h"

#include "sparse/ichol.h"

#include <stdlib.h>

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(abut_ichol));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    return abut_ichol_factor(self, &at->matrix->A, err);
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return abut_ichol_precond(self);
}

static void stats(const void *self, abut_report *rep)
{
    rep->factor_nnz = 9 * (double)((const abut_ichol *)self)->L.nnz;
    rep->factor_flops = 0;
    rep->factor_bytes = (double)sizeof(double) * rep->factor_nnz;
}

static void release(void *self)
{
    abut_ichol_clear(self);
    free(self);
}

const abut_initial_ops abut_initial_ichol = { .needs = ABUT_NEEDS_MATRIX, .make = make, .factor = factor, .precond = precond,
                                              .stats = stats, .free = release };
