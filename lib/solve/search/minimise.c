#include "solve/search/minimise.h"

#include "base/timer.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "energy/joint.h"
#include "energy/mass.h"
#include "solve/search/equilibrium.h"
#include "solve/search/search_parts.h"
#include "sparse/pcg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* lengths of the scene that a body may move without an obstacle, before it counts as not held */
#define UNBOUNDED 100

static abut_status init_direction(abut_search *s, const abut_model *model, const abut_solver_row *row, abut_err *err)
{
    const abut_solve_options *o = s->opt;
    const abut_direction_ops *ops = row && row->direction ? row->direction : &abut_direction_newton;
    abut_direction_options opt = { .user = o, .linear = row && row->linear ? row->linear : o->linear.solver,
                                   .proves = abut_stop_by_directions(abut_search_stop_rule(s)) };
    if (!opt.linear) opt.instead = &abut_linear_ic_rigid;
    abut_status rc = o->names && !o->quasi.parts ? abut_partition_view(o->names, model->nt, &opt.cut, err) : ABUT_OK;
    return rc ? rc : abut_direction_make(&s->dir, ops, &s->prob, &opt, err);
}

/* Fails with ABUT_E_FORMAT if ranks cannot divide the work of a term or of a contact surface (base/par.h).  All ranks have the
 * same objective, positions and contacts of a search, to the bit.  These are divided: candidates of contacts, their tests at a
 * point, step bounds and proofs of the path (contact/candidates.h); energy and forces of tets (energy/elastic.h); the Newton
 * matrix, its products and its preconditioner (solve/direction/matrix.h, sparse/petsc/petsc.c).  Energy, forces and bounds of
 * other terms are computed by each rank whole. */
static abut_status check_ranks(const abut_objective *o, abut_err *err)
{
    const abut_model *m = o->model;
    const char *what = m->nt > abut_linear_tets_first(m) ? "tets of order 2 or more"
                       : abut_terms_number(&o->terms, "curved rods") >= 0 ? "curved rods"
                       : o->cm.area ? "contact weighed by area" : NULL;
    if (what)
        return abut_fail(err, ABUT_E_FORMAT, "the scene has %s, whose work processes cannot divide yet: step has them", what);
    return o->cm.nc ? abut_collmesh_expect_nodes(&o->cm, "work that processes divide", err) : ABUT_OK;
}

abut_status abut_search_init(abut_search *s, const abut_model *model, const abut_solver_row *row, const abut_solve_options *o,
                             abut_err *err)
{
    *s = (abut_search){ .opt = o, .ops = &abut_search_processor };
    abut_status rc = abut_objective_init(&s->prob, model, o->terms, err);
    if (rc) return rc;
    if (o->device.ranks) rc = check_ranks(&s->prob, err);
    s->prob.step.ranks = s->near.ranks = o->device.ranks;
    s->near.by_area = 1;
    abut_point *const point[] = { &s->here, &s->trial, &s->kept };
    for (int i = 0; i < 3 && !rc; i++) rc = abut_point_init(point[i], &s->prob, i + 1, err);
    s->p = calloc(3 * (size_t)model->nv, sizeof *s->p);
    if (!rc && !s->p) rc = abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    if (!rc) rc = abut_second_order_init(&s->second_order, model, err);
    if (!rc) rc = abut_rotations_make(&s->rotations, &s->prob, err);
    if (!rc) rc = init_direction(s, model, row, err);
    if (!rc && s->opt->device.place.ops) rc = s->opt->device.place.ops->place.open(s, err);
    if (rc) abut_search_clear(s);
    return rc;
}

void abut_search_clear(abut_search *s)
{
    if (s->device) s->opt->device.place.ops->place.close(s);      /* it had pinned nodes that are free now */
    abut_direction_clear(&s->dir);
    abut_candidates_clear(&s->cand);
    abut_candidate_search_clear(&s->near);
    abut_path_clear(&s->path);
    abut_point_clear(&s->here);
    abut_point_clear(&s->trial);
    abut_point_clear(&s->kept);
    abut_arena_clear(&s->scratch);
    abut_second_order_clear(&s->second_order);
    abut_rotations_free(s->rotations);
    free(s->p);
    abut_objective_clear(&s->prob);   /* last: the others borrow it */
    *s = (abut_search){ 0 };
}

