/* The tests of geom/broad_phase.h, for the processor and for a GPU: boxes of vertices, two boxes against each other, and the slab
 * that decides on a pair. */
#ifndef ABUT_GEOM_BROAD_PHASE_INLINE_H
#define ABUT_GEOM_BROAD_PHASE_INLINE_H

#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* Rows of a box: lower bounds, and upper ones with their sign changed, so that the smaller float is always the outer one. */
enum { ABUT_AT_LO = 0, ABUT_AT_HI = 3, ABUT_BY_LO = 6, ABUT_BY_HI = 9, ABUT_PATH_LO = 12, ABUT_PATH_HI = 15, ABUT_ROWS = 18 };

/* Two primitives stay apart if their gap is this many times their relative motion.  1 suffices for pairs that come within reach;
 * the rest is for the CCD bound, which also needs pairs that lose four fifths of their distance. */
#define ABUT_BROAD_TIMES 1.5
#define ABUT_BROAD_TINY 1e-30f       /* m^2: no gap is judged by squares below it */

/** Rounds `times` up: ABUT_BROAD_TIMES, or +inf if relative motions are unknown. */
ABUT_FN double abut_broad_times(double times) { return times * (1 + 1e-6); }
/** Square of `times`, rounded up by more than the rounding errors of squares. */
ABUT_FN float abut_broad_times2(double times) { return (float)(times * times * (1 + 1e-5)); }
/** Bound on rounding errors of positions during the motion, m; most: the largest coordinate. */
ABUT_FN double abut_broad_rounding(double most) { return 0x1p-48 * most; }

/* ---- boxes of vertices ---- */

/** Below v by two to six units in the last place: rounding to float, and of the difference, take at most two of them. */
ABUT_FN_LITERAL float abut_broad_below(double v)
{
    const float f = (float)v, c = f < FLT_MAX ? f : FLT_MAX;
    return c - (fabsf(c) * 0x1p-22f + FLT_MIN);
}

/** Rows of one axis of a vertex from p to q, grown by r, not yet rounded: at, by, path, each low and minus high.
 * Positions at any time are within a few ulps of the coordinates of where real numbers are, displacements too. */
ABUT_FN_LITERAL void abut_broad_vertex_rows(double p, double q, double r, double row[6])
{
    const double lo = p < q ? p : q, hi = p < q ? q : p, big = fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi);
    const double pad = r + 0x1p-50 * (r + big) + DBL_MIN;
    row[0] = p - pad, row[1] = -(p + pad);
    row[2] = q - p, row[3] = p - q;
    row[4] = lo - pad, row[5] = -(hi + pad);
}

/* ---- two boxes: lane l of w of rows f, and q, whose sign is changed ----
 *
 * Axes are written out: a loop over three inside a loop over lanes is not vectorised. */

/* A mask as from a comparison of lanes: all bits, or none. */
#define ABUT_BROAD_MASK(condition) ((condition) ? -1 : 0)

/* A mask: the motions overlap along axis d. */
ABUT_FN_LITERAL int broad_path_meets(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q, size_t d)
{
    return ABUT_BROAD_MASK(f[(ABUT_PATH_LO + d) * w + l] <= q[ABUT_PATH_HI + d]) &
           ABUT_BROAD_MASK(f[(ABUT_PATH_HI + d) * w + l] <= q[ABUT_PATH_LO + d]);
}

ABUT_FN_LITERAL int abut_broad_paths_meet(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q)
{
    return broad_path_meets(f, w, l, q, 0) & broad_path_meets(f, w, l, q, 1) & broad_path_meets(f, w, l, q, 2);
}

/* Twice the gap at the start along an axis: v + |v| instead of a branch. */
ABUT_FN_LITERAL float broad_gap(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q, size_t d)
{
    const float x = f[(ABUT_AT_LO + d) * w + l] - q[ABUT_AT_HI + d], y = f[(ABUT_AT_HI + d) * w + l] - q[ABUT_AT_LO + d];
    const float g = x > y ? x : y;
    return g + fabsf(g);
}

/* The motion relative to each other along an axis, its sign changed. */
ABUT_FN_LITERAL float broad_span(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q, size_t d)
{
    const float u = f[(ABUT_BY_LO + d) * w + l] - q[ABUT_BY_HI + d], v = f[(ABUT_BY_HI + d) * w + l] - q[ABUT_BY_LO + d];
    return u < v ? u : v;
}

