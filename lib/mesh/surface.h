/* The outside of a mesh: boundary triangles of tets, unique edges; whether a surface of triangles is the boundary of a solid. */
#ifndef ABUT_MESH_SURFACE_H
#define ABUT_MESH_SURFACE_H

#include "base/err.h"

#include <stdint.h>

/** Lists the faces that belong to one tet only, in the order of tets, outward for positively oriented tets.
 *
 * tet  [nt * 4] indices in [0, nv)
 * tri  out: malloc'ed [n * 3], the caller's
 * Fails  ABUT_E_GEOM a face belongs to three tets, or two tets lie on the same side of a common face (names them)
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_surface_triangles(const int32_t *tet, int32_t nt, int32_t nv, int32_t **tri, int32_t *n,
                                                 abut_err *err);

/** Lists these faces as numbers 4 t + f of face f of tet t (abut_tet_face).  face  out: malloc'ed [n], the caller's */
ABUT_MUST_USE abut_status abut_surface_faces(const int32_t *tet, int32_t nt, int32_t nv, int64_t **face, int32_t *n,
                                             abut_err *err);

/** Edges of the triangles and the segments, each once, a < b, ascending.
 *
 * tri [nf * 3], seg [ns * 2]  indices in [0, nv)
 * edge  out: malloc'ed [n * 2], the caller's */
ABUT_MUST_USE abut_status abut_surface_edges(const int32_t *tri, int32_t nf, const int32_t *seg, int32_t ns, int32_t nv,
                                             int32_t **edge, int32_t *n, abut_err *err);

/** Checks that every triangle has an area and occurs once, that as many triangles pass every edge in one direction as in the
 * other, and that triangles meet only in common points and edges (exact predicates).  Points at equal positions count as one.
 * Pieces may be apart, or within each other, or have single edges and points in common.
 *
 * x    [nv * 3] m, finite
 * tri  [nf * 3] indices in [0, nv)
 * Fails  ABUT_E_GEOM naming the triangles, counted from 0, and their points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_closed_surface_check(const double *x, int32_t nv, const int32_t *tri, int32_t nf, abut_err *err);

#endif
