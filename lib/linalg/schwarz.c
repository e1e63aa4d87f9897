#include "linalg/schwarz.h"

#include "linalg/chol.h"
#include "linalg/domains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The coarse space: two block rows a part, its translations and its rotations about its middle. */
typedef struct coarse {
    double (*arm)[3];   /* [n] from the middle of the part, in units of its radius */
    abut_bsr A;
    abut_chol *chol;
    double *v;          /* [6 k] */
} coarse;

struct abut_schwarz {
    int32_t n, k;
    size_t nnz;
    int32_t *part;      /* [n] */
    int32_t *first;     /* [k + 1] rows of each part are own[first[p] ..] */
    int32_t *own;       /* [n] */
    abut_domains *dom;  /* part i and the rows next to it */
    coarse c;
};

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: out of memory");
}

static void *new_array(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : malloc((n + 1) * size);
}

static void layout_clear(abut_schwarz *s)
{
    free(s->part);
    free(s->first);
    free(s->own);
    free(s->c.arm);
    free(s->c.v);
    free(s->c.A.ptr);
    free(s->c.A.row);
    free(s->c.A.val);
    abut_chol_free(&s->c.chol);
    s->c = (coarse){ 0 };
    s->part = s->first = s->own = NULL;
}

void abut_schwarz_free(abut_schwarz **out)
{
    abut_schwarz *s = *out;
    if (!s) return;
    abut_domains_free(&s->dom);
    layout_clear(s);
    free(s);
    *out = NULL;
}

/* ---- who stands where ---- */

/* own[first[p] .. first[p+1]): the rows of part p, ascending. */
static abut_status sort_parts(abut_schwarz *s, abut_err *err)
{
    memset(s->first, 0, ((size_t)s->k + 1) * sizeof *s->first);
    for (int32_t i = 0; i < s->n; i++) {
        if (s->part[i] < 0 || s->part[i] >= s->k)
            return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: row %d is in part %d, want 0 .. %d", i, s->part[i],
                             s->k - 1);
        s->first[s->part[i] + 1]++;
    }
    for (int32_t p = 0; p < s->k; p++) {
        if (!s->first[p + 1]) return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: part %d is empty", p);
        s->first[p + 1] += s->first[p];
    }
    for (int32_t i = 0; i < s->n; i++) s->own[s->first[s->part[i]]++] = i;
    for (int32_t p = s->k; p > 0; p--) s->first[p] = s->first[p - 1];
    s->first[0] = 0;
    return ABUT_OK;
}

typedef struct neighbour {
    int32_t part, row;
} neighbour;

