#include "energy/basis_table.h"

#include "geom/lagrange.h"
#include "geom/quadrature.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void fill(abut_basis_table *b, const abut_quadrature *q)
{
    for (int i = 0; i < ABUT_LANES * b->groups; i++) {
        const int from = i < q->n ? i : i / ABUT_LANES * ABUT_LANES, g = i / ABUT_LANES, l = i % ABUT_LANES;
        double dphi[ABUT_TET_NODES_MAX][3];
        b->w[i] = i < q->n ? q->w[i] : 0;
        memcpy(b->L + 4 * i, q->L + 4 * from, 4 * sizeof *b->L);
        abut_tet_basis(b->order, q->L + 4 * from, b->phi + (size_t)i * (size_t)b->nodes, dphi);
        for (int a = 0; a < b->nodes; a++)
            for (int c = 0; c < 3; c++) {
                b->by_node[ABUT_LANES * (3 * (g * b->nodes + a) + c) + l] = dphi[a][c];
                b->by_point[(3 * i + c) * b->wide + a] = dphi[a][c];
            }
    }
}

abut_status abut_basis_table_init(abut_basis_table *b, int order, int degree, abut_err *err)
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    abut_quadrature q;
    *b = (abut_basis_table){ .order = order, .nodes = abut_tet_nodes(order) };
    const abut_status rc = abut_quadrature_tet(degree, &q, err);
    if (rc) return rc;
    b->n = q.n;
    b->groups = (q.n + ABUT_LANES - 1) / ABUT_LANES;
    b->wide = (b->nodes + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES;
    const size_t points = (size_t)(ABUT_LANES * b->groups), nodes = (size_t)b->nodes;
    b->w = malloc(points * sizeof *b->w);
    b->L = malloc(points * 4 * sizeof *b->L);
    b->phi = malloc(points * nodes * sizeof *b->phi);
    b->by_node = malloc(points * nodes * 3 * sizeof *b->by_node);
    b->by_point = calloc(points * 3 * (size_t)b->wide, sizeof *b->by_point);
    const int ok = b->w && b->L && b->phi && b->by_node && b->by_point;
    if (ok) fill(b, &q);
    else abut_basis_table_clear(b);
    abut_quadrature_clear(&q);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "bases of order %d at %zu points", order, points);
}

void abut_basis_table_clear(abut_basis_table *b)
{
    free(b->w);
    free(b->L);
    free(b->phi);
    free(b->by_node);
    free(b->by_point);
    *b = (abut_basis_table){ 0 };
}
