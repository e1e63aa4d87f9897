/* What the files of the barrier stepper have in common: motion.c knows where inertia and loads lead and what the velocities are
 * afterwards, guess.c where iterations begin, rebound.c which steps implicit Euler damps, growth.c when energy is made, check.c
 * proves a configuration, frame.c reads and writes frames, passes.c keeps results of friction passes, report_fill.c fills
 * reports, force_error.c estimates how exact contact forces are, barrier_stepper.c has the stages.  All is of one abut_stepper
 * (solve/step/barrier_stepper.h). */
#ifndef ABUT_SOLVE_STEP_STEP_PARTS_H
#define ABUT_SOLVE_STEP_STEP_PARTS_H

#include "solve/step/barrier_stepper.h"

/* ---- barrier_stepper.c ---- */

/** The step that follows a COMMITTED frame, or with its start x0[3 nv] that of a PENDING one: start values, inertial target, what
 * terms have in the frame; the iterate is at the frame.  Contacts are to be found.
 * Fails  as abut_frame_view, `load` and `begin` of terms, abut_step_load_past */
ABUT_MUST_USE abut_status abut_step_load(abut_stepper *s, const abut_arrays *frame, const double *x0, abut_instant at,
                                         abut_frame *f, abut_err *err);
/** Where the first frame of a scene has no friction data yet, and some shall act: freezes what touches at the iterate, with the
 * stiffness that balances there. */
ABUT_MUST_USE abut_status abut_step_first_friction(abut_stepper *s, const abut_arrays *frame, abut_report *rep, abut_err *err);

/* ---- lagged.c ---- */

/** Whether the last Newton matrix can be used again, on the processor, and something has friction: abut_step_follow. */
int abut_step_can_follow(const abut_stepper *s);
/** After a measured refresh: the normal forces for the next pass, by Newton's method on the fixed point.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC the matrix does not solve */
ABUT_MUST_USE abut_status abut_step_follow(abut_stepper *s, abut_report *rep, abut_err *err);
/** rep->lags, after a refresh.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_lag_change(abut_stepper *s, abut_report *rep, abut_err *err);

/* ---- motion.c ---- */

/** acc[3 nv] m/s^2: gravity and scripted forces of the step that begins at `time`, with their factors at the time `at`.
 * Fails  as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_accelerate(abut_stepper *s, double time, double at, double *acc, abut_err *err);
/** s->acc, and s->air where it acts: what accelerates the nodes in this step but the forces of the objective; explicit, as at
 * its start.
 * Fails  as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_load_forces(abut_stepper *s, abut_err *err);
/** What the scheme of this step remembers of the one before, and where inertia leads from there; after
 * abut_step_load_forces.
 * Fails  ABUT_E_GEOM the elastic force on a node is not finite (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_load_past(abut_stepper *s, const abut_frame *f, abut_err *err);
/** a[3 nv] m/s^2: the acceleration of a body at x with v that nothing touches, acc - M^-1 (dPsi/dx + C v + dR/dv), acc that by
 * loads; of obstacles 0.  Fails  ABUT_E_GEOM the elastic force on a node is not finite (names it); as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_free_acceleration(abut_stepper *s, const double *x, const double *v,
                                                      const double *acc, double *a, abut_err *err);
/** s->v_end, and s->a_end of a Newmark step, if it ends at the iterate. */
void abut_step_velocities(abut_stepper *s);
/** Velocities, and in Newmark accelerations (of beta = gamma/2 without contact): of a prescribed node the one it would have if it
 * were let go, 0 of one with a consistent mass.  The iterate has contacts, and the terms the friction that acted.
 * Fails  as abut_step_load_past */
ABUT_MUST_USE abut_status abut_step_finish(abut_stepper *s, abut_err *err);
/** The drag at the end of a step joins the loads of the air under which it was taken.  before: the frame where a Newmark step
 * finds those of its start. */
ABUT_MUST_USE abut_status abut_step_finish_drag(abut_stepper *s, const abut_arrays *before, abut_err *err);

/* ---- guess.c ---- */

/** v[3 nv] m/s: x + h v is where the iterations of the step shall begin (ABUT_GUESS_*); *none 1: at x.  s->solver.here has
 * contacts.  Fails  as abut_step_free_acceleration; ABUT_E_NUMERIC a diagonal block is not positive definite; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_guess(abut_stepper *s, double *v, int *none, abut_report *rep, abut_err *err);

/* ---- rebound.c ---- */

