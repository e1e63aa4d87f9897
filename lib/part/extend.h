/* The order of a matrix from that of a part of its rows. */
#ifndef ABUT_PART_EXTEND_H
#define ABUT_PART_EXTEND_H

#include "linalg/bsr.h"

/** The pattern of the rows of A that have a number: part->ptr and part->row, as abut_bsr_pattern makes them for the elements that
 * made A, numbered so.  No values, no plan.
 *
 * number   [A->n] ascending from 0, -1: left out
 * Fails    ABUT_E_NOMEM; part is then empty */
ABUT_MUST_USE abut_status abut_part_pattern(const abut_bsr *A, const int32_t *number, abut_bsr *part, abut_err *err);

/* Rows farther away are most of what there is: they want an order of their own. */
enum { ABUT_EXTEND_LAYERS = 16 };

/** An order of all rows of A from one of those that have a number: the others, layer by layer away from them, go right before
 * the last of their neighbours in the layer before, farther layers first.  So a layer is dissected as what it lies on, and what
 * lies on a separator becomes part of it.
 *
 * order    [rows with a number] an order of these, by their numbers
 * perm     [A->n] out
 * all      out: 0 where rows hang together with none that has a number, or are more than ABUT_EXTEND_LAYERS away from it; perm
 *          is then no order
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_part_extend(const abut_bsr *A, const int32_t *number, const int32_t *order, int32_t *perm,
                                           int *all, abut_err *err);

#endif
