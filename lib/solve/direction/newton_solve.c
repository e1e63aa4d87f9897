#include "solve/direction/newton_solve.h"

#include "base/par.h"
#include "base/timer.h"
#include "solve/direction/matrix.h"
#include "solve/linear_solvers.h"

#include <stdlib.h>

#define FAR 1e-3            /* relative residual of iterations while the direction is long */
#define CLOSE 1e-8          /* and when the convergence test looks at it */

abut_status abut_newton_solve_init(abut_newton_solve *s, const abut_problem *p, const abut_direction_options *opt, int orders,
                                   abut_err *err)
{
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof(double) + 1;
    *s = (abut_newton_solve){ .without = opt->without, .bad_node = -1 };
    abut_status rc = abut_linear_solver_init(&s->linear, opt->linear ? opt->linear : abut_linear_solvers[0], opt->threads, err);
    if (!rc) rc = abut_ordering_init(&s->order, p->model->nv, orders ? &s->linear : NULL, err);
    s->rhs = malloc(bytes);
    s->sol = malloc(bytes);
    if (!rc && !(s->rhs && s->sol)) rc = abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", p->model->nv);
    if (rc) abut_newton_solve_clear(s);
    return rc;
}

void abut_newton_solve_clear(abut_newton_solve *s)
{
    abut_ordering_clear(&s->order);
    abut_linear_solver_clear(&s->linear);
    abut_factor_reuse_clear(&s->reuse);
    free(s->rhs);
    free(s->sol);
    *s = (abut_newton_solve){ 0 };
}

void abut_newton_solve_begin_step(abut_newton_solve *s, abut_bsr *A)
{
    abut_ordering_begin_step(&s->order, A);
    abut_linear_begin_step(&s->linear);
    abut_factor_reuse_reset(&s->reuse);
}

abut_operator abut_newton_solve_operator(const abut_newton_solve *s, const abut_bsr *A)
{
    return (abut_operator){ .matrix = A, .where = s->order.where };
}

int abut_newton_solve_iterates(const abut_newton_solve *s)
{
    return abut_linear_can(&s->linear, ABUT_IS_ITERATIVE);
}

void abut_rows_gather(const abut_problem *p, const double *v, double scale, double *rows)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3 && p->row[i] >= 0; k++) rows[3 * p->row[i] + k] = scale * v[3 * i + k];
}

void abut_rows_scatter(const abut_problem *p, const double *rows, double scale, double *v)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3; k++) v[3 * i + k] = p->row[i] < 0 ? 0 : scale * rows[3 * p->row[i] + k];
}

static int may_reuse(const abut_newton_solve *s)
{
    return !(s->without & ABUT_WITHOUT_REUSE);
}

static abut_status factor_once(abut_newton_solve *s, const abut_bsr *A, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    return abut_linear_factor(&s->linear, &of, ABUT_DOUBLE, err);
}

/* Projection leaves the matrix positive definite up to rounding; a shift of the diagonal mends the rounding. */
static abut_status factor(abut_newton_solve *s, abut_bsr *A, abut_report *rep, abut_err *err)
{
    abut_status rc = factor_once(s, A, err);
    double *whole = s->sol;     /* the diagonal without a shift */
    for (int32_t j = 0; j < A->n && rc == ABUT_E_NUMERIC; j++)
        for (int k = 0; k < 3; k++) whole[3 * j + k] = A->val[9 * A->ptr[j] + 4 * (size_t)k];
    for (double shift = 1e-10; rc == ABUT_E_NUMERIC && shift < 1; shift *= 100) {
        rep->shifts++;
        for (int32_t j = 0; j < A->n; j++)
            for (int k = 0; k < 3; k++) A->val[9 * A->ptr[j] + 4 * (size_t)k] = (1 + shift) * whole[3 * j + k];
        rc = factor_once(s, A, err);
    }
    return rc;
}

/* What conjugate gradients leave unsolved must not be seen by the convergence test, which allows h tolerance. */
static double near_the_end(const abut_problem *p)
{
    return 2 * p->model->h[0] * p->model->tolerance[0];
}

void abut_newton_solve_stats(const abut_newton_solve *solve, abut_report *rep)
{
    const abut_linear_stats s = abut_linear_get_stats(&solve->linear);
    rep->factor_nnz = s.nnz;
    rep->factor_flops = s.flops;
    rep->factor_bytes = (double)s.bytes;
}

