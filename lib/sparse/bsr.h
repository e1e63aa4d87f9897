/* A symmetric matrix of 3x3 blocks, assembled from small element matrices in an order that no thread count changes.
 *
 * Element matrices are packed: the ten 3x3 blocks of corner pairs (0,0) (0,1) (0,2) (0,3) (1,1) (1,2) (1,3) (2,2) (2,3)
 * (3,3), row major, 90 numbers; block (a,b) is d2E/dx_a dx_b.  Blocks of a corner that has no row are not read. */
#ifndef ABUT_SPARSE_BSR_H
#define ABUT_SPARSE_BSR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ABUT_PACKED = 90 };

/* n elements of four corners: rows of the matrix, -1 for an unused corner or an eliminated row.  Two corners may share
 * a row. */
typedef struct abut_elems {
    size_t n;
    const int32_t *row;     /* [n * 4] */
    const double *val;      /* [n * ABUT_PACKED]; may be NULL while only the pattern is wanted */
} abut_elems;

/* Block lower triangle (row >= column) by block columns, rows ascending, diagonal first.  Zero-filled is empty. */
typedef struct abut_bsr {
    int32_t n;              /* block rows */
    size_t nnz;             /* stored blocks */
    size_t *ptr;            /* [n + 1] */
    int32_t *row;           /* [nnz] */
    double *val;            /* [nnz * 9] row major */
    struct abut_bsr_plan *plan;   /* for each block the element blocks that add to it: 4 bytes each */
} abut_bsr;

/** Pattern (every diagonal block included) and assembly plan of nsets element sets; values zero.
 *
 * A       empty or built before (then cleared first); cleared on failure
 * sets    row is read, val is not
 * Fails   ABUT_E_ARG a row outside -1 .. n-1, too many elements to number, more than 8 sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bsr_pattern(abut_bsr *A, int32_t n, const abut_elems *sets, int nsets, abut_err *err);

/** The same after a change of the sets from number `first` on: those before it must have the rows of the last call, and
 * their part of the plan is kept.  This is what contact costs when it changes and the elements stay.
 *
 * keep     0: exactly the pattern abut_bsr_pattern would make.  1: blocks that the old pattern has stay, empty if need
 *          be, so a pattern into which the new sets fit does not change.  Then rounding in a factorisation depends on
 *          the past: a run that must restart with the same bytes begins each restart point with keep = 0.
 * changed  out: 1 when the pattern is another one now (values zero); 0 when it is the old one, value for value, and
 *          whatever was analysed for it stays good
 * Fails    as abut_bsr_pattern; A is then as it was */
ABUT_MUST_USE abut_status abut_bsr_update(abut_bsr *A, const abut_elems *sets, int nsets, int first, int keep,
                                          int *changed, abut_err *err);

/** Values: block diagonal diag[n] (times identity; NULL: zero) plus the sum of the same sets, in set and element order. */
void abut_bsr_assemble(abut_bsr *A, const double *diag, const abut_elems *sets, int nsets);
/* Writes val[ABUT_PACKED * (hi - lo)], the matrices of elements [lo, hi) of a set; several threads call it at once. */
typedef struct abut_maker {
    void (*make)(const void *of, size_t lo, size_t hi, double *val);
    const void *of;
} abut_maker;

/** The same, but the values of set 0 (its val is not read) are made a few hundred elements at a time and summed while they are
 * in the processor's cache: of hundreds of thousands of elements they take longer to write and read than to make.  Element
 * blocks that share a block of the matrix are summed by pieces, then these: for every thread count the same bits, and those of
 * abut_bsr_assemble up to rounding.  Elements that lie together should be numbered so.
 * Fails    ABUT_E_NOMEM, and A is as it was */
ABUT_MUST_USE abut_status abut_bsr_assemble_made(abut_bsr *A, const double *diag, const abut_elems *sets, int nsets,
                                                 const abut_maker *maker, abut_err *err);
/** y = A x, both [3 n], not overlapping.  The same bits for every thread count. */
void abut_bsr_multiply(const abut_bsr *A, const double *x, double *y);
void abut_bsr_clear(abut_bsr *A);

#endif
