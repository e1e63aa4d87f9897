#include "model/tets.h"

#include "base/arena.h"
#include "base/words.h"
#include "geom/quadrature.h"
#include "graph/graph.h"
#include "mesh/tet_nodes.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int abut_tet_geometry(const abut_model *m, int32_t t, double X[3 * ABUT_TET_NODES_MAX])
{
    const int order = abut_tet_geometry_order(m, t), n = abut_tet_nodes(order);
    if (order > abut_tet_order(m, t)) {
        memcpy(X, m->geo_X + 3 * (size_t)m->geo_first[t], 3 * (size_t)n * sizeof *X);
        return n;
    }
    int32_t node[ABUT_TET_NODES_MAX];
    abut_tet_corners(m, t, node);
    for (int c = 0; c < n; c++) memcpy(X + 3 * c, m->X + 3 * (size_t)node[c], 3 * sizeof *X);
    return n;
}

int32_t abut_linear_tets_first(const abut_model *m)
{
    int32_t n = m->tet_order ? 0 : m->nt;
    while (n < m->nt && abut_tet_order(m, n) == 1) n++;
    return n;
}

int abut_tet_gather(const abut_model *m, int32_t t, const double *x, double out[ABUT_TET_NODES_MAX][3])
{
    int32_t node[ABUT_TET_NODES_MAX];
    const int n = abut_tet_corners(m, t, node);
    for (int i = 0; i < n; i++) memcpy(out[i], x + 3 * (size_t)node[i], sizeof out[i]);
    return abut_tet_order(m, t);
}

int abut_tet_motion(const abut_model *m, int32_t t, const double *p, double out[ABUT_TET_NODES_MAX][3])
{
    const int shape = abut_tet_geometry_order(m, t), order = abut_tet_gather(m, t, p, out);
    const signed char(*a)[4] = abut_tet_lattice(shape);
    double q[ABUT_TET_NODES_MAX][3], phi[ABUT_TET_NODES_MAX];
    if (shape == order) return order;
    memcpy(q, out, sizeof q);
    for (int j = 0; j < abut_tet_nodes(shape); j++) {
        double L[4];
        for (int c = 0; c < 4; c++) L[c] = (double)a[j][c] / shape;
        abut_tet_basis(order, L, phi, NULL);
        for (int d = 0; d < 3; d++) {
            out[j][d] = 0;
            for (int i = 0; i < abut_tet_nodes(order); i++) out[j][d] += phi[i] * q[i][d];
        }
    }
    return shape;
}

int abut_tet_shape(const abut_model *m, int32_t t, const double *x, double out[ABUT_TET_NODES_MAX][3])
{
    if (abut_tet_geometry_order(m, t) == abut_tet_order(m, t)) return abut_tet_gather(m, t, x, out);
    double X[3 * ABUT_TET_NODES_MAX], rest[ABUT_TET_NODES_MAX][3];
    const int n = abut_tet_geometry(m, t, X), shape = abut_tet_motion(m, t, x, out);
    abut_tet_motion(m, t, m->X, rest);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) out[i][d] = X[3 * i + d] + (out[i][d] - rest[i][d]);
    return shape;
}

int abut_model_order(const abut_model *m)
{
    int order = 1;
    for (int32_t t = 0; m->tet_order && t < m->nt; t++)
        if (m->tet_order[t] > order) order = m->tet_order[t];
    return order;
}

abut_status abut_linear_tets(const abut_model *m, const char *who, abut_err *err)
{
    const int order = abut_model_order(m);
    return order == 1 ? ABUT_OK : abut_fail(err, ABUT_E_FORMAT, "%s: tets of order %d, expected order 1", who, order);
}

/* ---- a partition ---- */

abut_status abut_partition_view(const abut_arrays *model, int32_t nt, abut_partition *out, abut_err *err)
{
    assert(nt >= 0 && out);
    const abut_array *count = abut_arrays_find(model, "part/count"), *part = abut_arrays_find(model, "part/element");
    *out = (abut_partition){ 0 };
    if (!count && !part) return ABUT_OK;
    if (!count || count->type != ABUT_I32 || count->rank != 0 || !part || part->type != ABUT_I32 || part->rank != 1 ||
        part->shape[0] != nt)
        return abut_fail(err, ABUT_E_FORMAT, "expected part/count (i32) and part/element (i32, %d) together", nt);
    int32_t k;
    memcpy(&k, count->data, sizeof k);
    const int32_t *p = part->data;
    if (k < 1 || k > nt) return abut_fail(err, ABUT_E_FORMAT, "part/count is %d, expected 1 to %d, the number of tets", k, nt);
    for (int32_t t = 0; t < nt; t++)
        if (p[t] < 0 || p[t] >= k)
            return abut_fail(err, ABUT_E_FORMAT, "part/element: tet %d is in part %d, expected 0 .. %d (part/count)", t, p[t],
                             k - 1);
    *out = (abut_partition){ k, p };
    return ABUT_OK;
}

/* ---- checks ---- */

/* Orders in [low, 4], and the first rows of ragged lists: each begins where the one before ends, and all end with the last row.
 * rows(order): how many a tet of that order has; 0 for one that has none. */
