/* Layout of a packed element matrix (sparse/elements.h). */
#ifndef ABUT_SPARSE_PACKED_INLINE_H
#define ABUT_SPARSE_PACKED_INLINE_H

#include "base/fn.h"

#include <stddef.h>

/** Numbers of a packed element matrix. */
ABUT_FN size_t abut_packed_size(int corners)
{
    return 9 * ((size_t)corners * ((size_t)corners + 1) / 2);
}

/** Number of the packed block (a, b), a <= b. */
ABUT_FN size_t abut_packed_block(int corners, int a, int b)
{
    return (size_t)(a * (2 * corners - a + 1) / 2 + b - a);
}

#endif
