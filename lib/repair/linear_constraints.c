#include "repair/linear_constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INNER 20    /* sweeps over the active rows between two over all */

abut_status abut_rows_add(abut_rows *rows, const abut_row *row, abut_err *err)
{
    if (rows->n == rows->cap) {
        const size_t cap = rows->cap ? 2 * rows->cap : 256;
        abut_row *more = realloc(rows->row, cap * sizeof *more);
        if (!more) return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu conditions", cap);
        rows->row = more;
        rows->cap = cap;
    }
    rows->row[rows->n++] = *row;
    return ABUT_OK;
}

static int key_order(const abut_row *p, const abut_row *q)
{
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    if (p->id[0] != q->id[0]) return p->id[0] < q->id[0] ? -1 : 1;
    if (p->id[1] != q->id[1]) return p->id[1] < q->id[1] ? -1 : 1;
    return 0;
}

/* The order of arrival rides on lambda while rows are sorted. */
static int row_order(const void *p, const void *q)
{
    const abut_row *a = p, *b = q;
    const int k = key_order(a, b);
    return k ? k : (a->lambda > b->lambda) - (a->lambda < b->lambda);
}

void abut_rows_sort(abut_rows *rows)
{
    if (rows->n == 0) return;
    for (size_t i = 0; i < rows->n; i++) rows->row[i].lambda = (double)i;   /* a stable sort: ties keep their order */
    qsort(rows->row, rows->n, sizeof *rows->row, row_order);
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!n || key_order(&rows->row[n - 1], &rows->row[i])) rows->row[n++] = rows->row[i];
    rows->n = n;
    for (size_t i = 0; i < n; i++) rows->row[i].lambda = 0;
}

const abut_row *abut_rows_find(const abut_rows *rows, abut_row_kind kind, int32_t id0, int32_t id1)
{
    const abut_row key = { .kind = kind, .id = { id0, id1 } };
    size_t lo = 0, hi = rows->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int k = key_order(&rows->row[mid], &key);
        if (k == 0) return &rows->row[mid];
        if (k < 0) lo = mid + 1;
        else hi = mid;
    }
    return NULL;
}

void abut_rows_clear(abut_rows *rows)
{
    free(rows->row);
    *rows = (abut_rows){ 0 };
}

/* Changes the multiplier of one row so that the row is met, or is free; returns its violation before. */
static double relax(abut_row *r, const double *weight, double *u)
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

void abut_rows_warm(abut_rows *rows, const abut_rows *old)
{
    for (size_t i = 0, j = 0; i < rows->n; i++) {
        while (j < old->n && key_order(&old->row[j], &rows->row[i]) < 0) j++;
        if (j < old->n && !key_order(&old->row[j], &rows->row[i])) rows->row[i].lambda = old->row[j].lambda;
    }
}

/* u = M^-1 A^T lambda */
static void start(const abut_rows *rows, const double *weight, int32_t nv, double *u)
{
    memset(u, 0, 3 * (size_t)nv * sizeof *u);
    for (size_t k = 0; k < rows->n; k++) {
        const abut_row *r = &rows->row[k];
        for (int i = 0; i < 4 && r->node[i] >= 0 && r->lambda > 0; i++)
            for (int c = 0; c < 3; c++) u[3 * (size_t)r->node[i] + (size_t)c] += r->lambda * weight[r->node[i]] * r->a[i][c];
    }
}

double abut_rows_solve(abut_rows *rows, const double *weight, int32_t nv, int sweeps, double tol, size_t *active, double *u)
{
    double worst = 0;
    start(rows, weight, nv, u);
    for (int k = 0; k < sweeps; k++) {
        size_t n = 0;
        worst = 0;
        for (size_t i = 0; i < rows->n; i++) {
            const double v = relax(&rows->row[i], weight, u);
            worst = fmax(worst, v);
            if (v > 0 || rows->row[i].lambda > 0) active[n++] = i;
        }
        if (worst <= tol) break;
        for (int inner = 0; inner < INNER; inner++) {
            double here = 0;
            for (size_t i = 0; i < n; i++) here = fmax(here, relax(&rows->row[active[i]], weight, u));
            if (here <= 0.5 * tol) break;
        }
    }
    return worst;
}
