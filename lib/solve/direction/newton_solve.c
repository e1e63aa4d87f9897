#include "solve/direction/newton.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "model/motion.h"
#include "sparse/linear_solver.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR 0.1             /* largest residual of iterations, relative to the right-hand side */
#define CLOSE 1e-8          /* relative residual at which they end for any error */
#define FRACTION_ALL 0.2    /* largest error, relative to the direction */
#define WITHIN_ALL 0.05     /* largest error of directions below near_the_end, relative to that */

/* Shifts of a matrix that is not positive definite, as shares of its diagonal: the largest against rounding, and the largest if
 * Hessians may be indefinite.  A direction descends with any shift; above SMALL_SHIFT it is shorter than Newton's. */
#define ROUNDING_SHIFT 1
#define LARGEST_SHIFT 1e6
#define SMALL_SHIFT 1e-7

/* Bounds for iterations on a factor that is older than the matrix or in single precision: */
#define FORCE 0.1           /* largest residual, relative to the right-hand side */
#define FRACTION 0.1        /* largest error, relative to the direction, as M^-1 r estimates it before the last iteration */
#define WITHIN 1e-3         /* largest error of directions below near_the_end, relative to that */

/* ---- operations of the ordering for factor reuse ---- */

static int is_analysed(const void *ctx) { return ((const abut_ordering *)ctx)->analysed; }

static abut_status analyse(void *ctx, const abut_bsr *A, abut_err *err)
{
    return is_analysed(ctx) ? ABUT_OK : abut_ordering_analyse(ctx, A, err);
}

static abut_status reorder(void *ctx, const abut_bsr *A, abut_err *err)
{
    return abut_ordering_analyse_to_factor(ctx, A, err);
}

/* ---- */

/* Factors of one matrix are reused for others; iterations have none. */
static abut_status linear_init(abut_newton_solve *s, const abut_direction_options *opt, abut_err *err)
{
    const abut_reuse_order order = { is_analysed, analyse, reorder, &s->order };
    abut_linear_solver solver;
    const abut_linear_solver_ops *ops = opt->linear ? opt->linear : abut_linear_solvers[0];
    const abut_status rc = abut_linear_solver_init(&solver, ops, opt->user->linear.threads, err);
    if (rc) return rc;
    if (!abut_linear_can(&solver, ABUT_IS_ITERATIVE)) return abut_reuse_make(&s->linear, &solver, &order, err);
    s->linear = solver;
    return ABUT_OK;
}

abut_status abut_newton_solve_init(abut_newton_solve *s, const abut_objective *p, const abut_direction_options *opt, int orders,
                                   abut_err *err)
{
    assert(p && opt);
    const size_t n = 3 * (size_t)p->model->nv;
    *s = (abut_newton_solve){ .user = opt->user, .bad_node = -1 };
    abut_status rc = linear_init(s, opt, err);
    if (!rc) rc = abut_ordering_init(&s->order, p->model->nv, orders ? &s->linear : NULL, err);
    if (!rc && !ABUT_ARRAYS(ABUT_ITEMS(s->rhs, n), ABUT_ITEMS(s->sol, n)))
        rc = abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", p->model->nv);
    if (rc) abut_newton_solve_clear(s);
    return rc;
}

abut_status abut_newton_solve_iterate_instead(abut_newton_solve *s, const abut_objective *p,
                                              const abut_linear_solver_ops *instead, abut_err *err)
{
    const abut_status rc = abut_linear_solver_init(&s->instead, instead, s->user->linear.threads, err);
    return rc ? rc : abut_ordering_iterate_instead(&s->order, p->model->nv, &s->instead, err);
}

void abut_newton_solve_clear(abut_newton_solve *s)
{
    abut_ordering_clear(&s->order);
    abut_linear_solver_clear(&s->linear);
    abut_linear_solver_clear(&s->instead);
    ABUT_FREE(s->rhs, s->sol);
    *s = (abut_newton_solve){ 0 };
}

void abut_newton_solve_begin_step(abut_newton_solve *s, abut_newton_matrix *A)
{
    abut_newton_matrix_begin_step(A, &s->order);
    abut_linear_begin_step(&s->linear);
    if (s->instead.ops) abut_linear_begin_step(&s->instead);
    s->exact = s->no_single = 0;
}

abut_operator abut_newton_solve_operator(const abut_newton_solve *s, const abut_newton_matrix *A)
{
    return abut_newton_matrix_operator(A, s->order.where);
}

abut_status abut_newton_solve_sum(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, const abut_point *at,
                                  abut_report *rep, abut_err *err)
{
    if (abut_linear_can(&s->linear, ABUT_IS_ITERATIVE | ABUT_CAN_MATRIX_FREE))
        return abut_newton_matrix_products(A, &s->linear, p, at, rep, err);
    return abut_newton_matrix_sum(A, &s->order, p, at, rep, err);
}

/* Returns the solver of this step. */
static const abut_linear_solver *solver_of(const abut_newton_solve *s)
{
    return s->order.by_iterations ? &s->instead : &s->linear;
}

