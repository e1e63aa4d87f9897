/* Squared distances between points, edges and triangles, their closest points, gradients and Hessians.
 *
 * A stencil is up to four points, 3 numbers each, in one array x:
 *     PP  a, b              PE  p, e0, e1          PT  p, t0, t1, t2         EE  a0, a1, b0, b1
 * Closest points are affine weights: the separation r = sum_i w_i x_i, sum w = 0, distance = |r|. */
#ifndef ABUT_GEOM_DIST_H
#define ABUT_GEOM_DIST_H

#include "base/fn.h"

#include <math.h>

typedef enum abut_stencil { ABUT_PP = 0, ABUT_PE = 1, ABUT_PT = 2, ABUT_EE = 3 } abut_stencil;

/** Points of a stencil: 2, 3, 4, 4. */
ABUT_FN int abut_stencil_size(abut_stencil s) { return s == ABUT_PP ? 2 : s == ABUT_PE ? 3 : 4; }
/** Index of the first point of the second primitive: 1, 1, 1, 2. */
ABUT_FN int abut_stencil_second(abut_stencil s) { return s == ABUT_EE ? 2 : 1; }

/* of(kind, ...) with a literal kind: the compiler makes a version for each. */
#define ABUT_OF_KIND(kind, of, ...) \
    ((kind) == ABUT_PT ? of(ABUT_PT, __VA_ARGS__) : (kind) == ABUT_EE ? of(ABUT_EE, __VA_ARGS__) : \
     (kind) == ABUT_PE ? of(ABUT_PE, __VA_ARGS__) : of(ABUT_PP, __VA_ARGS__))

/** D = d^2 - xi^2, m^2: how far a pair at the squared distance d2 is beyond its thickness xi, rounded once. */
ABUT_FN double abut_beyond2(double d2, double xi) { return xi > 0 ? fma(-xi, xi, d2) : d2; }
/** d - xi, m, without cancellation beyond the rounding of d2 itself. */
ABUT_FN double abut_beyond(double d2, double xi) { return xi > 0 ? fma(-xi, xi, d2) / (sqrt(d2) + xi) : sqrt(d2); }

/* Below this squared sine of the two spanning vectors a normal is noise: the feature is reduced (Li 2020, App. G). */
#define ABUT_SINE2_MIN 1e-20

/* Which primitives of a stencil carry the closest points: the active feature, a stencil of its own. */
typedef struct abut_feature {
    abut_stencil kind;
    int idx[4];         /* points of the outer stencil that make the feature, in the feature's own order */
} abut_feature;

/** The active feature of an outer stencil (PE, PT, EE; a PP is its own) and the squared distance, m^2 (NULL to skip).
 * Right and finite for degenerate input: zero-length edges, zero-area triangles, parallel edges, coincident points.
 * Edges or triangle sides nearer to parallel than a sine of 1e-10 never give EE or PT (Li 2020, App. G).
 * Ties go to the lower index.  The value has the bits that abut_dist2 returns for the feature.
 *
 * Far from the origin: all arithmetic is on differences of the given points, so nothing is lost beyond the rounding of
 * the coordinates themselves (2^-53 |x| each).  For exact input, d errs by at most a few 2^-53 (|r| + d) / sin, r an edge
 * or vertex offset inside the stencil, sin the sine of the two spanning vectors (1 for PE, PP). */
abut_feature abut_nearest(abut_stencil s, const double *x, double *dist2);

/** Returns the squared distance, and closest-point weights w[4] of the outer stencil: r = sum_i w_i x_i points from the second
 * primitive to the first, so w is >= 0 with sum 1 on the first, <= 0 with sum -1 on the second. */
double abut_closest(abut_stencil s, const double *x, double w[4]);

/** Squared distance of the stencil taken as its own active feature: PE is the distance to the line, PT to the plane,
 * EE between the lines.  w[4] (NULL to skip): closest-point weights, unused ones 0.  (Li 2020, 2.9-2.10, 4.18-4.23)
 * If the points span no such feature (see above): the distance to the remaining line or point, with its derivatives. */
double abut_dist2(abut_stencil s, const double *x, double *w);
/** abut_dist2 with derivatives, NULL to skip any of w[4], g, H; returns the squared distance.
 *  g[3k]: gradient, m.   H[(3k)^2], row major, symmetric: Hessian, dimensionless.  k = abut_stencil_size(s).
 *  g_i = 2 w_i r;   H = 2 w w^T x I - Pm (2 A^T A)^-1 Pm^T, A = dr/dbeta, block i of column j of Pm
 *  2 (w_i A_j + dw_i/dbeta_j r), beta the free closest-point parameters: one formula for the four cases. */
double abut_dist2_all(abut_stencil s, const double *x, double *w, double *g, double *H);

/* The edge-edge mollifier: fades an edge-edge barrier out where the edges become parallel (Li 2020, 4.24, App. A). */

/** c = |u x v|^2 of the edges a0 a1, b0 b1 in x[12], m^4; g[12], H[144] its gradient and Hessian (NULL to skip). */
double abut_cross2(const double x[12], double *g, double *H);
/** Threshold eps_x = 1e-3 |U|^2 |V|^2 from squared rest lengths, m^4. */
double abut_mollify_eps(double rest2_a, double rest2_b);
/** e(c) in [0, 1]; d1, d2 its derivatives in c (NULL to skip).  1 for c >= eps. */
double abut_mollify(double c, double eps, double *d1, double *d2);

/* The sliding plane of a contact: two unit tangents (Li 2020, App. H). */

/** P[6]: two orthonormal vectors normal to the separation of stencil s (taken as its own active feature).
 * PT: along t1 - t0 and n x (t1 - t0);  EE: along a1 - a0 and n x (a1 - a0), n the common normal;  PE: along e = e1 - e0
 * and e x (p - e0);  PP: as abut_tangent_plane of b - a.  Degenerate input gives a plane normal to the remaining separation. */
void abut_tangent(abut_stencil s, const double *x, double P[6]);
/** P[6]: two orthonormal vectors normal to n[3], depending on n alone: t = X x n or Y x n, the longer one, and n x t.
 * n = 0 gives the plane of X and Y. */
void abut_tangent_plane(const double n[3], double P[6]);

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
