/* Densities of the tets of a coarse body such that its mass and its centre are those of the body that it represents (Ferguson et
 * al. 2023, section 5.3, as a problem with a closed form). */
#ifndef ABUT_MESH_MATCH_MASS_H
#define ABUT_MESH_MATCH_MASS_H

#include "mesh/mesh.h"

/** Volume (m^3) and centre (m) of a mesh: of its tets, or of what its closed triangles, normals outward, hold.
 * Fails  ABUT_E_GEOM no volume; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_volume(const abut_mesh *m, double *volume, double center[3], abut_err *err);

/** Volume and centre of a tet of order 1 to 4 with nodes X.  L, w: a rule of degree 4 order - 3 or more. */
void abut_tet_moments(int order, const double (*X)[3], const double *L, const double *w, int n, double *volume, double center[3]);

/** factor[n] of density: minimises sum volume[e] (factor[e] - 1)^2 subject to sum volume[e] factor[e] = total,
 * sum volume[e] factor[e] (center[e] - at) = 0 and factor[e] >= least.  Factors are 1 plus an affine function of the position,
 * except those at the bound, which are added until none is below.
 * Fails  ABUT_E_GEOM the tets are not around `at`: no such factors; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_match_mass(int32_t n, const double *volume, const double (*center)[3], double total,
                                          const double at[3], double least, double *factor, abut_err *err);

#endif
