/* Look-ahead: a decorator of directions that takes contacts into account before a direction is followed.
 *
 * Where bodies hit, the matrix knows nothing of the contacts that are about to form: CCD bounds direction after direction at a
 * few hundredths, each time by a pair that the direction after it knows.  Here the pairs that the direction meets, all along
 * its length, are put on top of the quadratic model as barriers of gaps that are linear in the step, along the normal at the
 * impact (solve/direction/contact_subproblem.h), and the direction becomes the minimiser of that: with the factor that there
 * is, for half a substitution a pair.  Contacts that it closes are among them: the quadratic that the matrix has of a barrier
 * is much too soft for that.  What the new direction still meets is added, a few times.
 *
 * Only where the factor is of the matrix itself.  A search does not refine a direction that ends a step: Newton's judges that. */
#ifndef ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H
#define ABUT_SOLVE_DIRECTION_LOOK_AHEAD_H

#include "solve/direction.h"

/** Forwards to inner, whose operation `factor` is there, and adds `refine`.  On success *out owns it and *inner is empty; out may
 * be inner.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_look_ahead_make(abut_direction *out, abut_direction *inner, const abut_objective *p,
                                                abut_err *err);

#endif
