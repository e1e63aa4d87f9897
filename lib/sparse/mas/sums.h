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

/* Level 0 of blocks that are summed already is not stored: it is summed eight domains at a time, when it is asked for.
 * Zero-filled is empty. */
typedef struct abut_mas_sums {
    const abut_bsr *rows;   /* borrowed; NULL: none, all is in `sum` */
    int32_t *place, places; /* [groups of level 0] which of sum[0] is added to rows, -1: none */
    double *sum[ABUT_MAS_LEVELS];   /* [groups][ABUT_MAS_GROUP] */
} abut_mas_sums;

/** Sums all domains of all levels.  Blocks of the matrix, then of the elements, are added in their order.
 * Fails  ABUT_E_NOMEM; *m is then empty */
ABUT_MUST_USE abut_status abut_mas_sums_make(abut_mas_sums *m, const abut_mas_levels *s, const abut_operator *A, abut_err *err);
/** M[ABUT_MAS_GROUP]: domains 8 g .. 8 g + 7 of level l; identity for missing nodes.  A must have the values of the sums. */
void abut_mas_sums_load(const abut_mas_sums *m, const abut_mas_levels *s, int l, int32_t g, double *M);
void abut_mas_sums_clear(abut_mas_sums *m);
/** Clears all but the diagonal blocks of those of eight matrices that have a bit in `which`. */
void abut_mas_keep_diagonal(double *M, unsigned which);

#endif
