#include "solve/step/step_parts.h"

#include "base/timer.h"
#include "base/words.h"
#include "contact/intersect.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "energy/pressure.h"
#include "model/motion.h"
#include "model/naming.h"
#include "solve/step/measures.h"
#include "solve/search/search_ops.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_stepper_init(abut_stepper *s, const abut_model *m, const abut_solver_row *row, const abut_solve_options *o,
                              abut_err *err)
{
    *s = (abut_stepper){ 0 };
    abut_status rc = abut_search_init(&s->solver, m, row, o, err);
    if (rc) return rc;
    double **field[7 + 2 * ABUT_PAST] = { &s->v, &s->acc, &s->acc0, &s->v_end, &s->a, &s->a_end };
    int n = 6;
    for (int k = 0; k < abut_schemes[abut_scheme_of(m)].past; k++)
        field[n++] = &s->past.x[k], field[n++] = &s->past.v[k];
    if (abut_air_acts(abut_air_of(&s->solver.prob.terms))) field[n++] = &s->air;
    for (int i = 0; i < n; i++) {
        *field[i] = calloc(3 * (size_t)m->nv, sizeof(double));
        if (*field[i]) continue;
        abut_stepper_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", m->nv);
    }
    return ABUT_OK;
}

void abut_stepper_clear(abut_stepper *s)
{
    abut_search_clear(&s->solver);
    ABUT_FREE(s->v, s->acc, s->air, s->acc0, s->v_end, s->a, s->a_end);
    for (int k = 0; k < ABUT_PAST; k++) free(s->past.x[k]), free(s->past.v[k]);
    abut_lag_clear(&s->solved_lag);
    ABUT_FREE(s->kept.x, s->kept.kappa, s->kept.strain_kappa);
    *s = (abut_stepper){ 0 };
}

/* ---- proof of a configuration ---- */

/* Bounds of terms are kept. */
static abut_status check_bounds(const abut_objective *p, const double *x, abut_status code, const char *when, abut_err *err)
{
    const abut_model *m = p->model;
    abut_bound_words w;
    char object[ABUT_OBJECT_WORDS], nodes[80] = "";
    if (!abut_objective_outside(p, x, &w)) return ABUT_OK;
    for (int i = 0, used = 0; i < w.corners; i++)
        used += snprintf(nodes + used, sizeof nodes - (size_t)used, "%s%d%s", i ? ", " : " (nodes ",
                         abut_node_number(m, w.node[i]), i + 1 < w.corners ? "" : ")");
    return abut_fail(err, code, "%s %d of %s%s: %s, %s", w.what, w.number, abut_object_words(m, w.object, object), nodes,
                     w.detail, when);
}

abut_status abut_step_check(const abut_objective *p, const abut_point *at, int joined, abut_status code, const char *when,
                              abut_err *err)
{
    assert(p);
    const abut_collmesh *cm = &p->cm;
    const abut_model *m = p->model;
    abut_intersection hit;
    size_t found = 0;
    abut_status rc = ABUT_OK;
    if (joined) found = abut_intersections_planes(cm, at->y, p->cm.obstacle, 1, &hit);
    else rc = abut_intersections_find(cm, at->y, p->cm.obstacle, 1, &hit, &found, err);
    if (rc) return rc;
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    if (found && hit.tri < 0)
        return abut_fail(err, code, "%s lies on or under %s %s", abut_collmesh_words(cm, &hit.vert, 1, one),
                         abut_half_space_words(m, hit.plane, two), when);
    if (found) {
        const int32_t *e = cm->edge + 2 * hit.edge, *t = cm->tri + 3 * hit.tri;
        abut_collmesh_words(cm, e, 2, one);
        abut_collmesh_words(cm, t, 3, two);
        return abut_fail(err, code, "%s touches %s %s (%zu such pair%s)", one, two, when, found, abut_s(found));
    }
    const int32_t tet = abut_inverted_find(m, at->x, 1);
    if (tet >= 0)
        return abut_fail(err, code, "tet %d of %s is inverted %s", abut_reordered_tet_number(p->reordered, tet),
                         abut_object_words(m, m->body[m->tet[4 * tet]], one), when);
    return check_bounds(p, at->x, code, when, err);
}

abut_status abut_step_name(abut_instant at, abut_status rc, abut_err *err)
{
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)at.step + 1, at.time), rc : ABUT_OK;
}

