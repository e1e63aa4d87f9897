/* The BLAS and LAPACK routines in use, column-major; libraries are loaded at their first use.  So a program without linear solves
 * does not load OpenBLAS, which starts threads and maps hundreds of MiB. */
#ifndef ABUT_MATH_BLAS_H
#define ABUT_MATH_BLAS_H

#include "base/err.h"

typedef struct abut_blas {
    /* C = beta C + alpha op(A) op(B), C m x n, inner dimension k */
    void (*gemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A,
                 const int *lda, const double *B, const int *ldb, const double *beta, double *C, const int *ldc);
    /* one triangle of C = beta C + alpha A A^T, C n x n, A n x k */
    void (*syrk)(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *A,
                 const int *lda, const double *beta, double *C, const int *ldc);
    /* B = alpha B op(A)^-1 (side R) or alpha op(A)^-1 B (side L), B m x n, A triangular */
    void (*trsm)(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
                 const double *alpha, const double *A, const int *lda, double *B, const int *ldb);
    /* x = op(A)^-1 x, A triangular n x n */
    void (*trsv)(const char *uplo, const char *trans, const char *diag, const int *n, const double *A, const int *lda, double *x,
                 const int *incx);
    /* Cholesky factor of A n x n in place; info > 0: minor of that order is not positive */
    void (*potrf)(const char *uplo, const int *n, double *A, const int *lda, int *info);
} abut_blas;

/** Loads OpenBLAS unless the process has it, and looks its routines up (microseconds if it is loaded).  It stays loaded.
 * Fails  ABUT_E_NOMEM its buffers do not fit, ABUT_E_IO it is not installed */
ABUT_MUST_USE abut_status abut_blas_open(abut_blas *b, abut_err *err);

/** Loads a shared library by its soname; it stays loaded.
 * all      nonzero: libraries that are loaded later find its functions first
 * package  Debian's name, for the message
 * Fails    ABUT_E_IO not installed */
ABUT_MUST_USE abut_status abut_library_open(void **library, const char *name, int all, const char *package, abut_err *err);
/** function: address of a pointer to function, out.  Fails  ABUT_E_IO the library has no such function */
ABUT_MUST_USE abut_status abut_library_function(void *library, const char *name, void *function, abut_err *err);

#endif
