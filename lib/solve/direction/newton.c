#include "solve/direction/newton.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/joint.h"
#include "model/motion.h"
#include "solve/direction/lbfgs.h"
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
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof(double) + 1;
    *s = (abut_newton_solve){ .user = opt->user, .bad_node = -1 };
    abut_status rc = linear_init(s, opt, err);
    if (!rc) rc = abut_ordering_init(&s->order, p->model->nv, orders ? &s->linear : NULL, err);
    s->rhs = malloc(bytes);
    s->sol = malloc(bytes);
    if (!rc && !(s->rhs && s->sol)) rc = abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", p->model->nv);
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

/* Sums A at the iterate in the form for the linear solver: as products if it takes them, else as a matrix. */
static abut_status newton_solve_sum(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, const abut_point *at,
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

/* Returns 1 if dir[3 nv] descends along the gradient g[3 nv]. */
static int descends(const abut_objective *p, const double *g, const double *dir)
{
    double slope = 0;
    for (size_t i = 0; i < 3 * (size_t)p->model->nv; i++) slope += g[i] * dir[i];
    return slope < 0;
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

/* Returns 1 if the last solution is by iterations on a factor that is older, or in single precision. */
static int newton_solve_is_approximate(const abut_newton_solve *s)
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

/* Solves again with the matrix of the last solve; fails as abut_newton_solve_first. */
static abut_status newton_solve_again(abut_newton_solve *s, abut_newton_matrix *A, const abut_objective *p, abut_report *rep,
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

/* ---- Newton's direction ---- */

#define PAIRS 8         /* steps kept in slow ends */

typedef struct newton {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    double *ahead;              /* [6 nv] the gradient with bounds ahead, the direction without; or Newton's; NULL until needed */
    abut_joints *joints;        /* NULL: none */
    double *push, *found;       /* [3 nv] of passes for joints; [2 njr] their multipliers, kg, what is open, m */
    abut_quasi tail;            /* steps of a slow end */
    double last;                /* m: largest entry of the last direction */
    int slow;                   /* slow directions in a row */
} newton;

static void release(void *self)
{
    newton *n = self;
    abut_newton_solve_clear(&n->solve);
    abut_newton_matrix_clear(&n->matrix);
    abut_quasi_clear(&n->tail);
    ABUT_FREE(n->ahead, n->push, n->found, n);
}

static abut_status joints_new(newton *n, abut_err *err)
{
    n->push = malloc(3 * (size_t)n->p->model->nv * sizeof *n->push);
    n->found = malloc(2 * (size_t)n->p->model->njr * sizeof *n->found);
    return n->push && n->found ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "joints of %d nodes", n->p->model->nv);
}

static abut_status make(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err)
{
    newton *n = calloc(1, sizeof *n);
    if (!n) return abut_fail(err, ABUT_E_NOMEM, "Newton direction");
    n->p = p;
    n->joints = abut_joints_of(&p->terms);
    const int straight = !p->model->nsh && !p->model->nrd;      /* steps of shells and rods are corrected: second_order.c */
    n->tail.history = straight && !n->joints && !(opt->user->search.without & ABUT_WITHOUT_PAIRS) ? PAIRS : 0;
    abut_status rc = abut_newton_matrix_init(&n->matrix, p, opt->user->search.without, err);
    if (!rc) rc = abut_newton_solve_init(&n->solve, p, opt, 1, err);
    if (!rc && n->joints) rc = joints_new(n, err);
    if (!rc && opt->instead && !n->joints && !p->step.ranks && !(opt->user->search.without & ABUT_WITHOUT_REUSE))
        rc = abut_newton_solve_iterate_instead(&n->solve, p, opt->instead, err);
    n->solve.order.degree.on = 1;
    if (rc) release(n);
    else *self = n;
    return rc;
}

static void begin_step(void *self)
{
    newton *n = self;
    abut_newton_solve_begin_step(&n->solve, &n->matrix);
    abut_quasi_begin(&n->tail);
    n->slow = 0;
    n->last = 0;
    abut_objective_majorant_forget(n->p);
    abut_objective_ahead_forget(n->p);
}

static void require_exact(void *self)
{
    newton *n = self;
    abut_objective_majorant_forget(n->p);
    n->solve.exact = 1;
}

/* Names the node at which the matrix is not positive definite. */
static void name_node(const newton *n, abut_direction_info *info)
{
    info->bad_node = n->solve.bad_node;
    info->guessed = info->bad_node < 0;
    if (info->guessed) info->bad_node = abut_newton_matrix_worst_node(&n->matrix, n->p);
}

/* Checks that all ranks have the same iterate and gradient. */
static abut_status agree(const abut_objective *p, const abut_point *at, abut_err *err)
{
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof *at->x;
    if (!p->step.ranks) return ABUT_OK;
    const uint64_t mark = abut_ranks_mark(abut_ranks_mark((uint64_t)p->nrow, at->x, bytes), at->g, bytes);
    return abut_ranks_agree(p->step.ranks, mark, "an iterate", err);
}

/* ---- joints: directions that keep or close them (energy/joint.h) ---- */

enum { PASSES_MOST = 30 };

/* Row r of C, of joint j, times dir[3 nv]. */
static double times(const abut_joints *t, int32_t j, int32_t r, const double *dir)
{
    const int32_t *node = t->model->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *C = t->C + ABUT_JOINT_WIDTH * (size_t)r;
    double sum = 0;
    for (int k = 0; k < ABUT_JOINT_WIDTH; k++)
        sum += node[k / 3] < 0 ? 0 : C[k] * dir[3 * (size_t)node[k / 3] + (size_t)(k % 3)];
    return sum;
}

/* to[3 nv] += by row r of C. */
static void add_times(const abut_joints *t, int32_t j, int32_t r, double by, double *to)
{
    const int32_t *node = t->model->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *C = t->C + ABUT_JOINT_WIDTH * (size_t)r;
    for (int k = 0; k < ABUT_JOINT_WIDTH; k++)
        if (node[k / 3] >= 0) to[3 * (size_t)node[k / 3] + (size_t)(k % 3)] += by * C[k];
}

/* rest[3 nv] = -g - H dir - C^T (found + rho e), e[njr] = C dir + gap (NULL: 0).  H: the matrix without joints. */
static void find_rest(newton *n, const double *g, const double *gap, const double *dir, double *e, double *rest)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    abut_bsr H = n->matrix.A;
    H.val = n->matrix.apart;
    abut_rows_gather(p, dir, 1, n->solve.rhs);
    abut_bsr_multiply(&H, n->solve.rhs, n->solve.sol);
    abut_rows_scatter(p, n->solve.sol, -1, rest);
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) rest[i] -= g[i];
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
            e[r] = times(n->joints, j, r, dir) + (gap ? gap[r] : 0);
            add_times(n->joints, j, r, -(n->found[r] + n->joints->rho[j] * e[r]), rest);
        }
}

