/* The collision mesh: what contact sees of a model.  Its vertices are y = y0 + W u, a sparse linear map of the degrees of
 * freedom; here W selects nodes, so that a gather is all it costs. */
#ifndef ABUT_CONTACT_COLLISION_MESH_H
#define ABUT_CONTACT_COLLISION_MESH_H

#include "base/arena.h"
#include "model/model.h"

#include <stdint.h>

/* Zero-filled is empty.  Borrows the model's arrays; owns rest2. */
typedef struct abut_collmesh {
    const abut_model *model;
    int32_t nc, ne, nt;         /* vertices, edges, triangles */
    const int32_t *node;        /* [nc] node of each vertex */
    const int32_t *edge;        /* [ne * 2] vertices */
    const int32_t *tri;         /* [nt * 3] vertices */
    double *rest2;              /* [ne] squared rest length, m^2 */
} abut_collmesh;

ABUT_MUST_USE abut_status abut_collmesh_init(abut_collmesh *cm, const abut_model *model, abut_err *err);
void abut_collmesh_clear(abut_collmesh *cm);
/** y[3 nc] = W x for node positions x[3 nv]. */
void abut_collmesh_gather(const abut_collmesh *cm, const double *x, double *y);

#endif
