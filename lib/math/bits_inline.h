/* Doubles by their bits: exponents and powers of two, the same on every machine. */
#ifndef ABUT_MATH_BITS_INLINE_H
#define ABUT_MATH_BITS_INLINE_H

#include "base/fn.h"

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

#endif