/* Changes dir = -M^-1 g, M = H + rho C^T C, until H dir + C^T found = -g and C dir = -gap[njr] (NULL: 0), both to rounding, for
 * rho is far above much of H: passes with the factor of M. */
static abut_status close_joints(newton *n, const double *g, const double *gap, double *dir, abut_report *rep, abut_err *err)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    const abut_joints *t = n->joints;
    const size_t n3 = 3 * (size_t)m->nv;
    double *e = n->found + m->njr, last = INFINITY;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) n->found[r] = t->rho[j] * times(t, j, r, dir);
    for (int pass = 0; pass < PASSES_MOST && last > 4 * DBL_EPSILON * abut_largest(dir, n3); pass++) {
        find_rest(n, g, gap, dir, e, n->push);
        abut_rows_gather(p, n->push, 1, n->solve.rhs);
        n->solve.exact = 1;
        const abut_status rc = newton_solve_again(&n->solve, &n->matrix, p, rep, err);
        if (rc) return rc;
        abut_rows_scatter(p, n->solve.sol, 1, n->push);
        const double now = abut_largest(n->push, n3);
        if (!(now <= 0.5 * last)) break;
        last = now;
        for (size_t i = 0; i < n3; i++) dir[i] += n->push[i];
        for (int32_t j = 0; j < m->njo; j++)
            for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
                n->found[r] += t->rho[j] * (e[r] + times(t, j, r, n->push));
    }
    return ABUT_OK;
}

