#include "energy/barrier_term.h"
#include "energy/codim_term.h"
#include "energy/prescribed.h"
#include "solve/step/step_parts.h"

#include "model/motion.h"

#include <assert.h>
#include <string.h>

static abut_status put_nodes(const char *name, const double *value, int32_t nv, abut_arrays *out, abut_err *err)
{
    double *to = abut_frame_put(out, name, nv, err);
    if (!to) return err->code;
    memcpy(to, value, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

/* What the step after a COMMITTED frame has to know, or (pending) the one that goes on. */
static abut_status put_past(const abut_stepper *s, int pending, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    const int scheme = p->model->scheme ? p->model->scheme[0] : ABUT_IMPLICIT_EULER;
    if (scheme == ABUT_MIDPOINT) return abut_step_put_damping(s, out, err);
    if (scheme == ABUT_IMPLICIT_NEWMARK) return put_nodes("node/a", pending ? s->a : s->a_end, nv, out, err);
    if (scheme != ABUT_BDF2 || (pending && p->w.scheme != ABUT_BDF2)) return ABUT_OK;
    const abut_status rc = put_nodes("node/x1", pending ? s->x1 : p->xn, nv, out, err);
    return rc ? rc : put_nodes("node/v1", pending ? s->v1 : s->v, nv, out, err);
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
    double *kappa = abut_frame_put(out, "contact/kappa", 1, err);
    if (!kappa) return err->code;
    /* a reader of the frame converts it to newtons by the weight of the model's scheme: so does the first step of BDF2 */
    const int starts = !pending && p->w.scheme == ABUT_IMPLICIT_EULER && p->model->scheme && p->model->scheme[0] == ABUT_BDF2;
    *kappa = abut_barrier_state_of(&p->terms)->kappa;
    *kappa *= starts ? abut_integrator_step_weight(ABUT_BDF2) : abut_step_kappa_weight(p);
    if (abut_codim_of(&p->terms)->bounded) {
        double *strain = abut_frame_put(out, "strain/kappa", 1, err);
        if (!strain) return err->code;
        *strain = abut_codim_state_of(&p->terms)->strain_kappa;
    }
    const abut_path *path = &s->solver.path;
    const int first = path->step + 1, points = path->n - 1 - first;
    if (points > 0) {
        double *to = abut_frame_put(out, "step/waypoints", (int64_t)points * nv, err);
        if (!to) return err->code;
        for (int i = 0; i < points; i++) memcpy(to + (size_t)i * path->n3, path->point[first + i], path->n3 * sizeof *to);
    }
    return abut_step_has_friction(p->model) ? abut_lag_to_frame(abut_lag_of(&p->terms), out, err) : ABUT_OK;
}

abut_status abut_step_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                   abut_arrays *out, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_point *at = &so->here;
    const abut_solved done = { .objective = &so->prob, .pairs = &at->pairs, .x = at->x, .y = at->y, .v0 = s->v, .v = s->v_end,
                               .v1 = s->v1, .acc0 = s->acc0, .acc = s->acc, .air = s->air,
                               .force_residual = rep->force_residual, .first = s->at.step == 0 };
    if (with) abut_motion_acceleration(so->prob.model, s->at.time - (done.first ? 0 : so->prob.model->h[0]), s->acc0);
    abut_status rc = with && s->air ? abut_step_finish_drag(s, before, err) : ABUT_OK;
    if (rc) return rc;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    rc = abut_record_put(&done, with, s->newton, before, out, &so->scratch, err);
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    return rc;
}

void abut_step_load_lagrangian(abut_objective *p, const abut_frame *f)
{
    if (!f->penalty) return;
    abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    al->kap = f->penalty[0];
    memcpy(al->lam, f->multiplier, 3 * (size_t)p->model->nv * sizeof *al->lam);
    al->on = 1;
    abut_objective_number(p);
}

abut_status abut_step_put_lagrangian(const abut_objective *p, abut_arrays *out, abut_err *err)
{
    const int32_t nv = p->model->nv;
    const abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    const abut_status rc = abut_arrays_put_f64(out, "step/penalty", al->kap, "", err);
    if (rc) return rc;
    double *lam = abut_arrays_put_rows(out, "step/multiplier", ABUT_F64, nv, 3, "kg^(1/2) m", err);
    if (!lam) return err->code;
    memcpy(lam, al->lam, 3 * (size_t)nv * sizeof *lam);
    return ABUT_OK;
}
