/* Doubles by their bits (exponents, powers of two), logarithms and angles, places on Hilbert's curve, the same on every machine.
 * Logarithms and angles have the bits of those of four numbers at once (math/lanes.h). */
#ifndef ABUT_MATH_ELEMENTARY_INLINE_H
#define ABUT_MATH_ELEMENTARY_INLINE_H

#include "base/fn.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

ABUT_FN uint64_t abut_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

ABUT_FN double abut_from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/** 2^e for a normal number, -1022 <= e <= 1023. */
ABUT_FN double abut_power2(int e) { return abut_from_bits((uint64_t)(e + 1023) << 52); }

/** x 2^e rounded once, -2000 < e < 2000. */
ABUT_FN double abut_times_power2(double x, int e)
{
    if (e >= -1022 && e <= 1023) return x * abut_power2(e);
    return x * abut_power2(e / 2) * abut_power2(e - e / 2);
}

/** The e with 1/2 <= |x| 2^-e < 1 of a finite x that is not 0. */
ABUT_FN int abut_exponent(double x)
{
    const int e = (int)(abut_bits(x) >> 52 & 0x7ff);
    return e ? e - 1022 : (int)(abut_bits(x * 0x1p54) >> 52 & 0x7ff) - 1022 - 54;
}

#include "math/forms_one.h"
#include "math/elementary_forms.h"
#include "math/forms_end.h"

/** ln x within 2 units in the last place; where x is not positive or not finite, NaN. */
ABUT_FN double abut_log(double x)
{
    double y;
    abut_log_one(&x, &y);
    return y;
}

/** ln(1 + x) within 2 units in the last place, for -1 < x <= 1; the rounding of 1 + x is corrected. */
ABUT_FN double abut_log1p(double x)
{
    double y;
    abut_log1p_one(&x, &y);
    return y;
}

/** atan2(y, x) in [-pi, pi], within 2 units in the last place; NaN where both are 0, both are infinite or one is NaN. */
ABUT_FN double abut_atan2(double y, double x)
{
    double angle;
    abut_atan2_one(&y, &x, &angle);
    return angle;
}

/** Place of a cell of the grid of 2^bits cells a side on its Hilbert curve; cell[k] < 2^bits, bits <= 21.  Consecutive places are
 * cells with a common face.
 * Source: Skilling 2004, Programming the Hilbert curve (AIP Conf. Proc. 707, 381). */
ABUT_FN uint64_t abut_hilbert(const uint32_t cell[3], int bits)
{
    uint32_t c[3] = { cell[0], cell[1], cell[2] };
    const uint32_t top = 1u << (bits - 1);
    for (uint32_t q = top; q > 1; q >>= 1)      /* undo the rotations and reflections of the cubes around */
        for (int i = 0; i < 3; i++) {
            const uint32_t low = q - 1, t = (c[0] ^ c[i]) & low;
            if (c[i] & q) {
                c[0] ^= low;
            } else {
                c[0] ^= t;
                c[i] ^= t;
            }
        }
    c[1] ^= c[0];       /* Gray code */
    c[2] ^= c[1];
    uint32_t flip = 0;
    for (uint32_t q = top; q > 1; q >>= 1)
        if (c[2] & q) flip ^= q - 1;
    uint64_t place = 0;
    for (int b = bits - 1; b >= 0; b--)
        for (int i = 0; i < 3; i++) place = place << 1 | ((c[i] ^ flip) >> b & 1);
    return place;
}

#endif
