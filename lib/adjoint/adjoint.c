#include "adjoint/parts.h"

#include "adjoint/script.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/friction.h"
#include "model/motion.h"
#include "model/naming.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status allocate(abut_adjoint *a, abut_err *err)
{
    const size_t nv = (size_t)a->model->nv;
    double **field[] = { &a->work.end, &a->work.next, &a->work.acc, &a->work.target, &a->work.p, &a->work.q, &a->work.g,
                         &a->work.u };
    abut_status rc = abut_state_bar_init(&a->work.start, a->model, err);
    for (size_t i = 0; i < sizeof field / sizeof *field && !rc; i++)
        if (!(*field[i] = calloc(3 * nv + 1, sizeof(double)))) rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu nodes", nv);
    for (int i = 0; i < ABUT_ADJOINT_PASSES && !rc; i++)
        if (!(a->passes.of[i].x = calloc(3 * nv + 1, sizeof(double)))) rc = abut_fail(err, ABUT_E_NOMEM,
                                                                                      "backward pass: %zu nodes", nv);
    return rc ? rc : abut_parameter_bar_init(&a->bars, a->model, err);
}

abut_status abut_adjoint_open(abut_adjoint **out, const abut_model *m, const abut_adjoint_options *o, abut_err *err)
{
    abut_adjoint *a = *out = calloc(1, sizeof *a);
    if (!a) return abut_fail(err, ABUT_E_NOMEM, "backward pass");
    a->opt = *o;
    a->with = (abut_step_model){ .view = *m, .tolerance = o->tolerance > 0 ? o->tolerance : m->tolerance[0],
                                 .lags = o->lags >= 0 ? o->lags : m->lags[0] };
    a->with.view.tolerance = &a->with.tolerance;
    a->with.view.lags = &a->with.lags;
    a->model = &a->with.view;
    abut_search_opts so = abut_search_defaults();
    so.threads = o->threads;
    abut_status rc = abut_stepper_init(&a->s, a->model, &so, err);
    if (!rc) rc = abut_adjoint_refuse(m, &a->s.solver.prob.terms, err);
    if (!rc) rc = abut_adjoint_system_init(&a->system, &a->s.solver.prob, o->threads, err);
    if (!rc) rc = allocate(a, err);
    if (rc) abut_adjoint_free(out);
    return rc;
}

void abut_adjoint_free(abut_adjoint **out)
{
    abut_adjoint *a = *out;
    if (!a) return;
    abut_adjoint_system_clear(&a->system);
    abut_adjoint_forces_clear(&a->forces);
    abut_frozen_clear(&a->frozen);
    abut_parameter_bar_clear(&a->bars);
    abut_state_bar_clear(&a->work.start);
    double *field[] = { a->work.end, a->work.next, a->work.acc, a->work.target, a->work.p, a->work.q, a->work.g, a->work.u };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) free(field[i]);
    for (int i = 0; i < ABUT_ADJOINT_PASSES; i++) free(a->passes.of[i].x);
    abut_report_clear(&a->report);
    abut_stepper_clear(&a->s);
    free(a);
    *out = NULL;
}

void abut_adjoint_take(abut_adjoint **a, abut_parameter_bar *bars)
{
    *bars = (*a)->bars;
    (*a)->bars = (abut_parameter_bar){ 0 };
    abut_adjoint_free(a);
}

/* ---- one step ---- */

/* bars of the end beside x': of velocities, accelerations, the past */
static abut_status end_back(abut_adjoint *a, const abut_state_bar *bar, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const abut_recur_bars to = { &a->work.start, a->work.end, a->work.acc, a->work.target };
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        const int held = o->held[i / 3];
        a->work.end[i] += bar->x[i];
        abut_recur_give(&a->recur.v[held], i, bar->v[i], &to);
        a->work.q[i] = held || o->w.late_contact != 1 ? 0 : bar->a[i] / (m->mass[i / 3] * o->w.smooth);
        if (!held) abut_recur_give(&a->recur.a, i, bar->a[i], &to);
        else if (bar->a[i] != 0)
            return abut_fail(err, ABUT_E_FORMAT, "%s is let go after this step, and its acceleration is not differentiated",
                             abut_nodes_words(m, &(int32_t){ (int32_t)(i / 3) }, 1, (char[ABUT_NODES_WORDS]){ 0 }));
        for (int k = 0; k < ABUT_PAST && bar->past_x[k]; k++) {
            *(k ? a->work.start.past_x[k - 1] + i : a->work.start.x + i) += bar->past_x[k][i];
            *(k ? a->work.start.past_v[k - 1] + i : a->work.start.v + i) += bar->past_v[k][i];
        }
    }
    return ABUT_OK;
}

/* the stiffness of the barrier where the friction of the first pass was frozen; the contacts of frame `start` are known */
static abut_status start_friction(abut_adjoint *a, const abut_arrays *start, double *kappa, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_barrier_state *b = abut_barrier_state_of(&o->terms);
    const int first = !abut_arrays_find(start, "lag/node") && !abut_arrays_find(start, "lag/vertex");
    abut_status rc = abut_step_first_friction(&a->s, start, &a->report, err);
    *kappa = first ? b->kappa : b->in_frame;
    return rc;
}

/* frozen contacts of a pass; the frame at the start of the step has the contacts of the first pass; NULL: not checked */
static abut_status freeze(abut_adjoint *a, const abut_adjoint_pass *pass, const abut_frame *start, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    abut_lag in_frame = { 0 };
    if (!abut_friction_acts(a->model)) return ABUT_OK;
    abut_status rc = abut_adjoint_freeze(a, pass->from, pass->from_kappa, err);
    if (rc || a->opt.refined || !start || !(start->lag_node || start->lag_vertex)) return rc;
    rc = abut_lag_from_frame(&o->cm, start, &in_frame, err);
    if (!rc) rc = abut_frozen_agree(&a->frozen, &o->cm, &in_frame, err);
    abut_lag_clear(&in_frame);
    return rc ? abut_wrap(err, "lag/") : ABUT_OK;
}

