/* Scripted motion: where prescribed nodes must go in a step, and which accelerations act on the others.
 *
 * A step from t to t + h belongs to a motion if its middle lies in the motion's window [t0, t1), to 1e-9 h, so that rounding of
 * t does not matter.  Steps cover the whole motion: the first one begins at script time t0, the last one ends at t1, and every
 * other one ends at t + h.  Obstacles are always prescribed: they follow every part of a step that lies in the window, and rest
 * outside.
 *
 * Prescribed nodes move from their present positions by the script's displacement, c the centre (for MOVE at that time):
 *   MOVE  x -> c + linear dt + R(angular dt) exp(scale dt) (x - c), the motion of a velocity field linear + angular x
 *         (x - c) + scale (x - c)
 *   KEYS  x -> c + T' + R' S' (R S)^-1 (x - c - T), the poses (T, R, S) before and after: T and S between two keys on
 *         straight lines, R by the shorter rotation at even speed (Shoemake 1985).  A smooth motion takes u^2 (3 - 2u) for the
 *         fraction u of the time between two keys
 *   PATH  x -> the position at that time, on straight lines between keys; before the first key, on a straight line from the
 *         node's present position to the first position
 * Steps pass on only x, so that a frame is a checkpoint.
 *
 * A load with keys is multiplied by their factor: linear between keys (or smooth, as above), constant before the first and
 * after the last. */
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
/** Rotates the unit vectors d and u as motion k rotates its nodes in that step; *about, rad: angle about d, which may exceed a
 * revolution.  Returns 1; 0: the motion does not rotate, d and u are unchanged.  Positions of a PATH have no rotation. */
int abut_motion_rotate(const abut_model *m, int32_t k, double t, double d[3], double u[3], double *about);

/** 1 when the step from time t to t + h belongs to motion k, a row of motion/. */
int abut_motion_has_step(const abut_model *m, int32_t k, double t);

/** s: the last start, finite end or key of motions and pressures, after which the script does not change; -infinity without
 * any. */
double abut_motion_last_event(const abut_model *m);

/** s: the time at which the step from t to t + h takes its loads: its end; its middle in the midpoint rule, which takes all
 * smooth forces there. */
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
 * the time `at`.  x[3 nv] m: where the step starts.  A torque T turns its nodes about their centre of mass c: node i gets
 * (I^-1 T) x (x_i - c), I their tensor of inertia at x.  These forces have the sum 0 and the moment T, and deform nothing. */
void abut_motion_acceleration(const abut_model *m, double t, const double *x, double at, double *acc);
/** f[3 nv] N: the FORCE motions of that step in newtons, with their factors; returns 1 if there is one. */
int abut_motion_load(const abut_model *m, double t, double at, double *f);

/* Demand of the motor of a joint in a step. */
typedef struct abut_motor {
    int kind, exact;    /* ABUT_MOTOR_*, NONE: it rests; 1: its joint follows exactly */
    int begins;         /* 1: it rested in the step before */
    double value;       /* PLACE: at the end of the step; RATE: what it adds to the coordinate; EFFORT: N m or N */
    double rate;        /* mean of PLACE and RATE in the step, 1/s */
} abut_motor;
/** Returns what the motor of joint j asks for in the step from t to t + h. */
abut_motor abut_motor_step(const abut_model *m, int32_t j, double t);

/** Takes the locked combinations (lock/) out of to - from, both [3 nv] m; from NULL: 0.  row[nv]: where a node is in both; NULL:
 * at its number. */
void abut_locks_keep(const abut_model *m, const int32_t *row, const double *from, double *to);
/** 1: a lock has the node. */
int abut_locks_have(const abut_model *m, int32_t node);

/** Checks lock/: free nodes of one object, unit rows that are orthogonal to others of these nodes.
 * Fails  ABUT_E_FORMAT naming the array and the row */
ABUT_MUST_USE abut_status abut_check_locks(const abut_model *m, abut_err *err);

/** Checks motion/ and key/ of a model whose nodes are checked: kinds, windows, nodes that may be moved, keys in ascending time
 * with what each kind needs.
 * Fails  ABUT_E_FORMAT naming the array and the row */
ABUT_MUST_USE abut_status abut_check_motions(const abut_model *m, abut_err *err);
/** Checks the keys of pressures, and factors for them.
 * Fails  ABUT_E_FORMAT naming the array and the row */
ABUT_MUST_USE abut_status abut_check_pressures(const abut_model *m, abut_err *err);

#endif
