/* The logarithms of math/log.h, one number at a time and to the same bits. */
#ifndef ABUT_MATH_LOG_INLINE_H
#define ABUT_MATH_LOG_INLINE_H

#include "math/bits_inline.h"

#include <float.h>
#include <math.h>

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

#endif
