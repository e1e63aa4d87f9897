/* Filling closed surfaces with tets: the one call to tetgen.  Linked into mesh-prep alone (tetgen is AGPL-3). */
#ifndef ABUT_MESH_TETRA_H
#define ABUT_MESH_TETRA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "mesh/mesh.h"

/** Fills the closed surface of m's triangles with tets.
 *
 * max_volume    m^3, of a tet; with keep_surface only as far as the surface's own triangles allow
 * keep_surface  0: triangles are divided where that helps; 1: they stay as they are, points are added inside alone
 * is_second     out: 1: the first attempt, which joins triangles that bend by less than 0.1 degrees, did not fill the surface;
 *               the tets are of the second, which keeps them apart
 * out           empty before; tets only, positively oriented; m's points come first, in their order
 * Fails  ABUT_E_GEOM the surface is none that abut_closed_surface_check accepts, tetgen gave up or crashed (it has a process of
 *        its own), or the surface encloses another volume than its tets have (a cavity, all triangles turned over);
 *        ABUT_E_NOMEM; ABUT_E_IO no pipe */
ABUT_MUST_USE abut_status abut_tetrahedralize(const abut_mesh *m, double max_volume, int keep_surface, int *is_second,
                                              abut_mesh *out, abut_err *err);

#ifdef __cplusplus
}
#endif

#endif
