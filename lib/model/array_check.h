/* Checks of one array: every message names the array, the row, the value and what was expected. */
#ifndef ABUT_MODEL_ARRAY_CHECK_H
#define ABUT_MODEL_ARRAY_CHECK_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/** Rows v[n][width] of indices, each in [low, high).  Fails  ABUT_E_FORMAT */
ABUT_MUST_USE abut_status abut_check_indices(const char *name, const int32_t *v, int32_t n, int width, int32_t low,
                                             int32_t high, abut_err *err);

/** Numbers v[n] in (low, high), or in [low, high) when `closed`; a NaN is in neither.  Fails  ABUT_E_FORMAT */
ABUT_MUST_USE abut_status abut_check_domain(const char *name, const double *v, size_t n, double low, int closed, double high,
                                            abut_err *err);

/** Vectors v[n][3] of length 1 within tol.  Fails  ABUT_E_FORMAT */
ABUT_MUST_USE abut_status abut_check_units(const char *name, const double *v, size_t n, double tol, abut_err *err);

/** Positions and what is added to them, v[n][3], NULL for an array that is not there: within ABUT_FARTHEST, so that products of
 * six such numbers are finite.  Fails  ABUT_E_FORMAT */
ABUT_MUST_USE abut_status abut_check_near(const char *name, const double *v, int32_t n, abut_err *err);

#endif
