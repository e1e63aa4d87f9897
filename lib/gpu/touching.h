/* Functions shared by kernels of the operator; for k_*.c. */
#ifndef ABUT_GPU_TOUCHING_H
#define ABUT_GPU_TOUCHING_H

#include "gpu/kernel.h"

enum { CHUNK = 32 /* rows of the operator */, PIECE = 16 /* terms that are summed apart */ };

/* Returns the offset of block (a, b) in a packed matrix; of its transpose if b < a. */
ABUT_FN size_t touch_pair(size_t a, size_t b)
{
    const size_t lo = a < b ? a : b, hi = a < b ? b : a;
    return 9 * (lo * 4 - lo * (lo - 1) / 2 + hi - lo);
}

/* of element e of both sets: its four nodes, its matrix */
ABUT_FN const int32_t *touch_nodes(const abut_touch_args *a, size_t e)
{
    return e < a->n[0] ? a->node[0] + 4 * e : a->node[1] + 4 * (e - a->n[0]);
}

ABUT_FN const double *touch_matrix(const abut_touch_args *a, size_t e)
{
    return e < a->n[0] ? a->val[0] + 90 * e : a->val[1] + 90 * (e - a->n[0]);
}

#endif
