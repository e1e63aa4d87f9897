/* A mesh of tets cut along the borders of its parts: a model whose nodes are copies, one for each part that a node is in (Li
 * 2020, 3.4.3).  It has the same tets, and each copy of a node has the mass of the tets in its part, so an energy of it is the
 * sum of the energies of the parts.
 *
 * It also lists the pairs of a tet and another part with one of its nodes, which complete a part at its borders. */
#ifndef ABUT_SOLVE_LOCAL_GLOBAL_COPIES_H
#define ABUT_SOLVE_LOCAL_GLOBAL_COPIES_H

#include "solve/objective.h"

/* Owns its arrays; the model borrows them, and all other arrays of the given model.  Zero-filled is empty. */
typedef struct abut_copies {
    abut_model model;       /* tets in the order of the given one */
    int32_t k;              /* parts */
    int32_t *node;          /* [model.nv] whose copy it is; copies of a part are neighbours */
    int32_t *part;          /* [model.nv], ascending */
    int32_t *at, *of;       /* copies of[at[i] .. at[i+1]) of node i of the given model, parts ascending */
    size_t beside;          /* tets beside parts */
    int32_t *beside_tet;    /* [beside] */
    int32_t *beside_copy;   /* [4 beside] of its corners in that part; -1: not in it */
    double *X, *mass;
    int32_t *role, *body, *tet;
} abut_copies;

/** part[p->model->nt], in 0 .. k-1.
 * Fails  ABUT_E_FORMAT a node that is no obstacle is of no tet; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_copies_init(abut_copies *c, const abut_objective *p, int32_t k, const int32_t *part,
                                           abut_err *err);
void abut_copies_clear(abut_copies *c);

#endif
