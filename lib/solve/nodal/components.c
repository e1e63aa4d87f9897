#include "solve/nodal/components.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void abut_components_clear(abut_components *c)
{
    free(c->of);
    free(c->wanted);
    free(c->woken);
    free(c->awake.node);
    free(c->body);
    free(c->mass);
    *c = (abut_components){ 0 };
}

static abut_status reserve(abut_components *c, int32_t rows, int32_t nodes, abut_err *err)
{
    if (c->of && c->rows == rows) return ABUT_OK;
    abut_components_clear(c);
    c->of = malloc(((size_t)rows + 1) * sizeof *c->of);
    c->wanted = malloc((size_t)rows + 1);
    c->woken = malloc((size_t)rows + 1);
    c->awake.node = malloc(((size_t)nodes + 1) * sizeof *c->awake.node);
    c->body = malloc(((size_t)nodes + 1) * sizeof *c->body);
    c->mass = malloc(((size_t)rows + 1) * sizeof *c->mass);
    c->rows = rows;
    if (c->of && c->wanted && c->woken && c->awake.node && c->body && c->mass) return ABUT_OK;
    abut_components_clear(c);
    return abut_fail(err, ABUT_E_NOMEM, "components of %d rows", rows);
}

/* Returns the first row known to be connected with row i. */
static int32_t root(int32_t *of, int32_t i)
{
    while (of[i] != i) i = of[i] = of[of[i]];
    return i;
}

abut_status abut_components_find(abut_components *c, const abut_bsr *A, int32_t nodes, abut_err *err)
{
    const abut_status rc = reserve(c, A->n, nodes, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A->n; i++) c->of[i] = i;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            const int32_t a = root(c->of, j), b = root(c->of, A->row[k]);
            c->of[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t i = 0; i < A->n; i++) c->of[i] = root(c->of, i);
    for (int32_t i = 0; i < A->n; i++) c->mass[i] = 0;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            const double *block = A->val + 9 * k;
            c->mass[c->of[j]] += (A->row[k] == j ? 1 : 2) * (block[0] + block[4] + block[8]) / 3;
        }
    memset(c->woken, 0, (size_t)A->n);
    memset(c->wanted, 0, (size_t)A->n);
    c->awake.n = 0;
    return ABUT_OK;
}

void abut_components_wake(abut_components *c, int32_t row)
{
    assert(row >= 0 && row < c->rows);
    c->woken[c->of[row]] = 1;
}

void abut_components_list(abut_components *c, const int32_t *row, int32_t nodes)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->rows; i++) c->wanted[i] = c->woken[c->of[i]];
    for (int32_t i = 0; i < nodes; i++) c->body[i] = row[i] >= 0 ? c->of[row[i]] : 0;
    for (int32_t i = 0; i < nodes; i++)
        if (row[i] >= 0 && c->wanted[row[i]]) c->awake.node[n++] = i;
    c->awake.n = n;
}
