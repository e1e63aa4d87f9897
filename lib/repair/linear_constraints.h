/* Linear inequalities on node displacements, and the smallest displacement that satisfies them. */
#ifndef ABUT_REPAIR_LINEAR_CONSTRAINTS_H
#define ABUT_REPAIR_LINEAR_CONSTRAINTS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* What a row speaks of, for sorting and for naming it. */
typedef enum abut_row_kind { ABUT_ROW_VT, ABUT_ROW_EE, ABUT_ROW_VE, ABUT_ROW_VV, ABUT_ROW_PLANE, ABUT_ROW_TET } abut_row_kind;

/* sum_i a_i . u[node_i] >= b over the displacements u of up to four nodes. */
typedef struct abut_row {
    abut_row_kind kind;
    int32_t id[2];          /* vertex, triangle | edge, edge | vertex, edge | vertex, vertex | vertex, half-space | tet, -1 */
    int32_t node[4];        /* -1 unused */
    double a[4][3];
    double b;
    double lambda;          /* multiplier, >= 0: of the row */
} abut_row;

/* Zero-filled is empty; keeps its memory. */
typedef struct abut_rows {
    abut_row *row;
    size_t n, cap;
} abut_rows;

ABUT_MUST_USE abut_status abut_rows_add(abut_rows *rows, const abut_row *row, abut_err *err);
/** Sorts by (kind, id); of equal ones the first added stays. */
void abut_rows_sort(abut_rows *rows);
/** The row of that key, NULL when there is none; rows sorted. */
const abut_row *abut_rows_find(const abut_rows *rows, abut_row_kind kind, int32_t id0, int32_t id1);
void abut_rows_clear(abut_rows *rows);

/** Takes over the multipliers of old rows with the same key; both sorted. */
void abut_rows_warm(abut_rows *rows, const abut_rows *old);

/** Minimises sum_i mass_i |u_i|^2 / 2 subject to the rows by Hildreth's method (coordinate ascent of the dual), starting
 * from the multipliers of the rows; nodes with weight 0 do not move.  Sweeps over all rows alternate with sweeps over those
 * that are active or violated: most rows of a round are slack.
 *
 * weight[nv]  1/kg, inverse masses
 * sweeps      over all rows, at most; stops when no row is violated by more than tol (m)
 * active[n]   scratch
 * u[3 nv]     out, m
 * returns     largest violation left, m: above tol when the rows contradict each other or the sweeps are spent */
double abut_rows_solve(abut_rows *rows, const double *weight, int32_t nv, int sweeps, double tol, size_t *active, double *u);

#endif
