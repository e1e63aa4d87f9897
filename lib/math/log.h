/* Logarithms of four numbers at once, by the polynomial of FreeBSD's e_log.c and s_log1p.c (Ng 1993):
 * ln(1 + f) = 2 atanh(f/(2 + f)) for f from sqrt(1/2) - 1 to sqrt 2 - 1. */
#ifndef ABUT_MATH_LOG_H
#define ABUT_MATH_LOG_H

#include "math/lanes.h"

#include <float.h>

typedef unsigned long long abut_lane_bits __attribute__((vector_size(8 * ABUT_LANES)));

/** *n + 1023, as many powers of 2 as bring u > 0 times sqrt(1/2) below 1: as the bits of an integer, and *n as a number. */
ABUT_LANES_INLINE void abut_lanes_power(const abut_lanes *u, abut_lane_bits *bits, abut_lanes *n)
{
    *bits = ((abut_lane_bits)*u + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL)) >> 52;
    *n = (abut_lanes)(*bits | 0x4330000000000000ULL) - (0x1p52 + 1023);
}

/** *y = ln(2^n (1 + f)) + c. */
ABUT_LANES_INLINE void abut_lanes_log_of(const abut_lanes *n, const abut_lanes *f, const abut_lanes *c, abut_lanes *y)
{
    static const double L[7] = { 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                 1.479819860511658591e-01 };
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const abut_lanes half = 0.5 * *f * *f, s = *f / (2 + *f), z = s * s;
    abut_lanes r = ABUT_LANES_ALL(L[6]);
    for (int i = 5; i >= 0; i--) r = r * z + L[i];
    *y = *n * ln2_high - ((half - (s * (half + z * r) + (*n * ln2_low + *c))) - *f);
}

/** *y = ln x within 2 units in the last place; where x is not positive or not finite, NaN. */
ABUT_LANES_INLINE void abut_lanes_log(const abut_lanes *x, abut_lanes *y)
{
    const abut_lane_mask small = *x < DBL_MIN, known = (*x > 0) & (*x <= DBL_MAX);
    const abut_lanes u = ABUT_LANES_PICK(small, 0x1p54 * *x, *x), none = ABUT_LANES_ALL(0.);
    abut_lane_bits bits;
    abut_lanes n;
    abut_lanes_power(&u, &bits, &n);
    const abut_lanes f = (abut_lanes)((abut_lane_bits)u - ((bits - 1023) << 52)) - 1;
    n = ABUT_LANES_PICK(small, n - 54, n);
    abut_lanes_log_of(&n, &f, &none, y);
    *y = ABUT_LANES_PICK(known, *y, ABUT_LANES_ALL((double)NAN));
}

/** *y = ln(1 + x) within 2 units in the last place, for -1 < x <= 1; the rounding of 1 + x is corrected. */
ABUT_LANES_INLINE void abut_lanes_log1p(const abut_lanes *x, abut_lanes *y)
{
    const abut_lanes u = 1 + *x, lost = (*x - (u - 1)) / u;
    abut_lane_bits bits;
    abut_lanes n;
    abut_lanes_power(&u, &bits, &n);
    const abut_lane_mask same = (abut_lane_mask)(bits == 1023);
    const abut_lanes f = ABUT_LANES_PICK(same, *x, (abut_lanes)((abut_lane_bits)u - ((bits - 1023) << 52)) - 1);
    const abut_lanes c = ABUT_LANES_PICK(same, ABUT_LANES_ALL(0.), lost);
    abut_lanes_log_of(&n, &f, &c, y);
}

#endif
