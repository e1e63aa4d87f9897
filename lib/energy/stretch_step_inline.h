/* How far a shell may go before it has lost its area, or a bound of its strains is reached (energy/codim_bound.h). */
#ifndef ABUT_ENERGY_STRETCH_STEP_INLINE_H
#define ABUT_ENERGY_STRETCH_STEP_INLINE_H

#include "base/fn.h"

#include <math.h>

/* a bound on a step is found to this much of itself, on the safe side */
#define ABUT_STRETCH_CLOSE_ENOUGH 1e-2
#define ABUT_STRETCH_MOST_STEPS 60

ABUT_FN double abut_norm_of2(double a, double b) { return sqrt(a * a + b * b); }

/** Column i of A times column j of B, 3x2 row major. */
ABUT_FN double abut_columns_dot(const double A[6], int i, const double B[6], int j)
{
    return A[i] * B[j] + A[2 + i] * B[2 + j] + A[4 + i] * B[4 + j];
}

/** Singular values: their product is the area, their squares add up to |F|^2. */
ABUT_FN void abut_singular_values32(const double F[6], double *low, double *high)
{
    const double pp = abut_columns_dot(F, 0, F, 0), qq = abut_columns_dot(F, 1, F, 1), pq = abut_columns_dot(F, 0, F, 1);
    const double n[3] = { F[2] * F[5] - F[4] * F[3], F[4] * F[1] - F[0] * F[5], F[0] * F[3] - F[2] * F[1] };
    *high = sqrt(0.5 * (pp + qq) + abut_norm_of2(0.5 * (pp - qq), pq));
    *low = *high > 0 ? sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / *high : 0;
}

/** abut_stretch_step_low. */
ABUT_FN double abut_stretch_low_of(const double F[6], const double G[6], double least)
{
    double E[6], low, high, speed, a = 0;
    abut_singular_values32(G, &low, &speed);
    abut_singular_values32(F, &low, &high);
    if (!(low >= least)) return 0;
    const double enough = ABUT_STRETCH_CLOSE_ENOUGH * (low - least);
    for (int k = 0; k < ABUT_STRETCH_MOST_STEPS; k++) {
        if (!(low - least < (1 - a) * speed)) return 1;
        a += (low - least) / speed;
        for (int i = 0; i < 6; i++) E[i] = F[i] + a * G[i];
        abut_singular_values32(E, &low, &high);
        if (low - least < enough) break;
    }
    return a;
}

/** The smallest positive root of c0 + c1 a + c2 a^2, c0 > 0; +inf when there is none. */
ABUT_FN double abut_first_root2(double c0, double c1, double c2)
{
    const double disc = c1 * c1 - 4 * c0 * c2, q = disc >= 0 ? sqrt(disc) - c1 : 0;
    return q > 0 ? 2 * c0 / q : (double)INFINITY;
}

/** Green strain along warp, along weft, in shear: k = 0, 1, 2, of columns 0 0, 1 1, 0 1. */
ABUT_FN double abut_green_strain(const double F[6], int k)
{
    const int i = k == 1, j = k > 0;
    return 0.5 * (abut_columns_dot(F, i, F, j) - (i == j));
}

/** The largest step along G that leaves `slack` of what strains have left to bound[3] now; they are quadratic in a. */
ABUT_FN double abut_strain_step(const double F[6], const double G[6], const double bound[3], double slack)
{
    double step = 1;
    for (int k = 0; k < 3; k++) {
        const int i = k == 1, j = k > 0;
        const double e0 = abut_green_strain(F, k), e1 = 0.5 * (abut_columns_dot(F, i, G, j) + abut_columns_dot(G, i, F, j));
        const double e2 = 0.5 * abut_columns_dot(G, i, G, j), left = (1 - slack) * (bound[k] - fabs(e0)), end = e0 < 0 ? -1 : 1;
        if (!(left > 0)) return 0;
        if (left > fabs(e1) + fabs(e2)) continue;
        /* on the side where e0 is `left` is left; on the other 2 |e0| more */
        const double here = abut_first_root2(left, -end * e1, -end * e2);
        const double there = abut_first_root2(left + 2 * fabs(e0), end * e1, end * e2);
        step = here < step ? here : step;
        step = there < step ? there : step;
    }
    return step < 1 ? (1 - 1e-9) * step : 1;
}

/** What no singular value changes by more than along G. */
ABUT_FN double abut_stretch_change(const double G[6])
{
    double change = 0;
    for (int i = 0; i < 6; i++) change += G[i] * G[i];
    return (1 + 1e-9) * sqrt(change);
}

/** abut_limit_stretch of one shell without stretch limits; injective: its area may not go to 0; bound[3]: of its strains, or
 * NULL. */
ABUT_FN double abut_shell_step(const double F[6], const double G[6], int injective, const double *bound, double slack)
{
    double low, high, step = 1;
    if (injective) {
        abut_singular_values32(F, &low, &high);
        const double least = low - (1 - slack) * low;
        if (!(low - abut_stretch_change(G) > least)) step = abut_stretch_low_of(F, G, least);
    }
    if (bound) {
        const double strained = abut_strain_step(F, G, bound, slack);
        step = strained < step ? strained : step;
    }
    return step;
}

#endif
