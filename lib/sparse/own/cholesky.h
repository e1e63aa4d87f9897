/* Sparse Cholesky of a block matrix, supernodal.
 *
 * The analysis (tree.h) runs on the graph of blocks, a ninth of the scalar matrix.  The numeric phases are our own, too:
 * CHOLMOD's ask for a fixed number of threads, and with threads inside BLAS the bits of a factor would depend on their number.
 * Here they depend on the matrix and the ordering alone (and on whether the processor multiplies and adds in one).  A factor does
 * not refer to the matrix it came from, so it may outlive it and precondition a later one. */
#ifndef ABUT_SPARSE_OWN_CHOLESKY_H
#define ABUT_SPARSE_OWN_CHOLESKY_H

#include "sparse/operator.h"

typedef struct abut_chol abut_chol;

typedef struct abut_chol_stats {
    double factor_nnz;      /* entries of L, those included that only fill a supernode */
    double factor_flops;    /* multiplications and additions of one factorisation */
    size_t bytes;           /* of L, in the precision of the factor that there is */
} abut_chol_stats;

/** Analyses the pattern of A with the block ordering perm[n] (perm[k] = block row eliminated k-th; NULL: CHOLMOD's AMD).
 * The order is refined by a postordering of the elimination tree, which keeps the fill.
 * threads: how many the numeric phases use, >= 1; no bit depends on it.
 * Fails  ABUT_E_ARG perm is no permutation, threads < 1; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_chol_new(abut_chol **c, const abut_bsr *A, const int32_t *perm, int threads, abut_err *err);
/** Analyses another pattern as abut_chol_new does, in an object that exists.  The former factor is lost; its memory is reused
 * if it suffices, for fresh memory costs as much as a small factorisation.
 * On failure c has no analysis: abut_chol_factor refuses. */
ABUT_MUST_USE abut_status abut_chol_renew(abut_chol *c, const abut_bsr *A, const int32_t *perm, abut_err *err);
/** Factors A (same pattern as analysed).  Fails ABUT_E_NUMERIC "pivot %d is not positive" (scalar row of A; also for
 * values that are not finite); the former factor is then lost and abut_chol_solve refuses. */
ABUT_MUST_USE abut_status abut_chol_factor(abut_chol *c, const abut_bsr *A, abut_err *err);
/** Factors A in single precision, in half the memory.  Solves have a few correct digits if A is well conditioned: it serves
 * as a preconditioner.  Fails also if rounding to floats makes a pivot not positive. */
ABUT_MUST_USE abut_status abut_chol_factor_single(abut_chol *c, const abut_bsr *A, abut_err *err);
/** x = A^-1 b, both [3 n]; may be the same array. */
ABUT_MUST_USE abut_status abut_chol_solve(abut_chol *c, const double *b, double *x, abut_err *err);
/** Solves for the connected parts of the matrix that have a row among wanted[n] (1), with the bits of abut_chol_solve; x of
 * other parts stays unchanged or is solved for. */
ABUT_MUST_USE abut_status abut_chol_solve_parts(abut_chol *c, const uint8_t *wanted, const double *b, double *x, abut_err *err);

/** Block row of A whose pivot was not positive in the last abut_chol_factor; -1 when it succeeded. */
int32_t abut_chol_bad_row(const abut_chol *c);
/** The factor as a preconditioner, of this matrix or of a later one; good as long as c. */
abut_precond abut_chol_precond(abut_chol *c);
abut_chol_stats abut_chol_get_stats(const abut_chol *c);
void abut_chol_free(abut_chol **c);

#endif
