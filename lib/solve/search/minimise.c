#include "solve/search/search_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/characteristic.h"
#include "sparse/pcg.h"
#include "solve/direction/look_ahead.h"
#include "solve/search/equilibrium.h"
#include "solve/search/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a body has gone so many lengths of the scene, and nothing was in its way: nothing holds it */
#define ADRIFT 100
/* so many Newton directions in a row within rounding: a norm that has not been reached will not be */
#define VAIN 30

abut_solver_opts abut_solver_defaults(void)
{
    return (abut_solver_opts){ .slack_ccd = 0.2, .slack_plane = 0.1, .slack_volume = 0.2, .slack_stretch = 0.5,
                               .max_newton = 10000, .history = 5, .threads = 1 };
}

/* The direction, which looks ahead to contacts, but not where steps are corrected: bounds on stretch follow those of contact. */
static abut_status direction_init(abut_solver *s, abut_err *err)
{
    const abut_solver_opts *o = &s->opt;
    const abut_direction_options opt = { .linear = o->linear, .threads = o->threads, .history = o->history, .cut = o->cut,
                                         .parts = o->parts, .one_level = o->one_level, .proves = !(o->norm > 0),
                                         .without = o->without };
    const abut_direction_ops *ops = o->direction ? o->direction : abut_directions[0];
    const abut_status rc = abut_direction_make(&s->dir, ops, &s->prob, &opt, err);
    if (rc || !ops->factor || (o->without & ABUT_WITHOUT_LOOK_AHEAD) || abut_turn_serves(s)) return rc;
    return abut_look_ahead_make(&s->dir, &s->dir, &s->prob, err);
}

abut_status abut_solver_init(abut_solver *s, const abut_model *model, const abut_solver_opts *opt, abut_err *err)
{
    *s = (abut_solver){ .opt = *opt };
    abut_status rc = abut_objective_init_with(&s->prob, model, opt->terms, err);
    if (rc) return rc;
    const size_t nv3 = 3 * (size_t)model->nv, nc3 = 3 * (size_t)model->nc + 1;
    double **field[] = { &s->x, &s->xt, &s->p, &s->g, &s->kept.x, &s->y, &s->yt, &s->kept.y };
    for (int i = 0; i < 8 && !rc; i++) {
        *field[i] = calloc(i < 5 ? nv3 : nc3, sizeof(double));
        if (!*field[i]) rc = abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    }
    if (!rc) rc = abut_turn_init(&s->turn, model, err);
    if (!rc) rc = direction_init(s, err);
    if (!rc && opt->device) rc = abut_device_new(&s->device, s, err);
    if (rc) abut_solver_clear(s);
    return rc;
}

void abut_solver_clear(abut_solver *s)
{
    abut_device_free(s->device);    /* it has pinned some of what is freed now */
    abut_direction_clear(&s->dir);
    abut_candidates_clear(&s->cand);
    abut_candidate_search_clear(&s->near);
    abut_path_clear(&s->path);
    abut_pairs_clear(&s->pairs);
    abut_pairs_clear(&s->trial);
    abut_pairs_clear(&s->kept.pairs);
    abut_arena_clear(&s->scratch);
    abut_turn_clear(&s->turn);
    free(s->x);
    free(s->xt);
    free(s->p);
    free(s->g);
    free(s->y);
    free(s->yt);
    free(s->kept.x);
    free(s->kept.y);
    abut_problem_clear(&s->prob);   /* last: the others borrow it */
    *s = (abut_solver){ 0 };
}

void abut_solver_forget(abut_solver *s)
{
    s->dir.ops->begin_step(s->dir.self);
}

double abut_newton_speed(const abut_solver *s)
{
    if (abut_device_serves(s)) return abut_device_speed(s);
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    double big = 0;
    #pragma omp parallel for schedule(static) reduction(max : big) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) big = fabs(s->p[i]) < INFINITY ? abut_max(big, fabs(s->p[i])) : INFINITY;
    return big / s->prob.model->h[0];
}

