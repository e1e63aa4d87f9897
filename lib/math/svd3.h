/* Singular values of matrices of three rows, and the rotation nearest to a matrix.  Matrices are row major.  Functions of four
 * matrices at once (*_lanes) have one entry of all four in each number. */
#ifndef ABUT_MATH_SVD3_H
#define ABUT_MATH_SVD3_H

#include "math/lanes.h"

/** F = U diag(s) V^T with U and V rotations (det = +1) and s[0] >= s[1] >= |s[2]|; s[2] carries the sign of det F.
 *
 * Any finite F: zero, rank one, reflections, equal or graded singular values, any magnitude.
 * Accurate to a few units of rounding of s[0] (each singular value to its own size unless F mixes scales by rows);
 * U and V are orthonormal to rounding always.
 * Method: a symmetric Jacobi iteration on F^T F gives V to working accuracy, one-sided Jacobi rotations on the columns of
 * F V finish it (Demmel and Veselic 1992), Gram-Schmidt gives U. */
void abut_svd3(const double F[9], double U[9], double s[3], double V[9]);

/** abut_svd3 of four matrices, with the same bits: F[9], U[9], s[3], V[9]. */
void abut_svd3_lanes(const abut_lanes *F, abut_lanes *U, abut_lanes *s, abut_lanes *V);

/** F = U diag(s) V^T: U 3x2 with orthonormal columns, s >= 0 in no order, V a rotation.  Both columns of U are
 * accurate to rounding, and each s to its own size, unless F mixes scales by rows.  If an s is 0, its column of U is NaN.
 * Method: one-sided Jacobi rotations of the two columns (Demmel and Veselic 1992); the first rotation suffices but for rounding,
 * which the second removes. */
void abut_svd32_lanes(const abut_lanes F[6], abut_lanes U[6], abut_lanes s[2], abut_lanes V[4]);

/** R, the rotation nearest to F: R = U V^T with the rotations U and V of abut_svd3.  F[9], R[9]; each result depends on
 * its own F alone.
 *
 * Newton's iteration X <- (X + X^-T)/2 (Higham 1986), less work than the decomposition; where F is nearly
 * singular, reflects or is far from size 1, abut_svd3 decides.  Accurate to rounding over the condition of the rotation,
 * 2 / (s_1 + s_2). */
void abut_polar3_lanes(const abut_lanes *F, abut_lanes *R);

#endif
