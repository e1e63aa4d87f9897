/* A symmetric matrix of 3x3 blocks, summed from sets of element matrices (sparse/elements.h) in an order that no thread count
 * changes. */
#ifndef ABUT_SPARSE_BSR_H
#define ABUT_SPARSE_BSR_H

#include "graph/graph.h"
#include "sparse/elements.h"

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
 * sets    all but the values is read.  Of a set that is made while it is summed, or of rank one, the plan has more
 * Fails   ABUT_E_ARG as abut_elements_check; too many elements to number, more than ABUT_SETS_MAX sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bsr_pattern(abut_bsr *A, int32_t n, const abut_elements *sets, int nsets, abut_err *err);

/** Updates the pattern after a change of the sets from number `first` on.  Sets before it must have the rows of the last
 * call; their part of the plan is kept.  A change of contacts alone costs one such call.
 *
 * keep     0: exactly the pattern that abut_bsr_pattern makes.  1: blocks of the old pattern stay, if need be empty: a
 *          pattern into which the new sets fit does not change.  Rounding in a factorisation then depends on the past:
 *          a run that must restart with the same bytes begins each restart point with keep = 0.
 * changed  out: 1 if the pattern differs from the old one (values zero); 0 if it is the old one with its values, and
 *          its analysis stays valid
 * Fails    as abut_bsr_pattern; A is then as it was */
ABUT_MUST_USE abut_status abut_bsr_update(abut_bsr *A, const abut_elements *sets, int nsets, int first, int keep,
                                          int *changed, abut_err *err);

/** Values: block diagonal diag[n] (times identity; NULL: zero) plus the sum of the same sets, in set and element order.
 *
 * Sets that `make` writes, or of rank one, are packed a few hundred elements at a time and summed while they are in the
 * processor's cache: of hundreds of thousands of elements they take longer to write and read than to make.  Element blocks that
 * share a block of the matrix are summed by chunks of elements, then these: for every thread count the same bits, and those of
 * the stored set up to rounding.  Elements that lie together should be numbered so.  Of a set with a map H is summed on its
 * vertices, then each column of the matrix adds its part of W^T H W. */
void abut_bsr_assemble(abut_bsr *A, const double *diag, const abut_elements *sets, int nsets);
/** y = A x, both [3 n], not overlapping.  The same bits for every thread count. */
void abut_bsr_multiply(const abut_bsr *A, const double *x, double *y);
/** The graph of the block rows; good as long as the pattern. */
static inline abut_graph abut_bsr_graph(const abut_bsr *A)
{
    return (abut_graph){ A->n, A->ptr, A->row };
}
void abut_bsr_clear(abut_bsr *A);

/* ---- assembly plans of element sets: made by bsr_plan.c, read by bsr.c ---- */

/* Assembly plan of one element set: its distinct blocks by columns, and for each the element blocks to add. */
typedef struct abut_set_plan {
    size_t nb;          /* distinct blocks */
    uint32_t *col;      /* [n + 1] first block of each column */
    int32_t *row;       /* [nb] ascending in a column */
    uint32_t *slot;     /* [nb] block of the matrix */
    uint32_t *ptr;      /* [nb + 1] first item of each block */
    uint32_t *item;     /* ascending elements: ABUT_ITEM(...) */
    struct abut_chunks *chunks; /* NULL: the set is packed in memory */
    abut_bsr *vertices; /* H on the rows of the set's map, of which ptr and item are then; NULL: no map */
} abut_set_plan;

struct abut_bsr_plan {
    int nsets;
    abut_set_plan *set;
    /* the strict lower triangle by rows, for products */
    size_t *tptr;       /* [n + 1] */
    uint32_t *tslot;    /* block of the matrix */
    int32_t *tcol;      /* its column, ascending in a row */
};

/* Code of an element block: element e, its block number of `blocks`, and whether it is transposed. */
#define ABUT_ITEM(e, block, blocks, transposed) (((uint32_t)(e) * (blocks) + (block)) << 1 | (uint32_t)(transposed))

/** Makes the plan of set number s for a matrix of n rows, without p->slot.  Fails  as abut_bsr_pattern; p is then clear */
ABUT_MUST_USE abut_status abut_set_plan_make(abut_set_plan *p, int32_t n, const abut_elements *set, int s, abut_err *err);
void abut_set_plan_clear(abut_set_plan *p);

/* ---- sets that are packed while they are summed ---- */

/** Makes and sums the matrices of all elements.  Each chunk adds to the blocks that are its own (add 0: overwrites them), and to
 * sums of s->chunks for the others. */
void abut_chunks_add(const abut_bsr *A, const abut_set_plan *s, const abut_elements *set, int add);
/** Adds these sums to the other blocks of column c; add 0: overwrites them, with zero if the set has no such block. */
void abut_chunks_finish(const abut_bsr *A, const abut_set_plan *s, int add, int32_t c);

/* ---- sets with a map that is no selection ---- */

/** Adds column c of W^T H W. */
void abut_map_add(const abut_bsr *A, const abut_set_plan *s, const abut_row_map *W, int32_t c);

/* ---- sets that are packed in memory ---- */

/* Items lie scattered over the element blocks: those that come next are fetched early. */
#define ABUT_ITEMS_AHEAD 12

/* S = sum[0] + sum[1]^T, sums of the plain and of the transposed blocks.  Separate sums avoid a branch for each block, which
 * processors cannot predict, and transpose once. */
static inline void abut_bsr_join(double sum[2][9], double S[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[3 * i + j] = sum[0][3 * i + j] + sum[1][3 * j + i];
}

/** B += the blocks of items [lo, hi); last: that of the whole list. */
static inline void abut_bsr_add_items(double *restrict B, const double *restrict val, const uint32_t *restrict item, uint32_t lo,
                                      uint32_t hi, uint32_t last)
{
    double sum[2][9] = { { 0 }, { 0 } }, S[9];
    for (uint32_t k = lo; k < hi; k++) {
        const double *H = val + 9 * (size_t)(item[k] >> 1);
        double *to = sum[item[k] & 1];
        const double *next = val + 9 * (size_t)(item[k + ABUT_ITEMS_AHEAD < last ? k + ABUT_ITEMS_AHEAD : last] >> 1);
        __builtin_prefetch(next);
        __builtin_prefetch(next + 8);
        for (int i = 0; i < 9; i++) to[i] += H[i];
    }
    abut_bsr_join(sum, S);
    for (int i = 0; i < 9; i++) B[i] += S[i];
}

/** Adds the blocks of the set with plan p to column c of A. */
static inline void abut_bsr_add_set(const abut_bsr *A, const abut_set_plan *p, const double *val, int32_t c)
{
    for (uint32_t b = p->col[c]; b < p->col[c + 1]; b++)
        abut_bsr_add_items(A->val + 9 * (size_t)p->slot[b], val, p->item, p->ptr[b], p->ptr[b + 1], p->ptr[p->nb] - 1);
}

#endif
