#include "linalg/chol_numeric.h"

#include "base/simd.h"
#include "linalg/chol_real.h"

#include <string.h>

/* Every supernode has a vector of its own, z[3 rptr[s] ...): its part of the solution, then what its rows below hand on to
 * the parent (forward) or take from the solution (backward).  So subtrees do not meet, and sums have a fixed order.
 *
 * All wait for memory: a panel is read once, three columns (one block) at a time, from first to last and back.  BLAS would
 * look at the small triangles column by column. */

/* Panels of fewer numbers are left to one thread. */
#define MANY_NUMBERS 32768

typedef real lanes __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));   /* anywhere in an array */
enum { LANES = 32 / sizeof(real), LINE = 64 / sizeof(real) /* of the cache */, CHUNK = 128 /* rows for one thread */ };

typedef struct node {
    int n, ld;              /* scalars: columns, rows; the leading dimension too */
    const real *L;
    real *z;                /* [ld] */
} node;

static node node_of(const abut_chol_tree *t, int32_t s, const real *L, real *z)
{
    return (node){ 3 * abut_chol_cols(t, s), 3 * abut_chol_nrows(t, s), L + t->xptr[s], z + 3 * t->rptr[s] };
}

/* ---- three columns ---- */

/* Three columns are too short a stream for the processor to foresee that the next three come after them. */
static inline void fetch(const real *L, int ld)
{
    __builtin_prefetch(L);
    __builtin_prefetch(L + ld);
    __builtin_prefetch(L + 2 * (size_t)ld);
}

/* z -= L y in rows [lo, hi) of the columns that start at L. */
static inline __attribute__((always_inline)) void subtract(const real *L, int ld, int lo, int hi, const real *y, real *z)
{
    const real *restrict a = L, *restrict b = a + ld, *restrict c = b + ld, *next = c + ld, y0 = y[0], y1 = y[1], y2 = y[2];
    real *restrict to = z;
    int i = lo;
    for (; i + LINE <= hi; i += LINE) {
        fetch(next + i, ld);
        #pragma omp simd
        for (int k = i; k < i + LINE; k++) to[k] -= a[k] * y0 + b[k] * y1 + c[k] * y2;
    }
    for (; i < hi; i++) to[i] -= a[i] * y0 + b[i] * y1 + c[i] * y2;
}

/* y -= L^T z over the rows [lo, hi) of the columns that start at L. */
static inline __attribute__((always_inline)) void subtract_t(const real *L, int ld, int lo, int hi, const real *z, real *y)
{
    const real *a = L, *b = a + ld, *c = b + ld, *next = a - 3 * (ptrdiff_t)ld;
    lanes s0 = { 0 }, s1 = { 0 }, s2 = { 0 };
    real t0 = 0, t1 = 0, t2 = 0;
    int i = lo;
    for (; i + LINE <= hi; i += LINE) {
        fetch(next + i, ld);
        for (int k = i; k < i + LINE; k += LANES) {
            const lanes v = *(const lanes *)(z + k);
            s0 += *(const lanes *)(a + k) * v;
            s1 += *(const lanes *)(b + k) * v;
            s2 += *(const lanes *)(c + k) * v;
        }
    }
    for (; i < hi; i++) t0 += a[i] * z[i], t1 += b[i] * z[i], t2 += c[i] * z[i];
    for (int k = 0; k < LANES; k++) t0 += s0[k], t1 += s1[k], t2 += s2[k];
    y[0] -= t0;
    y[1] -= t1;
    y[2] -= t2;
}

/* The 3x3 triangle on the diagonal: D y = y and D^T y = y. */
static inline void solve_block(const real *D, int ld, real *y)
{
    y[0] /= D[0];
    y[1] = (y[1] - D[1] * y[0]) / D[ld + 1];
    y[2] = (y[2] - D[2] * y[0] - D[ld + 2] * y[1]) / D[2 * (size_t)ld + 2];
}

static inline void solve_block_t(const real *D, int ld, real *y)
{
    y[2] /= D[2 * (size_t)ld + 2];
    y[1] = (y[1] - D[ld + 2] * y[2]) / D[ld + 1];
    y[0] = (y[0] - D[1] * y[1] - D[2] * y[2]) / D[0];
}

/* ---- one supernode ---- */

/* Solves with the triangle, and takes its columns off the rows below it up to `end`. */
ABUT_SIMD
static void forward_to(const node *v, int end)
{
    for (int j = 0; j < v->n; j += 3) {
        const real *L = v->L + (size_t)j * (size_t)v->ld;
        solve_block(L + j, v->ld, v->z + j);
        subtract(L, v->ld, j + 3, end, v->z + j, v->z);
    }
}

