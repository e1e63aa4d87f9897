/* Sparse Cholesky of a constant scalar matrix that acts on x, y and z alike, for three right-hand sides at once: factored
 * once, solved thousands of times (Liu 2018, 5 to 7: A = M/h^2 + L).  A ninth of the entries of the same matrix in 3x3
 * blocks, and each entry of the factor is read once for all three coordinates.
 *
 * Multifrontal (Duff and Reid 1983) on relaxed supernodes; solves run over independent subtrees in parallel.  The bits depend
 * on the matrix and the ordering alone, never on the threads. */
#ifndef ABUT_LINALG_CHOL_SCALAR_H
#define ABUT_LINALG_CHOL_SCALAR_H

#include "linalg/bsr.h"

typedef struct abut_chol_scalar abut_chol_scalar;

typedef struct abut_chol_scalar_stats {
    double factor_nnz;      /* entries of L that are stored, those included that only fill a supernode */
    double factor_flops;    /* multiplications and additions of the factorisation */
    int32_t supernodes;
} abut_chol_scalar_stats;

/** Factors the matrix of the first entries of the blocks of A (which are multiples of the identity, or meant to be read so).
 *
 * perm     [n] block row perm[k] is eliminated k-th (part/graph.h makes a good one); NULL: as they stand
 * Fails    ABUT_E_ARG perm is no permutation; ABUT_E_NUMERIC "pivot %d is not positive" (row of A), also for values that are
 *          not finite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_chol_scalar_new(abut_chol_scalar **c, const abut_bsr *A, const int32_t *perm, abut_err *err);
/** x = A^-1 b for each of the three columns of b[n * 3], x[n * 3]; may be the same array. */
void abut_chol_scalar_solve(abut_chol_scalar *c, const double *b, double *x);
abut_chol_scalar_stats abut_chol_scalar_get_stats(const abut_chol_scalar *c);
void abut_chol_scalar_free(abut_chol_scalar **c);

#endif
