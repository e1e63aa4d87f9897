/* Scripted motion: where prescribed nodes must go in a step, and which accelerations act on the others.
 *
 * A step from t to t + h belongs to a motion when its middle lies in the motion's window [t0, t1), to 1e-9 h, so that rounding
 * of t does not matter.  Steps do the whole motion: the first that belongs to it begins where the script is at t0, the last ends
 * where it is at t1, and at the end of another one the script is where it is at t + h.  Obstacles cannot be let go: they follow
 * every part of a step that lies in the window, and rest outside.
 *
 * Prescribed nodes move from where they are by what the script does meanwhile, c the centre (for MOVE at that time):
 *   MOVE  x -> c + linear dt + R(angular dt) exp(scale dt) (x - c), the motion of a velocity field linear + angular x
 *         (x - c) + scale (x - c)
 *   KEYS  x -> c + T' + R' S' (R S)^-1 (x - c - T), the poses (T, R, S) before and after: T and S between two keys on
 *         straight lines, R by the shorter rotation at even speed (Shoemake 1985).  A smooth motion takes u^2 (3 - 2u) for the
 *         fraction u of the time between two keys
 *   PATH  x -> the position at that time, on straight lines between keys; where it begins before its first key, on a straight
 *         line from where the node is to the first position
 * Nothing is remembered from step to step but x, so that a frame is a checkpoint.
 *
 * A load with keys is multiplied by their factor at a time, on straight lines between keys (or smooth ones, as above), and by
 * that of the first or the last key outside. */
#ifndef ABUT_MODEL_MOTION_H
#define ABUT_MODEL_MOTION_H

#include "model/model.h"

#include <stdint.h>

/** Targets of the step from time t to t + h.  Motions that move a node at the same time add up.
 *  x[3 nv]       m   positions at t
 *  target[3 nv]  m   out: positions wanted at t + h; x itself for nodes that nothing moves
 *  held[nv]          out: 1 for prescribed nodes (obstacles, and handles under a motion of this step), else 0 */
void abut_motion_targets(const abut_model *m, double t, const double *x, double *target, uint8_t *held);

/** v[3 nv], m/s: nodes of bodies that the first step prescribes get the velocity of their motion at time 0; x[3 nv] m. */
void abut_motion_first_velocities(const abut_model *m, const double *x, double *v);

/** by[nv]: the motion that prescribes a node of a body in the step from time t to t + h; -1: none. */
void abut_motion_owners(const abut_model *m, double t, int32_t *by);
/** Rotates the unit vectors d and u as motion k rotates what it moves in that step; *about, rad: how far about d meanwhile, more
 * than a revolution included.  Returns 1; 0: it does not rotate, and d and u are as they were.  Positions of a PATH have no
 * rotation. */
int abut_motion_rotate(const abut_model *m, int32_t k, double t, double d[3], double u[3], double *about);

/** 1 when the step from time t to t + h belongs to motion k, a row of motion/. */
int abut_motion_has_step(const abut_model *m, int32_t k, double t);

/** s: after it the script has nothing to begin, to end or to change any more: the last start, finite end or key of its motions
 * and of pressures; -infinity without any. */
double abut_motion_last_event(const abut_model *m);

/** s: when the step from t to t + h takes its loads: at its end; in the midpoint rule, which takes all smooth forces in the
 * middle, there. */
double abut_motion_load_time(const abut_model *m, double t);

/* A factor at a time: f[lo] + u (f[hi] - f[lo]) of f = key/factor; lo < 0: 1 at all times. */
typedef struct abut_factor {
    int32_t lo, hi;
    double u, value;
} abut_factor;
/** Returns the factor of FORCE motion k at the time `at`, or at the end of the motion if that is earlier. */
abut_factor abut_motion_factor(const abut_model *m, int32_t k, double at);
/** Returns the factor of an object's pressure at the time `at`. */
abut_factor abut_pressure_factor(const abut_model *m, int32_t object, double at);

/** acc[3 nv] m/s^2: gravity plus the FORCE motions of the step from t to t + h, without those in newtons, with their factors at
 * the time `at`. */
void abut_motion_acceleration(const abut_model *m, double t, double at, double *acc);
/** f[3 nv] N: the FORCE motions of that step in newtons, with their factors; returns 1 if there is one. */
int abut_motion_load(const abut_model *m, double t, double at, double *f);

#endif
