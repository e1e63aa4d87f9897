/* The supernodes of a Cholesky factor of 3x3 blocks, their elimination tree, and who updates whom.
 *
 * A supernode is a run of block columns with the same rows below it; in storage one dense panel of 3 (number of rows) by
 * 3 (number of columns), lower part used, its rows in groups (real.h).  Wide supernodes are cut into panels, so that the top
 * of the tree can be worked on by several threads.  All counts are in blocks unless said otherwise. */
#ifndef ABUT_SPARSE_OWN_TREE_H
#define ABUT_SPARSE_OWN_TREE_H

#include "sparse/bsr.h"

#include <stdatomic.h>

/* ---- supernodes ----
 *
 * Supernodal analysis of the graph of a block matrix: which rows the columns of its Cholesky factor have, and which columns share
 * them.  The elimination tree is Liu's (1986), the lengths of columns are those of Gilbert, Ng and Peyton (1994), and supernodes
 * are relaxed by the rule and the limits of CHOLMOD (Chen et al. 2008), which would give the same analysis, but permutes the
 * graph three times over.  All counts are in blocks. */

typedef struct abut_chol_symbolic {
    int32_t n;
    int32_t *perm;      /* [n] perm[k] = block row eliminated k-th: the order given, postordered, the longest child last */
    int32_t count;      /* supernodes, children before parents */
    int32_t *super;     /* [count + 1] first column of each */
    int32_t *rptr;      /* [count + 1] rows of s: row[rptr[s] .. rptr[s+1]), ascending, its own columns first */
    int32_t *row;
} abut_chol_symbolic;

/** Analyses the pattern of A in the order perm[n], a permutation.
 * Fails  ABUT_E_NOMEM, also where 2^31 rows of supernodes or more are needed; out is then empty */
ABUT_MUST_USE abut_status abut_chol_symbolic_make(abut_chol_symbolic *out, const abut_bsr *A, const int32_t *perm, abut_err *err);
void abut_chol_symbolic_clear(abut_chol_symbolic *s);

/* ---- their tree ---- */

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

/** Builds the tree from supernodes of the graph of blocks: super[count + 1] first columns, the rows
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

/* ---- numeric phases ----
 *
 * Numeric factorisation and solves on the supernodes: left-looking, parallel over independent subtrees and,
 * above them, over nodes whose children are done and rows of wide ones.  All sums have the same operands in the same order for
 * every thread count, so the factor has the same bits for every thread count.  The phases exist for factors of doubles and of
 * floats.
 *
 * Products are our own, 24 rows by 3 columns at a time (real.h): supernodes are mostly too small for BLAS, which also copies
 * what it multiplies; here a factor is stored as a product reads it. */

/* Lower triangle of the permuted matrix.  Column c has the blocks first[c] .. first[c+1], the diagonal one first.
 * Block k is in row row[k]; it is block source[k] / 2 of the matrix, transposed if source[k] is odd. */
typedef struct abut_chol_pattern {
    int32_t *first;
    int32_t *row;
    uint32_t *source;
} abut_chol_pattern;

enum { ABUT_PACKED_ROWS = 9 * ABUT_PANEL * ABUT_PANEL + 1 };

/* Scratch of one thread. */
typedef struct abut_chol_work {
    int32_t *place;     /* [n] where rows are in the supernode at work; other entries are stale */
    size_t *at;         /* [ABUT_TILE] where rows of the tile at work are in its panel */
    void *packed;       /* [ABUT_PACKED_ROWS] numbers of the factor: rows of a panel without what is between them */
} abut_chol_work;

/** Factors the matrix of values val (blocks, row major) into L[xptr[ns]].
 *
 * work     one per thread
 * pending  [ns] scratch
 * returns  -1, or the first scalar column whose pivot is not positive or not finite: the lowest of those that do not
 *          depend on another such; L is then unusable */
int32_t abut_chol_numeric(const abut_chol_tree *t, const abut_chol_pattern *A, const double *val, double *L,
                          const abut_chol_work *work, atomic_int *pending, int threads);
/** Factors as abut_chol_numeric, with each number of the matrix and of the factor rounded to a float. */
int32_t abut_chol_numeric_single(const abut_chol_tree *t, const abut_chol_pattern *A, const double *val, float *L,
                                 const abut_chol_work *work, atomic_int *pending, int threads);

/** x = (L L^T)^-1 x, x[3 n] in elimination order; z[3 ABUT_GROUP gptr[ns]] and pending[ns] are scratch.
 * skip  [ns] 1: not that supernode, which is the same for all of a tree; NULL: none is skipped */
void abut_chol_substitute(const abut_chol_tree *t, const double *L, const uint8_t *skip, double *x, double *z,
                          atomic_int *pending, int threads);
void abut_chol_substitute_single(const abut_chol_tree *t, const float *L, const uint8_t *skip, float *x, float *z,
                                 atomic_int *pending, int threads);


#endif
