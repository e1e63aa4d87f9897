#include "geom/dist_lanes.h"

#define INLINE ABUT_LANES_INLINE
#define ALL ABUT_LANES_ALL
#define PICK ABUT_LANES_PICK
#define DOT ABUT_LANES_DOT

/* All features of a stencil: itself, then for each point and edge the two ends of the edge and the edge, in the order in which
 * abut_nearest tries them. */
#define PP(a, b) { ABUT_PP, { a, b, -1, -1 } }
#define PE(p, a, b) { ABUT_PE, { p, a, b, -1 } }
static const abut_feature features[4][13] = {
    [ABUT_PP] = { PP(0, 1) },
    [ABUT_PE] = { PP(0, 1), PP(0, 1), PP(0, 2), PE(0, 1, 2) },
    [ABUT_PT] = { { ABUT_PT, { 0, 1, 2, 3 } },
                  PP(0, 1), PP(0, 2), PE(0, 1, 2), PP(0, 1), PP(0, 3), PE(0, 1, 3), PP(0, 2), PP(0, 3), PE(0, 2, 3) },
    [ABUT_EE] = { { ABUT_EE, { 0, 1, 2, 3 } }, PP(0, 2), PP(0, 3), PE(0, 2, 3), PP(1, 2), PP(1, 3), PE(1, 2, 3),
                  PP(0, 2), PP(1, 2), PE(2, 0, 1), PP(0, 3), PP(1, 3), PE(3, 0, 1) },
};

/* The nearest so far: squared distance, and which of the features. */
typedef struct nearest {
    abut_lanes d2;
    abut_lane_mask which;
} nearest;

/* A point against an edge e, from whose ends it is r0 and r1 away: features first, first + 1, first + 2 of the table. */
INLINE void try_point_edge(const abut_lanes *r0, const abut_lanes *r1, const abut_lanes *e, int first, nearest *best)
{
    abut_lanes near[3], c[3];
    const abut_lanes h0 = DOT(r0, e), h1 = DOT(r1, e), ee = DOT(e, e);
    const abut_lane_mask at0 = ~(h0 > 0), at1 = ~at0 & ~(h1 < 0), near0 = ABUT_LANES_ABS(h0) <= ABUT_LANES_ABS(h1);
    for (int i = 0; i < 3; i++) near[i] = PICK(near0, r0[i], r1[i]);
    abut_lanes3_cross(near, e, c);
    const abut_lanes line = DOT(c, c) / ee, d = PICK(at0, DOT(r0, r0), PICK(at1, DOT(r1, r1), line));
    const abut_lane_mask better = d < best->d2, which = first + 2 + 2 * at0 + at1;
    best->d2 = PICK(better, d, best->d2);
    best->which = (better & which) | (~better & best->which);
}

/* Solves the offset r against the plane of u and v; spanned: lanes in which they span a plane, as in geom/dist.c. */
INLINE void solve_plane(const abut_lanes *r, const abut_lanes *u, const abut_lanes *v, abut_lanes *b, abut_lanes *c,
                        abut_lanes *d2, abut_lanes *nn, abut_lane_mask *spanned)
{
    abut_lanes n[3];
    abut_lanes3_plane(r, u, v, n, nn, b, c, d2);
    const abut_lanes uu = DOT(u, u), vv = DOT(v, v);
    *spanned = *nn > ABUT_SINE2_MIN * uu * vv;
}

/* Starts with the foot in the lanes in which it is inside; 1: it is inside in all lanes. */
INLINE int start(const abut_lane_mask *inside, const abut_lanes *d2, nearest *best)
{
    const abut_lane_mask none = ~*inside;
    best->d2 = PICK(*inside, *d2, ALL(INFINITY));
    best->which = none & 1;     /* nothing is nearer than infinity, not even NaN: the first pair of points */
    return !abut_lanes_any(&none);
}

/* Lanes that are inside lose to no edge. */
INLINE void keep_inside(const abut_lane_mask *inside, const abut_lanes *d2, nearest *best)
{
    best->d2 = PICK(*inside, *d2, best->d2);
    best->which &= ~*inside;
}

INLINE void nearest_pp(abut_lanes x[4][3], nearest *best)
{
    abut_lanes r[3];
    abut_lanes3_sub(x[0], x[1], r);
    best->d2 = DOT(r, r);
    best->which = (abut_lane_mask){ 0 };
}

