/* Small dense symmetric matrices: eigenvalues and the nearest positive semidefinite matrix. */
#ifndef ABUT_MATH_SPD_H
#define ABUT_MATH_SPD_H

enum { ABUT_SYM_MAX = 12 };

/** A = Q^T diag(w) Q of a symmetric n x n matrix, 1 <= n <= ABUT_SYM_MAX.
 *
 * A  [n * n] row major; the lower triangle is read
 * w  [n]     eigenvalues, in no order
 * Q  [n * n] row k (Q[n k + i]) is the unit eigenvector of w[k]
 * Householder tridiagonalisation and the implicit QL iteration (Wilkinson and Reinsch 1971, tred2 and imtql2):
 * backward stable, errors of a few units of rounding of the largest |w|, however small the entries are beside each other or all
 * of them; they must be less than 1e150. */
void abut_sym_eigen(int n, const double *A, double *w, double *Q);

/** Replaces A [n * n], symmetric, by the positive semidefinite matrix nearest to it in the Frobenius norm: negative
 * eigenvalues become 0 (Teran et al. 2005).  Adds only the correction, so a semidefinite A keeps its bits.
 * Returns the number of negative eigenvalues. */
int abut_psd_project(int n, double *A);

#endif