void abut_search_forget(abut_search *s)
{
    s->dir.ops->begin_step(s->dir.self);
}

/* ---- where the points are ---- */

void abut_search_place(abut_search *s, const double *x)
{
    abut_point_set(&s->here, &s->prob, x, 0, NULL);
}

abut_status abut_search_enter(abut_search *s, const double *v, abut_err *err)
{
    if (!s->opt->device.place.ops) return ABUT_OK;
    const abut_status rc = s->opt->device.place.ops->place.enter(s, v, err);
    s->ops = rc ? &abut_search_processor : s->opt->device.place.ops;
    s->here.has = 0;
    return rc;
}

static abut_status leave(abut_search *s, abut_report *rep, abut_err *err)
{
    const abut_search_ops *ops = s->ops;
    s->ops = &abut_search_processor;
    return ops->place.leave ? ops->place.leave(s, rep, err) : ABUT_OK;
}

/* Moves the points to the place of minimisations, and finds the contacts of the iterate if they are missing. */
static abut_status arrive(abut_search *s, abut_report *rep, abut_err *err)
{
    const int is_there = !s->opt->device.place.ops || s->ops == s->opt->device.place.ops;
    const abut_status rc = is_there ? ABUT_OK : abut_search_enter(s, NULL, err);
    return rc || s->here.has & ABUT_HAS_CONTACTS ? rc : abut_search_contacts(s, rep, err);
}

abut_status abut_search_contacts(abut_search *s, abut_report *rep, abut_err *err)
{
    return s->ops->points.contacts(s, 0, rep, err);
}

size_t abut_search_count(const abut_search *s)
{
    return s->ops->points.count(s);
}

abut_status abut_search_kappa(abut_search *s, int keep, abut_err *err)
{
    return s->ops->points.kappa(s, keep, err);
}

void abut_search_exchange(abut_search *s, abut_point *with)
{
    if (s->ops->points.exchange) s->ops->points.exchange(s, with);
    abut_point_swap(&s->trial, with);
}

/* Makes the trial point the iterate, and adds it to the path of the step. */
static abut_status search_accept(abut_search *s, abut_err *err)
{
    abut_search_exchange(s, &s->here);
    const abut_status rc = s->ops->points.accepted ? s->ops->points.accepted(s, err) : ABUT_OK;
    return rc ? rc : s->ops->points.record(s, err);
}

/* ---- failures ---- */

abut_status abut_search_fail(abut_search *s, abut_failure_kind kind, abut_err *err)
{
    abut_report unread = { 0 };
    s->failed.kind = kind;
    const abut_status rc = leave(s, &unread, err);   /* the words are about the iterate and its contacts */
    const abut_stop_rule *rule = abut_search_stop_rule(s);
    const abut_failure_view view = { &s->prob, &s->here, s->opt->names,
                                     { rule->norm, rule->unit, abut_stop_norm(&s->opt->search) },
                                     s->p, abut_search_progress(s) };
    return rc ? rc : abut_failure_say(&s->failed, &view, err);
}

static abut_status find_direction(abut_search *s, abut_report *rep, abut_err *err)
{
    char why[200] = "";
    abut_status rc = s->ops->aim.find(s, rep, err);
    if (!rc) rc = abut_rotations_limit(s, rep, err);
    if (rc != ABUT_E_NUMERIC || s->failed.kind != ABUT_FAILED_INDEFINITE) return rc;
    if (err) snprintf(why, sizeof why, "%.199s", err->msg);
    (void)abut_search_fail(s, ABUT_FAILED_INDEFINITE, err);
    if (s->failed.guessed) abut_wrap(err, "%s", why);
    return ABUT_E_NUMERIC;
}

