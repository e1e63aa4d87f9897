#include "mesh/capsules.h"

#include <math.h>
#include <string.h>

/* Signed distance to a capsule and its gradient, a unit vector (0 on the axis). */
static double capsule_distance(const abut_capsule *c, const double p[3], double grad[3])
{
    double d[3], along = 0, length2 = 0, out2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = c->b[k] - c->a[k];
        along += d[k] * (p[k] - c->a[k]), length2 += d[k] * d[k];
    }
    const double s = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    for (int k = 0; k < 3; k++) {
        grad[k] = p[k] - c->a[k] - s * d[k];
        out2 += grad[k] * grad[k];
    }
    const double out = sqrt(out2);
    for (int k = 0; k < 3; k++) grad[k] = out > 0 ? grad[k] / out : 0;
    return out - c->radius;
}

/* The sum is taken relative to the least distance, so that no exponential overflows. */
double abut_capsules_value(const abut_capsules *f, const double p[3], double grad[3])
{
    double least = INFINITY, g[3], sum = 0;
    for (int32_t i = 0; i < f->n; i++) {
        const double d = capsule_distance(&f->capsule[i], p, g);
        if (d < least) least = d, memcpy(grad, g, sizeof g);
    }
    if (!(f->blend > 0)) return least;
    double blended[3] = { 0 };
    for (int32_t i = 0; i < f->n; i++) {
        const double far = (capsule_distance(&f->capsule[i], p, g) - least) / f->blend;
        if (far > 40) continue;                 /* below the rounding of the sum, which is 1 or more */
        const double w = exp(-far);
        sum += w;
        for (int k = 0; k < 3; k++) blended[k] += w * g[k];
    }
    for (int k = 0; k < 3; k++) grad[k] = blended[k] / sum;
    return least - f->blend * log(sum);
}
