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

/** bits: n + 1023 with n as many powers of 2 as bring u > 0 times sqrt(1/2) below 1; returns n. */
ABUT_FN double abut_log_power(double u, uint64_t *bits)
{
    *bits = (abut_bits(u) + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL)) >> 52;
    return abut_from_bits(*bits | 0x4330000000000000ULL) - (0x1p52 + 1023);
}

/** ln(2^n (1 + f)) + c, f from sqrt(1/2) - 1 to sqrt 2 - 1. */
ABUT_FN double abut_log_of(double n, double f, double c)
{
    const double half = 0.5 * f * f, s = f / (2 + f), z = s * s;
    double r = 1.479819860511658591e-01;
    r = r * z + 1.531383769920937332e-01;
    r = r * z + 1.818357216161805012e-01;
    r = r * z + 2.222219843214978396e-01;
    r = r * z + 2.857142874366239149e-01;
    r = r * z + 3.999999999940941908e-01;
    r = r * z + 6.666666666666735130e-01;
    return n * 6.93147180369123816490e-01 - ((half - (s * (half + z * r) + (n * 1.90821492927058770002e-10 + c))) - f);
}

/** ln x within 2 units in the last place; where x is not positive or not finite, NaN. */
ABUT_FN double abut_log(double x)
{
    if (!(x > 0 && x <= DBL_MAX)) return (double)NAN;
    const int small = x < DBL_MIN;
    const double u = small ? 0x1p54 * x : x;
    uint64_t bits;
    const double n = abut_log_power(u, &bits), f = abut_from_bits(abut_bits(u) - ((bits - 1023) << 52)) - 1;
    return abut_log_of(small ? n - 54 : n, f, 0);
}

/** ln(1 + x) within 2 units in the last place, for -1 < x <= 1; the rounding of 1 + x is corrected. */
ABUT_FN double abut_log1p(double x)
{
    const double u = 1 + x, lost = (x - (u - 1)) / u;
    uint64_t bits;
    const double n = abut_log_power(u, &bits);
    if (bits == 1023) return abut_log_of(n, x, 0);
    return abut_log_of(n, abut_from_bits(abut_bits(u) - ((bits - 1023) << 52)) - 1, lost);
}

/** atan2(y, x) in [-pi, pi], within 2 units in the last place; NaN where both are 0, both are infinite or one is NaN. */
ABUT_FN double abut_atan2(double y, double x)
{
    const double P[5] = { -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                          -1.228866684490136173410e2, -6.485021904942025371773e1 };
    const double Q[5] = { 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                          4.853903996359136964868e2, 1.945506571482613964425e2 };
    const double half_pi = 1.57079632679489661923, rest_of_it = 6.123233995736765886130e-17, eighth = 0.41421356237309504880;
    const double ay = fabs(y), ax = fabs(x);
    const int steep = ay > ax;
    const double a = steep ? ax : ay, b = steep ? ay : ax;
    /* atan(a/b), of 1 - a/b over 1 + a/b where that is smaller */
    const int high = a > eighth * b;
    const double t = (high ? a - b : a) / (high ? a + b : b), z = t * t;
    double p = P[0], q = z + Q[0];
    for (int i = 1; i < 5; i++) {
        p = p * z + P[i];
        q = q * z + Q[i];
    }
    double r = t + t * (z * p / q) + (high ? 0.5 * rest_of_it : 0);
    r = r + (high ? 0.5 * half_pi : 0);
    r = steep ? half_pi - (r - rest_of_it) : r;
    r = x < 0 ? 2 * half_pi - (r - 2 * rest_of_it) : r;
    return y < 0 || (y == 0 && 1 / y < 0) ? -r : r;
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
