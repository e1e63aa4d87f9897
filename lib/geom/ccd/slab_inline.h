/* geom/ccd/slab.h, for the processor and for a GPU. */
#ifndef ABUT_GEOM_CCD_SLAB_INLINE_H
#define ABUT_GEOM_CCD_SLAB_INLINE_H

#include "geom/separating_axis.h"
#include "geom/ccd/slab.h"

/* n scaled to length 1; 0 when it has no direction. */
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

/* Points n from the second primitive to the first, as far as it separates them at all. */
ABUT_FN void slab_orient(abut_stencil s, const double *x, double n[3])
{
    const int k = abut_stencil_size(s), na = s == ABUT_EE ? 2 : 1;
    double sum = 0;
    for (int i = 0; i < na; i++)
        for (int j = na; j < k; j++)
            for (int c = 0; c < 3; c++) sum += n[c] * (x[3 * i + c] - x[3 * j + c]);
    for (int c = 0; c < 3 && sum < 0; c++) n[c] = -n[c];
}

/* Unit directions worth trying at x; returns how many. */
ABUT_FN int slab_directions(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3])
{
    const int all = abut_axis_all(s, x, n);
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

/* *l: the lines with the largest certified distance at x0 over the careful set of directions, if larger than that of *l. */
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

/* Lines of the quick guess at x (x0 or a configuration between); d = length of the guess, an upper bound of the distance
 * but for rounding.  No direction: the lines certify nothing. */
ABUT_FN double abut_slab_quick_fn(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l)
{
    double n[3];
    abut_axis_nearest(s, x, n);
    const double d = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (slab_normalise(n)) slab_project(s, x0, x1, n, l);
    else l->n = 1, l->h0[0] = l->h1[0] = l->least0 = l->least1 = -1;
    return d;
}

/* -- motion ------------------------------------------------------------------------------------------------------- */

/* Lower bound at time t of line k. */
ABUT_FN double slab_at(const abut_slab *l, int k, double t)
{
    return l->h0[k] + t * (l->h1[k] - l->h0[k]) - 8 * ABUT_SLAB_EPS * (fabs(l->h0[k]) + fabs(l->h1[k]));
}

/* Separation that the lines prove at time t: their least value; NaN if a line is NaN. */
ABUT_FN double slab_least_at(const abut_slab *l, double t)
{
    double least = INFINITY;
    for (int k = 0; k < l->n; k++) {
        const double h = slab_at(l, k, t);
        least = h < least || h != h ? h : least;
    }
    return least;
}

/* Lines of the quick guess at x, the configuration at time t; or of the best careful direction at x, if rounding has tilted the
 * guess.  The tilt grows with the size of the pair over its gap. */
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

/* The latest time in [t, 1] up to which every line stays at or above target; t itself when one is below it there. */
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

/* 1: the directions from that of a, at time t, to that of b, at time u, prove a distance >= target from t to u. */
ABUT_FN int abut_slab_between_fn(const abut_slab *a, const abut_slab *b, double t, double u, double target)
{
    int proved = a->n == b->n;
    for (int k = 0; k < a->n && proved; k++) {
        const double middle = 0.5 * (slab_at(a, k, u) + slab_at(b, k, t));
        proved = slab_at(a, k, t) >= target && middle >= target && slab_at(b, k, u) >= target;
    }
    return proved;
}

/* The furthest any careful direction at the configuration of time t leads. */
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
