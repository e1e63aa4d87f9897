#include "sparse/schwarz/schwarz.h"

#include "base/arena.h"
#include "sparse/own/cholesky.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/coarse_space.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- domains ---- */

typedef struct domain {
    int32_t m;
    int32_t *row;       /* [m] rows of A, ascending */
    abut_bsr local;     /* pattern; values are in a buffer of the thread that factors it */
    uint32_t *block;    /* [local.nnz] block of A; its kind is the same, the lower triangle of ascending rows */
    abut_chol *chol;
    double *v;          /* [3 m] right-hand side, then solution */
} domain;

/* One occurrence of a row of A in a domain. */
typedef struct occurrence {
    int32_t domain, at;
} occurrence;

struct abut_subdomains {
    int32_t n, k;
    size_t nnz;
    domain *dom;        /* [k] */
    int32_t *at;        /* [n + 1] */
    occurrence *occ;    /* [at[n]] ascending domains of a row */
};

static void local_clear(domain *d)
{
    ABUT_FREE(d->row, d->local.ptr, d->local.row, d->block, d->v);
    d->row = NULL;
    d->block = NULL;
    d->v = NULL;
    d->local = (abut_bsr){ 0 };
}

static void layout_clear(abut_subdomains *s)
{
    ABUT_FREE(s->at, s->occ);
    s->at = NULL;
    s->occ = NULL;
}

void abut_subdomains_free(abut_subdomains **out)
{
    abut_subdomains *s = *out;
    if (!s) return;
    for (int32_t j = 0; s->dom && j < s->k; j++) {
        local_clear(&s->dom[j]);
        abut_chol_free(&s->dom[j].chol);
    }
    free(s->dom);
    layout_clear(s);
    free(s);
    *out = NULL;
}

/* Pattern of A at the rows of a domain.  place[n]: -1 on entry and return. */
static int local_pattern(domain *d, const abut_bsr *A, int32_t *place)
{
    size_t nnz = 0;
    for (int32_t i = 0; i < d->m; i++) place[d->row[i]] = i;
    for (int32_t i = 0; i < d->m; i++)
        for (size_t b = A->ptr[d->row[i]]; b < A->ptr[d->row[i] + 1]; b++) nnz += place[A->row[b]] >= 0;
    d->local = (abut_bsr){ .n = d->m, .nnz = nnz, .ptr = abut_array_new((size_t)d->m, sizeof *d->local.ptr),
                           .row = abut_array_new(nnz, sizeof *d->local.row) };
    d->block = abut_array_new(nnz, sizeof *d->block);
    d->v = abut_array_new(3 * (size_t)d->m, sizeof *d->v);
    const int ok = d->local.ptr && d->local.row && d->block && d->v;
    size_t at = 0;
    for (int32_t i = 0; ok && i < d->m; i++) {
        d->local.ptr[i] = at;
        for (size_t b = A->ptr[d->row[i]]; b < A->ptr[d->row[i] + 1]; b++) {
            if (place[A->row[b]] < 0) continue;
            d->local.row[at] = place[A->row[b]];
            d->block[at++] = (uint32_t)b;
        }
    }
    if (ok) d->local.ptr[d->m] = at;
    for (int32_t i = 0; i < d->m; i++) place[d->row[i]] = -1;
    return ok;
}

static int same_pattern(const domain *a, const domain *b)
{
    return a->chol && a->m == b->m && a->local.nnz == b->local.nnz &&
           !memcmp(a->local.ptr, b->local.ptr, ((size_t)a->m + 1) * sizeof *a->local.ptr) &&
           !memcmp(a->local.row, b->local.row, a->local.nnz * sizeof *a->local.row);
}

static abut_status check_rows(const abut_bsr *A, int32_t j, const int32_t *row, int32_t m, abut_err *err)
{
    if (m < 1) return abut_fail(err, ABUT_E_ARG, "domains: domain %d is empty", j);
    for (int32_t i = 0; i < m; i++)
        if (row[i] < 0 || row[i] >= A->n || (i && row[i] <= row[i - 1]))
            return abut_fail(err, ABUT_E_ARG, "domains: domain %d: row %d, want ascending ones in 0 .. %d", j, row[i], A->n - 1);
    return ABUT_OK;
}

