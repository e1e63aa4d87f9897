/* Every comparison below is with a bound on the rounding errors of the numbers compared; eps = 2^-53 is half an ulp of 1.  In a
 * bound "n eps X", n is above the number of roundings, so that terms in eps^2 and the rounding of X are covered. */
#include "geom/ccd/filter.h"

#include <math.h>

#define EPS 0x1p-53

static int all_below(const double *v, int n, double limit)
{
    int ok = 1;
    for (int i = 0; i < n; i++) ok &= fabs(v[i]) <= limit;
    return ok;
}

/* Stage 1: the boxes swept by the two primitives are apart on some axis; exact */
static int boxes_apart(const abut_corners *c, const double *x0, const double *x1)
{
    for (int k = 0; k < 3; k++) {
        double lo[2] = { INFINITY, INFINITY }, hi[2] = { -INFINITY, -INFINITY };
        for (int i = 0; i < c->np; i++) {
            const int side = i >= c->split;
            const double p = x0[3 * i + k], q = x1[3 * i + k];
            const double low = p < q ? p : q, high = p < q ? q : p;
            if (low < lo[side]) lo[side] = low;
            if (high > hi[side]) hi[side] = high;
        }
        if (lo[0] > hi[1] || lo[1] > hi[0]) return 1;
    }
    return 0;
}

/* c = a x b and the same with every product taken positive */
static void cross_abs(const double *a, const double *b, double c[3], double p[3])
{
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double l = a[i] * b[j], r = a[j] * b[i];
        c[k] = l - r;
        p[k] = fabs(l) + fabs(r);
    }
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double dot_abs(const double *a, const double *b)
{
    return fabs(a[0]) * b[0] + fabs(a[1]) * b[1] + fabs(a[2]) * b[2];
}

/* det((p1 - p0), (p2 - p0), (p3 - p0)) as a function of t: Bernstein coefficients, each within e of the true one */
typedef struct cubic {
    double b[4], e[4];
} cubic;

static cubic coplanarity(const double *x0, const double *x1)
{
    double A[2][3], B[2][3], C[2][3], n[4][3], p[4][3], det[8], per[8];
    for (int k = 0; k < 3; k++) {
        A[0][k] = x0[3 + k] - x0[k], A[1][k] = x1[3 + k] - x1[k];
        B[0][k] = x0[6 + k] - x0[k], B[1][k] = x1[6 + k] - x1[k];
        C[0][k] = x0[9 + k] - x0[k], C[1][k] = x1[9 + k] - x1[k];
    }
    for (int i = 0; i < 4; i++) cross_abs(B[i & 1], C[i >> 1], n[i], p[i]);
    for (int i = 0; i < 8; i++) {   /* bits of i: the instants of A, B, C */
        det[i] = dot(A[i & 1], n[i >> 1]);
        per[i] = dot_abs(A[i & 1], p[i >> 1]);
    }
    cubic q = { { det[0], (det[1] + det[2] + det[4]) / 3, (det[3] + det[5] + det[6]) / 3, det[7] },
                { per[0], (per[1] + per[2] + per[4]) / 3, (per[3] + per[5] + per[6]) / 3, per[7] } };
    for (int i = 0; i < 4; i++) q.e[i] = 12 * EPS * q.e[i] + 0x1p-960;
    return q;
}

/* Stage 2 */
static int never_coplanar(const cubic *q)
{
    int up = 1, down = 1;
    for (int i = 0; i < 4; i++) {
        up &= q->b[i] > q->e[i];
        down &= q->b[i] < -q->e[i];
    }
    return up || down;
}

/* 1: positive on all of [0, 1], by its coefficients or the coefficients of its halves.  A mean of means has three times two
 * roundings, each below half an ulp of the largest. */
