/* One spring, one attachment (energy/spring.c). */
#ifndef ABUT_ENERGY_SPRING_INLINE_H
#define ABUT_ENERGY_SPRING_INLINE_H

#include "base/fn.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/** d = x_a - x_b; returns its length. */
ABUT_FN double abut_spring_span(const double *a, const double *b, double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = a[k] - b[k];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/** K[27]: k times the second derivative at d of length l, or the projected one. */
ABUT_FN void abut_spring_hessian_one(double k, double rest, const double d[3], double l, int project, double *K)
{
    enum { AA = 0, AB = 9, BB = 18 };
    const double across = l > rest || (!project && l > 0) ? 1 - rest / l : 0;   /* curvature across, over that along */
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            const double uu = l > 0 ? d[p] * d[q] / (l * l) : 0;
            const double v = k * (across * ((p == q) - uu) + uu);
            K[AA + 3 * p + q] = K[BB + 3 * p + q] = v;
            K[AB + 3 * p + q] = -v;
        }
}

/** r = x_i - sum w_j x_j - o of nodes v[5]. */
ABUT_FN void abut_attachment_stretch(const int32_t v[5], const double w[4], const double o[3], const double *x, double r[3])
{
    for (int d = 0; d < 3; d++) {
        r[d] = x[3 * (size_t)v[0] + (size_t)d] - o[d];
        for (int j = 0; j < 4; j++)
            if (v[1 + j] >= 0) r[d] -= w[j] * x[3 * (size_t)v[1 + j] + (size_t)d];
    }
}

/** H[135] = k c c^T x I, c = (1, -w), 0 at unused corners. */
ABUT_FN void abut_attachment_hessian_one(const int32_t v[5], const double w[4], double k, double *H)
{
    double c[5];
    for (int j = 0; j < 5; j++) c[j] = !j ? 1 : v[j] < 0 ? 0 : -w[j - 1];
    for (int p = 0; p < 5; p++)
        for (int q = p; q < 5; q++, H += 9)
            for (int d = 0; d < 9; d++) H[d] = d % 4 ? 0 : k * c[p] * c[q];
}

#endif
