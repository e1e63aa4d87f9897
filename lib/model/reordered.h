/* A model as a solver keeps it: the same, but for the order of its tets.
 *
 * Mesh generators leave nodes and tets in no order: a thousand tets in a row have some 2800 different nodes, where 300 would do,
 * and whatever goes through them waits for memory.  Here tets follow a curve through the rest shape, object by object.  Nodes
 * keep their numbers, for frames, messages and contacts have them; `node` is an order for what a solver numbers by itself. */
#ifndef ABUT_MODEL_REORDERED_H
#define ABUT_MODEL_REORDERED_H

#include "model/model.h"

typedef struct abut_reordered {
    abut_model model;       /* tet, tet_mat and tet_fibre are those below; all else is borrowed from the model that was given */
    int32_t *number;        /* [nt] number of a tet there */
    int32_t *node;          /* [nv] nodes as the tets come to them, then those without tets, ascending */
    int32_t *tet, *tet_mat;
    double *tet_fibre;
} abut_reordered;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_reordered_new(abut_reordered **a, const abut_model *m, abut_err *err);
/** The number of tet t of a->model within its object, in the order of the model that was given. */
int32_t abut_reordered_tet_number(const abut_reordered *a, int32_t t);
void abut_reordered_free(abut_reordered **a);

#endif
