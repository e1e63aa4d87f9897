#include "sparse/incomplete/chunks.h"

#include "base/par.h"
#include "base/simd.h"
#include "sparse/incomplete/blocks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    free((*f)->ptr);
    free((*f)->row);
    free((*f)->val);
    free(*f);
    *f = NULL;
}

static int32_t chunk_begin(const abut_incomplete *f, int32_t j)
{
    const int64_t c = (int64_t)j * ABUT_INCOMPLETE_ROWS;
    return (int32_t)(c < f->n ? c : f->n);
}

/* ---- the pattern ---- */

/* Columns at first where their longest would begin, then moved together. */
static abut_status pattern(abut_incomplete *f, const abut_loose_blocks *l, abut_err *err)
{
    size_t most = 0;
    free(f->ptr);
    f->ptr = malloc(((size_t)f->n + 1) * sizeof *f->ptr);
    int32_t *many = malloc(((size_t)f->n + 1) * sizeof *many);
    if (!f->ptr || !many) return free(many), no_memory(err, 0);
    for (int32_t c = 0; c < f->n; c++) f->ptr[c] = most, most += (size_t)abut_loose_column_most(l, c);
    if (most > f->cap) {
        free(f->row);
        free(f->val);
        f->cap = most + most / 8;
        f->row = malloc(f->cap * sizeof *f->row);
        f->val = malloc(9 * f->cap * sizeof *f->val);
        if (!f->row || !f->val) return f->cap = 0, free(many), no_memory(err, most);
    }
    #pragma omp parallel for schedule(static) if ((size_t)f->n >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < f->n; c++) many[c] = abut_loose_column_rows(l, c, f->row + f->ptr[c]);
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

/* C -= A B^T */
static inline void subtract(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] -= A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
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
            subtract(val + 9 * (a - begin), val + 9 * (b - begin), val + 9 * (to - begin));
            many++;
        }
    }
    return many;
}

/* The factor of rows [lo, hi) in val, from `begin` on; 0: it does not exist. */
static int factor_rows(const abut_incomplete *f, const abut_loose_blocks *l, int32_t lo, int32_t hi, double shift, double *val,
                       size_t *updates)
{
    const size_t begin = f->ptr[lo];
    *updates = 0;
    for (int32_t c = lo; c < hi; c++) {
        double *D = val + 9 * (f->ptr[c] - begin);
        abut_loose_column_sum(l, c, f->row + f->ptr[c], (int32_t)(f->ptr[c + 1] - f->ptr[c]), D);
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

static enum chunk_result factor_chunk(const abut_incomplete *f, const abut_loose_blocks *l, int32_t j, double *flops)
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

static abut_status factor_chunks(abut_incomplete *f, const abut_loose_blocks *l, abut_err *err)
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
    free(result);
    free(flops);
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
    abut_loose_blocks l;
    abut_status rc = abut_loose_blocks_make(&l, A, ABUT_INCOMPLETE_ROWS, err);
    if (rc) return rc;
    rc = pattern(f, &l, err);
    if (!rc) rc = factor_chunks(f, &l, err);
    abut_loose_blocks_clear(&l);
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
    return (abut_precond){ apply, f, f->n };
}

abut_incomplete_stats abut_incomplete_get_stats(const abut_incomplete *f)
{
    const double nnz = f->made ? (double)f->ptr[f->n] : 0;
    return (abut_incomplete_stats){ f->chunks, f->raised, 9 * nnz, f->flops,
                                    (size_t)nnz * (9 * sizeof *f->val + sizeof *f->row) };
}
