#include "sparse/incomplete/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void abut_loose_blocks_clear(abut_loose_blocks *l)
{
    free(l->first);
    free(l->row);
    free(l->val);
    *l = (abut_loose_blocks){ 0 };
}

/* Passes over the elements: one that counts the blocks of each column, one that writes them. */
typedef struct listing {
    abut_loose_blocks *l;
    int writes;
} listing;

/* Block H of rows r and s, or of s and r its transpose; alone: a block of its own transpose, r = s. */
static void list_block(void *ctx, int32_t r, int32_t s, const double *H, double w, int alone)
{
    const listing *t = ctx;
    abut_loose_blocks *l = t->l;
    const int32_t row = r > s ? r : s, col = r > s ? s : r;
    if (r / l->chunk != s / l->chunk) return;
    const size_t at = l->first[col + !t->writes]++;
    if (!t->writes) return;
    float *B = l->val + 9 * at;
    l->row[at] = row;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double h = r < s ? H[3 * j + i] : H[3 * i + j];
            B[3 * i + j] = (float)(w * (r == s && !alone ? h + H[3 * j + i] : h));
        }
}

static void list_elements(void *ctx, const abut_operator_elements *e)
{
    abut_operator_each_block(e, ((const listing *)ctx)->writes, list_block, ctx);
}

static void list_diagonal(void *ctx, const double *diag)
{
    const listing *t = ctx;
    for (int32_t i = 0; i < t->l->n; i++) {
        const double H[9] = { diag[i], 0, 0, 0, diag[i], 0, 0, 0, diag[i] };
        list_block(ctx, i, i, H, 1, 1);
    }
}

static void note_matrix(void *ctx, const abut_bsr *S) { ((const listing *)ctx)->l->S = S; }

/* The diagonal is handed over with the values alone: it is counted as if it were there. */
static abut_status count(listing *t, const abut_operator *A, abut_err *err)
{
    const abut_operator_reader to = { list_diagonal, list_elements, t, note_matrix };
    const abut_status rc = A->read(A->self, 0, &to, err);
    for (int32_t i = 0; i < t->l->n && !rc && !t->l->S; i++) t->l->first[i + 1]++;
    for (int32_t i = 0; i < t->l->n && !rc; i++) t->l->first[i + 1] += t->l->first[i];
    return rc;
}

static abut_status list(listing *t, const abut_operator *A, abut_err *err)
{
    abut_loose_blocks *l = t->l;
    const size_t all = l->first[l->n];
    const abut_operator_reader to = { list_diagonal, list_elements, t, note_matrix };
    l->row = malloc((all + 1) * sizeof *l->row);
    l->val = malloc((9 * all + 1) * sizeof *l->val);
    if (!l->row || !l->val) return abut_fail(err, ABUT_E_NOMEM, "incomplete factor: %zu blocks of elements", all);
    for (size_t i = 0; i < all; i++) l->row[i] = -1;
    t->writes = 1;
    const abut_status rc = A->read(A->self, 1, &to, err);
    for (int32_t i = l->n; i > 0; i--) l->first[i] = l->first[i - 1];
    l->first[0] = 0;
    return rc;
}

abut_status abut_loose_blocks_make(abut_loose_blocks *l, const abut_operator *A, int32_t chunk, abut_err *err)
{
    assert(chunk > 0);
    *l = (abut_loose_blocks){ .n = abut_operator_rows(A), .chunk = chunk, .S = A->matrix };
    if (!A->matrix && !A->read)
        return abut_fail(err, ABUT_E_ARG, "incomplete factor: an operator without a matrix and without elements");
    l->first = calloc((size_t)l->n + 2, sizeof *l->first);
    if (!l->first) return abut_fail(err, ABUT_E_NOMEM, "incomplete factor: %d rows", l->n);
    listing t = { l, 0 };
    abut_status rc = A->matrix ? ABUT_OK : count(&t, A, err);
    if (!rc && !A->matrix) rc = list(&t, A, err);
    if (rc) abut_loose_blocks_clear(l);
    return rc;
}

/* ---- a column ---- */

/* n, with r among the rows, ascending. */
static int32_t insert(int32_t *row, int32_t n, int32_t r)
{
    int32_t at = n;
    while (at > 0 && row[at - 1] > r) at--;
    if (at > 0 && row[at - 1] == r) return n;
    memmove(row + at + 1, row + at, (size_t)(n - at) * sizeof *row);
    row[at] = r;
    return n + 1;
}

static int32_t last_row(const abut_loose_blocks *l, int32_t c)
{
    const int64_t past = ((int64_t)c / l->chunk + 1) * l->chunk;
    return (int32_t)(past < l->n ? past : l->n);
}

int32_t abut_loose_column_most(const abut_loose_blocks *l, int32_t c)
{
    const size_t summed = l->S ? l->S->ptr[c + 1] - l->S->ptr[c] : 0;
    return (int32_t)(1 + summed + l->first[c + 1] - l->first[c]);
}

int32_t abut_loose_column_rows(const abut_loose_blocks *l, int32_t c, int32_t *row)
{
    const int32_t past = last_row(l, c);
    int32_t n = 1;
    row[0] = c;
    for (size_t b = l->S ? l->S->ptr[c] + 1 : 0; l->S && b < l->S->ptr[c + 1] && l->S->row[b] < past; b++)
        row[n++] = l->S->row[b];
    for (size_t k = l->first[c]; k < l->first[c + 1]; k++)
        if (l->row[k] >= 0) n = insert(row, n, l->row[k]);
    return n;
}

void abut_loose_column_sum(const abut_loose_blocks *l, int32_t c, const int32_t *row, int32_t n, double *val)
{
    int32_t at = 0;
    memset(val, 0, 9 * (size_t)n * sizeof *val);
    for (size_t b = l->S ? l->S->ptr[c] : 0; l->S && b < l->S->ptr[c + 1] && at < n; b++) {
        while (at < n && row[at] < l->S->row[b]) at++;
        if (at < n && row[at] == l->S->row[b]) memcpy(val + 9 * (size_t)at, l->S->val + 9 * b, 9 * sizeof *val);
    }
    for (size_t k = l->first[c]; k < l->first[c + 1]; k++) {
        for (at = 0; at < n && row[at] < l->row[k]; at++) continue;
        for (int i = 0; l->row[k] >= 0 && i < 9; i++) val[9 * at + i] += l->val[9 * k + (size_t)i];
    }
}