/* a->passes of the step to frame `end` */
static abut_status find_passes(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_frame *end, double kappa,
                               abut_err *err)
{
    const int lags = abut_friction_acts(a->model) ? a->model->lags[0] : 1;
    abut_adjoint_pass *of = a->passes.of;
    a->passes.n = 1;
    a->passes.again = lags > 1 && !end->passes;
    if (end->passes) return abut_adjoint_take_passes(a, end, lags, kappa, err);
    if (lags > 1) return abut_adjoint_replay(a, start, at, end, lags, err);
    of[0] = abut_adjoint_last_pass(a, end, of[0].x);
    of[0].from = lags ? a->s.solver.prob.xn : of[0].x;
    of[0].from_kappa = lags ? kappa : of[0].kappa;
    return ABUT_OK;
}

abut_status abut_adjoint_begin(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end, abut_frame *f0,
                               abut_err *err)
{
    abut_frame f1;
    double kappa = 0;
    abut_status rc = abut_frame_view(end, a->model, &f1, err);
    if (!rc && !f1.kappa) rc = abut_fail(err, ABUT_E_FORMAT, "the end has no contact/kappa: no step has made it");
    if (!rc) rc = abut_frame_view(start, a->model, f0, err);
    a->s.damping.again = !rc && abut_integrator_rebounds(a->model) && abut_integrator_damped(f0, &f1);
    if (!rc) rc = abut_step_load(&a->s, start, NULL, at, f0, err);
    if (!rc) rc = start_friction(a, start, &kappa, err);
    return rc ? rc : find_passes(a, start, at, &f1, kappa, err);
}

/* Implicit Euler took a step of Newmark: its end has the acceleration by all forces but contact (motion.c of the stepper). */
static abut_status damped_back(abut_adjoint *a, const abut_arrays *end, abut_state_bar *bar, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_adjoint_pass *last = a->passes.of + a->passes.n - 1;
    abut_frame f;
    const int newmark = a->model->scheme && a->model->scheme[0] == ABUT_IMPLICIT_NEWMARK;
    if (!newmark || o->w.scheme == ABUT_IMPLICIT_NEWMARK) return ABUT_OK;
    if (abut_integrator_weights(a->model, ABUT_IMPLICIT_NEWMARK).late_contact != 1)
        return abut_fail(err, ABUT_E_FORMAT, "implicit Euler took this step, which is not differentiated if time.newmark.beta is "
                         "above gamma / 2; a smaller time step may need no such steps");
    const abut_status rc = abut_frame_view(end, a->model, &f, err);
    abut_codim_state_of(&o->terms)->strain_kappa = last->strain_kappa;
    return rc ? rc : abut_adjoint_acceleration_back(a, last->x, f.v, o->step.load_time, bar, err);
}

static abut_status go_back(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                           abut_state_bar *bar,
                           abut_adjoint_report *rep, abut_err *err)
{
    abut_objective *o = &a->s.solver.prob;
    const size_t n3 = 3 * (size_t)a->model->nv;
    abut_frame f0;
    abut_status rc = abut_adjoint_begin(a, start, at, end, &f0, err);
    if (!rc && a->opt.refined && a->passes.again && a->passes.n > 1) rc = abut_adjoint_closer(a, err);
    if (rc) return rc;
    abut_recur_of(a->model, o->w.scheme, o->w.h_force * o->w.h_force, &a->recur);
    abut_state_bar_zero(&a->work.start, a->model);
    if ((rc = damped_back(a, end, bar, err))) return rc;
    memset(a->work.end, 0, n3 * sizeof(double));
    memset(a->work.acc, 0, n3 * sizeof(double));
    memset(a->work.target, 0, n3 * sizeof(double));
    rc = end_back(a, bar, err);
    const int converged = a->passes.of[0].from == a->passes.of[0].x;
    for (int k = a->passes.n - 1; k >= 0 && !rc; k--) {
        rc = freeze(a, a->passes.of + k, k || converged ? NULL : &f0, err);
        if (!rc) rc = abut_adjoint_pass_back(a, a->passes.of + k, converged, rep, err);
        memcpy(a->work.end, a->work.next, n3 * sizeof(double));
    }
    for (size_t i = 0; i < n3 && !rc; i++) a->work.start.x[i] += a->work.end[i];
    rep->passes = a->passes.n;
    if (!rc)
        rc = abut_script_back(a->model, at.time, f0.x, o->held, a->work.target, a->work.start.x, &a->bars, &a->s.solver.scratch,
                              err);
    if (!rc) rc = abut_script_forces_back(a->model, at.time, abut_motion_load_time(a->model, at.time), a->work.acc, &a->bars,
                                          &a->s.solver.scratch, err);
    const abut_state_bar spare = *bar;
    if (!rc) *bar = a->work.start, a->work.start = spare;
    return rc;
}

abut_status abut_adjoint_step(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                              abut_state_bar *bar,
                              abut_adjoint_report *rep, abut_err *err)
{
    assert(a && bar && rep);
    const double clock = abut_time_wall();
    *rep = (abut_adjoint_report){ .bad_node = -1 };
    const abut_status rc = go_back(a, start, at, end, bar, rep, err);
    rep->seconds = abut_time_wall() - clock;
    return rc ? abut_wrap(err, "frames %lld and %lld", (long long)at.step, (long long)at.step + 1) : ABUT_OK;
}
