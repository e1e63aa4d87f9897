/* Assembly plans of element sets: made by bsr_plan.c, read by bsr.c. */
#ifndef ABUT_SPARSE_BSR_PLAN_H
#define ABUT_SPARSE_BSR_PLAN_H

#include "sparse/bsr.h"

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
