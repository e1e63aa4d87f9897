/* What a frame may tell about its step besides the state: the forces on every node, the balance of energy and momentum
 * (`step --with forces,energies`; formats/STATE.md describes each array, solve/step/measures.h how it is computed).
 *
 * The balance of one step: with E the sum of kinetic, elastic, gravity and barrier energy,
 *     E' - E = friction + damping + reaction + load + stiffness + numerical      (work/..., J),
 * numerical being what is left when all the others are known: what the time scheme, the frozen friction and the tolerance of
 * the solver add.  In implicit Euler it is
 *     -1/2 sum m |v' - v|^2 - [dU/dx(x').(x' - x) - (U(x') - U(x))],   U = elastic and barrier energy,
 * negative where U is convex along the step: numerical damping.
 *
 * Sums over steps (work/...-total) go on from those of the frame before, 0 when it has none.  So does Newmark with the forces
 * there; where a later frame than the first of a simulation lacks them, the step takes its own for both. */
#ifndef ABUT_SOLVE_STEP_RECORD_H
#define ABUT_SOLVE_STEP_RECORD_H

#include "solve/step/measures.h"

enum { ABUT_WITH_FORCES = 1, ABUT_WITH_ENERGIES = 2, ABUT_WITH_CONTACTS = 4 /* of hard contact: touch/ */ };

/** Adds what `with` names to the frame `out` of a step that is solved.  before: the frame before, or the PENDING one of this
 * step; iterations: of Newton.  The energies of Newmark bring the forces with them, for the next step.
 * Fails  ABUT_E_FORMAT what is taken from `before` has another form (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_record_put(const abut_solved *s, int with, int iterations, const abut_arrays *before,
                                          abut_arrays *out, abut_arena *scratch, abut_err *err);

/** Copies into a PENDING frame what abut_record_put takes from the frame before the step. */
ABUT_MUST_USE abut_status abut_record_keep(const abut_arrays *before, abut_arrays *out, abut_err *err);

#endif
