/* The collision mesh: the contact surfaces of a model.  Its vertices are y = y0 + W x, a sparse linear map of the nodes.  Contact
 * uses vertices alone, and forces are mapped back by W^T.  If W selects nodes (linear elements whose faces are the contact
 * surface), it is a list of nodes; a loop over vertices chooses that path once.
 *
 * Surfaces are triangles and their sides.  Rods, particles and bare points of obstacles have vertices and edges in no triangle,
 * which are listed separately; a scene of surfaces has none. */
#ifndef ABUT_CONTACT_COLLISION_MESH_H
#define ABUT_CONTACT_COLLISION_MESH_H

#include "base/arena.h"
#include "contact/pair_scale_inline.h"
#include "geom/dist.h"
#include "model/model.h"
#include "model/naming.h"
#include "sparse/elements.h"

#include <stdint.h>

/* Zero-filled is empty.  Borrows the model's arrays; owns the others. */
typedef struct abut_collmesh {
    const abut_model *model;
    int32_t nc, ne, nt;         /* vertices, edges, triangles */
    abut_row_map W;             /* [nc x nv] */
    const double *y0;           /* [3 nc] m; NULL: 0 */
    const int32_t *edge;        /* [ne * 2] vertices */
    const int32_t *tri;         /* [nt * 3] vertices */
    uint8_t *obstacle;          /* [nc] 1: moved by nodes of obstacles, never answers a force */
    double *rest2;              /* [ne] squared rest length, m^2 */
    int32_t n_loose, n_seg, n_point;
    int32_t *loose;             /* [n_loose] vertices in no triangle, ascending */
    int32_t *seg;               /* [n_seg] edges that are no side of a triangle, ascending */
    int32_t *point;             /* [n_point] vertices in no edge and no triangle, ascending */
    double rounding;            /* |error| of a coordinate of y over the largest of x; 0 where W selects */
    double *xi;                 /* [nc] contact thickness of each vertex, m; NULL: 0 everywhere */
    double *body_scale, *body_part;     /* scale.of; room for scale.part */
    abut_pair_scale scale;
    struct abut_area *area;     /* contact/area.h; NULL: contacts are counted */
    int rigid_meet;             /* set by the owner.  1: rigid objects meet themselves, as only a start may; else affine maps of
                                 * positive determinant are one to one */
} abut_collmesh;

/** The smallest dhat of a body, m. */
double abut_least_dhat(const abut_model *m);
ABUT_MUST_USE abut_status abut_collmesh_init(abut_collmesh *cm, const abut_model *model, abut_err *err);
/** Sets the parts of kappa that contacts found from now on have: part[no], object/kappa-part of a frame; NULL: 1. */
ABUT_MUST_USE abut_status abut_collmesh_part(abut_collmesh *cm, const double *part, abut_err *err);
void abut_collmesh_clear(abut_collmesh *cm);

/** 1 when W selects nodes: every vertex is one. */
static inline int abut_collmesh_selects(const abut_collmesh *cm) { return !cm->W.first; }
/** Checks that vertices are nodes, for the feature `who` that supports nothing else.  Fails  ABUT_E_FORMAT W is no selection */
ABUT_MUST_USE abut_status abut_collmesh_expect_nodes(const abut_collmesh *cm, const char *who, abut_err *err);
/** y[3 nc] = y0 + W x for node positions x[3 nv]: the entries of a row are summed in their order, then y0 is added. */
void abut_collmesh_positions(const abut_collmesh *cm, const double *x, double *y);
/** q[3]: motion of a vertex if nodes move by p[3 nv]: its row of W p. */
void abut_collmesh_motion(const abut_collmesh *cm, const double *p, int32_t vertex, double q[3]);

/* Slot of a vertex in a sum over contacts: the row of its node if W selects, else its own row.  A selection thus has the bits and
 * the cost of a sum on nodes. */
static inline int32_t abut_collmesh_slot(const abut_collmesh *cm, int32_t vertex)
{
    return vertex < 0 || cm->W.first ? vertex : cm->W.col[vertex];
}
/** Returns the array in which forces on vertices are summed by slots: g[3 nv] itself if W selects, else f[3 nc] of scratch, zero.
 * NULL: scratch is full. */
double *abut_collmesh_sum_begin(const abut_collmesh *cm, double *g, abut_arena *scratch);
/** g += W^T f, in the order of vertices at each node; does nothing if f is g. */
void abut_collmesh_sum_end(const abut_collmesh *cm, const double *f, double *g);

