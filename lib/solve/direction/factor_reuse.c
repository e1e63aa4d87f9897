#include "solve/direction/factor_reuse.h"

#include "sparse/pcg.h"

#include <math.h>

/* What things cost, in operations of a factorisation in single precision: measured once, in milliseconds. */
#define FACTOR_ENTRY 185.   /* an entry of a factor on top of its operations: loaded, moved, scattered */
#define ANALYSE_BLOCK 4000. /* a block of a matrix whose pattern has to be analysed */
#define SOLVE_BYTE 18.      /* a byte of a factor in a solve, which waits for memory */
#define MULTIPLY_BLOCK 800. /* a block of the matrix in a product */

#define LEAST_FLOPS 3e7     /* of a factor: smaller ones cost too little */

#define FORCE 0.1           /* of the right-hand side that may be left */
#define SHARE 0.1           /* of the direction that its error may have, as M^-1 r tells it before the last iteration */
#define WITHIN 1e-3         /* of `near` that it may have there */
#define FRESH_LEAST 2       /* iterations on a factor of the matrix itself */
#define FRESH_MOST 6        /* else it is not worth having */
#define LONGEST_WAIT 16

void abut_factor_reuse_reset(abut_factor_reuse *u)
{
    u->held = u->old = u->coarse = u->wait = u->patience = u->insist = u->approximate = 0;
}

void abut_factor_reuse_clear(abut_factor_reuse *u)
{
    abut_arena_clear(&u->scratch);
    *u = (abut_factor_reuse){ 0 };
}

double abut_factor_cost(const abut_linear_solver *linear)
{
    const abut_linear_stats s = abut_linear_get_stats(linear);
    return abut_factor_cost_of(s.nnz, s.flops);
}

double abut_factor_cost_of(double nnz, double flops)
{
    return flops + FACTOR_ENTRY * nnz;
}

/* Iterations on the factor that there is that cost what a new one in single precision does, with its own iterations. */
static int break_even(const abut_linear_solver *linear, const abut_bsr *A, int analysed)
{
    const abut_linear_stats s = abut_linear_get_stats(linear);
    const double blocks = (double)A->nnz, analysis = analysed ? 0 : ANALYSE_BLOCK * blocks;
    return FRESH_LEAST + (int)((abut_factor_cost(linear) + analysis) / (SOLVE_BYTE * (double)s.bytes + MULTIPLY_BLOCK * blocks));
}

/* Old factors that were no good are tried again after 1, 3, 9 directions. */
static void learn(abut_factor_reuse *u, int good)
{
    if (good) u->patience = 0;
    else u->wait = u->patience = u->patience ? (int)fmin(3 * u->patience, LONGEST_WAIT) : 1;
}

static int is_large(const abut_linear_solver *linear)
{
    return abut_linear_get_stats(linear).flops >= LEAST_FLOPS;
}

int abut_factor_reuse_is_due(abut_factor_reuse *u, const abut_linear_solver *linear)
{
    if (u->insist || !u->held || !is_large(linear) || !abut_linear_can(linear, ABUT_CAN_PRECONDITION)) return 0;
    return u->wait ? u->wait--, 0 : 1;
}

int abut_factor_reuse_is_coarse(const abut_factor_reuse *u, const abut_linear_solver *linear)
{
    return !u->insist && !u->coarse && is_large(linear) &&
           abut_linear_can(linear, ABUT_CAN_SINGLE | ABUT_CAN_PRECONDITION);
}

/* *solved 0: conjugate gradients do not get there in so many iterations. */
static abut_status solve(abut_factor_reuse *u, abut_linear_solver *linear, const abut_bsr *A, const double *b, double near,
                         int most, double *x, int *solved, abut_report *rep, abut_err *err)
{
    const abut_precond M = abut_linear_precond(linear);
    const abut_pcg_goal goal = { FORCE, SHARE, near, WITHIN * near, most };
    abut_pcg_report pcg = { 0 };
    const abut_status rc = abut_pcg_approach(&(abut_operator){ .matrix = A }, &M, b, x, goal, &pcg, &u->scratch, err);
    rep->cg_iterations += pcg.iterations;
    *solved = u->approximate = !rc && pcg.converged;
    return rc == ABUT_E_NUMERIC ? ABUT_OK : rc;     /* whatever is not definite, the factorisation will tell */
}

abut_status abut_factor_reuse_old(abut_factor_reuse *u, abut_linear_solver *linear, int analysed, const abut_bsr *A,
                                  const double *b, double near, double *x, int *solved, abut_report *rep, abut_err *err)
{
    const abut_status rc = solve(u, linear, A, b, near, break_even(linear, A, analysed), x, solved, rep, err);
    learn(u, *solved);
    return rc;
}

abut_status abut_factor_reuse_single(abut_factor_reuse *u, abut_linear_solver *linear, const abut_bsr *A, const double *b,
                                     double near, double *x, int *solved, abut_report *rep, abut_err *err)
{
    *solved = 0;
    abut_status rc = abut_linear_factor(linear, &(abut_operator){ .matrix = A }, ABUT_SINGLE, err);
    rep->factorisations++;
    u->held = !rc;
    u->old = 0;
    if (!rc) rc = solve(u, linear, A, b, near, FRESH_MOST, x, solved, rep, err);
    u->coarse = !*solved;
    return rc == ABUT_E_NUMERIC ? ABUT_OK : rc;
}
