/* Logarithms of four numbers near 1 at once. */
#ifndef ABUT_LINALG_LOG1P_LANES_H
#define ABUT_LINALG_LOG1P_LANES_H

#include "linalg/lanes.h"

typedef unsigned long long abut_lane_bits __attribute__((vector_size(8 * ABUT_LANES)));

/** *y = ln(1 + x) within 2 units in the last place, for -1 < x <= 1.
 *
 * 1 + x = 2^n (1 + f), f from sqrt(1/2) - 1 to sqrt 2 - 1, and ln(1 + f) = 2 atanh(f/(2 + f)) by the polynomial of FreeBSD's
 * s_log1p.c (Ng 1993); what rounding takes from 1 + x is made up for. */
ABUT_LANES_INLINE void abut_lanes_log1p(const abut_lanes *x, abut_lanes *y)
{
    static const double L[7] = { 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                 1.479819860511658591e-01 };
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const abut_lanes u = 1 + *x, lost = (*x - (u - 1)) / u;
    /* n + 1023, as many powers of 2 as bring u times sqrt(1/2) below 1, as the bits of an integer and as a number */
    const abut_lane_bits bits = (abut_lane_bits)u, n = (bits + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL)) >> 52;
    const abut_lanes power = (abut_lanes)(n | 0x4330000000000000ULL) - (0x1p52 + 1023);
    const abut_lane_mask same = (abut_lane_mask)(n == 1023);
    const abut_lanes f = ABUT_LANES_PICK(same, *x, (abut_lanes)(bits - ((n - 1023) << 52)) - 1);
    const abut_lanes c = ABUT_LANES_PICK(same, ABUT_LANES_ALL(0.), lost), half = 0.5 * f * f, s = f / (2 + f), z = s * s;
    abut_lanes r = ABUT_LANES_ALL(L[6]);
    for (int i = 5; i >= 0; i--) r = r * z + L[i];
    *y = power * ln2_high - ((half - (s * (half + z * r) + (power * ln2_low + c))) - f);
}

#endif
