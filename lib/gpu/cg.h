/* Conjugate gradients on a machine: in single precision, inside corrections in double, so that the true residual decides. */
#ifndef ABUT_GPU_CG_H
#define ABUT_GPU_CG_H

#include "gpu/operator.h"

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
