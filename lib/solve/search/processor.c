/* The operations of a search whose points are where they seem to be. */

#include "solve/search/search_parts.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/joint.h"
#include "model/motion.h"

#include <math.h>
#include <string.h>

static size_t numbers(const abut_search *s) { return 3 * (size_t)s->prob.model->nv; }

/* ---- points ---- */

static abut_status find_candidates(abut_search *s, const double *y0, const double *y1, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const double clock = abut_time_wall();
    const abut_status rc = abut_candidates_again(&p->cm, y0, y1, p->model->dhat[0], p->cm.obstacle, &s->near, &s->cand, err);
    rep->seconds.candidates += abut_time_wall() - clock;
    return rc;
}

static abut_status contacts(abut_search *s, int along, abut_report *rep, abut_err *err)
{
    abut_point_set(&s->here, &s->prob, s->here.x, 0, NULL);
    abut_status rc = find_candidates(s, s->here.y, along ? s->trial.y : NULL, rep, err);
    const double clock = abut_time_wall();
    if (!rc) rc = abut_point_contacts(&s->here, &s->prob, &s->cand, err);
    rep->seconds.pairs += abut_time_wall() - clock;
    return rc;
}

static size_t count(const abut_search *s) { return s->here.pairs.n + s->here.pairs.n_plane; }

/* Finds the contacts at the iterate again, after their stiffnesses have changed. */
static abut_status weigh(abut_search *s, abut_err *err)
{
    s->here.has = 0;
    return abut_point_contacts(&s->here, &s->prob, &s->cand, err);
}

