/* Lagrange bases of an order at the points of a tet quadrature, laid out for sums over nodes and for sums over points. */
#ifndef ABUT_ENERGY_BASIS_TABLE_H
#define ABUT_ENERGY_BASIS_TABLE_H

#include "base/err.h"
#include "math/lanes.h"

/* Points come in groups of ABUT_LANES; the last one is filled up by its first point, of weight 0.  Owned; zero-filled: empty. */
typedef struct abut_basis_table {
    int order, nodes;
    int n, groups;      /* points; groups of them */
    int wide;           /* nodes up to a multiple of ABUT_LANES: rows of by_point, 0 beyond the nodes */
    double *w;          /* [groups * 4] fractions of the volume */
    double *L;          /* [groups * 4 * 4] barycentric coordinates */
    double *phi;        /* [groups * 4 * nodes] values, point by point */
    double *by_node;    /* [groups * nodes * 3 * 4] dphi/dxi by group, node, axis, point of the group */
    double *by_point;   /* [groups * 4 * 3 * wide] dphi/dxi by point, axis, node */
} abut_basis_table;

/** Tabulates the bases of `order` at the points of a quadrature of at least `degree`.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_basis_table_init(abut_basis_table *b, int order, int degree, abut_err *err);
void abut_basis_table_clear(abut_basis_table *b);

#endif
