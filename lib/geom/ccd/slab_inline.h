/* Slabs (geom/ccd/slab.h) and the directions that they try, for the processor and for a GPU. */
#ifndef ABUT_GEOM_CCD_SLAB_INLINE_H
#define ABUT_GEOM_CCD_SLAB_INLINE_H

#include "geom/ccd/slab.h"
#include "geom/dist.h"
#include "math/vec3.h"

/* Directions along which two primitives may be separated: guesses in plain floating point.  Slabs prove the separation: a poor
 * guess costs time, never correctness. */

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
    if (b > 0 && c > 0 && b + c < det) return abut_v3_axpy(abut_v3_axpy(r, -b / det, u), -c / det, v);

    /* outside: the nearest of the three sides */
    const abut_vec3 w = abut_v3_sub(v, u), q = abut_v3_sub(r, u);
    const abut_vec3 side[3] = { abut_v3_axpy(r, uu > 0 ? -axis_clamp01(ru / uu) : 0, u),
                                abut_v3_axpy(r, vv > 0 ? -axis_clamp01(rv / vv) : 0, v), abut_v3_axpy(q, -axis_along(q, w), w) };
    const double d[3] = { abut_v3_norm2(side[0]), abut_v3_norm2(side[1]), abut_v3_norm2(side[2]) };
    const int k = d[1] < d[0] ? 1 : 0;
    return side[d[2] < d[k] ? 2 : k];
}

/* Writes n[3], m: roughly from the nearest point of the second primitive to that of the first; 0 if they meet. */
ABUT_FN void axis_nearest(abut_stencil s, const double *x, double n[3])
{
    if (s == ABUT_PT) abut_v3_put(n, axis_pt(x));
    else if (s == ABUT_EE) abut_v3_put(n, axis_ee(x));
    else {
        const abut_vec3 r = abut_v3_diff(x, x + 3), e = s == ABUT_PE ? abut_v3_diff(x + 6, x + 3) : abut_v3(0, 0, 0);
        abut_v3_put(n, abut_v3_axpy(r, -axis_along(r, e), e));
    }
}

/* -- the careful set ---------------------------------------------------------------------------------------------- */

/* Returns a b - c d with one rounding's error (Kahan); plain products lose the normal of nearly parallel vectors. */
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

/* Returns r without its part along e.  One pass leaves a tilt of eps |r| / distance, which further passes remove. */
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

/* Writes the directions of all closed forms of the distance, as exactly as double allows: vertex differences, vertex-edge
 * residuals orthogonalised three times, the normal of the face or of both edges.  Returns their number. */
ABUT_FN int axis_all(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3])
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

/* -- slabs --------------------------------------------------------------------------------------------------------- */

/* Scales n to length 1; returns 0 if it has no direction. */
ABUT_FN int slab_normalise(double n[3])
{
    double nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!(nn > 0x1p-900 && nn < 0x1p900)) {
        const double big = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
        if (!(big > 0 && big < INFINITY)) return 0;
        for (int k = 0; k < 3; k++) n[k] /= big;
        nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    }
    const double inv = 1 / sqrt(nn);
    for (int k = 0; k < 3; k++) n[k] *= inv;
    return 1;
}

/* Returns a lower bound of n.(a - b). */
ABUT_FN double slab_low_dot(const double *n, const double *a, const double *b)
{
    const double p = n[0] * (a[0] - b[0]), q = n[1] * (a[1] - b[1]), r = n[2] * (a[2] - b[2]);
    return p + q + r - (ABUT_SLAB_DOT_ERROR * (fabs(p) + fabs(q) + fabs(r)) + ABUT_SLAB_DOT_TINY);
}

/* na, nb are literals at the hot calls, so the loops unroll. */
ABUT_FN_LITERAL void slab_project_n(int na, int nb, const double *x0, const double *x1, const double *n, abut_slab *l)
{
    l->n = na * nb;
    l->least0 = l->least1 = INFINITY;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const int a = 3 * i, b = 3 * (na + j), k = nb * i + j;
            const double h0 = slab_low_dot(n, x0 + a, x0 + b), h1 = slab_low_dot(n, x1 + a, x1 + b);
            l->h0[k] = h0, l->h1[k] = h1;
            /* a NaN is taken and then kept: it fails every test that follows */
            l->least0 = h0 < l->least0 || h0 != h0 ? h0 : l->least0;
            l->least1 = h1 < l->least1 || h1 != h1 ? h1 : l->least1;
        }
}

ABUT_FN void slab_project(abut_stencil s, const double *x0, const double *x1, const double *n, abut_slab *l)
{
    if (s == ABUT_EE) slab_project_n(2, 2, x0, x1, n, l);
    else if (s == ABUT_PT) slab_project_n(1, 3, x0, x1, n, l);
    else slab_project_n(1, s == ABUT_PE ? 2 : 1, x0, x1, n, l);
}

/* -- distance ----------------------------------------------------------------------------------------------------- */