/* Domain j of A; the analysis of the old one serves when the pattern is the same. */
static abut_status domain_make(domain *old, const abut_bsr *A, const int32_t *row, int32_t m, int32_t *place, abut_err *err)
{
    domain d = { .m = m, .row = abut_array_new((size_t)m, sizeof *d.row) };
    if (!d.row) return abut_no_memory("domains", err);
    memcpy(d.row, row, (size_t)m * sizeof *row);
    if (!local_pattern(&d, A, place)) {
        local_clear(&d);
        return abut_no_memory("domains", err);
    }
    const int same = same_pattern(old, &d);
    d.chol = old->chol;
    local_clear(old);
    *old = d;
    if (same) return ABUT_OK;
    return d.chol ? abut_chol_renew(d.chol, &old->local, NULL, err) : abut_chol_new(&old->chol, &old->local, NULL, 1, err);
}

static abut_status occurrences(abut_subdomains *s, abut_err *err)
{
    s->at = calloc((size_t)s->n + 1, sizeof *s->at);
    if (!s->at) return abut_no_memory("domains", err);
    for (int32_t j = 0; j < s->k; j++)
        for (int32_t i = 0; i < s->dom[j].m; i++) s->at[s->dom[j].row[i] + 1]++;
    for (int32_t i = 0; i < s->n; i++) {
        if (!s->at[i + 1]) return abut_fail(err, ABUT_E_ARG, "domains: row %d is in none", i);
        s->at[i + 1] += s->at[i];
    }
    s->occ = abut_array_new((size_t)s->at[s->n], sizeof *s->occ);
    if (!s->occ) return abut_no_memory("domains", err);
    for (int32_t j = 0; j < s->k; j++)
        for (int32_t i = 0; i < s->dom[j].m; i++) s->occ[s->at[s->dom[j].row[i]]++] = (occurrence){ j, i };
    for (int32_t i = s->n; i > 0; i--) s->at[i] = s->at[i - 1];
    s->at[0] = 0;
    return ABUT_OK;
}

/* The lowest of the domains that have failed, whichever thread has met it, and why. */
typedef struct failure {
    int32_t domain;
    abut_err why;
} failure;

static void note(failure *f, int32_t of, const abut_err *why)
{
    #pragma omp critical (abut_subdomains_failure)
    if (of < f->domain) f->domain = of, f->why = *why;
}

static abut_status analyse(abut_subdomains *s, const abut_bsr *A, const int32_t *first, const int32_t *row, abut_err *err)
{
    failure f = { .domain = s->k };
    #pragma omp parallel
    {
        int32_t *place = abut_array_new((size_t)A->n, sizeof *place);
        if (place) memset(place, -1, (size_t)A->n * sizeof *place);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < s->k; j++) {
            abut_err e = { 0 };
            const int32_t *rows = row + first[j], m = first[j + 1] - first[j];
            abut_status rc = place ? check_rows(A, j, rows, m, &e) : abut_no_memory("domains", &e);
            if (!rc) rc = domain_make(&s->dom[j], A, rows, m, place, &e);
            if (rc) note(&f, j, &e);
        }
        free(place);
    }
    if (f.domain == s->k) return occurrences(s, err);
    if (err) *err = f.why;
    return f.why.code;
}

