/* Lagrange bases of order 1 to 4 on tets and triangles.
 *
 * A node of order k is a tuple of whole numbers a >= 0 with sum k, at the barycentric point a/k.  The order of nodes is Gmsh's:
 * the corners; edges 01, 12, 20, 30, 32, 31 in that direction; faces 021, 013, 032, 312; the interior.  Triangles: corners; edges
 * 01, 12, 20; the interior.  Values and gradients are products of Silvester's polynomials
 *     P(0,t) = 1,  P(m,t) = product over j < m of (k t - j)/(j + 1),   phi_a(L) = product over c of P(a_c, L_c)
 * (P. Silvester, "High-order polynomial triangular finite elements for potential problems", Int. J. Eng. Sci. 7, 1969, eq. 6). */
#ifndef ABUT_GEOM_LAGRANGE_H
#define ABUT_GEOM_LAGRANGE_H

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

#endif
