#include "solve/direction/lbfgs.h"

#include "base/par.h"
#include "base/timer.h"
#include "sparse/pcg.h"
#include "solve/direction/newton.h"

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

void abut_quasi_reset(abut_quasi *q)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = q->has_last = q->insist = 0;
    q->trust = 1;
}

void abut_quasi_clear(abut_quasi *q)
{
    abut_lbfgs_clear(&q->pairs);
    abut_arena_clear(&q->scratch);
    free(q->x0);
    free(q->g0);
    free(q->x1);
    free(q->g1);
    *q = (abut_quasi){ .history = q->history, .proves = q->proves };
}

static abut_status reserve(abut_quasi *q, int32_t nrow, abut_err *err)
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

/* Entries of the nodes that move, by rows; and back. */
static void gather(const abut_problem *p, const double *v, double *rows)
{
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(rows + 3 * (size_t)p->row[i], v + 3 * (size_t)i, 3 * sizeof *v);
}

static void scatter(const abut_problem *p, const double *rows, double scale, double *v)
{
    for (int32_t i = 0; i < p->model->nv; i++) {
        const double *from = p->row[i] < 0 ? NULL : rows + 3 * (size_t)p->row[i];
        for (int k = 0; k < 3; k++) v[3 * (size_t)i + (size_t)k] = from ? scale * from[k] : 0;
    }
}

/* Curvature along the youngest pair, over the squared length. */
static double curvature_met(const abut_lbfgs *l)
{
    const double *s = l->s + (size_t)l->newest * l->size;
    return l->ys[l->newest] / abut_dot(s, s, l->size, l->part);
}

/* Takes in the iterate: what the step to it has taught, unless the objective is another one since. */
static abut_status learn(abut_quasi *q, const abut_problem *p, const double *x, const double *g, abut_report *rep, abut_err *err)
{
    if (!q->started || q->nrow != p->nrow || q->changes != p->changes) {
        const abut_status rc = reserve(q, p->nrow, err);
        if (rc) return rc;
        q->started = q->has_last = 0;
        q->nrow = p->nrow;
        q->changes = p->changes;
    }
    gather(p, x, q->x1);
    gather(p, g, q->g1);
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

/* d->sol = B g, and its product with g, the slope of -d->sol but for the sign. */
static abut_status apply(abut_direction *d, int symmetric, double *slope, abut_err *err)
{
    const abut_quasi *q = &d->quasi;
    const abut_precond D = abut_initial_precond(d, symmetric);
    memcpy(d->rhs, q->g0, 3 * (size_t)q->nrow * sizeof *d->rhs);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, d->rhs, d->sol, err);
    if (!rc) *slope = abut_dot(q->g0, d->sol, 3 * (size_t)q->nrow, q->pairs.part);
    return rc;
}

/* The same, descending: without the pairs, and then with a symmetric initial matrix, if need be. */
static abut_status apply_down(abut_direction *d, double *slope, abut_report *rep, abut_err *err)
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

static struct abut_touched touched_at(const abut_problem *p, const abut_pairs *pairs)
{
    uint64_t key = 0xcbf29ce484222325;
    for (size_t i = 0; i < pairs->n; i++)
        for (int k = 0; k < 4; k++) key = mix(key, pairs->vert[i][k]);
    for (size_t i = 0; i < pairs->n_plane; i++) key = mix(key, pairs->plane_vert[i]);
    return (struct abut_touched){ key, abut_pairs_smallest_gap(&p->cm, pairs, NULL) };
}

/* There is friction, or contacts are others than those that the initial matrix has seen. */
static int contacts_changed(const abut_quasi *q, const abut_problem *p, const abut_pairs *pairs)
{
    if (p->lag.n) return 1;
    if (pairs->n + pairs->n_plane == 0) return 0;
    const struct abut_touched now = touched_at(p, pairs);
    return now.key != q->touched.key || now.gap > SAME_GAP * q->touched.gap || q->touched.gap > SAME_GAP * now.gap;
}

static abut_status renew(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                         abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    const abut_status rc = abut_initial_make(d, p, x, y, pairs, rep, err);
    if (rc) return rc;
    abut_lbfgs_forget(&q->pairs);
    q->started = 1;
    q->touched = touched_at(p, pairs);
    q->age = q->mark_age = 0;
    q->mark_slope = INFINITY;
    return ABUT_OK;
}

/* Contacts or curvature have changed too much for the initial matrix, going by what its directions bring: slope = g B g is twice
 * the decrease that they promise. */
static int is_stale(abut_quasi *q, const abut_problem *p, const abut_pairs *pairs, double slope)
{
    q->age++;
    if (!(slope > PROGRESS * q->mark_slope)) {
        q->mark_slope = slope;
        q->mark_age = q->age;
    }
    const int idle = q->age - q->mark_age, bent = !(q->bend * BENT >= 1 && q->bend <= BENT);
    return (bent && idle >= PATIENCE_BENT) || (idle >= PATIENCE && contacts_changed(q, p, pairs));
}

/* d->sol = B g with the factor just made solves A sol = g well enough: what is left of g is no more than this. */
#define FAIR 0.1

static int is_fair(abut_direction *d)
{
    const size_t n = 3 * (size_t)d->A.n;
    const double *g = d->quasi.g0;
    abut_bsr_multiply(&d->A, d->sol, d->rhs);
    for (size_t i = 0; i < n; i++) d->rhs[i] -= g[i];
    const double left2 = abut_dot(d->rhs, d->rhs, n, d->quasi.pairs.part), all2 = abut_dot(g, g, n, d->quasi.pairs.part);
    return left2 <= FAIR * FAIR * all2;
}

