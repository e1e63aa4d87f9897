/* Scripted motion: where prescribed nodes must go in a step, and which accelerations act on the others. */
#ifndef ABUT_MODEL_MOTION_H
#define ABUT_MODEL_MOTION_H

#include "model/model.h"

#include <stdint.h>

/** Targets of the step from time t to t + h.  A motion is active when the middle of the step lies in its window, so
 * that rounding of t never flips it.  Each active MOVE displaces its nodes by a rigid motion from where they are:
 * x -> c + linear h + R(angular h)(x - c), c the centre at time t; several on one node add up.
 *  x[3 nv]       m   positions at t
 *  target[3 nv]  m   out: positions wanted at t + h; x itself for nodes that nothing moves
 *  held[nv]          out: 1 for prescribed nodes (obstacles, and handles under an active MOVE), else 0 */
void abut_motion_targets(const abut_model *m, double t, const double *x, double *target, uint8_t *held);

/** acc[3 nv] m/s^2: gravity plus the active FORCE motions at the step from t to t + h. */
void abut_motion_acceleration(const abut_model *m, double t, double *acc);

#endif
