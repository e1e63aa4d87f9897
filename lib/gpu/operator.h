/* The Hessian of a time step on a machine: the tets and a diagonal as a block matrix whose pattern lasts, what touches as the
 * element matrices that it is.  Rows are the nodes that move, in an order of the host's; vectors of rows are [3 rows]. */
#ifndef ABUT_GPU_OPERATOR_H
#define ABUT_GPU_OPERATOR_H

#include "gpu/blocks.h"
#include "gpu/precond.h"
#include "gpu/tets.h"
#include "sparse/bsr.h"

enum { ABUT_GPU_BARRIER = 0, ABUT_GPU_FRICTION = 1, ABUT_GPU_TOUCHING = 2 /* sets */,
       ABUT_GPU_LASTING = 6 /* sets at most */ };

/* Parts of blocks that one piece of the tets adds, on the host: [lo, hi) of those of the operator. */
typedef struct abut_gpu_piece {
    size_t lo, hi, tet, tets;
} abut_gpu_piece;

/* Elements of so many corners that last: node[corners n] on the host, -1 unused; read while the operator is made. */
typedef struct abut_gpu_lasting {
    size_t n;
    const int32_t *node;
    int corners;
} abut_gpu_lasting;

typedef struct abut_gpu_operator {
    abut_queue *q;
    abut_gpu_tets *tets;
    abut_bsr pattern;               /* host: lower triangle, no values */
    uint32_t *chunk;                /* host: `first` of kernels_solve.h */
    size_t n, nv, chunks, blocks /* with padding */;
    int lasting;                    /* sets of elements beside the tets */
    size_t n_pieces, at_once;       /* tets whose matrices are in memory together */
    abut_gpu_piece *piece;          /* [n_pieces] of the tets, [lasting] */
    abut_buffer row_of, node;       /* [nv], [n] */
    abut_buffer first, length, col; /* kernels_solve.h */
    abut_buffer val, val_single;
    abut_buffer part_first, item, at, mirror, diagonal;
    abut_buffer H;                  /* of a piece */
    /* elements in contact */
    abut_gpu_blocks set[ABUT_GPU_TOUCHING];
    abut_buffer key, slot, touch_first, touch_row, touch_single, t, t_single;
    abut_buffer pieces, piece_first, piece_row, sum, sum_single;
    size_t touch_pieces;
    abut_buffer inverse;            /* of the diagonal blocks, in single precision */
    const double *z;                /* where the tets were taken last */
    abut_gpu_precond precond;
} abut_gpu_operator;

/** Pattern for the rows row[nv] (host; -1: does not move) of the nodes of t and of n_more sets of elements that last, too.  Keeps
 * q and t.  A: zero-filled, or made before.  at_once: tets whose matrices are in memory at a time, 0: as many as is quick.
 * Fails  ABUT_E_ARG more than ABUT_GPU_LASTING sets; ABUT_E_NOMEM, or as abut_bsr_pattern; A is then clear */
ABUT_MUST_USE abut_status abut_gpu_operator_init_with(abut_gpu_operator *A, abut_queue *q, abut_gpu_tets *t, const int32_t *row,
                                                      const abut_gpu_lasting *more, int n_more, size_t at_once, abut_err *err);
void abut_gpu_operator_clear(abut_gpu_operator *A);

/** Values: scale times the projected Hessians of the tets at z, plus diag[nv] of the nodes; both the machine's. */
ABUT_MUST_USE abut_status abut_gpu_operator_tets(abut_gpu_operator *A, const double *z, double scale, const double *diag,
                                                 abut_err *err);
/** Adds the packed matrices H (the machine's) of lasting set number `set`, or H[90 nt] of the tets; after the values. */
ABUT_MUST_USE abut_status abut_gpu_operator_add(abut_gpu_operator *A, int set, const double *H, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_operator_add_tets(abut_gpu_operator *A, const double *H, abut_err *err);
/** Element matrices of set ABUT_GPU_BARRIER or ABUT_GPU_FRICTION; they are read until the next ones are set. */
void abut_gpu_operator_blocks(abut_gpu_operator *A, int set, abut_gpu_blocks blocks);
/** Completes the operator after its values and blocks: copies in single precision, lists of contacts of each row, inverted
 * diagonal blocks; renews the preconditioner if it is due (gpu/precond.h). */
ABUT_MUST_USE abut_status abut_gpu_operator_ready(abut_gpu_operator *A, abut_err *err);

/** The element matrices at hand, as kernels take them. */
abut_touch_args abut_gpu_operator_touch(const abut_gpu_operator *A);

/** y = A x of rows. */
ABUT_MUST_USE abut_status abut_gpu_operator_multiply(abut_gpu_operator *A, const double *x, double *y, abut_err *err);
/** y = A x in single precision; does nothing if *stop (the machine's) is not 0. */
ABUT_MUST_USE abut_status abut_gpu_operator_multiply_single(abut_gpu_operator *A, const float *x, float *y, const uint32_t *stop,
                                                            abut_err *err);

#endif
