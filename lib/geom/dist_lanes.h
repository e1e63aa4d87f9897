/* Four stencils of one kind, each its own active feature, at once (geom/dist.h). */
#ifndef ABUT_GEOM_DIST_LANES_H
#define ABUT_GEOM_DIST_LANES_H

#include "geom/dist.h"
#include "geom/lanes3.h"

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

#endif
