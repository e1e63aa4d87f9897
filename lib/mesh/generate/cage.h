/* Coarse tets around a fine closed surface of triangles: bodies whose contact surface is that one (mesh/proxy.h).
 *
 * A cage holds more than the body; the part of each tet that is inside of the surface weighs its mass and its stiffness. */
#ifndef ABUT_MESH_GENERATE_CAGE_H
#define ABUT_MESH_GENERATE_CAGE_H

#include "mesh/mesh.h"

/** Cubes of a lattice, six tets each, that come within `inflate` of the surface or have their middle inside of it.
 *
 * cell     m  edge of a cube, > 0
 * inflate  m  0 or more
 * Fails  ABUT_E_ARG a surface without triangles, more cells than a scene holds; ABUT_E_GEOM cubes in pieces that no face joins;
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_generate_cage(const abut_mesh *surface, double cell, double inflate, abut_mesh *m, abut_err *err);

/** A regular solid of `faces` = 8 or 20 triangles, cut into as many tets from its centre, whose inscribed ball holds the surface:
 * its centre is that of the bounding box, its radius the largest distance from there, 1 + 1e-9 times that. */
ABUT_MUST_USE abut_status abut_generate_round_cage(const abut_mesh *surface, int faces, abut_mesh *m, abut_err *err);

/** A star of 20 divisions^2 tets from the centre of the bounding box to directions spread evenly (icosphere): radii as small as
 * keep all points of the surface inside, none below a tenth of the largest.  For compact bodies of any proportions.
 * divisions  1 to 6
 * Fails  ABUT_E_ARG no triangles, divisions; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_generate_star_cage(const abut_mesh *surface, int divisions, abut_mesh *m, abut_err *err);

/** Moves the outer points of a cage of straight tets towards the surface, to `inflate` m from it: no further than leaves every
 * tet 0.15 of its volume and all points of the surface inside.
 * Fails  ABUT_E_GEOM points of the surface were outside before; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_cage_fit(abut_mesh *m, const abut_mesh *surface, double inflate, abut_err *err);

/** fill[nt] of a mesh of straight tets: the part of each that is inside of the surface, by 560 points in each with the weights of
 * the midpoint rule on a cube. */
ABUT_MUST_USE abut_status abut_cage_fill(const abut_mesh *m, const abut_mesh *surface, double *fill, abut_err *err);

/** Scales fill[nt], at most to 1, so that the sum of fill times volume is what the surface holds, to a thousandth.
 * Fails  ABUT_E_GEOM the tets hold less: the cage leaves out a part of the body */
ABUT_MUST_USE abut_status abut_cage_fill_match(const abut_mesh *m, const abut_mesh *surface, double *fill, abut_err *err);

#endif
