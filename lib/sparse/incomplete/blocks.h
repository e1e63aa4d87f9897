/* The lower triangle of an operator's diagonal blocks on chunks of consecutive rows, in its own pattern, for incomplete factors.
 * Summed blocks are read in place; blocks of elements, which come and go, are listed by columns. */
#ifndef ABUT_SPARSE_INCOMPLETE_BLOCKS_H
#define ABUT_SPARSE_INCOMPLETE_BLOCKS_H

#include "sparse/operator.h"

/* Blocks (row, column), row >= column, of elements; in a column in the order of the elements.  Zero-filled is empty. */
typedef struct abut_loose_blocks {
    int32_t n, chunk;       /* rows; rows of a chunk */
    const abut_bsr *S;      /* summed blocks, borrowed; NULL: none */
    size_t *first;          /* [n + 1] by columns */
    int32_t *row;           /* [first[n]] */
    float *val;             /* [9 first[n]] row major */
} abut_loose_blocks;

/** Lists the blocks of A within chunks; l->S lives as long as A.
 * Fails  ABUT_E_ARG neither a matrix nor its elements are known; ABUT_E_NOMEM.  *l is then empty */
ABUT_MUST_USE abut_status abut_loose_blocks_make(abut_loose_blocks *l, const abut_operator *A, int32_t chunk, abut_err *err);
void abut_loose_blocks_clear(abut_loose_blocks *l);

/** Returns an upper bound of the number of rows of column c. */
int32_t abut_loose_column_most(const abut_loose_blocks *l, int32_t c);
/** The rows of column c within its chunk, ascending, c first, into row[abut_loose_column_most].  Returns how many. */
int32_t abut_loose_column_rows(const abut_loose_blocks *l, int32_t c, int32_t *row);
/** The blocks of column c into val[9 n], for the n rows that abut_loose_column_rows gives. */
void abut_loose_column_sum(const abut_loose_blocks *l, int32_t c, const int32_t *row, int32_t n, double *val);

#endif
