/* Packed element matrices (sparse/elements.h) of four corners: their size, and four of them at a time, each number of all four in
 * one place.  No other file knows these sizes. */
#ifndef ABUT_SPARSE_PACKED_LANES_H
#define ABUT_SPARSE_PACKED_LANES_H

#include "math/lanes.h"

#include <stddef.h>

enum { ABUT_PACKED = 90 /* numbers */, ABUT_PAIRS = ABUT_PACKED / 9 /* blocks */ };
typedef abut_lanes abut_packed_lanes[ABUT_PACKED];

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

/** Writes only the blocks of elements with `corners` corners (a literal), and zeros next to them; other blocks are not written.
 * Changes K next to the blocks. */
ABUT_LANES_INLINE void abut_packed_spread_corners(abut_lanes K[ABUT_PACKED], int corners, size_t n, double *H)
{
    static const size_t part[3][3][2] = { { { 0, 12 } }, { { 0, 20 }, { 36, 48 } }, { { 0, 28 }, { 36, 56 }, { 63, 75 } } };
    for (int i = 0; i < corners && corners < 4; i++) {
        const size_t lo = part[corners - 1][i][0], hi = part[corners - 1][i][1];
        for (size_t k = lo + (hi - lo) / 9 * 9; k < hi; k++) K[k] = ABUT_LANES_ALL(0.);
        abut_packed_spread_some(K, lo, hi, n, H);
    }
    if (corners == 4) abut_packed_spread(K, n, H);
}

#endif
