/* Tests whether adjacent tets of order 1 to 4 share their common nodes. */
#ifndef ABUT_MESH_CONFORMING_H
#define ABUT_MESH_CONFORMING_H

#include "base/err.h"
#include "geom/lagrange.h"

#include <stdint.h>

/* Writes all nodes of tet t, corners first; returns how many: 4, 10, 20 or 35. */
typedef int abut_tet_reader(const void *of, int32_t t, int32_t node[ABUT_TET_NODES_MAX]);

/** Every node is at one place of the tets that have it, and every place has one node (mesh/node_key.h).
 * Fails  ABUT_E_FORMAT naming two tets and their nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tets_conforming(const void *of, abut_tet_reader *read, int32_t nt, int32_t nv, abut_err *err);

#endif
