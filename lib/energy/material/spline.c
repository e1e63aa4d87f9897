#include "energy/material/spline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one curve ---- */

/* Piece of x: 0 .. n - 2 between knots, -1 below, n - 1 above. */
static int32_t piece_of(const abut_curve *c, double x)
{
    int32_t lo = -1, hi = c->n;
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (c->x[mid] <= x) lo = mid;
        else hi = mid;
    }
    return lo;
}

/* y = p[0] + p[1] t + p[2] t^2 + p[3] t^3 on a piece, t from its first knot (below the first: from that) */
static double polynomial(const abut_curve *c, int32_t k, double p[4])
{
    const int32_t at = k < 0 ? 0 : k;
    p[0] = c->y[at], p[1] = c->slope[at], p[2] = p[3] = 0;
    if (k >= 0 && k < c->n - 1) {
        const double h = c->x[k + 1] - c->x[k], d = (c->y[k + 1] - c->y[k]) / h;
        p[2] = (3 * d - 2 * c->slope[k] - c->slope[k + 1]) / h;
        p[3] = (c->slope[k] + c->slope[k + 1] - 2 * d) / (h * h);
    }
    return c->x[at];
}

/* integral from the first knot to x */
static double area_to(const abut_curve *c, double x)
{
    double p[4];
    const int32_t k = piece_of(c, x);
    const double t = x - polynomial(c, k, p);
    return (k < 0 ? 0 : c->area[k]) + t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * (p[3] / 4))));
}

double abut_curve_at(const abut_curve *c, double x, double *slope, double *integral)
{
    double p[4];
    const double t = x - polynomial(c, piece_of(c, x), p);
    if (slope) *slope = p[1] + t * (2 * p[2] + 3 * p[3] * t);
    if (integral) *integral = area_to(c, x) - c->area_at_1;
    return p[0] + t * (p[1] + t * (p[2] + t * p[3]));
}

/* the chord inside one piece, where it is a polynomial of both ends */
static double chord_inside(const abut_curve *c, int32_t k, double u, double v)
{
    double p[4];
    const double from = polynomial(c, k, p), s = u - from, t = v - from;
    return p[1] + p[2] * (s + t) + p[3] * (s * s + s * t + t * t);
}

double abut_curve_chord(const abut_curve *c, double u, double v)
{
    const double lo = fmin(u, v), hi = fmax(u, v);
    const int32_t first = piece_of(c, lo), last = piece_of(c, hi);
    if (first == last) return chord_inside(c, first, lo, hi);
    double rise = 0, at = lo;
    for (int32_t k = first; k <= last; k++) {   /* piece by piece: a mean of chords, weighted by their lengths */
        const double to = k == last ? hi : c->x[k + 1];
        rise += (to - at) * chord_inside(c, k, at, to);
        at = to;
    }
    return rise / (hi - lo);
}

/* Derivatives at the knots that keep the curve monotone between them (Fritsch and Carlson 1980). */
static void monotone_slopes(abut_curve *c)
{
    const int32_t n = c->n;
    for (int32_t i = 0; i < n; i++) {
        const double left = i > 0 ? (c->y[i] - c->y[i - 1]) / (c->x[i] - c->x[i - 1]) : 0;
        const double right = i + 1 < n ? (c->y[i + 1] - c->y[i]) / (c->x[i + 1] - c->x[i]) : left;
        c->slope[i] = i == 0 ? right : left * right > 0 || i == n - 1 ? 0.5 * (left + right) : 0;
    }
    for (int32_t i = 0; i + 1 < n; i++) {
        const double d = (c->y[i + 1] - c->y[i]) / (c->x[i + 1] - c->x[i]);
        if (d == 0) {
            c->slope[i] = c->slope[i + 1] = 0;
            continue;
        }
        const double p = c->slope[i] / d, q = c->slope[i + 1] / d, r = p * p + q * q;
        if (r > 9) {
            c->slope[i] = 3 / sqrt(r) * p * d;
            c->slope[i + 1] = 3 / sqrt(r) * q * d;
        }
    }
}

static void curve_measure(abut_curve *c)
{
    c->area[0] = 0;
    for (int32_t i = 0; i + 1 < c->n; i++) {
        double p[4];
        const double t = c->x[i + 1] - polynomial(c, i, p);
        c->area[i + 1] = c->area[i] + t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * (p[3] / 4))));
    }
    c->area_at_1 = area_to(c, 1);
}

static int curve_init(abut_curve *c, int32_t n, const double *knot, const double *value, int stride)
{
    const size_t size = ((size_t)n + 1) * sizeof(double);
    *c = (abut_curve){ n, malloc(size), malloc(size), malloc(size), malloc(size), 0 };
    if (!c->x || !c->y || !c->slope || !c->area) return 0;
    for (int32_t i = 0; i < n; i++) {
        c->x[i] = knot[i];
        c->y[i] = value[i * stride];
    }
    monotone_slopes(c);
    curve_measure(c);
    return 1;
}

static void curve_clear(abut_curve *c)
{
    free(c->x);
    free(c->y);
    free(c->slope);
    free(c->area);
    *c = (abut_curve){ 0 };
}

/* ---- a density ---- */

abut_status abut_spline_init(abut_spline *s, int32_t n, const double *knot, const double *slope, abut_err *err)
{
    assert(n >= 0);
    *s = (abut_spline){ 0 };
    if (!curve_init(&s->a, n, knot, slope, 3) || !curve_init(&s->b, n, knot, slope + 1, 3) ||
        !curve_init(&s->c, n, knot, slope + 2, 3)) {
        abut_spline_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "spline of %d knots", n);
    }
    const double stress = abut_curve_at(&s->a, 1, NULL, NULL) + 2 * abut_curve_at(&s->b, 1, NULL, NULL) +
                          abut_curve_at(&s->c, 1, NULL, NULL);
    for (int32_t i = 0; i < n; i++) s->a.y[i] -= stress;
    curve_measure(&s->a);
    return ABUT_OK;
}

void abut_spline_clear(abut_spline *s)
{
    curve_clear(&s->a);
    curve_clear(&s->b);
    curve_clear(&s->c);
}

void abut_spline_principal(const abut_spline *p, const double s[3], abut_principal *out)
{
    double a[3], a2[3], b[3], b2[3], c2, area;
    const double J = s[0] * s[1] * s[2], c = abut_curve_at(&p->c, J, &c2, &area);
    out->psi = area;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        a[i] = abut_curve_at(&p->a, s[i], &a2[i], &area);
        out->psi += area;
        b[i] = abut_curve_at(&p->b, s[j] * s[k], &b2[i], &area);   /* of the pair that leaves i out */
        out->psi += area;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double jk = s[j] * s[k];
        out->d[i] = a[i] + s[j] * b[k] + s[k] * b[j] + jk * c;
        out->A[4 * i] = a2[i] + s[j] * s[j] * b2[k] + s[k] * s[k] * b2[j] + jk * jk * c2;
        out->A[3 * j + k] = out->A[3 * k + j] = b[i] + jk * b2[i] + s[i] * (c + J * c2);
        /* (psi_j - psi_k)/(s_j - s_k) and (psi_j + psi_k)/(s_j + s_k), the common factors divided out */
        out->flip[i] = abut_curve_chord(&p->a, s[j], s[k]) - b[i] +
                       s[i] * s[i] * abut_curve_chord(&p->b, s[i] * s[j], s[i] * s[k]) - s[i] * c;
        out->twist[i] = (a[j] + a[k] + s[i] * (b[k] + b[j])) / abut_stretch_sum(s[j], s[k]) + b[i] + s[i] * c;
    }
}