/* Every row that is next to a part, once for each block between them; sorted by part.  start[k + 1] */
static neighbour *neighbours(const abut_schwarz *s, const abut_bsr *A, size_t *start)
{
    memset(start, 0, ((size_t)s->k + 1) * sizeof *start);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c] + 1; b < A->ptr[c + 1]; b++) {
            const int32_t pc = s->part[c], pr = s->part[A->row[b]];
            if (pc != pr) start[pc + 1]++, start[pr + 1]++;
        }
    for (int32_t p = 0; p < s->k; p++) start[p + 1] += start[p];
    neighbour *all = new_array(start[s->k], sizeof *all);
    if (!all) return NULL;
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c] + 1; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b], pc = s->part[c], pr = s->part[r];
            if (pc == pr) continue;
            all[start[pc]++] = (neighbour){ pc, r };
            all[start[pr]++] = (neighbour){ pr, c };
        }
    for (int32_t p = s->k; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
    return all;
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Rows of domain p, ascending; mark[n] < p on entry.  Returns their number. */
static int32_t domain_rows(const abut_schwarz *s, int32_t p, const neighbour *near, size_t n_near, int32_t *mark, int32_t *row)
{
    int32_t m = 0;
    for (int32_t i = s->first[p]; i < s->first[p + 1]; i++) mark[row[m++] = s->own[i]] = p;
    for (size_t i = 0; i < n_near; i++) {
        if (mark[near[i].row] == p) continue;
        mark[near[i].row] = p;
        row[m++] = near[i].row;
    }
    qsort(row, (size_t)m, sizeof *row, by_number);
    return m;
}

static abut_status domains_make(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    const size_t k = (size_t)s->k;
    size_t *start = new_array(k, sizeof *start);
    neighbour *near = start ? neighbours(s, A, start) : NULL;
    int32_t *mark = new_array((size_t)s->n, sizeof *mark), *first = new_array(k, sizeof *first);
    int32_t *row = near ? new_array((size_t)s->n + start[k], sizeof *row) : NULL;
    abut_status rc = near && mark && first && row ? ABUT_OK : no_memory(err);
    if (!rc) {
        memset(mark, -1, (size_t)s->n * sizeof *mark);
        first[0] = 0;
        for (int32_t p = 0; p < s->k; p++)
            first[p + 1] = first[p] + domain_rows(s, p, near + start[p], start[p + 1] - start[p], mark, row + first[p]);
        rc = abut_domains_analyse(&s->dom, A, s->k, first, row, err);
    }
    free(start);
    free(near);
    free(mark);
    free(first);
    free(row);
    return rc;
}

/* ---- the coarse space ---- */

/* Lever arms of the rotations: positions relative to the mean of the part, over the largest distance from it. */
static void arms_fill(abut_schwarz *s, const double *x)
{
    for (int32_t p = 0; p < s->k; p++) {
        double mean[3] = { 0, 0, 0 }, far = 0;
        const int32_t lo = s->first[p], hi = s->first[p + 1];
        for (int32_t i = lo; i < hi; i++)
            for (int d = 0; d < 3; d++) mean[d] += x[3 * (size_t)s->own[i] + (size_t)d] / (hi - lo);
        for (int32_t i = lo; i < hi; i++) {
            double *arm = s->c.arm[s->own[i]], r2 = 0;
            for (int d = 0; d < 3; d++) arm[d] = x[3 * (size_t)s->own[i] + (size_t)d] - mean[d], r2 += arm[d] * arm[d];
            far = fmax(far, sqrt(r2));
        }
        for (int32_t i = lo; i < hi; i++)
            for (int d = 0; d < 3; d++) s->c.arm[s->own[i]][d] /= far > 0 ? far : 1;
    }
}

static int by_pair(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Pairs (column part, row part) with row >= column, each once; the diagonal ones first in their columns. */
static neighbour *part_pairs(const abut_schwarz *s, const abut_bsr *A, size_t *count)
{
    neighbour *all = new_array(A->nnz + (size_t)s->k, sizeof *all);
    size_t n = 0, m = 0;
    if (!all) return NULL;
    for (int32_t p = 0; p < s->k; p++) all[n++] = (neighbour){ p, p };
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c] + 1; b < A->ptr[c + 1]; b++) {
            const int32_t p = s->part[c], q = s->part[A->row[b]];
            if (p != q) all[n++] = p < q ? (neighbour){ p, q } : (neighbour){ q, p };
        }
    qsort(all, n, sizeof *all, by_pair);
    for (size_t i = 0; i < n; i++)
        if (!i || by_pair(&all[i], &all[m - 1])) all[m++] = all[i];
    *count = m;
    return all;
}

