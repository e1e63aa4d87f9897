#include "sparse/incomplete/incomplete.h"

#include "base/arena.h"
#include "base/order.h"
#include "math/mat3.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/coarse_space.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lower triangle of an operator's diagonal blocks on chunks of consecutive rows, in its own pattern ----
 *
 * Summed blocks are read in place; blocks of elements, which come and go, are listed by columns. */

/* Blocks (row, column), row >= column, of elements; in a column in the order of the elements.  Zero-filled is empty. */
typedef struct loose_blocks {
    int32_t n, chunk;       /* rows; rows of a chunk */
    const abut_bsr *S;      /* summed blocks, borrowed; NULL: none */
    size_t *first;          /* [n + 1] by columns */
    int32_t *row;           /* [first[n]] */
    float *val;             /* [9 first[n]] row major */
} loose_blocks;

static void loose_clear(loose_blocks *l)
{
    ABUT_FREE(l->first, l->row, l->val);
    *l = (loose_blocks){ 0 };
}

/* Passes over the elements: one that counts the blocks of each column, one that writes them. */
typedef struct listing {
    loose_blocks *l;
    int writes;
} listing;

/* Block H of rows r and s, or of s and r its transpose; alone: a block of its own transpose, r = s. */
static void list_block(void *ctx, int32_t r, int32_t s, const double *H, double w, int alone)
{
    const listing *t = ctx;
    loose_blocks *l = t->l;
    const int32_t row = r > s ? r : s, col = r > s ? s : r;
    if (r / l->chunk != s / l->chunk) return;
    const size_t at = l->first[col + !t->writes]++;
    if (!t->writes) return;
    float *B = l->val + 9 * at;
    l->row[at] = row;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double h = r < s ? H[3 * j + i] : H[3 * i + j];
            B[3 * i + j] = (float)(w * (r == s && !alone ? h + H[3 * j + i] : h));
        }
}

static void list_elements(void *ctx, const abut_operator_elements *e)
{
    abut_operator_each_block(e, ((const listing *)ctx)->writes, list_block, ctx);
}

static void list_diagonal(void *ctx, const double *diag)
{
    const listing *t = ctx;
    for (int32_t i = 0; i < t->l->n; i++) {
        const double H[9] = { diag[i], 0, 0, 0, diag[i], 0, 0, 0, diag[i] };
        list_block(ctx, i, i, H, 1, 1);
    }
}

static void note_matrix(void *ctx, const abut_bsr *S) { ((const listing *)ctx)->l->S = S; }

/* The diagonal is handed over with the values alone: it is counted as if it were there. */
static abut_status count(listing *t, const abut_operator *A, abut_err *err)
{
    const abut_operator_reader to = { list_diagonal, list_elements, t, note_matrix };
    const abut_status rc = A->read(A->self, 0, &to, err);
    for (int32_t i = 0; i < t->l->n && !rc && !t->l->S; i++) t->l->first[i + 1]++;
    for (int32_t i = 0; i < t->l->n && !rc; i++) t->l->first[i + 1] += t->l->first[i];
    return rc;
}

static abut_status list(listing *t, const abut_operator *A, abut_err *err)
{
    loose_blocks *l = t->l;
    const size_t all = l->first[l->n];
    const abut_operator_reader to = { list_diagonal, list_elements, t, note_matrix };
    if (!ABUT_ARRAYS(ABUT_ITEMS(l->row, all), ABUT_ITEMS(l->val, 9 * all)))
        return abut_fail(err, ABUT_E_NOMEM, "incomplete factor: %zu blocks of elements", all);
    for (size_t i = 0; i < all; i++) l->row[i] = -1;
    t->writes = 1;
    const abut_status rc = A->read(A->self, 1, &to, err);
    for (int32_t i = l->n; i > 0; i--) l->first[i] = l->first[i - 1];
    l->first[0] = 0;
    return rc;
}

/* Lists the blocks of A within chunks; l->S lives as long as A.
 * Fails  ABUT_E_ARG neither a matrix nor its elements are known; ABUT_E_NOMEM.  *l is then empty */
