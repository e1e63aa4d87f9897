#include "sparse/strong_parts.h"

#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 200, HEAVY = 100 };   /* rows of a part; weight of a block as large as the diagonal ones that it joins */
#define BETWEEN 0.382       /* numbers that meshes have, so that rounding gives none of them another weight on other ranks */

/* A block of the lower triangle. */
typedef struct block {
    int32_t column, row;
    float size;             /* Frobenius norm */
} block;

typedef struct place {
    double mean;            /* of the rows of a part */
    int32_t part;
} place;

void abut_strong_parts_clear(abut_strong_parts *parts)
{
    free(parts->first);
    free(parts->row);
    *parts = (abut_strong_parts){ 0 };
}

static abut_status no_memory(int32_t n, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
}

/* ---- the graph of all ranks ---- */

/* *list: the blocks of all columns, *m of them, by columns; its owner frees it. */
static abut_status all_blocks(const abut_operator *O, void **list, size_t *m, abut_err *err)
{
    const abut_bsr *A = O->matrix;
    const abut_range mine = abut_ranks_part(O->ranks, (size_t)A->n);
    block *own = malloc((A->ptr[mine.hi] - A->ptr[mine.lo] + 1) * sizeof *own);
    *m = 0;
    *list = own;
    if (!own) return no_memory(A->n, err);
    for (size_t c = mine.lo; c < mine.hi; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            double sum = 0;
            for (const double *v = A->val + 9 * b; v < A->val + 9 * b + 9; v++) sum += *v * *v;
            own[(*m)++] = (block){ (int32_t)c, A->row[b], (float)sqrt(sum) };
        }
    return abut_ranks_join_list(O->ranks, list, m, sizeof *own, err);
}

/* Rows of the graph into first[n + 1] and col[m]; weight[m] of its edges.  Diagonal blocks are first in their columns. */
static void graph_of(const block *b, size_t m, int32_t n, size_t *first, int32_t *col, int32_t *weight)
{
    for (size_t i = 0; i < m; i++) col[i] = b[i].row, first[b[i].column + 1]++;
    for (int32_t c = 0; c < n; c++) first[c + 1] += first[c];
    for (size_t i = 0; i < m; i++) {
        const double of = sqrt((double)b[first[b[i].column]].size * b[first[b[i].row]].size);
        const double w = of > 0 ? HEAVY * b[i].size / of : 0;
        weight[i] = 1 + (int32_t)fmin(w + BETWEEN, HEAVY);
    }
}

/* part[n] of the blocks of all columns. */
static abut_status cut_graph(const block *b, size_t m, int32_t n, int32_t k, int32_t *part, abut_err *err)
{
    size_t *first = calloc((size_t)n + 1, sizeof *first);
    int32_t *col = malloc((m + 1) * sizeof *col), *weight = malloc((m + 1) * sizeof *weight);
    abut_status rc = first && col && weight ? ABUT_OK : no_memory(n, err);
    if (!rc) graph_of(b, m, n, first, col, weight);
    if (!rc) rc = abut_graph_cut((abut_graph){ n, first, col }, weight, k, part, err);
    free(first);
    free(col);
    free(weight);
    return rc;
}

/* *part: of each row, its owner frees it.  Rank 0 cuts, and all get it. */
static abut_status cut(const abut_operator *A, int32_t k, void **part, abut_err *err)
{
    const size_t n = (size_t)A->matrix->n;
    const int cuts = !A->ranks || A->ranks->rank == 0;
    void *list = NULL;
    size_t m, got = 0;
    *part = NULL;
    abut_status rc = all_blocks(A, &list, &m, err);
    if (rc) return free(list), rc;
    if (cuts) *part = malloc((n + 1) * sizeof(int32_t));
    if (cuts && !*part) rc = no_memory(A->matrix->n, err);
    if (cuts && !rc) rc = cut_graph(list, m, A->matrix->n, k, *part, err);
    free(list);
    if (cuts && !rc) got = n;
    const abut_status joined = abut_ranks_join_list(A->ranks, part, &got, sizeof(int32_t), rc ? NULL : err);
    if (rc || joined) return rc ? rc : joined;
    return got == n ? ABUT_OK : abut_fail(err, ABUT_E_NUMERIC, "parts of %zu rows: rank 0 has found none", n);
}

/* ---- parts in order ---- */

static int by_place(const void *a, const void *b)
{
    const place *p = a, *q = b;
    return p->mean != q->mean ? (p->mean > q->mean) - (p->mean < q->mean) : (p->part > q->part) - (p->part < q->part);
}

/* at[k]: where the rows of each part begin; parts->first. */
static void arrange(abut_strong_parts *parts, const int32_t *part, place *where, int32_t *at)
{
    for (int32_t p = 0; p < parts->k; p++) where[p] = (place){ 0, p }, at[p] = 0;
    for (int32_t i = 0; i < parts->n; i++) where[part[i]].mean += i, at[part[i]]++;
    for (int32_t p = 0; p < parts->k; p++) where[p].mean /= at[p];
    qsort(where, (size_t)parts->k, sizeof *where, by_place);
    parts->first[0] = 0;
    for (int32_t p = 0; p < parts->k; p++) {
        parts->first[p + 1] = parts->first[p] + at[where[p].part];
        at[where[p].part] = parts->first[p];
    }
}

abut_status abut_strong_parts_cut(abut_strong_parts *parts, const abut_operator *A, abut_err *err)
{
    const int32_t n = A->matrix->n, k = n / ROWS + (n % ROWS != 0);
    void *list = NULL;
    abut_strong_parts_clear(parts);
    parts->n = n;
    parts->k = k;
    parts->first = calloc((size_t)k + 1, sizeof *parts->first);
    parts->row = malloc(((size_t)n + 1) * sizeof *parts->row);
    int32_t *at = malloc(((size_t)k + 1) * sizeof *at);
    place *where = malloc(((size_t)k + 1) * sizeof *where);
    abut_status rc = parts->first && parts->row && at && where ? ABUT_OK : no_memory(n, err);
    if (!rc && n) rc = cut(A, k, &list, err);
    const int32_t *part = list;
    if (!rc && n) arrange(parts, part, where, at);
    for (int32_t i = 0; i < n && !rc; i++) parts->row[at[part[i]]++] = i;
    free(list);
    free(at);
    free(where);
    if (rc) abut_strong_parts_clear(parts);
    return rc;
}
