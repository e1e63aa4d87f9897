/* Linear inequalities on node displacements, the smallest displacement that satisfies them, and those that move parts of surfaces
 * back from the wrong side of another surface. */
#ifndef ABUT_REPAIR_CONSTRAINTS_H
#define ABUT_REPAIR_CONSTRAINTS_H

#include "contact/intersect.h"

/* Kind of a constraint by its primitives, for sorting and for messages. */
typedef enum abut_constraint_kind {
    ABUT_CONSTRAINT_VT, ABUT_CONSTRAINT_EE, ABUT_CONSTRAINT_VE, ABUT_CONSTRAINT_VV, ABUT_CONSTRAINT_PLANE, ABUT_CONSTRAINT_TET
} abut_constraint_kind;

/* sum_i a_i . u[node_i] >= b over the displacements u of up to four nodes. */
typedef struct abut_constraint {
    abut_constraint_kind kind;
    int32_t id[2];          /* vertex, triangle | edge, edge | vertex, edge | vertex, vertex | vertex, half-space | tet, -1 */
    int32_t node[4];        /* -1 unused */
    double a[4][3];
    double b;
    double lambda;          /* multiplier, >= 0 */
} abut_constraint;

/* Zero-filled is empty; keeps its memory. */
typedef struct abut_constraints {
    abut_constraint *constraint;
    size_t n, cap;
} abut_constraints;

ABUT_MUST_USE abut_status abut_constraints_add(abut_constraints *list, const abut_constraint *one, abut_err *err);
/** Sorts by (kind, id); of equal ones the first added stays. */
void abut_constraints_sort(abut_constraints *list);
/** The constraint of that key, NULL when there is none; the list is sorted. */
const abut_constraint *abut_constraints_find(const abut_constraints *list, abut_constraint_kind kind, int32_t id0, int32_t id1);
void abut_constraints_clear(abut_constraints *list);

/** Copies the multipliers of constraints of `old` with the same key; both lists are sorted. */
void abut_constraints_warm(abut_constraints *list, const abut_constraints *old);

/** Minimises sum_i mass_i |u_i|^2 / 2 subject to the constraints by Hildreth's method (coordinate ascent of the dual), starting
 * from their multipliers; nodes with weight 0 do not move.  Sweeps over all constraints alternate with sweeps over the active or
 * violated ones, because most are slack.
 *
 * weight[nv]  1/kg, inverse masses
 * sweeps      at most so many sweeps over all; stops if none is violated by more than tol (m)
 * active[n]   scratch
 * u[3 nv]     out, m
 * returns     largest violation left, m: above tol when they contradict each other or the sweeps are spent */
double abut_constraints_solve(abut_constraints *list, const double *weight, int32_t nv, int sweeps, double tol, size_t *active,
                              double *u);

/* ---- wrong sides ----
 *
 * Edges that cross triangles cut the surfaces into regions (Baraff, Witkin and Kass 2003, global intersection analysis):
 * the smaller region of a connected surface counts as the one on the wrong side.  Its vertices are moved back through the
 * nearest triangle they came through.  An edge that crosses a ridge with both ends on the right side is moved over it. */

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

/** Regions of the intersections hit[n] of edges and triangles at y[3 nc]. */
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