static abut_status loose_make(loose_blocks *l, const abut_operator *A, int32_t chunk, abut_err *err)
{
    assert(chunk > 0);
    *l = (loose_blocks){ .n = abut_operator_rows(A), .chunk = chunk, .S = A->matrix };
    if (!A->matrix && !A->read)
        return abut_fail(err, ABUT_E_ARG, "incomplete factor: an operator without a matrix and without elements");
    l->first = calloc((size_t)l->n + 2, sizeof *l->first);
    if (!l->first) return abut_fail(err, ABUT_E_NOMEM, "incomplete factor: %d rows", l->n);
    listing t = { l, 0 };
    abut_status rc = A->matrix ? ABUT_OK : count(&t, A, err);
    if (!rc && !A->matrix) rc = list(&t, A, err);
    if (rc) loose_clear(l);
    return rc;
}

/* ---- a column ---- */

/* n, with r among the rows, ascending. */
static int32_t insert(int32_t *row, int32_t n, int32_t r)
{
    int32_t at = n;
    while (at > 0 && row[at - 1] > r) at--;
    if (at > 0 && row[at - 1] == r) return n;
    memmove(row + at + 1, row + at, (size_t)(n - at) * sizeof *row);
    row[at] = r;
    return n + 1;
}

static int32_t last_row(const loose_blocks *l, int32_t c)
{
    const int64_t past = ((int64_t)c / l->chunk + 1) * l->chunk;
    return (int32_t)(past < l->n ? past : l->n);
}

/* Returns an upper bound of the number of rows of column c. */
static int32_t column_most(const loose_blocks *l, int32_t c)
{
    const size_t summed = l->S ? l->S->ptr[c + 1] - l->S->ptr[c] : 0;
    return (int32_t)(1 + summed + l->first[c + 1] - l->first[c]);
}

/* The rows of column c within its chunk, ascending, c first, into row[column_most].  Returns how many. */
static int32_t column_rows(const loose_blocks *l, int32_t c, int32_t *row)
{
    const int32_t past = last_row(l, c);
    int32_t n = 1;
    row[0] = c;
    for (size_t b = l->S ? l->S->ptr[c] + 1 : 0; l->S && b < l->S->ptr[c + 1] && l->S->row[b] < past; b++)
        row[n++] = l->S->row[b];
    for (size_t k = l->first[c]; k < l->first[c + 1]; k++)
        if (l->row[k] >= 0) n = insert(row, n, l->row[k]);
    return n;
}

/* The blocks of column c into val[9 n], for the n rows that column_rows gives. */
static void column_sum(const loose_blocks *l, int32_t c, const int32_t *row, int32_t n, double *val)
{
    int32_t at = 0;
    memset(val, 0, 9 * (size_t)n * sizeof *val);
    for (size_t b = l->S ? l->S->ptr[c] : 0; l->S && b < l->S->ptr[c + 1] && at < n; b++) {
        while (at < n && row[at] < l->S->row[b]) at++;
        if (at < n && row[at] == l->S->row[b]) memcpy(val + 9 * (size_t)at, l->S->val + 9 * b, 9 * sizeof *val);
    }
    for (size_t k = l->first[c]; k < l->first[c + 1]; k++) {
        for (at = 0; at < n && row[at] < l->row[k]; at++) continue;
        for (int i = 0; l->row[k] >= 0 && i < 9; i++) val[9 * at + i] += l->val[9 * k + (size_t)i];
    }
}

/* ---- the factors ---- */

struct abut_incomplete {
    int32_t n, chunks, raised;
    int made;
    size_t *ptr;            /* [n + 1] columns of all L; room for those of the last pattern */
    int32_t *row;           /* the diagonal first */
    float *val;             /* [9 nnz] below the diagonal; diagonal blocks inverted, lower triangular */
    size_t cap;             /* of row and val, blocks */
    double flops;
};

static abut_status no_memory(abut_err *err, size_t blocks)
{
    return abut_fail(err, ABUT_E_NOMEM, "incomplete factor: %zu blocks", blocks);
}