/* Where the search shall begin: at the minimum of the quadratic model with the last Newton matrix, Li 2020, eq. 3.14.  The
 * Laplacian has none, and its directions are tried whole (Liu 2018, 4.2). */
static double first_trial(abut_direction *d, double slope)
{
    if (d->method == ABUT_SOLVE_LBFGS_PD) return 1;
    abut_bsr_multiply(&d->A, d->sol, d->rhs);
    const size_t n = 3 * (size_t)d->A.n;
    const double curvature = abut_dot(d->sol, d->rhs, n, d->quasi.pairs.part);
    if (!(curvature > 0)) return 1;
    d->quasi.curvature = curvature / abut_dot(d->sol, d->sol, n, d->quasi.pairs.part);
    return fmin(1, fmax(SHORTEST_TRIAL, slope / curvature));
}

static abut_status solve_to(abut_direction *d, double tolerance, int most, int *done, abut_report *rep, abut_err *err)
{
    const abut_precond M = abut_initial_precond(d, 1);
    const abut_operator A = { .matrix = &d->A };
    abut_pcg_report pcg = { 0 };
    const abut_status rc = abut_pcg_solve(&A, &M, d->quasi.g0, d->sol, (abut_pcg_opts){ tolerance, most }, &pcg,
                                          &d->quasi.scratch, err);
    rep->cg_iterations += pcg.iterations;
    *done = pcg.converged;
    if (rc || *done || most < MOST) return rc;
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g",
                     pcg.residual, pcg.iterations, tolerance);
}

/* d->sol = A^-1 g with the Newton matrix of the iterate, by conjugate gradients on the initial matrix. */
static abut_status newton(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                          abut_report *rep, abut_err *err)
{
    const double close = p->model->tolerance[0] * p->model->h[0];
    const size_t n = 3 * (size_t)p->nrow;
    int done = 0, most = BEFORE_RENEWAL;
    rep->newton_solves++;
    abut_direction_insist(d);       /* friction by its second derivative */
    d->quasi.insist = d->reuse.insist = 0;
    abut_status rc = abut_direction_matrix(d, p, x, y, pairs, rep, err);
    while (!rc && !done) {
        const double clock = abut_time_wall();
        rc = solve_to(d, FAR, most, &done, rep, err);
        if (!rc && done && abut_largest(d->sol, n) <= 2 * close) rc = solve_to(d, CLOSE, most, &done, rep, err);
        rep->seconds.solve += abut_time_wall() - clock;
        if (rc || done) break;
        rc = renew(d, p, x, y, pairs, rep, err);
        most = MOST;
    }
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

/* d->sol = B g for the iterate; *fresh 1: without pairs, the initial matrix has just been made. */
static abut_status direct(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                          double *slope, int *fresh, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    *fresh = !q->started;
    abut_status rc = *fresh ? renew(d, p, x, y, pairs, rep, err) : ABUT_OK;
    const double clock = abut_time_wall();
    if (!rc) rc = apply_down(d, slope, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || *fresh || !is_stale(q, p, pairs, *slope)) return rc;
    *fresh = 1;
    rc = renew(d, p, x, y, pairs, rep, err);
    return rc ? rc : apply_down(d, slope, rep, err);
}

/* Newton's direction is wanted: this one, which the search would try from `trial` on, is short, or no good. */
static int wants_proof(const abut_direction *d, double slope, double length, double close)
{
    const abut_quasi *q = &d->quasi;
    return q->insist || !(slope > 0) || (q->proves && length <= q->trust * close);
}

abut_status abut_quasi_find(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                            const double *g, double *dir, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    const double close = p->model->tolerance[0] * p->model->h[0];
    const abut_stiction law = abut_problem_stiction(p);
    double slope = 0, trial = 1;
    int fresh = 0;
    abut_status rc = learn(q, p, x, g, rep, err);
    if (!rc) rc = direct(d, p, x, y, pairs, &slope, &fresh, rep, err);
    if (rc) return rc;

    if (fresh && d->method == ABUT_SOLVE_LBFGS_H && d->initial.coarse && !is_fair(d)) {
        d->reuse.coarse = 1;
        rc = abut_initial_refine(d, p, rep, err);
        if (!rc) rc = apply_down(d, &slope, rep, err);
        if (rc) return rc;
    }

    /* the whole Newton matrix, just factored in double precision, gives Newton's direction, unless it has friction from above */
    d->exact = fresh && d->method == ABUT_SOLVE_LBFGS_H && !d->initial.coarse && abut_direction_none_above(d);
    if (!d->exact) trial = first_trial(d, slope);
    const double length = trial * abut_largest(d->sol, 3 * (size_t)q->nrow);
    if (d->exact) {
        rep->newton_solves++;
        q->insist = 0;
    } else if (wants_proof(d, slope, length, close)) {
        rc = newton(d, p, x, y, pairs, rep, err);
        if (rc) return rc;
        const double longer = abut_largest(d->sol, 3 * (size_t)q->nrow);
        if (longer > close && length <= q->trust * close) q->trust = fmax(LEAST_TRUST, DISTRUST * length / longer);
        d->exact = 1;
        q->curvature = 0;
        trial = 1;
    }
    scatter(p, d->sol, -trial, dir);
    if (!(d->without & ABUT_WITHOUT_MAJORANT) && d->kinks.n == p->lag.n && p->lag.n)
        abut_friction_kinks(&p->lag, &law, x, p->still, dir, d->kinks.above);
    abut_initial_stats(d, rep);
    return ABUT_OK;
}
