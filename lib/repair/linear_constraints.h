/* Linear inequalities on node displacements, and the smallest displacement that satisfies them. */
#ifndef ABUT_REPAIR_LINEAR_CONSTRAINTS_H
#define ABUT_REPAIR_LINEAR_CONSTRAINTS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