void abut_incomplete_free(abut_incomplete **f)
{
    if (!*f) return;
    ABUT_FREE((*f)->ptr, (*f)->row, (*f)->val, *f);
    *f = NULL;
}

static int32_t chunk_begin(const abut_incomplete *f, int32_t j)
{
    const int64_t c = (int64_t)j * ABUT_INCOMPLETE_ROWS;
    return (int32_t)(c < f->n ? c : f->n);
}

/* ---- the pattern ---- */

/* Columns at first where their longest would begin, then moved together. */
static abut_status pattern(abut_incomplete *f, const loose_blocks *l, abut_err *err)
{
    size_t most = 0;
    free(f->ptr);
    f->ptr = malloc(((size_t)f->n + 1) * sizeof *f->ptr);
    int32_t *many = malloc(((size_t)f->n + 1) * sizeof *many);
    if (!f->ptr || !many) return free(many), no_memory(err, 0);
    for (int32_t c = 0; c < f->n; c++) f->ptr[c] = most, most += (size_t)column_most(l, c);
    if (most > f->cap) {
        ABUT_FREE(f->row, f->val);
        f->cap = most + most / 8;
        if (!ABUT_ARRAYS(ABUT_ITEMS(f->row, f->cap), ABUT_ITEMS(f->val, 9 * f->cap)))
            return f->cap = 0, free(many), no_memory(err, most);
    }
    #pragma omp parallel for schedule(static) if ((size_t)f->n >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < f->n; c++) many[c] = column_rows(l, c, f->row + f->ptr[c]);
    size_t at = 0;
    for (int32_t c = 0; c < f->n; c++) {
        memmove(f->row + at, f->row + f->ptr[c], (size_t)many[c] * sizeof *f->row);
        f->ptr[c] = at;
        at += (size_t)many[c];
    }
    f->ptr[f->n] = at;
    free(many);
    return ABUT_OK;
}

/* ---- the factor of a chunk ---- */

/* D = L^-1 of D = L L^T, lower triangular, 0 when a pivot is not positive or no more than rounding leaves of it. */
static int invert_cholesky(double D[9])
{
    const double least[3] = { 1e-14 * D[0], 1e-14 * D[4], 1e-14 * D[8] };
    double L[9] = { 0 };
    for (int j = 0; j < 3; j++)
        for (int i = j; i < 3; i++) {
            double v = D[3 * i + j];
            for (int k = 0; k < j; k++) v -= L[3 * i + k] * L[3 * j + k];
            if (i == j && !(v > least[j])) return 0;
            L[3 * i + j] = i == j ? sqrt(v) : v / L[4 * j];
        }
    memset(D, 0, 9 * sizeof *D);
    for (int i = 0; i < 3; i++) D[4 * i] = 1 / L[4 * i];
    D[3] = -L[3] * D[0] * D[4];
    D[7] = -L[7] * D[4] * D[8];
    D[6] = -(L[6] * D[0] + L[7] * D[3]) * D[8];
    return 1;
}

/* B = B L^-T, I = L^-1 */
static inline void divide(double B[9], const double I[9])
{
    for (int i = 0; i < 3; i++) {
        double *b = B + 3 * i;
        b[2] = b[0] * I[6] + b[1] * I[7] + b[2] * I[8];
        b[1] = b[0] * I[3] + b[1] * I[4];
        b[0] *= I[0];
    }
}

/* Subtracts the finished column c from later ones, within their pattern.  Returns the number of blocks updated. */
ABUT_SIMD
static size_t update(const abut_incomplete *f, double *val, int32_t c, size_t begin)
{
    const size_t end = f->ptr[c + 1];
    size_t many = 0;
    for (size_t b = f->ptr[c] + 1; b < end; b++) {
        const int32_t j = f->row[b];
        size_t to = f->ptr[j];
        for (size_t a = b; a < end; a++) {
            while (to < f->ptr[j + 1] && f->row[to] < f->row[a]) to++;
            if (to == f->ptr[j + 1]) break;
            if (f->row[to] != f->row[a]) continue;
            abut_m3_subtract_nt(val + 9 * (to - begin), val + 9 * (a - begin), val + 9 * (b - begin));
            many++;
        }
    }
    return many;
}

