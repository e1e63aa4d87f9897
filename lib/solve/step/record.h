/* Records of a step in its frame, besides the state: the forces on every node, the balance of energy and momentum
 * (`step --with forces,energies`; formats/STATE.md describes each array, solve/step/measures.h how it is computed).
 *
 * The balance of one step: with E the sum of kinetic, elastic, gravity and barrier energy,
 *     E' - E = friction + damping + reaction + load + stiffness + numerical      (work/..., J),
 * with numerical the remainder: energy added by the time scheme, the frozen friction and the tolerance of the solver.  In
 * implicit Euler it is
 *     -1/2 sum m |v' - v|^2 - [dU/dx(x').(x' - x) - (U(x') - U(x))],   U = elastic and barrier energy,
 * negative if U is convex along the step: numerical damping.
 *
 * Sums over steps (work/...-total) continue those of the frame before, 0 if it has none.  Newmark takes the forces of the last
 * step from there; if a frame other than the first of a simulation lacks them, the step uses its own instead. */
#ifndef ABUT_SOLVE_STEP_RECORD_H
#define ABUT_SOLVE_STEP_RECORD_H

#include "solve/step/measures.h"

enum { ABUT_WITH_FORCES = 1, ABUT_WITH_ENERGIES = 2, ABUT_WITH_CONTACTS = 4 /* of hard contact: touch/ */ };
extern const char *const abut_with_names[];     /* in the order of the bits, NULL at the end */

/** Copies into a PENDING frame the arrays that the records read from the frame before the step. */
ABUT_MUST_USE abut_status abut_record_keep(const abut_arrays *before, abut_arrays *out, abut_err *err);

#endif
