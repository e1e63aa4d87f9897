#include "sparse/schwarz/subdomains.h"

#include "sparse/own/cholesky.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "domains: out of memory");
}

static void *new_array(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : malloc((n + 1) * size);
}

static void local_clear(domain *d)
{
    free(d->row);
    free(d->local.ptr);
    free(d->local.row);
    free(d->block);
    free(d->v);
    d->row = NULL;
    d->block = NULL;
    d->v = NULL;
    d->local = (abut_bsr){ 0 };
}

static void layout_clear(abut_subdomains *s)
{
    free(s->at);
    free(s->occ);
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

/* ---- analysis ---- */

/* Pattern of A at the rows of a domain.  place[n]: -1 on entry and return. */
static int local_pattern(domain *d, const abut_bsr *A, int32_t *place)
{
    size_t nnz = 0;
    for (int32_t i = 0; i < d->m; i++) place[d->row[i]] = i;
    for (int32_t i = 0; i < d->m; i++)
        for (size_t b = A->ptr[d->row[i]]; b < A->ptr[d->row[i] + 1]; b++) nnz += place[A->row[b]] >= 0;
    d->local = (abut_bsr){ .n = d->m, .nnz = nnz, .ptr = new_array((size_t)d->m, sizeof *d->local.ptr),
                           .row = new_array(nnz, sizeof *d->local.row) };
    d->block = new_array(nnz, sizeof *d->block);
    d->v = new_array(3 * (size_t)d->m, sizeof *d->v);
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
    domain d = { .m = m, .row = new_array((size_t)m, sizeof *d.row) };
    if (!d.row) return no_memory(err);
    memcpy(d.row, row, (size_t)m * sizeof *row);
    if (!local_pattern(&d, A, place)) {
        local_clear(&d);
        return no_memory(err);
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
    if (!s->at) return no_memory(err);
    for (int32_t j = 0; j < s->k; j++)
        for (int32_t i = 0; i < s->dom[j].m; i++) s->at[s->dom[j].row[i] + 1]++;
    for (int32_t i = 0; i < s->n; i++) {
        if (!s->at[i + 1]) return abut_fail(err, ABUT_E_ARG, "domains: row %d is in none", i);
        s->at[i + 1] += s->at[i];
    }
    s->occ = new_array((size_t)s->at[s->n], sizeof *s->occ);
    if (!s->occ) return no_memory(err);
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
        int32_t *place = new_array((size_t)A->n, sizeof *place);
        if (place) memset(place, -1, (size_t)A->n * sizeof *place);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < s->k; j++) {
            abut_err e = { 0 };
            const int32_t *rows = row + first[j], m = first[j + 1] - first[j];
            abut_status rc = place ? check_rows(A, j, rows, m, &e) : no_memory(&e);
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
    if (!s) return no_memory(err);
    *out = s;
    s->n = A->n;
    s->k = k;
    s->nnz = A->nnz;
    layout_clear(s);
    if (!s->dom) s->dom = calloc((size_t)k, sizeof *s->dom);
    const abut_status rc = s->dom ? analyse(s, A, first, row, err) : no_memory(err);
    if (rc) abut_subdomains_free(out);
    return rc;
}

/* ---- factors and solves ---- */

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
        double *val = new_array(9 * most, sizeof *val);
        #pragma omp for schedule(dynamic)
        for (int32_t j = 0; j < s->k; j++) {
            abut_err e = { 0 };
            if (val ? domain_factor(&s->dom[j], A, precision, val, &e) : no_memory(&e)) note(&f, j, &e);
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
