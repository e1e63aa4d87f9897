/* Exact static predicates: signs are those of real arithmetic on the stored doubles (Shewchuk 1997).
 * "Touch" is closed: one common point counts.  Degenerate triangles and edges are segments and points, never skipped.
 *
 * All finite doubles are valid, subnormal and huge ones, too: the plain evaluation decides if its error bound allows, else
 * expansions, else big integers.  A NaN or an infinity has sign 0, so a touch test answers "no" only if the other coordinates
 * prove it. */
#ifndef ABUT_GEOM_EXACT_PREDICATES_H
#define ABUT_GEOM_EXACT_PREDICATES_H

/** Sign of the doubled area of a, b, c: +1 counter-clockwise. */
int abut_orient2d(const double a[2], const double b[2], const double c[2]);
/** Sign of det[a-d; b-d; c-d]: +1 when d is below the plane a, b, c seen counter-clockwise from above.
 * A tetrahedron a b c d with positive volume (b-a, c-a, d-a right-handed) has sign -1. */
int abut_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);
/** Sign of n . (x - p): +1 above the half-space of point p and normal n, 0 on its plane.  n need not be a unit vector. */
int abut_plane_side(const double n[3], const double p[3], const double x[3]);

/** Do the closed segment p q and the closed triangle a b c share a point? */
int abut_touch_edge_tri(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3]);
/** Do two closed segments share a point? */
int abut_touch_edge_edge(const double p[3], const double q[3], const double a[3], const double b[3]);
/** Is p on the closed triangle? on the closed segment? in the closed tetrahedron (any orientation)? */
int abut_touch_point_tri(const double p[3], const double a[3], const double b[3], const double c[3]);
int abut_touch_point_edge(const double p[3], const double a[3], const double b[3]);
int abut_touch_point_tet(const double p[3], const double a[3], const double b[3], const double c[3], const double d[3]);
/** Two triangles sharing the edge a b, apexes c and d: folded onto each other?  (No, when one has no area.) */
int abut_fold_over(const double a[3], const double b[3], const double c[3], const double d[3]);

#endif
