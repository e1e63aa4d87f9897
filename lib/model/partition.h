/* A partition of the tets as the stream holds it: part/count and part/element of the MODEL (formats/STATE.md), made by
 * decompose. */
#ifndef ABUT_MODEL_PARTITION_H
#define ABUT_MODEL_PARTITION_H

#include "base/array.h"

/* Zero-filled is none. */
typedef struct abut_partition {
    int32_t k;              /* parts */
    const int32_t *part;    /* [nt] in 0 .. k-1; borrowed */
} abut_partition;

/** The partition of nt tets among the arrays of a model; none (part NULL) when there is none.
 * Fails  ABUT_E_FORMAT one of the two arrays alone, of another type or length, a part outside 0 .. k-1 */
ABUT_MUST_USE abut_status abut_partition_view(const abut_arrays *model, int32_t nt, abut_partition *out, abut_err *err);

#endif