abut_status abut_subdomains_analyse(abut_subdomains **out, const abut_bsr *A, int32_t k, const int32_t *first, const int32_t *row,
                                 abut_err *err)
{
    assert(A);
    if (*out && (*out)->k != k) abut_subdomains_free(out);
    if (k < 1 || A->nnz > UINT32_MAX)
        return abut_subdomains_free(out), abut_fail(err, ABUT_E_ARG, "domains: %d of %zu blocks", k, A->nnz);
    abut_subdomains *s = *out ? *out : calloc(1, sizeof *s);
    if (!s) return abut_no_memory("domains", err);
    *out = s;
    s->n = A->n;
    s->k = k;
    s->nnz = A->nnz;
    layout_clear(s);
    if (!s->dom) s->dom = calloc((size_t)k, sizeof *s->dom);
    const abut_status rc = s->dom ? analyse(s, A, first, row, err) : abut_no_memory("domains", err);
    if (rc) abut_subdomains_free(out);
    return rc;
}

/* Values of a domain and its factor; val: room for them. */
static abut_status domain_factor(domain *d, const abut_bsr *A, abut_precision precision, double *val, abut_err *err)
{
    for (size_t b = 0; b < d->local.nnz; b++) memcpy(val + 9 * b, A->val + 9 * (size_t)d->block[b], 9 * sizeof *val);
    abut_bsr with = d->local;
    with.val = val;
    const abut_status rc = precision == ABUT_SINGLE ? abut_chol_factor_single(d->chol, &with, err) : ABUT_E_NUMERIC;
    return rc == ABUT_E_NUMERIC ? abut_chol_factor(d->chol, &with, err) : rc;
}

abut_status abut_subdomains_factor(abut_subdomains *s, const abut_bsr *A, abut_precision precision, abut_err *err)
{
    if (A->n != s->n || A->nnz != s->nnz)
        return abut_fail(err, ABUT_E_ARG, "domains: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n, A->nnz, s->n,
                         s->nnz);
    size_t most = 0;
    for (int32_t j = 0; j < s->k; j++) most = s->dom[j].local.nnz > most ? s->dom[j].local.nnz : most;
    failure f = { .domain = s->k };
    #pragma omp parallel
    {
        double *val = abut_array_new(9 * most, sizeof *val);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < s->k; j++) {
            abut_err e = { 0 };
            if (val ? domain_factor(&s->dom[j], A, precision, val, &e) : abut_no_memory("domains", &e)) note(&f, j, &e);
        }
        free(val);
    }
    return f.domain < s->k ? abut_fail(err, f.why.code, "part %d: %s", f.domain, f.why.msg) : ABUT_OK;
}

/* Copies of a row. */
static double copies(const abut_subdomains *s, int32_t i)
{
    return s->at[i + 1] - s->at[i];
}

static abut_status solve_all(abut_subdomains *s, abut_subdomains_join join, const double *r, abut_err *err)
{
    int failed = 0;
    #pragma omp parallel for schedule(dynamic) reduction(|| : failed)
    for (int32_t j = 0; j < s->k; j++) {
        const domain *d = &s->dom[j];
        for (int32_t i = 0; i < d->m; i++) memcpy(d->v + 3 * (size_t)i, r + 3 * (size_t)d->row[i], 3 * sizeof *r);
        if (join == ABUT_JOIN_EVEN)
            for (int32_t i = 0; i < d->m; i++)
                for (int c = 0; c < 3; c++) d->v[3 * (size_t)i + (size_t)c] /= sqrt(copies(s, d->row[i]));
        failed = failed || abut_chol_solve(d->chol, d->v, d->v, NULL) != ABUT_OK;
    }
    return failed ? abut_fail(err, ABUT_E_ARG, "domains: solved without a factor") : ABUT_OK;
}

abut_status abut_subdomains_add(abut_subdomains *s, abut_subdomains_join join, const double *r, double *z, abut_err *err)
{
    const abut_status rc = solve_all(s, join, r, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < s->n; i++) {
        const double n = copies(s, i), w = join == ABUT_JOIN_SUM ? 1 : join == ABUT_JOIN_MEAN ? 1 / n : 1 / sqrt(n);
        for (int32_t o = s->at[i]; o < s->at[i + 1]; o++) {     /* in the order of the domains */
            const double *v = s->dom[s->occ[o].domain].v + 3 * (size_t)s->occ[o].at;
            for (int c = 0; c < 3; c++) z[3 * (size_t)i + (size_t)c] += w * v[c];
        }
    }
    return ABUT_OK;
}

