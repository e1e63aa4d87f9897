/* The classical two-step splitting of strain limits, for comparison with solving them together (Li 2020, 5.6.3):
 *
 *     predictor   x~ = a time step without limits
 *     projection  x = argmin 1/2 |x - x~|^2_M + h^2 kappa_s sum V b + kappa B(x),   from the last frame within the limits
 *
 * The barrier of contact stays, so that nothing intersects and the path from the last frame is free.  The projection is itself a
 * step of implicit Euler (solve/step/barrier_stepper.h): of a model with the limits, but no other forces, and from a frame with
 * the velocity (x~ - x_n) / h, so that x~ is its inertial target. */
#ifndef ABUT_SOLVE_STEP_SPLIT_H
#define ABUT_SOLVE_STEP_SPLIT_H

#include "solve/step/barrier_stepper.h"

/** Copies a model without other forces: elasticity of every kind (materials keep 1e-20 Pa, so that tets still cannot invert),
 * gravity, forces, wind, damping, friction.  Stretch limits, cloth (whose energy is its limit), contact and scripted positions
 * stay.
 * Fails  ABUT_E_FORMAT a time scheme that is not implicit Euler; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_split_model(const abut_arrays *model, abut_arrays *out, abut_err *err);

/** Projects the predictor of a step.  s: a stepper of the model by abut_split_model.
 *
 * start      the frame before, within the limits, at the instant `at`
 * predictor  the frame after a step without limits
 * out        the next frame: the predictor with other positions, velocities, waypoints and stiffnesses
 * Fails  as abut_step_advance; ABUT_E_GEOM the start is beyond a limit */
ABUT_MUST_USE abut_status abut_split_project(abut_stepper *s, const abut_arrays *start, abut_instant at,
                                             const abut_arrays *predictor, abut_arrays *out, abut_report *rep, abut_err *err);

#endif