/* Terms that a step led close to their bounds are stiffer after it; the trial point has the start of the step. */
static abut_status stiffen(abut_solver *s, double gap, abut_err *err)
{
    abut_problem *p = &s->prob;
    if (abut_device_serves(s)) {
        p->changes += abut_barrier_stiffen(abut_barrier_state_of(&p->terms), gap, abut_device_gap(s));
        return ABUT_OK;
    }
    const abut_at from = { s->xt, s->xt, s->yt, &s->trial, &p->step }, to = { s->x, s->x, s->y, &s->pairs, &p->step };
    return abut_objective_stiffen(p, &from, &to, &s->scratch, err);
}

static void note_limit(const abut_problem *p, abut_report *rep, const abut_limit *lim)
{
    if (lim->alpha < 1 && (!rep->limit_iteration || lim->alpha < rep->limit.alpha)) {
        rep->limit = *lim;
        if (lim->kind == ABUT_LIMIT_TET) rep->limit.tet = abut_problem_tet(p, lim->tet);
        rep->limit_iteration = rep->newton;
    }
}

static abut_status give_up(abut_solver *s, abut_failure_kind kind, abut_err *err)
{
    s->failed.kind = kind;
    if (abut_device_serves(s)) {    /* the words are about the iterate and its contacts */
        abut_report unread = { 0 };
        const abut_status rc = abut_device_leave(s, &unread, err);
        if (rc) return rc;
    }
    return abut_failure_say(s, err);
}