static int stays_positive(const double b[4], double e, int halvings)
{
    int up = 1;
    double top = 0;
    for (int i = 0; i < 4; i++) {
        up &= b[i] > e;
        top = fmax(top, fabs(b[i]));
    }
    if (up) return 1;
    if (!halvings || !(b[0] > e && b[3] > e)) return 0;
    double l[4] = { b[0] }, r[4] = { 0, 0, 0, b[3] };
    const double mid = (b[1] + b[2]) / 2;
    l[1] = (b[0] + b[1]) / 2, r[2] = (b[2] + b[3]) / 2;
    l[2] = (l[1] + mid) / 2, r[1] = (mid + r[2]) / 2;
    l[3] = r[0] = (l[2] + r[1]) / 2;
    e += 8 * EPS * top;
    return stays_positive(l, e, halvings - 1) && stays_positive(r, e, halvings - 1);
}

int abut_ccd_filter_volume(const double x0[12], const double x1[12])
{
    if (!all_below(x0, 12, 0x1p98) || !all_below(x1, 12, 0x1p98)) return 0;
    const cubic q = coplanarity(x0, x1);
    return stays_positive(q.b, fmax(fmax(q.e[0], q.e[1]), fmax(q.e[2], q.e[3])), 5);
}

/* Stage 3.  The differences of all point pairs across the primitives, at both ends of the motion; the gap that must stay */
typedef struct gaps {
    int n;
    double sep;
    double r0[4][3], r1[4][3];
} gaps;

static gaps gaps_of(const abut_corners *c, const double *x0, const double *x1, double sep)
{
    gaps g = { .sep = sep };
    for (int i = 0; i < c->split; i++)
        for (int j = c->split; j < c->np; j++, g.n++)
            for (int k = 0; k < 3; k++) {
                g.r0[g.n][k] = x0[3 * i + k] - x0[3 * j + k];
                g.r1[g.n][k] = x1[3 * i + k] - x1[3 * j + k];
            }
    return g;
}

/* m . r(t) is affine in t for every pair: one sign at both ends of [t0, t1] for all means a plane lies between, beyond
 * sep |m| that a slab of this width does.  Any m will do; t0, t1 are dyadic, so that 1 - t is exact. */
static int separates(const gaps *g, const double m[3], double t0, double t1)
{
    const double width = g->sep > 0 ? g->sep * sqrt(dot(m, m)) * (1 + 0x1p-48) : 0;
    int sign = 0;
    for (int i = 0; i < g->n; i++) {
        const double g0 = dot(m, g->r0[i]), g1 = dot(m, g->r1[i]);
        double s0 = 0, s1 = 0;
        for (int k = 0; k < 3; k++) s0 += fabs(m[k] * g->r0[i][k]), s1 += fabs(m[k] * g->r1[i][k]);
        const double bound = width + 8 * EPS * (s0 > s1 ? s0 : s1) + 0x1p-900;
        const double l = (1 - t0) * g0 + t0 * g1, h = (1 - t1) * g0 + t1 * g1;
        if (!sign) sign = l > 0 ? 1 : -1;
        if (!(sign * l > bound && sign * h > bound)) return 0;
    }
    return 1;
}

static int scale_to_one(double m[3])
{
    const double top = fmax(fmax(fabs(m[0]), fabs(m[1])), fabs(m[2]));
    if (!(top > 0x1p-400)) return 0;
    for (int k = 0; k < 3; k++) m[k] /= top;
    return 1;
}

/* r - x less its part along y - x, or the vector to the nearer end */
static double residual(const double *r, const double *x, const double *y, double m[3])
{
    double e[3], d[3];
    for (int k = 0; k < 3; k++) e[k] = y[k] - x[k], d[k] = r[k] - x[k];
    const double ee = dot(e, e), de = dot(d, e);
    const double s = !(de > 0) ? 0 : de >= ee ? 1 : de / ee;
    for (int k = 0; k < 3; k++) m[k] = d[k] - s * e[k];
    return dot(m, m);
}

