/* Checks of a MODEL: every message names the array, the row, the value and what was expected. */
#ifndef ABUT_MODEL_CHECK_H
#define ABUT_MODEL_CHECK_H

#include "model/model.h"

enum { ABUT_NODAL_MOST = 100000 };  /* nodal/newton, nodal/iterations, nodal/sweeps at most */

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

/** Checks that every index is in its range and every quantity in its domain; for model.c, after every array has its type and
 * shape.  Fails  ABUT_E_FORMAT; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_check(const abut_model *m, abut_err *err);

/** Checks that the collision mesh of a checked model is complete: a triangle for each outer face of the tets and each shell; an
 * edge for each rod segment and, unless sides is 0 (the reader finds them itself), for each side of a triangle; a vertex for each
 * particle.  Contact uses these arrays alone: where they lack a face, a side or a segment, a body would penetrate without a
 * message.  If contact is off (no vertices), nothing is checked; if vertices are sums of nodes, sides alone.  Obstacles have no
 * other elements.
 * Fails  ABUT_E_FORMAT naming the array, the missing item and its nodes; ABUT_E_GEOM three tets share a face; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err);

#endif