static abut_status kappa(abut_search *s, int keep, abut_err *err)
{
    abut_objective *p = &s->prob;
    const size_t n3 = 3 * (size_t)p->model->nv;
    const int balances = !keep && count(s) && !p->cm.area;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *gc = balances ? ABUT_NEW(&s->scratch, double, n3) : NULL, *ge = gc ? ABUT_NEW(&s->scratch, double, n3) : NULL;
    int changed = 0;
    abut_status rc = ABUT_OK;
    if (balances && !ge) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: %zu numbers", 2 * n3);
    if (balances && p->cm.scale.part) {
        rc = abut_objective_part(p, NULL, err);
        if (!rc) rc = weigh(s, err);
    }
    const abut_at at = abut_point_at(&s->here, p);
    if (!rc && balances) rc = abut_barrier_unit_gradient(abut_barrier_state_of(&p->terms), &at, gc, &s->scratch, err);
    if (!rc && balances) rc = abut_objective_gradient(p, &at, ABUT_KINDS_SMOOTH, ge, &s->scratch, err);
    if (!rc) rc = abut_objective_set_kappa(p, &s->here.pairs, gc, ge, &changed, &s->scratch, err);
    if (!rc && changed) rc = weigh(s, err);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static abut_status evaluate(abut_search *s, abut_point *at, unsigned what, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const double clock = abut_time_wall();
    abut_status rc = abut_point_evaluate(at, p, ABUT_HAS_CONTACTS, &s->cand, &s->scratch, err);
    const double paired = abut_time_wall();
    if (!rc) rc = abut_point_evaluate(at, p, what & ABUT_HAS_ENERGY, NULL, &s->scratch, err);
    const double weighed = abut_time_wall();
    if (!rc) rc = abut_point_evaluate(at, p, what & ABUT_HAS_GRADIENT, NULL, &s->scratch, err);
    rep->seconds.pairs += paired - clock;
    rep->seconds.line_search += weighed - paired;
    rep->seconds.gradient += abut_time_wall() - weighed;
    return rc;
}

static void try_at(abut_search *s, double alpha)
{
    abut_point_set(&s->trial, &s->prob, s->here.x, alpha, s->p);
}

static abut_status record(abut_search *s, abut_err *err)
{
    return abut_path_add(&s->path, &s->prob.cm, s->prob.cm.obstacle, s->here.x, &s->near, err);
}

static abut_status stiffen(abut_search *s, abut_err *err)
{
    const abut_at from = abut_point_at(&s->trial, &s->prob), to = abut_point_at(&s->here, &s->prob);
    return abut_objective_stiffen(&s->prob, &from, &to, &s->scratch, err);
}

/* ---- the direction ---- */

static int can_resolve(const abut_search *s) { return s->dir.ops->resolve != NULL; }

/* 0: every node is prescribed. */
static int anything_moves(const abut_search *s) { return s->prob.nrow > 0 || s->prob.step.ranks; }

static int can_correct(const abut_search *s) { return can_resolve(s) && anything_moves(s); }

/* Infinite when s->p is not finite. */
static double speed(const abut_search *s)
{
    const size_t n3 = numbers(s);
    const double *p = s->p;
    double big = 0;
    #pragma omp parallel for schedule(static) reduction(max : big) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) big = fabs(p[i]) < INFINITY ? abut_max(big, fabs(p[i])) : INFINITY;
    return big / s->prob.model->h[0];
}

static abut_status find(abut_search *s, abut_report *rep, abut_err *err)
{
    abut_direction_info info = { .exact = 1, .bad_node = -1 };
    const int shifts = rep->shifts;
    abut_status rc = ABUT_OK;
    if (anything_moves(s)) rc = s->dir.ops->find(s->dir.self, &s->here, s->p, &info, rep, err);
    else memset(s->p, 0, numbers(s) * sizeof *s->p);
    if (rc == ABUT_E_NUMERIC) {
        s->failed.kind = ABUT_FAILED_INDEFINITE;
        s->failed.node = info.bad_node;
        s->failed.guessed = info.guessed;
        s->failed.shifted = rep->shifts > shifts;
    }
    const abut_at here = abut_point_at(&s->here, &s->prob);
    if (!rc)
        s->aim = (struct abut_aim){ .speed = speed(s), .exact = info.exact, .approximate = info.approximate, .ahead = info.ahead,
                                    .fair = abut_objective_forecast_is_fair(&s->prob, &here) };
    if (rc || !abut_joints_of(&s->prob.terms)) return rc;
    s->here.has &= ABUT_HAS_CONTACTS;       /* its energies are those of the last multipliers */
    return evaluate(s, &s->here, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT, rep, err);
}

static abut_status forecast_start(abut_search *s, abut_err *err)
{
    const abut_at at = abut_point_at(&s->here, &s->prob);
    (void)err;
    abut_objective_forecast_start(&s->prob, &at);
    return ABUT_OK;
}

static abut_status forecast_step(abut_search *s, const double *led, double alpha, abut_err *err)
{
    const abut_at from = abut_point_at(&s->here, &s->prob);
    (void)err;
    abut_objective_forecast_step(&s->prob, &from, led, alpha);
    return ABUT_OK;
}

static void require_exact(abut_search *s) { s->dir.ops->require_exact(s->dir.self); }

static abut_status find_newton(abut_search *s, abut_report *rep, abut_err *err)
{
    if (!can_resolve(s)) require_exact(s);      /* others are Newton's in any case */
    return find(s, rep, err);
}

static abut_status resolve(abut_search *s, const double *g, double *q, abut_report *rep, abut_err *err)
{
    return s->dir.ops->resolve(s->dir.self, g, q, rep, err);
}

static abut_status excess(abut_search *s, const double *d, const double *linear_step, double *g, double *cost, abut_err *err)
{
    const abut_at at = abut_point_at(&s->here, &s->prob);
    return abut_objective_correction(&s->prob, &at, d, linear_step, g, cost, &s->scratch, err);
}

static abut_status next_speed(abut_search *s, double *found, abut_report *rep, abut_err *err)
{
    const abut_direction_ops *ops = s->dir.ops;
    *found = 0;
    if (!(ops->resolve || (ops->resolve_exact && s->aim.exact)) || !anything_moves(s)) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *next = ABUT_ROOM(&s->scratch, double, numbers(s) + 1);
    if (!next) return abut_fail(err, ABUT_E_NOMEM, "error of a step: %zu numbers", numbers(s));
    const abut_status rc = (ops->resolve ? ops->resolve : ops->resolve_exact)(s->dir.self, s->here.g, next, rep, err);
    if (!rc) *found = abut_largest(next, numbers(s)) / s->prob.model->h[0];
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static double slope(const abut_search *s)
{
    double sum = 0;
    for (size_t i = 0; i < numbers(s); i++) sum -= s->here.g[i] * s->p[i];
    return sum;
}

static abut_status slopes(abut_search *s, double *here, double *trial, abut_report *rep, abut_err *err)
{
    const abut_status rc = evaluate(s, &s->trial, ABUT_HAS_GRADIENT, rep, err);
    *here = *trial = 0;
    for (size_t i = 0; i < numbers(s) && !rc; i++) {
        const double d = s->trial.x[i] - s->here.x[i];
        *here -= s->here.g[i] * d;
        *trial -= s->trial.g[i] * d;
    }
    return rc;
}

static void scale(abut_search *s, double by)
{
    for (size_t i = 0; i < numbers(s); i++) s->p[i] *= by;
}

static int32_t fastest(const abut_search *s)
{
    size_t far = 0;
    for (size_t i = 1; i < numbers(s); i++)
        if (fabs(s->p[i]) > fabs(s->p[far])) far = i;
    return (int32_t)(far / 3);
}

/* ---- bounds ---- */

static abut_status limits(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const double clock = abut_time_wall();
    const abut_at here = { s->here.x, s->here.x, s->here.y, &s->here.pairs, &p->step };     /* bounds hold at x */
    (void)err;
    try_at(s, 1);
    abut_limit_planes(&p->cm, s->here.y, s->trial.y, p->cm.obstacle, ABUT_SLACK_PLANE, lim);
    abut_objective_limit(p, &here, s->p, lim);
    rep->seconds.ccd += abut_time_wall() - clock;
    return ABUT_OK;
}

static abut_status candidates(abut_search *s, double fraction, abut_report *rep, abut_err *err)
{
    try_at(s, fraction);
    return find_candidates(s, s->here.y, s->trial.y, rep, err);
}

static abut_status ccd(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    rep->candidates = s->cand.total;
    const abut_status rc = abut_limit_ccd(&s->prob.cm, &s->cand, s->here.y, s->trial.y, ABUT_SLACK_CCD, lim, err);
    rep->seconds.ccd += abut_time_wall() - clock;
    return rc;
}

#define MANY_BLOCKED 16     /* directions that contacts bound: fewer are left to the barrier */

/* Directions below the tolerance or by other matrices than Newton's, ranks with a part of the candidates and the CFL rule do
 * without. */
static abut_status block(abut_search *s, const abut_limit *lim, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const int is_contact = lim->kind == ABUT_LIMIT_PLANE || abut_limit_stencil(lim->kind) >= 0;
    const int without = s->opt->search.without & ABUT_WITHOUT_BLOCKED || s->opt->search.ccd == ABUT_CCD_CFL ||
                        abut_rule_is_short(s->aim.speed, p->model->tolerance[0]) || p->cm.area || p->step.ranks;
    abut_impact *hit;
    size_t n;
    s->progress.blocked += is_contact;
    if (!is_contact || without || s->progress.blocked < MANY_BLOCKED || !can_resolve(s)) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    abut_status rc = abut_impacts_all(&p->cm, &s->cand, s->here.y, s->trial.y, ABUT_SLACK_CCD, 1, p->cm.obstacle, &hit, &n,
                                      &s->scratch, err);
    const abut_at at = abut_point_at(&s->here, p);
    if (!rc) rc = abut_barrier_block(abut_barrier_state_of(&p->terms), &at, s->p, hit, n, err);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static double motion(const abut_search *s)
{
    const double *y = s->here.y, *y1 = s->trial.y;
    double most2 = 0;
    for (size_t i = 0; i < 3 * (size_t)s->prob.cm.nc; i += 3) {
        const double d[3] = { y1[i] - y[i], y1[i + 1] - y[i + 1], y1[i + 2] - y[i + 2] };
        most2 = fmax(most2, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    return sqrt(most2);
}

/* ---- the start of a step ---- */

static void warm(abut_search *s, const double *v, double fraction)
{
    const abut_objective *p = &s->prob;
    const double h = fraction * p->model->h[0], *x = s->here.x;
    double *to = s->trial.x;
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        to[i] = p->held[i / 3] ? p->target[i] : p->row[i / 3] >= 0 ? x[i] + h * v[i] : x[i];
    abut_locks_keep(p->model, NULL, x, to);
    abut_point_set(&s->trial, p, to, 0, NULL);
}

static void aim_at_trial(abut_search *s)
{
    const size_t n3 = numbers(s);
    #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) s->p[i] = s->trial.x[i] - s->here.x[i];
    try_at(s, 1);   /* may differ from the old trial by rounding */
}

/* Evaluates at here if prescribed nodes have arrived, else at trial: that point is not on the line, so it gets own candidates. */
static abut_status staying(abut_search *s, const double *v, int at_least, double *sum, abut_report *rep, abut_err *err)
{
    const abut_candidates along = s->cand;
    warm(s, v, 0);
    abut_point *at = memcmp(s->trial.x, s->here.x, numbers(s) * sizeof *s->here.x) ? &s->trial : &s->here;
    abut_status rc = ABUT_OK;
    s->cand = (abut_candidates){ .of = { .y = NULL } };
    if (at == &s->trial && !at_least) rc = find_candidates(s, s->trial.y, NULL, rep, err);
    if (!rc) rc = evaluate(s, at, ABUT_HAS_ENERGY, rep, err);
    *sum = at->e.sum;
    abut_candidates_clear(&s->cand);
    s->cand = along;
    return rc;
}

static abut_status aim_at_targets(abut_search *s, int *moves, abut_err *err)
{
    const abut_objective *p = &s->prob;
    (void)err;
    *moves = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        s->p[i] = p->held[i / 3] ? p->target[i] - s->here.x[i] : 0;
        *moves |= s->p[i] != 0;
    }
    return ABUT_OK;
}

static abut_status move_held(abut_search *s, double alpha, abut_err *err)
{
    const abut_objective *p = &s->prob;
    double *x = s->here.x;
    (void)err;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) x[i] = alpha == 1 ? p->target[i] : x[i] + alpha * s->p[i];
    abut_point_set(&s->here, p, x, 0, NULL);
    return ABUT_OK;
}

const abut_search_ops abut_search_processor = {
    .points = { .contacts = contacts, .count = count, .kappa = kappa, .evaluate = evaluate, .try_at = try_at,
                .record = record, .stiffen = stiffen },
    .aim = { .find = find, .find_newton = find_newton, .require_exact = require_exact,
             .next_speed = next_speed, .forecast_start = forecast_start, .forecast_step = forecast_step,
             .slope = slope, .slopes = slopes, .scale = scale, .fastest = fastest },
    .correct = { .can = can_correct, .resolve = resolve, .excess = excess },
    .bound = { .limits = limits, .candidates = candidates, .ccd = ccd, .block = block, .motion = motion },
    .start = { .warm = warm, .aim_at_trial = aim_at_trial, .staying = staying, .aim_at_targets = aim_at_targets,
               .move_held = move_held }
};