/* The factor of rows [lo, hi) in val, from `begin` on; 0: it does not exist. */
static int factor_rows(const abut_incomplete *f, const loose_blocks *l, int32_t lo, int32_t hi, double shift, double *val,
                       size_t *updates)
{
    const size_t begin = f->ptr[lo];
    *updates = 0;
    for (int32_t c = lo; c < hi; c++) {
        double *D = val + 9 * (f->ptr[c] - begin);
        column_sum(l, c, f->row + f->ptr[c], (int32_t)(f->ptr[c + 1] - f->ptr[c]), D);
        for (int k = 0; k < 9; k += 4) D[k] *= 1 + shift;
    }
    for (int32_t c = lo; c < hi; c++) {
        double *D = val + 9 * (f->ptr[c] - begin);
        if (!invert_cholesky(D)) return 0;
        for (size_t b = f->ptr[c] + 1; b < f->ptr[c + 1]; b++) divide(val + 9 * (b - begin), D);
        *updates += update(f, val, c, begin);
    }
    return 1;
}

enum chunk_result { WHOLE, RAISED, INDEFINITE, NO_MEMORY };

static enum chunk_result factor_chunk(const abut_incomplete *f, const loose_blocks *l, int32_t j, double *flops)
{
    const int32_t lo = chunk_begin(f, j), hi = chunk_begin(f, j + 1);
    const size_t begin = f->ptr[lo], many = f->ptr[hi] - begin;
    double *val = malloc((9 * many + 1) * sizeof *val), shift = 1e-3;
    size_t updates;
    if (!val) return NO_MEMORY;
    int good = factor_rows(f, l, lo, hi, 0, val, &updates);
    const enum chunk_result r = good ? WHOLE : RAISED;
    for (; !good && shift < 1; shift *= 2) good = factor_rows(f, l, lo, hi, shift, val, &updates);
    for (size_t i = 0; i < 9 * many && good; i++) f->val[9 * begin + i] = (float)val[i];
    free(val);
    *flops = 27.0 * (double)updates + 9.0 * (double)many;
    return good ? r : INDEFINITE;
}

static abut_status factor_chunks(abut_incomplete *f, const loose_blocks *l, abut_err *err)
{
    enum chunk_result *result = malloc(((size_t)f->chunks + 1) * sizeof *result);
    double *flops = malloc(((size_t)f->chunks + 1) * sizeof *flops);
    if (!result || !flops) return free(result), free(flops), no_memory(err, f->ptr[f->n]);
    #pragma omp parallel for schedule(dynamic, 1)
    for (int32_t j = 0; j < f->chunks; j++) result[j] = factor_chunk(f, l, j, &flops[j]);
    abut_status rc = ABUT_OK;
    f->raised = 0, f->flops = 0;
    for (int32_t j = 0; j < f->chunks && !rc; j++) {
        f->raised += result[j] == RAISED;
        f->flops += flops[j];
        if (result[j] == NO_MEMORY) rc = no_memory(err, f->ptr[f->n]);
        if (result[j] == INDEFINITE)
            rc = abut_fail(err, ABUT_E_NUMERIC, "incomplete factor: no shift of the diagonal makes rows %d to %d positive"
                           " definite", chunk_begin(f, j), chunk_begin(f, j + 1) - 1);
    }
    ABUT_FREE(result, flops);
    return rc;
}

abut_status abut_incomplete_factor(abut_incomplete **out, const abut_operator *A, abut_err *err)
{
    assert(out && A);
    abut_incomplete *f = *out ? *out : calloc(1, sizeof *f);
    if (!f) return no_memory(err, 0);
    *out = f;
    f->made = 0;
    f->n = abut_operator_rows(A);
    f->chunks = (f->n + ABUT_INCOMPLETE_ROWS - 1) / ABUT_INCOMPLETE_ROWS;
    loose_blocks l;
    abut_status rc = loose_make(&l, A, ABUT_INCOMPLETE_ROWS, err);
    if (rc) return rc;
    rc = pattern(f, &l, err);
    if (!rc) rc = factor_chunks(f, &l, err);
    loose_clear(&l);
    f->made = !rc;
    return rc;
}

