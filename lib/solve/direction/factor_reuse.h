/* Newton's equation A p = b by a factor that is older or coarser than A: one of an earlier iterate of the step, or one in single
 * precision.  Conjugate gradients make up for the difference: to a tenth where the direction is long (Dembo, Eisenstat and
 * Steihaug 1982), to a hundredth of what the convergence test allows where that looks at it.
 *
 * Small factors are made in double precision for every matrix: nothing is gained on them.
 *
 * Decided by counts, not by clocks, so that the same input gives the same bytes: an old factor may take as many iterations as
 * cost what a new one would.  Where that is not enough the matrix is factored in single precision, which takes half the time
 * and memory, and where that is too coarse, in double. */
#ifndef ABUT_SOLVE_DIRECTION_FACTOR_REUSE_H
#define ABUT_SOLVE_DIRECTION_FACTOR_REUSE_H

#include "base/arena.h"
#include "sparse/linear_solver.h"
#include "solve/report.h"

/* Lives for one time step.  Zero-filled: nothing is known yet. */
typedef struct abut_factor_reuse {
    int held;           /* the factor that there is belongs to this step and numbering */
    int coarse;         /* single precision was no good in this step */
    int wait, patience; /* directions before an old factor is tried again, and how many they were last time; 0: it was good */
    int insist;         /* the next direction shall be by a factor of its own in double precision */
    int old;            /* the last one was by the factor of an earlier matrix */
    int approximate;    /* the last one was by conjugate gradients */
    abut_arena scratch;
} abut_factor_reuse;

void abut_factor_reuse_reset(abut_factor_reuse *u);
void abut_factor_reuse_clear(abut_factor_reuse *u);
/** What a factorisation as analysed costs, in operations of a large one; that of a factor of so many numbers and operations. */
double abut_factor_cost(const abut_linear_solver *linear);
double abut_factor_cost_of(double nnz, double flops);
/** Whether to try the factor that there is, if any, on the next matrix; counts the directions that it is not. */
int abut_factor_reuse_is_due(abut_factor_reuse *u, const abut_linear_solver *linear);
/** Whether to try single precision for the matrix that was analysed. */
int abut_factor_reuse_is_coarse(const abut_factor_reuse *u, const abut_linear_solver *linear);

/** x = A^-1 b [3 n] by the factor that there is.
 *
 * analysed  it was analysed for the pattern of A
 * near      m: twice what the convergence test allows any |x_i|
 * *solved   out: 0 when it would take longer than a new factor; x is then nothing
 * Fails     ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_factor_reuse_old(abut_factor_reuse *u, abut_linear_solver *linear, int analysed, const abut_bsr *A,
                                                const double *b, double near, double *x, int *solved, abut_report *rep,
                                                abut_err *err);
/** The same by a new factor in single precision; linear is analysed for A.  *solved 0: single precision is not enough. */
ABUT_MUST_USE abut_status abut_factor_reuse_single(abut_factor_reuse *u, abut_linear_solver *linear, const abut_bsr *A,
                                                   const double *b, double near, double *x, int *solved, abut_report *rep,
                                                   abut_err *err);

#endif
