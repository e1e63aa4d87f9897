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

/* ---- step bound of one tet by its volume (contact/step_bound.h) ---- */

ABUT_FN double abut_tet_det(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

ABUT_FN void abut_tet_edges(const double x[12], double e[9])
{
    for (int k = 0; k < 9; k++) e[k] = x[3 + k] - x[k % 3];
}

/* det((1, t) . (d, q)) = c0 + c1 t + c2 t^2 + c3 t^3 */
ABUT_FN void abut_tet_cubic(const double d[9], const double q[9], double c[4])
{
    c[0] = abut_tet_det(d, d + 3, d + 6);
    c[1] = abut_tet_det(q, d + 3, d + 6) + abut_tet_det(d, q + 3, d + 6) + abut_tet_det(d, d + 3, q + 6);
    c[2] = abut_tet_det(d, q + 3, q + 6) + abut_tet_det(q, d + 3, q + 6) + abut_tet_det(q, q + 3, d + 6);
    c[3] = abut_tet_det(q, q + 3, q + 6);
}

/** Largest alpha in [0, 1] up to which det(d + t p) >= slack det(d) for the tet x[12] moving by p[12]; 1 when none binds.
 * Never beyond it, and short of it by about 1e-6 of it, or where the volume is within 1e-7 det(d) of the limit; the
 * determinant of the rounded points at alpha is checked, and alpha halved until it holds.  0 when det(d) is not positive.
 * Source: Li 2020, App. D: the smallest positive root of  a3 t^3 + a2 t^2 + a1 t + (1 - slack) a0. */
ABUT_FN double abut_tet_step(const double x[12], const double p[12], double slack)
{
    double d[9], q[9], c[4], moved[12], e[9];
    abut_tet_edges(x, d);
    abut_tet_edges(p, q);
    abut_tet_cubic(d, q, c);
    const double det0 = c[0];
    if (!(det0 > 0)) return 0;
    /* a slightly higher target, so that the check below seldom fails by rounding */
    for (int k = 1; k < 4; k++) c[k] /= det0;
    c[0] = 1 - (slack + 1e-7 * (1 - slack));
    if (c[0] - fabs(c[1]) - fabs(c[2]) - fabs(c[3]) > 0) return 1;
    double t = abut_cubic_positive_until(c);
    for (; t > 0; t *= 0.5) {
        for (int k = 0; k < 12; k++) moved[k] = x[k] + t * p[k];
        abut_tet_edges(moved, e);
        if (abut_tet_det(e, e + 3, e + 6) >= slack * det0) break;
    }
    return t;
}

#endif
