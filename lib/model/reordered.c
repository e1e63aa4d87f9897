#include "model/reordered.h"

#include "math/hilbert.h"
#include "model/tets.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* number[nt]: order by order, object by object, along a curve through the centroids */
static abut_status order_tets(const abut_model *m, int32_t *number, abut_err *err)
{
    const size_t nt = (size_t)m->nt;
    double *middle = malloc((3 * nt + 1) * sizeof *middle);
    int32_t *object = malloc((nt + 1) * sizeof *object);
    abut_status rc = middle && object ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu tets: out of memory", nt);
    for (size_t t = 0; t < nt && !rc; t++) {
        const int32_t *v = m->tet + 4 * t;
        object[t] = m->body[v[0]] + (abut_tet_order(m, (int32_t)t) - 1) * m->no;
        for (int d = 0; d < 3; d++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += m->X[3 * (size_t)v[k] + (size_t)d];
            middle[3 * t + (size_t)d] = sum / 4;
        }
    }
    if (!rc) rc = abut_curve_order(nt, middle, object, m->no * abut_model_order(m), number, err);
    free(middle);
    free(object);
    return rc;
}

/* The arrays of a model that have a row for each tet. */
static const struct {
    size_t member, bytes;   /* where the pointer is in an abut_model; size of a row */
} rows[ABUT_REORDERED_ROWS] = {
    { offsetof(abut_model, tet), 4 * sizeof(int32_t) },     { offsetof(abut_model, tet_mat), sizeof(int32_t) },
    { offsetof(abut_model, tet_fibre), 3 * sizeof(double) }, { offsetof(abut_model, tet_order), sizeof(int32_t) },
    { offsetof(abut_model, tet_first), sizeof(int32_t) },   { offsetof(abut_model, tet_density), sizeof(double) },
    { offsetof(abut_model, tet_fill), sizeof(double) },     { offsetof(abut_model, geo_order), sizeof(int32_t) },
    { offsetof(abut_model, geo_first), sizeof(int32_t) },
};

static abut_status copy_tets(abut_reordered *a, const abut_model *m, abut_err *err)
{
    const size_t nt = (size_t)m->nt;
    for (int k = 0; k < ABUT_REORDERED_ROWS; k++) {
        const char *from;
        memcpy(&from, (const char *)m + rows[k].member, sizeof from);
        if (!from) continue;
        char *to = a->row[k] = malloc(nt * rows[k].bytes + 1);
        if (!to) return abut_fail(err, ABUT_E_NOMEM, "order of %zu tets: out of memory", nt);
        for (size_t t = 0; t < nt; t++)
            memcpy(to + rows[k].bytes * t, from + rows[k].bytes * (size_t)a->number[t], rows[k].bytes);
        memcpy((char *)&a->model + rows[k].member, &to, sizeof to);
    }
    return ABUT_OK;
}

/* seen[nv] is scratch, zero */
static void order_nodes(abut_reordered *a, const abut_model *m, uint8_t *seen)
{
    int32_t n = 0;
    for (int32_t t = 0; t < m->nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int corners = abut_tet_corners(&a->model, t, node);
        for (int c = 0; c < corners; c++) {
            if (seen[node[c]]) continue;
            seen[node[c]] = 1;
            a->node[n++] = node[c];
        }
    }
    for (int32_t i = 0; i < m->nv; i++)
        if (!seen[i]) a->node[n++] = i;
}

abut_status abut_reordered_new(abut_reordered **out, const abut_model *m, abut_err *err)
{
    assert(m);
    const size_t nt = (size_t)m->nt;
    abut_reordered *a = calloc(1, sizeof *a);
    uint8_t *seen = calloc((size_t)m->nv + 1, 1);
    int ok = a && seen;
    if (ok) {
        a->model = *m;
        a->number = malloc((nt + 1) * sizeof *a->number);
        a->node = malloc(((size_t)m->nv + 1) * sizeof *a->node);
        ok = a->number && a->node;
    }
    abut_status rc = ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu tets: out of memory", nt);
    if (!rc) rc = order_tets(m, a->number, err);
    if (!rc) rc = copy_tets(a, m, err);
    if (!rc) order_nodes(a, m, seen);
    if (rc && a) abut_reordered_free(&a);
    free(seen);
    *out = a;
    return rc;
}

void abut_reordered_free(abut_reordered **a)
{
    if (!*a) return;
    abut_model_forget(&(*a)->model);
    free((*a)->number);
    free((*a)->node);
    for (int k = 0; k < ABUT_REORDERED_ROWS; k++) free((*a)->row[k]);
    free(*a);
    *a = NULL;
}

int32_t abut_reordered_tet_number(const abut_reordered *a, int32_t t)
{
    const abut_model *m = &a->model;
    const int32_t object = m->body[m->tet[4 * (size_t)t]];
    int32_t before = 0;
    for (int32_t i = 0; i < m->nt; i++) before += a->number[i] < a->number[t] && m->body[m->tet[4 * (size_t)i]] == object;
    return before;
}