/* The objective gets the multipliers of the direction, and the weight of open rows in it. */
static void keep_multipliers(newton *n)
{
    abut_joints *t = n->joints;
    const abut_model *m = t->model;
    const double weight = n->p->step.h_force * n->p->step.h_force;
    for (int32_t j = 0; j < m->njo; j++) {
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
            t->newtons[r] += (n->found[r] + t->sigma[j] * t->g[r]) / weight;
        t->sigma[j] = t->rho[j] / ABUT_JOINT_RHO;
    }
}

/* ---- slow ends of minimisations ----
 *
 * The projected matrix is stiffer than the objective where bodies roll, twist or fold: there each direction is a small part of
 * what is left, for hundreds of iterations.  Once directions shrink slowly, they are those of L-BFGS (sparse/lbfgs.h) with the
 * matrix at hand as initial matrix: pairs of the last steps have the curvature of the objective. */

#define SHRINKS 0.5     /* slow directions have at least this part of the length before, */
#define GROWS 2         /* and at most so many times that: others leave a saddle */
#define WHOLE 0.5       /* of a direction: shorter steps say little about the end */
#define LEARN 3         /* slow directions in a row after which steps are kept, */
#define SLOW 6          /* and after which they are used */

/* m: largest entry of the last step that q knows */
static double last_step(const abut_quasi *q)
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)q->nrow; i++) most = fmax(most, fabs(q->x0[i] - q->x1[i]));
    return most;
}

/* Learns from the step to `at`; *pairs 1: the direction from there is by pairs of steps. */
static abut_status learn(newton *n, const abut_point *at, int *pairs, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &n->tail;
    const int skipped = rep->pairs_skipped;
    *pairs = 0;
    if (!q->history) return ABUT_OK;
    if (n->slow < LEARN) return abut_quasi_begin(q), ABUT_OK;
    const int had = q->has_last;
    const abut_status rc = abut_quasi_learn(q, n->p, at, rep, err);
    rep->pairs_skipped = skipped;       /* a figure of other solvers */
    if (rc) return rc;
    if (had && (!q->started || last_step(q) < WHOLE * n->last)) {
        abut_lbfgs_forget(&q->pairs);
        n->slow = 0;
    }
    q->started = 1;
    *pairs = q->pairs.n && n->slow >= SLOW && !n->solve.exact;
    return ABUT_OK;
}

typedef struct inverse {
    newton *n;
    abut_report *rep;
} inverse;

/* sol = A^-1 rhs, [3 nrow], by a first solution with A */
static abut_status apply_inverse(void *of, const double *rhs, double *sol, abut_err *err)
{
    const inverse *f = of;
    abut_newton_solve *s = &f->n->solve;
    const size_t bytes = 3 * (size_t)f->n->p->nrow * sizeof *sol;
    memcpy(s->rhs, rhs, bytes);
    const abut_status rc = abut_newton_solve_first(s, &f->n->matrix, f->n->p, f->rep, err);
    memcpy(sol, s->sol, bytes);
    return rc;
}

/* n->solve.sol = B n->solve.rhs, B of the pairs */
static abut_status solve_by_pairs(newton *n, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &n->tail;
    const size_t bytes = 3 * (size_t)n->p->nrow * sizeof *q->x1;
    inverse of = { n, rep };
    const abut_precond D = { apply_inverse, &of, n->p->nrow, NULL };
    memcpy(q->x1, n->solve.rhs, bytes);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, q->x1, q->g1, err);
    memcpy(n->solve.sol, q->g1, bytes);
    return rc;
}

/* dir = -H^-1 g, H summed at `at` with the present state of the terms; pairs: -B g. */
static abut_status solve(newton *n, const abut_point *at, const double *g, int pairs, double *dir, abut_direction_info *info,
                         abut_report *rep, abut_err *err)
{
    const abut_objective *p = n->p;
    abut_status rc = newton_solve_sum(&n->solve, &n->matrix, p, at, rep, err);
    if (rc) return rc;
    abut_rows_gather(p, g, -1, n->solve.rhs);
    n->solve.exact |= n->joints != NULL;
    rc = pairs ? solve_by_pairs(n, rep, err) : abut_newton_solve_first(&n->solve, &n->matrix, p, rep, err);
    if (rc == ABUT_E_NUMERIC) name_node(n, info);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    abut_rows_scatter(p, n->solve.sol, 1, dir);
    return n->joints ? close_joints(n, g, n->joints->g, dir, rep, err) : ABUT_OK;
}

