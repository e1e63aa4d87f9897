/* A collision mesh for tests: wavy sheets of triangles stacked close together, some loose triangles, some fixed vertices. */
#ifndef ABUT_TESTS_SHEETS_H
#define ABUT_TESTS_SHEETS_H

#include "base/rng.h"
#include "contact/collision_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sheets {
    abut_model model;
    abut_collmesh cm;
    double *X, *y1;             /* [3 nc] rest = start, and the end of a motion */
    double dhat;
    int32_t *node, *body, *edge, *tri;
    uint8_t *fixed;             /* about one sheet in three */
} sheets;

static inline int sheets_edge_order(const void *p, const void *q)
{
    const int32_t *a = p, *b = q;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static inline void sheets_edges(sheets *s)
{
    const int32_t nt = s->model.nct;
    s->edge = malloc(6 * (size_t)nt * sizeof *s->edge);
    for (int32_t t = 0; t < nt; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = s->tri[3 * t + k], b = s->tri[3 * t + (k + 1) % 3];
            s->edge[6 * t + 2 * k] = a < b ? a : b;
            s->edge[6 * t + 2 * k + 1] = a < b ? b : a;
        }
    qsort(s->edge, 3 * (size_t)nt, 2 * sizeof *s->edge, sheets_edge_order);
    s->model.nce = 0;
    for (int32_t e = 0; e < 3 * nt; e++)
        if (!s->model.nce || sheets_edge_order(s->edge + 2 * e, s->edge + 2 * (s->model.nce - 1)))
            memmove(s->edge + 2 * s->model.nce++, s->edge + 2 * e, 2 * sizeof *s->edge);
}

static inline void sheets_point(double *x, double a, double b, int layer, double gap)
{
    x[0] = a;
    x[1] = gap * layer + 0.15 * sin(3 * a + 0.7 * layer) * cos(4 * b);
    x[2] = b;
}

/* `layers` sheets of n x n cells in a unit square, `gap` apart, with noise of that size times `noise` (0: flat grids, where
 * many edges are exactly parallel).  y1 moves every vertex by about `speed`. */
static inline sheets sheets_make(uint64_t seed, int layers, int n, double gap, double noise, double speed)
{
    sheets s = { .dhat = gap };
    abut_rng r = { seed };
    const int32_t per = (n + 1) * (n + 1), nc = layers * per, nt = layers * n * n * 2;
    s.X = malloc(3 * (size_t)nc * sizeof *s.X);
    s.y1 = malloc(3 * (size_t)nc * sizeof *s.y1);
    s.node = malloc((size_t)nc * sizeof *s.node);
    s.body = calloc((size_t)nc, sizeof *s.body);
    s.fixed = malloc((size_t)nc);
    s.tri = malloc(3 * (size_t)nt * sizeof *s.tri);
    int32_t v = 0, t = 0;
    for (int l = 0; l < layers; l++)
        for (int i = 0; i <= n; i++)
            for (int j = 0; j <= n; j++, v++) {
                sheets_point(s.X + 3 * v, (double)i / n, (double)j / n, l, gap);
                if (noise <= 0) s.X[3 * v + 1] = gap * l;
                for (int d = 0; d < 3; d++) s.X[3 * v + d] += noise * gap * abut_rng_real(&r, -1, 1);
                for (int d = 0; d < 3; d++) s.y1[3 * v + d] = s.X[3 * v + d] + speed * abut_rng_real(&r, -1, 1);
                s.node[v] = v;
                s.fixed[v] = l % 3 == 2;
                if (i == n || j == n) continue;
                const int32_t a = v, b = v + 1, c = v + n + 1, d = v + n + 2;
                memcpy(s.tri + 3 * t++, (int32_t[3]){ a, b, c }, 3 * sizeof *s.tri);
                memcpy(s.tri + 3 * t++, (int32_t[3]){ c, b, d }, 3 * sizeof *s.tri);
            }
    s.model = (abut_model){ .nv = nc, .nc = nc, .nct = nt, .X = s.X };
    sheets_edges(&s);
    return s;
}

/* To be called on the struct at its final address: the views point into it. */
static inline int sheets_init(sheets *s)
{
    s->model.coll_node = s->node, s->model.body = s->body;
    s->model.coll_edge = s->edge;
    s->model.coll_tri = s->tri;
    s->model.dhat = &s->dhat;
    return abut_collmesh_init(&s->cm, &s->model, NULL) == ABUT_OK;
}

static inline void sheets_free(sheets *s)
{
    abut_collmesh_clear(&s->cm);
    free(s->X);
    free(s->y1);
    free(s->node), free(s->body);
    free(s->edge);
    free(s->tri);
    free(s->fixed);
}

/* Points of a vertex-triangle (kind 0) or edge-edge (kind 1) pair; returns how many of its vertices are fixed, -1 when it
 * has a common vertex. */
static inline int sheets_pair(const sheets *s, int ee, int32_t i, int32_t j, const double *y, double x[12], int32_t v[4])
{
    v[0] = ee ? s->edge[2 * i] : i;
    for (int k = 1; k < 4; k++) v[k] = !ee ? s->tri[3 * j + k - 1] : k == 1 ? s->edge[2 * i + 1] : s->edge[2 * j + k - 2];
    int fixed = 0;
    for (int k = 0; k < 4; k++) {
        memcpy(x + 3 * k, y + 3 * v[k], 3 * sizeof *x);
        fixed += s->fixed[v[k]];
    }
    const int split = ee ? 2 : 1;
    for (int a = 0; a < split; a++)
        for (int b = split; b < 4; b++)
            if (v[a] == v[b]) return -1;
    return fixed;
}

#endif