/** Squared gap at the start, and the squared motion relative to each other. */
ABUT_FN_LITERAL float abut_broad_gap2(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q)
{
    const float x = broad_gap(f, w, l, q, 0), y = broad_gap(f, w, l, q, 1), z = broad_gap(f, w, l, q, 2);
    return 0.25f * (x * x + y * y + z * z);
}

ABUT_FN_LITERAL float abut_broad_span2(const float *ABUT_RESTRICT f, size_t w, size_t l, const float *ABUT_RESTRICT q)
{
    const float x = broad_span(f, w, l, q, 0), y = broad_span(f, w, l, q, 1), z = broad_span(f, w, l, q, 2);
    return x * x + y * y + z * z;
}

ABUT_FN_LITERAL int abut_broad_far(float gap2, float span2, float times2)
{
    return gap2 > times2 * span2 + ABUT_BROAD_TINY;
}

/* ---- one pair: coordinate d of vertex v of it is p[(3 v + d) stride + k] ---- */

typedef struct abut_along {
    double least, nn;   /* of n.(a_i - b_j), rounding taken off; |n|^2 */
} abut_along;

ABUT_FN_LITERAL abut_vec3 broad_minus(const double *p, size_t stride, size_t a, size_t b, size_t k)
{
    const double *u = p + 3 * a * stride + k, *v = p + 3 * b * stride + k;
    return abut_v3(u[0] - v[0], u[stride] - v[stride], u[2 * stride] - v[2 * stride]);
}

/* n.r less its rounding. */
ABUT_FN_LITERAL double broad_low(abut_vec3 n, abut_vec3 r)
{
    const double u = n.x * r.x, v = n.y * r.y, w = n.z * r.z;
    return u + v + w - 0x1p-50 * (fabs(u) + fabs(v) + fabs(w));
}

ABUT_FN_LITERAL double broad_min(double a, double b) { return a < b ? a : b; }

/** As abut_slab_centroids2, for pairs side by side: of ka and kb vertices, 1 and 3, 2 and 2, 1 and 2, 1 and 1. */
ABUT_FN_LITERAL abut_along abut_broad_slab(int ka, int kb, const double *p, size_t stride, size_t k)
{
    abut_along l;
    if (ka == 2) {
        const abut_vec3 a = broad_minus(p, stride, 0, 2, k), b = broad_minus(p, stride, 0, 3, k);
        const abut_vec3 c = broad_minus(p, stride, 1, 2, k), d = broad_minus(p, stride, 1, 3, k);
        const abut_vec3 n = abut_v3_add(abut_v3_add(a, d), abut_v3_add(b, c));  /* the same whichever edge comes first */
        l.least = broad_min(broad_min(broad_low(n, a), broad_low(n, b)),
                               broad_min(broad_low(n, c), broad_low(n, d)));
        l.nn = abut_v3_norm2(n);
    } else if (kb == 3) {
        const abut_vec3 a = broad_minus(p, stride, 0, 1, k), b = broad_minus(p, stride, 0, 2, k);
        const abut_vec3 c = broad_minus(p, stride, 0, 3, k), n = abut_v3_add(abut_v3_add(a, b), c);
        l.least = broad_min(broad_min(broad_low(n, a), broad_low(n, b)), broad_low(n, c));
        l.nn = abut_v3_norm2(n);
    } else if (kb == 2) {
        const abut_vec3 a = broad_minus(p, stride, 0, 1, k), b = broad_minus(p, stride, 0, 2, k), n = abut_v3_add(a, b);
        l.least = broad_min(broad_low(n, a), broad_low(n, b));
        l.nn = abut_v3_norm2(n);
    } else {
        const abut_vec3 n = broad_minus(p, stride, 0, 1, k);
        l.least = broad_low(n, n);
        l.nn = abut_v3_norm2(n);
    }
    return l;
}

/** The start distance at or above which a pair is dropped: reach, thickness and the relative motion of its primitives. */
ABUT_FN_LITERAL double abut_broad_need(double reach, double xi, double rounding, double times, float span2)
{
    return (reach + xi) * (1 + 1e-9) + rounding + times * sqrt((double)span2);
}

/** The slab keeps the pair apart by that. */
ABUT_FN_LITERAL int abut_broad_apart(abut_along l, double need)
{
    return (l.least > 0x1p-500) & (l.nn < 0x1p500) & ((1 - 0x1p-48) * l.least * l.least > need * need * l.nn);
}

#endif