static abut_status reserve(newton *n, abut_err *err)
{
    const int32_t nv = n->p->model->nv;
    if (!n->ahead) n->ahead = malloc(6 * (size_t)nv * sizeof *n->ahead);
    return n->ahead ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "direction of %d nodes", nv);
}

/* Replaces a dir that leads far beyond bounds of terms by one that includes them; not if a short direction may end the
 * minimisation. */
static abut_status look_at_bounds(newton *n, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                                  abut_err *err)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_at here = abut_point_at(at, p);
    if (n->solve.user->search.without & ABUT_WITHOUT_LOOK_AHEAD) return ABUT_OK;
    if (abut_largest(dir, n3) <= m->tolerance[0] * m->h[0]) return ABUT_OK;
    if (!abut_objective_ahead(p, &here, dir)) return ABUT_OK;
    const abut_status no_room = reserve(n, err);
    if (no_room) return no_room;
    double *g = n->ahead, *plain = n->ahead + n3;
    memcpy(g, at->g, n3 * sizeof *g);
    memcpy(plain, dir, n3 * sizeof *plain);
    abut_objective_ahead_gradient(p, &here, g);
    const abut_status rc = solve(n, at, g, 0, dir, info, rep, err);
    info->exact = 0, info->ahead = 1;
    if (rc || descends(p, at->g, dir)) return rc;
    abut_objective_ahead_forget(p);
    memcpy(dir, plain, n3 * sizeof *dir);
    info->ahead = 0;
    return ABUT_OK;
}

static abut_status resolve(void *self, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    newton *n = self;
    abut_rows_gather(n->p, g, -1, n->solve.rhs);
    n->solve.exact |= n->joints != NULL;
    const abut_status rc = newton_solve_again(&n->solve, &n->matrix, n->p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * n->p->nrow), rc;
    abut_rows_scatter(n->p, n->solve.sol, 1, dir);
    return n->joints ? close_joints(n, g, NULL, dir, rep, err) : ABUT_OK;
}

/* Takes Newton's direction in place of one by pairs that does not descend, or that is short while Newton's is not. */
static abut_status check_pairs(newton *n, const abut_point *at, double *dir, abut_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)n->p->model->nv;
    const double length = abut_largest(dir, n3), enough = n->p->model->tolerance[0] * n->p->model->h[0];
    const int descending = descends(n->p, at->g, dir);
    if (descending && length > enough) return ABUT_OK;
    abut_status rc = reserve(n, err);
    if (!rc) rc = resolve(n, at->g, n->ahead, rep, err);
    if (rc || (descending && abut_largest(n->ahead, n3) <= enough)) return rc;
    memcpy(dir, n->ahead, n3 * sizeof *dir);
    abut_lbfgs_forget(&n->tail.pairs);
    n->slow = 0;
    return ABUT_OK;
}

static abut_status find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep, abut_err *err)
{
    newton *n = self;
    const int exact = n->solve.exact;
    *info = (abut_direction_info){ .bad_node = -1 };
    n->solve.bad_node = -1;
    abut_objective_ahead_forget(n->p);
    int pairs = 0;
    abut_status rc = agree(n->p, at, err);
    if (!rc) rc = learn(n, at, &pairs, rep, err);
    if (!rc) rc = solve(n, at, at->g, pairs, dir, info, rep, err);
    if (!rc && pairs) rc = check_pairs(n, at, dir, rep, err);
    const double length = abut_largest(dir, 3 * (size_t)n->p->model->nv);
    if (!pairs) n->slow = length > SHRINKS * n->last && length <= GROWS * n->last ? n->slow + 1 : 0;
    n->last = length;
    info->exact = n->matrix.exact && !n->solve.shifted;
    if (!rc && !exact) rc = look_at_bounds(n, at, dir, info, rep, err);
    if (rc) return rc;
    if (n->joints) keep_multipliers(n);
    info->approximate = newton_solve_is_approximate(&n->solve);
    abut_newton_matrix_majorise(&n->matrix, n->p, at, dir);
    abut_newton_solve_stats(&n->solve, rep);
    return ABUT_OK;
}

const abut_direction_ops abut_direction_newton = {
    .name = "newton", .make = make, .begin_step = begin_step, .find = find, .require_exact = require_exact,
    .resolve = resolve, .free = release,
};
