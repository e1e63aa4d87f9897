#include "linalg/chol_numeric.h"

#include "linalg/chol_real.h"

#include <omp.h>
#include <string.h>

/* Every supernode has a vector of its own, z[3 rptr[s] ...): its part of the solution, then what its rows below hand on to
 * the parent (forward) or take from the solution (backward).  So subtrees do not meet, and sums have a fixed order. */
static const real one = 1, minus_one = -1;
static const int unit = 1;

typedef struct node {
    int n, m, ld;           /* scalars: columns, rows below, leading dimension */
    const real *diagonal, *below;
    real *y, *rest;         /* [n], [m] */
} node;

static node node_of(const abut_chol_tree *t, int32_t s, const real *L, real *z)
{
    const int n = 3 * abut_chol_cols(t, s), ld = 3 * abut_chol_nrows(t, s);
    real *y = z + 3 * t->rptr[s];
    return (node){ n, ld - n, ld, L + t->xptr[s], L + t->xptr[s] + n, y, y + n };
}

/* y and rest of s from the right-hand side and the children, in order. */
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

static void forward(const abut_chol_tree *t, int32_t s, const real *L, const real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    gather_children(t, s, x, z);
    BLAS(trsv)("L", "N", "N", &v.n, v.diagonal, &v.ld, v.y, &unit);
    if (v.m > 0) BLAS(gemv)("N", &v.m, &v.n, &minus_one, v.below, &v.ld, v.y, &unit, &one, v.rest, &unit);
}

static void backward(const abut_chol_tree *t, int32_t s, const real *L, real *x, real *z)
{
    const node v = node_of(t, s, L, z);
    const int32_t cols = abut_chol_cols(t, s), *row = t->row + t->rptr[s] + cols;
    for (int32_t i = 0; i < v.m / 3; i++) memcpy(v.rest + 3 * i, x + 3 * (size_t)row[i], 3 * sizeof *x);
    if (v.m > 0) BLAS(gemv)("T", &v.m, &v.n, &minus_one, v.below, &v.ld, v.rest, &unit, &one, v.y, &unit);
    BLAS(trsv)("L", "T", "N", &v.n, v.diagonal, &v.ld, v.y, &unit);
    memcpy(x + 3 * (size_t)t->col[s], v.y, (size_t)v.n * sizeof *x);
}

void FOR_REAL(abut_chol_substitute)(const abut_chol_tree *t, const real *L, real *x, real *z, int threads)
{
    #pragma omp parallel num_threads(threads)
    {
        omp_set_num_threads(1);     /* for BLAS, inside this region */
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < t->nsub; i++)
            for (int32_t s = t->sub[2 * i]; s < t->sub[2 * i + 1]; s++) forward(t, s, L, x, z);
        #pragma omp single
        {
            for (int32_t i = 0; i < t->ntop; i++) forward(t, t->top[i], L, x, z);
            for (int32_t i = t->ntop - 1; i >= 0; i--) backward(t, t->top[i], L, x, z);
        }
        #pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < t->nsub; i++)
            for (int32_t s = t->sub[2 * i + 1] - 1; s >= t->sub[2 * i]; s--) backward(t, s, L, x, z);
    }
}