/* ---- stages ---- */

abut_status abut_step_load(abut_stepper *s, const abut_arrays *frame, const double *x0, abut_instant at, abut_frame *f,
                           abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const abut_model *m = p->model;
    abut_status rc = abut_frame_view(frame, m, f, err);
    if (rc) return rc;
    const int pending = x0 != NULL;
    if (!pending) x0 = f->x;
    const size_t n3 = 3 * (size_t)m->nv;
    memcpy(s->v, f->v, n3 * sizeof(double));
    memcpy(p->xn, x0, n3 * sizeof(double));
    abut_search_place(&s->solver, f->x);
    abut_motion_targets(m, at.time, x0, p->target, p->held);
    s->at = at;
    abut_objective_weigh(p, abut_integrator_weights(m, s->damping.again ? ABUT_FIRST_SCHEME : abut_integrator_scheme(m, f)));
    const double weight = abut_step_kappa_weight(p);
    const abut_term_frame state = { 0, weight, frame }, of_step = { 1, weight, frame };
    rc = abut_objective_load(p, f, &state, err);
    if (!rc && pending) rc = abut_objective_load(p, f, &of_step, err);
    if (!rc) rc = abut_objective_begin(p, at.time, err);
    if (rc) return rc;
    abut_step_load_damping(s, f);
    if ((rc = abut_step_load_forces(s, err))) return rc;
    abut_search_forget(&s->solver);
    abut_objective_number(p);
    return abut_step_load_past(s, f, err);
}

/* Sets the stiffness of the barrier: implicit Euler balances it in every step; in other schemes bodies keep that of the frame
 * during contact, because a change does work that they hardly dissipate. */
static abut_status start_kappa(abut_stepper *s, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const int plain = abut_scheme_is(abut_scheme_of(p->model), ABUT_SCHEME_PLAIN);
    return abut_search_kappa(&s->solver, !plain && !isnan(abut_barrier_state_of(&p->terms)->in_frame), err);
}

/* Finds the first iterate of a step, and the stiffness of the barrier there. */
static abut_status start(abut_stepper *s, abut_report *rep, abut_err *err)
{
    int warm = 0, none = s->solver.opt->search.without & ABUT_WITHOUT_WARM_START;
    double *v = s->v_end;   /* free until the step ends */
    abut_status rc = start_kappa(s, err);
    if (!rc && !none) rc = abut_step_guess(s, v, &none, rep, err);
    if (!rc && !none) rc = abut_search_warm_start(&s->solver, v, &warm, rep, err);
    if (rc || warm) return rc;
    rc = abut_search_move_held(&s->solver, rep, err);
    if (rc || s->solver.here.has & ABUT_HAS_CONTACTS) return rc;    /* nothing was moved */
    rc = abut_search_contacts(&s->solver, rep, err);
    return rc ? rc : start_kappa(s, err);
}

/* Freezes the friction contacts at the iterate. */
static abut_status freeze_friction(abut_search *s, abut_err *err)
{
    const abut_objective *o = &s->prob;
    return abut_lag_freeze(&o->cm, &s->here.pairs, s->here.y, abut_barrier_state_of(&o->terms)->kappa, o->w.h_force,
                           abut_lag_of(&o->terms), err);
}

abut_status abut_step_first_friction(abut_stepper *s, const abut_arrays *frame, abut_report *rep, abut_err *err)
{
    const int frozen = abut_arrays_find(frame, "lag/node") || abut_arrays_find(frame, "lag/vertex");
    if (frozen || !abut_friction_acts(s->solver.prob.model)) return ABUT_OK;
    abut_status rc = abut_search_contacts_before(&s->solver, s->v, rep, err);
    if (!rc) rc = abut_search_kappa(&s->solver, 0, err);
    return rc ? rc : s->solver.prob.cm.area ? abut_step_balance_first(&s->solver, err) : freeze_friction(&s->solver, err);
}

