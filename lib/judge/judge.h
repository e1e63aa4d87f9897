/* The judge: does a straight motion, or a single configuration, have a collision?  Primitives and pairs are found from the shape
 * alone; each pair is decided by the exact procedure or by a conservative one.
 *
 * Two primitives collide if they touch, or come as near as the required separation.  It is one number for all pairs or, by
 * default, the contact thickness of the shape's objects: the mean of both for a pair, half of its own for a vertex above a
 * half-space.  EXACT decides distance <= separation in real arithmetic on the stored doubles, too (geom/ccd/ccd.h).  With a
 * separation, only half-spaces may be reported wrongly, within 1e-15 of the size of the coordinates.
 *
 * Tested: vertex-triangle, edge-edge; for particles also point-edge and point-point, for ends of rods point-edge; vertices
 * against half-spaces.
 * Not tested: primitives with a common node, pairs of obstacles, and pairs of bodies that do not meet. */
#ifndef ABUT_JUDGE_JUDGE_H
#define ABUT_JUDGE_JUDGE_H

#include "geom/ccd/ccd.h"
#include "judge/shape.h"

typedef enum abut_judge_method {
    ABUT_JUDGE_EXACT,       /* no false answer */
    ABUT_JUDGE_TIGHT,       /* inclusion-based: may report near misses */
    ABUT_JUDGE_ADDITIVE     /* certified additive: may report near misses */
} abut_judge_method;

typedef struct abut_judge_opts {
    abut_judge_method method;
    double min_sep; /* m: required separation; 0: touching is a collision; below 0: the thickness of each pair */
    double delta;           /* m, > 0: resolution of TIGHT */
    long max_boxes;         /* of TIGHT, a pair */
} abut_judge_opts;

/** EXACT, the thickness of each pair, delta 1e-6 m, a million boxes. */
abut_judge_opts abut_judge_defaults(void);

/* The first four have the values of abut_stencil. */
typedef enum abut_hit_kind {
    ABUT_HIT_POINT_POINT = ABUT_PP, ABUT_HIT_POINT_EDGE = ABUT_PE, ABUT_HIT_POINT_TRI = ABUT_PT, ABUT_HIT_EDGE_EDGE = ABUT_EE,
    ABUT_HIT_EDGE_TRI,      /* static: an edge touches or crosses a triangle */
    ABUT_HIT_POINT_TET,     /* static: a vertex is in a tet that is not its own */
    ABUT_HIT_POINT_BODY,    /* static: a vertex is inside of the contact surface of object `item` */
    ABUT_HIT_PLANE,         /* a vertex is on or under half-space `item` */
    ABUT_HIT_FOLD,          /* static: two triangles with a common edge (nodes 0, 1) lie on each other */
    ABUT_HIT_DUPLICATE,     /* static: a triangle is there twice */
    ABUT_HIT_INVERTED,      /* tet `item` has no positive volume, at one instant or on its path; or not at one of its points */
    ABUT_HIT_FLAT_TRI,      /* static: a triangle without area */
    ABUT_HIT_FLAT_EDGE      /* static: an edge without length */
} abut_hit_kind;

typedef struct abut_hit {
    abut_hit_kind kind;
    int32_t node[5];        /* first primitive, then the second; -1 unused */
    int32_t item;           /* half-space, object or tet; -1 */
    double t_lo, t_hi;      /* bounds of the first contact, in [0, 1]; a conservative method sets both to a time before it */
} abut_hit;

/* Sorted by (t_lo, kind, nodes).  Zero-filled is empty. */
typedef struct abut_hits {
    abut_hit *hit;
    size_t n, cap;
    size_t pairs;           /* pairs tested, half-spaces times vertices included */
} abut_hits;

/** 1 when the motion of one stencil is a collision by opts->method, else 0; a stencil alone has no thickness. */
int abut_judge_pair(abut_stencil s, const double *x0, const double *x1, const abut_judge_opts *opts, abut_arena *scratch);

/** All collisions of the straight motion x0 -> x1 of the nodes, [3 nv] each.  out is emptied first.
 * Fails  ABUT_E_GEOM a position is not finite;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_motion(const abut_judge_shape *s, const double *x0, const double *x1,
                                            const abut_judge_opts *opts, abut_hits *out, abut_err *err);

/** All intersections and touches at x: edge-triangle, rods, particles, vertices in tets, or in contact surfaces if collision
 * vertices are sums of nodes (abut_judge_inside), half-spaces, folds, duplicates.  Exact.  Times are 0.
 * Order and failures as abut_judge_motion. */
