/* The angle of math/atan2.h, one number at a time and to the same bits. */
#ifndef ABUT_MATH_ATAN2_INLINE_H
#define ABUT_MATH_ATAN2_INLINE_H

#include "base/fn.h"

#include <math.h>

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

#endif
