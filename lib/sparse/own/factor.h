/* Numeric factorisation and solves on the supernodes of sparse/own/tree.h: left-looking, parallel over independent subtrees and,
 * above them, over nodes whose children are done and rows of wide ones.  All sums have the same operands in the same order for
 * every thread count, so the factor has the same bits for every thread count.  The phases exist for factors of doubles and of
 * floats.
 *
 * Products are our own, 24 rows by 3 columns at a time (real.h): supernodes are mostly too small for BLAS, which also copies
 * what it multiplies; here a factor is stored as a product reads it. */
#ifndef ABUT_SPARSE_OWN_FACTOR_H
#define ABUT_SPARSE_OWN_FACTOR_H

#include "sparse/own/tree.h"

#include <stdatomic.h>

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

/** Y = L^-1 Y for some of ABUT_CHOL_FEW columns Y[.][3 n] in elimination order, mostly zeros; by the calling thread alone.
 *
 * reached  [ns] bit j: column j is not zero in the supernode; out: in it or in one below
 * W        [ABUT_CHOL_FEW * 3 * ABUT_GROUP * (most groups of a supernode)] scratch */
void abut_chol_forward(const abut_chol_tree *t, const double *L, double *Y, uint64_t *reached, double *W);
void abut_chol_forward_single(const abut_chol_tree *t, const float *L, double *Y, uint64_t *reached, float *W);

#endif
