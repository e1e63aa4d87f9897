#include "contact/rows.h"

#include <stdlib.h>
#include <string.h>

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

double abut_rows_solve(abut_rows *rows, const double *weight, int32_t nv, int sweeps, double tol, double *u)
{
    double worst = 0;
    memset(u, 0, 3 * (size_t)nv * sizeof *u);
    for (size_t i = 0; i < rows->n; i++) rows->row[i].lambda = 0;
    for (int k = 0; k < sweeps; k++) {
        worst = 0;
        for (size_t i = 0; i < rows->n; i++) {
            const double v = relax(&rows->row[i], weight, u);
            if (v > worst) worst = v;
        }
        if (worst <= tol) break;
    }
    return worst;
}
