/* Preconditioned conjugate gradients for a symmetric positive definite block matrix (Hestenes and Stiefel 1952; the
 * preconditioned form as in Saad 2003, algorithm 9.1).  The same bits for every thread count. */
#ifndef ABUT_SPARSE_PCG_H
#define ABUT_SPARSE_PCG_H

#include "base/arena.h"
#include "sparse/linear_solver.h"

typedef struct abut_pcg_opts {
    double tolerance;       /* stop when |b - A x| <= tolerance * |b|, 2-norms; > 0 */
    int max_iterations;     /* >= 0 */
} abut_pcg_opts;

typedef struct abut_pcg_report {
    int converged;          /* 1: the tolerance is reached */
    int iterations;         /* products with A after the first residual */
    double residual;        /* |b - A x| / |b| by the recurrence; 0 for b = 0 */
} abut_pcg_report;

/* Stopping rule for a step of an optimisation: |b - A x|_2 <= close |b|_2; or |b - A x|_2 <= far |b|_2 and the error of every
 * x_i is at most `fraction` of max |x_i|, and at most `within` if max |x_i| <= near.  With `drop`, the only test is
 * r . M^-1 r <= drop b . M^-1 b (Huang et al. 2024, 7.2).
 *
 * The error (M^-1 A)^-1 M^-1 r is estimated by M^-1 r over the smallest eigenvalue of M^-1 A, for which the smallest Ritz value
 * of the Lanczos matrix is taken: it decreases to that eigenvalue. */
typedef struct abut_pcg_reach {
    double far, close;
    double fraction;
    double near, within;    /* m */
    double drop;            /* 0: none */
    int max_iterations;
} abut_pcg_reach;

/** Solves A x = b until `reach` is met, from the best multiple of the guess of M, or from 0 without one or with `drop`; otherwise
 * as abut_pcg_solve. */
ABUT_MUST_USE abut_status abut_pcg_solve_near(const abut_operator *A, const abut_precond *M, const double *b, double *x,
                                              abut_pcg_reach reach, abut_pcg_report *report, abut_arena *scratch, abut_err *err);

/** Solves A x = b, starting from x.
 *
 * M        preconditioner of as many rows; NULL: the inverted diagonal blocks
 * b, x     [3 n]; x is read as the first guess and holds the last iterate in any case
 * scratch  4 vectors of 3 n, and n blocks without M, given back before return
 * Running out of iterations is no failure: the report says so, and x is the best known.
 * Fails    ABUT_E_ARG bad options; ABUT_E_NOMEM; ABUT_E_NUMERIC the matrix or the preconditioner is not positive definite */
ABUT_MUST_USE abut_status abut_pcg_solve(const abut_operator *A, const abut_precond *M, const double *b, double *x,
                                         abut_pcg_opts opts, abut_pcg_report *report, abut_arena *scratch, abut_err *err);

/* Stopping rule by the error A^-1 r, with the residual r = b - A x.  M^-1 r estimates it if M is close to A; the bound of |r|
 * covers motions for which M is much stiffer than A.  Lengths are largest absolute values. */
typedef struct abut_pcg_goal {
    double force;           /* |r| <= force |b|, 2-norms, */
    double share;           /* and |M^-1 r| <= share |x|, */
    double near, within;    /* and |M^-1 r| <= within where |x| <= near */
    int max_iterations;     /* >= 1; the solve is also given up if two more for each decade of the error exceed it */
} abut_pcg_goal;

/** Solves A x = b, starting from 0, until the goal is reached; then takes the step of the last M^-1 r, too, so that the error is
 * smaller than the measured one.
 *
 * M        not NULL
 * report   iterations: applications of M, and products with A, or one fewer where the solve was given up
 * Everything else as abut_pcg_solve. */
ABUT_MUST_USE abut_status abut_pcg_approach(const abut_operator *A, const abut_precond *M, const double *b, double *x,
                                            abut_pcg_goal goal, abut_pcg_report *report, abut_arena *scratch, abut_err *err);

/** a . b of n numbers: sums of blocks, joined in order.  part[abut_blocks(n)] is scratch.  The same bits for every thread
 * count. */
double abut_dot(const double *a, const double *b, size_t n, double *part);

/* ---- linear solvers by conjugate gradients ----
 *
 * Conjugate gradients to the goal of a linear solver, and the rule by which their factors are made: shared by those of the table.
 *
 * A direction needs no more digits than the search can use (Dembo, Eisenstat and Steihaug 1982).  Factors serve several matrices
 * of a step, as long as iterations do not become many more than right after they were made. */

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
ABUT_MUST_USE abut_status abut_cg_solve(abut_cg_state *s, const abut_operator *A, const abut_precond *M, abut_cg_renew_fn *renew,
                                        void *self, const double *b, const abut_solve_goal *goal, double *x, abut_err *err);
/** Drops the factors, at the beginning of a step. */
void abut_cg_forget(abut_cg_state *s);
void abut_cg_clear(abut_cg_state *s);

#endif
