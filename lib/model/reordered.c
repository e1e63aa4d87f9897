#include "model/reordered.h"

#include "math/hilbert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* number[nt]: along a curve through the centroids */
static abut_status order_tets(const abut_model *m, int32_t *number, abut_err *err)
{
    const size_t nt = (size_t)m->nt;
    double *middle = malloc((3 * nt + 1) * sizeof *middle);
    int32_t *object = malloc((nt + 1) * sizeof *object);
    abut_status rc = middle && object ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu tets: out of memory", nt);
    for (size_t t = 0; t < nt && !rc; t++) {
        const int32_t *v = m->tet + 4 * t;
        object[t] = m->body[v[0]];
        for (int d = 0; d < 3; d++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += m->X[3 * (size_t)v[k] + (size_t)d];
            middle[3 * t + (size_t)d] = sum / 4;
        }
    }
    if (!rc) rc = abut_curve_order(nt, middle, object, m->no, number, err);
    free(middle);
    free(object);
    return rc;
}

static void copy_tets(abut_reordered *a, const abut_model *m)
{
    for (size_t t = 0; t < (size_t)m->nt; t++) {
        const size_t from = (size_t)a->number[t];
        memcpy(a->tet + 4 * t, m->tet + 4 * from, 4 * sizeof *a->tet);
        a->tet_mat[t] = m->tet_mat[from];
        if (a->tet_fibre) memcpy(a->tet_fibre + 3 * t, m->tet_fibre + 3 * from, 3 * sizeof *a->tet_fibre);
    }
}

/* seen[nv] is scratch, zero */
static void order_nodes(abut_reordered *a, const abut_model *m, uint8_t *seen)
{
    int32_t n = 0;
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++)
        if (!seen[a->tet[i]]) {
            seen[a->tet[i]] = 1;
            a->node[n++] = a->tet[i];
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
        a->tet = malloc((4 * nt + 1) * sizeof *a->tet);
        a->tet_mat = malloc((nt + 1) * sizeof *a->tet_mat);
        if (m->tet_fibre) a->tet_fibre = malloc((3 * nt + 1) * sizeof *a->tet_fibre);
        ok = a->number && a->node && a->tet && a->tet_mat && (a->tet_fibre || !m->tet_fibre);
    }
    abut_status rc = ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu tets: out of memory", nt);
    if (!rc) rc = order_tets(m, a->number, err);
    if (!rc) {
        copy_tets(a, m);
        order_nodes(a, m, seen);
        a->model.tet = a->tet;
        a->model.tet_mat = a->tet_mat;
        a->model.tet_fibre = a->tet_fibre;
    } else {
        abut_reordered_free(&a);
    }
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
    free((*a)->tet);
    free((*a)->tet_mat);
    free((*a)->tet_fibre);
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