/* Turns n from the second primitive to the first, by the sum over pairs of vertices. */
ABUT_FN void slab_orient(abut_stencil s, const double *x, double n[3])
{
    const int k = abut_stencil_size(s), na = s == ABUT_EE ? 2 : 1;
    double sum = 0;
    for (int i = 0; i < na; i++)
        for (int j = na; j < k; j++)
            for (int c = 0; c < 3; c++) sum += n[c] * (x[3 * i + c] - x[3 * j + c]);
    for (int c = 0; c < 3 && sum < 0; c++) n[c] = -n[c];
}

/* Writes the careful set of unit directions at x; returns their number. */
ABUT_FN int slab_directions(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3])
{
    const int all = axis_all(s, x, n);
    int m = 0;
    for (int k = 0; k < all; k++) {
        double *to = n[m];
        for (int c = 0; c < 3; c++) to[c] = n[k][c];
        if (!slab_normalise(to)) continue;
        slab_orient(s, x, to);
        m++;
    }
    return m;
}

/* Replaces *l by the slab of the careful set that proves the largest distance at x0, if it is larger than that of *l. */
ABUT_FN void abut_slab_best_fn(abut_stencil s, const double *x0, const double *x1, abut_slab *l)
{
    double n[ABUT_AXES_MAX][3];
    const int m = slab_directions(s, x0, n);
    for (int k = 0; k < m; k++) {
        abut_slab other;
        slab_project(s, x0, x1, n[k], &other);
        if (other.least0 > l->least0) *l = other;
    }
}

ABUT_FN double abut_slab_quick_fn(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l)
{
    double n[3];
    axis_nearest(s, x, n);
    const double d = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (slab_normalise(n)) slab_project(s, x0, x1, n, l);
    else l->n = 1, l->h0[0] = l->h1[0] = l->least0 = l->least1 = -1;
    return d;
}

/* -- motion ------------------------------------------------------------------------------------------------------- */

/* Returns line k at time t, less its rounding. */
ABUT_FN double slab_at(const abut_slab *l, int k, double t)
{
    return l->h0[k] + t * (l->h1[k] - l->h0[k]) - 8 * ABUT_SLAB_EPS * (fabs(l->h0[k]) + fabs(l->h1[k]));
}

/* Returns the distance that a slab proves at time t: its least line; NaN if a line is NaN. */
ABUT_FN double slab_least_at(const abut_slab *l, double t)
{
    double least = INFINITY;
    for (int k = 0; k < l->n; k++) {
        const double h = slab_at(l, k, t);
        least = h < least || h != h ? h : least;
    }
    return least;
}

/* Makes the slab of the quick guess at x, the configuration at time t; or the best of the careful set, if the guess proves less
 * than half of its length: rounding tilts it by the size of the pair over its gap. */
ABUT_FN void abut_slab_careful_fn(abut_stencil s, const double *x, const double *x0, const double *x1, double t, abut_slab *l)
{
    const double d = abut_slab_quick_fn(s, x, x0, x1, l);
    double n[ABUT_AXES_MAX][3], best = slab_least_at(l, t);
    if (best >= 0.5 * d) return;
    const int m = slab_directions(s, x, n);
    for (int k = 0; k < m; k++) {
        abut_slab other;
        slab_project(s, x0, x1, n[k], &other);
        const double least = slab_least_at(&other, t);
        if (least > best) best = least, *l = other;
    }
}

/* Returns the latest time in [t, 1] up to which every line is at least target; t if one is less there. */
ABUT_FN double abut_slab_advance_fn(const abut_slab *l, double t, double target)
{
    double end = 1;
    if (t == 0 && l->least0 >= target && l->least1 >= target) return 1;     /* linear between: the usual case */
    for (int k = 0; k < l->n; k++) {
        const double h0 = l->h0[k], h1 = l->h1[k];
        const double h = slab_at(l, k, t);
        if (!(h >= target)) return t;
        if (h1 >= target) continue;
        const double until = t + (h - target) / (h0 - h1) * (1 - 8 * ABUT_SLAB_EPS);
        if (!(until >= end)) end = until;
    }
    return end > t ? end : t;
}

/* Returns whether a direction that moves from that of a at time t to that of b at time u proves a distance >= target between. */
ABUT_FN int abut_slab_between_fn(const abut_slab *a, const abut_slab *b, double t, double u, double target)
{
    int proved = a->n == b->n;
    for (int k = 0; k < a->n && proved; k++) {
        const double middle = 0.5 * (slab_at(a, k, u) + slab_at(b, k, t));
        proved = slab_at(a, k, t) >= target && middle >= target && slab_at(b, k, u) >= target;
    }
    return proved;
}

/* Returns the latest time that abut_slab_advance_fn reaches by the careful set at x, the configuration at time t. */
ABUT_FN double abut_slab_furthest_fn(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target)
{
    double n[ABUT_AXES_MAX][3], end = t;
    const int m = slab_directions(s, x, n);
    for (int k = 0; k < m; k++) {
        abut_slab l;
        slab_project(s, x0, x1, n[k], &l);
        end = fmax(end, abut_slab_advance_fn(&l, t, target));
    }
    return end;
}

#endif