/* Starts the step that follows a COMMITTED frame, for the first time or again. */
static abut_status begin(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const double clock = abut_time_wall();
    abut_frame f;
    s->pass = s->newton = s->kept.n = 0;
    abut_status rc = abut_step_load(s, frame, NULL, at, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    s->damping.frame = frame;
    if (s->path_continues < 2)
        rc = s->path_continues ? abut_path_next_step(&s->solver.path, &p->cm, p->cm.obstacle, err)
                               : abut_path_start(&s->solver.path, &p->cm, s->solver.here.x, err);
    if (!rc && !s->start_checked) {
        rc = abut_step_check(p, &s->solver.here, 0, ABUT_E_GEOM, "at the start", err);
    }

    if (!rc) rc = abut_step_first_friction(s, frame, rep, err);
    if (!rc) rc = abut_search_enter(&s->solver, s->v, err);
    if (!rc && !(s->solver.here.has & ABUT_HAS_CONTACTS)) rc = abut_search_contacts_before(&s->solver, s->v, rep, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    s->start_checked = 1;
    abut_watch_begin(&s->watch, s->at.step, 0);
    rc = start(s, rep, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return abut_step_name(s->at, rc, err);
}

abut_status abut_step_begin(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    assert(s);
    s->damping.again = 0;
    abut_rigid_lower(abut_elastic_of(&s->solver.prob.terms));
    return begin(s, frame, at, rep, err);
}

/* Checks a configuration of a frame that is not the iterate. */
static abut_status check_configuration(abut_search *so, const double *x, int joined, const char *when, abut_err *err)
{
    abut_point_set(&so->trial, &so->prob, x, 0, NULL);
    return abut_step_check(&so->prob, &so->trial, joined, ABUT_E_GEOM, when, err);
}

/* Loads the path so far from the frame, and proves it: its start does not intersect, and no pair meets on it. */
static abut_status resume_path(abut_search *so, const abut_frame *f, abut_err *err)
{
    const abut_objective *p = &so->prob;
    abut_path *path = &so->path;
    int hit = 0;
    abut_status rc = check_configuration(so, p->xn, 0, "at the start of its step (step/x0)", err);
    if (!rc) rc = abut_path_start(path, &p->cm, p->xn, err);
    for (int32_t i = 0; i < f->nw && !rc; i += f->nv) {
        rc = check_configuration(so, f->waypoints + 3 * (size_t)i, 1, "at a waypoint (step/waypoints)", err);
        if (!rc) rc = abut_path_add(path, &p->cm, p->cm.obstacle, so->trial.x, &so->near, err);
    }
    if (!rc) rc = abut_path_add(path, &p->cm, p->cm.obstacle, so->here.x, &so->near, err);
    if (!rc) rc = abut_path_prove(path, &p->cm, p->cm.obstacle, &so->near, &hit, err);
    if (rc || !hit) return rc;
    if (hit + 1 < path->n)
        return abut_fail(err, ABUT_E_GEOM, "bodies meet on the straight line to waypoint %d (step/waypoints)", hit - 1);
    return abut_fail(err, ABUT_E_GEOM, "bodies meet on the last straight line of its path, to node/x");
}

abut_status abut_step_resume(abut_stepper *s, const abut_arrays *frame, abut_instant at, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    abut_frame f;
    s->damping.again = 0;
    s->damping.frame = NULL;
    abut_rigid_lower(abut_elastic_of(&p->terms));
    abut_status rc = abut_frame_view(frame, p->model, &f, err);
    const char *missing = rc ? NULL : !f.x0 ? "step/x0" : !f.pass ? "step/pass" : !f.kappa ? "contact/kappa" : NULL;
    if (missing) rc = abut_fail(err, ABUT_E_FORMAT, "it is PENDING but has no %s", missing);
    if (!rc) rc = abut_step_load(s, frame, f.x0, at, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    s->pass = f.pass[0];
    s->kept.n = 0;
    if (abut_step_keeps_passes(s) && s->pass > 0)
        return abut_fail(err, ABUT_E_FORMAT,
                         "frame %lld: it is PENDING, and the results of its %d friction %s cannot be kept (--keep-passes)",
                         (long long)at.step, s->pass, abut_plural(s->pass, "pass", "passes"));
    s->newton = f.iterations ? f.iterations[0] : 0;
    abut_watch_begin(&s->watch, s->at.step, 1);
    rc = resume_path(&s->solver, &f, err);
    if (rc) return abut_wrap(err, "frame %lld", (long long)at.step), rc;
    return abut_search_contacts(&s->solver, rep, err);
}

/* Passes that take all of the new normal forces, as published (Li 2020, 4.5). */
enum { WHOLE_PASSES = 9 };

/* Solves one pass. */
static abut_status minimise(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_search_forget(&s->solver);   /* as a pass resumed in another process starts */
    const int before = rep->newton;
    /* lengthened steps could lead the passes to different minima */
    s->solver.pass.lengthens = s->solver.prob.model->lags[0] == 1 && !(s->solver.opt->search.without & ABUT_WITHOUT_LENGTHEN);
    /* passes that cycle can leave the cycle if each is not solved exactly */
    s->solver.pass.others_follow = s->pass >= WHOLE_PASSES;
    abut_status rc = abut_search_minimise(&s->solver, rep, err);
    s->newton += rep->newton - before;
    if (rc) return abut_step_name(s->at, rc, err);
    rep->passes = ++s->pass;
    if (abut_step_keeps_passes(s) && (rc = abut_step_keep_pass(s, err))) return rc;
    const double clock = abut_time_wall();
    rc = abut_path_shorten(&s->solver.path, &s->solver.prob.cm, s->solver.prob.cm.obstacle, &s->solver.near, err);
    rep->seconds.check += abut_time_wall() - clock;
    return rc;
}

/* Takes the step again from its frame. */
static abut_status take_again(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_path_back(&s->solver.path);    /* drops the path of the attempt before */
    s->path_continues = 2;
    const abut_status rc = begin(s, s->damping.frame, s->at, rep, err);
    return rc ? rc : minimise(s, rep, err);
}

abut_status abut_step_solve(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_elastic *e = abut_elastic_of(&s->solver.prob.terms);
    int creates = 0, raised = 0;
    int32_t object = -1;
    abut_status rc = minimise(s, rep, err);
    if (!rc && s->pass == 1 && s->damping.frame) rc = abut_step_creates(s, &creates, err);
    if (creates) s->damping.again = 1;
    if (creates && !rc) rc = take_again(s, rep, err);
    while (!rc && (raised = abut_rigid_raise(e, s->solver.here.x, &object)) > 0 && s->damping.frame) {
        rep->stiffened++;
        rc = take_again(s, rep, err);
    }
    if (rc || !raised) return rc;
    return abut_step_name(s->at, abut_rigid_refuse(e, s->solver.here.x, object, s->damping.frame ?
                                                   "a smaller time step, lower speeds or loads, or a larger strain" :
                                                   "a step without --one-pass", err), err);
}

/* Returns the number of friction contacts that stick, and slide at the end of s->p. */
static int32_t count_about_to_slide(abut_search *s)
{
    if (!abut_lag_of(&s->prob.terms)->n || s->opt->search.stop == ABUT_STOP_PUBLISHED) return 0;
    abut_point_set(&s->trial, &s->prob, s->here.x, 1, s->p);
    return abut_creep_about_to_slide(&s->prob, s->here.x, s->trial.x);
}

abut_status abut_step_refresh(abut_stepper *s, int measure, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->solver.prob;
    const double clock = abut_time_wall();
    abut_status rc = ABUT_OK;
    rep->lag_residual = -1;
    if (abut_friction_acts(p->model)) {
        abut_lag_exchange(&p->terms, &s->solved_lag);
        rc = freeze_friction(&s->solver, err);
        if (!rc) rc = abut_step_lag_change(s, rep, err);
    }
    if (!rc && measure) {
        rep->lag_residual = 0;
        abut_search_forget(&s->solver);
        if (abut_lag_of(&p->terms)->n) rc = abut_search_residual(&s->solver, &rep->lag_residual, rep, err);
        if (!rc) s->about_to_slide = count_about_to_slide(&s->solver);
    }
    rep->seconds.friction += abut_time_wall() - clock;
    return abut_step_name(s->at, rc, err);
}

abut_status abut_step_settled(const abut_stepper *s, const abut_report *rep, int limit, double tol, int *settled, abut_err *err)
{
    /* in passes that cycle, contacts may slide and stick by turns */
    const int waits = s->about_to_slide && s->pass < WHOLE_PASSES;
    *settled = (rep->lag_residual <= tol && !waits) || (limit > 0 && s->pass >= limit);
    if (*settled || s->pass < ABUT_LAGS_MAX || limit > 0) return ABUT_OK;
    const abut_status rc =
        abut_fail(err, ABUT_E_NUMERIC, "friction has not converged after %d %s: lag residual %.3g m/s, want %.3g; a smaller time "
                  "step may let the passes settle, a number of them (lags: 20, step --lags 20) accepts what so many have found",
                  s->pass, abut_plural(s->pass, "pass", "passes"), rep->lag_residual, tol);
    return abut_step_name(s->at, rc, err);
}

/* Returns the share of the change of normal forces that a pass takes: 1 at first, as published; later at most 1/2, because
 * undamped passes can cycle. */
static double relaxation(int pass)
{
    return pass <= WHOLE_PASSES ? 1 : pass < 40 ? 0.5 : pass < 160 ? 0.25 : 0.125;
}

abut_status abut_step_again(abut_stepper *s, int limit, abut_report *rep, abut_err *err)
{
    if (limit == 0 && s->pass < ABUT_LAGS_FOLLOWED && abut_step_can_follow(s)) return abut_step_follow(s, rep, err);
    const double w = relaxation(s->pass);
    return w < 1 ? abut_lag_relax(abut_lag_of(&s->solver.prob.terms), &s->solved_lag, w, err) : ABUT_OK;
}

static abut_status check_candidate(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const int joined = s->start_checked && s->solver.path.proven;
    const abut_status rc = abut_step_check(&s->solver.prob, &s->solver.here, joined, ABUT_E_NUMERIC, "after the step", err);
    rep->seconds.check += abut_time_wall() - clock;
    return rc;
}

/* Joins the path of the steps since the last frame that was written. */
static abut_status join_steps(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    const abut_status rc = abut_path_join(&s->solver.path, &s->solver.prob.cm, s->solver.prob.cm.obstacle, err);
    rep->seconds.check += abut_time_wall() - clock;
    return rc;
}

/* Writes the error of contact forces; called last, because it moves the terms beyond the end of the step. */
static abut_status put_error(abut_stepper *s, abut_arrays *out, abut_report *rep, abut_err *err)
{
    double *error = abut_frame_put(out, "object/contact-error", s->solver.prob.model->no, err);
    return error ? abut_step_force_error(s, (double (*)[3])error, rep, err) : err->code;
}

abut_status abut_step_commit(abut_stepper *s, const abut_arrays *carry, int with, abut_arrays *out, abut_instant *at,
                             abut_report *rep, abut_err *err)
{
    abut_arrays_clear(out);
    abut_status rc = check_candidate(s, rep, err);
    if (!rc) rc = abut_step_equilibrium(s, rep, err);
    if (!rc && !s->end_unwritten) rc = join_steps(s, rep, err);
    if (rc) return abut_step_name(s->at, rc, err);
    s->path_continues = s->end_unwritten;
    abut_lag_exchange(&s->solver.prob.terms, &s->solved_lag);
    rc = abut_step_finish(s, err);
    abut_lag_exchange(&s->solver.prob.terms, &s->solved_lag);
    if (!rc) rc = abut_step_decide_damping(s, rep, err);
    if (!rc && carry) rc = abut_frame_carry(carry, out, err);
    if (!rc) rc = abut_step_put_state(s, s->v_end, 0, out, err);
    if (!rc && abut_step_keeps_passes(s)) rc = abut_step_put_passes(s, out, err);
    if (!rc) rc = abut_step_put_record(s, with, rep, carry, out, err);
    if (!rc) rc = abut_step_report(s, rep, err);
    if (!rc && with & ABUT_WITH_FORCES && !s->end_unwritten) rc = put_error(s, out, rep, err);
    if (rc) return abut_step_name(s->at, rc, err);
    *at = abut_instant_next(s->at, s->solver.prob.model->h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

abut_status abut_step_suspend(abut_stepper *s, const abut_arrays *carry, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    abut_arrays_clear(out);
    abut_status rc = abut_frame_carry(carry, out, err);
    if (!rc) rc = abut_step_put_state(s, s->v, 1, out, err);
    if (!rc) rc = abut_record_keep(carry, out, err);
    if (rc) return rc;
    int32_t *newton = abut_frame_put(out, "step/iterations", 1, err);
    if (!newton) return err->code;
    *newton = s->newton;
    double *x0 = abut_arrays_put_rows(out, "step/x0", ABUT_F64, p->model->nv, 3, "m", err);
    if (!x0) return err->code;
    memcpy(x0, p->xn, 3 * (size_t)p->model->nv * sizeof(double));
    rc = abut_arrays_put_i32(out, "step/pass", s->pass, err);
    const abut_term_frame of_step = { 1, abut_step_kappa_weight(p), NULL };
    return rc ? rc : abut_objective_store(p, &of_step, out, err);
}
