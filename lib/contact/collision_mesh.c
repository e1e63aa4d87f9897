#include "contact/collision_mesh.h"

#include "base/par.h"

#include <stdlib.h>

abut_status abut_collmesh_init(abut_collmesh *cm, const abut_model *model, abut_err *err)
{
    const size_t ne = (size_t)model->nce;
    double *rest2 = malloc((ne ? ne : 1) * sizeof *rest2);
    if (!rest2) return abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for %zu edges", ne);
    for (size_t e = 0; e < ne; e++) {
        const double *a = model->X + 3 * (size_t)model->coll_node[model->coll_edge[2 * e]];
        const double *b = model->X + 3 * (size_t)model->coll_node[model->coll_edge[2 * e + 1]];
        rest2[e] = 0;
        for (int d = 0; d < 3; d++) rest2[e] += (b[d] - a[d]) * (b[d] - a[d]);
    }
    *cm = (abut_collmesh){ .model = model, .nc = model->nc, .ne = model->nce, .nt = model->nct, .node = model->coll_node,
                           .edge = model->coll_edge, .tri = model->coll_tri, .rest2 = rest2 };
    return ABUT_OK;
}

void abut_collmesh_clear(abut_collmesh *cm)
{
    free(cm->rest2);
    *cm = (abut_collmesh){ 0 };
}

void abut_collmesh_gather(const abut_collmesh *cm, const double *x, double *y)
{
    #pragma omp parallel for schedule(static) if ((size_t)cm->nc >= 8 * ABUT_PAR_MIN)
    for (int32_t v = 0; v < cm->nc; v++)
        for (int d = 0; d < 3; d++) y[3 * (size_t)v + (size_t)d] = x[3 * (size_t)cm->node[v] + (size_t)d];
}
