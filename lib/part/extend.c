#include "part/extend.h"

#include <stdlib.h>

static void *new_array(size_t n, size_t size)
{
    return malloc((n + 1) * size);
}

abut_status abut_part_pattern(const abut_bsr *A, const int32_t *number, abut_bsr *part, abut_err *err)
{
    size_t rows = 0, nnz = 0;
    for (int32_t c = 0; c < A->n; c++) {
        if (number[c] < 0) continue;
        rows++;
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++) nnz += number[A->row[k]] >= 0;
    }
    *part = (abut_bsr){ .n = (int32_t)rows, .nnz = nnz, .ptr = new_array(rows, sizeof *part->ptr),
                        .row = new_array(nnz, sizeof *part->row) };
    if (!part->ptr || !part->row) {
        abut_bsr_clear(part);
        return abut_fail(err, ABUT_E_NOMEM, "pattern of %zu rows", rows);
    }
    size_t at = 0;
    for (int32_t c = 0; c < A->n; c++) {
        if (number[c] < 0) continue;
        part->ptr[number[c]] = at;
        for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++)
            if (number[A->row[k]] >= 0) part->row[at++] = number[A->row[k]];
    }
    part->ptr[rows] = at;
    return ABUT_OK;
}

/* Layers of rows without a number, and the place of each in the order of the others. */
typedef struct layers {
    int32_t *layer;     /* 0: has a number; -1: not reached */
    int32_t *place;
} layers;

/* Row b next to a, which is of the layer before; 1 when it is reached now. */
static int reach(const layers *v, int32_t a, int32_t b, int32_t layer)
{
    if (v->layer[a] != layer - 1 || (v->layer[b] >= 0 && v->layer[b] != layer)) return 0;
    const int is_new = v->layer[b] < 0;
    if (is_new || v->place[a] > v->place[b]) v->place[b] = v->place[a];
    v->layer[b] = layer;
    return is_new;
}

/* returns the number of layers; rows that are farther away than all of them stay unreached */
static int32_t find_layers(const abut_bsr *A, const layers *v)
{
    int32_t layer = 0, found = 1;
    while (found && ++layer <= ABUT_EXTEND_LAYERS) {
        found = 0;
        for (int32_t c = 0; c < A->n; c++)
            for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++)
                found += reach(v, c, A->row[k], layer) + reach(v, A->row[k], c, layer);
    }
    return layer;
}

/* perm from lists of the rows of each place, the last layer first */
static void join(int32_t n, const layers *v, int32_t nlayers, int32_t *head, int32_t *next, int32_t *perm)
{
    int32_t at = 0;
    for (int32_t k = 0; k < n; k++) head[k] = -1;
    for (int32_t layer = 0; layer < nlayers; layer++)
        for (int32_t i = n - 1; i >= 0; i--) {
            if (v->layer[i] != layer) continue;
            next[i] = head[v->place[i]];
            head[v->place[i]] = i;
        }
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = head[k]; i >= 0; i = next[i]) perm[at++] = i;
}

abut_status abut_part_extend(const abut_bsr *A, const int32_t *number, const int32_t *order, int32_t *perm, int *all,
                             abut_err *err)
{
    const size_t n = (size_t)A->n;
    int32_t *layer = new_array(n, sizeof *layer), *place = new_array(n, sizeof *place), *head = new_array(n, sizeof *head);
    int32_t *next = new_array(n, sizeof *next), rows = 0;
    const int ok = layer && place && head && next;
    if (ok) {
        for (int32_t i = 0; i < A->n; i++) rows += number[i] >= 0;
        for (int32_t k = 0; k < rows; k++) head[order[k]] = k;
        for (int32_t i = 0; i < A->n; i++) {
            layer[i] = number[i] < 0 ? -1 : 0;
            place[i] = number[i] < 0 ? 0 : head[number[i]];
        }
        const layers v = { layer, place };
        const int32_t nlayers = find_layers(A, &v);
        *all = 1;
        for (int32_t i = 0; i < A->n; i++) *all &= layer[i] >= 0;
        if (*all) join(A->n, &v, nlayers, head, next, perm);
    }
    free(layer);
    free(place);
    free(head);
    free(next);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %d rows", A->n);
}
