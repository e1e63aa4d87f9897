/* Element matrices: what a sparse matrix is assembled from, and what a product without a matrix is summed from.
 *
 * The elements of a set have the same number of corners; a corner is a block row of 3 unknowns.  An element matrix is packed: the
 * blocks (a, b), a <= b, of d2E/dx_a dx_b, 3x3 row major, in the order (0,0) (0,1) .. (1,1) (1,2) ..; or it is a sum of `rank`
 * terms s v v^T (s, then v[3 corners] of each), as a Gauss-Newton Hessian of a contact is.  Blocks of an unused corner are not
 * read; two corners may be in the same row. */
#ifndef ABUT_SPARSE_ELEMENTS_H
#define ABUT_SPARSE_ELEMENTS_H

#include "base/err.h"
#include "base/par.h"
#include "sparse/packed_inline.h"

#include <stddef.h>
#include <stdint.h>

/* ---- maps of rows ----
 *
 * A sparse linear map of block rows, the same for x, y and z: (W x)_i = sum over k of weight[k] x[col[k]], k in first[i] ..
 * first[i+1].  A selection (one entry a row, weight 1) has neither first nor weight: row i is col[i]. */

/* Zero-filled is empty.  Owns its arrays, or borrows them all; a map that borrows must not be cleared. */
typedef struct abut_row_map {
    int32_t rows, cols;
    int32_t *first;         /* [rows + 1], or NULL: a selection */
    int32_t *col;           /* -1: 0 */
    double *weight;
    int32_t *back_first, *back_row;     /* the transpose, rows ascending: [cols + 1], [back_first[cols]]; NULL in a selection */
    double *back_weight;
} abut_row_map;

/** Checks first and col, and makes the transpose anew; a selection has none.
 * Fails  ABUT_E_ARG first descends or begins elsewhere than at 0, a column outside -1 .. cols-1; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_row_map_transpose(abut_row_map *W, abut_err *err);
/** y = W x: x[3 cols], y[3 rows]. */
void abut_row_map_apply(const abut_row_map *W, const double *x, double *y);
/** x += W^T y.  Rows that select the same column are added in ascending order, so no thread count changes a bit. */
void abut_row_map_apply_transposed(const abut_row_map *W, const double *y, double *x);
void abut_row_map_clear(abut_row_map *W);

/* ---- sets of elements ---- */

enum { ABUT_CORNERS_MAX = 35 /* a tet of order 4 */, ABUT_SETS_MAX = 16 };

/* Borrows its arrays. */
typedef struct abut_elements {
    const char *name;       /* "tets", "contacts": in messages; NULL: none */
    int corners;            /* 1 .. ABUT_CORNERS_MAX */
    int rank;               /* 0: packed; r: r terms of rank one, at most 3 corners */
    int lasting;            /* rows stay for the whole time step; such sets come first in a matrix */
    size_t n;
    const int32_t *row;     /* [n * corners] block rows, -1: unused or eliminated */
    const double *val;      /* [n * abut_element_size]; NULL: `make` writes them while they are summed, or a pattern is all that
                             * is wanted */
    /* Elements [lo, hi) into val[(hi - lo) * abut_element_size]; threads call it side by side.  Of packed ones lo is a multiple
     * of 4. */
    void (*make)(void *ctx, size_t lo, size_t hi, double *val);
    void *ctx;
    const abut_row_map *map;    /* NULL: rows are rows of the matrix.  Else they are vertices W x, the columns of W are rows of
                                 * the matrix, and that gets W^T H W */
} abut_elements;

/** Numbers that one element matrix of the set takes. */
static inline size_t abut_element_size(const abut_elements *e)
{
    return e->rank ? (size_t)e->rank * (3 * (size_t)e->corners + 1) : abut_packed_size(e->corners);
}

/** Fails  ABUT_E_ARG, with the set's number s: corners, rank, or a row outside -1 .. n-1 (of a set with a map: of its rows; a map
 *         that has other columns than n, or no transpose) */
ABUT_MUST_USE abut_status abut_elements_check(const abut_elements *e, int s, int32_t n, abut_err *err);

/* Elements whose packed matrices, and what they are made from, have room in ABUT_ELEMENTS_ROOM numbers. */
enum { ABUT_ELEMENTS_ROOM = 23040 };
size_t abut_elements_at_once(const abut_elements *e);
/** Returns the packed matrices of elements [lo, hi), at most abut_elements_at_once, for every kind of set: in
 * room[ABUT_ELEMENTS_ROOM], or in e->val. */
const double *abut_elements_packed(const abut_elements *e, size_t lo, size_t hi, double *room);

/* ---- the elements of a rank ----
 *
 * The elements of sets that touch the rows of one rank (base/par.h), of which its part of a matrix is the sum.
 *
 * Values are read in place.  Rows keep their numbers.  Rows of the rank are complete, rows that share an element with them are
 * partial, and all others are empty. */

/* Arrays that the sets of a rank borrow.  Zero-filled is empty. */
typedef struct abut_owned_elements {
    abut_elements all[ABUT_SETS_MAX];   /* the sets that were given; sets of the rank read values from them */
    struct abut_owned_set {
        const abut_elements *of;
        int32_t *group;     /* [n] groups of four elements, ascending, of which one touches: packed ones are made by fours */
        int32_t *row;
        size_t n, cap;
    } set[ABUT_SETS_MAX];
} abut_owned_elements;

/** Replaces each of sets[nsets], of a matrix of n rows, by its elements that touch the rows of r.  The new sets are valid until
 * the next call, as long as the arrays of the given ones live.
 * Fails  ABUT_E_ARG a set has a map; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_owned_elements_take(abut_owned_elements *o, const abut_ranks *r, int32_t n, abut_elements *sets,
                                                   int nsets, abut_err *err);
void abut_owned_elements_clear(abut_owned_elements *o);

#endif