int abut_newton_solve_iterates(const abut_newton_solve *s)
{
    return abut_linear_can(solver_of(s), ABUT_IS_ITERATIVE);
}

void abut_rows_gather(const abut_objective *p, const double *v, double scale, double *rows)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3 && p->row[i] >= 0; k++) rows[3 * p->row[i] + k] = scale * v[3 * i + k];
    abut_locks_keep(p->model, p->row, NULL, rows);
}

void abut_rows_scatter(const abut_objective *p, const double *rows, double scale, double *v)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3; k++) v[3 * i + k] = p->row[i] < 0 ? 0 : scale * rows[3 * p->row[i] + k];
    abut_locks_keep(p->model, NULL, NULL, v);
}

static int may_reuse(const abut_newton_solve *s)
{
    return !(s->user->search.without & ABUT_WITHOUT_REUSE);
}

/* Returns the solver that factors at once, not when it solves. */
static abut_linear_solver *prompt_solver(abut_newton_solve *s)
{
    return abut_newton_solve_iterates(s) ? &s->linear : abut_reuse_inner(&s->linear);
}

int abut_newton_solve_is_approximate(const abut_newton_solve *s)
{
    return !abut_newton_solve_iterates(s) && abut_reuse_last(&s->linear).approximate;
}

static void report_seconds(const abut_newton_solve *s, abut_report *rep)
{
    const abut_reuse_info last = abut_reuse_last(&s->linear);
    rep->seconds.analyse += last.analyse;
    rep->seconds.factor += last.factor;
    rep->seconds.solve += last.solve;
}