int32_t abut_subdomains_rows(const abut_subdomains *s)
{
    return s->n;
}

abut_subdomains_stats abut_subdomains_get_stats(const abut_subdomains *s)
{
    abut_subdomains_stats out = { .domains = s->k, .copies = s->at[s->n] };
    for (int32_t j = 0; j < s->k; j++) {
        const abut_chol_stats c = abut_chol_get_stats(s->dom[j].chol);
        out.factor_nnz += c.factor_nnz;
        out.factor_flops += c.factor_flops;
        out.bytes += c.bytes;
        if (s->dom[j].m > out.largest) out.largest = s->dom[j].m;
    }
    return out;
}

/* ---- parts of rows ---- */

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
    ABUT_FREE(parts->first, parts->row);
    *parts = (abut_strong_parts){ 0 };
}

static abut_status no_parts(int32_t n, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
}

/* *list: the blocks of all columns, *m of them, by columns; its owner frees it. */
static abut_status all_blocks(const abut_operator *O, void **list, size_t *m, abut_err *err)
{
    const abut_bsr *A = O->matrix;
    const abut_range mine = abut_ranks_part(O->ranks, (size_t)A->n);
    block *own = malloc((A->ptr[mine.hi] - A->ptr[mine.lo] + 1) * sizeof *own);
    *m = 0;
    *list = own;
    if (!own) return no_parts(A->n, err);
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
    abut_status rc = first && col && weight ? ABUT_OK : no_parts(n, err);
    if (!rc) graph_of(b, m, n, first, col, weight);
    if (!rc) rc = abut_graph_cut((abut_graph){ n, first, col }, weight, k, part, err);
    ABUT_FREE(first, col, weight);
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
    if (cuts && !*part) rc = no_parts(A->matrix->n, err);
    if (cuts && !rc) rc = cut_graph(list, m, A->matrix->n, k, *part, err);
    free(list);
    if (cuts && !rc) got = n;
    const abut_status joined = abut_ranks_join_list(A->ranks, part, &got, sizeof(int32_t), rc ? NULL : err);
    if (rc || joined) return rc ? rc : joined;
    return got == n ? ABUT_OK : abut_fail(err, ABUT_E_NUMERIC, "parts of %zu rows: rank 0 has found none", n);
}

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
    abut_status rc = parts->first && parts->row && at && where ? ABUT_OK : no_parts(n, err);
    if (!rc && n) rc = cut(A, k, &list, err);
    const int32_t *part = list;
    if (!rc && n) arrange(parts, part, where, at);
    for (int32_t i = 0; i < n && !rc; i++) parts->row[at[part[i]]++] = i;
    ABUT_FREE(list, at, where);
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
    ABUT_FREE(s->x, s->rest, s);
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
        ABUT_FREE(s->x, s->rest);
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
    return (abut_precond){ apply, s, s->n, NULL };
}

abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s)
{
    const abut_coarse_space_stats c = abut_coarse_space_get_stats(s->coarse);
    const abut_subdomains_stats d = abut_subdomains_get_stats(s->dom);
    return (abut_schwarz_stats){ .parts = s->k, .largest = d.largest, .factor_nnz = c.factor_nnz + d.factor_nnz,
                                 .factor_flops = c.factor_flops + d.factor_flops, .bytes = c.bytes + d.bytes };
}

/* ---- linear solvers ---- */

/* Linear solvers by conjugate gradients, for scenes whose whole factor is too large: memory and time grow with the number of
 * rows (sparse/pcg.h).
 *
 * cg-schwarz: a two-level Schwarz preconditioner on parts of the first matrix of a step, contacts included, cut by its values,
 * so that what is in stiff contact shares a part.  cg: inverted diagonal blocks. */