/* ---- its use ---- */

/* L y = r, then L^T z = y, in z, of columns [lo, hi). */
ABUT_SIMD
static void solve_rows(const size_t *restrict ptr, const int32_t *restrict row, const float *restrict val, int32_t lo, int32_t hi,
                       double *restrict z)
{
    for (int32_t c = lo; c < hi; c++) {
        const float *I = val + 9 * ptr[c];
        double *y = z + 3 * (size_t)c;
        const double y0 = (double)I[0] * y[0], y1 = (double)I[3] * y[0] + (double)I[4] * y[1];
        const double y2 = (double)I[6] * y[0] + (double)I[7] * y[1] + (double)I[8] * y[2];
        y[0] = y0, y[1] = y1, y[2] = y2;
        for (size_t b = ptr[c] + 1; b < ptr[c + 1]; b++) {
            const float *B = val + 9 * b;
            double *to = z + 3 * (size_t)row[b];
            to[0] -= (double)B[0] * y0 + (double)B[1] * y1 + (double)B[2] * y2;
            to[1] -= (double)B[3] * y0 + (double)B[4] * y1 + (double)B[5] * y2;
            to[2] -= (double)B[6] * y0 + (double)B[7] * y1 + (double)B[8] * y2;
        }
    }
    for (int32_t c = hi - 1; c >= lo; c--) {
        const float *I = val + 9 * ptr[c];
        double *y = z + 3 * (size_t)c, y0 = y[0], y1 = y[1], y2 = y[2];
        for (size_t b = ptr[c] + 1; b < ptr[c + 1]; b++) {
            const float *B = val + 9 * b;
            const double *x = z + 3 * (size_t)row[b];
            y0 -= (double)B[0] * x[0] + (double)B[3] * x[1] + (double)B[6] * x[2];
            y1 -= (double)B[1] * x[0] + (double)B[4] * x[1] + (double)B[7] * x[2];
            y2 -= (double)B[2] * x[0] + (double)B[5] * x[1] + (double)B[8] * x[2];
        }
        y[0] = (double)I[0] * y0 + (double)I[3] * y1 + (double)I[6] * y2;
        y[1] = (double)I[4] * y1 + (double)I[7] * y2;
        y[2] = (double)I[8] * y2;
    }
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    const abut_incomplete *f = of;
    if (!f->made) return abut_fail(err, ABUT_E_ARG, "incomplete factor: there is none");
    #pragma omp parallel for schedule(dynamic, 1) if (f->chunks > 1)
    for (int32_t j = 0; j < f->chunks; j++) {
        const int32_t lo = chunk_begin(f, j), hi = chunk_begin(f, j + 1);
        memcpy(z + 3 * (size_t)lo, r + 3 * (size_t)lo, 3 * (size_t)(hi - lo) * sizeof *z);
        solve_rows(f->ptr, f->row, f->val, lo, hi, z);
    }
    return ABUT_OK;
}

abut_precond abut_incomplete_precond(abut_incomplete *f)
{
    return (abut_precond){ apply, f, f->n, NULL };
}

abut_incomplete_stats abut_incomplete_get_stats(const abut_incomplete *f)
{
    const double nnz = f->made ? (double)f->ptr[f->n] : 0;
    return (abut_incomplete_stats){ f->chunks, f->raised, 9 * nnz, f->flops,
                                    (size_t)nnz * (9 * sizeof *f->val + sizeof *f->row) };
}

/* ---- parts of rows ---- */

void abut_row_parts_clear(abut_row_parts *p)
{
    ABUT_FREE(p->first, p->row);
    *p = (abut_row_parts){ 0 };
}

/* Sets of rows; the lowest row of a set is its root. */
typedef struct joining {
    int32_t n, rows;
    int32_t *root;
    int32_t *part;          /* [n] of each row, -1: alone; NULL until the sets are known */
    int has_matrix;
} joining;

static void join(joining *j, int32_t r, int32_t s)
{
    int32_t *part = j->part;
    if (!part && r / j->rows == s / j->rows) abut_set_join(j->root, r, s);
    if (part && part[r] < 0) part[r] = part[s];
    if (part && part[s] < 0) part[s] = part[r];
}

