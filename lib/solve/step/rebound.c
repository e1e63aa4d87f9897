/* Midpoint and Newmark create energy in motions that their steps do not resolve.  A body that turns far in a step is shorter in
 * the middle of it than at its ends; midpoint stretches the ends, and the next step starts with that stretch as a velocity.
 * Newmark takes the mean force of both ends, whose work differs from the change of elastic energy.  The remedy is that for stiff
 * systems: single steps of implicit Euler damp oscillations from step to step (Rannacher 1984, for the trapezoidal rule), after
 * energy was created, as Dinev et al. 2018 decide.  The step that would create the energy is the first of them: it is taken
 * again, after its first pass. */
#include "solve/step/measures.h"
#include "solve/step/step_parts.h"

#include "base/par.h"
#include "geom/tet.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#define SWING 1.5
#define GAIN_MAX 0.01       /* of kinetic and elastic energy; resolved motion gains less */
#define NOISE (1e5 * DBL_EPSILON)   /* of the elastic energy at strains of 1, below which energies of many steps are rounding */
enum { RUN_MAX = 64 };

/* Finds the energy that elasticity has added to the system in a step, J: Psi(x') - Psi(x) + F.(x' - x), less the work of moments
 * on clamps of rods, which F does not have.
 *
 * Midpoint: F = dPsi/dx(z).  Newmark: F = (1-G) dPsi/dx(x) + G dPsi/dx(x'), the force in M ((1-G) a + G a').  Then K the kinetic
 * energy, x' - x = h (v + v')/2 + h^2 (B - G/2) (a' - a), so K' - K = (v' - v).M (v + v')/2, and E = K + h^2/2 (B - G/2) a.M a
 * changes by ((1-G) a + G a').M (x' - x) - h^2 (B - G/2) (G - 1/2) |a' - a|^2_M: by the work of -F, of loads and of contact, less
 * what G > 1/2 damps.  With B = G/2 E is K. */
static abut_status elastic_gain(abut_stepper *s, double *gain, double psi[2], abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_objective *p = &so->prob;
    const int32_t n3 = 3 * p->model->nv;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *g = ABUT_NEW(&so->scratch, double, (size_t)n3), clamps = 0;
    if (!g) return abut_fail(err, ABUT_E_NOMEM, "elastic energy of a step: %d numbers", n3);
    const abut_at at = abut_objective_at(p, so->here.x, NULL, NULL), start = { p->xn, p->xn, NULL, NULL, &p->step };
    abut_status rc = abut_objective_potential_gradient(p, &at, p->w.late, g, &so->scratch, err);
    if (!rc && p->w.late != 1) rc = abut_objective_potential_gradient(p, &start, 1 - p->w.late, g, &so->scratch, err);
    if (!rc) rc = abut_work_clamps(p, so->here.x, &clamps, err);
    if (!rc) rc = abut_objective_potential(p, p->xn, &psi[0], &so->scratch, err);
    if (!rc) rc = abut_objective_potential(p, so->here.x, &psi[1], &so->scratch, err);
    abut_acc sum = { 0, 0 };
    abut_acc_add(&sum, psi[1]);
    abut_acc_add(&sum, -psi[0]);
    abut_acc_add(&sum, -clamps);
    for (int32_t i = 0; i < n3; i++) abut_acc_add(&sum, -g[i] * (so->here.x[i] - p->xn[i]));
    *gain = sum.hi + sum.lo;
    abut_arena_release(&so->scratch, mark);
    return rc;
}

/* Returns 1 if the step has changed the volume of a tet by more than the factor SWING: then it resolves no wave in it. */
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

/* Begins a run of steps by implicit Euler, twice as many as the last time. */
static void begin_bout(struct abut_rebound_damping *r)
{
    r->last_run = r->last_run == 0 ? 1 : 2 * r->last_run < RUN_MAX ? 2 * r->last_run : RUN_MAX;
    r->steps_left = r->last_run;
    r->gain = 0;
}

void abut_step_load_damping(abut_stepper *s, const abut_frame *f)
{
    s->damping = (struct abut_rebound_damping){ f->gain ? f->gain[0] : 0, f->euler_left ? f->euler_left[0] : 0,
                                                f->euler_bout ? f->euler_bout[0] : 0, s->damping.again, NULL };
    if (s->damping.again) begin_bout(&s->damping);
}

/* *sum J: energy created by steps since the last damped one, with this step; *creates 1: it is too much.  s->v_end is known.  It
 * sums fractions of the energy of each step: the gain of a pendulum is a small one at its bottom, not at its turning point. */
static abut_status sum_gains(abut_stepper *s, double *sum, int *creates, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const abut_mass *M = abut_mass_of(&p->terms);
    double gain = 0, psi[2] = { 0, 0 };
    const abut_status rc = elastic_gain(s, &gain, psi, err);
    if (rc) return rc;
    const double least = abut_step_least_motion(p->model) + NOISE * p->stiffness;
    const double before = abut_kinetic_energy(M, s->v) + fabs(psi[0]) + least;
    const double after = abut_kinetic_energy(M, s->v_end) + fabs(psi[1]) + least;
    *sum = fmax(0, s->damping.gain * (after / before) + gain);
    *creates = *sum > GAIN_MAX * after;
    return ABUT_OK;
}

abut_status abut_step_creates(abut_stepper *s, int *creates, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    double sum;
    *creates = 0;
    if (!abut_integrator_rebounds(p->model) || p->w.scheme != p->model->scheme[0]) return ABUT_OK;
    abut_step_velocities(s);
    return sum_gains(s, &sum, creates, err);
}

abut_status abut_step_decide_damping(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    struct abut_rebound_damping *r = &s->damping;
    int creates = 0;
    if (!abut_integrator_rebounds(p->model)) return ABUT_OK;
    rep->damped = p->w.scheme != p->model->scheme[0];
    if (rep->damped) {
        r->steps_left--;
        r->gain = 0;
        return ABUT_OK;
    }
    const abut_status rc = sum_gains(s, &r->gain, &creates, err);
    if (rc) return rc;
    if (creates || (p->w.scheme == ABUT_MIDPOINT && swings(s))) begin_bout(r);
    else r->last_run /= 2;
    return ABUT_OK;
}

abut_status abut_step_put_damping(const abut_stepper *s, abut_arrays *out, abut_err *err)
{
    assert(s);
    const struct abut_rebound_damping *r = &s->damping;
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
    const double here = abut_integrator_step_weight(p->model, p->w.scheme);
    return abut_integrator_rebounds(p->model) ? abut_integrator_step_weight(p->model, p->model->scheme[0]) / here : 1;
}
