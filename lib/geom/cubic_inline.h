/* Up to where a cubic is positive. */
#ifndef ABUT_GEOM_CUBIC_INLINE_H
#define ABUT_GEOM_CUBIC_INLINE_H

#include "base/fn.h"

#include <math.h>

ABUT_FN double abut_cubic(const double a[4], double t)
{
    return ((a[3] * t + a[2]) * t + a[1]) * t + a[0];
}

/* The largest t in [0, 1] such that the cubic is not negative up to it (within 1e-6 of t, on the safe side).  Between its
 * extrema it is monotone: the first piece that ends below zero is bisected. */
ABUT_FN double abut_cubic_positive_until(const double a[4])
{
    double end[3] = { 1, 1, 1 };
    const double disc = a[2] * a[2] - 3 * a[3] * a[1];
    int n = 0;
    if (disc > 0) {
        const double q = -(a[2] + copysign(sqrt(disc), a[2])), r[2] = { q / (3 * a[3]), a[1] / q };
        for (int k = 0; k < 2; k++)
            if (r[k] > 0 && r[k] < 1) end[n++] = r[k];
        if (n == 2 && end[1] < end[0]) {
            const double t = end[0];
            end[0] = end[1];
            end[1] = t;
        }
    }
    double lo = 0;
    for (int k = 0; k <= n; k++) {
        double hi = end[k];
        if (abut_cubic(a, hi) >= 0) {
            lo = hi;
            continue;
        }
        while (hi - lo > 1e-6 * hi && hi > 0x1p-900) {
            const double mid = 0.5 * (lo + hi);
            if (abut_cubic(a, mid) >= 0) lo = mid;
            else hi = mid;
        }
        return lo;
    }
    return 1;
}

#endif
