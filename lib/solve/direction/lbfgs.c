/* Quasi-Newton directions: p = -B g, B the limited-memory BFGS operator (sparse/lbfgs.h) of the last iterations on an initial
 * matrix of the first iterate of the minimisation (Li 2020, 3.4; Liu 2018, 7.2): solve/direction/initial.h has them.  When
 * contacts have changed since, or the curvature along the last step was not the one that it has, there is a new one once its
 * directions bring little.
 *
 * The objective decides what is remembered: when it changes (barrier stiffness, augmented Lagrangian) the pairs are forgotten
 * and there is a new initial matrix.  All of it ends with the minimisation, so a restart from a frame gives the same bytes.
 *
 * A short quasi-Newton direction does not prove that a minimum is near.  Where the stopping rule is the Newton direction, one is
 * computed when p is short, by conjugate gradients with the initial matrix as preconditioner; it is taken, and alone can end
 * the minimisation; how short is learnt from those that could not. */
#include "base/arena.h"
#include "base/par.h"
#include "base/timer.h"
#include "solve/direction/initial.h"
#include "solve/directions.h"
#include "sparse/lbfgs.h"
#include "sparse/pcg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_TRIAL 0.1  /* first trial of the search: Li 2020, eq. 3.14 */
/* after a direction that was short while Newton's was not, the next one is looked at when it is this much shorter still, but at
 * most so much */
#define DISTRUST 0.5
#define LEAST_TRUST 0.05
/* as contacts change the initial matrix goes stale: it is made anew when this many iterations have not made the decrement
 * this much smaller; */
#define PATIENCE 5
#define PROGRESS 0.1
/* or this many, where the last step has met a curvature that is so many times more or less than the matrix has: bodies that are
 * pulled or crushed far in one step leave the Hessian of its start behind */
#define PATIENCE_BENT 3
#define BENT 2
#define SAME_GAP 1.25       /* barriers whose smallest gap has changed by less are as stiff as they were */
/* Newton directions by conjugate gradients: relative residual while the direction is long and when the convergence test looks
 * at it; iterations before the initial matrix is made anew, and at all */
#define FAR 1e-3
#define CLOSE 1e-8
#define BEFORE_RENEWAL 200
#define MOST 5000

/* What is known of the objective along the minimisation. */
typedef struct quasi {
    int history;            /* pairs kept */
    int proves;             /* short directions are checked against Newton's */
    int started;            /* there is an initial matrix */
    int required;           /* the next direction shall be Newton's: this one led nowhere */
    int changes;            /* of the objective that it knows: abut_problem */
    int32_t nrow;
    struct contacts_seen {  /* contacts that this initial matrix has seen */
        uint64_t key;       /* of their vertices */
        double gap;         /* m: the smallest */
    } contacts;
    int age, mark_age;      /* iterations with this initial matrix, those of them before the last progress */
    double mark_slope;      /* kg m^2, there */
    double curvature;       /* kg: that the initial matrix has along the last direction, for a squared length; 0: not known */
    double bend;            /* what the last step has met over that */
    double trust;           /* a quasi-Newton direction is at least this part of Newton's, as far as it has been seen */
    abut_lbfgs pairs;
    int has_last;           /* x0, g0 are the iterate before */
    double *x0, *g0, *x1, *g1;  /* [3 nrow] */
    size_t cap;
} quasi;

typedef struct lbfgs {
    const abut_problem *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    const abut_initial_ops *ops;
    void *initial;
    quasi quasi;
    int exact;              /* the direction is Newton's */
    abut_arena scratch;
} lbfgs;

static void quasi_begin(quasi *q)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = q->has_last = q->required = 0;
    q->trust = 1;
}

static void quasi_clear(quasi *q)
{
    abut_lbfgs_clear(&q->pairs);
    free(q->x0);
    free(q->g0);
    free(q->x1);
    free(q->g1);
}