static void join_blocks(void *ctx, const abut_bsr *S)
{
    joining *j = ctx;
    j->has_matrix = 1;
    for (int32_t c = 0; c < S->n; c++)
        for (size_t b = S->ptr[c] + 1; b < S->ptr[c + 1]; b++) join(j, c, S->row[b]);
}

static void join_elements(void *ctx, const abut_operator_elements *e)
{
    joining *j = ctx;
    const size_t corners = (size_t)e->corners;
    for (size_t k = 0; k < e->n && !j->has_matrix && !e->map; k++)
        for (size_t a = 1; a < corners; a++) {
            const int32_t r = e->row[corners * k], s = e->row[corners * k + a];
            if (r >= 0 && s >= 0) join(j, r, s);
        }
}

/* part[n] of each row, -1: alone.  Returns how many there are. */
static int32_t number_parts(joining *j, int32_t *size, int32_t *part)
{
    int32_t k = 0;
    j->part = part;
    for (int32_t i = 0; i < j->n; i++) size[i] = 0;
    for (int32_t i = 0; i < j->n; i++) size[abut_set_root(j->root, i)]++;
    for (int32_t i = 0; i < j->n; i++) {
        const int32_t r = abut_set_root(j->root, i);
        part[i] = size[r] < 2 ? -1 : r == i ? k++ : part[r];
    }
    return k;
}

static abut_status join_all(joining *j, const abut_operator *A, abut_err *err)
{
    const abut_operator_reader reader = { .elements = join_elements, .ctx = j, .matrix = join_blocks };
    if (!A->matrix) return A->read(A->self, 0, &reader, err);
    join_blocks(j, A->matrix);
    return ABUT_OK;
}

abut_status abut_row_parts_make(abut_row_parts *p, const abut_operator *A, int32_t rows, abut_err *err)
{
    assert(p && A && rows > 0);
    abut_row_parts_clear(p);
    const int32_t n = abut_operator_rows(A);
    const size_t bytes = ((size_t)n + 1) * sizeof(int32_t);
    if (!A->matrix && !A->read) return abut_fail(err, ABUT_E_ARG, "parts: an operator without a matrix and without elements");
    joining j = { n, rows, malloc(bytes), NULL, 0 };
    int32_t *size = malloc(bytes), *part = malloc(bytes);
    abut_status rc = j.root && size && part ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
    for (int32_t i = 0; i < n && !rc; i++) j.root[i] = i;
    if (!rc) rc = join_all(&j, A, err);
    if (!rc) p->k = number_parts(&j, size, part);
    if (!rc) rc = join_all(&j, A, err);
    if (!rc) p->first = malloc(((size_t)p->k + 1) * sizeof *p->first);
    if (!rc) p->row = malloc(bytes);
    if (!rc && !(p->first && p->row)) rc = abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
    if (!rc) abut_list_groups(part, (size_t)n, p->k, p->first, p->row);
    free(j.root), free(size), free(part);
    if (rc) abut_row_parts_clear(p);
    return rc;
}

/* ---- linear solvers ---- */

/* Linear solvers by conjugate gradients with incomplete Cholesky factors of chunks of rows; products alone will do.
 *
 * ic: the factors alone.  ic-rigid: and the rigid motions of parts of consecutive rows, each of which the operator joins. */
typedef struct cg {
    int rigid;
    int32_t n;              /* rows of the step; -1: none yet */
    abut_incomplete *factor;
    abut_coarse_space *coarse;  /* NULL: without */
    abut_row_parts parts;
    double *where;          /* [3 n] m, when the parts were made */
    abut_cg_state state;
} cg;

static abut_status make(void *self, const abut_linear_solver_ops *ops, int threads, abut_err *err)
{
    cg *s = self;
    (void)threads, (void)err;
    s->rigid = ops == &abut_linear_ic_rigid;
    s->n = -1;
    return ABUT_OK;
}

static void begin_step(void *self)
{
    cg *s = self;
    s->n = -1;
    abut_cg_forget(&s->state);
}

