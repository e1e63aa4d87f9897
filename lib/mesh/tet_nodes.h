/* Nodes of tets of order 1 to 4: keys by which tets share them, changes of the order, and tets curved after a shape (curve.c). */
#ifndef ABUT_MESH_TET_NODES_H
#define ABUT_MESH_TET_NODES_H

#include "mesh/mesh.h"
#include "mesh/triangle_tree.h"

/* Key of a node of a tet of order 1 to 4: equal in all tets that share the node.
 *
 * A node at the barycentric point a/k is on the corners c with a_c > 0: its key is the list of those corners with their a_c, by
 * ascending corner.  A corner has the key (itself, k), a node of an edge two corners, of a face three, of the interior four. */
typedef struct abut_node_key {
    int32_t corner[4];          /* ascending; unused ones -1, at the end */
    signed char weight[4];      /* of those, 0 unused; their sum is the order */
} abut_node_key;

/** The key of the node a of a tet with these corners, any numbers that name them. */
abut_node_key abut_node_key_of(const int32_t corner[4], const signed char a[4]);

/** Number of corners of the key: 1 to 4. */
int abut_node_key_size(const abut_node_key *k);

/** < 0, 0, > 0: corners before edges, faces and the interior; among equal sizes by corners, then by weights of the first, ... */
int abut_node_key_compare(const abut_node_key *a, const abut_node_key *b);

/* Writes all nodes of tet t, corners first; returns how many: 4, 10, 20 or 35. */
typedef int abut_tet_reader(const void *of, int32_t t, int32_t node[ABUT_TET_NODES_MAX]);

/** Checks that every node is at one place of the tets that have it, and that every place (abut_node_key) has one node.
 * Fails  ABUT_E_FORMAT naming two tets and their nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tets_conforming(const void *of, abut_tet_reader *read, int32_t nt, int32_t nv, abut_err *err);

/** Gives all tets that order.  New nodes lie on the shape of the tets: a higher order keeps the shape, a lower one interpolates
 * it.  Corners and points of other elements keep their numbers; former nodes that no element refers to are removed.
 * New points follow all others: those of edges, then of faces, then of interiors, each in the order of their keys.  So
 * tets share common nodes for every order of tets and corners.
 *
 * order  1 to 4; the present one: the mesh stays unchanged
 * Fails  ABUT_E_FORMAT too many points, as abut_mesh_order_bound; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_set_order(abut_mesh *m, int order, abut_err *err);

/** Tests whether a scene may hold the mesh with tets of that order, before memory is allocated.  T tets have at least 2 T faces
 * and T edges (Euler).
 * points  in: of the objects before; out: with those of the mesh, a lower bound
 * Fails  ABUT_E_FORMAT with the number and the bound */
ABUT_MUST_USE abut_status abut_mesh_order_bound(const abut_mesh *m, int order, double *points, abut_err *err);

/** Writes the positions of all nodes of tet t, m; returns their number. */
int abut_mesh_tet_places(const abut_mesh *m, int32_t t, double X[ABUT_TET_NODES_MAX][3]);

/** Calls abut_tets_conforming for the tets of a mesh. */
ABUT_MUST_USE abut_status abut_mesh_conforming(const abut_mesh *m, abut_err *err);

/* ---- curve.c ----
 *
 * The surface of a mesh of tets put onto the smooth shape that it approximates, and the tets curved after it.
 *
 * 1. Corners on the surface move to the shape, half as far where a tet would keep less than a fifth of its volume, and so on.
 * 2. Nodes of edges and faces of the surface move from the straight element to the shape.
 * 3. Every other node with barycentric coordinates L moves by the sum over the surface's edges (a, b) of its tet of
 *    (L_a + L_b)^2 d_ab(L_b / (L_a + L_b)), d_ab(t) how far the edge has moved at t (cf. W. Gordon and C. Hall, "Construction of
 *    curvilinear co-ordinate systems", Int. J. Numer. Methods Eng. 7, 1973): faces of two tets agree, and straight edges give
 *    nothing.
 * 4. Where the Jacobian determinant of a tet is not proven positive in all of it (geom/jacobian.h), its edges and faces on the
 *    surface move half as far, up to six times, then not at all. */

/* Points within `radius` of the segment from a to b. */
typedef struct abut_capsule { double a[3], b[3], radius; } abut_capsule;

/* Capsules joined smoothly, an implicit shape: f = -blend ln sum_i exp(-f_i / blend) of the distances f_i to
 * n capsules (blend 0: the least f_i), m; f < 0 inside. */
typedef struct abut_capsules { const abut_capsule *capsule; int32_t n; double blend; } abut_capsules;

/** f and its gradient. */
double abut_capsules_value(const abut_capsules *f, const double p[3], double grad[3]);

/* Smooth shapes that the surface of a mesh approximates. */
enum { ABUT_SNAP_NONE = 0, ABUT_SNAP_SPHERE = 1, ABUT_SNAP_CYLINDER = 2 /* about y, with flat ends */,
       ABUT_SNAP_TORUS = 3 /* about y */, ABUT_SNAP_CAPSULES = 4, ABUT_SNAP_MESH = 5 /* a finer surface of triangles */ };

/* Owns its arrays; zero-filled is none.  m. */
typedef struct abut_snap {
    int kind;                   /* ABUT_SNAP_* */
    double center[3];           /* of sphere, cylinder, torus */
    double radius;              /* of those three */
    double size;                /* cylinder: height; torus: radius of its round section */
    abut_capsule *capsule;      /* [ncapsules] */
    int32_t ncapsules;
    double blend;
    abut_mesh mesh;             /* triangles */
    abut_triangle_tree *tree;   /* of those, from abut_snap_begin */
} abut_snap;

/** Builds the search tree of a mesh.  Fails  ABUT_E_ARG a mesh without triangles; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_snap_begin(abut_snap *s, abut_err *err);
void abut_snap_clear(abut_snap *s);

/* Result of curving a surface. */
typedef struct abut_curved {
    int32_t corners, held;      /* corners that moved; number of them that did not reach the shape */
    int32_t eased;              /* tets whose surface moved less, so that their Jacobian determinant is positive */
    int32_t first;              /* the first of these tets */
    double gap;                 /* m: largest distance of the curved surface to the shape, sampled */
    double least;               /* least det J over mean det J of a tet: 1 where all are straight */
} abut_curved;

/** Turns straight tets (order 1) into tets of that order whose surface lies on the shape.  For order 1, step 1 alone is done.
 *
 * s     abut_snap_begin has been called
 * Fails  ABUT_E_GEOM a straight tet without volume, a surface that is none; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_curve(abut_mesh *m, const abut_snap *s, int order, abut_curved *out, abut_err *err);

#endif
