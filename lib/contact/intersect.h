/* Static check of a configuration by exact predicates: touching primitives and inverted tets. */
#ifndef ABUT_CONTACT_INTERSECT_H
#define ABUT_CONTACT_INTERSECT_H

#include "contact/candidates.h"

typedef struct abut_intersection {
    int32_t edge, tri;      /* an edge touches a triangle that has no vertex of it; -1: a half-space, see below */
    int32_t vert, plane;    /* a vertex on or under a half-space; -1: an edge and a triangle */
} abut_intersection;

/** Lists edge-triangle pairs that touch, by edge, then triangle, and then vertices on or under half-spaces, by vertex, then
 * half-space, at y: at most `max`; *found is the full count.  Closed sets: one common point counts.  The same list for any
 * thread count.  Pairs whose vertices are all fixed are not tested (fixed NULL: none is fixed).
 * Two triangles with one common vertex are covered: they meet elsewhere only if the opposite edge of one touches the other.
 * Two triangles with a common edge can only be folded flat onto each other, which is a zero distance of their vertices and
 * edges, no intersection.
 * Fails  ABUT_E_GEOM a position is not finite, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_intersections_find(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                                  abut_intersection *list, size_t *found, abut_err *err);
/** Lists vertices on or under half-spaces alone; returns how many there are. */
size_t abut_intersections_planes(const abut_collmesh *cm, const double *y, const uint8_t *fixed, size_t max,
                                 abut_intersection *list);
/** First tet without positive volume (exact sign), -1: all are positive.  A tet of order 2 or more must have a proof of det F > 0
 * in all of it (contact/step_bound.h), here and below.
 * only_injective: only tets whose material forbids inversion. */
int32_t abut_inverted_find(const abut_model *m, const double *x, int only_injective);
/** First tet whose material forbids inversion and that loses its positive volume somewhere on the straight motion x0 -> x1
 * (exact: geom/ccd/ccd.h), -1 when none does. */
int32_t abut_inverting_find(const abut_model *m, const double *x0, const double *x1);
/** 1: abut_inverting_find would find this tet. */
int abut_inverting_tet(const abut_model *m, const double *x0, const double *x1, int32_t tet);
/** Smallest J = det F over all tets, for tets of order 2 and more a lower bound, and the first tet that has it; +inf and -1
 * without tets.  tet NULL: skip. */
double abut_smallest_jacobian(const abut_model *m, const double *x, int32_t *tet);

#endif
