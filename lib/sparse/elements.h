/* Element matrices: what a sparse matrix is assembled from, and what a product without a matrix is summed from.
 *
 * The elements of a set have the same number of corners; a corner is a block row of 3 unknowns.  An element matrix is packed: the
 * blocks (a, b), a <= b, of d2E/dx_a dx_b, 3x3 row major, in the order (0,0) (0,1) .. (1,1) (1,2) ..; or it is a sum of `rank`
 * terms s v v^T (s, then v[3 corners] of each), as a Gauss-Newton Hessian of a contact is.  Blocks of an unused corner are not
 * read; two corners may be in the same row. */
#ifndef ABUT_SPARSE_ELEMENTS_H
#define ABUT_SPARSE_ELEMENTS_H

#include "base/err.h"
#include "sparse/packed_inline.h"
#include "sparse/row_map.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
