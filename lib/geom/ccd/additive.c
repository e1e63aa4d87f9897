/* Additive CCD, and the slabs that prove its steps: of one pair, and the first slab of four at once. */
#include "geom/ccd/ccd.h"

#include "geom/ccd/ccd_inline.h"
#include "geom/ccd/slab.h"
#include "geom/ccd/slab_inline.h"
#include "geom/dist_lanes.h"

double abut_separation(abut_stencil s, const double *x)
{
    return abut_separation_fn(s, x);
}

abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi)
{
    return abut_ccd_additive_fn(s, x0, x1, min_sep, slack, t_max, toi);
}

double abut_slab_quick(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l)
{
    return abut_slab_quick_fn(s, x, x0, x1, l);
}

double abut_slab_advance(const abut_slab *l, double t, double target)
{
    return abut_slab_advance_fn(l, t, target);
}

double abut_slab_furthest(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target)
{
    return abut_slab_furthest_fn(s, x, x0, x1, t, target);
}

/* -- four pairs ---------------------------------------------------------------------------------------------------- */

#define INLINE ABUT_LANES_INLINE
#define ALL ABUT_LANES_ALL
#define PICK ABUT_LANES_PICK
#define DOT ABUT_LANES_DOT

/* ---- the quick guess: abut_axis_nearest, case by case ---- */

/* Parameter of the point of e nearest to r, from the same origin; 0 for an edge without length. */
INLINE void along(const abut_lanes *r, const abut_lanes *e, abut_lanes *t)
{
    const abut_lanes ee = DOT(e, e), q = DOT(r, e) / ee, at = ABUT_LANES_CLAMP01(q);
    *t = PICK(ee > 0, at, ALL(0.));
}

INLINE void nearest_pe(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes e[3], t;
    abut_lanes3_sub(x[0], x[1], n);
    abut_lanes3_sub(x[2], x[1], e);
    along(n, e, &t);
    t = -t;
    abut_lanes3_add(n, &t, e);
}

INLINE void nearest_ee(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes u[3], v[3];
    abut_lanes3_sub(x[1], x[0], u);
    abut_lanes3_sub(x[3], x[2], v);
    abut_lanes3_sub(x[0], x[2], n);
    const abut_lanes uu = DOT(u, u), vv = DOT(v, v), uv = DOT(u, v), ur = DOT(u, n), vr = DOT(v, n), det = uu * vv - uv * uv;
    const abut_lanes first = (uv * vr - vv * ur) / det;
    abut_lanes g = PICK(det > 0, ABUT_LANES_CLAMP01(first), ALL(0.));
    abut_lanes c = PICK(vv > 0, (uv * g + vr) / vv, ALL(0.));
    const abut_lane_mask outside = ~((c >= 0) & (c <= 1));
    c = PICK(outside, PICK(c < 0, ALL(0.), ALL(1.)), c);
    const abut_lanes again = (c * uv - ur) / uu;
    g = PICK(outside, PICK(uu > 0, ABUT_LANES_CLAMP01(again), ALL(0.)), g);
    c = -c;
    abut_lanes3_add(n, &g, u);
    abut_lanes3_add(n, &c, v);
}

/* The foot inside, or the nearest of the three sides. */
INLINE void nearest_pt(abut_lanes x[4][3], abut_lanes n[3])
{
    abut_lanes r[3], u[3], v[3], w[3], q[3], side[3][3], t;
    abut_lanes3_sub(x[0], x[1], r);
    abut_lanes3_sub(x[2], x[1], u);
    abut_lanes3_sub(x[3], x[1], v);
    const abut_lanes uu = DOT(u, u), vv = DOT(v, v), uv = DOT(u, v), ru = DOT(r, u), rv = DOT(r, v), det = uu * vv - uv * uv;
    const abut_lanes b = vv * ru - uv * rv, c = uu * rv - uv * ru;
    const abut_lane_mask inside = (b > 0) & (c > 0) & (b + c < det);

    abut_lanes3_sub(v, u, w);
    abut_lanes3_sub(r, u, q);
    for (int i = 0; i < 3; i++) n[i] = side[0][i] = side[1][i] = r[i], side[2][i] = q[i];
    along(r, u, &t), t = -t, abut_lanes3_add(side[0], &t, u);
    along(r, v, &t), t = -t, abut_lanes3_add(side[1], &t, v);
    along(q, w, &t), t = -t, abut_lanes3_add(side[2], &t, w);
    const abut_lanes d0 = DOT(side[0], side[0]), d1 = DOT(side[1], side[1]), d2 = DOT(side[2], side[2]);
    const abut_lane_mask second = d1 < d0, third = d2 < PICK(second, d1, d0);
    t = -b / det, abut_lanes3_add(n, &t, u);
    t = -c / det, abut_lanes3_add(n, &t, v);
    for (int i = 0; i < 3; i++) n[i] = PICK(inside, n[i], PICK(third, side[2][i], PICK(second, side[1][i], side[0][i])));
}

