/* The friction passes of a step: the normal forces of the next one, and results that are kept. */
#include "solve/step/step_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "solve/search/search_ops.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Newton's method ---- */

/* Newton's method on the fixed point of lagged friction.
 *
 * A pass with normal forces l minimises to x(l); refreshed there, they are L(x).  The passes end where L(x(l)) = l.  With F(x),
 * the gradient whose friction has the forces L(x) and the sliding planes of x, and J its derivative, the Newton step of the pair
 * (x, l) is d = -J^-1 F(x), and the next pass takes l' = L(x) + L'(x) d.  J is not symmetric.  Its products are differences of F,
 * so they know every term; GCR (Eisenstat, Elman and Schultz 1983) solves with it, preconditioned by the Newton matrix.  A force
 * follows its linear model to half of L(x) or twice as much, no further: at the first touch the model is far from the truth. */

enum { PRODUCTS = 40 };
#define CLOSE 0.01          /* residual of GCR, relative */
#define APART 1e-5          /* of the smallest gap: step of differences */
#define FEWER 0.5           /* least and most that the next force is of the present one */
#define MORE 2.0

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add(size_t n, double s, const double *a, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] += s * a[i];
}

/* Computes F at a point near the iterate; the friction term then has the friction of that point. */
static abut_status gradient_near(abut_search *so, abut_point *at, abut_report *rep, abut_err *err)
{
    abut_objective *o = &so->prob;
    abut_status rc = so->ops->points.evaluate(so, at, ABUT_HAS_CONTACTS, rep, err);
    if (!rc) rc = abut_lag_freeze(&o->cm, &at->pairs, at->y, abut_barrier_state_of(&o->terms)->kappa, o->w.h_force,
                                  abut_lag_of(&o->terms), err);
    at->has &= ABUT_HAS_CONTACTS;
    return rc ? rc : so->ops->points.evaluate(so, at, ABUT_HAS_GRADIENT, rep, err);
}

/* q[n] = H^-1 J p, H the Newton matrix; work[n] */
static abut_status product(abut_search *so, const double *p, double *q, double *work, abut_report *rep, abut_err *err)
{
    const size_t n = 3 * (size_t)so->prob.model->nv;
    const double gap = fmin(abut_pairs_smallest_gap(&so->prob.cm, &so->here.pairs, NULL), abut_least_dhat(so->prob.model));
    const double step = APART * gap / abut_largest(p, n);
    abut_point_set(&so->trial, &so->prob, so->here.x, step, p);
    abut_status rc = gradient_near(so, &so->trial, rep, err);
    for (size_t i = 0; i < n && !rc; i++) work[i] = (so->here.g[i] - so->trial.g[i]) / step;
    return rc ? rc : so->ops->correct.resolve(so, work, q, rep, err);
}

/* d[n] = -J^-1 F, where so->p = -H^-1 F */
static abut_status coupled_direction(abut_search *so, double *d, abut_report *rep, abut_err *err)
{
    const size_t n = 3 * (size_t)so->prob.model->nv;
    double *p[PRODUCTS] = { NULL }, *r = malloc(2 * n * sizeof *r);
    abut_status rc = r ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu numbers", n);
    if (!rc) memcpy(r, so->p, n * sizeof *r);
    const double wanted = rc ? 0 : CLOSE * sqrt(dot(n, r, r));
    for (int m = 0; m < PRODUCTS && !rc && sqrt(dot(n, r, r)) > wanted; m++) {
        if (!(p[m] = malloc(2 * n * sizeof **p))) rc = abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu numbers", n);
        if (rc) break;
        double *q = p[m] + n;
        memcpy(p[m], r, n * sizeof *r);
        rc = product(so, p[m], q, r + n, rep, err);
        for (int k = 0; k < m && !rc; k++) {
            const double by = dot(n, q, p[k] + n);
            add(n, -by, p[k] + n, q);
            add(n, -by, p[k], p[m]);
        }
        const double size = rc ? 0 : sqrt(dot(n, q, q));
        if (!(size > 0)) break;
        for (size_t i = 0; i < 2 * n; i++) p[m][i] /= size;
        const double by = dot(n, r, q);
        add(n, by, p[m], d);
        add(n, -by, q, r);
    }
    for (int m = 0; m < PRODUCTS; m++) free(p[m]);
    free(r);
    return rc;
}

/* Moves the normal forces of the term, which abut_step_refresh has refreshed, along the displacement d. */
static abut_status follow(abut_search *so, const double *d, abut_err *err)
{
    const abut_objective *o = &so->prob;
    abut_lag *lag = abut_lag_of(&o->terms);
    double (*per)[3] = malloc((lag->n + 1) * sizeof *per);
    if (!per) return abut_fail(err, ABUT_E_NOMEM, "friction passes: %zu contacts", lag->n);
    abut_lag_slopes(&o->cm, &so->here.pairs, so->here.y, abut_barrier_state_of(&o->terms)->kappa, o->w.h_force, per);
    for (size_t i = 0; i < lag->n; i++) {
        double r[3];
        const double l = lag->force[i];
        abut_friction_relative(lag, i, d, r);
        lag->force[i] = fmin(fmax(l + dot(3, per[i], r), FEWER * l), MORE * l);
    }
    free(per);
    return ABUT_OK;
}

int abut_step_can_follow(const abut_stepper *s)
{
    const abut_search *so = &s->solver;
    return !so->opt->device.place.ops && so->ops->correct.can(so) && abut_lag_of(&so->prob.terms)->n > 0;
}

