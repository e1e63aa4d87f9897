/* Sheets, strands and grains from a few numbers.  As in generate.h: every generator appends to an empty mesh, fails with
 * ABUT_E_ARG on a size that is not positive or a count out of range, with ABUT_E_NOMEM without memory, and leaves the mesh
 * empty then.  What is random comes from a seed (base/rng.h), the same on every machine. */
#ifndef ABUT_MESH_GENERATE_SHEETS_H
#define ABUT_MESH_GENERATE_SHEETS_H

#include "mesh/mesh.h"

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
 * curve[n * 2] in the plane (x, y).  The sheet as it was stays as the pattern, u = x, v = z.  No stretch exceeds 1 (a chord
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
