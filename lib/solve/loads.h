/* What accelerates the nodes in a step of implicit Euler beside the terms of the objective. */
#ifndef ABUT_SOLVE_LOADS_H
#define ABUT_SOLVE_LOADS_H

#include "solve/objective.h"

/** acc[3 nv], m/s^2: gravity, scripted forces, and the air of open surfaces as it is at p->xn, in the step from `time` on.
 *
 * room   [3 nv]
 * Fails  as abut_mass_solve (energy/mass.h) */
ABUT_MUST_USE abut_status abut_loads_explicit(const abut_objective *p, double time, double *acc, double *room,
                                              abut_arena *scratch, abut_err *err);

#endif
