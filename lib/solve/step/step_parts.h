/* Shared by the files of the barrier stepper: motion.c finds the first iterate, the motion by inertia and loads and the end
 * velocities, energy.c detects energy that schemes create, frame.c reads and writes frames, passes.c has the friction passes,
 * report_fill.c fills reports, barrier_stepper.c has the stages.  All work on one abut_stepper (solve/step/barrier_stepper.h). */
#ifndef ABUT_SOLVE_STEP_STEP_PARTS_H
#define ABUT_SOLVE_STEP_STEP_PARTS_H

#include "solve/step/barrier_stepper.h"

/* ---- barrier_stepper.c ---- */

/** Returns rc; of a failure, err begins with the number and the time of the step that starts at `at`. */
abut_status abut_step_name(abut_instant at, abut_status rc, abut_err *err);

/** Loads the step that follows a COMMITTED frame, or with its start x0[3 nv] that of a PENDING one: start values, inertial
 * target, state of the terms.  The iterate is at the frame, without contacts.
 * Fails  as abut_frame_view, `load` and `begin` of terms, abut_step_load_past */
ABUT_MUST_USE abut_status abut_step_load(abut_stepper *s, const abut_arrays *frame, const double *x0, abut_instant at,
                                         abut_frame *f, abut_err *err);
/** Freezes the friction of the contacts at the iterate, if the first frame of a scene with friction has no friction data yet. */
ABUT_MUST_USE abut_status abut_step_first_friction(abut_stepper *s, const abut_arrays *frame, abut_report *rep, abut_err *err);
/** Proves by exact arithmetic that no pair touches and no injective element is inverted at that point, and tests bounds of terms.
 *
 * joined  1: a straight line to here from a point without intersections was proved free by exact arithmetic, so that only
 *         half-spaces are left to test
 * Fails   `code`, naming elements and `when`, which says whose fault it is */
ABUT_MUST_USE abut_status abut_step_check(const abut_objective *p, const abut_point *at, int joined, abut_status code,
                                            const char *when, abut_err *err);

/* ---- motion.c ---- */

/** acc[3 nv] m/s^2: gravity and scripted forces of the step that begins at `time`, with their factors at the time `at`.
 * Fails  as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_accelerate(abut_stepper *s, double time, double at, double *acc, abut_err *err);
/** Computes s->acc, and s->air if air acts: accelerations in this step beside the forces of the objective, explicit, from its
 * start.
 * Fails  as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_load_forces(abut_stepper *s, abut_err *err);
/** Loads the past that the scheme of this step reads, and computes the inertial target; after
 * abut_step_load_forces.
 * Fails  ABUT_E_GEOM the elastic force on a node is not finite (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_load_past(abut_stepper *s, const abut_frame *f, abut_err *err);
/** Computes s->v_end, and s->a_end in Newmark, of a step that ends at the iterate. */
void abut_step_velocities(abut_stepper *s);
/** Computes velocities and, in Newmark, accelerations (of beta = gamma/2 without contact); at a prescribed node, those after its
 * release, 0 with a consistent mass.  The iterate has contacts, and the terms the friction that acted.
 * Fails  as abut_step_load_past */
ABUT_MUST_USE abut_status abut_step_finish(abut_stepper *s, abut_err *err);
/** Adds the drag at the end of a step to its loads of the air.  before: the frame in which a Newmark step finds those of its
 * start. */
ABUT_MUST_USE abut_status abut_step_finish_drag(abut_stepper *s, const abut_arrays *before, abut_err *err);
/** v[3 nv] m/s: the first iterate of the step is x + h v (ABUT_GUESS_*); *none 1: it is x.  s->solver.here has
 * contacts.  Fails  ABUT_E_GEOM the elastic force on a node is not finite (names it); ABUT_E_NUMERIC a diagonal block is not
 * positive definite; ABUT_E_NOMEM; as abut_mass_solve */
ABUT_MUST_USE abut_status abut_step_guess(abut_stepper *s, double *v, int *none, abut_report *rep, abut_err *err);

/* ---- energy.c ---- */