/* ---- the start of a step: prescribed nodes on the way to their targets ---- */

/* constants of the augmented Lagrangian (Li 2020, App. E) */
#define AL_PENALTY 1e9  /* published: 1e6 to 1e8; one below the stiffness of bodies and contacts lets these push obstacles back */
#define AL_DONE 0.999
#define AL_SETTLED 1e-2 /* of the scripted speed: slower than this the others follow */

double abut_search_progress(const abut_search *s)
{
    const abut_objective *p = &s->prob;
    double left = 0, whole = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        if (!p->held[i / 3]) continue;
        left += (p->target[i] - s->here.x[i]) * (p->target[i] - s->here.x[i]);
        whole += (p->target[i] - p->xn[i]) * (p->target[i] - p->xn[i]);
    }
    return whole > 0 ? 1 - sqrt(left / whole) : 1;
}

/* Largest speed of a prescribed node by the script in this step, m/s. */
static double scripted_speed(const abut_objective *p)
{
    double big = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) big = fmax(big, fabs(p->target[i] - p->xn[i]));
    return big / p->model->h[0];
}

/* Stops the augmented Lagrangian: prescribed nodes stay where they are. */
static void stop_script(abut_search *s)
{
    abut_lagrangian_of(&s->prob.terms)->on = 0;
    abut_objective_number(&s->prob);
}

static void al_start(abut_search *s)
{
    abut_lagrangian *al = abut_lagrangian_of(&s->prob.terms);
    al->on = 1;
    al->kap = AL_PENALTY;
    memset(al->lam, 0, 3 * (size_t)s->prob.model->nv * sizeof *al->lam);
    abut_objective_number(&s->prob);
}

/* Moves prescribed nodes straight towards their targets, as far as the bound allows: *alpha of the rest. */
static abut_status carry_held(abut_search *s, double *alpha, abut_report *rep, abut_err *err)
{
    int moves;
    abut_limit lim;
    *alpha = 1;
    abut_status rc = s->ops->start.aim_at_targets(s, &moves, err);
    if (rc || !moves) return rc;
    rc = abut_search_bound(s, 0, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) lim.alpha = 0, rc = ABUT_OK;     /* a gap too small to move along this line */
    if (!rc) rc = s->ops->start.move_held(s, lim.alpha, err);
    if (rc) return rc;
    *alpha = lim.alpha;
    return s->ops->points.record(s, err);
}

abut_status abut_search_move_held(abut_search *s, abut_report *rep, abut_err *err)
{
    double alpha;
    stop_script(s);
    const abut_status rc = carry_held(s, &alpha, rep, err);
    if (!rc && alpha < AL_DONE) al_start(s);
    return rc;
}

/* The augmented Lagrangian has done its part.  An equilibrium is one of the scripted positions, not of 0.999 of the motion. */
static abut_status al_finish(abut_search *s, abut_report *rep, abut_err *err)
{
    double alpha;
    stop_script(s);
    if (s->prob.w.inertia) return ABUT_OK;
    const abut_status rc = carry_held(s, &alpha, rep, err);
    return rc ? rc : abut_search_contacts(s, rep, err);
}

/* Updates the augmented Lagrangian after an iteration (Li 2020, App. E, but relative to the scripted speed: a residual of 1e-2
 * l per second depends on the unit of time).  *script: ABUT_SCRIPT_WAITS while targets are out of reach. */
static abut_status script_update(abut_search *s, double speed, int *script, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->prob;
    abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    *script = al->on ? ABUT_SCRIPT_WAITS : ABUT_SCRIPT_DONE;
    if (!al->on) return ABUT_OK;
    const double done = abut_search_progress(s);
    if (done >= AL_DONE) return al_finish(s, rep, err);  /* the others have yet to settle */
    if (speed >= fmax(AL_SETTLED * scripted_speed(p), p->model->tolerance[0])) return ABUT_OK;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) al->lam[i] -= al->kap * sqrt(p->model->mass[i / 3]) * (s->here.x[i] - p->target[i]);
    p->changes++;
    return abut_rule_is_blocked(&s->scripted, done) ? abut_search_fail(s, ABUT_FAILED_BLOCKED, err) : ABUT_OK;
}