typedef struct cg {
    int by_blocks;      /* the preconditioner is the inverted diagonal blocks */
    abut_schwarz *schwarz;
    int is_analysed;    /* for the pattern of the matrix at hand */
    abut_strong_parts parts;    /* empty: not cut yet in this step */
    double *where;      /* [3 n] positions of the rows when they were cut into parts, m */
    int32_t cap;
    abut_cg_state state;
} cg;

static abut_status cg_make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    (void)threads, (void)err;
    ((cg *)self)->by_blocks = ops == &abut_linear_cg;
    return ABUT_OK;
}

static void cg_begin_step(void *self)
{
    abut_strong_parts_clear(&((cg *)self)->parts);
}

static void cg_clear(void *self)
{
    cg *s = self;
    abut_schwarz_free(&s->schwarz);
    abut_strong_parts_clear(&s->parts);
    free(s->where);
    abut_cg_clear(&s->state);
}

static abut_status reserve(cg *s, int32_t n, abut_err *err)
{
    if (n <= s->cap) return ABUT_OK;
    free(s->where);
    s->where = malloc(3 * (size_t)n * sizeof *s->where);
    s->cap = s->where ? n : 0;
    return s->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: %d rows", n);
}

static abut_status cut_parts(cg *s, const abut_operator *A, abut_err *err)
{
    const int32_t n = A->matrix->n;
    if (!A->where) return abut_fail(err, ABUT_E_ARG, "cg-schwarz: the positions of %d rows are not known", n);
    const abut_status rc = reserve(s, n, err);
    if (rc) return rc;
    memcpy(s->where, A->where, 3 * (size_t)n * sizeof *s->where);
    return abut_strong_parts_cut(&s->parts, A, err);
}

/* Parts are cut by the values of a matrix, so all is left to factor. */
static abut_status cg_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    (void)A;
    (void)order;
    (void)err;
    ((cg *)self)->is_analysed = 0;
    return ABUT_OK;
}

static abut_status analyse_now(cg *s, const abut_operator *A, abut_err *err)
{
    const int is_cut = s->parts.k && s->parts.n == A->matrix->n;
    abut_status rc = is_cut ? ABUT_OK : cut_parts(s, A, err);
    if (!rc && !(is_cut && s->is_analysed)) rc = abut_schwarz_analyse(&s->schwarz, A->matrix, &s->parts, s->where, err);
    s->is_analysed = !rc;
    return rc;
}

static abut_status cg_factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (s->by_blocks) return ABUT_OK;
    const abut_status rc = analyse_now(s, A, err);
    return rc ? rc : abut_schwarz_factor(s->schwarz, A->matrix, err);
}

static abut_status cg_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                            abut_err *err)
{
    cg *s = self;
    const abut_precond M = s->by_blocks ? (abut_precond){ 0 } : abut_schwarz_precond(s->schwarz);
    return abut_cg_solve(&s->state, A, s->by_blocks ? NULL : &M, NULL, NULL, b, goal, x, err);
}

static abut_linear_stats cg_stats(const void *self)
{
    const cg *s = self;
    const abut_schwarz_stats p = s->schwarz ? abut_schwarz_get_stats(s->schwarz) : (abut_schwarz_stats){ 0 };
    return (abut_linear_stats){ p.factor_nnz, p.factor_flops, p.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_cg_schwarz = {
    .name = "cg-schwarz", .help = "conjugate gradients with a two-level Schwarz preconditioner", .can = ABUT_IS_ITERATIVE,
    .size = sizeof(cg), .make = cg_make, .begin_step = cg_begin_step, .analyse = cg_analyse, .factor = cg_factor,
    .solve = cg_solve, .stats = cg_stats, .clear = cg_clear,
};
const abut_linear_solver_ops abut_linear_cg = {
    .name = "cg", .help = "conjugate gradients with inverted diagonal blocks",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .size = sizeof(cg), .make = cg_make, .analyse = cg_analyse, .factor = cg_factor, .solve = cg_solve, .stats = cg_stats,
    .clear = cg_clear,
};