/* Candidate directions at the instant t: the normal, then the shortest vector from a point to an edge */
static int slab_apart(const abut_corners *c, const gaps *g, const double *x0, const double *x1, double t0, double t1)
{
    const double t = (t0 + t1) / 2;
    double p[12], m[3], best = INFINITY, axis[3] = { 0, 0, 0 };
    for (int i = 0; i < 3 * c->np; i++) p[i] = (1 - t) * x0[i] + t * x1[i];
    if (c->normal[0]) {
        double a[3], b[3], scratch[3];
        const int *const n = c->normal;
        for (int k = 0; k < 3; k++) a[k] = p[3 * n[0] + k] - p[3 * n[1] + k], b[k] = p[3 * n[2] + k] - p[3 * n[3] + k];
        cross_abs(a, b, m, scratch);
        if (scale_to_one(m) && separates(g, m, t0, t1)) return 1;
    }
    for (int i = 0; i < c->n; i++) {
        const double d = residual(p + 3 * c->at[i][0], p + 3 * c->at[i][1], p + 3 * c->at[i][2], m);
        if (!(d < best)) continue;
        best = d;
        for (int k = 0; k < 3; k++) axis[k] = m[k];
    }
    return scale_to_one(axis) && separates(g, axis, t0, t1);
}

static int apart_in_slabs(const abut_corners *c, const double *x0, const double *x1, double sep)
{
    enum { SLABS = 64, DEPTH = 40 };
    const gaps g = gaps_of(c, x0, x1, sep);
    double t0[DEPTH + 2] = { 0 }, t1[DEPTH + 2] = { 1 };
    int n = 1;
    for (int used = 0; n > 0; used++) {
        if (used == SLABS) return 0;
        const double l = t0[n - 1], h = t1[n - 1];
        if (slab_apart(c, &g, x0, x1, l, h)) {
            n--;
            continue;
        }
        const double mid = (l + h) / 2;
        if (n > DEPTH || h - l < 0x1p-39) return 0;
        t0[n - 1] = mid;    /* the earlier half comes first: contact is more often found near the start of a slab */
        t0[n] = l, t1[n] = mid;
        n++;
    }
    return 1;
}

/* Stage 4.  A sign of x w - y z on [l, h] for factors affine in t, given at t = 0 and 1; 0 when not certain */
typedef struct affine {
    double v[2];
} affine;

static double absmax(affine a) { return fmax(fabs(a.v[0]), fabs(a.v[1])); }

static int quadratic_sign(affine x, affine w, affine y, affine z, double l, double h)
{
    const double q0 = x.v[0] * w.v[0] - y.v[0] * z.v[0], q2 = x.v[1] * w.v[1] - y.v[1] * z.v[1];
    const double q1 = ((x.v[0] * w.v[1] - y.v[0] * z.v[1]) + (x.v[1] * w.v[0] - y.v[1] * z.v[0])) / 2;
    const double error = 8 * EPS * (absmax(x) * absmax(w) + absmax(y) * absmax(z)) + 0x1p-1000
                       + 10 * EPS * fmax(fmax(fabs(q0), fabs(q1)), fabs(q2));
    const double s[3] = { l, l, h }, t[3] = { l, h, h };
    int up = 1, down = 1;
    for (int i = 0; i < 3; i++) {   /* the blossom at (l, l), (l, h), (h, h): Bernstein coefficients on [l, h] */
        const double b = (1 - s[i]) * (1 - t[i]) * q0 + ((1 - s[i]) * t[i] + s[i] * (1 - t[i])) * q1 + s[i] * t[i] * q2;
        up &= b > error;
        down &= b < -error;
    }
    return up - down;
}

static affine difference(const double *x0, const double *x1, int i, int j, int k)
{
    return (affine){ { x0[3 * i + k] - x0[3 * j + k], x1[3 * i + k] - x1[3 * j + k] } };
}

/* certain sign on [l, h] of component k of (p_a - p_b) x (p_c - p_d) */
static int cross_sign(const double *x0, const double *x1, const int at[4], int k, double l, double h)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    return quadratic_sign(difference(x0, x1, at[0], at[1], i), difference(x0, x1, at[2], at[3], j),
                          difference(x0, x1, at[0], at[1], j), difference(x0, x1, at[2], at[3], i), l, h);
}

