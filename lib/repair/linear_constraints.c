#include "repair/linear_constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INNER 20    /* sweeps over the active constraints between two over all */

abut_status abut_constraints_add(abut_constraints *list, const abut_constraint *one, abut_err *err)
{
    if (list->n == list->cap) {
        const size_t cap = list->cap ? 2 * list->cap : 256;
        abut_constraint *more = realloc(list->constraint, cap * sizeof *more);
        if (!more) return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu conditions", cap);
        list->constraint = more;
        list->cap = cap;
    }
    list->constraint[list->n++] = *one;
    return ABUT_OK;
}

static int key_order(const abut_constraint *p, const abut_constraint *q)
{
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    if (p->id[0] != q->id[0]) return p->id[0] < q->id[0] ? -1 : 1;
    if (p->id[1] != q->id[1]) return p->id[1] < q->id[1] ? -1 : 1;
    return 0;
}

/* The order of arrival is kept in lambda while they are sorted. */
static int add_order(const void *p, const void *q)
{
    const abut_constraint *a = p, *b = q;
    const int k = key_order(a, b);
    return k ? k : (a->lambda > b->lambda) - (a->lambda < b->lambda);
}

void abut_constraints_sort(abut_constraints *list)
{
    if (list->n == 0) return;
    for (size_t i = 0; i < list->n; i++) list->constraint[i].lambda = (double)i;   /* a stable sort: ties keep their order */
    qsort(list->constraint, list->n, sizeof *list->constraint, add_order);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!n || key_order(&list->constraint[n - 1], &list->constraint[i])) list->constraint[n++] = list->constraint[i];
    list->n = n;
    for (size_t i = 0; i < n; i++) list->constraint[i].lambda = 0;
}

const abut_constraint *abut_constraints_find(const abut_constraints *list, abut_constraint_kind kind, int32_t id0, int32_t id1)
{
    const abut_constraint key = { .kind = kind, .id = { id0, id1 } };
    size_t lo = 0, hi = list->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int k = key_order(&list->constraint[mid], &key);
        if (k == 0) return &list->constraint[mid];
        if (k < 0) lo = mid + 1;
        else hi = mid;
    }
    return NULL;
}

void abut_constraints_clear(abut_constraints *list)
{
    free(list->constraint);
    *list = (abut_constraints){ 0 };
}

/* Changes the multiplier of one constraint so that it is met, or inactive; returns its violation before. */
static double relax(abut_constraint *r, const double *weight, double *u)
{
    double value = 0, diag = 0;
    for (int i = 0; i < 4 && r->node[i] >= 0; i++)
        for (int c = 0; c < 3; c++) {
            value += r->a[i][c] * u[3 * (size_t)r->node[i] + (size_t)c];
            diag += weight[r->node[i]] * r->a[i][c] * r->a[i][c];
        }
    const double violation = r->b - value;
    if (!(diag > 0)) return violation;
    double step = violation / diag;
    if (step < -r->lambda) step = -r->lambda;
    if (step == 0) return violation;
    r->lambda += step;
    for (int i = 0; i < 4 && r->node[i] >= 0; i++)
        for (int c = 0; c < 3; c++) u[3 * (size_t)r->node[i] + (size_t)c] += step * weight[r->node[i]] * r->a[i][c];
    return violation;
}

void abut_constraints_warm(abut_constraints *list, const abut_constraints *old)
{
    for (size_t i = 0, j = 0; i < list->n; i++) {
        while (j < old->n && key_order(&old->constraint[j], &list->constraint[i]) < 0) j++;
        if (j < old->n && !key_order(&old->constraint[j], &list->constraint[i]))
            list->constraint[i].lambda = old->constraint[j].lambda;
    }
}

/* u = M^-1 A^T lambda */
static void start(const abut_constraints *list, const double *weight, int32_t nv, double *u)
{
    memset(u, 0, 3 * (size_t)nv * sizeof *u);
    for (size_t k = 0; k < list->n; k++) {
        const abut_constraint *r = &list->constraint[k];
        for (int i = 0; i < 4 && r->node[i] >= 0 && r->lambda > 0; i++)
            for (int c = 0; c < 3; c++) u[3 * (size_t)r->node[i] + (size_t)c] += r->lambda * weight[r->node[i]] * r->a[i][c];
    }
}

double abut_constraints_solve(abut_constraints *list, const double *weight, int32_t nv, int sweeps, double tol, size_t *active,
                              double *u)
{
    double worst = 0;
    start(list, weight, nv, u);
    for (int k = 0; k < sweeps; k++) {
        size_t n = 0;
        worst = 0;
        for (size_t i = 0; i < list->n; i++) {
            const double v = relax(&list->constraint[i], weight, u);
            worst = fmax(worst, v);
            if (v > 0 || list->constraint[i].lambda > 0) active[n++] = i;
        }
        if (worst <= tol) break;
        for (int inner = 0; inner < INNER; inner++) {
            double here = 0;
            for (size_t i = 0; i < n; i++) here = fmax(here, relax(&list->constraint[active[i]], weight, u));
            if (here <= 0.5 * tol) break;
        }
    }
    return worst;
}
