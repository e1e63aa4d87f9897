/* Energy that a time scheme creates: what implicit Euler damps, and what ends the run. */
#include "solve/step/step_parts.h"

#include "energy/barrier.h"
#include "energy/pressure.h"
#include "solve/search/search_ops.h"
#include "solve/step/measures.h"

#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <math.h>

/* ---- steps that implicit Euler damps ---- */

/* Midpoint and Newmark create energy in motions that their steps do not resolve.  A body that turns far in a step is shorter in
 * the middle of it than at its ends; midpoint stretches the ends, and the next step starts with that stretch as a velocity.
 * Newmark takes the mean force of both ends, whose work differs from the change of elastic energy.  The remedy is that for stiff
 * systems: single steps of implicit Euler damp oscillations from step to step (Rannacher 1984, for the trapezoidal rule), after
 * energy was created, as Dinev et al. 2018 decide.  The step that would create the energy is the first of them: it is taken
 * again, after its first pass. */

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
    if (creates || (p->w.share < 1 && swings(s))) begin_bout(r);
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

/* ---- growth ---- */

/* The total energy of a step, and whether the time scheme has created some.  Kinetic, elastic and gravity energy and that of the
 * barrier change by the work of loads, motions, friction and damping, and by work/numerical (solve/step/measures.h).  Friction
 * and damping only take.  In steps without loads and motions the energy can exceed its former values by numerical work alone.
 *
 * A multistep scheme hands the energy of a barrier to the bodies in the steps after a contact, so that the energy falls and rises
 * again.  The energy is compared with its maximum: over all steps since loads or motions worked, or over the last LATELY steps if
 * it stayed below that maximum in all of them.  The first steps of a run that does not start at step 0 find that maximum. */

#define GROWS 0.1       /* of the energy of motion, elasticity and contact; midpoint and Newmark are damped after 1/100 */
#define LOOKS 0.01      /* excess from which on the energy at the start of a step is measured too */
#define UNSOLVED 10     /* times the tolerance: a slower body is at rest */
enum { LATELY = 64, REACH = 8 /* steps: longer than any scheme remembers */ };

/* Energy of the contacts at the iterate over kappa, which does not depend on the stiffness. */
static abut_status unit_energy(abut_stepper *s, double *unit, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_point *at = &so->here;
    abut_barrier_state *b = abut_barrier_state_of(&so->prob.terms);
    const abut_at here = abut_objective_at(&so->prob, at->x, at->y, &at->pairs);
    const double kappa = b->kappa;
    *unit = 0;
    if (abut_search_count(so) == 0) return ABUT_OK;
    b->kappa = 1;
    const abut_status rc = abut_objective_energy_of(&so->prob, &here, 1 << ABUT_TERM_CONTACT, unit, &so->scratch, err);
    b->kappa = kappa;
    return rc;
}

void abut_watch_begin(abut_energy_watch *w, int64_t step, int resumes)
{
    if (!w->on || w->step != step) *w = (abut_energy_watch){ .step = step, .driven = resumes ? REACH : 0 };
}

/* *driven 1: loads, wind, drives of joints or prescribed motions may have done work in this step. */
static abut_status find_driven(const abut_watched *of, int *driven, abut_err *err)
{
    const abut_objective *p = of->objective;
    const abut_model *m = p->model;
    const abut_air *air = abut_air_of(&p->terms);
    double clamps = 0;
    const abut_status rc = abut_work_clamps(p, of->x, &clamps, err);
    *driven = of->driven || clamps != 0 || m->joint_drive || m->joint_limit || m->joint_motor;
    for (int k = 0; k < 3; k++) *driven |= air && air->drags && m->wind && m->wind[k] != 0;
    for (int32_t i = 0; i < 3 * m->nv && !*driven; i++)
        *driven = p->held[i / 3] ? of->x[i] != p->xn[i] : of->acc[i] != m->gravity[i % 3] && m->role[i / 3] != ABUT_NODE_OBSTACLE;
    return rc;
}

double abut_step_least_motion(const abut_model *m)
{
    const double v = UNSOLVED * m->tolerance[0];
    double mass = 0;
    for (int32_t i = 0; i < m->nv; i++)
        if (m->role[i] != ABUT_NODE_OBSTACLE) mass += m->mass[i];
    return 0.5 * mass * v * v;
}

/* Sets the largest energy to `most`. */
static void take(abut_energy_watch *w, double most, double motion)
{
    w->most = most;
    w->motion = motion;
    w->lately = w->lately_motion = -INFINITY;
    w->below = 0;
}

/* Energy at the start of the step, J, with the terms of this step: stiffnesses, pressures, seams may differ from the step before;
 * *motion: without gravity. */
