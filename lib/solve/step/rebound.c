/* The midpoint rule creates energy where it does not resolve what it moves: a body that turns far in a step is shorter in the
 * middle of it than at its ends, elasticity stretches the ends, and the next step starts with that stretch as a velocity.  The
 * remedy is that of stiff systems: single steps of implicit Euler, which take out what swings from step to step (Rannacher
 * 1984, for the trapezoidal rule), made when energy has been created, as Dinev et al. 2018 decide. */
#include "solve/step/step_parts.h"

#include "base/par.h"
#include "geom/tet.h"

#include <assert.h>
#include <math.h>

#define SWING 1.5
#define GAIN_MAX 0.01       /* of kinetic and elastic energy: what resolved motion gains stays below it */
enum { RUN_MAX = 64 };

/* What elasticity has added to the energy of the system in a midpoint step, J.  Forces that act in z do the work
 * -dPsi/dx(z).(x' - x), which is what the kinetic energy gets of it, exactly; Psi gives up Psi(x) - Psi(x'). */
static abut_status elastic_gain(abut_stepper *s, double *gain, double *psi, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *p = &so->prob;
    const int32_t n3 = 3 * p->model->nv;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *g = ABUT_NEW(&so->scratch, double, (size_t)n3), before = 0;
    if (!g) return abut_fail(err, ABUT_E_NOMEM, "midpoint: %d numbers", n3);
    const abut_at at = abut_objective_at(p, so->here.x, NULL, NULL);
    abut_status rc = abut_objective_potential_gradient(p, &at, 1, g, &so->scratch, err);
    if (!rc) rc = abut_objective_potential(p, p->xn, &before, &so->scratch, err);
    if (!rc) rc = abut_objective_potential(p, so->here.x, psi, &so->scratch, err);
    abut_acc sum = { 0, 0 };
    abut_acc_add(&sum, *psi);
    abut_acc_add(&sum, -before);
    for (int32_t i = 0; i < n3; i++) abut_acc_add(&sum, -g[i] * (so->here.x[i] - p->xn[i]));
    *gain = sum.hi + sum.lo;
    abut_arena_release(&so->scratch, mark);
    return rc;
}

/* 1 when the step has changed the volume of some tet by more than the factor SWING: then it resolves no wave in it. */
static int swings(const abut_stepper *s)
{
    const abut_objective *p = &s->solver.prob;
    for (int32_t t = 0; t < p->model->nt; t++) {
        const int32_t *node = p->model->tet + 4 * (size_t)t;
        const double before = abut_tet_volume6(p->xn, node), after = abut_tet_volume6(s->solver.here.x, node);
        if (!(after < SWING * before && before < SWING * after)) return 1;
    }
    return 0;
}

void abut_step_load_damping(abut_stepper *s, const abut_frame *f)
{
    s->damping = (struct abut_midpoint_damping){ f->gain ? f->gain[0] : 0, f->euler_left ? f->euler_left[0] : 0,
                                        f->euler_bout ? f->euler_bout[0] : 0 };
}

abut_status abut_step_decide_damping(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    struct abut_midpoint_damping *r = &s->damping;
    double gain = 0, psi = 0;
    if (!p->model->scheme || p->model->scheme[0] != ABUT_MIDPOINT) return ABUT_OK;
    rep->damped = p->w.scheme != ABUT_MIDPOINT;
    if (rep->damped) {
        r->steps_left--;
        r->gain = 0;
        return ABUT_OK;
    }
    const abut_status rc = elastic_gain(s, &gain, &psi, err);
    if (rc) return rc;
    r->gain = fmax(0, r->gain + gain);
    if (r->gain > GAIN_MAX * (abut_kinetic_energy(abut_mass_of(&p->terms), s->v_end) + psi) || swings(s)) {
        r->last_run = r->last_run == 0 ? 1 : 2 * r->last_run < RUN_MAX ? 2 * r->last_run : RUN_MAX;
        r->steps_left = r->last_run;
        r->gain = 0;
    } else {
        r->last_run /= 2;
    }
    return ABUT_OK;
}

abut_status abut_step_put_damping(const abut_stepper *s, abut_arrays *out, abut_err *err)
{
    assert(s);
    const struct abut_midpoint_damping *r = &s->damping;
    double *gain = r->gain > 0 ? abut_frame_put(out, "midpoint/gain", 1, err) : NULL;
    if (r->gain > 0 && !gain) return err->code;
    if (gain) *gain = r->gain;
    if (!r->last_run && !r->steps_left) return ABUT_OK;
    int32_t *left = abut_frame_put(out, "midpoint/damped-steps", 1, err);
    int32_t *bout = left ? abut_frame_put(out, "midpoint/bout", 1, err) : NULL;
    if (!bout) return err->code;
    *left = r->steps_left;
    *bout = r->last_run;
    return ABUT_OK;
}

double abut_step_kappa_weight(const abut_objective *p)
{
    const int midpoint = p->model->scheme && p->model->scheme[0] == ABUT_MIDPOINT;
    const double here = abut_integrator_step_weight(p->model, p->w.scheme);
    return midpoint ? abut_integrator_step_weight(p->model, ABUT_MIDPOINT) / here : 1;
}
