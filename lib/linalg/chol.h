/* Sparse Cholesky of a block matrix: CHOLMOD, supernodal.  The only file that includes cholmod.h is chol.c.
 *
 * The analysis runs on the graph of blocks, a tenth of the scalar matrix, and is expanded.  A factor does not refer to
 * the matrix it came from, so it may outlive it and precondition a later one. */
#ifndef ABUT_LINALG_CHOL_H
#define ABUT_LINALG_CHOL_H

#include "linalg/bsr.h"

typedef struct abut_chol abut_chol;

typedef struct abut_chol_stats {
    double factor_nnz;      /* entries of L, those included that only fill a supernode */
    double factor_flops;    /* multiplications and additions of one factorisation */
    size_t bytes;           /* of L */
} abut_chol_stats;

/** Analyses the pattern of A with the block ordering perm[n] (perm[k] = block row eliminated k-th; NULL: CHOLMOD's AMD).
 * The order is refined by a postordering of the elimination tree, which keeps the fill.
 * blas_threads: threads that CHOLMOD and BLAS may use, >= 1.  With 1 the bits of a factor depend on the matrix and perm
 * alone; with more, on their number.
 * Fails  ABUT_E_ARG perm is no permutation, blas_threads < 1; ABUT_E_NOMEM, also for a factor of 2^31 entries or more */
ABUT_MUST_USE abut_status abut_chol_new(abut_chol **c, const abut_bsr *A, const int32_t *perm, int blas_threads,
                                        abut_err *err);
/** Factors A (same pattern as analysed).  Fails ABUT_E_NUMERIC "pivot %d is not positive" (scalar row of A; also for
 * values that are not finite); the former factor is then lost and abut_chol_solve refuses. */
ABUT_MUST_USE abut_status abut_chol_factor(abut_chol *c, const abut_bsr *A, abut_err *err);
/** x = A^-1 b, both [3 n]; may be the same array. */
ABUT_MUST_USE abut_status abut_chol_solve(abut_chol *c, const double *b, double *x, abut_err *err);
/** Block rows of the analysed matrix. */
int32_t abut_chol_rows(const abut_chol *c);
abut_chol_stats abut_chol_get_stats(const abut_chol *c);
void abut_chol_free(abut_chol **c);

#endif
