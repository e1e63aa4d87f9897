/* The ordering of the elements, made beside the first step.
 *
 * METIS is serial and takes as long as a step; nothing asks for its answer before the first factor.  A thread of its own makes
 * the pattern of the tets, the ordering and the analysis, while the program goes on with one thread less.  The answer is the one
 * that the same calls in line would give.
 *
 * From begin to wait no other call of METIS may be made in the process, and SIGTERM waits: METIS catches it wherever it is
 * delivered, and other threads could not answer. */
#ifndef ABUT_SOLVE_ORDER_AHEAD_H
#define ABUT_SOLVE_ORDER_AHEAD_H

#include "linalg/bsr.h"
#include "linalg/chol.h"

typedef struct abut_order_ahead abut_order_ahead;

/** Starts.
 *
 * node_row  [nv] rows of the matrix by nodes, -1 none; copied, and so is the rest
 * tet       [4 nt] nodes
 * nsets     element sets of the pattern, of which the tets are the first and the others empty
 * threads   of the factor
 * Fails     ABUT_E_NOMEM; ABUT_E_IO no thread can be started; *out is then NULL */
ABUT_MUST_USE abut_status abut_order_ahead_begin(abut_order_ahead **out, int32_t nv, const int32_t *node_row, int32_t nrow,
                                                 int32_t nt, const int32_t *tet, int nsets, int threads, abut_err *err);
/** Whether it is for this numbering of the nodes. */
int abut_order_ahead_serves(const abut_order_ahead *job, int32_t nv, const int32_t *node_row, int32_t nrow);
/** Waits for its end; NULL is fine. */
void abut_order_ahead_wait(abut_order_ahead *job);
/** Waits, and hands over A (cleared first), perm[nrow] and the factor without numbers (the old one is freed).
 *
 * Fails     as abut_bsr_pattern, abut_graph_order, abut_chol_new; A, perm and chol are then as they were */
ABUT_MUST_USE abut_status abut_order_ahead_take(abut_order_ahead *job, abut_bsr *A, int32_t *perm, abut_chol **chol,
                                                abut_err *err);
/** Waits, and frees what was not taken; NULL is fine. */
void abut_order_ahead_free(abut_order_ahead **job);

#endif