/** Computes the rows of a set whose corners are slots, slot[set->n * set->corners], for a matrix with the block rows row[nv] of
 * nodes (nrow of them, -1: none).  If W selects, rows are block rows; else they are vertices, and the set gets map: W with block
 * rows as columns.
 * rows [set->n * set->corners] out: set->row;  map  out: zero-filled or of an earlier call; abut_row_map_clear
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_collmesh_map_set(const abut_collmesh *cm, const int32_t *row, int32_t nrow, const int32_t *slot,
                                                int32_t *rows, abut_row_map *map, abut_elements *set, abut_err *err);

/** The node of largest weight, the first of several, by which messages name the vertex. */
int32_t abut_collmesh_node(const abut_collmesh *cm, int32_t vertex);
/** The object that a vertex belongs to. */
static inline int32_t abut_collmesh_object(const abut_collmesh *cm, int32_t vertex)
{
    return cm->model->body[abut_collmesh_node(cm, vertex)];
}
/** "node 3 of 'ball'", "edge 3 4 of 'ball'": a primitive of n vertices by its nodes (model/naming.h); if vertices are sums of
 * nodes, "edge of vertices 30 40 of 'ball'".  Returns buf. */
const char *abut_collmesh_words(const abut_collmesh *cm, const int32_t *vertex, int n, char buf[ABUT_NODES_WORDS]);

/** Thickness of a stencil of vertices v[4], m: the mean of the thicknesses of its two primitives (Li 2020, 5.5). */
static inline double abut_collmesh_xi(const abut_collmesh *cm, abut_stencil s, const int32_t *v)
{
    return cm->xi ? 0.5 * (cm->xi[v[0]] + cm->xi[v[abut_stencil_second(s)]]) : 0;
}
/** Distance within which contact of a stencil acts, and contact of a vertex with a half-space, m. */
static inline double abut_collmesh_dhat(const abut_collmesh *cm, abut_stencil s, const int32_t *v)
{
    return cm->scale.of ? abut_pair_dhat(&cm->scale, v[0], v[abut_stencil_second(s)]) : cm->model->dhat[0];
}
static inline double abut_collmesh_plane_dhat(const abut_collmesh *cm, int32_t v)
{
    return cm->scale.of ? abut_pair_dhat(&cm->scale, v, -1) : cm->model->dhat[0];
}
/** 1 if the vertex is of a body in a scene whose bodies do not meet. */
static inline int abut_collmesh_is_ghost(const abut_collmesh *cm, int32_t v)
{
    return cm->model->bodies_meet && !cm->model->bodies_meet[0] && !cm->obstacle[v];
}
/** 1 if some primitives pass through each other. */
static inline int abut_collmesh_some_pass(const abut_collmesh *cm)
{
    const abut_model *m = cm->model;
    return m->nex || (m->rigid_strain && !cm->rigid_meet) || (m->bodies_meet && !m->bodies_meet[0]);
}
/** 1 if primitives with these vertices pass through each other: both belong to bodies, in a scene whose bodies do not meet, or
 * to two objects that do not, or to one rigid object, at the start to one whose parts overlap. */
static inline int abut_collmesh_passes(const abut_collmesh *cm, int32_t va, int32_t vb)
{
    const abut_model *m = cm->model;
    if (m->nex || (m->rigid_strain && !cm->rigid_meet)) {
        const int32_t a = abut_collmesh_object(cm, va), b = abut_collmesh_object(cm, vb);
        if (a == b && m->rigid_strain && !cm->rigid_meet && m->rigid_strain[a] > 0) return 1;
        if (abut_model_excludes(m, a, b)) return 1;
    }
    return abut_collmesh_is_ghost(cm, va) && abut_collmesh_is_ghost(cm, vb);
}
/** Index into a table of two friction classes, such as contact/mu, for two vertices; for a vertex and a half-space. */
static inline size_t abut_collmesh_classes(const abut_collmesh *cm, int32_t va, int32_t vb)
{
    const abut_model *m = cm->model;
    return (size_t)(m->ng * m->obj_friction[abut_collmesh_object(cm, va)] + m->obj_friction[abut_collmesh_object(cm, vb)]);
}
static inline size_t abut_collmesh_plane_classes(const abut_collmesh *cm, int32_t v, int32_t plane)
{
    const abut_model *m = cm->model;
    return (size_t)(m->ng * m->obj_friction[abut_collmesh_object(cm, v)] + m->hs_friction[plane]);
}
/** Thickness of a vertex against a half-space, which has none of its own, m. */
static inline double abut_collmesh_plane_xi(const abut_collmesh *cm, int32_t v) { return cm->xi ? 0.5 * cm->xi[v] : 0; }

/** m: the height of vertex v at y[3 nc] above a half-space, less its thickness. */
static inline double abut_collmesh_plane_height(const abut_collmesh *cm, const double *y, int32_t v, int32_t plane)
{
    const double *o = cm->model->hs_point + 3 * (size_t)plane, *n = cm->model->hs_normal + 3 * (size_t)plane;
    const double *p = y + 3 * (size_t)v;
    return n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]) - abut_collmesh_plane_xi(cm, v);
}

#endif
