#include "sparse/incomplete/parts.h"

#include <assert.h>
#include <stdlib.h>

void abut_row_parts_clear(abut_row_parts *p)
{
    free(p->first);
    free(p->row);
    *p = (abut_row_parts){ 0 };
}

/* Sets of rows; the lowest row of a set is its root. */
typedef struct joining {
    int32_t n, rows;
    int32_t *root;
    int has_matrix;
} joining;

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(joining *j, int32_t r, int32_t s)
{
    if (r / j->rows != s / j->rows) return;
    const int32_t p = root_of(j->root, r), q = root_of(j->root, s);
    if (p < q) j->root[q] = p;
    else j->root[p] = q;
}

static void join_blocks(void *ctx, const abut_bsr *S)
{
    joining *j = ctx;
    j->has_matrix = 1;
    for (int32_t c = 0; c < S->n; c++)
        for (size_t b = S->ptr[c] + 1; b < S->ptr[c + 1]; b++) join(j, c, S->row[b]);
}

static void join_elements(void *ctx, const abut_operator_elements *e)
{
    joining *j = ctx;
    const size_t corners = (size_t)e->corners;
    for (size_t k = 0; k < e->n && !j->has_matrix && !e->map; k++)
        for (size_t a = 1; a < corners; a++) {
            const int32_t r = e->row[corners * k], s = e->row[corners * k + a];
            if (r >= 0 && s >= 0) join(j, r, s);
        }
}

/* part[n] of each row, -1: alone.  Returns how many there are. */
static int32_t number_parts(joining *j, int32_t *size, int32_t *part)
{
    int32_t k = 0;
    for (int32_t i = 0; i < j->n; i++) size[i] = 0;
    for (int32_t i = 0; i < j->n; i++) size[root_of(j->root, i)]++;
    for (int32_t i = 0; i < j->n; i++) {
        const int32_t r = root_of(j->root, i);
        part[i] = size[r] < 2 ? -1 : r == i ? k++ : part[r];
    }
    return k;
}

static abut_status list_rows(abut_row_parts *p, const int32_t *part, int32_t n, abut_err *err)
{
    p->first = calloc((size_t)p->k + 1, sizeof *p->first);
    p->row = malloc(((size_t)n + 1) * sizeof *p->row);
    if (!p->first || !p->row) return abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
    for (int32_t i = 0; i < n; i++)
        if (part[i] >= 0) p->first[part[i] + 1]++;
    for (int32_t k = 0; k < p->k; k++) p->first[k + 1] += p->first[k];
    for (int32_t i = 0; i < n; i++)
        if (part[i] >= 0) p->row[p->first[part[i]]++] = i;
    for (int32_t k = p->k; k > 0; k--) p->first[k] = p->first[k - 1];
    p->first[0] = 0;
    return ABUT_OK;
}

abut_status abut_row_parts_make(abut_row_parts *p, const abut_operator *A, int32_t rows, abut_err *err)
{
    assert(p && A && rows > 0);
    abut_row_parts_clear(p);
    const int32_t n = abut_operator_rows(A);
    const size_t bytes = ((size_t)n + 1) * sizeof(int32_t);
    if (!A->matrix && !A->read) return abut_fail(err, ABUT_E_ARG, "parts: an operator without a matrix and without elements");
    joining j = { n, rows, malloc(bytes), 0 };
    int32_t *size = malloc(bytes), *part = malloc(bytes);
    abut_status rc = j.root && size && part ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "parts of %d rows", n);
    for (int32_t i = 0; i < n && !rc; i++) j.root[i] = i;
    if (!rc && A->matrix) join_blocks(&j, A->matrix);
    else if (!rc) rc = A->read(A->self, 0, &(abut_operator_reader){ .elements = join_elements, .ctx = &j, .matrix = join_blocks },
                               err);
    if (!rc) p->k = number_parts(&j, size, part);
    if (!rc) rc = list_rows(p, part, n, err);
    free(j.root), free(size), free(part);
    if (rc) abut_row_parts_clear(p);
    return rc;
}
