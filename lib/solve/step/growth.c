/* The total energy of a step, and whether the time scheme has created some.  Kinetic, elastic and gravity energy and that of the
 * barrier change by the work of loads, motions, friction and damping, and by work/numerical (solve/step/record.h).  Friction and
 * damping only take.  In steps without loads and motions the energy can exceed its former values by numerical work alone.
 *
 * A multistep scheme hands the energy of a barrier to the bodies in the steps after a contact, so that the energy falls and rises
 * again.  The energy is compared with its maximum: over all steps since loads or motions worked, or over the last LATELY steps if
 * it stayed below that maximum in all of them.  The first steps of a run that does not start at step 0 find that maximum. */
#include "energy/barrier_term.h"
#include "energy/pressure.h"
#include "model/laws.h"
#include "solve/search/search_ops.h"
#include "solve/step/measures.h"
#include "solve/step/step_parts.h"

#include <assert.h>
#include <math.h>

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

abut_status abut_step_watch_begin(abut_stepper *s, abut_err *err)
{
    struct abut_energy_watch *w = &s->watch;
    if (w->on && w->step == s->at.step) return ABUT_OK;
    *w = (struct abut_energy_watch){ .step = s->at.step, .contact = NAN };
    return s->solver.ops == &abut_search_processor ? unit_energy(s, &w->contact, err) : ABUT_OK;
}

/* *driven 1: loads, wind or prescribed motions may have done work in this step. */
static abut_status find_driven(const abut_stepper *s, int *driven, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const abut_model *m = p->model;
    const abut_air *air = abut_air_of(&p->terms);
    const double *x = s->solver.here.x;
    double clamps = 0;
    const abut_status rc = abut_work_clamps(p, x, &clamps, err);
    *driven = clamps != 0;
    for (int k = 0; k < 3; k++) *driven |= air && air->drags && m->wind && m->wind[k] != 0;
    for (int32_t i = 0; i < 3 * m->nv && !*driven; i++)
        *driven = p->held[i / 3] ? x[i] != p->xn[i] : s->acc[i] != m->gravity[i % 3] && m->role[i / 3] != ABUT_NODE_OBSTACLE;
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
static void take(struct abut_energy_watch *w, double most, double motion)
{
    w->most = most;
    w->motion = motion;
    w->lately = w->lately_motion = -INFINITY;
    w->below = 0;
}

/* Energy at the start of the step, J, with the terms of this step: stiffnesses, pressures, seams may differ from the step before.
 * `unit`: energy of contacts there over kappa; *motion: without gravity. */
static abut_status start_energy(abut_stepper *s, double unit, double *energy, double *motion, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const abut_mass *M = abut_mass_of(&p->terms);
    const double other = abut_kinetic_energy(M, s->v) + (s->watch.contact > 0 ? s->watch.contact * unit : 0);
    double elastic = 0;
    const abut_status rc = abut_objective_potential(p, p->xn, &elastic, &s->solver.scratch, err);
    *energy = other + elastic + abut_gravity_energy(M, p->xn);
    *motion = other + fabs(elastic);
    return rc;
}

/* Judges a step that has ended with `energy`, of which `motion` is without gravity. */
static abut_status judge(abut_stepper *s, double unit, double energy, double motion, abut_report *rep, abut_err *err)
{
    struct abut_energy_watch *w = &s->watch;
    const double least = abut_step_least_motion(s->solver.prob.model);
    double start = w->end, start_motion = 0;
    abut_status rc = ABUT_OK;
    if (!w->on) rc = start_energy(s, unit, &start, &start_motion, err), take(w, start, start_motion);
    else if (energy - w->most > LOOKS * fmax(w->motion, least)) rc = start_energy(s, unit, &start, &start_motion, err);
    if (w->on) w->most += start - w->end, w->lately += start - w->end;
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
static abut_status refuse(const abut_stepper *s, const abut_report *rep, abut_err *err)
{
    const abut_model *m = s->solver.prob.model;
    const int scheme = m->scheme ? m->scheme[0] : ABUT_IMPLICIT_EULER;
    if (!rep->energy_grows || s->solver.opt.stop.iterations > 0) return ABUT_OK;    /* such steps need not converge */
    return abut_fail(err, ABUT_E_NUMERIC, "step %lld (t = %g s): total energy has grown to %.3g times what it was, without work "
                     "of loads or motions, accepted up to %g; the time scheme %s creates energy here: a smaller time.step may "
                     "help%s",
                     (long long)s->at.step + 1, s->at.time, rep->energy_growth, 1 + GROWS, abut_scheme_names[scheme],
                     scheme == ABUT_IMPLICIT_EULER ? "" : scheme == ABUT_BDF2 ? ", or implicit-euler" :
                     ", or bdf2, which damps every oscillation");
}

abut_status abut_step_watch_energy(abut_stepper *s, abut_report *rep, abut_err *err)
{
    assert(s);
    struct abut_energy_watch *w = &s->watch;
    const abut_objective *p = &s->solver.prob;
    const double unit = abut_barrier_state_of(&p->terms)->kappa / (p->w.h_force * p->w.h_force);
    double contact = 0;
    abut_status rc = unit_energy(s, &contact, err);
    rep->barrier = contact > 0 ? contact * unit : 0;
    if (rc || !p->w.inertia) return rc;
    const double motion = rep->kinetic + fabs(rep->elastic) + rep->barrier;
    const double end = rep->kinetic + rep->elastic + rep->barrier + rep->gravity;
    int driven = 0;
    rc = find_driven(s, &driven, err);
    if (driven || isnan(w->contact)) w->driven = REACH;
    if (!w->on && s->at.step > 0) w->learns = REACH;
    if (rc || w->driven > 0) take(w, end, motion), w->driven--;
    else rc = judge(s, unit, end, motion, rep, err);
    w->on = 1;
    w->step = s->at.step + 1;
    w->contact = contact;
    w->end = end;
    return rc ? rc : refuse(s, rep, err);
}
