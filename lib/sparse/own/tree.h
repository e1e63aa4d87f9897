/* The supernodes of a Cholesky factor of 3x3 blocks, their elimination tree, and who updates whom.
 *
 * A supernode is a run of block columns with the same rows below it; in storage one dense panel of 3 (number of rows) by
 * 3 (number of columns), lower part used, its rows in groups (real.h).  Wide supernodes are cut into panels, so that the top
 * of the tree can be worked on by several threads.  All counts are in blocks unless said otherwise. */
#ifndef ABUT_SPARSE_OWN_TREE_H
#define ABUT_SPARSE_OWN_TREE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ABUT_GROUP = 8,         /* rows that are stored together */
    ABUT_GROUP_PAD = 8,     /* numbers after each group */
    ABUT_PANEL = 64,        /* columns of a supernode at most: whole groups */
    ABUT_TILE = 256          /* rows of a supernode that one thread works on: whole groups */
};

/* Rows [lo, hi) of supernode d lie in the columns of the supernode that is updated. */
typedef struct abut_chol_update {
    int32_t d, lo, hi;
} abut_chol_update;

/* The tree cut for threads: whole subtrees of little weight (or one leaf), independent of each other, and what is above them;
 * every child of a top node is another or the root of a subtree.  The cut depends on the matrix alone, never on the threads. */
typedef struct abut_chol_cut {
    int32_t nsub, *sub;     /* [nsub] roots of the subtrees */
    uint8_t *is_top;        /* [ns] */
} abut_chol_cut;

typedef struct abut_chol_tree {
    int32_t n;              /* block columns */
    int32_t ns;             /* supernodes, children before parents */
    int32_t *col;           /* [ns + 1] first column of each */
    size_t *rptr;           /* [ns + 1] rows of s: row[rptr[s] .. rptr[s+1]), ascending, its own columns first */
    int32_t *row;
    size_t *xptr;           /* [ns + 1] panel of s, in numbers; the last is the size of the factor */
    size_t *gptr;           /* [ns + 1] groups of rows before those of s */
    int32_t *parent;        /* [ns] -1: root */
    int32_t *cptr, *child;  /* children of s, ascending: child[cptr[s] .. cptr[s+1]) */
    int32_t *inparent;      /* [rptr[ns]] place of each row of s below its columns among the rows of the parent */
    size_t *uptr;           /* [ns + 1] updates of s: upd[uptr[s] .. uptr[s+1]), ascending d */
    abut_chol_update *upd;
    int32_t *first;         /* [ns] first supernode of the subtree of s, which is [first[s], s] */
    abut_chol_cut by_work;  /* for factorisations, where work counts */
    abut_chol_cut by_size;  /* for solves, where numbers count */
    double nnz, flops;      /* of the scalar factor */
} abut_chol_tree;

/** Builds the tree from supernodes of the graph of blocks (symbolic.h): super[count + 1] first columns, the rows
 * of supernode s in rows[rptr[s] .. rptr[s+1]) with its own columns first.  Columns must be postordered.
 * Fails  ABUT_E_NOMEM; the tree is then empty */
ABUT_MUST_USE abut_status abut_chol_tree_make(abut_chol_tree *t, int32_t n, int32_t count, const int32_t *super,
                                              const int32_t *rptr, const int32_t *rows, abut_err *err);
void abut_chol_tree_clear(abut_chol_tree *t);

static inline int32_t abut_chol_cols(const abut_chol_tree *t, int32_t s) { return t->col[s + 1] - t->col[s]; }
static inline int32_t abut_chol_nrows(const abut_chol_tree *t, int32_t s) { return (int32_t)(t->rptr[s + 1] - t->rptr[s]); }
static inline int32_t abut_chol_groups(int32_t rows) { return (rows + ABUT_GROUP - 1) / ABUT_GROUP; }
/* Numbers of a group of so many columns. */
static inline size_t abut_chol_group_size(int32_t cols) { return 9 * ABUT_GROUP * (size_t)cols + ABUT_GROUP_PAD; }

#endif