abut_status abut_newton_factor(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    abut_status rc = abut_newton_solve_iterates(s) ? ABUT_OK : abut_ordering_analyse_to_factor(&s->order, A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc) rc = factor(s, A, rep, err);
    rep->seconds.factor += abut_time_lap(&clock);
    rep->factorisations += !abut_newton_solve_iterates(s);
    rep->factorisations_double += !abut_newton_solve_iterates(s);
    if (rc == ABUT_E_NUMERIC) s->bad_node = abut_newton_matrix_node_of_row(p, abut_linear_bad_row(&s->linear));
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

abut_status abut_newton_factor_single(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, int *single, abut_report *rep,
                                      abut_err *err)
{
    double clock = abut_time_wall();
    *single = 0;
    abut_status rc = s->order.analysed ? ABUT_OK : abut_ordering_analyse(&s->order, A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    if (may_reuse(s) && abut_factor_reuse_is_coarse(&s->reuse, &s->linear)) {
        const abut_operator of = abut_newton_solve_operator(s, A);
        rc = abut_linear_factor(&s->linear, &of, ABUT_SINGLE, err);
        rep->seconds.factor += abut_time_lap(&clock);
        rep->factorisations++;
        *single = !rc;
        s->reuse.coarse = rc != ABUT_OK;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    return abut_newton_factor(s, A, p, rep, err);
}

static abut_status iterate(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    const abut_solve_goal goal = { FAR, CLOSE, near_the_end(p) };
    const abut_status rc = abut_linear_solve(&s->linear, &of, s->rhs, &goal, s->sol, err);
    rep->cg_iterations += abut_linear_get_stats(&s->linear).iterations;
    return rc;
}

/* s->sol = A^-1 rhs by iterations on a preconditioner of A. */
static abut_status solve_by_iterations(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_status rc = abut_newton_factor(s, A, p, rep, err);
    if (rc) return rc;
    double clock = abut_time_wall();
    rc = iterate(s, A, p, rep, err);
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

static abut_status solve_by_factor(abut_newton_solve *s, const abut_bsr *A, abut_err *err)
{
    const abut_operator of = abut_newton_solve_operator(s, A);
    return abut_linear_solve(&s->linear, &of, s->rhs, NULL, s->sol, err);
}

/* The same by the factor that there is, by one in single precision, or in double: the first that is good enough. */
static abut_status solve_whole(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &s->reuse;
    const double near = near_the_end(p);
    int solved = 0;
    abut_status rc = ABUT_OK;
    double clock = abut_time_wall();
    if (s->factored != s->order.analyses) u->held = 0;
    if (may_reuse(s) && abut_factor_reuse_is_due(u, &s->linear))
        rc = abut_factor_reuse_old(u, &s->linear, s->order.analysed, A, s->rhs, near, s->sol, &solved, rep, err);
    u->old = solved;
    rep->seconds.solve += abut_time_lap(&clock);
    if (!rc && !solved && !s->order.analysed) rc = abut_ordering_analyse(&s->order, A, err);
    const int coarse = !rc && !solved && may_reuse(s) && abut_factor_reuse_is_coarse(u, &s->linear);
    if (coarse) rc = abut_ordering_analyse_to_factor(&s->order, A, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc && coarse)
        rc = abut_factor_reuse_single(u, &s->linear, A, s->rhs, near, s->sol, &solved, rep, err);
    if (coarse) s->factored = s->order.analyses;
    rep->seconds.factor += abut_time_lap(&clock);
    if (!rc && !solved) rc = abut_newton_factor(s, A, p, rep, err);
    clock = abut_time_wall();
    if (rc || solved) return rc;
    u->held = 1;
    s->factored = s->order.analyses;
    u->insist = u->approximate = 0;
    rc = solve_by_factor(s, A, err);
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

abut_status abut_newton_solve_first(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    return abut_newton_solve_iterates(s) ? solve_by_iterations(s, A, p, rep, err) : solve_whole(s, A, p, rep, err);
}

abut_status abut_newton_solve_again(abut_newton_solve *s, abut_bsr *A, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &s->reuse;
    const double clock = abut_time_wall(), near = near_the_end(p);
    int solved = 1;
    abut_status rc;
    if (abut_newton_solve_iterates(s)) rc = iterate(s, A, p, rep, err);
    else if (!u->old) rc = solve_by_factor(s, A, err);
    else rc = abut_factor_reuse_old(u, &s->linear, s->order.analysed, A, s->rhs, near, s->sol, &solved, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || solved) return rc;
    u->insist = 1;
    return solve_whole(s, A, p, rep, err);
}
