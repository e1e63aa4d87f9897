/* The state of a failed step as a PENDING frame: the step can be continued from it, and it shows the reason. */
#ifndef ABUT_SOLVE_STEP_STUCK_H
#define ABUT_SOLVE_STEP_STUCK_H

#include "solve/step/barrier_stepper.h"

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

#endif
