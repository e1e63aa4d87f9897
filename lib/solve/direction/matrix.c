#include "solve/direction/matrix.h"

#include "base/timer.h"
#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_objective *p, unsigned without, abut_err *err)
{
    assert(d && p);
    *d = (abut_newton_matrix){ .without_majorant = (without & ABUT_WITHOUT_MAJORANT) != 0 };
    d->diag = malloc(((size_t)p->model->nv + 1) * sizeof(double));
    return d->diag ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", p->model->nv);
}

void abut_newton_matrix_clear(abut_newton_matrix *d)
{
    abut_bsr_clear(&d->A);
    free(d->diag);
    *d = (abut_newton_matrix){ 0 };
}

abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_objective *p, const abut_point *at, abut_elements *set,
                                        abut_err *err)
{
    const abut_at here = abut_point_at(at, p);
    const abut_status rc = abut_objective_sets(p, &here, p->lasting, d->sets, &d->nsets, err);
    d->exact = abut_objective_majorant_is_exact(p);
    if (rc) return rc;
    *set = d->nsets > p->lasting ? d->sets[p->lasting] : (abut_elements){ .corners = 4 };
    if (d->nsets <= p->lasting + 1) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "elements of %s are not of the shape of those of %s: no set for both",
                     d->sets[p->lasting + 1].name, set->name);
}

void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_objective *p, const abut_point *at, const double *dir)
{
    const abut_at here = abut_point_at(at, p);
    if (!d->without_majorant) abut_objective_majorant_learn(p, &here, dir);
}

abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_objective *p, const abut_point *at,
                                   abut_report *rep, abut_err *err)
{
    const abut_at here = abut_point_at(at, p);
    double clock = abut_time_wall();
    abut_status rc = abut_objective_sets(p, &here, 0, d->sets, &d->nsets, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    rep->seconds.hessian += abut_time_lap(&clock);

    rc = abut_ordering_pattern(order, &d->A, p, at->x, d->sets, d->nsets, p->lasting, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_objective_diagonal(p, d->diag);
    abut_bsr_assemble(&d->A, d->diag, d->sets, d->nsets);
    rep->seconds.assemble += abut_time_lap(&clock);
    return ABUT_OK;
}

int32_t abut_newton_matrix_node_of_row(const abut_objective *p, int32_t row)
{
    for (int32_t i = 0; i < p->model->nv && row >= 0; i++)
        if (p->row[i] == row) return i;
    return -1;
}

/* det of a symmetric 3x3 block over the product of its diagonal: at most 1 (Hadamard), 0 or less when not positive definite */
static double roundness(const double *a)
{
    const double det = abut_m3_det(a);
    const double ratio = a[0] > 0 && a[4] > 0 && a[8] > 0 ? det / (a[0] * a[4] * a[8]) : -1;
    return ratio <= 1 ? ratio : -1;     /* not finite */
}

int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_objective *p)
{
    double least = INFINITY;
    int32_t row = -1;
    for (int32_t j = 0; j < d->A.n && d->A.n == p->nrow && d->A.val; j++) {
        const double r = roundness(d->A.val + 9 * d->A.ptr[j]);
        if (r < least) least = r, row = j;
    }
    return abut_newton_matrix_node_of_row(p, row);
}
