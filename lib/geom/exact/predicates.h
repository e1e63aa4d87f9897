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

/* Numbers as sums of doubles that do not overlap (Shewchuk 1997, sections 2.2-2.5): arithmetic without rounding.
 *
 * e[n] is an expansion: components ordered by growing magnitude, non-overlapping, zeros left out; n = 0 is zero.
 * Exact as long as no operation overflows and no product has a bit below 2^-1074: the caller keeps to that range. */

/** e = a - b, exactly; returns its length, 0 to 2. */
int abut_expansion_diff(double a, double b, double e[2]);
/** h = e + f; h[m + n] must not overlap e or f.  Returns its length. */
int abut_expansion_sum(const double *e, int m, const double *f, int n, double *h);
/** h = e f for f of at most two components; h[4 m], scratch[4 m].  Returns its length. */
int abut_expansion_times2(const double *e, int m, const double *f, int n, double *h, double *scratch);
/** Sign of the number: that of its largest component. */
int abut_expansion_sign(const double *e, int n);

#endif
