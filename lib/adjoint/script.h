/* Where prescribed nodes are sent (model/motion.h), backwards: from bars of targets to those of positions and of motions.
 *
 * A target is an affine map of the node's own position at the start of the step, so differences over the length of the scene give
 * that derivative to rounding.  In the numbers of a motion it is smooth: central differences with two step lengths,
 * extrapolated. */
#ifndef ABUT_ADJOINT_SCRIPT_H
#define ABUT_ADJOINT_SCRIPT_H

#include "adjoint/bars.h"
#include "base/arena.h"

/** x_bar[3 nv] += (dt/dx)^T tb of prescribed nodes; bars of the motions += (dt/dtheta)^T tb.
 *
 * time, x[3 nv]  where the step starts;  tb[3 nv]  bars of targets, read at held[nv] alone
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_back(const abut_model *m, double time, const double *x, const uint8_t *held,
                                           const double *tb,
                                           double *x_bar, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);
/** Bars of accelerations acc_bar[3 nv] of the nodes that move, with factors at the time `at`: gravity, FORCE motions, their
 * factors, forces in newtons, and through these and what forces of the scene were divided by node/mass.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_script_forces_back(const abut_model *m, double time, double at, const double *acc_bar,
                                                  abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);

#endif
