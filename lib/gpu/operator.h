/* The Hessian of a time step on a machine: the tets and a diagonal as a block matrix whose pattern lasts, what touches as the
 * element matrices that it is; its preconditioners; conjugate gradients.  Rows are the nodes that move, in an order of the
 * host's; vectors of rows are [3 rows].
 *
 * Preconditioners are symmetric and positive definite, in single precision:
 *     JACOBI     the inverted diagonal blocks
 *     CLUSTERS   the inverted diagonal blocks of clusters of 16 rows close to each other at present, joined by the matrix or
 *                not: nodes in contact are mostly in one
 *     RIGID      CLUSTERS + Z E^-1 Z^T: the rigid motions Z of parts of some 200 rows, E = Z^T A Z
 * (sparse/schwarz/coarse_space.h) */
#ifndef ABUT_GPU_OPERATOR_H
#define ABUT_GPU_OPERATOR_H

#include "gpu/elements.h"
#include "sparse/bsr.h"

/* n element matrices; node and val are the machine's, borrowed from the function that made them. */
typedef struct abut_gpu_blocks {
    size_t n;
    const int32_t *node;    /* [4 n] nodes, -1 unused */
    const double *val;      /* [90 n] packed (sparse/elements.h); what belongs to an unused corner is not read */
} abut_gpu_blocks;

typedef enum abut_gpu_precond_kind { ABUT_GPU_JACOBI, ABUT_GPU_CLUSTERS, ABUT_GPU_RIGID } abut_gpu_precond_kind;

/* Zero-filled: JACOBI. */
typedef struct abut_gpu_precond {
    abut_gpu_precond_kind kind;
    int lags;               /* 1: E is kept while it serves; 0: made again whenever the operator is, as clusters are */
    int made;               /* 0: E is made again next time in any case */
    int age;                /* operators since */
    double first, last;     /* iterations a decade of the residual: right after E was made, and of the last solve; 0: none yet */
    double origin[3], unit; /* of the curve that orders rows, m */
    uint32_t clusters, parts, wide;
    abut_buffer row, slot, place, matrix, inverse, fallen;
    abut_buffer part, member, part_first, arm;
    abut_buffer pair_first, block_at, block_row, block_col, key, key_slot;
    abut_buffer E, pivot, across, down, bad, coarse, v, w;
} abut_gpu_precond;

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
    uint32_t *chunk;                /* host: `first` of kernels.h */
    size_t n, nv, chunks, blocks /* with padding */;
    int lasting;                    /* sets of elements beside the tets */
    size_t n_pieces, at_once;       /* tets whose matrices are in memory together */
    abut_gpu_piece *piece;          /* [n_pieces] of the tets, [lasting] */
    abut_buffer row_of, node;       /* [nv], [n] */
    abut_buffer first, length, col; /* kernels.h */
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
 * diagonal blocks; renews the preconditioner if it is due. */
ABUT_MUST_USE abut_status abut_gpu_operator_ready(abut_gpu_operator *A, abut_err *err);

/** The element matrices at hand, as kernels take them. */
abut_touch_args abut_gpu_operator_touch(const abut_gpu_operator *A);

/** y = A x of rows. */
ABUT_MUST_USE abut_status abut_gpu_operator_multiply(abut_gpu_operator *A, const double *x, double *y, abut_err *err);
/** y = A x in single precision; does nothing if *stop (the machine's) is not 0. */
ABUT_MUST_USE abut_status abut_gpu_operator_multiply_single(abut_gpu_operator *A, const float *x, float *y, const uint32_t *stop,
                                                            abut_err *err);

/* ---- preconditioners ---- */

/** Sets the kind for an operator that has its pattern, x[3 nv] (host) where its nodes are: near ones share parts.
 * Fails  ABUT_E_NOMEM; the operator has JACOBI then */
ABUT_MUST_USE abut_status abut_gpu_precond_init(abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x, abut_err *err);
/** Sets the kind as abut_gpu_precond_init, with parts of about `rows` rows. */
ABUT_MUST_USE abut_status abut_gpu_precond_init_by(abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x,
                                                int32_t rows, abut_err *err);
void abut_gpu_precond_clear(abut_gpu_operator *A);

/** Renews the preconditioner if it is due.  To be called after a change of the operator's values. */
ABUT_MUST_USE abut_status abut_gpu_precond_renew(abut_gpu_operator *A, abut_err *err);
/** Notes the iterations and the residual of a solve, which decide when a renewal is due. */
void abut_gpu_precond_learn(abut_gpu_operator *A, int iterations, double residual);

/** z = M^-1 r of CLUSTERS and RIGID, rows; with r_single in single precision, r and z NULL.  Nothing is done where *stop (the
 * machine's, or NULL) is not 0. */
ABUT_MUST_USE abut_status abut_gpu_precond_apply(abut_gpu_operator *A, const double *r, double *z, const float *r_single,
                                                float *z_single, const uint32_t *stop, abut_err *err);

/* Parts of the rows of a matrix, which are points in space: by repeated bisection along the longest side, disconnected pieces of
 * the matrix separately.  Deterministic.  Zero-filled is empty. */
typedef struct abut_bisection {
    int32_t parts;
    int32_t *part;      /* [n] of each row */
    int32_t *first;     /* [parts + 1]: rows of part j are member[first[j] .. first[j + 1]) */
    int32_t *member;    /* [n] */
} abut_bisection;

/** Makes parts of about `rows` rows at positions x[3 n].  Pieces of the matrix share parts only if there were more than `most`
 * parts otherwise.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bisect(abut_bisection *b, const abut_bsr *A, const double *x, int32_t rows, int32_t most,
                                      abut_err *err);
void abut_bisection_clear(abut_bisection *b);

/* ---- conjugate gradients: in single precision, inside corrections in double, so that the true residual decides ---- */

typedef struct abut_gpu_cg {
    abut_buffer b, x, r, q;             /* [3 n] double: right-hand side, solution, residual, product */
    abut_buffer p, z;                   /* double, only where single precision fails */
    abut_buffer single[6];              /* x r z p, A z and A p of the correction */
    abut_buffer scalars;
    double decade;                      /* iterations a decade of the residual, of the last correction: when to look first */
} abut_gpu_cg;

typedef struct abut_gpu_solve_report {
    int iterations;         /* steps of conjugate gradients */
    int corrections;
    int in_double;          /* 1: single precision was not enough */
    double residual;        /* |b - A x| / |b| */
} abut_gpu_solve_report;

/** A p = -b with the operator A, which is ready; b, p [3 nv] of nodes, the machine's; p is 0 where nothing moves.
 * Stops when |b + A p| <= tolerance |b|, 2-norms over the rows, in double.
 * Fails  ABUT_E_NUMERIC that is not reached, or A is not positive definite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_solve(abut_gpu_cg *c, abut_gpu_operator *A, const double *b, double *p, double tolerance,
                                         abut_gpu_solve_report *rep, abut_err *err);
void abut_gpu_cg_clear(abut_gpu_cg *c, abut_queue *q);

#endif
