/* Meshes from a few numbers, so that no scene needs a download.  All stand around the origin; lengths in metres. */
#ifndef ABUT_MESHER_GENERATE_H
#define ABUT_MESHER_GENERATE_H

#include "model/mesh.h"

/* Every generator appends to an empty mesh, fails with ABUT_E_ARG on a size that is not positive or a cell count out of
 * range, with ABUT_E_NOMEM without memory, and leaves the mesh empty then. */

/** Box of tets: cells[0] x cells[1] x cells[2] cubes of six tets each around the diagonal (-,-,-) (+,+,+) (Kuhn).
 * (a+1)(b+1)(c+1) points, 6abc tets, 4(ab+bc+ca) boundary triangles. */
ABUT_MUST_USE abut_status abut_generate_box(const double size[3], const int32_t cells[3], abut_mesh *m, abut_err *err);

/** Ball of tets: the lattice of a cube with `cells` (even) cells along an edge, moved so that each cube shell becomes a
 * sphere.  The diagonals of the cells point away from the centre, so that no tet is flattened at the cube's edges. */
ABUT_MUST_USE abut_status abut_generate_sphere(double radius, int32_t cells, abut_mesh *m, abut_err *err);

/** Cylinder of tets about the y axis: `across` (even) cells over the diameter, `along` over the height. */
ABUT_MUST_USE abut_status abut_generate_cylinder(double radius, double height, int32_t across, int32_t along,
                                                 abut_mesh *m, abut_err *err);

/** Rectangle of triangles in the plane y = 0, normals up; diagonals alternate so that no direction is preferred. */
ABUT_MUST_USE abut_status abut_generate_cloth(const double size[2], const int32_t cells[2], abut_mesh *m, abut_err *err);

/** Polyline of segments along x. */
ABUT_MUST_USE abut_status abut_generate_rod(double length, int32_t cells, abut_mesh *m, abut_err *err);

/** Grid of isolated points; a count of 1 puts the points of that axis at 0. */
ABUT_MUST_USE abut_status abut_generate_particles(const double size[3], const int32_t count[3], abut_mesh *m,
                                                  abut_err *err);

#endif