/* ---- its slab ---- */

INLINE void low_dot(const abut_lanes *n, const abut_lanes *a, const abut_lanes *b, abut_lanes *h)
{
    const abut_lanes p = n[0] * (a[0] - b[0]), q = n[1] * (a[1] - b[1]), r = n[2] * (a[2] - b[2]);
    *h = p + q + r - (ABUT_SLAB_DOT_ERROR * (ABUT_LANES_ABS(p) + ABUT_LANES_ABS(q) + ABUT_LANES_ABS(r)) + ABUT_SLAB_DOT_TINY);
}

/* Whether each line from h0 to h1, a number of lanes, is not below the target before t_max. */
INLINE void lines_stay(int lines, const abut_lanes *h0, const abut_lanes *h1, const abut_lanes *target, double t_max,
                       abut_lane_mask *stay)
{
    for (int k = 0; k < lines; k++) {
        const abut_lanes h = h0[k] - 8 * ABUT_SLAB_EPS * (ABUT_LANES_ABS(h0[k]) + ABUT_LANES_ABS(h1[k]));
        const abut_lanes until = (h - *target) / (h0[k] - h1[k]) * (1 - 8 * ABUT_SLAB_EPS);
        *stay &= (h >= *target) & ((h1[k] >= *target) | (until >= t_max));
    }
}

/* The kind and the number of points of the two primitives are literals at every call. */
INLINE int clear(abut_stencil s, int na, int nb, const double *y0, const double *y1, const int32_t (*v)[4],
                 const double *min_sep, double slack, double tiny, double t_max)
{
    abut_lanes x0[4][3], x1[4][3], n[3], h0[4], h1[4];
    for (int k = 0; k < na + nb; k++) abut_lanes3_gather(y0, v, k, x0[k]), abut_lanes3_gather(y1, v, k, x1[k]);
    if (s == ABUT_PP) abut_lanes3_sub(x0[0], x0[1], n);
    else if (s == ABUT_PE) nearest_pe(x0, n);
    else if (s == ABUT_PT) nearest_pt(x0, n);
    else nearest_ee(x0, n);

    const abut_lanes nn = DOT(n, n), xi = { min_sep[0], min_sep[1], min_sep[2], min_sep[3] };
    abut_lanes d = nn, least = ALL(INFINITY);
    abut_lanes_sqrt(&d);
    const abut_lanes inv = 1 / d;
    for (int i = 0; i < 3; i++) n[i] = n[i] * inv;
    /* all comparisons fail with what is not a number, and for a guess without direction */
    abut_lane_mask certain = (nn > 0x1p-900) & (nn < 0x1p900);
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const int k = nb * i + j;
            low_dot(n, x0[i], x0[na + j], &h0[k]);
            low_dot(n, x1[i], x1[na + j], &h1[k]);
            certain &= h0[k] >= d * (1 - 1e-8);
            least = PICK(h0[k] < least, h0[k], least);
        }
    const abut_lanes gap = least - xi, goal = slack * gap, target = (xi + goal) * (1 + 4 * ABUT_SLAB_EPS);
    certain &= (d - least <= 1e-6 * gap) & (goal >= tiny);
    abut_lane_mask stay = certain;
    for (int k = 0; k < na * nb; k++) stay &= (h0[k] >= target) & (h1[k] >= target);
    if (abut_lanes_bits(&stay) == (1 << ABUT_LANES) - 1) return (1 << ABUT_LANES) - 1;    /* the usual case */
    lines_stay(na * nb, h0, h1, &target, t_max, &certain);
    stay |= certain;
    return abut_lanes_bits(&stay);
}

#define CLEAR_OF(name, s, na, nb)                                                                                       \
    ABUT_LANES_CLONES                                                                                                   \
    static int name(const double *y0, const double *y1, const int32_t (*v)[4], const double *min_sep, double slack,     \
                    double tiny, double t_max)                                                                          \
    {                                                                                                                   \
        return clear(s, na, nb, y0, y1, v, min_sep, slack, tiny, t_max);                                                \
    }
CLEAR_OF(clear_pp, ABUT_PP, 1, 1)
CLEAR_OF(clear_pe, ABUT_PE, 1, 2)
CLEAR_OF(clear_pt, ABUT_PT, 1, 3)
CLEAR_OF(clear_ee, ABUT_EE, 2, 2)

int abut_slab_clear_lanes(abut_stencil s, const double *y0, const double *y1, const int32_t v[ABUT_LANES][4],
                          const double min_sep[ABUT_LANES], double slack, double tiny, double t_max)
{
    switch (s) {
    case ABUT_PP: return clear_pp(y0, y1, v, min_sep, slack, tiny, t_max);
    case ABUT_PE: return clear_pe(y0, y1, v, min_sep, slack, tiny, t_max);
    case ABUT_PT: return clear_pt(y0, y1, v, min_sep, slack, tiny, t_max);
    default: return clear_ee(y0, y1, v, min_sep, slack, tiny, t_max);
    }
}
