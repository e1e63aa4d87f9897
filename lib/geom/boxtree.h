/* A static tree over boxes, built for groups of queries: items in packs of 16, packs under nodes of 8 children.
 *
 * Item boxes are kept as floats rounded outward, lane after lane, so that one query meets 8 or 16 boxes at a time; the
 * caller's double boxes decide what the floats let through. */
#ifndef ABUT_GEOM_BOXTREE_H
#define ABUT_GEOM_BOXTREE_H

#include "geom/bvh.h"
#include "geom/tree_shape.h"

typedef struct abut_fbox {
    float lo[3], hi[3];
} abut_fbox;

/* Unused lanes hold NaN boxes, which overlap nothing, and item -1. */
typedef struct abut_pack {
    float lo[3][ABUT_PACK], hi[3][ABUT_PACK];
    int32_t item[ABUT_PACK];
} abut_pack;

typedef struct abut_wide {
    float lo[3][ABUT_WIDE], hi[3][ABUT_WIDE];
} abut_wide;

/* A pack is also a good group of queries.  Zero-filled is empty. */
typedef struct abut_boxtree {
    abut_tree_shape packs;
    abut_pack *pack;        /* [n_pack] */
    abut_fbox *bound;       /* [n_pack] */
    abut_wide *node;        /* [n_node] */
} abut_boxtree;

/* Items found so far, as bits; `top` says which words are not zero, so that a sweep costs what was found. */
typedef struct abut_found {
    uint64_t *bit, *top;
    size_t n_top;
} abut_found;

/** Tree over the items id[n] of box[] (finite, lo <= hi).  The same tree for any thread count.
 * Splits at medians of the centres: outliers and equal boxes do it no harm.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_boxtree_build(const abut_box *box, const int32_t *id, size_t n, abut_boxtree *tree,
                                             abut_err *err);
void abut_boxtree_clear(abut_boxtree *tree);

/** Marks every item > above whose float box overlaps q (closed). */
void abut_boxtree_mark(const abut_boxtree *tree, const abut_fbox *q, int32_t above, abut_found *found);

/** An empty set of numbers below n; 0 when there is no memory. */
int abut_found_init(abut_found *f, size_t n);
void abut_found_clear(abut_found *f);
/** Writes the marked numbers, ascending, to id[], unmarks them, returns how many. */
size_t abut_found_take(abut_found *f, int32_t *id);

#endif
