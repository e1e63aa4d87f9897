/* Step bound of a shell by its area and its bounds of stretches and strains, and the distance to these bounds
 * (energy/stretch.h). */
#ifndef ABUT_ENERGY_STRETCH_STEP_INLINE_H
#define ABUT_ENERGY_STRETCH_STEP_INLINE_H

#include "base/fn.h"

#include <math.h>

/* a bound on a step is found to this much of itself, on the safe side */
#define ABUT_STRETCH_CLOSE_ENOUGH 1e-2
#define ABUT_STRETCH_MOST_STEPS 60

/* A row of shell/stretch-limit: lower limit and threshold, upper threshold and limit; 0, 0 for none. */
enum { ABUT_STRETCH_LOW = 0, ABUT_STRETCH_LOW_BEGINS, ABUT_STRETCH_HIGH_BEGINS, ABUT_STRETCH_HIGH };

/** Whether a row, which may be NULL, has a limit from above, or from below. */
ABUT_FN int abut_stretch_acts(const double *row, int upper)
{
    return row && (row[upper ? 2 : 0] != 0 || row[upper ? 3 : 1] != 0);
}

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

/** Largest a in [0, 1] such that the smallest singular value of F + a G stays at least `least` up to it; F, G 3x2 row major.  In
 * time a it falls by at most a times the largest singular value of G.  0 when it is not at F. */
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

/* m, d, q of [m + d, q; q, m - d] = F^T F for F + a G: each v[0] + v[1] a + v[2] a^2 */
typedef struct abut_stretch_metric {
    double m[3], d[3], q[3];
} abut_stretch_metric;

ABUT_FN void abut_stretch_metric_of(const double F[6], const double G[6], abut_stretch_metric *c)
{
    const double *const A[3] = { F, F, G }, *const B[3] = { F, G, G };
    for (int k = 0; k < 3; k++) {
        const double w = k == 1 ? 2 : 1, pp = w * abut_columns_dot(A[k], 0, B[k], 0), qq = w * abut_columns_dot(A[k], 1, B[k], 1);
        c->m[k] = 0.5 * (pp + qq);
        c->d[k] = 0.5 * (pp - qq);
        c->q[k] = k == 1 ? abut_columns_dot(F, 0, G, 1) + abut_columns_dot(G, 0, F, 1) : abut_columns_dot(A[k], 0, B[k], 1);
    }
}

ABUT_FN double abut_stretch_at(const double v[3], double a) { return v[0] + a * (v[1] + a * v[2]); }
ABUT_FN double abut_stretch_slope(const double v[3], double a) { return v[1] + 2 * a * v[2]; }

/* the larger eigenvalue, a convex function of a, and its derivative */
ABUT_FN double abut_stretch_larger(const abut_stretch_metric *c, double a, double *dl)
{
    const double d = abut_stretch_at(c->d, a), q = abut_stretch_at(c->q, a), root = abut_norm_of2(d, q);
    const double dd = abut_stretch_slope(c->d, a), dq = abut_stretch_slope(c->q, a);
    *dl = abut_stretch_slope(c->m, a) + (root > 0 ? (d * dd + q * dq) / root : abut_norm_of2(dd, dq));
    return abut_stretch_at(c->m, a) + root;
}

/** Largest a in [0, 1] with the largest singular value of F + t G <= `most` on [0, a], on the safe side; 0 if F has a larger. */
ABUT_FN double abut_stretch_high_of(const double F[6], const double G[6], double most)
{
    abut_stretch_metric c;
    const double target = most * most;
    double a = 0, b = 1, da, db;
    abut_stretch_metric_of(F, G, &c);
    double in = abut_stretch_larger(&c, 0, &da), out = abut_stretch_larger(&c, 1, &db);
    if (!(in <= target)) return 0;
    if (out <= target) return 1;
    /* chords from inside, tangents from outside */
    for (int k = 0; k < ABUT_STRETCH_MOST_STEPS && b - a > ABUT_STRETCH_CLOSE_ENOUGH * b; k++) {
        a += (b - a) * ((target - in) / (out - in));
        in = abut_stretch_larger(&c, a, &da);
        const double next = b - (out - target) / db;
        b = a > next ? a : next;
        out = abut_stretch_larger(&c, b, &db);
        if (out <= target) return b;
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

/** Returns a bound on the change of each singular value along G. */
ABUT_FN double abut_stretch_change(const double G[6])
{
    double change = 0;
    for (int i = 0; i < 6; i++) change += G[i] * G[i];
    return (1 + 1e-9) * sqrt(change);
}

/** abut_limit_stretch of one shell; injective: its area may not go to 0; row: of its stretches, bound[3]: of its strains, or
 * NULL. */
ABUT_FN double abut_shell_step(const double F[6], const double G[6], int injective, const double *row, const double *bound,
                               double slack)
{
    const int below = injective || abut_stretch_acts(row, 0), above = abut_stretch_acts(row, 1);
    double low, high, step = 1;
    if (below || above) {
        abut_singular_values32(F, &low, &high);
        const double change = abut_stretch_change(G), floor = abut_stretch_acts(row, 0) ? row[ABUT_STRETCH_LOW] : 0;
        const double most = high + (1 - slack) * ((above ? row[ABUT_STRETCH_HIGH] : 0) - high);
        const double least = low - (1 - slack) * (low - floor);
        if (above && !(high + change < most)) step = abut_stretch_high_of(F, G, most);
        if (below && !(low - change > least)) {
            const double down = abut_stretch_low_of(F, G, least);
            step = down < step ? down : step;
        }
    }
    if (bound) {
        const double strained = abut_strain_step(F, G, bound, slack);
        step = strained < step ? strained : step;
    }
    return step;
}

/** abut_stretch_room of stretches s and t. */
ABUT_FN double abut_stretch_room_of(const double row[4], double s, double t)
{
    const double big = s < t ? t : s, small = s < t ? s : t;
    const double up = abut_stretch_acts(row, 1) ? (row[3] - big) / (row[3] - row[2]) : 1;
    const double down = abut_stretch_acts(row, 0) ? (small - row[0]) / (row[1] - row[0]) : 1;
    const double least = up < down ? up : down;
    return least < 1 ? least : 1;
}

/** Returns the smallest fraction of its bound[k] that a strain of F leaves. */
ABUT_FN double abut_strain_room(const double F[6], const double bound[3])
{
    double room = 1;
    for (int k = 0; k < 3; k++) {
        const double left = 1 - fabs(abut_green_strain(F, k)) / bound[k];
        room = left < room ? left : room;
    }
    return room;
}

#endif
