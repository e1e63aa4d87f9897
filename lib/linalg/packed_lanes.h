/* Element matrices (linalg/bsr.h) made four at a time, each number of all four in one place. */
#ifndef ABUT_LINALG_PACKED_LANES_H
#define ABUT_LINALG_PACKED_LANES_H

#include "linalg/bsr.h"
#include "linalg/lanes.h"

/** H[ABUT_PACKED * n]: numbers [lo, hi) of each of the first n lanes, hi - lo a multiple of 4. */
ABUT_LANES_INLINE void abut_packed_spread_some(const abut_lanes K[ABUT_PACKED], size_t lo, size_t hi, size_t n, double *H)
{
    for (; n == ABUT_LANES && lo < hi; lo += 4) abut_lanes_spread(K + lo, H + lo, ABUT_PACKED);
    for (size_t l = 0; l < n; l++)
        for (size_t k = lo; k < hi; k++) H[ABUT_PACKED * l + k] = K[k][l];
}

/** H[ABUT_PACKED * n]: all numbers of each of the first n lanes. */
ABUT_LANES_INLINE void abut_packed_spread(const abut_lanes K[ABUT_PACKED], size_t n, double *H)
{
    enum { FOURS = ABUT_PACKED / 4 * 4 };
    abut_packed_spread_some(K, 0, FOURS, n, H);
    for (size_t l = 0; l < n; l++)
        for (size_t k = FOURS; k < ABUT_PACKED; k++) H[ABUT_PACKED * l + k] = K[k][l];
}

#endif
