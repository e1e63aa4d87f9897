/* Tests whether a surface of triangles is the boundary of a solid, so that it can be filled. */
#ifndef ABUT_MESH_CLOSED_SURFACE_H
#define ABUT_MESH_CLOSED_SURFACE_H

#include "base/err.h"

#include <stdint.h>

/** Checks that every triangle has an area and occurs once, that as many triangles pass every edge in one direction as in the
 * other, and that triangles meet only in common points and edges (exact predicates).  Points at equal positions count as one.
 * Pieces may be apart, or within each other, or have single edges and points in common.
 *
 * x    [nv * 3] m, finite
 * tri  [nf * 3] indices in [0, nv)
 * Fails  ABUT_E_GEOM naming the triangles, counted from 0, and their points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_closed_surface_check(const double *x, int32_t nv, const int32_t *tri, int32_t nf, abut_err *err);

#endif
