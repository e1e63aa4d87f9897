/* Friction of one frozen contact (energy/friction.h), for the processor and for a GPU. */
#ifndef ABUT_ENERGY_FRICTION_INLINE_H
#define ABUT_ENERGY_FRICTION_INLINE_H

#include "base/fn.h"
#include "model/laws.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* A model may lie below its law by this part of f0 at the stiction threshold: small kinks are best left to the exact one. */
#define ABUT_FRICTION_KINK 0.1

/** abut_friction_f0 of a law that has forms. */
ABUT_FN double abut_friction_f0_fn(int smoothing, double y, double w, double *f1_over_y, double *f2)
{
    if (y >= w) {
        if (f1_over_y) *f1_over_y = 1 / y;
        if (f2) *f2 = 0;
        return y;
    }
    const double q = y / w;
    double a, b, c;     /* f0 / w, w f1 / y, w f1' */
    switch (smoothing) {
    case ABUT_FRICTION_C0: a = 0.5 * (q * q + 1), b = 1, c = 1; break;
    case ABUT_FRICTION_C2: a = q * q * (1.5 - q * (1 - q / 4)) + 0.25, b = 3 - q * (3 - q), c = 3 * (1 - q) * (1 - q); break;
    default: a = q * q * (1 - q / 3) + 1.0 / 3.0, b = 2 - q, c = 2 * (1 - q);
    }
    if (f1_over_y) *f1_over_y = b / w;
    if (f2) *f2 = c / w;
    return w * a;
}

/** Coordinates of the relative motion x - xn (xn NULL: of the motion x itself) in the frozen plane. */
ABUT_FN void abut_friction_slide(const int32_t *node, const double *weight, const double *P, const double *x, const double *xn,
                                 double u[2])
{
    double r[3] = { 0, 0, 0 };
    for (int c = 0; c < 4 && node[c] >= 0; c++) {
        const size_t at = 3 * (size_t)node[c];
        for (size_t d = 0; d < 3; d++) r[d] += weight[c] * (x[at + d] - (xn ? xn[at + d] : 0));
    }
    u[0] = P[0] * r[0] + P[1] * r[1] + P[2] * r[2];
    u[1] = P[3] * r[0] + P[4] * r[1] + P[5] * r[2];
}

/** |u|, and the direction of u, (1, 0) if u = 0. */
ABUT_FN double abut_friction_polar(const double u[2], double *c, double *s)
{
    const double y = sqrt(u[0] * u[0] + u[1] * u[1]);
    *c = y > 0 ? u[0] / y : 1;
    *s = y > 0 ? u[1] / y : 0;
    return y;
}

/** K[9] = P (f0'' uhat uhat^T + f0'/y vhat vhat^T) P^T with vhat normal to uhat; above: f0'/y for both. */
ABUT_FN void abut_friction_stiffness(const double *P, const double u[2], int smoothing, double w, int above, double K[9])
{
    double c, s, f1_over_y, f2, along[3], across[3];
    (void)abut_friction_f0_fn(smoothing, abut_friction_polar(u, &c, &s), w, &f1_over_y, &f2);
    if (above) f2 = f1_over_y;
    for (int d = 0; d < 3; d++) {
        along[d] = P[d] * c + P[3 + d] * s;
        across[d] = P[3 + d] * c - P[d] * s;
    }
    for (int k = 0; k < 9; k++) K[k] = f2 * (along[k / 3] * along[k % 3]) + f1_over_y * (across[k / 3] * across[k % 3]);
}

/** 1 where the law at u + v lies clearly above its second-order model at u. */
ABUT_FN int abut_friction_kink(int smoothing, double w, const double u[2], const double v[2])
{
    double c, s, f1_over_y, f2;
    const double end[2] = { u[0] + v[0], u[1] + v[1] }, y = abut_friction_polar(u, &c, &s);
    const double f0 = abut_friction_f0_fn(smoothing, y, w, &f1_over_y, &f2);
    const double along = c * v[0] + s * v[1], across = c * v[1] - s * v[0];
    const double model = f0 + f1_over_y * y * along + 0.5 * (f2 * along * along + f1_over_y * across * across);
    return abut_friction_f0_fn(smoothing, abut_friction_polar(end, &c, &s), w, NULL, NULL) > model + ABUT_FRICTION_KINK * w;
}

#endif