/** Reads what the frame tells of energy that midpoint or Newmark has created. */
void abut_step_load_damping(abut_stepper *s, const abut_frame *f);
/** After the first pass: whether elasticity has created so much energy that implicit Euler has to take the step.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_creates(abut_stepper *s, int *creates, abut_err *err);
/** After abut_step_finish: whether the steps to come are taken by implicit Euler, because elasticity created energy. */
ABUT_MUST_USE abut_status abut_step_decide_damping(abut_stepper *s, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_step_put_damping(const abut_stepper *s, abut_arrays *out, abut_err *err);
/** contact/kappa of a frame over the kappa of this step: frames have that of the model's scheme, whatever a step is taken by.
 * 1 in all models but those of midpoint and Newmark. */
double abut_step_kappa_weight(const abut_objective *p);

/* ---- growth.c ---- */

/** J: the energy of motion of what the solver leaves, if it is below that. */
double abut_step_least_motion(const abut_model *m);
/** Once the contacts of the start of a step are found. */
ABUT_MUST_USE abut_status abut_step_watch_begin(abut_stepper *s, abut_err *err);
/** After the energies of a report: that of the barrier, and whether all energy has grown without work of loads and motions. */
ABUT_MUST_USE abut_status abut_step_watch_energy(abut_stepper *s, abut_report *rep, abut_err *err);

/* ---- check.c ---- */

/** Nothing may touch and no injective element may be inverted at that point, by exact arithmetic; bounds of terms are kept.
 *
 * joined  exact arithmetic has led a free straight line here from where no edge went through a triangle, and one gets there by
 *         touching only: half-spaces are left to look at
 * Fails   `code`, naming elements and `when`, which says whose fault it is */
ABUT_MUST_USE abut_status abut_step_check(const abut_objective *p, const abut_point *at, int joined, abut_status code,
                                            const char *when, abut_err *err);

/* ---- frame.c ---- */

/** x, v[3 nv], the past, what terms keep, the waypoints: what both phases of a frame hold. */
ABUT_MUST_USE abut_status abut_step_put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out,
                                                abut_err *err);
/** contact/kappa of the COMMITTED frame at the end of this step over the kappa of this step: readers of a frame convert
 * stiffnesses to newtons by the weight of the scheme that goes on from it. */
double abut_step_end_weight(const abut_objective *p);
/** The waypoints of the present step, or of all steps that abut_path_join has made one: step/waypoints, absent where
 * there are none. */
ABUT_MUST_USE abut_status abut_step_put_waypoints(const abut_path *path, int32_t nv, abut_arrays *out, abut_err *err);
/** What --with asks for (solve/step/record.h); rep knows how well forces balance. */
ABUT_MUST_USE abut_status abut_step_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                                 abut_arrays *out, abut_err *err);

/* ---- passes.c ---- */

/** Whether the frame shall hold the results of friction passes. */
int abut_step_keeps_passes(const abut_stepper *s);
/** The result of a pass that is solved.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_keep_pass(abut_stepper *s, abut_err *err);
/** pass/ of a COMMITTED frame: all passes kept but the last. */
ABUT_MUST_USE abut_status abut_step_put_passes(const abut_stepper *s, abut_arrays *out, abut_err *err);

/* ---- force_error.c ---- */

/** error[no] N: how far the sum of contact and friction forces on each object is from that of a step solved exactly: by forces
 * that do not balance, by friction passes, by Newton's linear model.  After a refresh.  Fails  as abut_search_residual */
ABUT_MUST_USE abut_status abut_step_force_error(abut_stepper *s, double (*error)[3], abut_report *rep, abut_err *err);

/* ---- report_fill.c ---- */

/** Measures how well the forces balance with which the step ends.
 * Fails  ABUT_E_NUMERIC they are too far from balance (ABUT_UNBALANCED), and rounding does not explain it */
ABUT_MUST_USE abut_status abut_step_equilibrium(abut_stepper *s, abut_report *rep, abut_err *err);
/** Contacts, stretches, energies and momenta at the end of a step. */
ABUT_MUST_USE abut_status abut_step_report(abut_stepper *s, abut_report *rep, abut_err *err);
/** The same of a step that has failed, at the iterate, but for energies and momenta, which it does not have. */
void abut_step_report_failed(abut_stepper *s, abut_report *rep);

#endif
