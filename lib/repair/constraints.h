/* Parts of surfaces on the wrong side of another surface, and constraints that move them back.
 *
 * Edges that cross triangles cut the surfaces into regions (Baraff, Witkin and Kass 2003, global intersection analysis):
 * the smaller region of a connected surface counts as the one on the wrong side.  Its vertices are moved back through the
 * nearest triangle they came through.  An edge that crosses a ridge with both ends on the right side is moved over it. */
#ifndef ABUT_REPAIR_WRONG_SIDE_H
#define ABUT_REPAIR_WRONG_SIDE_H

#include "contact/intersect.h"
#include "repair/linear_constraints.h"

/* Data of a collision mesh that does not depend on positions, and the regions last found.  Zero-filled is empty. */
typedef struct abut_wrong_side {
    const abut_collmesh *cm;
    int32_t *whole;         /* [nc] lowest vertex of the connected surface */
    int32_t *side;          /* [3 nt] edge of each triangle side (k, k + 1) */
    int32_t *tris_of_edge;  /* [ne] triangles at an edge */
    int32_t *region;        /* [nc] lowest vertex of the region, as found by the last abut_wrong_side_find */
    int32_t *size, *largest;    /* [nc] vertices of the region of that name; name of the largest region of a surface */
    uint8_t *beyond;        /* [nc] 1: vertex of a region on the wrong side */
    uint8_t *cut;           /* [ne] 1: the edge crosses a triangle */
} abut_wrong_side;

ABUT_MUST_USE abut_status abut_wrong_side_init(abut_wrong_side *t, const abut_collmesh *cm, abut_err *err);
void abut_wrong_side_clear(abut_wrong_side *t);

/** Regions of the intersections hit[n] (of triangles; half-space entries are skipped) at y[3 nc]. */
void abut_wrong_side_find(abut_wrong_side *t, const abut_intersection *hit, size_t n);

/** Appends constraints that undo the intersections to list: motions along unit vectors until the parts are `gap` (m) and their
 * thickness apart on the right side, times ABUT_SEPARATE_AIM.  last: the sorted constraints of the last round, so that no vertex
 * moves back and forth.  Constraints are on the change of positions from y; nodes are collision vertices.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_wrong_side_constraints(const abut_wrong_side *t, const abut_intersection *hit, size_t n,
                                                      const double *y, double gap, const abut_constraints *last,
                                                      abut_constraints *list, abut_err *err);

/* Constraints ask for a little more than the distance: pairs rotate while they part. */
#define ABUT_SEPARATE_AIM 1.001

/** The constraint of a stencil kept apart along n: n.(sum_i w_i x_i) >= distance for the vertices vert (-1 unused) at y, as a
 * condition on the change of positions.  The value at y is n.(sum w y). */
abut_constraint abut_constraint_apart(abut_constraint_kind kind, int32_t id0, int32_t id1, const int32_t vert[4],
                                      const double w[4], const double n[3], const double *y, double distance);

#endif