/* Block columns 2 p (translations) and 2 p + 1 (rotations); of the diagonal pair the upper right block is not stored. */
static abut_status coarse_pattern(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    size_t n_pair = 0, at = 0;
    neighbour *pair = part_pairs(s, A, &n_pair);
    abut_bsr *C = &s->c.A;
    *C = (abut_bsr){ .n = 2 * s->k, .nnz = 4 * n_pair - (size_t)s->k, .ptr = new_array(2 * (size_t)s->k, sizeof *C->ptr) };
    C->row = new_array(C->nnz, sizeof *C->row);
    C->val = new_array(9 * C->nnz, sizeof *C->val);
    s->c.v = new_array(6 * (size_t)s->k, sizeof *s->c.v);
    const int ok = pair && C->ptr && C->row && C->val && s->c.v;
    for (size_t i = 0; ok && i < n_pair;) {
        size_t end = i;
        while (end < n_pair && pair[end].part == pair[i].part) end++;
        for (int half = 0; half < 2; half++) {
            C->ptr[2 * pair[i].part + half] = at;
            for (size_t j = i; j < end; j++)
                for (int32_t r = 2 * pair[j].row; r < 2 * pair[j].row + 2; r++)
                    if (r >= 2 * pair[i].part + half) C->row[at++] = r;
        }
        i = end;
    }
    if (ok) C->ptr[C->n] = at;
    free(pair);
    return ok ? abut_chol_new(&s->c.chol, C, NULL, 1, err) : no_memory(err);
}

/* The block of coarse row r in coarse column c. */
static double *coarse_block(const abut_bsr *C, int32_t r, int32_t c)
{
    size_t lo = C->ptr[c], hi = C->ptr[c + 1];
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (C->row[mid] <= r) lo = mid;
        else hi = mid;
    }
    return C->val + 9 * lo;
}

/* Z of a row is [I, S] with S w = w x arm. */
static void skew(const double a[3], double S[9])
{
    const double m[9] = { 0, a[2], -a[1], -a[2], 0, a[0], a[1], -a[0], 0 };
    memcpy(S, m, sizeof m);
}

static void times(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static void times_t(const double A[9], const double B[9], double C[9])   /* A^T B */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/* Adds B = [I S_r]^T A_rc [I S_c] to the coarse blocks of parts q >= p; turned: A_rc stands in row p, column q. */
static void coarse_add(const abut_bsr *C, int32_t q, int32_t p, const double B[9], const double *arm_r, const double *arm_c)
{
    double Sr[9], Sc[9], part[4][9];
    skew(arm_r, Sr);
    skew(arm_c, Sc);
    memcpy(part[0], B, sizeof part[0]);
    times(B, Sc, part[1]);
    times_t(Sr, B, part[2]);
    times_t(Sr, part[1], part[3]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            if (2 * q + i < 2 * p + j) continue;
            double *to = coarse_block(C, 2 * q + i, 2 * p + j);
            for (int e = 0; e < 9; e++) to[e] += part[2 * i + j][e];
        }
}

/* Parts in a line or a point have rotations that move nothing. */
#define COARSE_FLOOR 1e-9

static void coarse_fill(abut_schwarz *s, const abut_bsr *A)
{
    abut_bsr *C = &s->c.A;
    memset(C->val, 0, 9 * C->nnz * sizeof *C->val);
    for (int32_t c = 0; c < A->n; c++)
        for (size_t b = A->ptr[c]; b < A->ptr[c + 1]; b++) {
            const int32_t r = A->row[b], p = s->part[c], q = s->part[r];
            const double *B = A->val + 9 * b, T[9] = { B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8] };
            if (q >= p) coarse_add(C, q, p, B, s->c.arm[r], s->c.arm[c]);
            if (q < p || (q == p && r != c)) coarse_add(C, p, q, T, s->c.arm[c], s->c.arm[r]);
        }
    for (int32_t p = 0; p < s->k; p++) {
        const double *T = C->val + 9 * C->ptr[2 * p];
        double *R = C->val + 9 * C->ptr[2 * p + 1];
        for (int d = 0; d < 9; d += 4) R[d] += COARSE_FLOOR * (T[0] + T[4] + T[8]);
    }
}