/* ---- the start of a step: the motion of the others with them ---- */

/* s->p: prescribed nodes to their targets, the others by v. */
static void aim_at_warm_start(abut_search *s, const double *v)
{
    s->ops->start.warm(s, v, 1);
    s->ops->start.aim_at_trial(s);
}

abut_status abut_search_contacts_before(abut_search *s, const double *v, abut_report *rep, abut_err *err)
{
    aim_at_warm_start(s, v);    /* the warm start uses its candidates too */
    return s->ops->points.contacts(s, 1, rep, err);
}

/* Objective at the end of the motion. */
static abut_status energy_of_moving(abut_search *s, const double *v, double *sum, abut_report *rep, abut_err *err)
{
    s->ops->start.warm(s, v, 1);
    const abut_status rc = s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, rep, err);
    *sum = s->trial.e.sum;
    return rc;
}

abut_status abut_search_warm_start(abut_search *s, const double *v, int *taken, abut_report *rep, abut_err *err)
{
    abut_limit lim;
    double stay = 0, move = 0;
    *taken = 0;
    stop_script(s);
    aim_at_warm_start(s, v);
    abut_status rc = abut_search_bound(s, 0, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return ABUT_OK;   /* a gap too small to move at all: the minimiser names it */
    if (rc || lim.alpha < 1) return rc;

    rc = s->ops->start.staying(s, v, 1, &stay, rep, err);
    if (!rc) rc = energy_of_moving(s, v, &move, rep, err);
    if (!rc && !(move < stay)) {
        rc = s->ops->start.staying(s, v, 0, &stay, rep, err);
        if (!rc && move < stay) rc = energy_of_moving(s, v, &move, rep, err);   /* its contacts again */
    }
    if (rc || !(move < stay)) return rc;
    *taken = 1;
    return search_accept(s, err);
}

/* ---- stopping rules ---- */

#define LONG_BALANCED 1e-3  /* of the largest force on a body, which forces lack at most if a long direction ends a step */
#define STALLED 30          /* exact directions in a row within rounding that do not halve the norm: it cannot be reached */

static abut_status fetch(abut_search *s, abut_err *err)
{
    return s->ops->place.fetch ? s->ops->place.fetch(s, err) : ABUT_OK;
}

/* *next: speed of the next direction by the last matrix, m/s; infinite if friction turned on the last step, which that matrix
 * does not contain. */
static abut_status find_next(abut_search *s, double *next, abut_report *rep, abut_err *err)
{
    const abut_lag *lag = abut_lag_of(&s->prob.terms);
    const double threshold = s->prob.w.eps_v * s->prob.w.h_force;
    abut_status rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_GRADIENT, rep, err);
    if (!rc && lag->n) rc = fetch(s, err);
    *next = INFINITY;
    if (rc || (s->failed.alpha > 0 && abut_friction_turns(lag, threshold, s->prob.still, s->here.x, s->trial.x))) return rc;
    return s->ops->aim.next_speed(s, next, rep, err);
}

/* Stops if the distance to the minimum is small and forces balance to the model's tolerance.  A stalled estimate of the distance
 * ends its test at once; stalled forces, only if rounding hides the progress of iterations. */
