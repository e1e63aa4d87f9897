/* Axis-aligned boxes and a tree over them: every overlapping pair, once, in an order that no thread count changes. */
#ifndef ABUT_GEOM_BVH_H
#define ABUT_GEOM_BVH_H

#include "base/err.h"
#include "geom/aabb.h"

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
 * The same bytes for every thread count.  On failure out is empty.
 * Fails  ABUT_E_GEOM a box is not finite (names the lowest);  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bvh_pairs(const abut_items *a, const abut_items *b, abut_pair_list *out, abut_err *err);

/** Allocates n pairs; the pairs of the list are lost if it must grow.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_pair_list_reserve(abut_pair_list *list, size_t n, abut_err *err);
void abut_pair_list_clear(abut_pair_list *list);

#endif
