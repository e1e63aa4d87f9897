/* Lagrange bases of order 1 to 4 on tets and triangles.
 *
 * A node of order k is a tuple of whole numbers a >= 0 with sum k, at the barycentric point a/k.  The order of nodes is Gmsh's:
 * the corners; edges 01, 12, 20, 30, 32, 31 in that direction; faces 021, 013, 032, 312; the interior.  Triangles: corners; edges
 * 01, 12, 20; the interior.  Values and gradients are products of Silvester's polynomials
 *     P(0,t) = 1,  P(m,t) = product over j < m of (k t - j)/(j + 1),   phi_a(L) = product over c of P(a_c, L_c)
 * (P. Silvester, "High-order polynomial triangular finite elements for potential problems", Int. J. Eng. Sci. 7, 1969, eq. 6). */
#ifndef ABUT_GEOM_LAGRANGE_H
#define ABUT_GEOM_LAGRANGE_H

#include "math/vec3.h"

#include <stddef.h>
#include <stdint.h>

enum { ABUT_ORDER_MAX = 4, ABUT_TET_NODES_MAX = 35, ABUT_FACE_NODES_MAX = 15 };

/** Nodes of a tet and of a triangle of an order: 4, 10, 20, 35 and 3, 6, 10, 15. */
static inline int abut_tet_nodes(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }
static inline int abut_triangle_nodes(int order) { return (order + 1) * (order + 2) / 2; }

/** The tuples of an order, node by node: [abut_tet_nodes(order)] and [abut_triangle_nodes(order)]. */
const signed char (*abut_tet_lattice(int order))[4];
const signed char (*abut_triangle_lattice(int order))[3];

/** Corners of face f of a positively oriented tet, outward; face f is opposite corner f. */
extern const signed char abut_tet_face[4][3];
/** Nodes of face f of a tet in the order of a triangle with the corners abut_tet_face[f]: node[abut_triangle_nodes(order)]. */
void abut_tet_face_nodes(int order, int f, int node[ABUT_FACE_NODES_MAX]);

/** Values and gradients of all bases at a point, which may lie outside.
 *
 * L     barycentric coordinates, of sum 1
 * phi   out: [nodes] values; NULL to skip
 * dphi  out: [nodes] gradients by xi_c = L_c, c = 1, 2, 3 (triangle: 1, 2), where L_0 = 1 - sum of xi; NULL to skip */
void abut_tet_basis(int order, const double L[4], double *phi, double (*dphi)[3]);
void abut_triangle_basis(int order, const double L[3], double *phi, double (*dphi)[2]);

/** The point of a tet with nodes X[nodes][3] at L, and J[3 d + c] = d x_d / d xi_c; either may be NULL.  Returns det J, six times
 * the volume where the order is 1 (0 where J is NULL). */
double abut_tet_point(int order, const double (*X)[3], const double L[4], double x[3], double J[9]);

/** The least order of the map of a tet with nodes X, to 1e-12 of its size; 1: straight. */
int abut_tet_least_order(int order, const double (*X)[3]);

/* Polynomials on a tet by Bernstein coefficients.  A polynomial of degree d is the sum of c_a B_a over whole numbers a >= 0 of
 * sum d, B_a(L) = d!/(a0! a1! a2! a3!) L0^a0 L1^a1 L2^a2 L3^a3.  Inside of the tet it lies between the least and the largest
 * coefficient, and at a corner it is the coefficient of the corner.
 *
 * Coefficients stand in the order of abut_bernstein_index.  (G. Farin, "Triangular Bernstein-Bezier patches", CAGD 3, 1986.) */
/* The degree of the Jacobian determinant of a tet of order 4, and its coefficients. */
enum { ABUT_BERNSTEIN_DEGREE = 9, ABUT_BERNSTEIN_MOST = 220 };

/** Coefficients of a polynomial of degree d: (d + 1)(d + 2)(d + 3)/6. */
static inline int abut_bernstein_count(int d) { return (d + 1) * (d + 2) * (d + 3) / 6; }
/** Index of the coefficient of a, for every degree d: a0 = d - a1 - a2 - a3 does not matter. */
static inline int abut_bernstein_index(int a1, int a2, int a3)
{
    const int t = a2 + a3, s = a1 + t;
    return s * (s + 1) * (s + 2) / 6 + t * (t + 1) / 2 + a3;
}
/** Index of the coefficient of corner c = 0 .. 3, which is the value at that corner. */
static inline int abut_bernstein_corner(int d, int c)
{
    return c == 0 ? 0 : abut_bernstein_index(c == 1 ? d : 0, c == 2 ? d : 0, c == 3 ? d : 0);
}
/** a0 .. a3 of the coefficients of degree d, one after the other: start with a = (d, 0, 0, 0); 0: there is no further one. */
static inline int abut_bernstein_next(int d, int a[4])
{
    if (a[2]) a[2]--, a[3]++;
    else if (a[1]) a[1]--, a[2] = a[3] + 1, a[3] = 0;
    else if (a[0]) a[1] = d - --a[0], a[2] = a[3] = 0;
    else return 0;
    return 1;
}
/** d!/(a0! a1! a2! a3!) for d <= ABUT_BERNSTEIN_DEGREE. */
double abut_bernstein_weight(const int a[4]);

/** Bernstein coefficients b[n][3] of the map of a tet of order 1 to 4 from its nodes x[n][3], less x[0]: how far the coefficients
 * are from the first corner.  The tet lies in the hull of x[0] + b.
 * bound  out: |error| of b by axis, rounding included; NULL to skip */
void abut_bernstein_of_nodes(int order, const double (*x)[3], double (*b)[3], double bound[3]);

/** Halves the tet at the middle of its edge (i, j): c becomes the polynomial on the half with corner i, other[] that on the half
 * with corner j; the middle takes the place of the corner that is lost.  Rounding: at most d 2^-53 max |c|. */
void abut_bernstein_halve(int d, double *c, int i, int j, double *other);

/* ---- straight tets ---- */

/** Six times the volume of the tet with corners v among points x[][3], m^3; negative where it is inverted. */
static inline double abut_tet_volume6(const double *x, const int32_t v[4])
{
    const double *o = x + 3 * (size_t)v[0];
    const abut_vec3 a = abut_v3_diff(x + 3 * (size_t)v[1], o), b = abut_v3_diff(x + 3 * (size_t)v[2], o);
    return abut_v3_dot(a, abut_v3_cross(b, abut_v3_diff(x + 3 * (size_t)v[3], o)));
}

#endif
