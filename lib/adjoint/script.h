/* Targets of prescribed nodes (model/motion.h), backwards: from bars of targets to bars of positions and of motions.
 *
 * A target is an affine map of the node's position at the start of the step, so differences over the length of the scene give the
 * derivative to rounding.  The derivative by the numbers of a motion is taken by central differences with two step lengths,
 * extrapolated. */
#ifndef ABUT_ADJOINT_SCRIPT_H
#define ABUT_ADJOINT_SCRIPT_H

#include "adjoint/bars.h"
#include "base/arena.h"

/** x_bar[3 nv] += (dt/dx)^T tb of prescribed nodes; bars of the motions += (dt/dtheta)^T tb.
 *
 * time, x[3 nv]  start of the step;  tb[3 nv]  bars of targets, read at held[nv] alone
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_back(const abut_model *m, double time, const double *x, const uint8_t *held,
                                           const double *tb,
                                           double *x_bar, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);
/** Adds to bars of gravity, FORCE motions, their factors and forces in newtons, from bars acc_bar[3 nv] of the accelerations of
 * free nodes, with factors at the time `at`; also to bars of node/mass, by which forces are divided.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_forces_back(const abut_model *m, double time, double at, const double *acc_bar,
                                                  abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);

#endif
