/* Singular values of four 3x2 matrices at once. */
#ifndef ABUT_MATH_SVD32_H
#define ABUT_MATH_SVD32_H

#include "math/lanes.h"

/** F = U diag(s) V^T: U 3x2 with orthonormal columns, s >= 0 in no order, V a rotation; all row major, one entry of each of
 * the four matrices in a number.  Both columns of U are accurate to rounding, and each s to its own size, unless F mixes
 * scales by rows.  If an s is 0, its column of U is NaN.
 * Method: one-sided Jacobi rotations of the two columns (Demmel and Veselic 1992); the first rotation suffices but for rounding,
 * which the second removes. */
void abut_svd32_lanes(const abut_lanes F[6], abut_lanes U[6], abut_lanes s[2], abut_lanes V[4]);

#endif
