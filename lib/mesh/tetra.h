/* Filling closed surfaces with tets: the one call to tetgen.  Linked into mesh-prep alone (tetgen is AGPL-3). */
#ifndef ABUT_MESH_TETRA_H
#define ABUT_MESH_TETRA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "mesh/mesh.h"

/** Fills the closed surface of m's triangles with tets.
 *
 * max_volume    m^3, of a tet; with keep_surface, triangles of the surface may enforce larger ones
 * keep_surface  0: triangles are divided if that helps; 1: they stay unchanged, and points are added only inside
 * is_second     out: 1: the first attempt, which merges triangles that bend by less than 0.1 degrees, failed; the tets are from
 *               the second, which does not merge them
 * out           empty before; tets only, positively oriented; m's points come first, in their order
 * Fails  ABUT_E_GEOM abut_closed_surface_check refuses the surface, tetgen gave up or crashed (it runs in its own process), or
 *        the tets have another volume than the surface encloses (a cavity, all triangles turned over);
 *        ABUT_E_NOMEM; ABUT_E_IO no pipe */
ABUT_MUST_USE abut_status abut_tetrahedralize(const abut_mesh *m, double max_volume, int keep_surface, int *is_second,
                                              abut_mesh *out, abut_err *err);

#ifdef __cplusplus
}
#endif

#endif
