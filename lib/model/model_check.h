/* Ranges of the numbers of a model; for model.c, after every array has its type and shape. */
#ifndef ABUT_MODEL_MODEL_CHECK_H
#define ABUT_MODEL_MODEL_CHECK_H

#include "model/model.h"

enum { ABUT_NODAL_MOST = 100000 };  /* nodal/newton, nodal/iterations, nodal/sweeps at most */

/** Checks that every index is in its range and every quantity in its domain.
 * Fails ABUT_E_FORMAT naming the array, the row, the value and what was expected; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_check(const abut_model *m, abut_err *err);

#endif
