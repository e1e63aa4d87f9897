#include "energy/material/projection.h"

#include <math.h>

/* ---- volume ---- */

/* Solves p - t/p = s: the stationary points of |p - s|^2 on p0 p1 p2 = 1 have one t for all three.  The larger solution p belongs
 * to a minimum, except for the smallest stretch of a strongly stretched element: `inner` takes the smaller one. */
static double along(double s, double t, int inner)
{
    const double r = sqrt(fmax(0, s * s + 4 * t));
    if (inner) return 0.5 * (s - r);
    return s >= 0 ? 0.5 * (s + r) : 2 * t / (r - s);    /* without cancellation */
}

static double volume_at(const double s[3], double t, int inner, double p[3])
{
    for (int i = 0; i < 3; i++) p[i] = along(s[i], t, inner && i == 2);
    return p[0] * p[1] * p[2];
}

double abut_project_volume(const double s[3], double p[3])
{
    /* on the larger branches the volume grows with t, from t = -s2^2/4 on */
    double lo = -0.25 * s[2] * s[2], hi = 1;
    if (s[2] <= 0) lo = 0;
    const int inner = s[2] > 0 && volume_at(s, lo, 0, p) > 1;
    if (inner) {
        hi = lo;            /* there the volume is above 1, and 0 at t = 0 */
        lo = 0;
    } else {
        while (volume_at(s, hi, 0, p) < 1) hi *= 2;
    }
    /* bisection: lo has less volume, hi more */
    for (int i = 0; i < 200 && lo != hi; i++) {
        const double t = 0.5 * (lo + hi);
        if (t == lo || t == hi) break;
        if (volume_at(s, t, inner, p) < 1) lo = t;
        else hi = t;
    }
    volume_at(s, hi, inner, p);
    return hi;
}

void abut_volume_principal(double k, const double s[3], abut_principal *out)
{
    double p[3], w[3], square = 0, sum = 0;
    const double t = abut_project_volume(s, p);
    for (int i = 0; i < 3; i++) {
        const double d = s[i] - p[i];
        square += d * d;
        w[i] = p[i] * p[i] / (p[i] * p[i] + t);     /* dp/ds at constant t */
        sum += w[i] / (p[i] * p[i]);
        out->d[i] += k * d;
    }
    out->psi += 0.5 * k * square;
    for (int i = 0; i < 3; i++) {
        out->A[4 * i] += k;
        for (int j = 0; j < 3; j++)   /* dp_i/ds_j, the volume held at 1 */
            out->A[3 * i + j] -= k * ((i == j ? w[i] : 0) - w[i] * w[j] / (p[i] * p[j] * sum));
        /* (p_j - p_k)/(s_j - s_k) = 1/(1 + t p_i), as p_j p_k = 1/p_i */
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        out->flip[i] += k * t * p[i] / (1 + t * p[i]);
        out->twist[i] += k * (1 - (p[j] + p[l]) / abut_stretch_sum(s[j], s[l]));
    }
}

/* ---- strain ---- */

static double excess(double s, double low, double high)
{
    return s < low ? s - low : s > high ? s - high : 0;
}

/* (e(u) - e(v)) / (u - v) of the excess e, its derivative where they are equal */
static double excess_chord(double u, double v, double low, double high)
{
    const double lo = fmin(u, v), hi = fmax(u, v);
    if (lo == hi) return lo < low || lo > high;
    const double inside = fmax(0, fmin(hi, high) - fmax(lo, low));
    return 1 - inside / (hi - lo);
}

void abut_strain_principal(double k, double low, double high, const double s[3], abut_principal *out)
{
    double e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = excess(s[i], low, high);
        out->psi += 0.5 * k * e[i] * e[i];
        out->d[i] += k * e[i];
        out->A[4 * i] += e[i] != 0 ? k : 0;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        out->flip[i] += k * excess_chord(s[j], s[l], low, high);
        out->twist[i] += k * (e[j] + e[l]) / abut_stretch_sum(s[j], s[l]);
    }
}
