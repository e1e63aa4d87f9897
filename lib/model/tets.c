#include "model/tets.h"

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
