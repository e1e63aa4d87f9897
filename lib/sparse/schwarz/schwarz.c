#include "sparse/schwarz/schwarz.h"

#include "graph/graph.h"
#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/subdomains.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 200, HEAVY = 100 };   /* rows of a part; weight of a block as large as the diagonal ones that it joins */
#define BETWEEN 0.382       /* numbers that meshes have, so that rounding gives none of them another weight on other ranks */

/* A block of the lower triangle. */
typedef struct block {
    int32_t column, row;
    float size;             /* Frobenius norm */
} block;

typedef struct mean_row {
    double mean;            /* of the rows of a part */
    int32_t part;
} mean_row;

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

static int by_mean(const void *a, const void *b)
{
    const mean_row *p = a, *q = b;
    return p->mean != q->mean ? (p->mean > q->mean) - (p->mean < q->mean) : (p->part > q->part) - (p->part < q->part);
}

/* at[k]: where the rows of each part begin; parts->first. */
static void arrange(abut_strong_parts *parts, const int32_t *part, mean_row *where, int32_t *at)
{
    for (int32_t p = 0; p < parts->k; p++) where[p] = (mean_row){ 0, p }, at[p] = 0;
    for (int32_t i = 0; i < parts->n; i++) where[part[i]].mean += i, at[part[i]]++;
    for (int32_t p = 0; p < parts->k; p++) where[p].mean /= at[p];
    qsort(where, (size_t)parts->k, sizeof *where, by_mean);
    parts->first[0] = 0;
    for (int32_t p = 0; p < parts->k; p++) {
        parts->first[p + 1] = parts->first[p] + at[where[p].part];
        at[where[p].part] = parts->first[p];
    }
}

abut_status abut_strong_parts_cut(abut_strong_parts *parts, const abut_operator *A, abut_err *err)
{
    const int32_t n = A->matrix->n, k = n / PART_ROWS + (n % PART_ROWS != 0);
    void *list = NULL;
    abut_strong_parts_clear(parts);
    parts->n = n;
    parts->k = k;
    parts->first = calloc((size_t)k + 1, sizeof *parts->first);
    parts->row = malloc(((size_t)n + 1) * sizeof *parts->row);
    int32_t *at = malloc(((size_t)k + 1) * sizeof *at);
    mean_row *where = malloc(((size_t)k + 1) * sizeof *where);
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

/* ---- the preconditioner ---- */

enum { PIECES = 2 };        /* of a part, that move as rigid bodies in the coarse space */

struct abut_schwarz {
    int32_t n, k;
    size_t nnz;
    abut_subdomains *dom;       /* the parts */
    abut_coarse_space *coarse;  /* the rigid motions of their pieces */
    double *x, *rest;           /* [3 n] */
};

void abut_schwarz_free(abut_schwarz **out)
{
    abut_schwarz *s = *out;
    if (!s) return;
    abut_subdomains_free(&s->dom);
    abut_coarse_space_free(&s->coarse);
    free(s->x);
    free(s->rest);
    free(s);
    *out = NULL;
}

/* Each part in pieces of rows that follow each other. */
static abut_status analyse_coarse(abut_schwarz *s, const abut_bsr *A, const abut_strong_parts *parts, abut_err *err)
{
    int32_t *first = malloc(((size_t)s->k * PIECES + 1) * sizeof *first), pieces = 0;
    if (!first) return abut_fail(err, ABUT_E_NOMEM, "pieces of %d parts", s->k);
    for (int32_t p = 0; p < s->k; p++) {
        const int32_t at = parts->first[p], rows = parts->first[p + 1] - at, n = rows < PIECES ? rows : PIECES;
        for (int32_t i = 0; i < n; i++) first[pieces++] = at + (int32_t)((int64_t)rows * i / n);
    }
    first[pieces] = s->n;
    const abut_status rc = abut_coarse_space_analyse(&s->coarse, &(abut_operator){ .matrix = A }, pieces, first, parts->row, err);
    free(first);
    return rc;
}

static abut_status place(abut_schwarz *s, int32_t n, const double *x, abut_err *err)
{
    const size_t bytes = 3 * (size_t)n * sizeof *x;
    if (s->n != n) {
        free(s->x);
        free(s->rest);
        s->x = malloc(bytes);
        s->rest = malloc(bytes);
    }
    s->n = n;
    if (!s->x || !s->rest) return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: %d rows", n);
    memcpy(s->x, x, bytes);
    return ABUT_OK;
}

abut_status abut_schwarz_analyse(abut_schwarz **out, const abut_bsr *A, const abut_strong_parts *parts, const double *x,
                                 abut_err *err)
{
    assert(A && parts);
    if (*out && (*out)->k != parts->k) abut_schwarz_free(out);
    if (parts->k < 1 || parts->n != A->n)
        return abut_schwarz_free(out), abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: %d parts of %d rows, want %d rows",
                                                 parts->k, parts->n, A->n);
    abut_schwarz *s = *out ? *out : calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: out of memory");
    *out = s;
    s->k = parts->k;
    s->nnz = A->nnz;
    abut_status rc = place(s, A->n, x, err);
    if (!rc) rc = abut_subdomains_analyse(&s->dom, A, s->k, parts->first, parts->row, err);
    if (!rc) rc = analyse_coarse(s, A, parts, err);
    if (rc) abut_wrap(err, "Schwarz preconditioner"), abut_schwarz_free(out);
    return rc;
}

abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    if (A->n != s->n || A->nnz != s->nnz)
        return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n,
                         A->nnz, s->n, s->nnz);
    abut_status rc = abut_subdomains_factor(s->dom, A, ABUT_SINGLE, err);
    if (rc) return abut_wrap(err, "Schwarz preconditioner"), rc;
    rc = abut_coarse_space_factor(s->coarse, &(abut_operator){ .matrix = A }, s->x, err);
    return rc ? abut_wrap(err, "Schwarz preconditioner, coarse matrix"), rc : ABUT_OK;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_schwarz *s = of;
    memset(z, 0, 3 * (size_t)s->n * sizeof *z);
    abut_status rc = abut_coarse_space_project(s->coarse, r, s->rest, err);
    if (!rc) rc = abut_subdomains_add(s->dom, ABUT_JOIN_SUM, s->rest, z, err);
    return rc ? rc : abut_coarse_space_correct(s->coarse, r, z, err);
}

abut_precond abut_schwarz_precond(abut_schwarz *s)
{
    return (abut_precond){ apply, s, s->n };
}

abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s)
{
    const abut_coarse_space_stats c = abut_coarse_space_get_stats(s->coarse);
    const abut_subdomains_stats d = abut_subdomains_get_stats(s->dom);
    return (abut_schwarz_stats){ .parts = s->k, .largest = d.largest, .factor_nnz = c.factor_nnz + d.factor_nnz,
                                 .factor_flops = c.factor_flops + d.factor_flops, .bytes = c.bytes + d.bytes };
}
