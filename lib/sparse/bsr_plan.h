/* How elements add to a block matrix: what bsr.c makes and bsr_made.c reads; for those two. */
#ifndef ABUT_SPARSE_BSR_PLAN_H
#define ABUT_SPARSE_BSR_PLAN_H

#include "sparse/bsr.h"

/* What one element set adds to the matrix: its distinct blocks by columns, and for each the element blocks to add. */
typedef struct abut_set_plan {
    size_t nb;          /* distinct blocks */
    uint32_t *col;      /* [n + 1] first block of each column */
    int32_t *row;       /* [nb] ascending in a column */
    uint32_t *slot;     /* [nb] block of the matrix */
    uint32_t *ptr;      /* [nb + 1] first item of each block */
    uint32_t *item;     /* ascending elements: ABUT_ITEM(...) */
    struct abut_pieces *pieces; /* bsr_made.c; NULL until it is asked for */
} abut_set_plan;

struct abut_bsr_plan {
    int nsets;
    abut_set_plan *set;
    /* the strict lower triangle by rows, for products */
    size_t *tptr;       /* [n + 1] */
    uint32_t *tslot;    /* block of the matrix */
    int32_t *tcol;      /* its column, ascending in a row */
};

enum { ABUT_PAIRS = 10 /* blocks of a packed element */ };

/* One element block: element, corner pair, and whether it goes in transposed. */
#define ABUT_ITEM(e, pair, turned) (((uint32_t)(e) * ABUT_PAIRS + (pair)) << 1 | (uint32_t)(turned))

void abut_pieces_free(struct abut_pieces **p);

/* Items lie scattered over the element blocks: those that come next are fetched early. */
#define ABUT_ITEMS_AHEAD 12

/* S = sum[0] + sum[1]^T, the blocks that go in as they are and those that go in transposed: which they are no processor can
 * foresee, so they are summed apart and turned once. */
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

/** What set s adds to column c. */
static inline void abut_bsr_add_set(const abut_bsr *A, const abut_set_plan *p, const double *val, int32_t c)
{
    for (uint32_t b = p->col[c]; b < p->col[c + 1]; b++)
        abut_bsr_add_items(A->val + 9 * (size_t)p->slot[b], val, p->item, p->ptr[b], p->ptr[b + 1], p->ptr[p->nb] - 1);
}

#endif
