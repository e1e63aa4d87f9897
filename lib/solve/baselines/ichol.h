/* Incomplete Cholesky of a block matrix without fill: A ~ L L^T with the blocks of L where A has some (Meijerink and van der
 * Vorst 1977).  On those blocks L L^T = A.  Such a factor need not exist: then the diagonal is raised until it does (Manteuffel
 * 1980).  Serial. */
#ifndef ABUT_SOLVE_BASELINES_ICHOL_H
#define ABUT_SOLVE_BASELINES_ICHOL_H

#include "sparse/operator.h"

/* Zero-filled is empty. */
typedef struct abut_ichol {
    abut_bsr L;         /* lower triangle by columns, diagonal blocks lower triangular; pattern of the matrix, no plan */
    double shift;       /* of the diagonal, relative; 0: none was needed */
} abut_ichol;

/** Factors A; what f held is lost.  Fails  ABUT_E_NUMERIC no shift below 1 makes it positive definite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_ichol_factor(abut_ichol *f, const abut_bsr *A, abut_err *err);
/** As a preconditioner: z = (L L^T)^-1 r; good as long as f. */
abut_precond abut_ichol_precond(abut_ichol *f);
void abut_ichol_clear(abut_ichol *f);

/* ---- order ----
 *
 * Rows of a block matrix in an order of small bandwidth: an incomplete factor without fill leaves out less of the product when
 * neighbours are near each other in it (Duff and Meurant 1989). */

/** The order of Cuthill and McKee (1969), reversed: order[k] is the row of A that comes at place k.  Each piece of the graph
 * begins at a row that is far from another one; neighbours follow by degree, then by number.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_band_order(const abut_bsr *A, int32_t *order, abut_err *err);

/** B = P A P^T, row k of B being row order[k] of A; B has no plan and is empty before.
 * Fails  ABUT_E_NOMEM; B is then empty */
ABUT_MUST_USE abut_status abut_band_permuted(const abut_bsr *A, const int32_t *order, abut_bsr *B, abut_err *err);

#endif
