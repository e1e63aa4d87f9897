/* The numbers of a Cholesky factor: double, or float where ABUT_FLOAT is defined.  factor.c and solve.c are written once over
 * `real` and compiled twice (Makefile).
 *
 * A panel (sparse/own/tree.h) is stored in groups of ABUT_GROUP block rows, one after the other.  A group is stored by columns,
 * 24 numbers each.  So a column of a group is a few vectors, and products and solves read a group in the order of memory.
 * Rows that fill the last group are zero, and so is the upper triangle of the diagonal blocks; their diagonal has the inverse
 * pivots.  ABUT_GROUP_PAD unused numbers follow each group, because three rows are written as four numbers, the fourth
 * unchanged. */
#ifndef ABUT_SPARSE_OWN_REAL_H
#define ABUT_SPARSE_OWN_REAL_H

#include "sparse/own/tree.h"

#ifdef ABUT_FLOAT
typedef float real;
typedef int32_t real_bits;
#define FOR_REAL(name) name##_single
#define REAL_HUGE HUGE_VALF
#define REAL_SQRT sqrtf
#else
typedef double real;
typedef int64_t real_bits;
#define FOR_REAL(name) name
#define REAL_HUGE HUGE_VAL
#define REAL_SQRT sqrt
#endif

/* Vectors anywhere in an array. */
typedef real lanes __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
typedef real four __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef real_bits four_bits __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

enum {
    LANES = 32 / sizeof(real),
    ROWS = 3 * ABUT_GROUP,      /* of a group, in scalars */
    VECTORS = ROWS / LANES,
    SHARE = 3 * LANES           /* rows for which a product has room in registers */
};

/* T[3][ROWS] = A B^T over n columns: A a group; B three rows side by side, their columns `stride` numbers apart. */
static inline __attribute__((always_inline)) void multiply(const real *A, const real *B, int stride, int n, real *T)
{
    for (int h = 0; h < ROWS; h += SHARE) {
        lanes x0 = { 0 }, x1 = { 0 }, x2 = { 0 }, y0 = { 0 }, y1 = { 0 }, y2 = { 0 }, z0 = { 0 }, z1 = { 0 }, z2 = { 0 };
        const real *a = A + h, *b = B;
        #pragma GCC unroll 3
        for (int k = 0; k < n; k++, a += ROWS, b += stride) {
            const lanes a0 = *(const lanes *)a, a1 = *(const lanes *)(a + LANES), a2 = *(const lanes *)(a + 2 * LANES);
            x0 += a0 * b[0], x1 += a1 * b[0], x2 += a2 * b[0];
            y0 += a0 * b[1], y1 += a1 * b[1], y2 += a2 * b[1];
            z0 += a0 * b[2], z1 += a1 * b[2], z2 += a2 * b[2];
        }
        lanes *x = (lanes *)(T + h), *y = (lanes *)(T + ROWS + h), *z = (lanes *)(T + 2 * ROWS + h);
        x[0] = x0, x[1] = x1, x[2] = x2;
        y[0] = y0, y[1] = y1, y[2] = y2;
        z[0] = z0, z[1] = z1, z[2] = z2;
    }
}

#endif