static abut_status blame(abut_newton_solve *s, const abut_objective *p, abut_status rc, abut_err *err)
{
    if (rc == ABUT_E_NUMERIC) s->bad_node = abut_newton_matrix_node_of_row(p, abut_linear_bad_row(&s->linear));
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

/* m: twice the direction that ends a minimisation.  Errors far below it do not change its end. */
static double near_the_end(const abut_objective *p)
{
    return 2 * p->model->h[0] * p->model->tolerance[0];
}

/* most: iterations; 0: by the linear solver. */
static abut_status iterate(abut_newton_solve *s, abut_linear_solver *linear, int most, const abut_newton_matrix *A,
                           const abut_objective *p, abut_report *rep, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    const double near = near_the_end(p);
    const abut_solve_goal goal = { .far = FAR, .close = CLOSE, .fraction = FRACTION_ALL, .near = near,
                                   .within = WITHIN_ALL * near, .drop = s->user->linear.cg_tolerance, .most = most };
    double clock = abut_time_wall();
    const abut_status rc = abut_linear_solve(linear, &of, s->rhs, &goal, s->sol, err);
    rep->cg_iterations += abut_linear_get_stats(linear).iterations;
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

/* A factor of A in double precision; solve: and s->sol = A^-1 s->rhs by it.  *hard 1: iterations fail although A is definite. */
static abut_status factor_once(abut_newton_solve *s, const abut_newton_matrix *A, const abut_objective *p, int solve, int *hard,
                               abut_report *rep, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    *hard = 0;
    if (!solve || abut_newton_solve_iterates(s)) {
        double clock = abut_time_wall();
        abut_status rc = abut_linear_factor(prompt_solver(s), &of, ABUT_DOUBLE, err);
        rep->seconds.factor += abut_time_lap(&clock);
        if (rc || !solve) return rc;
        rc = iterate(s, &s->linear, 0, A, p, rep, err);
        *hard = rc && abut_linear_get_stats(&s->linear).iterations;
        return rc;
    }
    abut_status rc = abut_linear_factor(&s->linear, &of, ABUT_DOUBLE, err);
    if (!rc) rc = abut_linear_solve(&s->linear, &of, s->rhs, NULL, s->sol, err);
    report_seconds(s, rep);
    return rc;
}

/* Factors A with increasing shifts of the diagonal.  A projected matrix is positive definite up to rounding, and needs a small
 * shift; Hessians that are not projected need larger ones. */
static abut_status factor_shifted(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, int solve,
                                  abut_report *rep, abut_err *err)
{
    const int indefinite = solve && abut_barrier_state_of(&p->terms)->curvature.ops->indefinite;
    const double most = indefinite ? LARGEST_SHIFT : ROUNDING_SHIFT;
    double *whole = malloc((3 * (size_t)p->nrow + 1) * sizeof *whole);
    abut_status rc = whole ? ABUT_E_NUMERIC : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d rows", p->nrow);
    int first = 1, hard = 0;
    for (double shift = 1e-10; rc == ABUT_E_NUMERIC && !hard && shift < most; shift *= shift < 1e-2 ? 100 : 4) {
        rep->shifts++;
        rc = abut_newton_matrix_shift(A, shift, first, whole, err);
        if (!rc) rc = factor_once(s, A, p, solve, &hard, rep, err);
        s->shifted = indefinite && shift > SMALL_SHIFT;
        first = 0;
    }
    free(whole);
    return rc;
}

void abut_newton_solve_stats(const abut_newton_solve *solve, abut_report *rep)
{
    const abut_linear_stats s = abut_linear_get_stats(solver_of(solve));
    rep->factor_nnz = s.nnz;
    rep->factor_flops = s.flops;
    rep->factor_bytes = (double)s.bytes;
}

abut_status abut_newton_factor(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, abut_report *rep,
                               abut_err *err)
{
    double clock = abut_time_wall();
    int hard;
    abut_status rc = abut_newton_solve_iterates(s) ? ABUT_OK : abut_ordering_analyse_to_factor(&s->order, &A->A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc) rc = factor_once(s, A, p, 0, &hard, rep, err);
    if (rc == ABUT_E_NUMERIC) rc = factor_shifted(s, A, p, 0, rep, err);
    rep->factorisations += !abut_newton_solve_iterates(s);
    rep->factorisations_double += !abut_newton_solve_iterates(s);
    return blame(s, p, rc, err);
}

abut_status abut_newton_factor_single(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, int *single,
                                      abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    *single = 0;
    abut_status rc = analyse(&s->order, &A->A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    if (may_reuse(s) && !s->exact && !s->no_single && abut_factor_may_be_single(prompt_solver(s))) {
        const abut_operator of = abut_newton_solve_operator(s, A);
        rc = abut_linear_factor(prompt_solver(s), &of, ABUT_SINGLE, err);
        rep->seconds.factor += abut_time_lap(&clock);
        rep->factorisations++;
        *single = !rc;
        s->no_single = rc != ABUT_OK;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    return abut_newton_factor(s, A, p, rep, err);
}

/* Solves in a step by iterations.  *solved 0: they failed or cost more than the factor that they spare, and the rest of the step
 * is by factors. */
static abut_status iterate_instead(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, int first, int *solved,
                                   abut_report *rep, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    double clock = abut_time_wall();
    abut_status rc = first ? abut_linear_factor(&s->instead, &of, ABUT_DOUBLE, err) : ABUT_OK;
    rep->seconds.factor += abut_time_lap(&clock);
    const size_t bytes = abut_linear_get_stats(&s->instead).bytes;
    const int most = 1 + (int)fmin(abut_iterations_worth(abut_ordering_spared(&s->order), bytes, A->A.nnz), INT_MAX / 2);
    if (!rc) rc = iterate(s, &s->instead, most, A, p, rep, err);
    *solved = !rc;
    if (rc != ABUT_E_NUMERIC) return rc;
    clock = abut_time_wall();
    rc = abut_ordering_factor_after_all(&s->order, &A->A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    rep->iterations_given_up++;
    return rc ? rc : abut_linear_factor(&s->linear, &of, ABUT_DOUBLE, err);
}

/* Solves by factors, as exactly as the search needs; exact: by one of A in double precision. */
static abut_status solve_whole(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, int exact, abut_report *rep,
                               abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    const double near = near_the_end(p);
    const abut_solve_goal goal = { .far = FORCE, .near = near, .fraction = FRACTION, .within = WITHIN * near };
    abut_status rc = abut_linear_solve(&s->linear, &of, s->rhs, exact ? NULL : &goal, s->sol, err);
    const abut_reuse_info last = abut_reuse_last(&s->linear);
    rep->factorisations += last.factors;
    rep->factorisations_double += last.in_double;
    rep->cg_iterations += last.iterations;
    report_seconds(s, rep);
    if (rc == ABUT_E_NUMERIC) rc = factor_shifted(s, A, p, 1, rep, err);
    if (!rc && abut_reuse_last(&s->linear).in_double) s->exact = 0;
    return blame(s, p, rc, err);
}

abut_status abut_newton_solve_first(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, abut_report *rep,
                                    abut_err *err)
{
    abut_status rc;
    int solved = 0, hard;
    s->shifted = 0;
    if (s->order.by_iterations) {
        rc = iterate_instead(s, A, p, 1, &solved, rep, err);
        if (rc || solved) return rc;
    } else if (abut_newton_solve_iterates(s)) {
        rc = factor_once(s, A, p, 1, &hard, rep, err);
        if (rc == ABUT_E_NUMERIC && !hard) rc = factor_shifted(s, A, p, 1, rep, err);
        return hard ? rc : blame(s, p, rc, err);
    }
    const abut_operator of = abut_newton_solve_operator(s, A);
    rc = abut_linear_factor(&s->linear, &of, ABUT_DOUBLE, err);
    return rc ? rc : solve_whole(s, A, p, s->exact || !may_reuse(s), rep, err);
}

abut_status abut_newton_solve_again(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, abut_report *rep,
                                    abut_err *err)
{
    int solved = 0;
    if (s->order.by_iterations) {
        const abut_status rc = iterate_instead(s, A, p, 0, &solved, rep, err);
        if (rc || solved) return rc;
    } else if (abut_newton_solve_iterates(s)) {
        return iterate(s, &s->linear, 0, A, p, rep, err);
    }
    return solve_whole(s, A, p, 0, rep, err);
}