static abut_status reserve(quasi *q, int32_t nrow, abut_err *err)
{
    const size_t n = 3 * (size_t)nrow;
    if (n > q->cap) {
        double **const field[] = { &q->x0, &q->g0, &q->x1, &q->g1 };
        q->cap = 0;
        for (int i = 0; i < 4; i++) {
            free(*field[i]);
            *field[i] = malloc(n * sizeof(double));
            if (!*field[i]) return abut_fail(err, ABUT_E_NOMEM, "quasi-Newton direction: %d nodes", nrow);
        }
        q->cap = n;
    }
    return abut_lbfgs_size(&q->pairs, n, q->history, err);
}

/* Curvature along the youngest pair, over the squared length. */
static double curvature_met(const abut_lbfgs *l)
{
    const double *s = l->s + (size_t)l->newest * l->size;
    return l->ys[l->newest] / abut_dot(s, s, l->size, l->part);
}

/* Takes in the iterate: what the step to it has taught, unless the objective is another one since. */
static abut_status learn(quasi *q, const abut_problem *p, const abut_iterate *at, abut_report *rep, abut_err *err)
{
    if (!q->started || q->nrow != p->nrow || q->changes != p->changes) {
        const abut_status rc = reserve(q, p->nrow, err);
        if (rc) return rc;
        q->started = q->has_last = 0;
        q->nrow = p->nrow;
        q->changes = p->changes;
    }
    abut_rows_gather(p, at->x, 1, q->x1);
    abut_rows_gather(p, at->g, 1, q->g1);
    q->bend = 1;
    if (q->has_last) {
        const int kept = abut_lbfgs_push(&q->pairs, q->x0, q->x1, q->g0, q->g1);
        if (kept && q->curvature > 0) q->bend = curvature_met(&q->pairs) / q->curvature;
        rep->pairs_skipped += !kept && q->history;
    }
    q->curvature = 0;
    double *const x0 = q->x0, *const g0 = q->g0;
    q->x0 = q->x1;
    q->g0 = q->g1;
    q->x1 = x0;
    q->g1 = g0;
    q->has_last = 1;
    return ABUT_OK;
}

/* d->solve.sol = B g, and its product with g, the slope of -d->solve.sol but for the sign. */
static abut_status apply(lbfgs *d, int symmetric, double *slope, abut_err *err)
{
    const quasi *q = &d->quasi;
    const abut_precond D = d->ops->precond(d->initial, symmetric);
    memcpy(d->solve.rhs, q->g0, 3 * (size_t)q->nrow * sizeof *d->solve.rhs);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, d->solve.rhs, d->solve.sol, err);
    if (!rc) *slope = abut_dot(q->g0, d->solve.sol, 3 * (size_t)q->nrow, q->pairs.part);
    return rc;
}

/* The same, descending: without the pairs, and then with a symmetric initial matrix, if need be. */
static abut_status apply_down(lbfgs *d, double *slope, abut_report *rep, abut_err *err)
{
    abut_status rc = apply(d, 0, slope, err);
    for (int symmetric = 0; !rc && !(*slope > 0) && symmetric < 2; symmetric++) {
        abut_lbfgs_forget(&d->quasi.pairs);
        rep->not_descending++;
        rc = apply(d, symmetric, slope, err);
    }
    return rc;
}

static uint64_t mix(uint64_t key, int32_t value)
{
    return (key ^ (uint32_t)value) * 0x100000001b3;     /* FNV-1a, by numbers */
}

static struct contacts_seen contacts_at(const abut_problem *p, const abut_pairs *pairs)
{
    uint64_t key = 0xcbf29ce484222325;
    for (size_t i = 0; i < pairs->n; i++)
        for (int k = 0; k < 4; k++) key = mix(key, pairs->vert[i][k]);
    for (size_t i = 0; i < pairs->n_plane; i++) key = mix(key, pairs->plane_vert[i]);
    return (struct contacts_seen){ key, abut_pairs_smallest_gap(&p->cm, pairs, NULL) };
}

