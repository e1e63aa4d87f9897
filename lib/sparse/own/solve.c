#include "sparse/own/tree.h"

#include "base/fn.h"
#include "sparse/own/cholesky.h"
#include "sparse/own/real.h"

#include <string.h>

/* Every supernode has a vector of its own, z[ROWS gptr[s] ...), whole groups: its part of the solution, then what its rows below
 * hand on to the parent (forward) or take from the solution (backward).  So subtrees do not meet, and sums have a fixed order.
 *
 * All wait for memory: a panel is read once, from first to last and back. */

/* Numbers of a factor that are worth a task, and that are worth a second thread. */
#define A_TASK ((size_t)1 << 18)
#define ALONE ((size_t)1 << 17)

typedef struct node {
    int32_t cols, rows;     /* blocks */
    const real *L;
    size_t group;           /* numbers from one group to the next */
    real *z;
} node;

static node node_of(const abut_chol_tree *t, int32_t s, const real *L, real *z)
{
    const int32_t cols = abut_chol_cols(t, s);
    return (node){ cols, abut_chol_nrows(t, s), L + t->xptr[s], abut_chol_group_size(cols), z + ROWS * t->gptr[s] };
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* ---- one group ---- */

/* z -= L y over n columns of a group, three at a time */
static inline __attribute__((always_inline)) void subtract(const real *L, int n, const real *y, real *z)
{
    lanes v[VECTORS];
    for (int i = 0; i < VECTORS; i++) v[i] = ((const lanes *)z)[i];
    for (int k = 0; k < n; k += 3, L += 3 * ROWS)
        for (int i = 0; i < VECTORS; i++) {
            const lanes *a = (const lanes *)L + i;
            v[i] -= a[0] * y[k] + a[VECTORS] * y[k + 1] + a[2 * VECTORS] * y[k + 2];
        }
    for (int i = 0; i < VECTORS; i++) ((lanes *)z)[i] = v[i];
}

/* sum[k] += L^T z over n columns of a group, of each column LANES partial sums */
static inline __attribute__((always_inline)) void add_t(const real *L, int n, const real *z, lanes *sum)
{
    lanes v[VECTORS];
    for (int i = 0; i < VECTORS; i++) v[i] = ((const lanes *)z)[i];
    for (int k = 0; k < n; k++, L += ROWS) {
        const lanes *a = (const lanes *)L;
        lanes s = a[0] * v[0];
        for (int i = 1; i < VECTORS; i++) s += a[i] * v[i];
        sum[k] += s;
    }
}

static inline real total(const lanes *v)
{
    real s = 0;
    for (int i = 0; i < LANES; i++) s += (*v)[i];
    return s;
}

/* ---- one supernode ---- */

/* Solves with the triangle in its diagonal groups: D y = z with the inverse pivots on the diagonal of D. */
ABUT_SIMD
static void forward_triangle(const node *v)
{
    for (int32_t g = 0; g * ABUT_GROUP < v->cols; g++) {
        const int32_t first = g * ABUT_GROUP, end = least(v->cols, first + ABUT_GROUP);
        const real *L = v->L + (size_t)g * v->group;
        real *z = v->z + (size_t)g * ROWS;
        subtract(L, 3 * first, v->z, z);
        for (int32_t b = first; b < end; b++) {
            const int32_t r = 3 * (b - first);
            const real *column = L + 3 * ROWS * (size_t)b, *D = column + r;
            const real y0 = z[r] * D[0], y1 = (z[r + 1] - D[1] * y0) * D[ROWS + 1],
                       y2 = (z[r + 2] - D[2] * y0 - D[ROWS + 2] * y1) * D[2 * ROWS + 2];
            const real y[3] = { y0, y1, y2 };
            subtract(column, 3, y, z);
            memcpy(z + r, y, sizeof y);
        }
    }
}

/* Takes all columns off the groups [from, to) below the triangle. */
ABUT_SIMD
static void forward_groups(const node *v, int32_t from, int32_t to)
{
    for (int32_t g = from; g < to; g++) subtract(v->L + (size_t)g * v->group, 3 * v->cols, v->z, v->z + (size_t)g * ROWS);
}

/* Products of the groups below the triangle with the block columns [from, to): sum[3 cols], LANES partial sums a column. */
ABUT_SIMD
static void backward_columns(const node *v, int32_t from, int32_t to, lanes *sum)
{
    const real *L = v->L + 3 * ROWS * (size_t)from;
    memset(sum + 3 * from, 0, 3 * (size_t)(to - from) * sizeof *sum);
    for (int32_t g = abut_chol_groups(v->cols); g < abut_chol_groups(v->rows); g++)
        add_t(L + (size_t)g * v->group, 3 * (to - from), v->z + (size_t)g * ROWS, sum + 3 * from);
}

/* Solves with the transposed triangle, `sum` taken off. */
ABUT_SIMD
static void backward_triangle(const node *v, lanes *sum)
{
    for (int32_t g = abut_chol_groups(v->cols) - 1; g >= 0; g--) {
        const int32_t first = g * ABUT_GROUP, end = least(v->cols, first + ABUT_GROUP);
        const real *L = v->L + (size_t)g * v->group;
        real *z = v->z + (size_t)g * ROWS, known[ROWS] = { 0 };
        memcpy(known + 3 * (end - first), z + 3 * (end - first), 3 * (size_t)(first + ABUT_GROUP - end) * sizeof *z);
        for (int32_t b = end - 1; b >= first; b--) {
            const int32_t r = 3 * (b - first);
            const real *column = L + 3 * ROWS * (size_t)b, *D = column + r;
            lanes *s = sum + 3 * b;
            add_t(column, 3, known, s);
            real *y = z + r;
            y[2] = (y[2] - total(s + 2)) * D[2 * ROWS + 2];
            y[1] = (y[1] - total(s + 1) - D[ROWS + 2] * y[2]) * D[ROWS + 1];
            y[0] = (y[0] - total(s) - D[1] * y[1] - D[2] * y[2]) * D[0];
            memcpy(known + r, y, 3 * sizeof *y);
        }
        add_t(L, 3 * first, known, sum);
    }
}

/* z of s from the right-hand side and the children, in order. */
static void gather_children(const abut_chol_tree *t, int32_t s, const real *x, real *z)
{
    real *y = z + ROWS * t->gptr[s];
    const size_t n = 3 * (size_t)abut_chol_cols(t, s);
    memcpy(y, x + 3 * (size_t)t->col[s], n * sizeof *y);
    memset(y + n, 0, (ROWS * (t->gptr[s + 1] - t->gptr[s]) - n) * sizeof *y);
    for (int32_t k = t->cptr[s]; k < t->cptr[s + 1]; k++) {
        const int32_t c = t->child[k], *to = t->inparent + t->rptr[c];
        const real *from = z + ROWS * t->gptr[c];
        for (int32_t i = abut_chol_cols(t, c); i < abut_chol_nrows(t, c); i++)
            for (int d = 0; d < 3; d++) y[3 * (size_t)to[i] + (size_t)d] += from[3 * (size_t)i + (size_t)d];
    }
}

/* The solution in the rows below s; zeros in what fills the last group. */
static void gather_rows(const abut_chol_tree *t, int32_t s, const node *v, const real *x)
{
    const int32_t *row = t->row + t->rptr[s];
    for (int32_t i = v->cols; i < v->rows; i++) memcpy(v->z + 3 * (size_t)i, x + 3 * (size_t)row[i], 3 * sizeof *x);
    memset(v->z + 3 * (size_t)v->rows, 0, 3 * (size_t)(abut_chol_groups(v->rows) * ABUT_GROUP - v->rows) * sizeof *x);
}

static void forward(const abut_chol_tree *t, int32_t s, const real *L, const real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    gather_children(t, s, x, z);
    forward_triangle(&v);
    forward_groups(&v, abut_chol_groups(v.cols), abut_chol_groups(v.rows));
}
static void backward(const abut_chol_tree *t, int32_t s, const real *L, real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    lanes sum[3 * ABUT_PANEL];
    gather_rows(t, s, &v, x);
    backward_columns(&v, 0, v.cols, sum);
    backward_triangle(&v, sum);
    memcpy(x + 3 * (size_t)t->col[s], v.z, 3 * (size_t)v.cols * sizeof *x);
}

/* ---- all of them, by tasks ---- */

/* A substitution at work. */
typedef struct sweep {
    const abut_chol_tree *t;
    const real *L;
    real *x, *z;
    atomic_int *pending;    /* children of each top node that are not done */
} sweep;

static int is_many(const sweep *w, int32_t s)
{
    return w->t->xptr[s + 1] - w->t->xptr[s] >= 2 * A_TASK;
}

static void forward_tasks(const sweep *w, int32_t s)
{
    const node v = node_of(w->t, s, w->L, w->z);
    const int32_t groups = abut_chol_groups(v.rows), each = 1 + (int32_t)(A_TASK / v.group);
    gather_children(w->t, s, w->x, w->z);
    forward_triangle(&v);
    for (int32_t g = abut_chol_groups(v.cols); g < groups; g += each) {
        #pragma omp task firstprivate(g) shared(v)
        forward_groups(&v, g, least(g + each, groups));
    }
    #pragma omp taskwait
}

static void backward_tasks(const sweep *w, int32_t s)
{
    const node v = node_of(w->t, s, w->L, w->z);
    const int32_t groups = abut_chol_groups(v.rows), each = 1 + (int32_t)(A_TASK / (3 * ROWS * (size_t)groups));
    lanes sum[3 * ABUT_PANEL];
    gather_rows(w->t, s, &v, w->x);
    for (int32_t c = 0; c < v.cols; c += each) {
        #pragma omp task firstprivate(c) shared(v, sum)
        backward_columns(&v, c, least(c + each, v.cols), sum);
    }
    #pragma omp taskwait
    backward_triangle(&v, sum);
    memcpy(w->x + 3 * (size_t)w->t->col[s], v.z, 3 * (size_t)v.cols * sizeof *w->x);
}

/* A subtree, and every top node above it whose last child this was. */
static void climb(const sweep *w, int32_t root)
{
    const abut_chol_tree *t = w->t;
    for (int32_t s = t->first[root]; s <= root; s++) forward(t, s, w->L, w->x, w->z);
    for (int32_t p = t->parent[root]; p >= 0 && atomic_fetch_sub(&w->pending[p], 1) == 1; p = t->parent[p]) {
        if (is_many(w, p)) forward_tasks(w, p);
        else forward(t, p, w->L, w->x, w->z);
    }
}

/* Solves backward with s and its descendants: this thread takes the last child, other threads the rest. */
static void descend(const sweep *w, int32_t s)
{
    const abut_chol_tree *t = w->t;
    while (t->by_size.is_top[s]) {
        if (is_many(w, s)) backward_tasks(w, s);
        else backward(t, s, w->L, w->x, w->z);
        for (int32_t k = t->cptr[s]; k + 1 < t->cptr[s + 1]; k++) {
            #pragma omp task firstprivate(k)
            descend(w, t->child[k]);
        }
        s = t->child[t->cptr[s + 1] - 1];
    }
    for (int32_t i = s; i >= t->first[s]; i--) backward(t, i, w->L, w->x, w->z);
}

void FOR_REAL(abut_chol_substitute)(const abut_chol_tree *t, const real *L, const uint8_t *skip, real *x, real *z,
                                    atomic_int *pending, int threads)
{
    const abut_chol_cut *cut = &t->by_size;
    const sweep w = { t, L, x, z, pending };
    for (int32_t s = 0; s < t->ns; s++)
        if (cut->is_top[s]) atomic_init(&pending[s], t->cptr[s + 1] - t->cptr[s]);
    #pragma omp parallel num_threads(t->xptr[t->ns] < ALONE ? 1 : threads)
    #pragma omp single
    {
        for (int32_t i = 0; i < cut->nsub; i++) {
            if (skip && skip[cut->sub[i]]) continue;
            #pragma omp task firstprivate(i)
            climb(&w, cut->sub[i]);
        }
        #pragma omp taskwait
        for (int32_t s = t->ns - 1; s >= 0; s = t->first[s] - 1) {
            if (skip && skip[s]) continue;
            #pragma omp task firstprivate(s)
            descend(&w, s);
        }
    }
}
