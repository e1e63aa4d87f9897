/* Preconditioners of an operator of a machine, symmetric and positive definite, in single precision:
 *
 *     JACOBI     the inverted diagonal blocks
 *     CLUSTERS   the inverted diagonal blocks of clusters of 16 rows close to each other at present, joined by the matrix or
 *                not: nodes in contact are mostly in one
 *     RIGID      CLUSTERS + Z E^-1 Z^T: the rigid motions Z of parts of some 200 rows, E = Z^T A Z
 * (sparse/schwarz/coarse_space.h) */
#ifndef ABUT_GPU_PRECOND_H
#define ABUT_GPU_PRECOND_H

#include "gpu/buffer.h"

struct abut_gpu_operator;

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

/** Sets the kind for an operator that has its pattern, x[3 nv] (host) where its nodes are: near ones share parts.
 * Fails  ABUT_E_NOMEM; the operator has JACOBI then */
ABUT_MUST_USE abut_status abut_gpu_precond_init(struct abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x,
                                                abut_err *err);
/** Sets the kind as abut_gpu_precond_init, with parts of about `rows` rows. */
ABUT_MUST_USE abut_status abut_gpu_precond_init_by(struct abut_gpu_operator *A, abut_gpu_precond_kind kind, const double *x,
                                                   int32_t rows, abut_err *err);
void abut_gpu_precond_clear(struct abut_gpu_operator *A);

/** Renews the preconditioner if it is due.  To be called after a change of the operator's values. */
ABUT_MUST_USE abut_status abut_gpu_precond_renew(struct abut_gpu_operator *A, abut_err *err);
/** Notes the iterations and the residual of a solve, which decide when a renewal is due. */
void abut_gpu_precond_learn(struct abut_gpu_operator *A, int iterations, double residual);

/** z = M^-1 r of CLUSTERS and RIGID, rows; with r_single in single precision, r and z NULL.  Nothing is done where *stop (the
 * machine's, or NULL) is not 0. */
ABUT_MUST_USE abut_status abut_gpu_precond_apply(struct abut_gpu_operator *A, const double *r, double *z, const float *r_single,
                                                 float *z_single, const uint32_t *stop, abut_err *err);

#endif