INLINE void nearest_pe(abut_lanes x[4][3], nearest *best)
{
    abut_lanes e[3], r0[3], r1[3];
    abut_lanes3_sub(x[2], x[1], e);
    abut_lanes3_sub(x[0], x[1], r0);
    abut_lanes3_sub(x[0], x[2], r1);
    *best = (nearest){ ALL(INFINITY), { 1, 1, 1, 1 } };
    try_point_edge(r0, r1, e, 1, best);
}

INLINE void nearest_pt(abut_lanes x[4][3], nearest *best)
{
    abut_lanes r[3][3], u[3], v[3], w[3], b, c, d2, nn;
    abut_lane_mask spanned;
    for (int k = 0; k < 3; k++) abut_lanes3_sub(x[0], x[1 + k], r[k]);
    abut_lanes3_sub(x[2], x[1], u);
    abut_lanes3_sub(x[3], x[1], v);
    solve_plane(r[0], u, v, &b, &c, &d2, &nn, &spanned);
    const abut_lane_mask inside = spanned & (b + c - 1 < 0) & (-b < 0) & (-c < 0);
    if (start(&inside, &d2, best)) return;
    abut_lanes3_sub(x[3], x[2], w);
    try_point_edge(r[0], r[1], u, 1, best);
    try_point_edge(r[0], r[2], v, 4, best);
    try_point_edge(r[1], r[2], w, 7, best);
    keep_inside(&inside, &d2, best);
}

INLINE void nearest_ee(abut_lanes x[4][3], nearest *best, abut_lanes *cross2)
{
    abut_lanes r[4][3], back[4][3], u[3], v[3], b, c, d2;
    abut_lane_mask spanned;
    abut_lanes3_sub(x[1], x[0], u);
    abut_lanes3_sub(x[3], x[2], v);
    for (int k = 0; k < 4; k++) {
        abut_lanes3_sub(x[k / 2], x[2 + k % 2], r[k]);
        for (int i = 0; i < 3; i++) back[k][i] = -r[k][i];
    }
    solve_plane(r[0], u, v, &b, &c, &d2, cross2, &spanned);
    const abut_lanes g = -b;
    const abut_lane_mask inside = spanned & (1 - g > 0) & (g > 0) & (c - 1 < 0) & (-c < 0);
    if (start(&inside, &d2, best)) return;
    try_point_edge(r[0], r[1], v, 1, best);
    try_point_edge(r[2], r[3], v, 4, best);
    try_point_edge(back[0], back[2], u, 7, best);
    try_point_edge(back[1], back[3], u, 10, best);
    keep_inside(&inside, &d2, best);
}

/* The kind and its number of points are literals at every call. */
INLINE void nearest_of(abut_stencil s, int points, const double *y, const int32_t (*v)[4], abut_nearest_four *out)
{
    abut_lanes x[4][3], cross2 = ALL(0.);
    nearest best;
    for (int k = 0; k < points; k++) abut_lanes3_gather(y, v, k, x[k]);
    if (s == ABUT_PP) nearest_pp(x, &best);
    else if (s == ABUT_PE) nearest_pe(x, &best);
    else if (s == ABUT_PT) nearest_pt(x, &best);
    else nearest_ee(x, &best, &cross2);
    for (int l = 0; l < ABUT_LANES; l++) {
        out->dist2[l] = best.d2[l];
        out->cross2[l] = cross2[l];
        out->feature[l] = &features[s][best.which[l]];
    }
}

#define NEAREST_OF(name, s, points)                                                      \
    ABUT_LANES_CLONES                                                                    \
    static void name(const double *y, const int32_t (*v)[4], abut_nearest_four *out)     \
    {                                                                                    \
        nearest_of(s, points, y, v, out);                                                \
    }
NEAREST_OF(four_pp, ABUT_PP, 2)
NEAREST_OF(four_pe, ABUT_PE, 3)
NEAREST_OF(four_pt, ABUT_PT, 4)
NEAREST_OF(four_ee, ABUT_EE, 4)

void abut_nearest_lanes(abut_stencil s, const double *y, const int32_t v[ABUT_LANES][4], abut_nearest_four *out)
{
    switch (s) {
    case ABUT_PP: four_pp(y, v, out); return;
    case ABUT_PE: four_pe(y, v, out); return;
    case ABUT_PT: four_pt(y, v, out); return;
    default: four_ee(y, v, out);
    }
}
