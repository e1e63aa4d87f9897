/* The matrices of domains: the diagonal blocks of P_l^T A P_l, eight side by side (sparse/mas/dense.h). */
#ifndef ABUT_SPARSE_MAS_SUMS_H
#define ABUT_SPARSE_MAS_SUMS_H

#include "sparse/mas/dense.h"

enum { ABUT_MAS_GROUP = ABUT_MAS_NUMBERS * ABUT_MAS_LANES };   /* numbers of eight matrices */

/** Eights of domains of n nodes. */
static inline int32_t abut_mas_groups(int32_t n)
{
    return (abut_mas_domains(n) + ABUT_MAS_LANES - 1) / ABUT_MAS_LANES;
}

/** M[ABUT_MAS_GROUP]: domains 8 g .. 8 g + 7 of level 0, by rows of a matrix; identity where there is no row. */
void abut_mas_sum_rows(const abut_mas_levels *s, const abut_bsr *A, int32_t g, double *M);
/** sum[l][groups of level l][ABUT_MAS_GROUP], l from `from` on: all domains of these levels.  Blocks of the matrix, or of element
 * after element, are added in their order.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mas_sum_levels(const abut_mas_levels *s, const abut_operator *A, int from, double *const *sum,
                                              abut_err *err);
/** In eight matrices: nothing but the diagonal blocks is left of those with a bit in `which`. */
void abut_mas_keep_diagonal(double *M, unsigned which);

#endif
