/* Newton directions by conjugate gradients with a two-level Schwarz preconditioner, for scenes whose whole factor is too
 * large: memory and time grow with the number of nodes.  Inexact where the iterate is far from the minimum (Dembo, Eisenstat
 * and Steihaug 1982), exact to rounding as the convergence test sees it. */
#ifndef ABUT_SOLVE_DIRECTION_CG_H
#define ABUT_SOLVE_DIRECTION_CG_H

#include "base/arena.h"
#include "linalg/schwarz.h"

/* Lives for one time step.  Zero-filled is empty. */
typedef struct abut_cg {
    abut_schwarz *schwarz;
    int32_t *part;      /* [n] */
    double *where;      /* [3 n] positions of the rows, m */
    int32_t n, k;       /* rows and parts; n 0: not cut yet */
    int32_t cap;
    abut_arena scratch;
    int iterations;     /* of the last solve */
} abut_cg;

/** Forgets the partition: call at the start of every time step. */
void abut_cg_reset(abut_cg *cg);
void abut_cg_clear(abut_cg *cg);
/** A has another pattern, or this is the first of the step; row[nv] and x[3 nv] say where its rows are. */
ABUT_MUST_USE abut_status abut_cg_analyse(abut_cg *cg, const abut_bsr *A, int32_t nv, const int32_t *row, const double *x,
                                          abut_err *err);
ABUT_MUST_USE abut_status abut_cg_factor(abut_cg *cg, const abut_bsr *A, abut_err *err);
/** p = A^-1 b: to a thousandth of |b|, and on to 1e-8 when then no |p_i| is beyond `near`, m.
 * Fails  ABUT_E_NUMERIC the iterations did not get there, with their number and what was left */
ABUT_MUST_USE abut_status abut_cg_solve(abut_cg *cg, const abut_bsr *A, const double *b, double near, double *p, abut_err *err);

#endif
