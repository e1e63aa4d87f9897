/* Rows of a block matrix in an order of small bandwidth: an incomplete factor without fill leaves out less of the product when
 * neighbours are near each other in it (Duff and Meurant 1989). */
#ifndef ABUT_SPARSE_BAND_H
#define ABUT_SPARSE_BAND_H

#include "sparse/bsr.h"

/** The order of Cuthill and McKee (1969), reversed: order[k] is the row of A that comes at place k.  Each piece of the graph
 * begins at a row that is far from another one; neighbours follow by degree, then by number.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_band_order(const abut_bsr *A, int32_t *order, abut_err *err);

/** B = P A P^T, row k of B being row order[k] of A; B has no plan and is empty before.
 * Fails  ABUT_E_NOMEM; B is then empty */
ABUT_MUST_USE abut_status abut_band_permuted(const abut_bsr *A, const int32_t *order, abut_bsr *B, abut_err *err);

#endif
