/* Partition of the tets of an objective: the given one, or one by the mesh alone.  It must not depend on held nodes, which change
 * from step to step: a restart does not know the steps before. */
#ifndef ABUT_SOLVE_DIRECTION_TET_PARTS_H
#define ABUT_SOLVE_DIRECTION_TET_PARTS_H

#include "model/tets.h"
#include "solve/objective.h"

/** Makes *part[nt], in 0 .. k-1, of p->model; the caller frees it.
 *
 * given    of the tets in the given order, with k parts; none: k parts are made
 * Fails    ABUT_E_NOMEM; as abut_partition_tets.  *part is then NULL */
ABUT_MUST_USE abut_status abut_tet_parts(const abut_objective *p, const abut_partition *given, int32_t k, int32_t **part,
                                         abut_err *err);
/** order[nt]: tets by part, ascending in each; at[k + 1]: first index of each part in it. */
void abut_tets_by_part(const abut_partition *cut, int32_t nt, int32_t *at, int32_t *order);

#endif
