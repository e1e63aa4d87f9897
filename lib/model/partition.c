#include "model/partition.h"

#include <assert.h>
#include <string.h>

abut_status abut_partition_view(const abut_arrays *model, int32_t nt, abut_partition *out, abut_err *err)
{
    assert(nt >= 0 && out);
    const abut_array *count = abut_arrays_find(model, "part/count"), *part = abut_arrays_find(model, "part/element");
    *out = (abut_partition){ 0 };
    if (!count && !part) return ABUT_OK;
    if (!count || count->type != ABUT_I32 || count->rank != 0 || !part || part->type != ABUT_I32 || part->rank != 1 ||
        part->shape[0] != nt)
        return abut_fail(err, ABUT_E_FORMAT, "expected part/count (i32) and part/element (i32, %d) together", nt);
    int32_t k;
    memcpy(&k, count->data, sizeof k);
    const int32_t *p = part->data;
    if (k < 1 || k > nt)
        return abut_fail(err, ABUT_E_FORMAT, "part/count is %d, expected 1 to %d, the number of tets", k, nt);
    for (int32_t t = 0; t < nt; t++)
        if (p[t] < 0 || p[t] >= k)
            return abut_fail(err, ABUT_E_FORMAT, "part/element: tet %d is in part %d, expected 0 .. %d (part/count)", t, p[t],
                             k - 1);
    *out = (abut_partition){ k, p };
    return ABUT_OK;
}