/* There is friction, or contacts are others than those that the initial matrix has seen. */
static int contacts_changed(const quasi *q, const abut_problem *p, const abut_pairs *pairs)
{
    if (abut_lag_of(&p->terms)->n) return 1;
    if (pairs->n + pairs->n_plane == 0) return 0;
    const struct contacts_seen now = contacts_at(p, pairs);
    return now.key != q->contacts.key || now.gap > SAME_GAP * q->contacts.gap || q->contacts.gap > SAME_GAP * now.gap;
}

static abut_status renew(lbfgs *d, const abut_iterate *at, abut_report *rep, abut_err *err)
{
    const abut_initial_at where = { d->p, at, &d->matrix, &d->solve };
    quasi *q = &d->quasi;
    abut_status rc = ABUT_OK;
    rep->initial_matrices++;
    if (d->ops->needs & ABUT_NEEDS_MATRIX) rc = abut_newton_matrix_sum(&d->matrix, &d->solve.order, d->p, at, rep, err);
    const double clock = abut_time_wall();
    if (!rc) rc = d->ops->factor(d->initial, &where, rep, err);
    if (!(d->ops->needs & ABUT_NEEDS_FACTOR)) rep->seconds.factor += abut_time_wall() - clock;
    if (rc) return rc;
    abut_lbfgs_forget(&q->pairs);
    q->started = 1;
    q->contacts = contacts_at(d->p, at->pairs);
    q->age = q->mark_age = 0;
    q->mark_slope = INFINITY;
    return ABUT_OK;
}

/* Contacts or curvature have changed too much for the initial matrix, going by what its directions bring: slope = g B g is twice
 * the decrease that they promise. */
static int is_stale(quasi *q, const abut_problem *p, const abut_pairs *pairs, double slope)
{
    q->age++;
    if (!(slope > PROGRESS * q->mark_slope)) {
        q->mark_slope = slope;
        q->mark_age = q->age;
    }
    const int idle = q->age - q->mark_age, bent = !(q->bend * BENT >= 1 && q->bend <= BENT);
    return (bent && idle >= PATIENCE_BENT) || (idle >= PATIENCE && contacts_changed(q, p, pairs));
}

/* d->solve.sol = B g with the factor just made solves A sol = g well enough: what is left of g is no more than this. */
#define FAIR 0.1

static int is_fair(lbfgs *d)
{
    const size_t n = 3 * (size_t)d->matrix.A.n;
    const double *g = d->quasi.g0;
    abut_bsr_multiply(&d->matrix.A, d->solve.sol, d->solve.rhs);
    for (size_t i = 0; i < n; i++) d->solve.rhs[i] -= g[i];
    double *part = d->quasi.pairs.part;
    const double left2 = abut_dot(d->solve.rhs, d->solve.rhs, n, part), all2 = abut_dot(g, g, n, part);
    return left2 <= FAIR * FAIR * all2;
}

/* Where the search shall begin: at the minimum of the quadratic model with the last Newton matrix, Li 2020, eq. 3.14.  Where
 * the initial matrix has needed none, directions are tried whole (Liu 2018, 4.2). */
static double first_trial(lbfgs *d, double slope)
{
    if (!(d->ops->needs & ABUT_NEEDS_MATRIX)) return 1;
    abut_bsr_multiply(&d->matrix.A, d->solve.sol, d->solve.rhs);
    const size_t n = 3 * (size_t)d->matrix.A.n;
    const double curvature = abut_dot(d->solve.sol, d->solve.rhs, n, d->quasi.pairs.part);
    if (!(curvature > 0)) return 1;
    d->quasi.curvature = curvature / abut_dot(d->solve.sol, d->solve.sol, n, d->quasi.pairs.part);
    return fmin(1, fmax(SHORTEST_TRIAL, slope / curvature));
}

static abut_status solve_to(lbfgs *d, double tolerance, int most, int *done, abut_report *rep, abut_err *err)
{
    const abut_precond M = d->ops->precond(d->initial, 1);
    const abut_operator A = { .matrix = &d->matrix.A };
    abut_pcg_report pcg = { 0 };
    const abut_status rc = abut_pcg_solve(&A, &M, d->quasi.g0, d->solve.sol, (abut_pcg_opts){ tolerance, most }, &pcg,
                                          &d->scratch, err);
    rep->cg_iterations += pcg.iterations;
    *done = pcg.converged;
    if (rc || *done || most < MOST) return rc;
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g",
                     pcg.residual, pcg.iterations, tolerance);
}

