/* The law of Signorini and Coulomb for one contact whose Delassus operator is a multiple of the identity: closed form.
 *
 * With the impulses of all other contacts fixed, contact c has u = s_c r + ustar.  The law does not change if r is multiplied
 * by a positive number, so u is sought for which (u, u - ustar) is a pair of the law.  There is exactly one.
 * (Daviet 2020, 5.2.2) */
#ifndef ABUT_SOLVE_NODAL_COULOMB_INLINE_H
#define ABUT_SOLVE_NODAL_COULOMB_INLINE_H

#include "base/fn.h"

#include <math.h>

typedef enum abut_touch_state { ABUT_TOUCH_OPEN = 0, ABUT_TOUCH_STICKS = 1, ABUT_TOUCH_SLIDES = 2 } abut_touch_state;

/** u[3] for ustar[3], m/s, and the unit normal n[3].  u may be ustar.
 *     ustar_N >= 0:                    u = ustar                                  open, r = 0
 *     |ustar_T| <= -mu ustar_N:        u = 0                                      sticks
 *     else                             u = (1 + mu ustar_N / |ustar_T|) ustar_T   slides: |r_T| = mu r_N, against u_T */
ABUT_FN abut_touch_state abut_coulomb_velocity(const double ustar[3], const double n[3], double mu, double u[3])
{
    const double normal = ustar[0] * n[0] + ustar[1] * n[1] + ustar[2] * n[2];
    const double t[3] = { ustar[0] - normal * n[0], ustar[1] - normal * n[1], ustar[2] - normal * n[2] };
    const double tau = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]), alpha = -mu * normal;
    const int open = normal >= 0, sticks = tau <= alpha;
    const double f = open ? 1 : sticks ? 0 : 1 - alpha / tau;
    for (int d = 0; d < 3; d++) u[d] = open ? ustar[d] : f * t[d];
    return open ? ABUT_TOUCH_OPEN : sticks ? ABUT_TOUCH_STICKS : ABUT_TOUCH_SLIDES;
}

/** Returns how far (u, rbar) is from a pair of the law, m/s: the largest of penetration, pull, action at a distance, distance
 * beyond the cone, and sliding without opposing friction.  rbar[3] = s r, m/s. */
ABUT_FN double abut_coulomb_residual(const double u[3], const double rbar[3], const double n[3], double mu)
{
    const double uN = u[0] * n[0] + u[1] * n[1] + u[2] * n[2], rN = rbar[0] * n[0] + rbar[1] * n[1] + rbar[2] * n[2];
    double uT[3], rT[3], off[3], slip;
    for (int d = 0; d < 3; d++) {
        uT[d] = u[d] - uN * n[d];
        rT[d] = rbar[d] - rN * n[d];
    }
    const double size = sqrt(uT[0] * uT[0] + uT[1] * uT[1] + uT[2] * uT[2]);
    for (int d = 0; d < 3; d++) off[d] = rT[d] + (size > 0 ? mu * rN * uT[d] / size : 0);
    slip = fmin(size, sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]));
    const double cone = sqrt(rT[0] * rT[0] + rT[1] * rT[1] + rT[2] * rT[2]) - mu * rN;
    return fmax(fmax(fmax(-uN, -rN), fabs(fmin(uN, rN))), fmax(cone, slip));
}

#endif
