#include "sparse/reuse.h"

#include "base/arena.h"
#include "base/timer.h"
#include "sparse/pcg.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Costs in operations of a factorisation in single precision: measured once, in milliseconds. */
#define FACTOR_ENTRY 185.   /* an entry of a factor on top of its operations: loaded, moved, scattered */
#define ANALYSE_BLOCK 4000. /* a block of a matrix whose pattern has to be analysed */
#define SOLVE_BYTE 18.      /* a byte of a factor in a solve, which waits for memory */
#define MULTIPLY_BLOCK 800. /* a block of the matrix in a product */

#define LEAST_FLOPS 3e7     /* of a factor: smaller ones cost too little */

#define FRESH_LEAST 2       /* iterations on a factor of the matrix itself */
#define FRESH_MOST 6        /* else it is not worth having */
#define LONGEST_WAIT 16

typedef struct reuse {
    abut_linear_solver inner;
    abut_reuse_order order;
    int has_order;
    int noted;              /* the matrix is another one than that of the last solution */
    int held, own;          /* 1: a factor of this step and analysis exists; it is of the present matrix */
    int failed;             /* the last factor in double precision: its order stays */
    int no_single;          /* single precision was no good in this step */
    int wait, patience;     /* solutions before an old factor is tried again, and how many they were last time; 0: it was good */
    abut_reuse_info last;
    abut_arena scratch;
} reuse;

/* A x = b, one matrix at a time: what the parts of a solution pass on. */
typedef struct equation {
    const abut_operator *A;
    const double *b;
    const abut_solve_goal *goal;    /* NULL: exact */
    double *x;
} equation;

double abut_factor_cost_of(double nnz, double flops)
{
    return flops + FACTOR_ENTRY * nnz;
}

double abut_factor_cost(const abut_linear_solver *s)
{
    const abut_linear_stats stats = abut_linear_get_stats(s);
    return abut_factor_cost_of(stats.nnz, stats.flops);
}

double abut_iterations_worth(double cost, size_t bytes, size_t blocks)
{
    return cost / (SOLVE_BYTE * (double)bytes + MULTIPLY_BLOCK * (double)blocks);
}

static int is_large(const abut_linear_solver *s)
{
    return abut_linear_get_stats(s).flops >= LEAST_FLOPS;
}

int abut_factor_may_be_single(const abut_linear_solver *s)
{
    return is_large(s) && abut_linear_can(s, ABUT_CAN_SINGLE | ABUT_CAN_PRECONDITION);
}

static int is_analysed(const reuse *r)
{
    return !r->has_order || r->order.is_analysed(r->order.ctx);
}

/* Iterations on the present factor with the cost of a new one in single precision and its iterations. */
static int break_even(const reuse *r, const abut_bsr *A)
{
    const double analysis = is_analysed(r) ? 0 : ANALYSE_BLOCK * (double)A->nnz;
    return FRESH_LEAST + (int)fmin(abut_iterations_worth(abut_factor_cost(&r->inner) + analysis,
                                                         abut_linear_get_stats(&r->inner).bytes, A->nnz), INT_MAX / 2);
}

/* Old factors that were no good are tried again after 1, 3, 9 solutions. */
static void learn(reuse *r, int good)
{
    if (good) r->patience = 0;
    else r->wait = r->patience = r->patience ? (int)fmin(3 * r->patience, LONGEST_WAIT) : 1;
}

/* Whether to try the present factor on the next matrix; counts the solutions without a try. */
static int is_due(reuse *r)
{
    if (!r->held || !is_large(&r->inner) || !abut_linear_can(&r->inner, ABUT_CAN_PRECONDITION)) return 0;
    return r->wait ? r->wait--, 0 : 1;
}

/* *solved 0: conjugate gradients do not reach the goal in `most` iterations. */
static abut_status iterate(reuse *r, const equation *q, int most, int *solved, abut_err *err)
{
    const abut_precond M = abut_linear_precond(&r->inner);
    const abut_pcg_goal goal = { q->goal->far, q->goal->fraction, q->goal->near, q->goal->within, most };
    abut_pcg_report pcg = { 0 };
    double clock = abut_time_wall();
    const abut_status rc = abut_pcg_approach(q->A, &M, q->b, q->x, goal, &pcg, &r->scratch, err);
    r->last.solve += abut_time_lap(&clock);
    r->last.iterations += pcg.iterations;
    *solved = r->last.approximate = !rc && pcg.converged;
    return rc == ABUT_E_NUMERIC ? ABUT_OK : rc;     /* a factorisation follows, and reports an indefinite matrix */
}

static abut_status by_old_factor(reuse *r, const equation *q, int *solved, abut_err *err)
{
    const abut_status rc = iterate(r, q, break_even(r, q->A->matrix), solved, err);
    learn(r, *solved);
    return rc;
}

static abut_status analyse_first(reuse *r, const abut_bsr *A, abut_err *err)
{
    double clock = abut_time_wall();
    const abut_status rc = r->has_order ? r->order.analyse(r->order.ctx, A, err) : ABUT_OK;
    r->last.analyse += abut_time_lap(&clock);
    return rc;
}

static abut_status factor_now(reuse *r, const abut_operator *A, abut_precision precision, abut_err *err)
{
    double clock = abut_time_wall();
    abut_status rc = r->has_order && !r->failed ? r->order.reorder(r->order.ctx, A->matrix, err) : ABUT_OK;
    r->last.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    rc = abut_linear_factor(&r->inner, A, precision, err);
    r->last.factor += abut_time_lap(&clock);
    r->last.factors++;
    r->last.in_double += precision == ABUT_DOUBLE;
    r->held = r->own = !rc;
    return rc;
}

