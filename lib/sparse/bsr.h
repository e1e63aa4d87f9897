/* A symmetric matrix of 3x3 blocks, summed from sets of element matrices (sparse/elements.h) in an order that no thread count
 * changes. */
#ifndef ABUT_SPARSE_BSR_H
#define ABUT_SPARSE_BSR_H

#include "graph/graph.h"
#include "sparse/elements.h"

/* Block lower triangle (row >= column) by block columns, rows ascending, diagonal first.  Zero-filled is empty. */
typedef struct abut_bsr {
    int32_t n;              /* block rows */
    size_t nnz;             /* stored blocks */
    size_t *ptr;            /* [n + 1] */
    int32_t *row;           /* [nnz] */
    double *val;            /* [nnz * 9] row major */
    struct abut_bsr_plan *plan;   /* for each block the element blocks that add to it: 4 bytes each */
} abut_bsr;

/** Pattern (every diagonal block included) and assembly plan of nsets element sets; values zero.
 *
 * A       empty or built before (then cleared first); cleared on failure
 * sets    all but the values is read.  Of a set that is made while it is summed, or of rank one, the plan has more
 * Fails   ABUT_E_ARG as abut_elements_check; too many elements to number, more than ABUT_SETS_MAX sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bsr_pattern(abut_bsr *A, int32_t n, const abut_elements *sets, int nsets, abut_err *err);

/** Updates the pattern after a change of the sets from number `first` on.  Sets before it must have the rows of the last
 * call; their part of the plan is kept.  A change of contacts alone costs one such call.
 *
 * keep     0: exactly the pattern that abut_bsr_pattern makes.  1: blocks of the old pattern stay, if need be empty: a
 *          pattern into which the new sets fit does not change.  Rounding in a factorisation then depends on the past:
 *          a run that must restart with the same bytes begins each restart point with keep = 0.
 * changed  out: 1 if the pattern differs from the old one (values zero); 0 if it is the old one with its values, and
 *          its analysis stays valid
 * Fails    as abut_bsr_pattern; A is then as it was */
ABUT_MUST_USE abut_status abut_bsr_update(abut_bsr *A, const abut_elements *sets, int nsets, int first, int keep,
                                          int *changed, abut_err *err);

/** Values: block diagonal diag[n] (times identity; NULL: zero) plus the sum of the same sets, in set and element order.
 *
 * Sets that `make` writes, or of rank one, are packed a few hundred elements at a time and summed while they are in the
 * processor's cache: of hundreds of thousands of elements they take longer to write and read than to make.  Element blocks that
 * share a block of the matrix are summed by chunks of elements, then these: for every thread count the same bits, and those of
 * the stored set up to rounding.  Elements that lie together should be numbered so.  Of a set with a map H is summed on its
 * vertices, then each column of the matrix adds its part of W^T H W. */
void abut_bsr_assemble(abut_bsr *A, const double *diag, const abut_elements *sets, int nsets);
/** y = A x, both [3 n], not overlapping.  The same bits for every thread count. */
void abut_bsr_multiply(const abut_bsr *A, const double *x, double *y);
/** The graph of the block rows; good as long as the pattern. */
static inline abut_graph abut_bsr_graph(const abut_bsr *A)
{
    return (abut_graph){ A->n, A->ptr, A->row };
}
void abut_bsr_clear(abut_bsr *A);

#endif
