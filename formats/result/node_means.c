#include "formats/result/node_means.h"

#include <stdlib.h>
#include <string.h>

abut_status abut_node_means(const abut_node_elements *e, const double *value, int32_t nv, double *mean, abut_err *err)
{
    double *count = calloc((size_t)nv + 1, sizeof *count);
    if (!count) return abut_fail(err, ABUT_E_NOMEM, "no memory for means at %d nodes", nv);
    memset(mean, 0, (size_t)nv * sizeof *mean);
    for (size_t i = 0; i < (size_t)e->width * (size_t)e->n; i++) {
        mean[e->node[i]] += value[i / (size_t)e->width * (size_t)e->stride];
        count[e->node[i]] += 1;
    }
    for (int32_t i = 0; i < nv; i++) mean[i] /= count[i];
    free(count);
    return ABUT_OK;
}
