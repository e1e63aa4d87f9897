/* A sparse linear map of block rows, the same for x, y and z: (W x)_i = sum over k of weight[k] x[col[k]], k in first[i] ..
 * first[i+1].  A selection (one entry a row, weight 1) has neither first nor weight: row i is col[i]. */
#ifndef ABUT_SPARSE_ROW_MAP_H
#define ABUT_SPARSE_ROW_MAP_H

#include "base/err.h"

#include <stdint.h>

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

#endif