ABUT_MUST_USE abut_status abut_judge_static(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

/** Appends the pairs, and vertices above half-spaces, that are at x no further apart than the separation of opts; nothing if that
 * is 0, which is the case of abut_judge_static.  Fails as abut_judge_motion. */
ABUT_MUST_USE abut_status abut_judge_near(const abut_judge_shape *s, const double *x, const abut_judge_opts *opts, abut_hits *out,
                                          abut_err *err);

/** Appends a hit for every vertex inside the contact surface at x of another object of tets.  A vertex is inside if the surface
 * winds around it: the triangles above it, signed by the side that they show, do not cancel.  Exact for all finite doubles.  A
 * vertex on a surface, which is another hit, may be appended or not.  Left out: surfaces with a rim, and one piece of an object
 * in another.  Only for shapes whose collision vertices are sums of nodes; for other shapes tets decide.
 * Fails  ABUT_E_GEOM a position is not finite;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_inside(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

/* How near things are to a collision. */
typedef struct abut_judge_gap {
    double gap;             /* m: lower bound of distance less required separation; +inf: nothing is within reach */
    abut_hit at;            /* the pair, as a hit at time 0 */
} abut_judge_gap;

/** The smallest gap of all pairs and of vertices above half-spaces at x, if below reach (m).  Fails as abut_judge_motion. */
ABUT_MUST_USE abut_status abut_judge_smallest_gap(const abut_judge_shape *s, const double *x, double reach,
                                                  const abut_judge_opts *opts, abut_judge_gap *out, abut_err *err);

/** Appends tets without positive volume (exact sign); only_injective: only tets whose material forbids it.  A tet of order 2 or
 * more is appended unless det dx/dxi > 0 is proven in all of it (geom/jacobian.h). */
ABUT_MUST_USE abut_status abut_judge_inverted(const abut_judge_shape *s, const double *x, int only_injective, abut_hits *out,
                                              abut_err *err);
/** Appends tets that lose their positive volume on the straight motion x0 -> x1, ends included, with the first such time; exact
 * by every method.  For a tet of order 2 or more det dx/dxi > 0 is not proven at the time, which may not be the first.
 * out is sorted. */
ABUT_MUST_USE abut_status abut_judge_inverting(const abut_judge_shape *s, const double *x0, const double *x1, int only_injective,
                                               abut_hits *out, abut_err *err);
/** Appends triangles without area and edges without length. */
ABUT_MUST_USE abut_status abut_judge_flat(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

/** Appends triangles that share an edge and lie on each other, and triangles that are there twice. */
ABUT_MUST_USE abut_status abut_judge_folds(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

/** "edge-edge", "vertex in tet", ... */
const char *abut_hit_name(abut_hit_kind kind);
/** How many nodes the hit names, and how many of them are the first primitive's. */
int abut_hit_nodes(abut_hit_kind kind, int *first);

ABUT_MUST_USE abut_status abut_hits_add(abut_hits *h, const abut_hit *hit, abut_err *err);
void abut_hits_sort(abut_hits *h);
void abut_hits_clear(abut_hits *h);

/* Depth of the true boundary of curved tets, for which contact has flat triangles, inside other bodies and half-spaces: for
 * information, not for a verdict, as a trajectory only guarantees that contact surfaces stay apart. */
typedef struct abut_boundary_depth {
    double depth;               /* m: of the deepest sample; 0: all samples are outside */
    int32_t tet;                /* tet of that sample; -1: none */
    int32_t object, plane;      /* in the contact surface of this object, or under this half-space; -1 */
    double at[3];               /* m */
    size_t samples;
} abut_boundary_depth;

/** Samples every boundary face of curved tets at x[3 nv], with `segments` on a side: depth below half-spaces, and distance to the
 * closed contact surface of another object if the sample is inside it.
 * y[3 nc]  m: collision vertices; NULL: nodes themselves
 * Fails  ABUT_E_GEOM the boundary is not that of a solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_boundary(const abut_model *m, const double *x, const double *y, int segments,
                                              abut_boundary_depth *out, abut_err *err);

#endif
