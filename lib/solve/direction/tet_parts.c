#include "solve/direction/tet_parts.h"

#include "graph/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_tet_parts(const abut_objective *p, const abut_partition *given, int32_t k, int32_t **part, abut_err *err)
{
    const abut_model *m = p->model;
    abut_partition_stats stats;
    abut_status rc = ABUT_OK;
    assert(!given->part || given->k == k);
    int32_t *of = malloc(((size_t)m->nt + 1) * sizeof *of);
    *part = NULL;
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "a partition of %d tets", m->nt);
    if (!given->part) rc = abut_partition_tets(m->nv, m->nt, m->tet, k, of, &stats, err);
    for (int32_t t = 0; t < m->nt && given->part; t++) of[t] = given->part[abut_objective_tet(p, t)];
    if (rc) free(of);
    else *part = of;
    return rc;
}

void abut_tets_by_part(const abut_partition *cut, int32_t nt, int32_t *at, int32_t *order)
{
    memset(at, 0, ((size_t)cut->k + 1) * sizeof *at);
    for (int32_t t = 0; t < nt; t++) at[cut->part[t] + 1]++;
    for (int32_t j = 0; j < cut->k; j++) at[j + 1] += at[j];
    for (int32_t t = 0; t < nt; t++) order[at[cut->part[t]]++] = t;
    for (int32_t j = cut->k; j > 0; j--) at[j] = at[j - 1];
    at[0] = 0;
}
