/* Conjugate gradients to the goal of a linear solver, and the rule by which their factors are made: shared by those of the table.
 *
 * A direction needs no more digits than the search can use (Dembo, Eisenstat and Steihaug 1982).  Factors serve several matrices
 * of a step, as long as iterations do not become many more than right after they were made. */
#ifndef ABUT_SPARSE_CG_H
#define ABUT_SPARSE_CG_H

#include "sparse/linear_solver.h"
#include "base/arena.h"

/* History of an iterative solver's factors.  Zero-filled: no factors. */
typedef struct abut_cg_state {
    int matrices;           /* that the factors have served */
    double fresh, last;     /* iterations for a tenth of the residual: right after they were made, and in the last solution */
    int iterations;         /* of the last solution, with those that were given up */
    abut_arena scratch;
} abut_cg_state;

/* Makes the factors of A for the solver `self`. */
typedef abut_status abut_cg_renew_fn(void *self, const abut_operator *A, abut_err *err);

/** To be called for each new matrix A: makes factors if there are none, if they have served enough matrices, or if they have
 * become slow.  Fails  as renew; there are then no factors */
ABUT_MUST_USE abut_status abut_cg_factor(abut_cg_state *s, const abut_operator *A, abut_cg_renew_fn *renew, void *self,
                                         abut_err *err);
/** x = A^-1 b to the goal, by M (NULL: the inverted diagonal blocks, and `renew` is not called).  Factors of another matrix with
 * which that takes too long are made again.
 * Fails  ABUT_E_NUMERIC the goal is out of reach, A or M is not positive definite; ABUT_E_NOMEM; as renew */
ABUT_MUST_USE abut_status abut_cg_solve(abut_cg_state *s, const abut_operator *A, const abut_precond *M,
                                        abut_cg_renew_fn *renew, void *self, const double *b, const abut_solve_goal *goal,
                                        double *x, abut_err *err);
/** Drops the factors, at the beginning of a step. */
void abut_cg_forget(abut_cg_state *s);
void abut_cg_clear(abut_cg_state *s);

#endif
