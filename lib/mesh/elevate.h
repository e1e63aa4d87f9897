/* Tets of order 1 to 4: from one order to another, by the nodes of the lattice of each. */
#ifndef ABUT_MESH_ELEVATE_H
#define ABUT_MESH_ELEVATE_H

#include "mesh/mesh.h"

/** Gives all tets that order.  New nodes lie on the shape of the tets: a higher order keeps the shape, a lower one interpolates
 * it.  Corners and points of other elements keep their numbers; former nodes that no element refers to are removed.
 * New points follow all others: those of edges, then of faces, then of interiors, each in the order of their keys
 * (mesh/node_key.h).  So tets share common nodes for every order of tets and corners.
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
