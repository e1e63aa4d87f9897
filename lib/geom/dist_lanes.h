/* Four stencils of one kind at once (geom/dist.h): a[3] holds three coordinates, each of four (math/lanes.h). */
#ifndef ABUT_GEOM_DIST_LANES_H
#define ABUT_GEOM_DIST_LANES_H

#include "geom/dist.h"
#include "math/lanes.h"

#include <stddef.h>
#include <stdint.h>

#define ABUT_LANES_DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define ABUT_LANES_CLAMP01(t) \
    ABUT_LANES_PICK((t) < 0, ABUT_LANES_ALL(0.), ABUT_LANES_PICK((t) > 1, ABUT_LANES_ALL(1.), t))

/** Point k of four stencils, vertices v[0][k] to v[3][k] of y. */
ABUT_LANES_INLINE void abut_lanes3_gather(const double *y, const int32_t (*v)[4], int k, abut_lanes x[3])
{
    const double *at[ABUT_LANES];
    for (int l = 0; l < ABUT_LANES; l++) at[l] = y + 3 * (size_t)v[l][k];
    abut_lanes_gather3(at, x);
}

/** d = a - b. */
ABUT_LANES_INLINE void abut_lanes3_sub(const abut_lanes *a, const abut_lanes *b, abut_lanes *d)
{
    for (int i = 0; i < 3; i++) d[i] = a[i] - b[i];
}

/** a += s b. */
ABUT_LANES_INLINE void abut_lanes3_add(abut_lanes *a, const abut_lanes *s, const abut_lanes *b)
{
    for (int i = 0; i < 3; i++) a[i] = a[i] + *s * b[i];
}

/** c = a x b. */
ABUT_LANES_INLINE void abut_lanes3_cross(const abut_lanes *a, const abut_lanes *b, abut_lanes *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/** The offset r against the plane spanned by u and v: normal n and its square nn, squared distance, and the coordinates b along u
 * and c along v of r in the plane; not finite where u and v span none. */
ABUT_LANES_INLINE void abut_lanes3_plane(const abut_lanes *r, const abut_lanes *u, const abut_lanes *v, abut_lanes *n,
                                         abut_lanes *nn, abut_lanes *b, abut_lanes *c, abut_lanes *d2)
{
    abut_lanes rv[3], ur[3];
    abut_lanes3_cross(u, v, n);
    abut_lanes3_cross(r, v, rv);
    abut_lanes3_cross(u, r, ur);
    *nn = ABUT_LANES_DOT(n, n);
    const abut_lanes inv = 1 / *nn, h = ABUT_LANES_DOT(r, n);
    *b = ABUT_LANES_DOT(rv, n) * inv;
    *c = ABUT_LANES_DOT(ur, n) * inv;
    *d2 = h * h * inv;
}

/** Bit l: lane l is set. */
ABUT_LANES_INLINE int abut_lanes_bits(const abut_lane_mask *m)
{
    int bits = 0;
    for (int l = 0; l < ABUT_LANES; l++) bits |= (int)((*m)[l] & 1) << l;
    return bits;
}

/** Computes the separation r = sum_i w_i x_i, its weights w (unused ones 0) and the squared distance, as abut_dist2_all.  Not
 * finite if the points do not span the feature.  The kind is a literal at every call. */
ABUT_LANES_INLINE void abut_dist2_lanes(abut_stencil kind, abut_lanes x[4][3], abut_lanes w[4], abut_lanes r[3], abut_lanes *d2)
{
    abut_lanes u[3], v[3], n[3], c[3], nn, s, t;
    w[0] = ABUT_LANES_ALL(1.), w[1] = ABUT_LANES_ALL(-1.), w[2] = w[3] = ABUT_LANES_ALL(0.);
    abut_lanes3_sub(x[0], x[kind == ABUT_EE ? 2 : 1], r);
    if (kind == ABUT_PP) {
        *d2 = ABUT_LANES_DOT(r, r);
        return;
    }
    if (kind == ABUT_PE) {      /* the offset from the nearer end, as in abut_dist2_all */
        abut_lanes r1[3], near[3];
        abut_lanes3_sub(x[2], x[1], u);
        abut_lanes3_sub(x[0], x[2], r1);
        const abut_lanes uu = ABUT_LANES_DOT(u, u), h0 = ABUT_LANES_DOT(r, u), h1 = ABUT_LANES_DOT(r1, u);
        const abut_lane_mask near0 = ABUT_LANES_ABS(h0) <= ABUT_LANES_ABS(h1);
        for (int i = 0; i < 3; i++) near[i] = ABUT_LANES_PICK(near0, r[i], r1[i]);
        const abut_lanes eta = ABUT_LANES_PICK(near0, h0 / uu, 1 + h1 / uu), inv = 1 / uu;
        abut_lanes3_cross(near, u, c);
        abut_lanes3_cross(u, c, r);
        for (int i = 0; i < 3; i++) r[i] = inv * r[i];
        w[1] = eta - 1, w[2] = -eta;
        *d2 = ABUT_LANES_DOT(c, c) / uu;
        return;
    }
    const int e = kind == ABUT_EE;
    abut_lanes3_sub(x[e ? 1 : 2], x[e ? 0 : 1], u);
    abut_lanes3_sub(x[3], x[e ? 2 : 1], v);
    abut_lanes3_plane(r, u, v, n, &nn, &s, &t, d2);
    const abut_lanes h = ABUT_LANES_DOT(r, n) * (1 / nn);
    for (int i = 0; i < 3; i++) r[i] = h * n[i];
    if (e) w[0] = 1 + s, w[1] = -s, w[2] = t - 1, w[3] = -t;
    else w[1] = s + t - 1, w[2] = -s, w[3] = -t;
}

/* Nearest features. */
typedef struct abut_nearest_four {
    double dist2[ABUT_LANES];                   /* m^2 */
    double cross2[ABUT_LANES];                  /* EE: m^4, abut_cross2 (geom/dist.h) */
    const abut_feature *feature[ABUT_LANES];    /* constants */
} abut_nearest_four;

/** abut_nearest, to the bit, of the stencils of vertices v[0] to v[3] of y. */
void abut_nearest_lanes(abut_stencil s, const double *y, const int32_t v[ABUT_LANES][4], abut_nearest_four *out);

#endif
