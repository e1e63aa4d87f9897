/* Thin rods without twist: segments that stretch, and corners between two segments that bend (Li 2020, 2.2.3).
 *
 * Segment x[6]:  w (l / rest - 1)^2, w = pi r^2 rest E / 2                                J
 * Bend x[9], e = x1 - x0, f = x2 - x1, angle phi between them, 0 when straight:
 *
 *     k |kb|^2 = 4 k tan^2(phi/2) = 4 k (1 - c) / (1 + c),     c = e.f / (|e| |f|)         J
 *
 * kb = 2 e x f / (|e| |f| + e.f) the curvature binormal (Bergou et al. 2008) with the present lengths; k = E pi r^4 / 4 over the
 * sum of the two rest lengths.  The energy goes to infinity where the rod folds back onto itself.
 *
 * The second derivative of a bend falls into modes, measured in angles: with alpha the rotations of e and f in their plane, beta
 * their relative growths, eta their rotations out of the plane, + and - sum and difference (f - e) over sqrt 2, Psi' = dPsi/dphi:
 *
 *     [2 Psi'' -Psi'; . 0] (alpha-, beta+),   [0 -Psi'; . 0] (alpha+, beta-),   Psi' cot(phi/2) (eta-),   -Psi' tan(phi/2) (eta+)
 *
 * Each is made positive semidefinite by itself. */
#ifndef ABUT_ENERGY_ROD_INLINE_H
#define ABUT_ENERGY_ROD_INLINE_H

#include "energy/material/two_modes.h"

#define ABUT_ROD_FOLDED 1e-13       /* of |u + v|: below it the angle is rounding */

/* ---- stretch ---- */

/** Unit direction; returns the length. */
ABUT_FN double abut_rod_direction(const double *from, const double *to, abut_vec3 *u)
{
    const abut_vec3 e = abut_v3_sub(abut_v3_get(to), abut_v3_get(from));
    const double l = abut_v3_norm(e);
    *u = abut_v3_scale(1 / l, e);
    return l;
}

/** w, J; k of a bend is in the model (bend/stiffness). */
ABUT_FN double abut_rod_stretch_stiffness(double young, double radius, double rest)
{
    return 0.5 * 3.14159265358979323846 * radius * radius * rest * young;
}

/** Energy of a segment, J; +inf when it has no length; g[6] its gradient, 0 there. */
ABUT_FN double abut_rod_stretch_of(double w, double rest, const double x[6], double g[6])
{
    abut_vec3 u;
    const double l = abut_rod_direction(x, x + 3, &u), s = (l - rest) / rest, f = l > 0 ? 2 * w / rest * ((l - rest) / rest) : 0;
    if (!(l > 0)) u = abut_v3(0, 0, 0);
    abut_v3_put(g, abut_v3_scale(-f, u));
    abut_v3_put(g + 3, abut_v3_scale(f, u));
    return l > 0 ? w * s * s : (double)INFINITY;
}

/** 2 w (l - rest) / rest^2, N. */
ABUT_FN double abut_rod_tension_of(double w, double rest, const double x[6])
{
    abut_vec3 u;
    return 2 * w / rest * ((abut_rod_direction(x, x + 3, &u) - rest) / rest);
}

/** H[ABUT_PACKED] (sparse/elements.h) += of corners 0 and 1: 2 w / rest^2 u u^T + T/l (I - u u^T), u the direction.  It is the
 * second derivative when T, N, is the tension; positive semidefinite when T is not negative. */
ABUT_FN void abut_rod_stretch_hessian_of(double w, double rest, double tension, const double x[6], double *H)
{
    enum { B00 = 0, B01 = 9, B11 = 36 };
    abut_vec3 n;
    const double l = abut_rod_direction(x, x + 3, &n), along = 2 * w / (rest * rest), across = tension / l;
    if (!(l > 0)) return;
    const double u[3] = { n.x, n.y, n.z };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double h = along * u[i] * u[j] + across * ((i == j) - u[i] * u[j]);
            H[B00 + 3 * i + j] += h;
            H[B11 + 3 * i + j] += h;
            H[B01 + 3 * i + j] -= h;
        }
}

/** Forecast of the tension of a segment at z after a step from x0 to x1, the fraction `share` of a direction (energy/codim.h);
 * before: the forecast before the step.  z, x0, x1 hold the two corners. */
ABUT_FN double abut_rod_forecast_of(double w, double rest, const double z[6], const double x0[6], const double x1[6],
                                    double reach, double share, double before)
{
    const abut_vec3 along = abut_v3_diff(z + 3, z), was = abut_v3_diff(x0 + 3, x0), is = abut_v3_diff(x1 + 3, x1);
    const double l = abut_v3_norm(along), grown = reach * abut_v3_dot(along, abut_v3_sub(is, was)) / l;
    return (1 - share) * before + 2 * w / (rest * rest) * (share * (l - rest) + grown);
}

/** Margin of a forecast tension: at least 0 if the forecast makes a segment at x not much stiffer across than its own tension.
 * inertia: of its ends, over the weight of the Hessian, N. */
