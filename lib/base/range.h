/* Items lo .. hi - 1 of a list. */
#ifndef ABUT_BASE_RANGE_H
#define ABUT_BASE_RANGE_H

#include <stddef.h>

typedef struct abut_range {
    size_t lo, hi;
} abut_range;

#endif
