/* Meshes from a few numbers, so that no scene needs a download.  All lie around the origin; lengths in metres. */
#ifndef ABUT_MESH_GENERATE_GENERATE_H
#define ABUT_MESH_GENERATE_GENERATE_H

#include "mesh/curve.h"
#include "mesh/mesh.h"

/* Every generator appends to an empty mesh, fails with ABUT_E_ARG on a size that is not positive or a cell count out of
 * range, with ABUT_E_NOMEM without memory, and leaves the mesh empty then. */

/** Kuhn's six tets of a cube around its diagonal, from (-,-,-) to (+,+,+) unless flip[k] mirrors the cell along axis k.
 *
 * corner  of tet q, positively oriented: bit k of a corner is set where coordinate k is the larger one */
void abut_kuhn_cell(const int flip[3], int corner[6][4]);

/** Box of tets: cells[0] x cells[1] x cells[2] cubes of six tets each around the diagonal (-,-,-) (+,+,+) (Kuhn).
 * (a+1)(b+1)(c+1) points, 6abc tets, 4(ab+bc+ca) boundary triangles. */
ABUT_MUST_USE abut_status abut_generate_box(const double size[3], const int32_t cells[3], abut_mesh *m, abut_err *err);

/** Ball of tets: the lattice of a cube with `cells` cells along an edge, moved so that each cube shell becomes a
 * sphere: p -> radius p |p|max / |p|2.  The diagonals of the cells point away from the centre, so that no tet is flattened
 * at the cube's edges.  (cells+1)^3 points. */
ABUT_MUST_USE abut_status abut_generate_sphere(double radius, int32_t cells, abut_mesh *m, abut_err *err);

/** Ball of tets from its centre, the first point, to an icosphere (sheets.h) with d divisions of an edge: 20 d^2 tets, 10 d^2 + 3
 * points. */
ABUT_MUST_USE abut_status abut_generate_star(double radius, int32_t divisions, abut_mesh *m, abut_err *err);

/** Cylinder of tets about the y axis: `across` cells over the diameter, `along` over the height. */
ABUT_MUST_USE abut_status abut_generate_cylinder(double radius, double height, int32_t across, int32_t along,
                                                 abut_mesh *m, abut_err *err);

/** Ring of tets about the y axis: its middle circle has the radius, its round section the radius `tube` < radius, with
 * `across` cells over a diameter.  around (across+1)^2 points, 6 around across^2 tets; around >= 3. */
ABUT_MUST_USE abut_status abut_generate_torus(double radius, double tube, int32_t around, int32_t across, abut_mesh *m,
                                              abut_err *err);

/** Rectangle of triangles in the plane y = 0, normals up; diagonals alternate so that no direction is preferred. */
ABUT_MUST_USE abut_status abut_generate_cloth(const double size[2], const int32_t cells[2], abut_mesh *m, abut_err *err);

/** Polyline of segments along x. */
ABUT_MUST_USE abut_status abut_generate_rod(double length, int32_t cells, abut_mesh *m, abut_err *err);

/** Grid of isolated points; a count of 1 puts the points of that axis at 0. */
ABUT_MUST_USE abut_status abut_generate_particles(const double size[3], const int32_t count[3], abut_mesh *m,
                                                  abut_err *err);

/** Surface of triangles about the y axis: the profile, n >= 2 points (radius, y), rotated once around in `around` >= 3 steps;
 * each of its lines is divided into `along` parts.  A radius may be 0 at the first and the last point alone: the surface is
 * closed there.  Normals point away from the axis where the profile ascends. */
ABUT_MUST_USE abut_status abut_generate_revolution(const double *profile, int32_t n, int32_t around, int32_t along,
                                                   abut_mesh *m, abut_err *err);

/** Makes a body of tets from capsules: the cells of a cubic lattice (edge `cell`, points at its multiples) whose centre has
 * f < 0 (mesh/curve.h), six tets each.  If cells share only an edge or a point, a further cell is filled, so that the surface
 * is a manifold.
 *
 * snap   0: the surface keeps its steps; 1: its points move towards f = 0, by less than half a cell along each axis, as far as
 *        every tet keeps 0.15 of its volume and the surface does not intersect itself
 * Fails  ABUT_E_ARG also if the cells are none or more than one piece */
ABUT_MUST_USE abut_status abut_generate_blob(const abut_capsule *capsule, int32_t n, double blend, double cell, int snap,
                                             abut_mesh *m, abut_err *err);

/** Ball with `count` tendrils of the length and thickness (diameter) given, evenly spread (golden-angle spiral): a blob
 * that is snapped, with a blend of a quarter of a cell. */
ABUT_MUST_USE abut_status abut_generate_tendrils(double radius, double length, double thickness, int32_t count, double cell,
                                                 abut_mesh *m, abut_err *err);

/** Masonry arch of separate blocks, six tets each, upright in the plane z = 0 with the middles of its feet at (-+span/2, 0, 0).
 * The middle line is the weighted catenary y = height (1 - (cosh(c q) - 1) / (cosh c - 1)), q = 2 x / span, with cosh c the
 * squared ratio of the thickness at the feet to that at the crown (equal: a parabola).  It is cut across in equal lengths; each
 * block is as thick as at its lower cut, linear in y, and the faces of neighbours are `gap` apart, parallel.  8 blocks points,
 * 6 blocks tets.
 *
 * thickness  m  at the feet, at the crown; the first no less
 * gap        m  0 or more */
ABUT_MUST_USE abut_status abut_generate_arch(double span, double height, const double thickness[2], double depth, int32_t blocks,
                                             double gap, abut_mesh *m, abut_err *err);

#endif
