/* Nodes that contacts can move: the matrix connects them with a node that has a weight.  The others sleep: iterations of ADMM do
 * not change their equations, so they keep the velocities of the first iteration, to the bit. */
#ifndef ABUT_SOLVE_NODAL_COMPONENTS_H
#define ABUT_SOLVE_NODAL_COMPONENTS_H

#include "solve/nodal/coulomb_solve.h"
#include "sparse/bsr.h"

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_components {
    int32_t rows;
    int32_t *of;                /* [rows] the component of each row of the matrix: the number of its first row */
    uint8_t *wanted;            /* [rows] 1: of a component that is awake */
    uint8_t *woken;             /* [rows] of a component, at its first row */
    abut_node_list awake;       /* nodes of those rows, ascending */
    int32_t *body;              /* [nodes] the component of each node's row; 0 where it does not move */
    double *mass;               /* [rows] kg: inertia of a motion of the whole component, a third of the trace of the sum of its
                                 * blocks, at its first row: its mass, and more if it is held */
} abut_components;

/** Finds the components of the pattern of A; all sleep.  nodes: how many may be awake.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_components_find(abut_components *c, const abut_bsr *A, int32_t nodes, abut_err *err);
/** Wakes the component of a row, from the next abut_components_list on. */
void abut_components_wake(abut_components *c, int32_t row);
/** Lists the nodes that are awake.  row[nodes]: row of each node, -1: it does not move. */
void abut_components_list(abut_components *c, const int32_t *row, int32_t nodes);
void abut_components_clear(abut_components *c);

#endif
