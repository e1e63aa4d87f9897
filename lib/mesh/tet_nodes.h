/* Nodes of tets of order 1 to 4: the keys that tets share them by, and the change from one order to another. */
#ifndef ABUT_MESH_TET_NODES_H
#define ABUT_MESH_TET_NODES_H

#include "mesh/mesh.h"

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

/** Every node is at one place of the tets that have it, and every place (abut_node_key) has one node.
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

/** The places of all nodes of tet t, m; returns how many. */
int abut_mesh_tet_places(const abut_mesh *m, int32_t t, double X[ABUT_TET_NODES_MAX][3]);

/** Conforming: every node is at one place of the tets that have it, and every place has one node.
 * Fails  ABUT_E_FORMAT naming two tets and their nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_conforming(const abut_mesh *m, abut_err *err);

#endif
