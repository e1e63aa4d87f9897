/* Data that geom/broad_phase.c searches: boxes of moving vertices, and trees over primitives. */
#ifndef ABUT_GEOM_BROAD_TREE_H
#define ABUT_GEOM_BROAD_TREE_H

#include "base/fn.h"
#include "geom/boxes.h"
#include "geom/broad_phase.h"

#include <string.h>

/* Items in packs of 16 that lie close together, packs under nodes of 8 children: the shape of a static tree, independent of its
 * boxes. */

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

/* Separate trees for four sorts of items: a large item would enlarge the box of a pack of small ones, and still items are never
 * paired with still items. */
enum { ABUT_MOVING = 0, ABUT_MOVING_LARGE, ABUT_STILL, ABUT_STILL_LARGE, ABUT_SORTS };

struct pack {
    float f[ABUT_ROWS][ABUT_PACK];      /* unused lanes are NaN: they overlap nothing */
    int32_t item[ABUT_PACK], vert[3][ABUT_PACK];
};
struct node {
    float f[ABUT_ROWS][ABUT_WIDE];
};
/* The cells of the vertices of a pack or node (abut_quiet): least and greatest column and row, low[0] -1: some are in none; their
 * part, -1: several; bits of the lanes that are kept. */
struct pack_cells {
    int32_t low[2], high[2], part;
    uint32_t kept;
};
struct tree {
    abut_tree_shape packs;
    struct pack *pack;                  /* [n_pack] */
    float (*query)[ABUT_ROWS];          /* [n_pack] box of a pack with its signs changed, to compare with other rows */
    struct node *node;                  /* [n_node] */
    struct pack_cells *cells;           /* [n_pack + n_node], NULL: not yet known */
    double *slack;                      /* [n_pack] extent of a pack over the mean one of its items, both summed over axes */
    double made;                        /* mean of slack when the tree was made */
    uint64_t stamp;                     /* of the boxes of a still tree (geom/broad_phase.h), and the mean of slack then */
    double fit;
};
struct abut_broad_trees {
    size_t n, nv;
    uint8_t *fixed;                     /* [nv] then; NULL: none */
    struct tree tree[ABUT_SORTS];
    struct tree other[ABUT_SORTS];      /* still trees with the other boxes that are kept; borrow their packs from `tree` */
};

/** low = the smaller of both, row by row. */
static inline __attribute__((always_inline)) void abut_broad_rows_min(float *restrict low, const float *restrict box)
{
    #pragma omp simd
    for (int r = 0; r < 16; r++) low[r] = abut_minf(box[r], low[r]);
    for (int r = 16; r < ABUT_ROWS; r++) low[r] = abut_minf(box[r], low[r]);
}

/** The box of a primitive of k vertices v. */
static inline __attribute__((always_inline)) void abut_broad_prim_box(const abut_broad_phase *s, const int32_t *v, int k,
                                                                      float box[ABUT_ROWS])
{
    memcpy(box, s->box[v[0]], sizeof s->box[0]);
    for (int i = 1; i < k; i++) abut_broad_rows_min(box, s->box[v[i]]);
}

/** *f: trees over p with the boxes of s; trees in *f are reused if they still fit, else rebuilt.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_broad_trees_of(const abut_broad_phase *s, const abut_prims *p, abut_broad_trees **f,
                                                 abut_err *err);

#endif
