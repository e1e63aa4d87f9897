/* Frames of a step: its state and records, and the state of a step that failed. */
#include "solve/step/step_parts.h"

#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/mass.h"
#include "model/motion.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static abut_status put_nodes(const char *name, const double *value, int32_t nv, abut_arrays *out, abut_err *err)
{
    double *to = abut_frame_put(out, name, nv, err);
    if (!to) return err->code;
    memcpy(to, value, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

/* Returns how many states before its start the next step reads, in BDF. */
static int next_past(const abut_objective *p)
{
    const int most = abut_schemes[abut_scheme_of(p->model)].past;
    const int known = abut_schemes[p->w.scheme].past + 1;
    return known < most ? known : most;
}

double abut_step_end_weight(const abut_objective *p)
{
    const int next = next_past(p), starts = next > abut_schemes[p->w.scheme].past;
    const double here = abut_integrator_step_weight(p->model, p->w.scheme);
    const double weight = abut_integrator_step_weight(p->model, abut_integrator_bdf(next)) / here;
    return starts ? weight : abut_step_kappa_weight(p);
}

/* Writes the past that the step after a COMMITTED frame needs, or (pending) the continued step. */
static abut_status put_past(const abut_stepper *s, int pending, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    if (abut_integrator_rebounds(p->model)) {
        abut_status rc = abut_step_put_damping(s, out, err);
        if (!rc && abut_scheme_is(abut_scheme_of(p->model), ABUT_SCHEME_ACCELERATION))
            rc = put_nodes("node/a", pending ? s->a : s->a_end, nv, out, err);
        return rc;
    }
    /* the start of this step is one step before its end, and so on */
    const int known = abut_schemes[p->w.scheme].past, n = pending ? known : next_past(p);
    abut_status rc = ABUT_OK;
    for (int k = 0; k < n && !rc; k++) {
        char name[24];
        snprintf(name, sizeof name, "node/x%d", k + 1);
        rc = put_nodes(name, pending ? s->past.x[k] : k ? s->past.x[k - 1] : p->xn, nv, out, err);
        snprintf(name, sizeof name, "node/v%d", k + 1);
        if (!rc) rc = put_nodes(name, pending ? s->past.v[k] : k ? s->past.v[k - 1] : s->v, nv, out, err);
    }
    return rc;
}

abut_status abut_step_put_waypoints(const abut_path *path, int32_t nv, abut_arrays *out, abut_err *err)
{
    const int first = path->step + 1, points = path->n - 1 - first;
    if (points <= 0) return ABUT_OK;
    double *to = abut_frame_put(out, "step/waypoints", (int64_t)points * nv, err);
    if (!to) return err->code;
    for (int i = 0; i < points; i++) memcpy(to + (size_t)i * path->n3, path->point[first + i], path->n3 * sizeof *to);
    return ABUT_OK;
}

abut_status abut_step_put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out, abut_err *err)
{
    assert(s);
    const abut_objective *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    abut_status rc = put_nodes("node/x", s->solver.here.x, nv, out, err);
    if (!rc) rc = put_nodes("node/v", v, nv, out, err);
    if (!rc) rc = put_past(s, pending, out, err);
    if (rc) return rc;
    const abut_term_frame as = { 0, pending ? abut_step_kappa_weight(p) : abut_step_end_weight(p), NULL };
    const int first = out->n;
    rc = abut_objective_store(p, &as, out, err);
    if (!rc) rc = abut_step_put_waypoints(&s->solver.path, nv, out, err);
    if (!rc) abut_frame_sort(out, first);
    return rc;
}

abut_status abut_step_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                   abut_arrays *out, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_point *at = &so->here;
    const abut_solved done = { .objective = &so->prob, .pairs = &at->pairs, .x = at->x, .y = at->y, .v0 = s->v, .v = s->v_end,
                               .past_v = s->past.v, .acc0 = s->acc0, .acc = s->acc, .air = s->air,
                               .force_residual = rep->force_residual, .first = s->at.step == 0 };
    const double last = s->at.time - (done.first ? 0 : so->prob.model->h[0]);
    abut_status rc = with ? abut_step_accelerate(s, last, s->at.time, s->acc0, err) : ABUT_OK;
    if (!rc && with && s->air) rc = abut_step_finish_drag(s, before, err);
    if (rc) return rc;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    rc = abut_record_put(&done, with, s->newton, before, out, &so->scratch, err);
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    return rc;
}

/* ---- failed steps ---- */

static abut_status put_vectors(const abut_search *so, const char *name, const double *v, const char *unit, abut_arrays *out,
                               abut_err *err)
{
    const int32_t nv = so->prob.model->nv;
    double *to = abut_arrays_put_rows(out, name, ABUT_F64, nv, 3, unit, err);
    if (!to) return err->code;
    memcpy(to, v, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

static abut_status put_gradient(abut_search *so, abut_arrays *out, abut_err *err)
{
    abut_status rc = abut_point_evaluate(&so->here, &so->prob, ABUT_HAS_GRADIENT, NULL, &so->scratch, err);
    if (!rc) rc = put_vectors(so, "stuck/gradient", so->here.g, "kg m", out, err);
    return rc ? rc : put_vectors(so, "stuck/direction", so->p, "m", out, err);
}

static abut_status put_history(const abut_report *rep, abut_arrays *out, abut_err *err)
{
    const int n = abut_report_rows(rep);
    double *alpha = abut_arrays_put_rows(out, "stuck/alpha", ABUT_F64, n, 0, "", err);
    if (!alpha) return err->code;
    for (int i = 0; i < n; i++) alpha[i] = abut_report_row(rep, i)->alpha;
    double *residual = abut_arrays_put_rows(out, "stuck/residual", ABUT_F64, n, 0, "m/s", err);
    if (!residual) return err->code;
    for (int i = 0; i < n; i++) residual[i] = abut_report_row(rep, i)->residual;
    return ABUT_OK;
}

static abut_status put_limit(const abut_objective *p, const abut_limit *l, abut_arrays *out, abut_err *err)
{
    int32_t *to = abut_arrays_put_rows(out, "stuck/limit", ABUT_I32, 6, 0, "", err);
    if (!to) return err->code;
    const int names = l->kind != ABUT_LIMIT_NONE && l->kind != ABUT_LIMIT_LENGTH && l->kind != ABUT_LIMIT_CFL;
    to[0] = (int32_t)l->kind;
    for (int k = 0; k < 4; k++) to[1 + k] = names ? l->node[k] : -1;
    to[5] = l->kind == ABUT_LIMIT_TET ? abut_objective_tet(p, l->tet) : l->term ? l->tet : -1;
    return ABUT_OK;
}

abut_status abut_step_stuck(abut_stepper *s, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                            abut_err *err)
{
    assert(s);
    abut_search *so = &s->solver;
    abut_status rc = abut_path_shorten(&so->path, &so->prob.cm, so->prob.cm.obstacle, &so->near, err);
    if (!rc) rc = abut_step_suspend(s, carry, out, err);
    if (!rc) rc = abut_arrays_put_text(out, "stuck/why", why, err);
    if (!rc) rc = put_gradient(so, out, err);
    if (!rc) rc = put_history(rep, out, err);
    return rc ? rc : put_limit(&so->prob, &so->failed.limit, out, err);
}
