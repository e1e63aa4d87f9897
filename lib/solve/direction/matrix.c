#include "solve/direction/matrix.h"

#include "base/timer.h"
#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    abut_owned_elements_clear(&d->owned);
    abut_product_free(&d->products.product);
    ABUT_FREE(d->products.where, d->diag);
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
    d->ranks = p->step.ranks;
    if (d->ranks) rc = abut_owned_elements_take(&d->owned, d->ranks, p->nrow, d->sets, d->nsets, err);
    rep->seconds.hessian += abut_time_lap(&clock);
    if (rc) return rc;

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
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    const int32_t n = abut_operator_rows(&A);
    const int is_known = n == p->nrow && !d->ranks && (d->products.product || d->A.val);
    double least = INFINITY, *D = is_known ? malloc((9 * (size_t)n + 1) * sizeof *D) : NULL;
    int32_t row = -1;
    if (D) abut_operator_diagonal(&A, D);
    for (int32_t j = 0; j < n && D; j++) {
        const double r = roundness(D + 9 * (size_t)j);
        if (r < least) least = r, row = j;
    }
    free(D);
    return abut_newton_matrix_node_of_row(p, row);
}

/* ---- as products ---- */

void abut_newton_matrix_begin_step(abut_newton_matrix *d, abut_ordering *order)
{
    abut_ordering_begin_step(order, &d->A);
    d->products.analysed = 0;
}

abut_operator abut_newton_matrix_operator(const abut_newton_matrix *d, const double *where)
{
    const struct abut_newton_products *s = &d->products;
    if (!s->product) return (abut_operator){ .matrix = &d->A, .where = where, .ranks = d->ranks };
    abut_operator A = abut_product_operator(s->product);
    A.where = s->where;
    return A;
}

/* Rows in space, where they are when a step begins. */
static abut_status place_rows(struct abut_newton_products *s, const abut_objective *p, const double *x, abut_err *err)
{
    free(s->where);
    s->where = malloc((3 * (size_t)p->nrow + 1) * sizeof *s->where);
    if (!s->where) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d rows", p->nrow);
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(s->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    return ABUT_OK;
}

abut_status abut_newton_matrix_products(abut_newton_matrix *d, abut_linear_solver *linear, const abut_objective *p,
                                        const abut_point *at, abut_report *rep, abut_err *err)
{
    struct abut_newton_products *s = &d->products;
    const abut_at here = abut_point_at(at, p);
    double clock = abut_time_wall();
    int lasted;
    abut_status rc = abut_objective_sets(p, &here, 0, d->sets, &d->nsets, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    rep->seconds.hessian += abut_time_lap(&clock);

    rc = abut_product_renew(&s->product, p->nrow, d->sets, d->nsets, p->lasting, &lasted, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_objective_diagonal(p, d->diag);
    abut_product_set(s->product, d->diag, d->sets);
    rep->seconds.assemble += abut_time_lap(&clock);

    if (!lasted || !s->analysed) rc = place_rows(s, p, at->x, err);
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    if (!rc) rc = abut_linear_analyse(linear, &A, NULL, err);
    s->analysed = !rc;
    rep->seconds.analyse += abut_time_lap(&clock);
    return rc;
}

/* Shift of a matrix of products: adds to each diagonal block shift times its largest entry, times the identity. */
static abut_status shift_products(abut_newton_matrix *d, double shift, int first, double *whole, abut_err *err)
{
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    double *D = first ? malloc((9 * (size_t)A.n + 1) * sizeof *D) : NULL;
    if (first && !D) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d rows", A.n);
    if (first) abut_operator_diagonal(&A, D);
    for (int32_t j = 0; j < A.n; j++) {
        double *w = whole + 3 * (size_t)j;      /* diagonal without shift, and its increment for a unit of shift */
        if (first) w[0] = d->diag[j], w[1] = fmax(fabs(D[9 * j]), fmax(fabs(D[9 * j + 4]), fabs(D[9 * j + 8])));
        d->diag[j] = w[0] + shift * w[1];
    }
    free(D);
    abut_product_set(d->products.product, d->diag, d->sets);
    return ABUT_OK;
}

abut_status abut_newton_matrix_shift(abut_newton_matrix *d, double shift, int first, double *whole, abut_err *err)
{
    abut_bsr *A = &d->A;
    if (d->products.product) return shift_products(d, shift, first, whole, err);
    for (int32_t j = 0; j < A->n; j++)
        for (int k = 0; k < 3; k++) {
            double *entry = A->val + 9 * A->ptr[j] + 4 * (size_t)k;
            if (first) whole[3 * j + k] = *entry;
            *entry = (whole[3 * j + k] < 0 ? 1 - shift : 1 + shift) * whole[3 * j + k];
        }
    return ABUT_OK;
}
