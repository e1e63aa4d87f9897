/* Directions along which two primitives may be separated: guesses in plain floating point.  The caller proves the separation
 * (geom/ccd/ccd.h does): a poor guess costs time, never correctness. */
#ifndef ABUT_GEOM_SEPARATING_AXIS_H
#define ABUT_GEOM_SEPARATING_AXIS_H

#include "geom/dist.h"
#include "math/vec3.h"

#define ABUT_AXES_MAX 10

ABUT_FN double axis_clamp01(double t)
{
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

/* Parameter of the point of e nearest to r, both from the same origin; 0 for an edge without length. */
ABUT_FN double axis_along(abut_vec3 r, abut_vec3 e)
{
    const double ee = abut_v3_norm2(e);
    return ee > 0 ? axis_clamp01(abut_v3_dot(r, e) / ee) : 0;
}

/* -- the quick guess ---------------------------------------------------------------------------------------------- */

/* Closest points of two segments by clamping one parameter after the other (Ericson 2005, 5.1.9). */
ABUT_FN abut_vec3 axis_ee(const double *x)
{
    const abut_vec3 u = abut_v3_diff(x + 3, x), v = abut_v3_diff(x + 9, x + 6), r = abut_v3_diff(x, x + 6);
    const double uu = abut_v3_norm2(u), vv = abut_v3_norm2(v), uv = abut_v3_dot(u, v);
    const double ur = abut_v3_dot(u, r), vr = abut_v3_dot(v, r), det = uu * vv - uv * uv;
    double g = det > 0 ? axis_clamp01((uv * vr - vv * ur) / det) : 0;
    double c = vv > 0 ? (uv * g + vr) / vv : 0;
    if (!(c >= 0 && c <= 1)) {
        c = c < 0 ? 0 : 1;
        g = uu > 0 ? axis_clamp01((c * uv - ur) / uu) : 0;
    }
    return abut_v3_axpy(abut_v3_axpy(r, g, u), -c, v);
}

/* Closest point of a triangle by its Voronoi regions (Ericson 2005, 5.1.5), with r = p - t0. */
ABUT_FN abut_vec3 axis_pt(const double *x)
{
    const abut_vec3 r = abut_v3_diff(x, x + 3), u = abut_v3_diff(x + 6, x + 3), v = abut_v3_diff(x + 9, x + 3);
    const double uu = abut_v3_norm2(u), vv = abut_v3_norm2(v), uv = abut_v3_dot(u, v);
    const double ru = abut_v3_dot(r, u), rv = abut_v3_dot(r, v), det = uu * vv - uv * uv;
    const double b = vv * ru - uv * rv, c = uu * rv - uv * ru;
    if (b > 0 && c > 0 && b + c < det)
        return abut_v3_axpy(abut_v3_axpy(r, -b / det, u), -c / det, v);

    /* outside: the nearest of the three sides */
    const abut_vec3 w = abut_v3_sub(v, u), q = abut_v3_sub(r, u);
    const abut_vec3 side[3] = { abut_v3_axpy(r, uu > 0 ? -axis_clamp01(ru / uu) : 0, u),
                                abut_v3_axpy(r, vv > 0 ? -axis_clamp01(rv / vv) : 0, v),
                                abut_v3_axpy(q, -axis_along(q, w), w) };
    const double d[3] = { abut_v3_norm2(side[0]), abut_v3_norm2(side[1]), abut_v3_norm2(side[2]) };
    const int k = d[1] < d[0] ? 1 : 0;
    return side[d[2] < d[k] ? 2 : k];
}

/** n[3]: from the nearest point of the second primitive to that of the first, roughly, m; 0 when they meet. */
ABUT_FN void abut_axis_nearest(abut_stencil s, const double *x, double n[3])
{
    if (s == ABUT_PT) abut_v3_put(n, axis_pt(x));
    else if (s == ABUT_EE) abut_v3_put(n, axis_ee(x));
    else {
        const abut_vec3 r = abut_v3_diff(x, x + 3), e = s == ABUT_PE ? abut_v3_diff(x + 6, x + 3) : abut_v3(0, 0, 0);
        abut_v3_put(n, abut_v3_axpy(r, -axis_along(r, e), e));
    }
}

/* -- the careful set ---------------------------------------------------------------------------------------------- */

/* a b - c d with one rounding's error (Kahan); plain products lose the normal of nearly parallel vectors. */
ABUT_FN double axis_product_difference(double a, double b, double c, double d)
{
    const double w = c * d;
    return fma(a, b, -w) + fma(-c, d, w);
}

ABUT_FN abut_vec3 axis_exact_cross(abut_vec3 u, abut_vec3 v)
{
    return abut_v3(axis_product_difference(u.y, v.z, u.z, v.y), axis_product_difference(u.z, v.x, u.x, v.z),
                   axis_product_difference(u.x, v.y, u.y, v.x));
}

/* r without its part along e.  One pass leaves a tilt of eps |r| / distance; the next ones take it away. */
ABUT_FN abut_vec3 axis_without(abut_vec3 r, abut_vec3 e, int passes)
{
    const double ee = abut_v3_norm2(e);
    for (int k = 0; k < passes && ee > 0; k++) r = abut_v3_axpy(r, -abut_v3_dot(r, e) / ee, e);
    return r;
}

/* Residual of p against the line of an edge, from the nearer end. */
ABUT_FN abut_vec3 axis_residual(const double *p, const double *e0, const double *e1)
{
    const abut_vec3 r0 = abut_v3_diff(p, e0), r1 = abut_v3_diff(p, e1);
    return axis_without(abut_v3_norm2(r0) <= abut_v3_norm2(r1) ? r0 : r1, abut_v3_diff(e1, e0), 3);
}

/* The normal from the two shortest sides: the best conditioned pair. */
ABUT_FN abut_vec3 axis_face_normal(const double *t)
{
    const abut_vec3 e[3] = { abut_v3_diff(t + 3, t), abut_v3_diff(t + 6, t + 3), abut_v3_diff(t, t + 6) };
    int longest = 0;
    for (int k = 1; k < 3; k++)
        if (abut_v3_norm2(e[k]) > abut_v3_norm2(e[longest])) longest = k;
    return axis_exact_cross(e[(longest + 1) % 3], e[(longest + 2) % 3]);
}

/** All the directions of the closed forms, found as well as double allows: vertex differences, vertex-edge residuals
 * orthogonalised three times, the normal of the face or of the two edges with products taken exactly.  Returns how many. */
ABUT_FN int abut_axis_all(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3])
{
    const int k = abut_stencil_size(s), na = s == ABUT_EE ? 2 : 1;
    int m = 0;
    for (int i = 0; i < na; i++)
        for (int j = na; j < k; j++) abut_v3_put(n[m++], abut_v3_diff(x + 3 * i, x + 3 * j));
    for (int i = 0; i < na; i++)
        for (int j = na; j < k; j++)
            for (int l = j + 1; l < k; l++) abut_v3_put(n[m++], axis_residual(x + 3 * i, x + 3 * j, x + 3 * l));
    if (s == ABUT_PT) abut_v3_put(n[m++], axis_face_normal(x + 3));
    if (s == ABUT_EE) {
        const abut_vec3 u = abut_v3_diff(x + 3, x), v = abut_v3_diff(x + 9, x + 6);
        abut_vec3 r = abut_v3_diff(x, x + 6);
        for (int j = 2; j < 4; j++) abut_v3_put(n[m++], axis_residual(x + 3 * j, x, x + 3));
        abut_v3_put(n[m++], axis_exact_cross(u, v));
        for (int pass = 0; pass < 2; pass++) r = axis_without(axis_without(r, u, 1), v, 1);
        abut_v3_put(n[m++], r);
    }
    return m;
}

#endif
