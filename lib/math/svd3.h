/* The rotation-variant singular value decomposition of 3x3 matrices. */
#ifndef ABUT_MATH_SVD3_H
#define ABUT_MATH_SVD3_H

/** F = U diag(s) V^T with U and V rotations (det = +1) and s[0] >= s[1] >= |s[2]|; s[2] carries the sign of det F.
 *
 * F, U, V  row major.  Any finite F: zero, rank one, reflections, equal or graded singular values, any magnitude.
 * Accurate to a few units of rounding of s[0] (each singular value to its own size unless F mixes scales by rows);
 * U and V are orthonormal to rounding always.
 * Method: a symmetric Jacobi iteration on F^T F gives V to working accuracy, one-sided Jacobi rotations on the columns of
 * F V finish it (Demmel and Veselic 1992), Gram-Schmidt gives U. */
void abut_svd3(const double F[9], double U[9], double s[3], double V[9]);

#endif
