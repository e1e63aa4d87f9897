/* A model with its tets reordered for solvers.
 *
 * Mesh generators leave nodes and tets in no order: a thousand consecutive tets have some 2800 different nodes instead of 300.
 * Loops over them wait for memory.  Here tets follow a curve through the rest shape, object by object, those of order 1 first.
 * Nodes keep their numbers, which frames, messages and contacts use; `node` is an order for a solver's own numbering. */
#ifndef ABUT_MODEL_REORDERED_H
#define ABUT_MODEL_REORDERED_H

#include "model/model.h"

enum { ABUT_REORDERED_ROWS = 9 };
typedef struct abut_reordered {
    abut_model model;       /* arrays with a row for each tet are in row[]; all others are borrowed from the given model.
                             * tet_first and geo_first do not ascend */
    int32_t *number;        /* [nt] number of a tet there */
    int32_t *node;          /* [nv] nodes as the tets come to them, then those without tets, ascending */
    void *row[ABUT_REORDERED_ROWS];
} abut_reordered;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_reordered_new(abut_reordered **a, const abut_model *m, abut_err *err);
/** The number of tet t of a->model within its object, in the order of the model that was given. */
int32_t abut_reordered_tet_number(const abut_reordered *a, int32_t t);
void abut_reordered_free(abut_reordered **a);

#endif
