/* Division of the work of a step over ranks (base/par.h).
 *
 * All ranks have the same objective, positions and contacts of a search, to the bit.  These are divided:
 * candidates of contacts, their tests at a point, step bounds and proofs of the path (contact/candidates.h); energy and forces
 * of tets (energy/elastic.h); the Newton matrix, its products and its preconditioner (solve/direction/matrix.h,
 * sparse/petsc/petsc.c).  Energy, forces and bounds of other terms are computed by each rank whole. */
#ifndef ABUT_SOLVE_OVER_RANKS_H
#define ABUT_SOLVE_OVER_RANKS_H

#include "solve/objective.h"

/** Fails  ABUT_E_FORMAT the scene has a term, or a contact surface, whose work cannot be divided (names it) */
ABUT_MUST_USE abut_status abut_over_ranks_check(const abut_objective *o, abut_err *err);

#endif
