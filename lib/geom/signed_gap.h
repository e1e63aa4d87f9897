/* Gaps with a sign: constraints, for solvers that linearise them, that keep a pair of primitives on its initial side.
 * Stencils as in geom/dist.h.  Each form is an inequality c(x) >= 0 with its gradient a = dc/dx[3 k], k points.
 *
 *     projected   c = n . sum w_i x_i - offset, m: n is the normal at x of the triangle, or the common normal of the lines of two
 *                 edges; a is w_i n, without derivatives of w, because the distance is stationary in w
 *     volume      c = V - offset B / 3, m^3: V of the tet of the four points, B = |u x v| / 2 at the start, u and v the sides of
 *                 the triangle or the two edges, so that V = B d / 3 (Kane et al. 1999)
 *     frozen      c = n . sum w_i x_i - offset, m: n and w of another place, such as an impact (Harmon et al. 2008)
 *
 * The side is that of the start x0.  The nearest points at x may lie outside the primitives: a plane extends beyond its triangle.
 * A distance from a line or a point has no side, so stencils of two and three points have the frozen form alone. */
#ifndef ABUT_GEOM_SIGNED_GAP_H
#define ABUT_GEOM_SIGNED_GAP_H

#include "geom/dist.h"

typedef struct abut_gap_row {
    double c;
    double a[12];
} abut_gap_row;

/** row: the gap of s, ABUT_PT or ABUT_EE, at x, on its side at x0; offset, m.  0: there is no normal (an area or the angle of
 * edges is 0), and row is not written. */
int abut_gap_projected(abut_stencil s, const double *x0, const double *x, double offset, abut_gap_row *row);
int abut_gap_volume(abut_stencil s, const double *x0, const double *x, double offset, abut_gap_row *row);

/** Weights w[4] of the nearest points at z, and the unit normal n[3] between them, positive at x0.  0: the primitives touch at z,
 * so there is no normal. */
int abut_gap_freeze(abut_stencil s, const double *x0, const double *z, double w[4], double n[3]);
void abut_gap_frozen(abut_stencil s, const double w[4], const double n[3], const double *x, double offset, abut_gap_row *row);

#endif
