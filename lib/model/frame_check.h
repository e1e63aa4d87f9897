/* Ranges of the numbers of a frame; for model.c, after every array has its type and shape. */
#ifndef ABUT_MODEL_FRAME_CHECK_H
#define ABUT_MODEL_FRAME_CHECK_H

#include "model/model.h"

/** Checks that every index is in its range, every quantity in its domain, and arrays that belong together are all there; m: the
 * checked model.
 * Fails  ABUT_E_FORMAT naming the array, the row, the value and what was expected */
ABUT_MUST_USE abut_status abut_frame_check(const abut_frame *f, const abut_model *m, abut_err *err);

#endif