static abut_status check_rows(const abut_model *m, const char *name[3], const int32_t *order, const int32_t *first, int32_t n,
                              int32_t (*rows)(const abut_model *m, int32_t t), abut_err *err)
{
    int64_t sum = 0;
    for (int32_t t = 0; t < m->nt; t++) {
        if (order[t] < 1 || order[t] > ABUT_ORDER_MAX)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: %d, expected an order from 1 to %d", name[0], t, order[t],
                             ABUT_ORDER_MAX);
        if (first[t] != sum)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: %d, expected %lld, as the tets before have so many rows of "
                             "'%s'", name[1], t, first[t], (long long)sum, name[2]);
        sum += rows(m, t);
    }
    return sum == n ? ABUT_OK
                    : abut_fail(err, ABUT_E_FORMAT, "array '%s' has %d row%s, expected %lld by '%s'", name[2], n, abut_s(n),
                                (long long)sum, name[0]);
}

static int32_t more_rows(const abut_model *m, int32_t t)
{
    return (int32_t)abut_tet_nodes(m->tet_order[t]) - 4;
}

static int32_t geometry_rows(const abut_model *m, int32_t t)
{
    return m->geo_order[t] > abut_tet_order(m, t) ? (int32_t)abut_tet_nodes(m->geo_order[t]) : 0;
}

/* The nodes of a tet are of one object, and its tets of one order: tets of two orders do not meet without a gap. */
static abut_status check_objects(const abut_model *m, abut_err *err)
{
    int32_t *of = calloc((size_t)m->no + 1, sizeof *of);
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "array 'tet/order': no memory for its check");
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = abut_tet_corners(m, t, node);
        const int32_t object = m->body[node[0]];
        for (int c = 4; c < n && !rc; c++)
            if (m->body[node[c]] != object)
                rc = abut_fail(err, ABUT_E_FORMAT, "array 'tet/more' row %d: node %d of object %d, expected one of object %d as "
                               "the corners of tet %d", m->tet_first[t] + c - 4, node[c], m->body[node[c]], object, t);
        if (!rc && of[object] && of[object] != m->tet_order[t])
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'tet/order' row %d: %d, expected %d as other tets of object %d", t,
                           m->tet_order[t], of[object], object);
        of[object] = m->tet_order[t];
    }
    free(of);
    return rc;
}

static int read_tet(const void *model, int32_t t, int32_t node[ABUT_TET_NODES_MAX])
{
    return abut_tet_corners(model, t, node);
}

static abut_status check_conforming(const abut_model *m, abut_err *err)
{
    const abut_status rc = abut_tets_conforming(m, read_tet, m->nt, m->nv, err);
    if (rc) abut_wrap(err, "array 'tet/more'");
    return rc;
}

/* Tets of order 1 are straight. */
static abut_status check_shapes(const abut_model *m, abut_err *err)
{
    for (int32_t t = 0; m->geo_order && t < m->nt; t++)
        if (m->geo_order[t] > 1 && abut_tet_order(m, t) == 1)
            return abut_fail(err, ABUT_E_FORMAT, "array 'geometry/order' row %d: %d, expected 1 for a tet of order 1", t,
                             m->geo_order[t]);
    return ABUT_OK;
}

/* Rules of quadrature are exact for linear elasticity and for the mass where tets are straight: a curved shape may need more. */
static abut_status check_degrees(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; m->mat_quadrature && i < 2 * m->nm; i++)
        if (m->mat_quadrature[i] < 0 || m->mat_quadrature[i] > ABUT_QUADRATURE_MAX)
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/quadrature' row %d: %d, expected a degree from 0 to %d", i / 2,
                             m->mat_quadrature[i], ABUT_QUADRATURE_MAX);
    for (int32_t t = 0; m->mat_quadrature && t < m->nt; t++) {
        const int order = abut_tet_order(m, t), i = m->tet_mat[t];
        const int32_t *d = m->mat_quadrature + 2 * (size_t)i;
        const int least[2] = { abut_degree_elastic(order, 1), abut_degree_mass(order, 1) };
        for (int k = 0; k < 2 && order > 1; k++)
            if (d[k] && d[k] < least[k])
                return abut_fail(err, ABUT_E_FORMAT, "array 'material/quadrature' row %d: %d for %s, expected 0, or %d or more "
                                 "for tets of order %d", i, d[k], k ? "mass" : "elastic energy", least[k], order);
    }
    return ABUT_OK;
}

abut_status abut_tets_check(const abut_model *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (m->tet_order)
        rc = check_rows(m, (const char *[3]){ "tet/order", "tet/first", "tet/more" }, m->tet_order, m->tet_first, m->nmore,
                        more_rows, err);
    if (!rc && m->nmore) rc = check_objects(m, err);
    if (!rc && m->nmore) rc = check_conforming(m, err);
    if (!rc && m->geo_order)
        rc = check_rows(m, (const char *[3]){ "geometry/order", "geometry/first", "geometry/X" }, m->geo_order, m->geo_first,
                        m->ngx, geometry_rows, err);
    if (!rc) rc = check_shapes(m, err);
    return rc ? rc : check_degrees(m, err);
}

/* ---- tets in an order for solvers ---- */

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
    ABUT_FREE(middle, object);
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
        ok = ABUT_ARRAYS(ABUT_ITEMS(a->number, nt), ABUT_ITEMS(a->node, m->nv));
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
    ABUT_FREE((*a)->number, (*a)->node);
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
