/* Vectors of four stencils at once: a[3] holds the three coordinates, each of four (linalg/lanes.h). */
#ifndef ABUT_GEOM_LANES3_H
#define ABUT_GEOM_LANES3_H

#include "linalg/lanes.h"

#include <stddef.h>
#include <stdint.h>

#define ABUT_LANES_DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define ABUT_LANES_CLAMP01(t) \
    ABUT_LANES_PICK((t) < 0, ABUT_LANES_ALL(0.), ABUT_LANES_PICK((t) > 1, ABUT_LANES_ALL(1.), t))

/** Point k of four stencils, vertices v[0][k] to v[3][k] of y. */
ABUT_LANES_INLINE void abut_lanes3_gather(const double *y, const int32_t (*v)[4], int k, abut_lanes x[3])
{
    const double *a = y + 3 * (size_t)v[0][k], *b = y + 3 * (size_t)v[1][k], *c = y + 3 * (size_t)v[2][k],
                 *d = y + 3 * (size_t)v[3][k];
    for (int i = 0; i < 3; i++) x[i] = (abut_lanes){ a[i], b[i], c[i], d[i] };
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

/** Bit l: lane l is set. */
ABUT_LANES_INLINE int abut_lanes_bits(const abut_lane_mask *m)
{
    int bits = 0;
    for (int l = 0; l < ABUT_LANES; l++) bits |= (int)((*m)[l] & 1) << l;
    return bits;
}

#endif
