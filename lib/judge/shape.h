/* Input of the judge of a trajectory: every primitive that must not touch another, as lists of nodes.  Made from a model or from
 * a plain mesh, without data of the simulation; missing vertices and edges of triangles are added. */
#ifndef ABUT_JUDGE_SHAPE_H
#define ABUT_JUDGE_SHAPE_H

#include "geom/boxes.h"
#include "mesh/mesh.h"
#include "model/model.h"

/* k nodes each, sorted and unique.  malloc'ed. */
typedef struct abut_simplices {
    int32_t *node;
    size_t n;
    int k;
} abut_simplices;

/* Owns all.  Zero-filled is empty. */
typedef struct abut_judge_shape {
    int32_t nv;                 /* points: nodes, then the collision vertices that are sums of nodes */
    const abut_model *map;      /* the model with these sums; borrowed; NULL: there are none */
    abut_simplices vert;         /* vertices that collide */
    abut_simplices point;       /* vertices of no edge */
    abut_simplices loose;       /* vertices of no triangle: points, and ends of rods */
    abut_simplices tip;         /* vertices of one edge, which is in `rod` */
    abut_simplices edge;         /* listed edges and the sides of triangles */
    abut_simplices side;         /* sides of triangles */
    abut_simplices rod;          /* edges of no triangle */
    abut_pair_list folds;       /* (tip, rod) if the edge of the tip ends in that rod: no pair of edges covers it */
    abut_simplices tri;          /* in the given order, not sorted */
    abut_simplices tet;          /* corners, in the given order */
    const abut_model *curved;   /* the model with all nodes of tets of order 2 and more; borrowed; NULL: there are none */
    uint8_t *injective;         /* [tet.n] 1: its material forbids inversion */
    uint8_t *still;             /* [nv] 1: of an obstacle; obstacles may touch each other */
    int bodies_pass;            /* 1: nodes of bodies pass through each other */
    const abut_model *excluding;    /* the model whose contact/excluded names pairs of objects; borrowed; NULL: there are none */
    int32_t *object;            /* [nv] of a point; NULL: no two objects are excluded */
    double *thick;              /* [nv] m: contact thickness of the node's object; NULL: none has any */
    int32_t n_plane;
    double *plane_point, *plane_normal;     /* [n_plane * 3] */
} abut_judge_shape;

/** 1 when elements with these nodes are of bodies that do not meet. */
static inline int abut_judge_passes(const abut_judge_shape *s, int32_t a, int32_t b)
{
    if (s->excluding && abut_model_excludes(s->excluding, s->object[a], s->object[b])) return 1;
    return s->bodies_pass && !s->still[a] && !s->still[b];
}

/** Contact thickness of element i, m: the largest of its nodes'. */
double abut_judge_thickness(const abut_judge_shape *s, const abut_simplices *e, size_t i);

/** Takes the collision mesh, tets, half-spaces and thicknesses of a model.  The model must outlive s if its collision vertices
 * are sums of nodes, its tets are curved, or two of its objects do not meet.  Fails ABUT_E_NOMEM. */
ABUT_MUST_USE abut_status abut_judge_shape_model(abut_judge_shape *s, const abut_model *m, abut_err *err);
/** Takes the triangles, segments and points of a mesh, and the boundary of its tets (no tet may be inverted).
 * Fails  ABUT_E_FORMAT a bad index, an element that names a point twice;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_shape_mesh(abut_judge_shape *s, const abut_mesh *m, abut_err *err);
/** *points[3 s->nv], m: x itself if every point is a node; else room[3 s->nv], filled with x, then each collision vertex as in
 * formats/STATE.md: the products of its row summed in their order in double precision, then its offset.
 * x [3 nv of the model]  Fails  ABUT_E_GEOM a vertex is further away than ABUT_FARTHEST */
ABUT_MUST_USE abut_status abut_judge_points(const abut_judge_shape *s, const double *x, double *room, const double **points,
                                            abut_err *err);
void abut_judge_shape_clear(abut_judge_shape *s);

#endif
