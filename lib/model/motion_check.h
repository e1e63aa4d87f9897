/* The script of a model: its motions, and what changes in time by keys. */
#ifndef ABUT_MODEL_MOTION_CHECK_H
#define ABUT_MODEL_MOTION_CHECK_H

#include "model/model.h"

/** motion/ and key/ of a model whose nodes are checked: kinds, windows, nodes that may be moved, keys in ascending time with what
 * each kind needs.
 * Fails  ABUT_E_FORMAT naming the array and the row */
ABUT_MUST_USE abut_status abut_check_motions(const abut_model *m, abut_err *err);

/** Keys of pressures, and factors for them.
 * Fails  ABUT_E_FORMAT naming the array and the row */
ABUT_MUST_USE abut_status abut_check_pressures(const abut_model *m, abut_err *err);

#endif
