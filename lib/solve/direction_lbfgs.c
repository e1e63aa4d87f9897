#include "solve/direction_lbfgs.h"

#include "base/timer.h"
#include "linalg/pcg.h"
#include "solve/direction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_TRIAL 0.1  /* first trial of the search: Li 2020, eq. 3.14 */
/* after a direction that was short while Newton's was not, the next one is looked at when it is this much shorter still, but at most so much */
#define DISTRUST 0.5
#define LEAST_TRUST 0.05
/* in contact the start matrix goes stale: it is made anew when this many iterations have not made the decrement this much smaller */
#define PATIENCE 5
#define PROGRESS 0.1

void abut_quasi_reset(abut_quasi *q)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = q->has_last = q->insist = 0;
    q->trust = 1;
}

void abut_quasi_clear(abut_quasi *q)
{
    abut_lbfgs_clear(&q->pairs);
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
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3; k++) v[3 * (size_t)i + (size_t)k] = p->row[i] < 0 ? 0 : scale * rows[3 * (size_t)p->row[i] + (size_t)k];
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
    if (q->has_last && !abut_lbfgs_push(&q->pairs, q->x0, q->x1, q->g0, q->g1) && q->history) rep->pairs_skipped++;
    double *const x0 = q->x0, *const g0 = q->g0;
    q->x0 = q->x1;
    q->g0 = q->g1;
    q->x1 = x0;
    q->g1 = g0;
    q->has_last = 1;
    return ABUT_OK;
}

/* The Newton direction; with it the start matrix is made anew. */
static abut_status newton(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                          const double *g, double *dir, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    abut_direction_insist(d);
    const abut_status rc = abut_direction_newton(d, p, x, y, pairs, g, dir, rep, err);
    if (rc) return rc;
    abut_lbfgs_forget(&q->pairs);
    q->started = 1;
    q->insist = q->age = q->mark_age = 0;
    q->mark_slope = INFINITY;
    rep->newton_solves++;
    return ABUT_OK;
}

/* d->sol = B g, and its product with g, the slope of -d->sol but for the sign. */
static abut_status apply(abut_direction *d, double *slope, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    const abut_precond D = abut_chol_precond(d->chol);
    memcpy(d->rhs, q->g0, 3 * (size_t)q->nrow * sizeof *d->rhs);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, d->rhs, d->sol, err);
    if (!rc) *slope = abut_dot(q->g0, d->sol, 3 * (size_t)q->nrow, q->pairs.part);
    return rc;
}

/* Contacts have changed too much for the start matrix, going by what its directions bring: slope = g B g is twice the decrease that
 * they promise. */
static int is_stale(abut_quasi *q, int touches, double slope)
{
    q->age++;
    if (!(slope > PROGRESS * q->mark_slope)) {
        q->mark_slope = slope;
        q->mark_age = q->age;
    }
    return touches && q->age - q->mark_age >= PATIENCE;
}

/* Where the search shall begin: at the minimum of the quadratic model with the Newton matrix of the start, Li 2020, eq. 3.14. */
static double first_trial(abut_direction *d, double slope)
{
    abut_bsr_multiply(&d->A, d->sol, d->rhs);
    const double curvature = abut_dot(d->sol, d->rhs, 3 * (size_t)d->A.n, d->quasi.pairs.part);
    return curvature > 0 ? fmin(1, fmax(SHORTEST_TRIAL, slope / curvature)) : 1;
}

static double largest(const double *v, size_t n)
{
    double big = 0;
    for (size_t i = 0; i < n; i++) big = fmax(big, fabs(v[i]));
    return big;
}

abut_status abut_quasi_find(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                            const double *g, double *dir, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    const size_t n3 = 3 * (size_t)p->model->nv;
    d->exact = 0;
    abut_status rc = learn(q, p, x, g, rep, err);
    if (rc) return rc;
    if (!q->started || q->insist) return newton(d, p, x, y, pairs, g, dir, rep, err);

    const double clock = abut_time_wall();
    double slope = 0;
    rc = apply(d, &slope, err);
    if (!rc && !(slope > 0)) {
        abut_lbfgs_forget(&q->pairs);
        rep->not_descending++;
        rc = apply(d, &slope, err);
    }
    if (rc) return rc;
    if (!(slope > 0) || is_stale(q, pairs->n + pairs->n_plane + p->lag.n > 0, slope)) return newton(d, p, x, y, pairs, g, dir, rep, err);
    scatter(p, d->sol, -first_trial(d, slope), dir);
    rep->seconds.solve += abut_time_wall() - clock;

    const double close = p->model->tolerance[0] * p->model->h[0], length = largest(dir, n3);
    if (!q->proves || length > q->trust * close) return ABUT_OK;
    rc = newton(d, p, x, y, pairs, g, dir, rep, err);
    const double longer = largest(dir, n3);
    if (longer > close) q->trust = fmax(LEAST_TRUST, DISTRUST * length / longer);
    return rc;
}
