/* Axis-aligned boxes: closed, in metres.  Written out axis by axis: these lines run for every candidate pair, and a loop of
 * three costs more than its body. */
#ifndef ABUT_GEOM_AABB_H
#define ABUT_GEOM_AABB_H

#include "base/fn.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct abut_box {
    double lo[3], hi[3];
} abut_box;

ABUT_FN double abut_min(double a, double b) { return a < b ? a : b; }
ABUT_FN double abut_max(double a, double b) { return a > b ? a : b; }
ABUT_FN float abut_minf(float a, float b) { return a < b ? a : b; }

/** Smallest box that holds both. */
ABUT_FN abut_box abut_box_join(abut_box a, const abut_box *b)
{
    return (abut_box){ { abut_min(a.lo[0], b->lo[0]), abut_min(a.lo[1], b->lo[1]), abut_min(a.lo[2], b->lo[2]) },
                       { abut_max(a.hi[0], b->hi[0]), abut_max(a.hi[1], b->hi[1]), abut_max(a.hi[2], b->hi[2]) } };
}

ABUT_FN abut_box abut_box_point(const double *p)
{
    return (abut_box){ { p[0], p[1], p[2] }, { p[0], p[1], p[2] } };
}

/** Smallest box of the k >= 1 points of x (3 numbers each) at idx. */
ABUT_FN abut_box abut_box_of(const double *x, const int32_t *idx, int k)
{
    abut_box b = abut_box_point(x + 3 * (size_t)idx[0]);
    for (int i = 1; i < k; i++) {
        const abut_box p = abut_box_point(x + 3 * (size_t)idx[i]);
        b = abut_box_join(b, &p);
    }
    return b;
}

/** 1 when they have a point in common. */
ABUT_FN int abut_box_overlap(const abut_box *a, const abut_box *b)
{
    return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) & (b->lo[1] <= a->hi[1]) &
           (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

/** Squared distance of the two boxes, m^2; 0 when they overlap.  v + |v| is twice the positive part, without the branch
 * that a comparison with 0 becomes: its outcome is a coin toss. */
ABUT_FN double abut_box_gap2(const abut_box *a, const abut_box *b)
{
    const double x = abut_max(a->lo[0] - b->hi[0], b->lo[0] - a->hi[0]), gx = x + fabs(x);
    const double y = abut_max(a->lo[1] - b->hi[1], b->lo[1] - a->hi[1]), gy = y + fabs(y);
    const double z = abut_max(a->lo[2] - b->hi[2], b->lo[2] - a->hi[2]), gz = z + fabs(z);
    return 0.25 * (gx * gx + gy * gy + gz * gz);
}

/** Largest squared difference of a point of one and a point of the other, m^2. */
ABUT_FN double abut_box_span2(const abut_box *a, const abut_box *b)
{
    const double x = abut_max(a->hi[0] - b->lo[0], b->hi[0] - a->lo[0]);
    const double y = abut_max(a->hi[1] - b->lo[1], b->hi[1] - a->lo[1]);
    const double z = abut_max(a->hi[2] - b->lo[2], b->hi[2] - a->lo[2]);
    return x * x + y * y + z * z;
}

#endif