ABUT_SIMD
static void forward_rows(const node *v, int lo, int hi)
{
    for (int j = 0; j < v->n; j += 3) subtract(v->L + (size_t)j * (size_t)v->ld, v->ld, lo, hi, v->z + j, v->z);
}

/* Takes the rows below the triangle off block column j. */
ABUT_SIMD
static void backward_column(const node *v, int j)
{
    subtract_t(v->L + (size_t)j * (size_t)v->ld, v->ld, v->n, v->ld, v->z, v->z + j);
}

ABUT_SIMD
static void backward_triangle(const node *v)
{
    for (int j = v->n - 3; j >= 0; j -= 3) {
        const real *L = v->L + (size_t)j * (size_t)v->ld;
        subtract_t(L, v->ld, j + 3, v->n, v->z, v->z + j);
        solve_block_t(L + j, v->ld, v->z + j);
    }
}

/* z of s from the right-hand side and the children, in order. */
static void gather_children(const abut_chol_tree *t, int32_t s, const real *x, real *z)
{
    real *y = z + 3 * t->rptr[s];
    const size_t n = 3 * (size_t)abut_chol_cols(t, s);
    memcpy(y, x + 3 * (size_t)t->col[s], n * sizeof *y);
    memset(y + n, 0, (3 * (size_t)abut_chol_nrows(t, s) - n) * sizeof *y);
    for (int32_t k = t->cptr[s]; k < t->cptr[s + 1]; k++) {
        const int32_t c = t->child[k];
        for (size_t i = t->rptr[c] + (size_t)abut_chol_cols(t, c); i < t->rptr[c + 1]; i++)
            for (size_t d = 0; d < 3; d++) y[3 * (size_t)t->inparent[i] + d] += z[3 * i + d];
    }
}

/* The solution in the rows below s. */
static void gather_rows(const abut_chol_tree *t, int32_t s, const node *v, const real *x)
{
    const int32_t cols = abut_chol_cols(t, s), *row = t->row + t->rptr[s] + cols;
    for (int i = 0; i < v->ld - v->n; i += 3) memcpy(v->z + v->n + i, x + 3 * (size_t)row[i / 3], 3 * sizeof *x);
}

static void forward(const abut_chol_tree *t, int32_t s, const real *L, const real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    gather_children(t, s, x, z);
    forward_to(&v, v.ld);
}

static void backward(const abut_chol_tree *t, int32_t s, const real *L, real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    gather_rows(t, s, &v, x);
    for (int j = 0; j < v.n; j += 3) backward_column(&v, j);
    backward_triangle(&v);
    memcpy(x + 3 * (size_t)t->col[s], v.z, (size_t)v.n * sizeof *x);
}

/* ---- the same by all threads of a region ---- */

static int is_many(const node *v)
{
    return (size_t)v->n * (size_t)v->ld >= MANY_NUMBERS;
}

static void forward_together(const abut_chol_tree *t, int32_t s, const real *L, const real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    const int many = is_many(&v);
    #pragma omp single
    {
        gather_children(t, s, x, z);
        forward_to(&v, many ? v.n : v.ld);
    }
    if (!many) return;
    #pragma omp for schedule(static)
    for (int i = v.n; i < v.ld; i += CHUNK) forward_rows(&v, i, v.ld - i < CHUNK ? v.ld : i + CHUNK);
}

static void backward_together(const abut_chol_tree *t, int32_t s, const real *L, real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    if (!is_many(&v)) {
        #pragma omp single
        backward(t, s, L, x, z);
        return;
    }
    #pragma omp single
    gather_rows(t, s, &v, x);
    #pragma omp for schedule(static)
    for (int j = 0; j < v.n; j += 3) backward_column(&v, j);
    #pragma omp single
    {
        backward_triangle(&v);
        memcpy(x + 3 * (size_t)t->col[s], v.z, (size_t)v.n * sizeof *x);
    }
}

void FOR_REAL(abut_chol_substitute)(const abut_chol_tree *t, const real *L, real *x, real *z, int threads)
{
    #pragma omp parallel num_threads(threads)
    {
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < t->nsub; i++)
            for (int32_t s = t->sub[2 * i]; s < t->sub[2 * i + 1]; s++) forward(t, s, L, x, z);
        for (int32_t i = 0; i < t->ntop; i++) forward_together(t, t->top[i], L, x, z);
        for (int32_t i = t->ntop - 1; i >= 0; i--) backward_together(t, t->top[i], L, x, z);
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < t->nsub; i++)
            for (int32_t s = t->sub[2 * i + 1] - 1; s >= t->sub[2 * i]; s--) backward(t, s, L, x, z);
    }
}
