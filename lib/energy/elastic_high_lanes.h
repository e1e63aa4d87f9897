/* Tets of higher order, four quadrature points at a time; for elastic_high.c and elastic_high_hess.c. */
#ifndef ABUT_ENERGY_ELASTIC_HIGH_LANES_H
#define ABUT_ENERGY_ELASTIC_HIGH_LANES_H

#include "energy/elastic_high.h"

/** Displacements of the nodes of tet t, less that of its first: u[3 nodes]. */
ABUT_LANES_INLINE void abut_high_displacements(const abut_elastic_high *e, int32_t t, const double *x, double *u)
{
    const int32_t *node = e->node + (size_t)t * (size_t)e->nodes;
    const double *X = e->model->X, *x0 = x + 3 * (size_t)node[0], *X0 = X + 3 * (size_t)node[0];
    for (int a = 0; a < e->nodes; a++)
        for (int d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)node[a] + (size_t)d;
            u[3 * a + d] = (x[i] - x0[d]) - (X[i] - X0[d]);
        }
}

/** J^-1 and volumes of the points of group g of tet t. */
ABUT_LANES_INLINE void abut_high_rest(const abut_elastic_high *e, int32_t t, int g, abut_lanes *Ji, abut_lanes *w)
{
    const double *s = e->shape + e->rest[t], *four = s + 10 * ABUT_LANES * g;
    const int straight = e->straight[t];
    for (int k = 0; k < 10; k++) {
        abut_lanes v = ABUT_LANES_ALL(s[k]);
        if (!straight) v = *(const abut_lanes_anywhere *)(four + ABUT_LANES * k);
        *(k < 9 ? Ji + k : w) = v;
    }
    if (straight) *w *= *(const abut_lanes_anywhere *)(e->table[e->degree[t]].w + ABUT_LANES * g);
}

/** G[3 d + c] = du_d/dxi_c at the points of group g. */
ABUT_LANES_INLINE void abut_high_gradients(const abut_basis_table *b, int nodes, int g, const double *u, abut_lanes *G)
{
    const double *D = b->by_node + (size_t)(ABUT_LANES * 3 * nodes) * (size_t)g;
    for (int k = 0; k < 9; k++) G[k] = ABUT_LANES_ALL(0.);
    for (int a = 0; a < nodes; a++, D += 3 * ABUT_LANES)
        for (int c = 0; c < 3; c++) {
            const abut_lanes dphi = *(const abut_lanes_anywhere *)(D + ABUT_LANES * c);
            for (int d = 0; d < 3; d++) G[3 * d + c] += u[3 * a + d] * dphi;
        }
}

/** F = I + G J^-1 */
ABUT_LANES_INLINE void abut_high_deformation(const abut_lanes *G, const abut_lanes *Ji, abut_lanes *F)
{
    for (int d = 0; d < 3; d++)
        for (int j = 0; j < 3; j++)
            F[3 * d + j] = G[3 * d] * Ji[j] + G[3 * d + 1] * Ji[3 + j] + G[3 * d + 2] * Ji[6 + j] + (d == j ? 1. : 0.);
}

/** f[3 nodes] += sum over the points of S[point][3 d + c] dphi_a/dxi_c, of points 4 g .. 4 g + n - 1. */
ABUT_LANES_INLINE void abut_high_spread(const abut_basis_table *b, int nodes, int g, int n, const double (*S)[9], double *f)
{
    enum { WIDEST = 9 };
    const int wide = (nodes + ABUT_LANES - 1) / ABUT_LANES;
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g) * (size_t)b->wide;
    for (int d = 0; d < 3; d++) {
        abut_lanes sum[WIDEST];
        for (int v = 0; v < wide; v++) sum[v] = ABUT_LANES_ALL(0.);
        for (int q = 0; q < n; q++)
            for (int c = 0; c < 3; c++) {
                const double s = S[q][3 * d + c], *row = D + (3 * q + c) * b->wide;
                for (int v = 0; v < wide; v++) sum[v] += s * *(const abut_lanes_anywhere *)(row + ABUT_LANES * v);
            }
        for (int a = 0; a < nodes; a++) f[3 * a + d] += sum[a / ABUT_LANES][a % ABUT_LANES];
    }
}

#endif
