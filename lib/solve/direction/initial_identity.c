/* A multiple of the identity as an initial matrix (Nocedal and Wright 2006, eq. 7.20; Liu 2018, eq. 7.16, which prints the
 * inverse): A_0 = (y . y)/(s . y) of the newest pair; before the first pair, the mean diagonal of the constant matrix of
 * solve/direction/initial_laplacian.h.  Nothing is factored; curvature of contact enters by the pairs alone. */
#include "solve/direction/initial.h"

#include "base/par.h"
#include "model/tets.h"
#include "solve/direction/initial_laplacian.h"

#include <stdlib.h>
#include <string.h>

typedef struct identity {
    double fit[2];
    double first, inverse;  /* 1/kg: of the mean diagonal; in use */
    int32_t rows;
    abut_made_for mean_of;
} identity;

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    identity *s = *self = calloc(1, sizeof(identity));
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    memcpy(s->fit, opt->fit, sizeof s->fit);
    return ABUT_OK;
}

/* The mean diagonal; at->solve->bad_node is where it is least, if that is not positive. */
static abut_status find_mean(identity *s, const abut_initial_at *at, abut_err *err)
{
    const abut_objective *p = at->p;
    abut_bsr A = { 0 };
    abut_acc sum = { 0, 0 };
    int32_t least = 0;
    abut_status rc = abut_linear_tets(p->model, "solver lbfgs-id", err);
    if (!rc) rc = abut_laplacian(p, s->fit, NULL, &A, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A.n; i++) {
        const double d = A.val[9 * A.ptr[i]];
        abut_acc_add(&sum, d);
        if (d < A.val[9 * A.ptr[least]]) least = i;
    }
    const double mean = A.n ? (sum.hi + sum.lo) / A.n : 1;
    abut_bsr_clear(&A);
    if (!(mean > 0)) {
        at->solve->bad_node = abut_newton_matrix_node_of_row(p, least);
        return abut_fail(err, ABUT_E_NUMERIC, "initial matrix: its mean diagonal is %.3g, expected > 0", mean);
    }
    s->first = 1 / mean;
    s->rows = p->nrow;
    return abut_made_for_take(&s->mean_of, p, err);
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    identity *s = self;
    (void)rep;
    const abut_status rc = abut_made_for_is(&s->mean_of, at->p) ? ABUT_OK : find_mean(s, at, err);
    s->inverse = s->first;
    return rc;
}

static void learn(void *self, double ys, double yy)
{
    identity *s = self;
    s->inverse = ys > 0 && yy > 0 ? ys / yy : s->first;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const identity *s = of;
    #pragma omp parallel for schedule(static) if ((size_t)s->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < s->rows; i++)
        for (int k = 0; k < 3; k++) z[3 * (size_t)i + (size_t)k] = s->inverse * r[3 * (size_t)i + (size_t)k];
    return ABUT_OK;
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ apply, self, ((identity *)self)->rows };
}

static void stats(const void *self, abut_report *rep)
{
    (void)self;
    rep->factor_nnz = rep->factor_flops = rep->factor_bytes = 0;
}

static void release(void *self)
{
    abut_made_for_clear(&((identity *)self)->mean_of);
    free(self);
}

const abut_initial_ops abut_initial_identity = { .make = make, .factor = factor, .precond = precond, .stats = stats,
                                                 .free = release, .learn = learn };
