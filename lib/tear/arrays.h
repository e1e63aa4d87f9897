/* The arrays of a torn model and of its frame, from those of the whole one (tear/tear.h). */
#ifndef ABUT_TEAR_ARRAYS_H
#define ABUT_TEAR_ARRAYS_H

#include "tear/fans.h"

/** All arrays but those of contact, hinges, parts, friction and the step: rows of node/ go to copies too, and of a model (not of
 * a frame) those of elements stay with them.
 * Fails  ABUT_E_FORMAT such an array has another number of rows (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tear_copy_arrays(const abut_tearing *w, const abut_arrays *from, int is_frame, abut_arrays *to,
                                                abut_err *err);
/** Elements of `set` by their new corners; hinges of `old` as far as they hold. */
ABUT_MUST_USE abut_status abut_tear_put_elements(const abut_tearing *w, const abut_arrays *old, abut_arrays *set, abut_err *err);
/** A copy has its part of the mass of the node that it was. */
void abut_tear_put_mass(const abut_tearing *w, abut_arrays *set);
/** The impulses of hard contact in a frame, where there are any, in the same parts. */
void abut_tear_share_impulse(const abut_tearing *w, abut_arrays *frame);

#endif