/* v = Z^T r */
static void restrict_to(const abut_schwarz *s, const double *r, double *v)
{
    #pragma omp parallel for schedule(static)
    for (int32_t p = 0; p < s->k; p++) {
        double t[6] = { 0 };
        for (int32_t i = s->first[p]; i < s->first[p + 1]; i++) {
            const double *f = r + 3 * (size_t)s->own[i], *a = s->c.arm[s->own[i]];
            for (int d = 0; d < 3; d++) t[d] += f[d];
            t[3] += a[1] * f[2] - a[2] * f[1];
            t[4] += a[2] * f[0] - a[0] * f[2];
            t[5] += a[0] * f[1] - a[1] * f[0];
        }
        memcpy(v + 6 * (size_t)p, t, sizeof t);
    }
}

/* ---- public ---- */

static abut_status layout(abut_schwarz *s, const abut_bsr *A, const int32_t *part, const double *x, abut_err *err)
{
    const size_t n = (size_t)A->n;
    s->n = A->n;
    s->nnz = A->nnz;
    s->part = new_array(n, sizeof *s->part);
    s->own = new_array(n, sizeof *s->own);
    s->first = new_array((size_t)s->k, sizeof *s->first);
    s->c.arm = new_array(n, sizeof *s->c.arm);
    if (!s->part || !s->own || !s->first || !s->c.arm) return no_memory(err);
    memcpy(s->part, part, n * sizeof *part);
    abut_status rc = sort_parts(s, err);
    if (!rc) rc = domains_make(s, A, err);
    if (rc) return rc;
    arms_fill(s, x);
    return coarse_pattern(s, A, err);
}

abut_status abut_schwarz_analyse(abut_schwarz **out, const abut_bsr *A, int32_t k, const int32_t *part, const double *x,
                                 abut_err *err)
{
    if (*out && (*out)->k != k) abut_schwarz_free(out);
    if (k < 1 || A->nnz > UINT32_MAX)
        return abut_schwarz_free(out), abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: %d parts of %zu blocks", k, A->nnz);
    abut_schwarz *s = *out ? *out : calloc(1, sizeof *s);
    if (!s) return no_memory(err);
    *out = s;
    s->k = k;
    layout_clear(s);
    const abut_status rc = layout(s, A, part, x, err);
    if (rc) abut_schwarz_free(out);
    return rc;
}

abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    if (A->n != s->n || A->nnz != s->nnz)
        return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n,
                         A->nnz, s->n, s->nnz);
    abut_status rc = abut_domains_factor(s->dom, A, err);
    if (rc) return abut_wrap(err, "Schwarz preconditioner"), rc;
    coarse_fill(s, A);
    rc = abut_chol_factor(s->c.chol, &s->c.A, err);
    return rc ? abut_wrap(err, "Schwarz preconditioner, coarse matrix"), rc : ABUT_OK;
}

/* z = what the coarse space says of each row */
static void prolong(const abut_schwarz *s, double *z)
{
    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < s->n; i++) {
        const double *t = s->c.v + 6 * (size_t)s->part[i], *w = t + 3, *a = s->c.arm[i];
        const double sum[3] = { t[0] + w[1] * a[2] - w[2] * a[1], t[1] + w[2] * a[0] - w[0] * a[2],
                                t[2] + w[0] * a[1] - w[1] * a[0] };
        memcpy(z + 3 * (size_t)i, sum, sizeof sum);
    }
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_schwarz *s = of;
    restrict_to(s, r, s->c.v);
    const abut_status rc = abut_chol_solve(s->c.chol, s->c.v, s->c.v, err);
    if (rc) return rc;
    prolong(s, z);
    return abut_domains_add(s->dom, ABUT_JOIN_SUM, r, z, err);
}

abut_precond abut_schwarz_precond(abut_schwarz *s)
{
    return (abut_precond){ apply, s, s->n };
}

abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s)
{
    const abut_chol_stats c = abut_chol_get_stats(s->c.chol);
    const abut_domains_stats d = abut_domains_get_stats(s->dom);
    return (abut_schwarz_stats){ .parts = s->k, .largest = d.largest, .factor_nnz = c.factor_nnz + d.factor_nnz,
                                 .factor_flops = c.factor_flops + d.factor_flops };
}
