/* Two-level additive Schwarz preconditioner of a block matrix on nodes in space (Toselli and Widlund 2005, chapter 3):
 *
 *     M^-1 = sum_i R_i^T A_i^-1 R_i + Z (Z^T A Z)^-1 Z^T
 *
 * A_i is the matrix of a part and of the rows next to it, solved by sparse Cholesky; the columns of Z are the six rigid
 * motions of each part, which carry information across the mesh at once.  The parts are independent of each other, so
 * memory and work grow with the number of rows, not with the fill of the whole factor.  The same bits for every thread
 * count. */
#ifndef ABUT_SPARSE_SCHWARZ_SCHWARZ_H
#define ABUT_SPARSE_SCHWARZ_SCHWARZ_H

#include "sparse/bsr.h"
#include "sparse/precond.h"

typedef struct abut_schwarz abut_schwarz;

typedef struct abut_schwarz_stats {
    int32_t parts;
    int32_t largest;        /* rows of the largest A_i */
    double factor_nnz;      /* entries of all factors together */
    double factor_flops;
} abut_schwarz_stats;

/** Analyses the pattern of A for k parts: part[n] in 0 .. k-1, none empty.  x[3 n]: where the rows are, m.
 * *s is NULL at first, or made before for another matrix: parts whose pattern is the same keep their analysis.
 * Fails  ABUT_E_ARG a part outside 0 .. k-1 or empty; ABUT_E_NOMEM.  *s is then freed and NULL */
ABUT_MUST_USE abut_status abut_schwarz_analyse(abut_schwarz **s, const abut_bsr *A, int32_t k, const int32_t *part,
                                               const double *x, abut_err *err);
/** Factors the A_i and Z^T A Z of a matrix with the analysed pattern.
 * Fails  ABUT_E_NUMERIC one of them is not positive definite */
ABUT_MUST_USE abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err);
/** As a preconditioner; good as long as s. */
abut_precond abut_schwarz_precond(abut_schwarz *s);
abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s);
void abut_schwarz_free(abut_schwarz **s);

#endif