ABUT_FN double abut_rod_fairness_of(double w, double rest, const double x[6], double tension, double inertia)
{
    const double now = abut_rod_tension_of(w, rest, x);
    return 2 * (now > 0 ? now : 0) + inertia - tension;
}

/* ---- bending ---- */

typedef struct abut_rod_angle {
    double le, lf;
    abut_vec3 u, v;         /* units of e and f */
    abut_vec3 diff;         /* v - u */
    double c1;              /* 1 + c */
    double tan2;            /* tan^2(phi/2) */
} abut_rod_angle;

/** 0: there is no angle */
ABUT_FN int abut_rod_angle_of(const double x[9], abut_rod_angle *b)
{
    b->le = abut_rod_direction(x, x + 3, &b->u);
    b->lf = abut_rod_direction(x + 3, x + 6, &b->v);
    const abut_vec3 sum = abut_v3_add(b->u, b->v);
    b->diff = abut_v3_sub(b->v, b->u);
    b->c1 = 0.5 * abut_v3_norm2(sum);
    b->tan2 = abut_v3_norm2(b->diff) / abut_v3_norm2(sum);
    return b->le > 0 && b->lf > 0 && abut_v3_norm2(sum) > ABUT_ROD_FOLDED * ABUT_ROD_FOLDED;
}

/** Energy of a bend, J; +inf when a segment has no length or the second folds back onto the first (to within 1e-13); g[9] its
 * gradient, 0 there. */
ABUT_FN double abut_rod_bend_of(double k, const double x[9], double g[9])
{
    abut_rod_angle b;
    for (int i = 0; i < 9; i++) g[i] = 0;
    if (!abut_rod_angle_of(x, &b)) return (double)INFINITY;
    /* dc/de = (v - c u)/|e|, the part of v - u across u; nearly straight rods need it without cancellation */
    const double f = -8 * k / (b.c1 * b.c1);
    const abut_vec3 de = abut_v3_scale(f / b.le, abut_v3_axpy(b.diff, -abut_v3_dot(b.u, b.diff), b.u));
    const abut_vec3 df = abut_v3_scale(-f / b.lf, abut_v3_axpy(b.diff, -abut_v3_dot(b.v, b.diff), b.v));
    abut_v3_put(g, abut_v3_scale(-1, de));
    abut_v3_put(g + 3, abut_v3_sub(de, df));
    abut_v3_put(g + 6, df);
    return 4 * k * b.tan2;
}

/* A unit vector across u and v; of a straight rod any that is across u. */
ABUT_FN abut_vec3 abut_rod_binormal(abut_vec3 u, abut_vec3 v)
{
    abut_vec3 n = abut_v3_cross(u, v);
    if (!(abut_v3_norm2(n) > 0)) {
        const double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
        n = abut_v3_cross(u, abut_v3(x <= y && x <= z, y < x && y <= z, z < x && z < y));
    }
    n = abut_v3_axpy(n, -abut_v3_dot(n, u), u);     /* a cross product of two that are nearly parallel may lean */
    return abut_v3_scale(1 / abut_v3_norm(n), n);
}

/* both[9], apart[9]: sum and difference over sqrt 2 of the components of df/|f| along dv and of de/|e| along du */
ABUT_FN void abut_rod_edge_modes(const abut_rod_angle *b, abut_vec3 du, abut_vec3 dv, double *both, double *apart)
{
    const double first[3] = { -1, 1, 0 }, second[3] = { 0, -1, 1 }, half = sqrt(0.5);
    double rowe[9], rowf[9];
    abut_mode_row(3, first, du, half / b->le, rowe);
    abut_mode_row(3, second, dv, half / b->lf, rowf);
    for (int i = 0; i < 9; i++) {
        both[i] = rowf[i] + rowe[i];
        apart[i] = rowf[i] - rowe[i];
    }
}

/* The four pairs of modes of which the second derivative of a bend is the sum: [d o; o 0] of (u, w). */
typedef struct abut_rod_modes {
    double d[4], o[4], u[4][9], w[4][9];
} abut_rod_modes;

/** 0: there are none. */
ABUT_FN int abut_rod_modes_of(double k, const double x[9], abut_rod_modes *m)
{
    abut_rod_angle b;
    if (!abut_rod_angle_of(x, &b)) return 0;
    const double t = sqrt(b.tan2), t1 = 1 + b.tan2;
    const double d1 = 4 * k * t * t1, d2 = 2 * k * (1 + 3 * b.tan2) * t1;    /* of 4 k tan^2(phi/2) by phi */
    const double d[4] = { 2 * d2, 0, 4 * k * t1, -d1 * t };
    const abut_vec3 n = abut_rod_binormal(b.u, b.v);
    abut_rod_edge_modes(&b, abut_v3_cross(n, b.u), abut_v3_cross(n, b.v), m->u[1], m->u[0]);
    abut_rod_edge_modes(&b, b.u, b.v, m->w[0], m->w[1]);
    abut_rod_edge_modes(&b, n, n, m->u[3], m->u[2]);
    for (int i = 0; i < 4; i++) {
        m->d[i] = d[i];
        m->o[i] = i < 2 ? -d1 : 0;
        for (int c = 0; c < 9 && i > 1; c++) m->w[i][c] = m->u[i][c];
    }
    return 1;
}

#endif
