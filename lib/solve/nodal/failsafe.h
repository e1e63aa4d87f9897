/* Hard contact as a stepper (solve/nodal/nodal.h), with a judge of its steps:
 *
 *     1  the judge tests the motion from start to end of the step: if every pair keeps its thickness, and no tet that forbids it
 *        inverts, the step is committed
 *     2  else the pairs that meet become contacts, and five more iterations follow, with twice the sweeps in each of five rounds
 *     3  else the barrier takes the step from the same start (solve/nodal/mend.h), or
 *     4  the step fails, ABUT_E_NUMERIC with the first pair by name, if the options forbid the barrier or it fails too
 *
 * abut_nodal_report.repaired is 0, 1, 2 after cases 1, 2, 3.  Over unwritten frames, the straight lines of hard contact
 * and the path of the barrier make one path, which the next frame has (solve/search/path.h). */
#ifndef ABUT_SOLVE_NODAL_FAILSAFE_H
#define ABUT_SOLVE_NODAL_FAILSAFE_H

#include "solve/stepper.h"

extern const abut_stepper_ops abut_failsafe_stepper_ops;

#endif
