/* Meshes from a few numbers, so that no scene needs a download.  All lie around the origin; lengths in metres. */
#ifndef ABUT_MESH_GENERATE_GENERATE_H
#define ABUT_MESH_GENERATE_GENERATE_H

#include "mesh/mesh.h"
#include "mesh/tet_nodes.h"

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

/** Ball of tets from its centre, the first point, to an icosphere with d divisions of an edge: 20 d^2 tets, 10 d^2 + 3
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
ABUT_MUST_USE abut_status abut_generate_particles(const double size[3], const int32_t count[3], abut_mesh *m, abut_err *err);

/** Surface of triangles about the y axis: the profile, n >= 2 points (radius, y), rotated once around in `around` >= 3 steps;
 * each of its lines is divided into `along` parts.  A radius may be 0 at the first and the last point alone: the surface is
 * closed there.  Normals point away from the axis where the profile ascends. */
ABUT_MUST_USE abut_status abut_generate_revolution(const double *profile, int32_t n, int32_t around, int32_t along,
                                                   abut_mesh *m, abut_err *err);

/** Makes a body of tets from capsules: the cells of a cubic lattice (edge `cell`, points at its multiples) whose centre has
 * f < 0 (mesh/tet_nodes.h), six tets each.  If cells share only an edge or a point, a further cell is filled, so that the surface
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

/* Coarse tets around a fine closed surface of triangles: bodies whose contact surface is that one (mesh/proxy.h).
 *
 * A cage holds more than the body; the part of each tet that is inside of the surface weighs its mass and its stiffness. */
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

/* Sheets, strands and grains from a few numbers.  As in generate.h: every generator appends to an empty mesh, fails with
 * ABUT_E_ARG on a size that is not positive or a count out of range, with ABUT_E_NOMEM without memory, and leaves the mesh
 * empty then.  What is random comes from a seed (base/rng.h), the same on every machine. */
/* Layouts of the triangles of a sheet.  Parallel diagonals are not offered: their bending stiffness varies fourfold with the
 * direction. */
enum {
    ABUT_LAYOUT_GRID = 0 /* squares with alternating diagonals */,
    ABUT_LAYOUT_ROWS = 1 /* near-equilateral triangles */
};

/* A rectangular sheet in the plane y = 0 about the origin, normals up. */
typedef struct abut_sheet {
    double size[2];   /* m, along x and z */
    int32_t cells[2]; /* along x and z; of ROWS: edges in a row, rows */
    int layout;
    double jitter; /* points move by up to this fraction of a cell along x and z, those of a border along it, those of a
                      corner not at all; 0 to 0.3 */
    int32_t seed;
} abut_sheet;

/** GRID: (a + 1)(b + 1) points, 2ab triangles.  ROWS: every other row is shifted by half an edge and straightened at its
 * ends, so that it has one point more. */
ABUT_MUST_USE abut_status abut_generate_sheet(const abut_sheet *s, abut_mesh *m, abut_err *err);

/** Cells of edge `edge` for a rectangle: nearest numbers, at least 1; rows of equilateral triangles are sqrt(3)/2 edges
 * high. */
void abut_sheet_cells(const double size[2], double edge, int layout, int32_t cells[2]);

/** Bends a sheet along a curve: its points keep z, and x, counted from its left border, becomes the length along the polyline
 * curve[n * 2] in the plane (x, y).  The flat sheet stays as the pattern, u = x, v = z.  No stretch exceeds 1 (a chord
 * is no longer than its arc). Fails  ABUT_E_ARG the curve is shorter than the sheet, or a line of it has no length;
 * ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_sheet_follow(abut_mesh *m, const double *curve, int32_t n, abut_err *err);

/** Bends a sheet, as abut_sheet_follow, along a spiral that begins with the radius and has `gap` between its windings. */
ABUT_MUST_USE abut_status abut_sheet_roll(abut_mesh *m, double radius, double gap, abut_err *err);