static void clear(void *self)
{
    cg *s = self;
    abut_incomplete_free(&s->factor);
    abut_coarse_space_free(&s->coarse);
    abut_row_parts_clear(&s->parts);
    free(s->where);
    abut_cg_clear(&s->state);
}

static abut_status cut(cg *s, const abut_operator *A, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->n;
    if (!A->where) return abut_fail(err, ABUT_E_ARG, "ic-rigid: the positions of %d rows are not known", s->n);
    free(s->where);
    s->where = malloc((n3 + 1) * sizeof *s->where);
    if (!s->where) return abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: %d rows", s->n);
    memcpy(s->where, A->where, n3 * sizeof *s->where);
    return abut_row_parts_make(&s->parts, A, ABUT_PART_ROWS, err);
}

/* Rows that nothing joins have no rigid motions. */
static int is_rigid(const cg *s) { return s->rigid && s->parts.k; }

static abut_status analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    cg *s = self;
    const int32_t n = abut_operator_rows(A);
    (void)order;
    if (s->n == n) return ABUT_OK;
    s->n = n;
    abut_cg_forget(&s->state);
    const abut_status rc = s->rigid ? cut(s, A, err) : ABUT_OK;
    if (rc) s->n = -1;
    return rc;
}

static abut_status renew(void *self, const abut_operator *A, abut_err *err)
{
    cg *s = self;
    abut_status rc = abut_incomplete_factor(&s->factor, A, err);
    if (rc || !is_rigid(s)) return rc;
    rc = abut_coarse_space_analyse(&s->coarse, A, s->parts.k, s->parts.first, s->parts.row, err);
    return rc ? rc : abut_coarse_space_factor(s->coarse, A, s->where, err);
}

static abut_status factor(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    cg *s = self;
    (void)precision;
    if (s->n != abut_operator_rows(A)) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no analysis");
    return abut_cg_factor(&s->state, A, renew, s, err);
}

static abut_status precondition(void *of, const double *r, double *z, abut_err *err)
{
    cg *s = of;
    const abut_precond M = abut_incomplete_precond(s->factor);
    const abut_status rc = M.apply(M.of, r, z, err);
    return rc || !is_rigid(s) ? rc : abut_coarse_space_add(s->coarse, r, z, err);
}

/* The part of the solution in the coarse space: all of it where a body moves as a whole. */
static abut_status guess(void *of, const double *b, double *x, abut_err *err)
{
    const cg *s = of;
    return is_rigid(s) ? abut_coarse_space_add(s->coarse, b, x, err) : ABUT_OK;
}

static abut_status solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                         abut_err *err)
{
    cg *s = self;
    if (!s->state.matrices) return abut_fail(err, ABUT_E_ARG, "conjugate gradients: no factor");
    const abut_precond M = { precondition, s, s->n, s->rigid ? guess : NULL };
    return abut_cg_solve(&s->state, A, &M, renew, s, b, goal, x, err);
}

static abut_linear_stats stats(const void *self)
{
    const cg *s = self;
    const abut_incomplete_stats f = s->factor ? abut_incomplete_get_stats(s->factor) : (abut_incomplete_stats){ 0 };
    const abut_coarse_space_stats c = s->coarse ? abut_coarse_space_get_stats(s->coarse) : (abut_coarse_space_stats){ 0 };
    return (abut_linear_stats){ f.nnz + c.factor_nnz, f.flops + c.factor_flops, f.bytes + c.bytes, s->state.iterations };
}

const abut_linear_solver_ops abut_linear_ic = {
    .name = "ic", .help = "conjugate gradients with incomplete Cholesky factors of chunks of rows",
    .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .size = sizeof(cg), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve,
    .stats = stats, .clear = clear,
};
const abut_linear_solver_ops abut_linear_ic_rigid = {
    .name = "ic-rigid", .help = "ic, and rigid motions of parts", .can = ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE,
    .size = sizeof(cg), .make = make, .begin_step = begin_step, .analyse = analyse, .factor = factor, .solve = solve,
    .stats = stats, .clear = clear,
};