static abut_status start_energy(const abut_watched *of, double *energy, double *motion, abut_arena *scratch, abut_err *err)
{
    const abut_objective *p = of->objective;
    const abut_mass *M = abut_mass_of(&p->terms);
    double elastic = 0, contact = 0;
    const abut_status rc = of->hard ? abut_objective_potential(p, p->xn, &elastic, scratch, err)
                                    : abut_start_potentials(p, &elastic, &contact, scratch, err);
    const double other = abut_kinetic_energy(M, of->v) + contact;
    *energy = other + elastic + abut_gravity_energy(M, p->xn);
    *motion = other + fabs(elastic);
    return rc;
}

/* Judges a step that has ended with `energy`, of which `motion` is without gravity. */
static abut_status judge(abut_energy_watch *w, const abut_watched *of, double energy, double motion, abut_report *rep,
                         abut_arena *scratch, abut_err *err)
{
    const double least = abut_step_least_motion(of->objective->model);
    double start = w->end, start_motion = 0;
    abut_status rc = ABUT_OK;
    if (!w->on) rc = start_energy(of, &start, &start_motion, scratch, err), take(w, start, start_motion);
    else if (energy - w->most > LOOKS * fmax(w->motion, least)) rc = start_energy(of, &start, &start_motion, scratch, err);
    if (w->on) w->most += start - w->end, w->lately += start - w->end;
    w->most += of->opened;
    w->lately += of->opened;
    const double excess = fmax(0, energy - w->most);
    w->motion = fmax(w->motion, motion - excess);
    rep->energy_growth = 1 + excess / fmax(w->motion, least);
    rep->energy_grows = rc == ABUT_OK && w->learns == 0 && excess > GROWS * fmax(w->motion, least);
    if (w->learns > 0 && w->learns-- && excess > 0) return take(w, energy, motion), rc;
    w->below = excess > 0 ? 0 : w->below + 1;
    w->lately = fmax(excess > 0 ? -INFINITY : w->lately, energy);
    w->lately_motion = fmax(excess > 0 ? -INFINITY : w->lately_motion, motion);
    if (w->below == LATELY) take(w, w->lately, w->lately_motion);
    return rc;
}

/* Fails a step whose energy has grown. */
static abut_status refuse(const abut_watched *of, const abut_report *rep, abut_err *err)
{
    const int scheme = abut_scheme_of(of->objective->model), damps = abut_scheme_is(scheme, ABUT_SCHEME_DAMPS);
    char better[64] = "";
    if (!rep->energy_grows || of->keeps) return ABUT_OK;
    if (!abut_scheme_is(scheme, ABUT_SCHEME_PLAIN))
        snprintf(better, sizeof better, ", or %s%s",
                 abut_scheme_names[damps ? ABUT_FIRST_SCHEME : abut_scheme_with(ABUT_SCHEME_DAMPS)],
                 damps ? "" : ", which damps every oscillation");
    return abut_fail(err, ABUT_E_NUMERIC, "total energy has grown to %.3g times what it was, without work of loads or motions, "
                     "accepted up to %g; the time scheme %s creates energy here: a smaller time.step may help%s",
                     rep->energy_growth, 1 + GROWS, abut_scheme_names[scheme], better);
}

abut_status abut_watch_energy(abut_energy_watch *w, const abut_watched *of, abut_report *rep, abut_arena *scratch, abut_err *err)
{
    const double motion = rep->kinetic + fabs(rep->elastic) + rep->barrier;
    const double end = rep->kinetic + rep->elastic + rep->barrier + rep->gravity;
    int driven = 0;
    assert(w->step == of->step);
    abut_status rc = find_driven(of, &driven, err);
    if (driven) w->driven = REACH;
    if (!w->on && of->step > 0) w->learns = REACH;
    if (rc || w->driven > 0) take(w, end, motion), w->driven--;
    else rc = judge(w, of, end, motion, rep, scratch, err);
    w->on = 1;
    w->step = of->step + 1;
    w->end = end;
    return rc ? rc : refuse(of, rep, err);
}

abut_status abut_step_watch_energy(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const double unit = abut_barrier_state_of(&p->terms)->kappa / (p->w.h_force * p->w.h_force);
    const abut_watched of = { .objective = p, .step = s->at.step, .v = s->v, .acc = s->acc, .x = s->solver.here.x,
                              .keeps = abut_fixed_iterations(s->solver.opt) };
    double contact = 0;
    const abut_status rc = unit_energy(s, &contact, err);
    rep->barrier = contact > 0 ? contact * unit : 0;
    return rc || !p->w.inertia ? rc : abut_watch_energy(&s->watch, &of, rep, &s->solver.scratch, err);
}
