/* Items in packs of 16 that lie close together, packs under nodes of 8 children: the shape of a static tree, independent of its
 * boxes. */
#ifndef ABUT_GEOM_TREE_SHAPE_H
#define ABUT_GEOM_TREE_SHAPE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ABUT_PACK = 16, ABUT_WIDE = 8, ABUT_PACK_LEVELS = 12 };

typedef struct abut_key {
    float c[3];     /* centre of an item */
    int32_t id;
} abut_key;

/* Zero-filled is empty. */
typedef struct abut_tree_shape {
    size_t n, n_pack, n_node;
    int32_t (*item)[ABUT_PACK];     /* [n_pack]; all but the last are full, unused lanes hold -1 */
    size_t level[ABUT_PACK_LEVELS]; /* first node of each level; child c of node i of level l is node 8 i + c of level l - 1, or
                                     * pack 8 i + c at level 0 */
    int n_level;
} abut_tree_shape;

/** Builds packs of n items by medians of their centres, robust to outliers and equal centres.  The same for any thread count.
 * Reorders k.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tree_shape_build(abut_key *k, size_t n, abut_tree_shape *out, abut_err *err);
void abut_tree_shape_clear(abut_tree_shape *p);

#endif