/** Bends a sheet, as abut_sheet_follow, into an accordion: straight parts of the length, half circles of diameter `gap`. */
ABUT_MUST_USE abut_status abut_sheet_fold(abut_mesh *m, double length, double gap, abut_err *err);

/** A tube about the y axis, its two ends open: `cells` around (3 or more) and along, normals outward.  Its pattern is flat
 * without any strain: u around, v along, from a cut that the tube does not have. */
ABUT_MUST_USE abut_status abut_generate_tube(double radius, double height, const int32_t cells[2], int layout, abut_mesh *m,
                                             abut_err *err);

/** Surface of triangles of a ball: the faces of an icosahedron in `divisions`^2 parts each, their points moved onto the
 * sphere. 10 d^2 + 2 points, 20 d^2 triangles, normals outward. */
ABUT_MUST_USE abut_status abut_generate_icosphere(double radius, int32_t divisions, abut_mesh *m, abut_err *err);

/** Surface of triangles of a bowl about the y axis: the part of a sphere about the origin within `opening` (rad, 0 to pi) of
 * its lowest point; `around` and `along` cells. */
ABUT_MUST_USE abut_status abut_generate_bowl(double radius, double opening, int32_t around, int32_t along, abut_mesh *m,
                                             abut_err *err);

/** Upright polylines of `cells` segments on a lattice of count[0] x count[1] places in x and z.  The upper end of each leans
 * out by up to `lean` along x and z, seeded; it stays straight. */
ABUT_MUST_USE abut_status abut_generate_strands(const int32_t count[2], double spacing, double length, int32_t cells,
                                                double lean, int32_t seed, abut_mesh *m, abut_err *err);

/** A net of count[1] polylines along x and count[0] along z, `spacing` apart, each half a spacing longer than the last
 * crossing, with `cells` >= 2 segments between crossings.  Those along z are straight; those along x pass above and below
 * them in turn by `offset`, neighbours with the opposite sign. */
ABUT_MUST_USE abut_status abut_generate_net(const int32_t count[2], double spacing, double offset, int32_t cells,
                                            abut_mesh *m, abut_err *err);

/** Single segments on a lattice, each tilted away from the y axis by up to `tilt` (rad), seeded. */
ABUT_MUST_USE abut_status abut_generate_sprinkles(const int32_t count[3], const double spacing[3], double length,
                                                  double tilt, int32_t seed, abut_mesh *m, abut_err *err);

/* Strands that grow out of a ball: straight, frizzy or curled, all edges of one length.  Each is a helix about the normal of the
 * ball, wound up from nothing: at the height z above the root
 *     rho S((z - l)/ramp) (cos(q z + phi), sin(q z + phi)),   q = 2 pi / wavelength,   S(s) = s^2 (3 - 2 s), 0 below 0, 1 above 1
 * so that the first edge, of length l, is along the normal.  Lengths in m. */
typedef struct abut_hair {
    int32_t count;              /* strands */
    int whole;                  /* roots on all of the ball; 0: on the half above y = 0 */
    double radius, offset;      /* of the ball; of the roots from its surface */
    double length;              /* of a strand, along its edges */
    int32_t cells;              /* edges of a strand */
    double curl, wavelength, ramp;  /* rho; 0: straight */
    double vary;                /* rho, wavelength and ramp of a strand are those times 1 - vary .. 1 + vary; 0 to 0.9 */
    double phase;               /* phi of a strand is 0 .. 2 pi phase; 0 to 1 */
    int32_t seed;               /* a strand does not depend on how many there are */
} abut_hair;

/** The roots are Fibonacci points, about 2.2 R / sqrt(count) apart or more (on the half ball); the root of strand k is point
 * k (cells + 1).  Fails  ABUT_E_ARG a size or number out of range, fewer than six edges a wavelength; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_generate_hair(const abut_hair *h, abut_mesh *m, abut_err *err);

/** Moves every point by up to `jitter` (m) along each axis, seeded. */
void abut_mesh_jitter(abut_mesh *m, double jitter, int32_t seed);

#endif
