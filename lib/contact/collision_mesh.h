/* The collision mesh: what contact sees of a model.  Its vertices are y = y0 + W u, a sparse linear map of the degrees of
 * freedom; here W selects nodes, so that a gather is all it costs.
 *
 * Surfaces are triangles and their sides.  What has fewer dimensions (rods, particles, bare points of obstacles) has
 * vertices and edges in no triangle; those are listed apart, and a scene of surfaces has none. */
#ifndef ABUT_CONTACT_COLLISION_MESH_H
#define ABUT_CONTACT_COLLISION_MESH_H

#include "base/arena.h"
#include "geom/dist.h"
#include "model/model.h"

#include <stdint.h>

/* Zero-filled is empty.  Borrows the model's arrays; owns the others. */
typedef struct abut_collmesh {
    const abut_model *model;
    int32_t nc, ne, nt;         /* vertices, edges, triangles */
    const int32_t *node;        /* [nc] node of each vertex */
    const int32_t *edge;        /* [ne * 2] vertices */
    const int32_t *tri;         /* [nt * 3] vertices */
    double *rest2;              /* [ne] squared rest length, m^2 */
    int32_t n_loose, n_seg, n_point;
    int32_t *loose;             /* [n_loose] vertices in no triangle, ascending */
    int32_t *seg;               /* [n_seg] edges that are no side of a triangle, ascending */
    int32_t *point;             /* [n_point] vertices in no edge and no triangle, ascending */
    double *xi;                 /* [nc] contact thickness of each vertex, m; NULL: 0 everywhere */
} abut_collmesh;

ABUT_MUST_USE abut_status abut_collmesh_init(abut_collmesh *cm, const abut_model *model, abut_err *err);
void abut_collmesh_clear(abut_collmesh *cm);
/** y[3 nc] = W x for node positions x[3 nv]. */
void abut_collmesh_gather(const abut_collmesh *cm, const double *x, double *y);

/** Thickness of a stencil of vertices v[4], m: the mean of its two primitives' (Li 2020, 5.5), each of one object. */
static inline double abut_collmesh_xi(const abut_collmesh *cm, abut_stencil s, const int32_t *v)
{
    return cm->xi ? 0.5 * (cm->xi[v[0]] + cm->xi[v[abut_stencil_second(s)]]) : 0;
}
/** 1 when primitives with these vertices pass through each other: both are of bodies, in a scene whose bodies do not meet. */
static inline int abut_collmesh_passes(const abut_collmesh *cm, int32_t va, int32_t vb)
{
    const abut_model *m = cm->model;
    return m->bodies_meet && !m->bodies_meet[0] && m->role[cm->node[va]] != ABUT_NODE_OBSTACLE &&
           m->role[cm->node[vb]] != ABUT_NODE_OBSTACLE;
}
/** Thickness of a vertex against a half-space, which has none of its own, m. */
static inline double abut_collmesh_plane_xi(const abut_collmesh *cm, int32_t v) { return cm->xi ? 0.5 * cm->xi[v] : 0; }

#endif