/* s->g at s->x, and *e there unless it is known. */
static abut_status look(abut_solver *s, int known, abut_energy *e, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    if (abut_device_serves(s)) return abut_device_look(s, known, e, err);
    double clock = abut_time_wall();
    abut_status rc = known ? ABUT_OK : abut_problem_energy(p, s->x, s->y, &s->pairs, e, &s->scratch, err);
    rep->seconds.line_search += abut_time_wall() - clock;
    clock = abut_time_wall();
    if (!rc) rc = abut_problem_gradient(p, s->x, s->y, &s->pairs, ABUT_TERM_ALL, s->g, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    return rc;
}

/* The characteristic norm of the gradient is small enough: the other stopping rule. */
static abut_status norm_is_small(abut_solver *s, int *small, abut_report *rep, abut_err *err)
{
    *small = 0;
    if (!(s->opt.norm > 0)) return ABUT_OK;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *part = ABUT_ROOM(&s->scratch, double, abut_blocks(n3) + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %zu numbers", n3);
    s->failed.norm = rep->norm = sqrt(abut_dot(s->g, s->g, n3, part)) / s->characteristic;
    abut_arena_release(&s->scratch, mark);
    *small = rep->norm <= s->opt.norm;
    return ABUT_OK;
}

static abut_iterate iterate(const abut_solver *s)
{
    return (abut_iterate){ s->x, s->y, &s->pairs, s->g };
}

/* s->p at s->x for s->g. */
static abut_status aim(abut_solver *s, abut_report *rep, abut_err *err)
{
    if (abut_device_serves(s)) return abut_device_direction(s, rep, err);
    const abut_iterate at = iterate(s);
    const abut_status rc = s->dir.ops->find(s->dir.self, &at, s->p, &s->info, rep, err);
    if (rc != ABUT_E_NUMERIC) return rc;
    s->failed.node = s->info.bad_node;
    s->failed.guessed = s->info.guessed;
    if (!s->info.guessed) return give_up(s, ABUT_FAILED_INDEFINITE, err);
    /* an approximate matrix says why, but not where */
    char why[200] = "";
    if (err) snprintf(why, sizeof why, "%.199s", err->msg);
    (void)give_up(s, ABUT_FAILED_INDEFINITE, err);
    return abut_wrap(err, "%s", why), ABUT_E_NUMERIC;
}

void abut_search_require_exact(abut_solver *s)
{
    abut_objective_majorant_forget(&s->prob);
    if (!abut_device_serves(s)) s->dir.ops->require_exact(s->dir.self);
}

/* The node that goes furthest along s->p. */
static int32_t fastest_node(const abut_solver *s)
{
    int32_t far = 0;
    if (abut_device_serves(s)) return abut_device_fastest(s);
    for (int32_t i = 1; i < 3 * s->prob.model->nv; i++)
        if (fabs(s->p[i]) > fabs(s->p[far])) far = i;
    return far / 3;
}

/* Refines the direction while it is bounded by contact, and bounds it again. */
static abut_status refine(abut_solver *s, double swept, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const abut_iterate at = iterate(s);
    abut_status bounded = ABUT_OK;
    if (!s->dir.ops->refine || abut_device_serves(s)) return ABUT_OK;
    for (int changed = 1;;) {
        abut_direction_bound bound = { *lim, swept, s->opt.slack_ccd, &s->cand };
        if (bounded) bound.limit.alpha = 0;
        const abut_status rc = s->dir.ops->refine(s->dir.self, &at, &bound, s->p, &changed, rep, err);
        if (rc || !changed) return rc ? rc : bounded;
        const double most = abut_search_longest(s, abut_newton_speed(s));
        bounded = abut_search_bound(s, fmin(most, abut_search_further(lim)), most, lim, &swept, rep, err);
        if (bounded && bounded != ABUT_E_GEOM) return bounded;
    }
}

/* From s->x along s->p as far as the bound and the objective allow; e is the energy here, then there. */
static abut_status go(abut_solver *s, abut_energy *e, abut_iteration *it, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_limit lim;
    const double first = abut_search_first(s, it->residual);
    double swept;
    abut_status rc = abut_search_bound(s, first, abut_search_longest(s, it->residual), &lim, &swept, rep, err);
    s->last_bound = lim.alpha;
    if (!rc && it->residual > p->model->tolerance[0]) rc = refine(s, swept, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return give_up(s, ABUT_FAILED_TOUCHING, err);
    if (rc) return rc;
    it->bound = lim.alpha;
    it->limit = lim.kind;
    it->term = lim.term;
    note_limit(&s->prob, rep, &lim);
    s->failed.bound = lim.alpha;
    s->last_speed = it->residual;
    s->failed.limit = lim;

    int moved = 0;
    const double gap = abut_device_serves(s) ? abut_device_gap(s) : 0, before = abut_energy_sum(e);
    if (abut_turn_serves(s)) rc = abut_turn_search(s, lim.alpha, e, it, &moved, rep, err);
    else rc = abut_search_backtrack(s, lim.alpha, e, it, &moved, rep, err);
    const int straight = moved && !s->turn.taken;
    if (!rc && straight && lim.kind == ABUT_LIMIT_STRETCH && it->alpha == lim.alpha)
        rc = abut_search_draw_back(s, before, e, it, rep, err);
    const int slow = it->residual <= p->model->tolerance[0];
    const int longer = s->lengthens && moved && it->alpha == 1 && !(slow && (s->opt.plain || s->turn.p));
    if (!rc && longer && abut_turn_serves(s)) rc = abut_turn_lengthen(s, before, e, it, rep, err);
    else if (!rc && longer) rc = abut_search_lengthen(s, before, e, it, rep, err);
    if (rc) return rc;
    s->failed.alpha = it->alpha;
    it->bound = fmax(it->bound, fmin(it->alpha, 1));    /* corrected steps may go further */
    if (moved) {
        it->decrease = before - abut_energy_sum(e);
        const int fell = it->decrease > abut_energy_noise(p, e);
        if (!fell) abut_search_require_exact(s);      /* it may be rounding that leads on */
        s->vain = fell || !s->info.exact ? 0 : s->vain + 1;
        if (s->opt.norm > 0 && s->vain >= VAIN) return give_up(s, ABUT_FAILED_STALLED, err);
        if (!abut_device_serves(s)) {
            const abut_at from = abut_objective_at(p, s->x, s->y, &s->pairs);
            abut_objective_forecast_step(p, &from, s->turn.taken ? s->turn.meant : s->xt, it->alpha);
        }
        rc = abut_search_accept(s, err);
        if (!rc) rc = abut_search_record(s, err);
        if (rc) return rc;
        rc = stiffen(s, gap, err);
        if (rc) return rc;
    } else if (!s->info.exact || s->info.approximate) {
        abut_search_require_exact(s);       /* Newton's direction may still lead on */
    } else if (it->residual > p->model->tolerance[0] || s->opt.norm > 0) {
        return give_up(s, ABUT_FAILED_STALLED, err);
    }
    it->contacts = (int32_t)abut_solver_count(s);
    s->adrift += lim.kind == ABUT_LIMIT_LENGTH && it->alpha == lim.alpha;
    if (s->adrift < ADRIFT) return ABUT_OK;
    s->failed.node = fastest_node(s);
    return give_up(s, ABUT_FAILED_FLOATING, err);
}

/* The scale of the characteristic norm in this step, when it is the stopping rule. */
static abut_status characterise(abut_solver *s, abut_err *err)
{
    const abut_model *m = s->prob.model;
    if (!(s->opt.norm > 0)) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *node = ABUT_ROOM(&s->scratch, double, m->nv + 1);
    if (!node) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %d nodes", m->nv);
    s->characteristic = s->prob.w.psi * abut_characteristic_force(abut_elastic_of(&s->prob.terms), s->prob.held, node);
    abut_arena_release(&s->scratch, mark);
    if (s->characteristic > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "characteristic norm: the model has no tetrahedra that move to measure forces by");
}

/* What is left of the way to the minimum after a step along s->p, m/s, by the next direction that its matrix has; s->g is the
 * gradient there.  0 where a direction has no such matrix. */
static abut_status error_left(abut_solver *s, double speed, double *left, abut_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    *left = 0;
    if (abut_device_serves(s)) {
        const abut_status rc = abut_device_again(s, left, rep, err);
        if (!rc) *left = abut_rule_error(speed, *left);
        return rc;
    }
    if (!s->dir.ops->resolve) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *next = ABUT_ROOM(&s->scratch, double, n3 + 1);
    if (!next) return abut_fail(err, ABUT_E_NOMEM, "error of a step: %zu numbers", n3);
    const abut_status rc = s->dir.ops->resolve(s->dir.self, s->g, next, rep, err);
    if (!rc) *left = abut_rule_error(speed, abut_largest(next, n3) / s->prob.model->h[0]);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* What a minimisation knows of its last iterations, none of which moves a node faster than the tolerance. */
typedef struct slowing {
    abut_rule_stall error, forces;
} slowing;

/* After a direction that is short: whether what is left to the minimum is short, too, and forces balance as the model asks.
 * Neither goes on where it comes no closer: an estimate at once, forces where rounding hides what an iteration brings. */
static abut_status is_settled(abut_solver *s, slowing *now, double speed, int *yes, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    *yes = 1;
    if (s->opt.plain || s->passes_go_on) return ABUT_OK;
    double left = 0;
    abut_status rc = look(s, 1, NULL, rep, err);
    if (!rc) rc = error_left(s, speed, &left, rep, err);
    *yes = abut_rule_near(left, p->model->tolerance[0]) || abut_rule_stalls(&now->error, left) || s->vain;
    if (rc || !*yes || !p->model->force_tolerance) return rc;
    abut_equilibrium e;
    if (abut_device_serves(s)) rc = abut_device_fetch(s, err);
    if (!rc) rc = abut_equilibrium_find(p, s->x, s->y, &s->pairs, s->g, &e, &s->scratch, err);
    if (rc) return rc;
    const int stalls = abut_rule_stalls(&now->forces, e.left) && s->vain;
    *yes = abut_rule_balanced(e.left, e.largest, p->model->force_tolerance[0]) || stalls;
    return ABUT_OK;
}

/* The models of terms start from s->x; whether a short direction by them tells of a minimum nearby.  A device has none. */
static void forecast_start(abut_solver *s)
{
    if (abut_device_serves(s)) return;
    const abut_at at = abut_objective_at(&s->prob, s->x, s->y, &s->pairs);
    abut_objective_forecast_start(&s->prob, &at);
}

static int is_fair(const abut_solver *s)
{
    if (abut_device_serves(s)) return 1;
    const abut_at at = abut_objective_at(&s->prob, s->x, s->y, &s->pairs);
    return abut_objective_forecast_is_fair(&s->prob, &at);
}

static abut_status minimise(abut_solver *s, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_energy e;
    int known = 0;   /* e is the energy at s->x */
    s->failed = (abut_failure){ .residual = NAN, .bound = 1, .node = -1 };
    s->push = (struct abut_push){ .eta = 0 };
    s->adrift = s->vain = 0;
    s->last_speed = INFINITY;
    s->last_bound = 1;
    if (s->dir.ops->begin_minimisation) s->dir.ops->begin_minimisation(s->dir.self);
    s->turn.taken = s->turn.wait = s->turn.patience = 0;
    slowing end = { 0 };
    const abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    abut_objective_start(p);
    forecast_start(s);

    abut_status rc = characterise(s, err);
    for (int k = 1; !rc && k <= s->opt.max_newton; k++) {
        int small;
        s->failed.iterations = k;
        rc = look(s, known, &e, rep, err);
        if (!rc) rc = norm_is_small(s, &small, rep, err);
        if (!rc && small && !al->on) return ABUT_OK;
        if (!rc) rc = aim(s, rep, err);
        if (rc) return rc;
        abut_iteration *it = abut_report_iteration(rep);
        if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", k);
        s->failed.residual = rep->residual = it->residual = abut_newton_speed(s);
        if (!isfinite(it->residual)) return give_up(s, ABUT_FAILED_NOT_FINITE, err);

        const int changes = p->changes, slow = it->residual <= p->model->tolerance[0], fair = !slow || is_fair(s);
        rc = go(s, &e, it, rep, err);
        if (rc) return rc;
        int script;
        rc = abut_script_update(s, it->residual, &script, rep, err);
        if (rc) return rc;
        if (script == ABUT_SCRIPT_BLOCKED) return give_up(s, ABUT_FAILED_BLOCKED, err);
        known = script == ABUT_SCRIPT_DONE && p->changes == changes;
        if (slow && fair && s->info.exact && !(s->opt.norm > 0) && script == ABUT_SCRIPT_DONE) {
            int yes;
            rc = is_settled(s, &end, it->residual, &yes, rep, err);
            if (rc || yes) return rc;
        }
        if (slow && !s->info.exact) abut_objective_majorant_forget(p);  /* it may be the matrix that says so */
        if (slow && !fair) forecast_start(s);
    }
    return rc ? rc : give_up(s, ABUT_FAILED_ITERATIONS, err);
}

size_t abut_solver_count(const abut_solver *s)
{
    return abut_device_serves(s) ? abut_device_count(s) : s->pairs.n + s->pairs.n_plane;
}

abut_status abut_solver_kappa(abut_solver *s, abut_err *err)
{
    if (abut_device_serves(s)) return abut_device_kappa(s, err);
    return abut_problem_kappa(&s->prob, s->x, s->y, &s->pairs, &abut_barrier_state_of(&s->prob.terms)->kappa, &s->scratch, err);
}

/* The device has the iterate and its contacts. */
static abut_status there(abut_solver *s, abut_report *rep, abut_err *err)
{
    if (abut_device_serves(s)) return ABUT_OK;
    const abut_status rc = abut_device_enter(s, NULL, err);
    return rc ? rc : abut_solver_contacts(s, rep, err);
}

abut_status abut_solver_minimise(abut_solver *s, abut_report *rep, abut_err *err)
{
    if (!s->device) return minimise(s, rep, err);
    s->failed.kind = ABUT_FAILED_NOT;
    abut_status rc = there(s, rep, err);
    if (!rc) rc = minimise(s, rep, err);
    return rc || !abut_device_serves(s) ? rc : abut_device_leave(s, rep, err);
}

/* The residual as the device finds it. */
static abut_status residual_there(abut_solver *s, double *residual, abut_report *rep, abut_err *err)
{
    abut_energy e;
    abut_status rc = there(s, rep, err);
    if (!rc) rc = abut_device_look(s, 1, &e, err);
    if (!rc) rc = abut_device_direction(s, rep, err);
    if (rc) return rc;
    *residual = abut_newton_speed(s);
    return abut_device_leave(s, rep, err);
}

abut_status abut_solver_residual(abut_solver *s, double *residual, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    if (s->device) return residual_there(s, residual, rep, err);
    forecast_start(s);
    abut_status rc = abut_problem_gradient(p, s->x, s->y, &s->pairs, ABUT_TERM_ALL, s->g, &s->scratch, err);
    if (!s->dir.ops->resolve) s->dir.ops->require_exact(s->dir.self);   /* others are Newton's in any case */
    const abut_iterate at = iterate(s);
    if (!rc) rc = s->dir.ops->find(s->dir.self, &at, s->p, &s->info, rep, err);
    if (!rc) *residual = abut_newton_speed(s);
    return rc;
}
