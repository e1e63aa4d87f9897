#include "sparse/row_map.h"

#include "base/par.h"

#include <stdlib.h>

static abut_status check(const abut_row_map *W, abut_err *err)
{
    if (W->first && W->first[0] != 0)
        return abut_fail(err, ABUT_E_ARG, "row map: the first row begins at %d, want 0", W->first[0]);
    for (int32_t i = 0; W->first && i < W->rows; i++)
        if (W->first[i + 1] < W->first[i])
            return abut_fail(err, ABUT_E_ARG, "row map: row %d ends at %d, before its begin %d", i, W->first[i + 1], W->first[i]);
    const int32_t n = W->first ? W->first[W->rows] : W->rows;
    for (int32_t k = 0; k < n; k++)
        if (W->col[k] < -1 || W->col[k] >= W->cols)
            return abut_fail(err, ABUT_E_ARG, "row map: entry %d: column %d is not in -1 .. %d", k, W->col[k], W->cols - 1);
    return ABUT_OK;
}

static void back_clear(abut_row_map *W)
{
    free(W->back_first);
    free(W->back_row);
    free(W->back_weight);
    W->back_first = W->back_row = NULL;
    W->back_weight = NULL;
}

static void back_fill(abut_row_map *W)
{
    int32_t *at = W->back_first;
    for (int32_t k = 0; k < W->first[W->rows]; k++)
        if (W->col[k] >= 0) at[W->col[k] + 1]++;
    for (int32_t c = 0; c < W->cols; c++) at[c + 1] += at[c];
    for (int32_t i = 0; i < W->rows; i++)
        for (int32_t k = W->first[i]; k < W->first[i + 1]; k++) {
            if (W->col[k] < 0) continue;
            const int32_t to = at[W->col[k]]++;
            W->back_row[to] = i;
            W->back_weight[to] = W->weight[k];
        }
    for (int32_t c = W->cols; c > 0; c--) at[c] = at[c - 1];
    at[0] = 0;
}

abut_status abut_row_map_transpose(abut_row_map *W, abut_err *err)
{
    const abut_status rc = check(W, err);
    if (rc) return rc;
    back_clear(W);
    if (!W->first) return ABUT_OK;
    const size_t n = (size_t)W->first[W->rows];
    W->back_first = calloc((size_t)W->cols + 2, sizeof *W->back_first);
    W->back_row = malloc((n + 1) * sizeof *W->back_row);
    W->back_weight = malloc((n + 1) * sizeof *W->back_weight);
    if (!W->back_first || !W->back_row || !W->back_weight) {
        back_clear(W);
        return abut_fail(err, ABUT_E_NOMEM, "row map: %zu entries", n);
    }
    back_fill(W);
    return ABUT_OK;
}

void abut_row_map_apply(const abut_row_map *W, const double *x, double *y)
{
    #pragma omp parallel for schedule(static) if ((size_t)W->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < W->rows; i++) {
        double s[3] = { 0, 0, 0 };
        for (int32_t k = W->first ? W->first[i] : i, end = W->first ? W->first[i + 1] : i + 1; k < end; k++) {
            const int32_t c = W->col[k];
            for (int d = 0; c >= 0 && d < 3; d++) s[d] += W->first ? W->weight[k] * x[3 * c + d] : x[3 * c + d];
        }
        for (int d = 0; d < 3; d++) y[3 * i + d] = s[d];
    }
}

void abut_row_map_apply_transposed(const abut_row_map *W, const double *y, double *x)
{
    for (int32_t i = 0; !W->first && i < W->rows; i++)
        for (int d = 0; W->col[i] >= 0 && d < 3; d++) x[3 * W->col[i] + d] += y[3 * i + d];
    if (!W->first) return;
    #pragma omp parallel for schedule(static) if ((size_t)W->cols >= ABUT_PAR_MIN)
    for (int32_t c = 0; c < W->cols; c++)
        for (int32_t k = W->back_first[c]; k < W->back_first[c + 1]; k++)
            for (int d = 0; d < 3; d++) x[3 * c + d] += W->back_weight[k] * y[3 * W->back_row[k] + d];
}

void abut_row_map_clear(abut_row_map *W)
{
    free(W->first);
    free(W->col);
    free(W->weight);
    back_clear(W);
    *W = (abut_row_map){ 0 };
}
