/* What the files of the time scheme share: scheme_motion.c knows where inertia and loads lead and what the velocities are
 * afterwards, scheme_rebound.c when the midpoint rule is damped, scheme_check.c proves a configuration, scheme_frame.c takes a
 * step from frames and to them, scheme_report.c fills reports, scheme.c has the stages.  All is of one abut_stepper
 * (solve/step/barrier_stepper.h). */
#ifndef ABUT_SOLVE_STEP_STEP_PARTS_H
#define ABUT_SOLVE_STEP_STEP_PARTS_H

#include "solve/step/barrier_stepper.h"

/** Whether any friction coefficient is positive. */
int abut_scheme_rubs(const abut_model *m);

/* ---- scheme_motion.c ---- */

/** s->acc, and s->air where it acts: what accelerates the nodes in this step but the forces of the objective; explicit, as at
 * its start. */
void abut_scheme_load_forces(abut_stepper *s);
/** What the scheme of this step remembers of the one before, and where inertia leads from there; after
 * abut_scheme_load_forces.
 * Fails  ABUT_E_GEOM the elastic force on a node is not finite (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scheme_load_past(abut_stepper *s, const abut_frame *f, abut_err *err);
/** Velocities, and in Newmark accelerations: of a prescribed node the one it would have if it were let go.
 * Fails  as abut_scheme_load_past */
ABUT_MUST_USE abut_status abut_scheme_finish(abut_stepper *s, abut_err *err);
/** The drag at the end of a step joins the loads of the air under which it was taken.  before: the frame where a Newmark step
 * finds those of its start. */
ABUT_MUST_USE abut_status abut_scheme_finish_air(abut_stepper *s, const abut_arrays *before, abut_err *err);

/* ---- scheme_rebound.c ---- */

/** What the frame tells of energy that the midpoint rule has created. */
void abut_scheme_load_rebound(abut_stepper *s, const abut_frame *f);
/** After abut_scheme_finish: whether the steps to come are taken by implicit Euler, because elasticity created energy. */
ABUT_MUST_USE abut_status abut_scheme_rebound(abut_stepper *s, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_scheme_put_rebound(const abut_stepper *s, abut_arrays *out, abut_err *err);
/** contact/kappa of a frame over the kappa of this step: frames have that of the model's scheme, whatever a step is taken by.
 * 1 in all models but those of the midpoint rule. */
double abut_scheme_kappa_share(const abut_objective *p);

/* ---- scheme_check.c ---- */

/** Nothing may touch and no injective element may be inverted at that point, by exact arithmetic; shells are inside their bounds.
 *
 * joined  exact arithmetic has led a free straight line here from where no edge went through a triangle, and one gets there by
 *         touching only: half-spaces are left to look at
 * Fails   `code`, naming elements and `when`, which says whose fault it is */
ABUT_MUST_USE abut_status abut_scheme_check(const abut_objective *p, const abut_point *at, int joined, abut_status code,
                                            const char *when, abut_err *err);

/* ---- scheme_frame.c ---- */

/** x, v[3 nv], the past, kappa, the way and the frozen friction: what both phases of a frame hold. */
ABUT_MUST_USE abut_status abut_scheme_put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out,
                                                abut_err *err);
/** What --with asks for (solve/step/record.h); rep knows how well forces balance. */
ABUT_MUST_USE abut_status abut_scheme_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                                 abut_arrays *out, abut_err *err);
/** The augmented Lagrangian of a step that was given up while prescribed nodes were on their way; off when there is none. */
void abut_scheme_load_lagrangian(abut_objective *p, const abut_frame *f);
ABUT_MUST_USE abut_status abut_scheme_put_lagrangian(const abut_objective *p, abut_arrays *out, abut_err *err);

/* ---- scheme_report.c ---- */

/** How well the forces balance with which the step ends. */
ABUT_MUST_USE abut_status abut_scheme_equilibrium(abut_stepper *s, abut_report *rep, abut_err *err);
/** Contacts, stretches, energies and momenta at the end of a step. */
ABUT_MUST_USE abut_status abut_scheme_report(abut_stepper *s, abut_report *rep, abut_err *err);

#endif
