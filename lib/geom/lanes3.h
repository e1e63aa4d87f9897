/* Vectors of four stencils at once: a[3] holds the three coordinates, each of four (math/lanes.h). */
#ifndef ABUT_GEOM_LANES3_H
#define ABUT_GEOM_LANES3_H

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

#endif
