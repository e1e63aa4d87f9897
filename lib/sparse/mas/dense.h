/* Cholesky factors of the matrices of domains, eight domains side by side: number e of the lower triangles of all eight lie
 * together, so that each operation is of eight numbers.  A matrix has ABUT_MAS_ROWS blocks a side; its lower triangle is stored
 * by columns. */
#ifndef ABUT_SPARSE_MAS_DENSE_H
#define ABUT_SPARSE_MAS_DENSE_H

#include "sparse/mas/levels.h"

enum {
    ABUT_MAS_SIDE = 3 * ABUT_MAS_ROWS,
    ABUT_MAS_NUMBERS = ABUT_MAS_SIDE * (ABUT_MAS_SIDE + 1) / 2,
    ABUT_MAS_LANES = 8
};

/** Returns the index of entry (i, j), i >= j. */
static inline size_t abut_mas_entry(size_t i, size_t j)
{
    return j * ABUT_MAS_SIDE - j * (j + 1) / 2 + i;
}

/** M[ABUT_MAS_NUMBERS][8] becomes L with A = L L^T, the inverses in place of its diagonal.  Returns a bit for each matrix with a
 * pivot that is not positive, or no more than rounding leaves of its diagonal; its L is of no use. */
unsigned abut_mas_dense_factor(double *M);
/** x[ABUT_MAS_SIDE][8] = A^-1 x.  L: the factor of abut_mas_dense_factor, rounded to single precision; the arithmetic is in
 * double, so A = L L^T of the rounded L: symmetric positive definite. */
void abut_mas_dense_solve(const float *L, double *x);

#endif
