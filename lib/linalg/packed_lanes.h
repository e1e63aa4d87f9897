/* Element matrices (linalg/bsr.h) made four at a time, each number of all four in one place. */
#ifndef ABUT_LINALG_PACKED_LANES_H
#define ABUT_LINALG_PACKED_LANES_H

#include "linalg/bsr.h"
#include "linalg/lanes.h"

/** H[ABUT_PACKED * n]: the numbers of each of the first n lanes in a row. */
ABUT_LANES_INLINE void abut_packed_spread(const abut_lanes K[ABUT_PACKED], size_t n, double *H)
{
    enum { FOURS = ABUT_PACKED / 4 * 4 };
    size_t done = 0;
    for (; n == ABUT_LANES && done < FOURS; done += 4) abut_lanes_spread(K + done, H + done, ABUT_PACKED);
    for (size_t l = 0; l < n; l++)
        for (size_t k = done; k < ABUT_PACKED; k++) H[ABUT_PACKED * l + k] = K[k][l];
}

#endif
