/* Look-ahead: a decorator of directions that takes contacts into account before a direction is followed.
 *
 * At an impact of bodies, the matrix does not contain the contacts that are about to form: CCD bounds direction after direction
 * at a few hundredths, each time by a pair that only the next direction contains.  Here, the pairs that the direction meets along
 * its whole length are added to the quadratic model, as barriers of gaps that are linear in the step, along the normal at the
 * impact (solve/direction/contact_subproblem.h).  The direction becomes the minimiser of that model, by the factor at hand, for
 * half a substitution a pair.  Contacts that it closes are included, because the quadratic of a barrier in the matrix is much too
 * soft for them.  Pairs that the new direction meets are added, a few times.
 * It needs a factor of the matrix itself.  Directions that may end a step are not refined: Newton's direction judges the end. */
#ifndef ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H
#define ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H

#include "solve/direction.h"

/** Forwards to inner, which must have `factor`, and adds `refine`.  On success *out owns it and *inner is empty; out may be
 * inner.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_look_ahead_make(abut_direction *out, abut_direction *inner, const abut_objective *p,
                                                abut_err *err);

#endif
