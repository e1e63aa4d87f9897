/* Ranges of the arrays of tets of order 2 and more; for model_check.c, after the corners of tets are in range. */
#ifndef ABUT_MODEL_TETS_CHECK_H
#define ABUT_MODEL_TETS_CHECK_H

#include "model/model.h"

/** tet/order, tet/first and tet/more agree, the nodes of a tet are of one object and its tets of one order; factors are positive;
 * degrees of quadrature and geometry/ are in range.
 * Fails  ABUT_E_FORMAT naming the array, the row, the value and what was expected; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tets_check(const abut_model *m, abut_err *err);

#endif
