/* What linear solvers by conjugate gradients have in common: solutions to a goal.  Inexact where the solution is long (Dembo,
 * Eisenstat and Steihaug 1982), to `close` where it is short. */
#ifndef ABUT_SPARSE_CG_H
#define ABUT_SPARSE_CG_H

#include "sparse/linear_solver.h"
#include "base/arena.h"

/** x = A^-1 b to the goal, by M (NULL: the inverted diagonal blocks).  iterations: out.
 * Fails  ABUT_E_NUMERIC the goal is out of reach, A or M is not positive definite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_cg_solve(const abut_operator *A, const abut_precond *M, const double *b,
                                        const abut_solve_goal *goal, double *x, int *iterations, abut_arena *scratch,
                                        abut_err *err);

#endif
