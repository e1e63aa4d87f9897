/* Volume, centre and second moment of bodies; frames and densities that have those of a body. */
#ifndef ABUT_MESH_MOMENTS_H
#define ABUT_MESH_MOMENTS_H

#include "mesh/mesh.h"

/** Volume (m^3), centre (m) and second moment S (m^2, row major) of the tets of order 1 of m, or without tets of what its closed
 * triangles, normals outward, hold.  Fails  ABUT_E_GEOM no volume */
ABUT_MUST_USE abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err);

/** Whether m is a solid: tets, or closed triangles (abut_closed_surface_check) whose normals point outward.
 * Fails  ABUT_E_GEOM naming what is open or turned; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_solid_check(const abut_mesh *m, abut_err *err);

/** A body as one affine frame: four control points, whose motion is that of all of it.
 *
 * Of volume V, with its centre c and S = 1/V int (X - c)(X - c)^T = L L^T,
 *
 *     X_k = c + L s_k,    s = (1,1,1), (-1,1,-1), (1,-1,-1), (-1,-1,1),    l_k(X) = (1 + s_k . L^-1 (X - c))/4
 *
 * l are the barycentric coordinates of the tet of the X_k, so x(X) = sum l_k(X) x_k is affine.  int l_i l_j is V/4 for i = j and
 * 0 else: with a quarter of the mass at each point the kinetic energy of an affine motion is that of the body, tensor of inertia
 * included.  (After Daviet 2020, 4.1: a frame is four vectors, of which places are linear.)
 *
 * frame: one positive tet of the four points; surface: the boundary of m, its points those of triangles alone.  Both are empty
 * before.  fill: V over the volume of the tet.
 * Fails  ABUT_E_GEOM as above, a body that is flat, a boundary of no solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err);

/** Volume (m^3) and centre (m) of a mesh: of its tets, or of what its closed triangles, normals outward, hold.
 * Fails  ABUT_E_GEOM no volume; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_volume(const abut_mesh *m, double *volume, double center[3], abut_err *err);

/** Volume and centre of a tet of order 1 to 4 with nodes X.  L, w: a rule of degree 4 order - 3 or more. */
void abut_tet_moments(int order, const double (*X)[3], const double *L, const double *w, int n, double *volume, double center[3]);

/** Densities of the tets of a coarse body such that its mass and its centre are those of the body that it represents (Ferguson et
 * al. 2023, section 5.3, as a problem with a closed form).
 *
 * factor[n] of density: minimises sum volume[e] (factor[e] - 1)^2 subject to sum volume[e] factor[e] = total,
 * sum volume[e] factor[e] (center[e] - at) = 0 and factor[e] >= least.  Factors are 1 plus an affine function of the position,
 * except those at the bound, which are added until none is below.
 * Fails  ABUT_E_GEOM the tets are not around `at`: no such factors; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_match_mass(int32_t n, const double *volume, const double (*center)[3], double total,
                                          const double at[3], double least, double *factor, abut_err *err);

#endif
