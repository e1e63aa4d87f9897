/* Angles of four points at once. */
#ifndef ABUT_MATH_ATAN2_H
#define ABUT_MATH_ATAN2_H

#include "math/lanes.h"

/** *angle = atan2(y, x) in [-pi, pi], within 2 units in the last place; NaN where both are 0, both are infinite or one is NaN.
 * The rational function on |t| < tan(pi/8) is that of the Cephes library (Moshier 1989). */
ABUT_LANES_INLINE void abut_lanes_atan2(const abut_lanes *y, const abut_lanes *x, abut_lanes *angle)
{
    static const double P[5] = { -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                                 -1.228866684490136173410e2, -6.485021904942025371773e1 };
    static const double Q[5] = { 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                                 4.853903996359136964868e2, 1.945506571482613964425e2 };
    const double half_pi = 1.57079632679489661923, rest_of_it = 6.123233995736765886130e-17, eighth = 0.41421356237309504880;
    const abut_lanes ay = ABUT_LANES_ABS(*y), ax = ABUT_LANES_ABS(*x), zero = ABUT_LANES_ALL(0.);
    const abut_lane_mask steep = ay > ax;
    const abut_lanes a = ABUT_LANES_PICK(steep, ax, ay), b = ABUT_LANES_PICK(steep, ay, ax);
    /* atan(a/b), of 1 - a/b over 1 + a/b where that is smaller */
    const abut_lane_mask high = a > eighth * b;
    const abut_lanes t = ABUT_LANES_PICK(high, a - b, a) / ABUT_LANES_PICK(high, a + b, b), z = t * t;
    abut_lanes p = ABUT_LANES_ALL(P[0]), q = z + Q[0];
    for (int i = 1; i < 5; i++) p = p * z + P[i], q = q * z + Q[i];
    abut_lanes r = t + t * (z * p / q) + ABUT_LANES_PICK(high, ABUT_LANES_ALL(0.5 * rest_of_it), zero);
    r = r + ABUT_LANES_PICK(high, ABUT_LANES_ALL(0.5 * half_pi), zero);
    r = ABUT_LANES_PICK(steep, half_pi - (r - rest_of_it), r);
    r = ABUT_LANES_PICK(*x < 0, 2 * half_pi - (r - 2 * rest_of_it), r);
    *angle = (abut_lanes)((abut_lane_mask)r | ((abut_lane_mask)*y & (abut_lane_mask)ABUT_LANES_ALL(-0.)));
}

#endif