static abut_status by_single_factor(reuse *r, const equation *q, int *solved, abut_err *err)
{
    abut_status rc = factor_now(r, q->A, ABUT_SINGLE, err);
    if (!rc) rc = iterate(r, q, FRESH_MOST, solved, err);
    r->no_single = !*solved;
    return rc == ABUT_E_NUMERIC ? ABUT_OK : rc;
}

static abut_status solve_directly(reuse *r, const equation *q, abut_err *err)
{
    double clock = abut_time_wall();
    const abut_status rc = abut_linear_solve(&r->inner, q->A, q->b, NULL, q->x, err);
    r->last.solve += abut_time_lap(&clock);
    return rc;
}

static abut_status by_double_factor(reuse *r, const equation *q, abut_err *err)
{
    const abut_status rc = factor_now(r, q->A, ABUT_DOUBLE, err);
    r->failed = rc == ABUT_E_NUMERIC;
    r->last.approximate = 0;
    return rc ? rc : solve_directly(r, q, err);
}

/* The first solution with a matrix: the first of the three that is good enough. */
static abut_status solve_first(reuse *r, const equation *q, abut_err *err)
{
    int solved = 0;
    r->own = 0;
    abut_status rc = q->goal && is_due(r) ? by_old_factor(r, q, &solved, err) : ABUT_OK;
    if (rc || solved) return rc;
    rc = analyse_first(r, q->A->matrix, err);
    if (!rc && q->goal && !r->no_single && abut_factor_may_be_single(&r->inner)) rc = by_single_factor(r, q, &solved, err);
    if (rc || solved) return rc;
    return by_double_factor(r, q, err);
}

static abut_status solve_again(reuse *r, equation *q, abut_err *err)
{
    int solved = 0;
    if (r->own) return solve_directly(r, q, err);
    const abut_status rc = q->goal && r->held ? by_old_factor(r, q, &solved, err) : ABUT_OK;
    if (rc || solved) return rc;
    q->goal = NULL;
    return solve_first(r, q, err);
}

/* ---- the operations ---- */

static abut_status reuse_solve(void *self, const abut_operator *A, const double *b, const abut_solve_goal *goal, double *x,
                               abut_err *err)
{
    reuse *r = self;
    equation q = { A, b, goal, x };
    r->last = (abut_reuse_info){ .approximate = r->last.approximate };
    if (!r->noted) return solve_again(r, &q, err);
    const abut_status rc = solve_first(r, &q, err);
    r->noted = rc != ABUT_OK;
    return rc;
}

static abut_status reuse_factor_values(void *self, const abut_operator *A, abut_precision precision, abut_err *err)
{
    reuse *r = self;
    (void)precision;
    if (!A->matrix) return abut_fail(err, ABUT_E_ARG, "factor reuse: needs a matrix");
    r->noted = 1;
    return ABUT_OK;
}

static abut_status reuse_analyse(void *self, const abut_operator *A, const int32_t *order, abut_err *err)
{
    reuse *r = self;
    r->held = r->own = r->failed = 0;
    return abut_linear_analyse(&r->inner, A, order, err);
}

static void reuse_begin_step(void *self)
{
    reuse *r = self;
    r->held = r->own = r->failed = r->no_single = r->wait = r->patience = 0;
    r->noted = 1;
    r->last = (abut_reuse_info){ 0 };
    abut_linear_begin_step(&r->inner);
}

static abut_status reuse_apply(void *self, const double *b, double *x, abut_err *err)
{
    const reuse *r = self;
    if (!abut_linear_can(&r->inner, ABUT_CAN_PRECONDITION))
        return abut_fail(err, ABUT_E_ARG, "linear solver %s: does not precondition", r->inner.ops->name);
    return r->inner.ops->apply(r->inner.self, b, x, err);
}

static int32_t reuse_bad_row(const void *self) { return abut_linear_bad_row(&((const reuse *)self)->inner); }

static abut_linear_stats reuse_stats(const void *self)
{
    const reuse *r = self;
    abut_linear_stats s = abut_linear_get_stats(&r->inner);
    s.iterations = r->last.iterations;
    return s;
}

static void reuse_clear(void *self)
{
    reuse *r = self;
    abut_linear_solver_clear(&r->inner);
    abut_arena_clear(&r->scratch);
}

static const abut_linear_solver_ops reuse_ops = {
    .name = "factor reuse", .help = "older factors, and those in single precision, before new ones",
    .can = ABUT_CAN_PRECONDITION, .size = sizeof(reuse),
    .begin_step = reuse_begin_step, .analyse = reuse_analyse, .factor = reuse_factor_values, .solve = reuse_solve,
    .apply = reuse_apply, .bad_row = reuse_bad_row, .stats = reuse_stats, .clear = reuse_clear,
};

abut_status abut_reuse_make(abut_linear_solver *out, abut_linear_solver *inner, const abut_reuse_order *order, abut_err *err)
{
    const abut_status rc = abut_linear_can(inner, ABUT_IS_ITERATIVE)
        ? abut_fail(err, ABUT_E_ARG, "factor reuse: linear solver %s has no factors", inner->ops->name)
        : abut_linear_solver_init(out, &reuse_ops, 1, err);
    if (rc) return abut_linear_solver_clear(inner), rc;
    reuse *r = out->self;
    r->inner = *inner;
    r->has_order = order != NULL;
    if (order) r->order = *order;
    r->noted = 1;
    *inner = (abut_linear_solver){ 0 };
    return ABUT_OK;
}

abut_linear_solver *abut_reuse_inner(const abut_linear_solver *s)
{
    return &((reuse *)s->self)->inner;
}

abut_reuse_info abut_reuse_last(const abut_linear_solver *s)
{
    return ((const reuse *)s->self)->last;
}