abut_status abut_step_follow(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    abut_lag *lag = abut_lag_of(&so->prob.terms), refreshed = *lag;
    const double clock = abut_time_wall();
    double *d = calloc(3 * (size_t)so->prob.model->nv + 1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "friction passes: %d nodes", so->prob.model->nv);
    *lag = (abut_lag){ 0 };     /* products write to it */
    abut_status rc = coupled_direction(so, d, rep, err);
    abut_lag_clear(lag);
    *lag = refreshed;
    so->here.has &= ABUT_HAS_CONTACTS;
    if (!rc) rc = follow(so, d, err);
    free(d);
    rep->seconds.friction += abut_time_wall() - clock;
    return rc;
}

/* ---- change by one more pass ---- */

abut_status abut_step_lag_change(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *o = &so->prob;
    const abut_model *m = o->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_stiction law = abut_stiction_of(m, &o->step);
    const abut_lag *now = abut_lag_of(&o->terms);
    rep->lags = (struct abut_lag_report){ .parts = rep->lags.parts };
    if (!now->n && !s->solved_lag.n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *new = ABUT_NEW(&so->scratch, double, n3), *old = ABUT_NEW(&so->scratch, double, n3);
    double *body = ABUT_NEW(&so->scratch, double, 4 * ((size_t)m->no + 1));
    abut_status rc = new && old && body ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "friction passes: %d nodes", m->nv);
    if (!rc) rc = abut_lag_compare(now, &s->solved_lag, &rep->lags.change, &rep->lags.largest, err);
    if (!rc) rc = abut_friction_gradient(now, &law, m->nv, so->here.x, o->step.x_ref, new, &so->scratch, err);
    if (!rc) rc = abut_friction_gradient(&s->solved_lag, &law, m->nv, so->here.x, o->step.x_ref, old, &so->scratch, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        double *b = body + 4 * (size_t)m->body[i];
        if (o->row[i] < 0) continue;
        b[3] += m->mass[i];
        for (int d = 0; d < 3; d++) b[d] += new[3 * i + d] - old[3 * i + d];
    }
    const double weight = o->w.h_force * o->w.h_force;
    for (int32_t i = 0; i < m->no && !rc && o->w.inertia; i++) {
        const double *b = body + 4 * (size_t)i, force = sqrt(dot(3, b, b)) / weight;
        rep->lags.friction = fmax(rep->lags.friction, force);
        if (b[3] > 0) rep->lags.speed = fmax(rep->lags.speed, m->h[0] * force / b[3]);
    }
    abut_arena_release(&so->scratch, mark);
    return rc;
}

/* ---- results, for `adjoint` ---- */

int abut_step_keeps_passes(const abut_stepper *s)
{
    const abut_model *m = s->solver.prob.model;
    return s->solver.opt->passes.keep && m->lags[0] > 1 && abut_friction_acts(m);
}

static abut_status reserve(struct abut_stepper_kept *k, size_t n3, abut_err *err)
{
    if (k->n < k->room) return ABUT_OK;
    const size_t room = 2 * (size_t)k->room + 2;
    double **const field[] = { &k->x, &k->kappa, &k->strain_kappa };
    for (int i = 0; i < 3; i++) {
        double *const to = realloc(*field[i], room * (i ? 1 : n3) * sizeof *to);
        if (!to) return abut_fail(err, ABUT_E_NOMEM, "results of %zu friction passes", room);
        *field[i] = to;
    }
    k->room = (int)room;
    return ABUT_OK;
}

abut_status abut_step_keep_pass(abut_stepper *s, abut_err *err)
{
    struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const size_t n3 = 3 * (size_t)o->model->nv;
    const abut_status rc = reserve(k, n3, err);
    if (rc) return rc;
    memcpy(k->x + (size_t)k->n * n3, s->solver.here.x, n3 * sizeof *k->x);
    k->kappa[k->n] = abut_barrier_state_of(&o->terms)->kappa;
    k->strain_kappa[k->n] = abut_codim_state_of(&o->terms)->strain_kappa;
    k->n++;
    return ABUT_OK;
}

abut_status abut_step_put_passes(const abut_stepper *s, abut_arrays *out, abut_err *err)
{
    const struct abut_stepper_kept *k = &s->kept;
    const abut_objective *o = &s->solver.prob;
    const double weight = abut_step_end_weight(o);
    const int n = k->n - 1;
    assert(k->n == s->pass);
    int32_t *count = abut_frame_put(out, "pass/count", 1, err);
    if (!count) return err->code;
    *count = k->n;
    if (n == 0) return ABUT_OK;
    double *x = abut_frame_put(out, "pass/x", (int64_t)n * o->model->nv, err);
    if (x) memcpy(x, k->x, (size_t)n * 3 * (size_t)o->model->nv * sizeof *x);
    double *kappa = x ? abut_frame_put(out, "pass/kappa", n, err) : NULL;
    for (int i = 0; i < n && kappa; i++) kappa[i] = k->kappa[i] * weight;
    if (!kappa) return err->code;
    if (!abut_arrays_find(out, "strain/kappa")) return ABUT_OK;
    double *strain = abut_frame_put(out, "pass/strain-kappa", n, err);
    if (!strain) return err->code;
    memcpy(strain, k->strain_kappa, (size_t)n * sizeof *strain);
    return ABUT_OK;
}
