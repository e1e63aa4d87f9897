/* A body as one affine frame: four control points, whose motion is that of all of it.
 *
 * Of volume V, with its centre c and S = 1/V int (X - c)(X - c)^T = L L^T,
 *
 *     X_k = c + L s_k,    s = (1,1,1), (-1,1,-1), (1,-1,-1), (-1,-1,1),    l_k(X) = (1 + s_k . L^-1 (X - c))/4
 *
 * l are the barycentric coordinates of the tet of the X_k, so x(X) = sum l_k(X) x_k is affine.  int l_i l_j is V/4 for i = j and
 * 0 else: with a quarter of the mass at each point the kinetic energy of an affine motion is that of the body, tensor of inertia
 * included.  (After Daviet 2020, 4.1: a frame is four vectors, of which places are linear.) */
#ifndef ABUT_MESH_FRAME_H
#define ABUT_MESH_FRAME_H

#include "mesh/mesh.h"

/** Volume (m^3), centre (m) and second moment S (m^2, row major) of the tets of order 1 of m, or without tets of what its closed
 * triangles, normals outward, hold.  Fails  ABUT_E_GEOM no volume */
ABUT_MUST_USE abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err);

/** Whether m is a solid: tets, or closed triangles (mesh/closed_surface.h) whose normals point outward.
 * Fails  ABUT_E_GEOM naming what is open or turned; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_solid_check(const abut_mesh *m, abut_err *err);

/** frame: one positive tet of the four points; surface: the boundary of m, its points those of triangles alone.  Both are empty
 * before.  fill: V over the volume of the tet.
 * Fails  ABUT_E_GEOM as above, a body that is flat, a boundary of no solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err);

#endif