/* on all of [l, h], coplanar points of the stencil would mean that the primitives cross, as seen along axis k */
static int crosses_along(const abut_corners *c, const double *x0, const double *x1, int k, double l, double h)
{
    int s[4] = { 0 };
    for (int i = 0; i < c->n; i++) {
        const int *const q = c->at[i], at[4] = { q[1], q[0], q[2], q[0] };
        s[i] = cross_sign(x0, x1, at, k, l, h);
        if (!s[i]) return 0;
    }
    if (c->n == 3) return s[0] == s[1] && s[1] == s[2];   /* their sum is the normal: it has the same sign */
    return s[0] != s[1] && s[2] != s[3] && cross_sign(x0, x1, c->normal, k, l, h);
}

static double cubic_at(const cubic *q, double t)
{
    const double s = 1 - t;
    return s * s * s * q->b[0] + 3 * s * s * t * q->b[1] + 3 * s * t * t * q->b[2] + t * t * t * q->b[3];
}

/* a certain change of sign of the cubic in [l, h]: narrows it until the crossing is certain too */
static int certified_crossing(const abut_corners *c, const cubic *q, double sure, const double *x0, const double *x1,
                              double l, double h)
{
    const double left = cubic_at(q, l);
    for (int it = 0; it < 36; it++) {
        for (int k = 0; k < 3; k++)
            if (crosses_along(c, x0, x1, k, l, h)) return 1;
        const double mid = (l + h) / 2, v = cubic_at(q, mid);
        if (!(fabs(v) > sure)) return 0;
        if ((v > 0) == (left > 0))
            l = mid;
        else
            h = mid;
    }
    return 0;
}

static int surely_crosses(const abut_corners *c, const cubic *q, const double *x0, const double *x1)
{
    enum { STEPS = 16 };
    double e = 0, b = 0, before = 0, v[STEPS + 1];
    for (int i = 0; i < 4; i++) e = fmax(e, q->e[i]), b = fmax(b, fabs(q->b[i]));
    const double sure = 2 * (e + 16 * EPS * b);   /* error of the coefficients and of the evaluation, twice */
    for (int i = 0; i <= STEPS; i++) v[i] = cubic_at(q, i / (double)STEPS);
    for (int i = 0, last = -1; i <= STEPS; i++) {
        if (!(fabs(v[i]) > sure)) continue;
        if (last >= 0 && (before > 0) != (v[i] > 0)
            && certified_crossing(c, q, sure, x0, x1, last / (double)STEPS, i / (double)STEPS))
            return 1;
        last = i;
        before = v[i];
    }
    return 0;
}

static int in_range(const abut_corners *c, const double *x0, const double *x1)
{
    return all_below(x0, 3 * c->np, 0x1p98) && all_below(x1, 3 * c->np, 0x1p98);
}

static int decide(abut_stencil s, const double *x0, const double *x1, int *stage)
{
    const abut_corners *const c = abut_corners_of(s);
    const int has_normal = s == ABUT_PT || s == ABUT_EE;
    *stage = ABUT_FILTER_OPEN;
    if (!in_range(c, x0, x1)) return -1;
    *stage = ABUT_FILTER_BOX;
    if (boxes_apart(c, x0, x1)) return 0;
    cubic q = { { 0 }, { 0 } };
    if (has_normal) {
        q = coplanarity(x0, x1);
        *stage = ABUT_FILTER_CUBIC;
        if (never_coplanar(&q)) return 0;
    }
    *stage = ABUT_FILTER_SLAB;
    if (apart_in_slabs(c, x0, x1, 0)) return 0;
    *stage = ABUT_FILTER_CROSS;
    if (has_normal && surely_crosses(c, &q, x0, x1)) return 1;
    *stage = ABUT_FILTER_OPEN;
    return -1;
}

int abut_ccd_filter(abut_stencil s, const double *x0, const double *x1, int *stage)
{
    int own;
    return decide(s, x0, x1, stage ? stage : &own);
}

int abut_ccd_filter_apart(abut_stencil s, const double *x0, const double *x1, double sep)
{
    const abut_corners *const c = abut_corners_of(s);
    return in_range(c, x0, x1) && sep < 0x1p98 && apart_in_slabs(c, x0, x1, sep);
}
