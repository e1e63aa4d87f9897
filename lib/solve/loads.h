/* Accelerations of the nodes in a step of implicit Euler by loads that are no term of the objective. */
#ifndef ABUT_SOLVE_LOADS_H
#define ABUT_SOLVE_LOADS_H

#include "solve/objective.h"

/** acc[3 nv], m/s^2: gravity, scripted forces, and the air of open surfaces at p->xn, in the step from `time` on.
 *
 * room   [3 nv] scratch
 * Fails  as abut_mass_solve (energy/mass.h) */
ABUT_MUST_USE abut_status abut_loads_explicit(const abut_objective *p, double time, double *acc, double *room,
                                              abut_arena *scratch, abut_err *err);

#endif