static abut_status newton_after(abut_search *s, double speed, int *stop, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->prob.model;
    abut_progress *now = &s->progress;
    const int is_short = abut_rule_is_short(speed, m->tolerance[0]);
    double next;
    abut_equilibrium e;
    abut_status rc = find_next(s, &next, rep, err);
    if (rc) return rc;
    const double left = abut_rule_error(speed, next);
    const int idle = is_short && (abut_rule_stalls(&now->error, left) || now->stalled);
    const double asked = m->force_tolerance ? m->force_tolerance[0] : 0;
    *stop = abut_rule_near(left, m->tolerance[0], is_short && s->dir.ops->resolve) || idle;
    if (!*stop || (is_short && !(asked > 0))) return ABUT_OK;
    rc = fetch(s, err);
    const double clock = abut_time_wall();
    if (!rc) rc = abut_equilibrium_find(&s->prob, &s->here, NULL, &e, NULL, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    if (!is_short) {
        *stop = abut_rule_balanced(e.left, e.largest, asked > 0 ? fmin(asked, LONG_BALANCED) : LONG_BALANCED);
        if (*stop) s->failed.residual = rep->residual = next;
        return ABUT_OK;
    }
    const int stalls = abut_rule_stalls(&now->forces, e.left) && now->stalled;
    *stop = abut_rule_balanced(e.left, e.largest, asked) || stalls;
    s->failed.unbalanced = *stop ? 0 : e.left / e.largest;
    return ABUT_OK;
}

static abut_status published_after(abut_search *s, double speed, int *stop, abut_report *rep, abut_err *err)
{
    (void)s, (void)speed, (void)rep, (void)err;
    *stop = 1;
    return ABUT_OK;
}

/* Sets the scale of the characteristic norm in this step. */
static abut_status norm_begin(abut_search *s, abut_err *err)
{
    const abut_model *m = s->prob.model;
    const abut_status rc = abut_linear_tets(m, "characteristic norm", err);
    if (rc) return rc;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *node = ABUT_ROOM(&s->scratch, double, m->nv + 1), *scale = &s->progress.characteristic;
    if (!node) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %d nodes", m->nv);
    *scale = s->prob.w.psi * abut_characteristic_force(abut_elastic_of(&s->prob.terms), s->prob.held, node);
    abut_arena_release(&s->scratch, mark);
    if (*scale > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "characteristic norm: the model has no tetrahedra that move to measure forces by");
}

static abut_status norm_at(abut_search *s, int *stop, abut_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_status rc = fetch(s, err);
    if (rc) return rc;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *part = ABUT_ROOM(&s->scratch, double, abut_blocks(n3) + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %zu numbers", n3);
    s->failed.norm = rep->norm = sqrt(abut_dot(s->here.g, s->here.g, n3, part)) / s->progress.characteristic;
    abut_arena_release(&s->scratch, mark);
    *stop = rep->norm <= abut_stop_norm(&s->opt->search);
    return ABUT_OK;
}

/* By the largest entry of the gradient. */
static abut_status gradient_at(abut_search *s, int *stop, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->prob.model;
    const double newton = s->prob.w.h_force * s->prob.w.h_force;
    const abut_status rc = fetch(s, err);
    if (rc) return rc;
    s->failed.norm = rep->gradient = abut_largest(s->here.g, 3 * (size_t)m->nv) / (newton * m->length[0]);
    *stop = rep->gradient <= abut_stop_norm(&s->opt->search);
    return ABUT_OK;
}

static const abut_stop_rule rules[ABUT_STOPS] = {
    [ABUT_STOP_NEWTON] = { .name = "newton", .early = 1, .after_step = newton_after },
    [ABUT_STOP_PUBLISHED] = { .name = "published", .after_step = published_after },
    [ABUT_STOP_CHARACTERISTIC] = { .name = "characteristic", .norm = "characteristic norm", .unit = "", .patience = STALLED,
                                   .begin = norm_begin, .at_iterate = norm_at },
    [ABUT_STOP_GRADIENT] = { .name = "gradient", .norm = "gradient", .unit = " N/m", .patience = STALLED,
                             .at_iterate = gradient_at },
    [ABUT_STOP_STEP] = { .name = "step", .at_direction = 1 },
};

/* The rule of a fixed number of iterations. */
static const abut_stop_rule none = { .name = "iterations" };

const abut_stop_rule *abut_search_stop_rule(const abut_search *s)
{
    if (abut_fixed_iterations(s->opt)) return &none;
    const int rule = s->opt->search.stop;
    return &rules[rule == ABUT_STOP_NEWTON && s->pass.others_follow ? ABUT_STOP_PUBLISHED : rule];
}

/* ---- models that terms have of themselves ---- */

static void require_exact(abut_search *s)
{
    abut_objective_majorant_forget(&s->prob);
    if (s->ops->aim.require_exact) s->ops->aim.require_exact(s);
}

/* A direction by them was not exact, or not fair: it may be they that make it short. */
static abut_status reset_models(abut_search *s, abut_err *err)
{
    if (!s->aim.exact) abut_objective_majorant_forget(&s->prob);
    return s->aim.fair ? ABUT_OK : s->ops->aim.forecast_start(s, err);
}

/* ---- one iteration ---- */

static const abut_move_fn moves[] = { abut_move_rotate, abut_move_second_order, abut_move_backtrack,
                                      abut_move_lengthen_second_order, abut_move_lengthen };

static void note_limit(abut_search *s, const abut_limit *lim, abut_iteration *it, abut_report *rep)
{
    it->bound = s->failed.bound = lim->alpha;
    it->limit = lim->kind;
    it->term = lim->term;
    s->failed.limit = *lim;
    if (lim->alpha < 1 && (!rep->limit_iteration || lim->alpha < rep->limit.alpha)) {
        rep->limit = *lim;
        if (lim->kind == ABUT_LIMIT_TET) rep->limit.tet = abut_objective_tet(&s->prob, lim->tet);
        rep->limit_iteration = rep->newton;
    }
}

/* Returns 1 if the norm of the rule has halved since the last time. */
static int norm_halved(abut_search *s)
{
    const int halved = abut_search_stop_rule(s)->norm && s->failed.norm <= 0.5 * s->progress.norm;
    if (halved) s->progress.norm = s->failed.norm;
    return halved;
}

/* Stiffens terms that a Newton direction led close to a bound.  Quasi-Newton steps in between dip lower than their end, and are
 * many: each would stiffen. */
static abut_status stiffen(abut_search *s, abut_err *err)
{
    return s->dir.ops->resolve || s->aim.exact ? s->ops->points.stiffen(s, err) : ABUT_OK;
}

/* Moves to the trial point, and notes the progress. */
static abut_status arrive_at_trial(abut_search *s, const abut_move *m, abut_err *err)
{
    const int patience = abut_search_stop_rule(s)->patience, fixed = abut_fixed_iterations(s->opt);
    m->it->decrease = s->here.e.sum - s->trial.e.sum;
    const int fell = m->it->decrease > s->trial.e.noise;
    if (!fell && !fixed) require_exact(s);  /* only rounding may have moved the iterate */
    s->progress.stalled = fell || !s->aim.exact || norm_halved(s) ? 0 : s->progress.stalled + 1;
    if (patience && s->progress.stalled >= patience) return abut_search_fail(s, ABUT_FAILED_STALLED, err);
    const double *led = m->corrected ? s->second_order.linear_step : s->trial.x;
    abut_status rc = s->ops->aim.forecast_step(s, led, m->it->alpha, err);
    if (!rc) rc = search_accept(s, err);
    return rc ? rc : stiffen(s, err);
}

/* Stays at the iterate: no step lowers the objective.  Allowed at a minimum, for a rule that reads short directions, or after a
 * direction that is not Newton's, which may be improved. */
static abut_status stay_here(abut_search *s, double speed, abut_err *err)
{
    if (abut_fixed_iterations(s->opt)) return ABUT_OK;
    const int at_rest = abut_rule_is_short(speed, s->prob.model->tolerance[0]) &&
                        abut_stop_by_directions(abut_search_stop_rule(s));
    if (!s->aim.exact || s->aim.approximate) require_exact(s);
    else if (!at_rest) return abut_search_fail(s, ABUT_FAILED_STALLED, err);
    return ABUT_OK;
}

/* Notes the progress of this iteration.  A changed objective restarts the count.  The fraction taken of a direction counts for
 * Newton's alone. */
static void note_progress(abut_search *s, const abut_iteration *it)
{
    abut_progress *now = &s->progress;
    const double measure = abut_search_stop_rule(s)->norm ? s->failed.norm : it->residual;
    const double went = s->dir.ops->resolve ? it->alpha : 1;
    if (now->changes != s->prob.changes) now->idle = (abut_rule_stagnation){ 0 };
    now->changes = s->prob.changes;
    (void)abut_rule_stagnates(&now->idle, measure, went, it->decrease, s->here.e.noise);
}

/* Steps from here along s->p, as far as bounds and the objective allow. */
static abut_status take_step(abut_search *s, abut_iteration *it, abut_report *rep, abut_err *err)
{
    abut_move m = { .it = it };
    abut_status rc = abut_search_bound_direction(s, &m.lim, rep, err);
    if (rc == ABUT_E_GEOM) return abut_search_fail(s, ABUT_FAILED_TOUCHING, err);
    if (rc) return rc;
    note_limit(s, &m.lim, it, rep);
    for (size_t i = 0; i < sizeof moves / sizeof *moves && !rc; i++) rc = moves[i](s, &m, rep, err);
    if (rc) return rc;
    s->failed.alpha = it->alpha;
    it->bound = fmax(it->bound, fmin(it->alpha, 1));    /* corrected steps may go further */
    rc = m.moved ? arrive_at_trial(s, &m, err) : stay_here(s, it->residual, err);
    if (rc) return rc;
    it->contacts = (int32_t)abut_search_count(s);
    note_progress(s, it);
    s->progress.unbounded += m.lim.kind == ABUT_LIMIT_LENGTH && it->alpha == m.lim.alpha;
    if (s->progress.unbounded < UNBOUNDED) return ABUT_OK;
    s->failed.node = s->ops->aim.fastest(s);
    return abut_search_fail(s, ABUT_FAILED_FLOATING, err);
}

/* ---- the loop ---- */

#define CLOSED 1e-10        /* m, of scenes up to a metre long: open joints at the end of a minimisation at most */

static abut_status begin(abut_search *s, abut_err *err)
{
    const abut_stop_rule *rule = abut_search_stop_rule(s);
    s->failed = (abut_failure){ .residual = NAN, .bound = 1, .node = -1 };
    s->progress = (abut_progress){ .norm = INFINITY, .speed = INFINITY, .bound = 1, .changes = s->prob.changes };
    s->second_order.beyond = (abut_rule_wait){ 0 };
    s->scripted = (abut_rule_blocked){ 0 };
    s->aim = (struct abut_aim){ .exact = 1 };
    abut_objective_start(&s->prob);
    const abut_status rc = reset_models(s, err);
    s->here.has &= ABUT_HAS_CONTACTS;       /* friction may have been frozen at other forces since */
    return rc || !rule->begin ? rc : rule->begin(s, err);
}

/* Returns 1 unless a joint is open: then no minimisation ends. */
static int is_closed(const abut_search *s)
{
    const abut_joints *t = abut_joints_of(&s->prob.terms);
    return !t || abut_joints_gap(t, s->here.x) <= CLOSED * fmax(1, t->model->length[0]);
}

/* Returns 1 if the direction is short enough to end the minimisation, and of a kind that may. */
static int ends_before(const abut_search *s, const abut_stop_rule *rule)
{
    const int judges = s->aim.exact && s->aim.fair && s->failed.iterations > 1 && !abut_lagrangian_of(&s->prob.terms)->on;
    return rule->at_direction && judges && abut_rule_is_short(s->aim.speed, s->prob.model->tolerance[0]);
}

/* Returns 1 if this step along a long direction may have been the last: taken whole, with a matrix that estimates the error. */
static int may_be_last(const abut_search *s, const abut_stop_rule *rule, double last, const abut_iteration *it)
{
    const int whole = it->alpha == 1 && !s->aim.ahead && s->dir.ops->resolve;
    return rule->early && whole && abut_rule_may_be_last(last, it->residual, s->prob.model->tolerance[0]);
}

/* One iteration; *stop: the minimisation ends here. */
static abut_status iterate(abut_search *s, const abut_stop_rule *rule, int *stop, abut_report *rep, abut_err *err)
{
    const double last = s->progress.speed;
    int scripted = ABUT_SCRIPT_DONE;
    *stop = 0;
    abut_status rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT, rep, err);
    if (!rc && rule->at_iterate) rc = rule->at_iterate(s, stop, rep, err);
    *stop = *stop && !abut_lagrangian_of(&s->prob.terms)->on && is_closed(s);
    if (rc || *stop) return rc;

    rc = find_direction(s, rep, err);
    if (rc) return rc;
    abut_iteration *it = abut_report_iteration(rep);
    if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", s->failed.iterations);
    const double speed = s->failed.residual = rep->residual = it->residual = s->aim.speed;
    if (!isfinite(speed)) return abut_search_fail(s, ABUT_FAILED_NOT_FINITE, err);

    *stop = ends_before(s, rule) && is_closed(s);
    if (*stop) return it->contacts = (int32_t)abut_search_count(s), ABUT_OK;
    const int script = abut_lagrangian_of(&s->prob.terms)->on;
    rc = take_step(s, it, rep, err);
    if (!rc) abut_report_hold(rep, it, script);
    if (!rc) rc = script_update(s, speed, &scripted, rep, err);
    *stop = abut_fixed_iterations(s->opt) && !(it->alpha > 0);     /* further iterations would repeat it */
    const int is_short = abut_rule_is_short(speed, s->prob.model->tolerance[0]);
    if (rc || *stop || !(is_short || may_be_last(s, rule, last, it))) return rc;
    const int judges = s->aim.exact && s->aim.fair && scripted == ABUT_SCRIPT_DONE;
    if (judges && rule->after_step) rc = rule->after_step(s, speed, stop, rep, err);
    *stop = *stop && is_closed(s);
    return rc || *stop || !is_short ? rc : reset_models(s, err);
}

static abut_status minimise(abut_search *s, abut_report *rep, abut_err *err)
{
    const abut_stop_rule *rule = abut_search_stop_rule(s);
    const int fixed = rep->fixed_iterations = abut_fixed_iterations(s->opt), most = fixed ? fixed : s->opt->search.max_newton;
    int stop = 0, idles = 0;
    abut_status rc = begin(s, err);
    while (!rc && !stop && !idles && s->failed.iterations < most) {
        s->failed.iterations++;
        rc = iterate(s, rule, &stop, rep, err);
        s->failed.idle = (struct abut_failure_idle){ s->progress.idle.since, s->progress.idle.went };
        idles = !fixed && s->progress.idle.since >= abut_rule_patience(most);
    }
    if (rc || stop || fixed) return rc;
    return abut_search_fail(s, idles ? ABUT_FAILED_STAGNATES : ABUT_FAILED_ITERATIONS, err);
}

abut_status abut_search_minimise(abut_search *s, abut_report *rep, abut_err *err)
{
    s->failed.kind = ABUT_FAILED_NOT;
    abut_status rc = arrive(s, rep, err);
    if (!rc) rc = minimise(s, rep, err);
    return rc ? rc : leave(s, rep, err);
}

abut_status abut_search_residual(abut_search *s, double *residual, abut_report *rep, abut_err *err)
{
    abut_status rc = arrive(s, rep, err);
    if (rc) return rc;
    s->aim = (struct abut_aim){ .exact = 1 };
    rc = reset_models(s, err);
    s->here.has &= ABUT_HAS_CONTACTS;
    if (!rc) rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_GRADIENT, rep, err);
    if (!rc) rc = s->ops->aim.find_newton(s, rep, err);
    if (rc) return rc;
    *residual = s->aim.speed;
    return leave(s, rep, err);
}