/* d->solve.sol = A^-1 g with the Newton matrix of the iterate, by conjugate gradients on the initial matrix. */
static abut_status newton(lbfgs *d, const abut_iterate *at, abut_report *rep, abut_err *err)
{
    const abut_problem *p = d->p;
    const double close = p->model->tolerance[0] * p->model->h[0];
    const size_t n = 3 * (size_t)p->nrow;
    int done = 0, most = BEFORE_RENEWAL;
    rep->newton_solves++;
    abut_objective_majorant_forget(p);      /* friction by its second derivative */
    d->quasi.required = d->solve.exact = 0;
    abut_status rc = abut_newton_matrix_sum(&d->matrix, &d->solve.order, p, at, rep, err);
    while (!rc && !done) {
        const double clock = abut_time_wall();
        rc = solve_to(d, FAR, most, &done, rep, err);
        if (!rc && done && abut_largest(d->solve.sol, n) <= 2 * close) rc = solve_to(d, CLOSE, most, &done, rep, err);
        rep->seconds.solve += abut_time_wall() - clock;
        if (rc || done) break;
        rc = renew(d, at, rep, err);
        most = MOST;
    }
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

/* d->solve.sol = B g for the iterate; *fresh 1: without pairs, the initial matrix is of this iterate. */
static abut_status direct(lbfgs *d, const abut_iterate *at, double *slope, int *fresh, abut_report *rep, abut_err *err)
{
    quasi *q = &d->quasi;
    *fresh = !q->started;
    abut_status rc = *fresh ? renew(d, at, rep, err) : ABUT_OK;
    const double clock = abut_time_wall();
    if (!rc) rc = apply_down(d, slope, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || *fresh || !is_stale(q, d->p, at->pairs, *slope)) return rc;
    *fresh = 1;
    rc = renew(d, at, rep, err);
    return rc ? rc : apply_down(d, slope, rep, err);
}

static int is_exact(const lbfgs *d)
{
    return d->ops->is_exact && d->ops->is_exact(d->initial);
}

/* A better factor of the initial matrix just found, if there is one and this one is not fair. */
static abut_status refine(lbfgs *d, const abut_iterate *at, double *slope, abut_report *rep, abut_err *err)
{
    const abut_initial_at where = { d->p, at, &d->matrix, &d->solve };
    if (!d->ops->refine || is_exact(d) || is_fair(d)) return ABUT_OK;
    const abut_status rc = d->ops->refine(d->initial, &where, rep, err);
    return rc ? rc : apply_down(d, slope, rep, err);
}

/* Newton's direction is wanted: this one, which the search would try from `trial` on, is short, or no good. */
static int wants_proof(const lbfgs *d, double slope, double length, double close)
{
    const quasi *q = &d->quasi;
    return q->required || !(slope > 0) || (q->proves && length <= q->trust * close);
}

/* -sol / *trial is the direction at the iterate. */
static abut_status direction(lbfgs *d, const abut_iterate *at, double *trial, abut_report *rep, abut_err *err)
{
    quasi *q = &d->quasi;
    const double close = d->p->model->tolerance[0] * d->p->model->h[0];
    double slope = 0;
    int fresh = 0;
    abut_status rc = learn(q, d->p, at, rep, err);
    if (!rc) rc = direct(d, at, &slope, &fresh, rep, err);
    if (!rc && fresh) rc = refine(d, at, &slope, rep, err);
    if (rc) return rc;

    /* a factor of the whole Newton matrix gives Newton's direction, unless it has the majorant of friction */
    d->exact = fresh && is_exact(d) && abut_objective_majorant_is_exact(d->p);
    *trial = d->exact ? 1 : first_trial(d, slope);
    const double length = *trial * abut_largest(d->solve.sol, 3 * (size_t)q->nrow);
    if (d->exact) {
        rep->newton_solves++;
        q->required = 0;
    } else if (wants_proof(d, slope, length, close)) {
        rc = newton(d, at, rep, err);
        if (rc) return rc;
        const double longer = abut_largest(d->solve.sol, 3 * (size_t)q->nrow);
        if (longer > close && length <= q->trust * close) q->trust = fmax(LEAST_TRUST, DISTRUST * length / longer);
        d->exact = 1;
        q->curvature = 0;
        *trial = 1;
    }
    return ABUT_OK;
}

/* A direction that would not descend is replaced by the one without history, then by that of a symmetric initial matrix, then by
 * Newton's: rep counts them. */
static abut_status find(void *self, const abut_iterate *at, double *dir, abut_direction_info *info, abut_report *rep,
                        abut_err *err)
{
    lbfgs *d = self;
    double trial = 1;
    *info = (abut_direction_info){ .bad_node = -1 };
    d->solve.bad_node = -1;
    const abut_status rc = direction(d, at, &trial, rep, err);
    if (rc == ABUT_E_NUMERIC) {
        info->guessed = d->solve.bad_node < 0;
        info->bad_node = info->guessed ? abut_newton_matrix_worst_node(&d->matrix, d->p) : d->solve.bad_node;
    }
    if (rc) return rc;
    info->exact = d->exact;
    abut_rows_scatter(d->p, d->solve.sol, -trial, dir);
    abut_newton_matrix_majorise(&d->matrix, d->p, at, dir);
    d->ops->stats(d->initial, rep);
    return ABUT_OK;
}

static void begin_step(void *self)
{
    lbfgs *d = self;
    abut_newton_solve_begin_step(&d->solve, &d->matrix.A);
    abut_objective_majorant_forget(d->p);
    quasi_begin(&d->quasi);
}

static void require_exact(void *self)
{
    lbfgs *d = self;
    abut_objective_majorant_forget(d->p);
    d->quasi.required = d->solve.exact = 1;
}

static void release(void *self)
{
    lbfgs *d = self;
    if (d->initial) d->ops->free(d->initial);
    quasi_clear(&d->quasi);
    abut_newton_solve_clear(&d->solve);
    abut_newton_matrix_clear(&d->matrix);
    abut_arena_clear(&d->scratch);
    free(d);
}

static abut_status make(void **self, const abut_initial_ops *ops, const abut_problem *p, const abut_direction_options *opt,
                        abut_err *err)
{
    lbfgs *d = calloc(1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "quasi-Newton direction");
    *d = (lbfgs){ .p = p, .ops = ops, .quasi = { .history = opt->history, .proves = opt->proves, .trust = 1 } };
    abut_status rc = abut_newton_matrix_init(&d->matrix, p, opt->without, err);
    if (!rc) rc = abut_newton_solve_init(&d->solve, p, opt, (ops->needs & ABUT_NEEDS_FACTOR) != 0, err);
    if (!rc) rc = ops->make(&d->initial, opt, err);
    if (rc) release(d);
    else *self = d;
    return rc;
}

#define ROW(id, text, matrix) \
    static abut_status make_##id(void **self, const abut_problem *p, const abut_direction_options *opt, abut_err *err) \
    { \
        return make(self, &matrix, p, opt, err); \
    } \
    const abut_direction_ops abut_direction_##id = { .name = text, .make = make_##id, .begin_step = begin_step, .find = find, \
                                                     .require_exact = require_exact, .free = release }

ROW(lbfgs_h, "lbfgs-h", abut_initial_hessian);
ROW(lbfgs_pd, "lbfgs-pd", abut_initial_laplacian);
ROW(lbfgs_jh, "lbfgs-jh", abut_initial_blocks);
ROW(lbfgs_ic, "lbfgs-ic", abut_initial_ichol);
ROW(dot, "dot", abut_initial_subdomains);
ROW(gradient, "gradient", abut_initial_diagonal);