/** Reads from the frame the energy that midpoint or Newmark has created. */
void abut_step_load_damping(abut_stepper *s, const abut_frame *f);
/** *creates, after the first pass: elasticity has created so much energy that implicit Euler has to take the step.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_creates(abut_stepper *s, int *creates, abut_err *err);
/** Decides, after abut_step_finish, whether implicit Euler takes the next steps, because elasticity created energy. */
ABUT_MUST_USE abut_status abut_step_decide_damping(abut_stepper *s, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_step_put_damping(const abut_stepper *s, abut_arrays *out, abut_err *err);
/** Returns contact/kappa of a frame over the kappa of this step: frames have that of the model's scheme, also after steps by
 * implicit Euler.  1 except in models of midpoint and Newmark. */
double abut_step_kappa_weight(const abut_objective *p);
/** Finds elastic energy and that of contacts, J, at the start of the step with the terms of this step. */
ABUT_MUST_USE abut_status abut_start_potentials(const abut_objective *p, double *elastic, double *barrier, abut_arena *scratch,
                                                abut_err *err);
/** After the energies of a report: that of the barrier, and whether all energy has grown without work of loads and motions. */
ABUT_MUST_USE abut_status abut_step_watch_energy(abut_stepper *s, abut_report *rep, abut_err *err);

/* ---- passes.c ---- */

/** Returns 1 if abut_step_follow applies: the last Newton matrix can be used again, on the processor, and friction acts. */
int abut_step_can_follow(const abut_stepper *s);
/** Sets the normal forces for the next pass, after a measured refresh, by Newton's method on the fixed point.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC the matrix does not solve */
ABUT_MUST_USE abut_status abut_step_follow(abut_stepper *s, abut_report *rep, abut_err *err);
/** Fills rep->lags, after a refresh.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_lag_change(abut_stepper *s, abut_report *rep, abut_err *err);
/** Freezes the friction of the contacts at the iterate of a first frame with the normal forces that balance the other forces on
 * bodies.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_balance_first(abut_search *s, abut_err *err);
/** Returns 1 if the frame shall hold the results of friction passes. */
int abut_step_keeps_passes(const abut_stepper *s);
/** Keeps the result of a solved pass.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_step_keep_pass(abut_stepper *s, abut_err *err);
/** Writes pass/ of a COMMITTED frame: all passes kept but the last. */
ABUT_MUST_USE abut_status abut_step_put_passes(const abut_stepper *s, abut_arrays *out, abut_err *err);

/* ---- record.c ---- */

/** Writes the arrays of both phases of a frame: x, v[3 nv], the past, the state of the terms, the waypoints. */
ABUT_MUST_USE abut_status abut_step_put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out,
                                                abut_err *err);
/** Returns contact/kappa of the COMMITTED frame at the end of this step over the kappa of this step: readers of a frame convert
 * stiffnesses to newtons by the weight of the scheme that goes on from it. */
double abut_step_end_weight(const abut_objective *p);
/** Writes step/waypoints: those of the present step, or of all steps that abut_path_join has made one; absent if there
 * are none. */
ABUT_MUST_USE abut_status abut_step_put_waypoints(const abut_path *path, int32_t nv, abut_arrays *out, abut_err *err);
/** Writes the records `with` (solve/step/measures.h); rep has the force balance. */
ABUT_MUST_USE abut_status abut_step_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                                 abut_arrays *out, abut_err *err);
/** Fills out (cleared first) after abut_step_solve failed: as abut_step_suspend, with the last iterate as the candidate, and with
 * arrays that show the reason (formats/STATE.md):
 *     stuck/why        text       the message
 *     stuck/gradient   [nv, 3]    kg m, of the objective at the iterate; 0 for nodes that do not move
 *     stuck/direction  [nv, 3]    m, the last one
 *     stuck/residual, stuck/alpha [iterations kept]   m/s; accepted step lengths
 *     stuck/limit      [6]        bound of the last step: kind (contact/step_bound.h), nodes, tet; -1 for unused places
 * carry: the frame before, whose ABUT_A_CARRY arrays go along.  rep, why: of the step that failed. */
ABUT_MUST_USE abut_status abut_step_stuck(abut_stepper *s, const abut_arrays *carry, const abut_report *rep, const char *why,
                                          abut_arrays *out, abut_err *err);

/* ---- report_fill.c ---- */

/** Measures the balance of forces at the end of the step.
 * Fails  ABUT_E_NUMERIC they are too far from balance (ABUT_UNBALANCED), and rounding does not explain it */
ABUT_MUST_USE abut_status abut_step_equilibrium(abut_stepper *s, abut_report *rep, abut_err *err);
/** Reports contacts, stretches, energies and momenta at the end of a step. */
ABUT_MUST_USE abut_status abut_step_report(abut_stepper *s, abut_report *rep, abut_err *err);
/** Reports contacts and stretches of a failed step, at the iterate. */
void abut_step_report_failed(abut_stepper *s, abut_report *rep);
/** error[no] N: error of the sum of contact and friction forces on each object, against a step solved exactly: by residual
 * forces, by friction passes, by Newton's linear model.  After a refresh.  Fails  as abut_search_residual */
ABUT_MUST_USE abut_status abut_step_force_error(abut_stepper *s, double (*error)[3], abut_report *rep, abut_err *err);
/** Reports error[no], N, of the object where it is the largest part of largest[no], N. */
void abut_step_report_error(const double (*error)[3], const double *largest, int32_t no, abut_report *rep);
/** Reports the smallest gap of the pairs, and its nodes; -1: there are none. */
void abut_step_report_gap(const abut_collmesh *cm, const abut_pairs *pairs, abut_report *rep);

#endif
