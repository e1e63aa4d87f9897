/* Hard contact as a stepper (solve/nodal/nodal.h), with what makes its steps fit to be written:
 *
 *     1  the judge looks at the motion from start to end of the step: every pair keeps its thickness, every tet that forbids it
 *        does not invert: commit
 *     2  else what is met becomes contacts, and five more iterations follow, with twice the sweeps in each round; five times
 *     3  else the barrier takes the step from the same start (solve/nodal/mend.h), or
 *     4  ABUT_E_NUMERIC with the first pair by name, where the options forbid that or the barrier gives up, too
 *
 * abut_nodal_report.repaired tells which: 0, 1, 2.  Where frames are left out, the straight lines of hard contact and the path of
 * the barrier make one path, which the next frame has (solve/search/path.h). */
#ifndef ABUT_SOLVE_NODAL_FAILSAFE_H
#define ABUT_SOLVE_NODAL_FAILSAFE_H

#include "solve/stepper.h"

extern const abut_stepper_ops abut_failsafe_stepper_ops;

#endif
