/* The BLAS and LAPACK routines in use, by their Fortran names; column-major. */
#ifndef ABUT_MATH_BLAS_H
#define ABUT_MATH_BLAS_H

/* C = beta C + alpha op(A) op(B), C m x n, inner dimension k */
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *B, const int *ldb, const double *beta, double *C, const int *ldc);
/* one triangle of C = beta C + alpha A A^T, C n x n, A n x k */
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *beta, double *C, const int *ldc);
/* B = alpha B op(A)^-1 (side R) or alpha op(A)^-1 B (side L), B m x n, A triangular */
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const double *alpha, const double *A, const int *lda, double *B, const int *ldb);
/* x = op(A)^-1 x, A triangular n x n */
void dtrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *A, const int *lda, double *x,
            const int *incx);
/* Cholesky factor of A n x n in place; info > 0: minor of that order is not positive */
void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info);

#endif
