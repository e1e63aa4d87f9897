/* Cuts the rows of a matrix of blocks into parts of some hundred rows, for Schwarz preconditioners.  METIS minimises number and
 * size of the blocks between parts, so that rows in stiff contact share a part.
 *
 * The number of parts depends on the number of rows alone, the cut on the matrix: no part depends on the ranks that share the
 * matrix. */
#ifndef ABUT_SPARSE_STRONG_PARTS_H
#define ABUT_SPARSE_STRONG_PARTS_H

#include "sparse/operator.h"

/* Zero-filled is empty. */
typedef struct abut_strong_parts {
    int32_t n, k;           /* block rows, parts */
    int32_t *first;         /* [k + 1] */
    int32_t *row;           /* [n] rows of part p: row[first[p]] .. row[first[p + 1] - 1], ascending; parts by their mean row */
} abut_strong_parts;

/** Cuts the rows of A, a matrix with values.  Collective over ranks, with equal results.
 * Fails  as abut_graph_cut; *parts is then empty */
ABUT_MUST_USE abut_status abut_strong_parts_cut(abut_strong_parts *parts, const abut_operator *A, abut_err *err);
void abut_strong_parts_clear(abut_strong_parts *parts);

#endif
