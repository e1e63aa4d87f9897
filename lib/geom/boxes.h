/* Axis-aligned boxes, and a sweep over them: every overlapping pair, once, in an order that no thread count changes.  The judge
 * and static tests use it; the solver's moving primitives have trees (geom/broad_phase.h), which share no code with it. */
#ifndef ABUT_GEOM_BOXES_H
#define ABUT_GEOM_BOXES_H

#include "base/err.h"
#include "base/fn.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Axis-aligned boxes: closed, in metres.  Written out axis by axis: these lines run for every candidate pair, and a loop of
 * three costs more than its body. */

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

/** Box of k points of x (3 numbers each, at idx), at two instants (x1 NULL: one), grown by r >= 0 and rounded outward:
 * by a few ulps of the coordinates more than needed, so that it holds the rounded positions of any instant in between.
 * Not finite when a coordinate is not. */
abut_box abut_box_points(const double *x0, const double *x1, const int32_t *idx, int k, double r);

/* One side of a pair search: n items of k vertices each.  Two items with a common vertex are no pair; neither are two
 * items whose `still` flags are both set (NULL: none is).  The test is lo <= hi of the doubles on all three axes. */
typedef struct abut_items {
    size_t n;
    int k;
    const int32_t *vert;    /* [n * k] */
    const uint8_t *still;   /* [n] or NULL */
    const abut_box *box;    /* [n], finite, lo <= hi */
} abut_items;

typedef struct abut_pair_list {
    int32_t (*ij)[2];       /* malloc'ed; kept from call to call, it grows when it must */
    size_t n, cap;
} abut_pair_list;

/** Finds all pairs (i of a, j of b) of overlapping boxes, sorted by (i, j); out is emptied first.
 * b == a (the same pointer): pairs i < j of one set.  Robust to huge items among tiny ones, outliers and equal boxes.
 * Bytes do not depend on the thread count.  On failure out is empty.
 * Fails  ABUT_E_GEOM a box is not finite (names the lowest);  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_box_pairs(const abut_items *a, const abut_items *b, abut_pair_list *out, abut_err *err);

/** Allocates n pairs; the pairs of the list are lost if it must grow.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_pair_list_reserve(abut_pair_list *list, size_t n, abut_err *err);
void abut_pair_list_clear(abut_pair_list *list);

#endif
