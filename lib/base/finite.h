/* Numbers that are numbers. */
#ifndef ABUT_BASE_FINITE_H
#define ABUT_BASE_FINITE_H

#include <math.h>
#include <stddef.h>

/** 1 when none of v[n] is infinite or NaN. */
static inline int abut_all_finite(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i])) return 0;
    return 1;
}

#endif
