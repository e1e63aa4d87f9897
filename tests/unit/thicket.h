/* A collision mesh of every dimension for tests: triangles, rods and particles of three objects with a thickness each, and
 * an obstacle of bare segments and points, thrown into a box so that every pair keeps a gap. */
#ifndef ABUT_TESTS_THICKET_H
#define ABUT_TESTS_THICKET_H

#include "base/rng.h"
#include "contact/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THICKET_TRI = 14, THICKET_ROD = 16, THICKET_PART = 24, THICKET_NEEDLE = 6, THICKET_BARE = 6, THICKET_MAX = 512 };
enum { THICKET_CLOTH, THICKET_RODS, THICKET_GRAINS, THICKET_OBSTACLE, THICKET_OBJECTS };

typedef struct thicket {
    abut_model model;
    abut_collmesh cm;
    double dhat, thick[THICKET_OBJECTS];
    double X[3 * THICKET_MAX], y1[3 * THICKET_MAX];
    int32_t node[THICKET_MAX], body[THICKET_MAX], role[THICKET_MAX], edge[2 * THICKET_MAX], tri[3 * THICKET_MAX];
    uint8_t fixed[THICKET_MAX];
    uint8_t in_tri[THICKET_MAX], in_edge[THICKET_MAX], is_side[THICKET_MAX];     /* found apart from the library */
} thicket;

/* The primitives of pair (i, j) of kind s, as plain loops number them; 0: no pair of that kind. */
static inline int thicket_pair(const thicket *t, abut_stencil s, int32_t i, int32_t j, int32_t v[4])
{
    int n = 0;
    for (int k = 0; k < 4; k++) v[k] = -1;
    if (s == ABUT_EE) v[n++] = t->edge[2 * i], v[n++] = t->edge[2 * i + 1];
    else v[n++] = i;
    const int first = n;
    if (s == ABUT_PT) for (int k = 0; k < 3; k++) v[n++] = t->tri[3 * j + k];
    else if (s == ABUT_PP) v[n++] = j;
    else v[n++] = t->edge[2 * j], v[n++] = t->edge[2 * j + 1];
    for (int a = 0; a < first; a++)
        for (int b = first; b < n; b++)
            if (v[a] == v[b]) return 0;
    if (s == ABUT_PE) return !t->in_tri[i] && !t->is_side[j];
    if (s == ABUT_PP) return i < j && !t->in_edge[i] && !t->in_edge[j];
    return s == ABUT_PT || i < j;
}

static inline int32_t thicket_rows(const thicket *t, abut_stencil s, int second)
{
    if (second) return s == ABUT_PT ? t->model.nct : s == ABUT_PP ? t->model.nc : t->model.nce;
    return s == ABUT_EE ? t->model.nce : t->model.nc;
}

static inline void thicket_points(const double *y, abut_stencil s, const int32_t v[4], double x[12])
{
    for (int k = 0; k < abut_stencil_size(s); k++) memcpy(x + 3 * k, y + 3 * v[k], 3 * sizeof *x);
}

/* from the objects, not from the collision mesh */
static inline double thicket_xi(const thicket *t, abut_stencil s, const int32_t v[4])
{
    return (t->thick[t->body[v[0]]] + t->thick[t->body[v[s == ABUT_EE ? 2 : 1]]]) / 2;
}

static inline int thicket_all_fixed(const thicket *t, const int32_t v[4])
{
    int all = 1;
    for (int k = 0; k < 4 && v[k] >= 0; k++) all &= t->fixed[v[k]];
    return all;
}

/* Smallest distance less thickness of all pairs; pairs of obstacles too unless `moving` ones alone are wanted. */
static inline double thicket_gap(const thicket *t, const double *y, int moving)
{
    double least = INFINITY;
    for (abut_stencil s = ABUT_PP; s <= ABUT_EE; s++)
        for (int32_t i = 0; i < thicket_rows(t, s, 0); i++)
            for (int32_t j = 0; j < thicket_rows(t, s, 1); j++) {
                int32_t v[4];
                double x[12], d2;
                if (!thicket_pair(t, s, i, j, v) || (moving && thicket_all_fixed(t, v))) continue;
                thicket_points(y, s, v, x);
                abut_nearest(s, x, &d2);
                least = fmin(least, sqrt(d2) - thicket_xi(t, s, v));
            }
    return least;
}

/* Appends a chain of n nodes (n = 1: a particle), a triangle when closed; takes it back when it comes nearer than `gap` to
 * what is there. */
static inline void thicket_throw(thicket *t, abut_rng *r, int n, int closed, int32_t object, double size, double gap)
{
    for (;;) {
        const int32_t base = t->model.nc, ne = t->model.nce, nt = t->model.nct;
        double c[3];
        for (int k = 0; k < 3; k++) c[k] = abut_rng_real(r, 0, 1);
        for (int i = 0; i < n; i++) {
            const int32_t v = t->model.nc++;
            for (int k = 0; k < 3; k++)
                t->X[3 * v + k] = c[k] += i ? size * abut_rng_real(r, 0.3, 1) * (k == i % 3 ? 1 : -0.6) : 0;
            t->node[v] = v, t->body[v] = object;
            t->role[v] = object == THICKET_OBSTACLE ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
            t->fixed[v] = object == THICKET_OBSTACLE;
            t->in_edge[v] = n > 1, t->in_tri[v] = (uint8_t)closed;
        }
        for (int i = 0; i < n - 1 + closed; i++) {
            const int32_t e = t->model.nce++, a = base + i, b = base + (i + 1) % n;
            t->edge[2 * e] = a < b ? a : b, t->edge[2 * e + 1] = a < b ? b : a;
            t->is_side[e] = (uint8_t)closed;
        }
        if (closed) for (int k = 0; k < 3; k++) t->tri[3 * t->model.nct + k] = base + k;
        t->model.nct += closed;
        if (thicket_gap(t, t->X, 0) > gap) return;
        t->model.nc = base, t->model.nce = ne, t->model.nct = nt;
    }
}

/* To be called on the struct at its final address: views point into it.  gap: between all pairs; y1 moves by about `speed`. */
static inline void thicket_make(thicket *t, uint64_t seed, double cloth, double rods, double grains, double obstacle, double gap,
                                double speed)
{
    abut_rng r = { seed };
    *t = (thicket){ .dhat = 0.05, .thick = { cloth, rods, grains, obstacle } };
    t->model = (abut_model){ .no = THICKET_OBJECTS, .X = t->X, .body = t->body, .role = t->role, .coll_node = t->node,
                             .coll_edge = t->edge, .coll_tri = t->tri, .obj_thick = t->thick, .dhat = &t->dhat };
    for (int i = 0; i < THICKET_TRI; i++) thicket_throw(t, &r, 3, 1, THICKET_CLOTH, 0.3, gap);
    for (int i = 0; i < THICKET_ROD; i++) thicket_throw(t, &r, 3, 0, THICKET_RODS, 0.2, gap);
    for (int i = 0; i < THICKET_PART; i++) thicket_throw(t, &r, 1, 0, THICKET_GRAINS, 0, gap);
    for (int i = 0; i < THICKET_NEEDLE; i++) thicket_throw(t, &r, 2, 0, THICKET_OBSTACLE, 0.3, gap);
    for (int i = 0; i < THICKET_BARE; i++) thicket_throw(t, &r, 1, 0, THICKET_OBSTACLE, 0, gap);
    t->model.nv = t->model.nc;
    for (int i = 0; i < 3 * t->model.nc; i++) t->y1[i] = t->X[i] + (t->fixed[i / 3] ? 0 : speed * abut_rng_real(&r, -1, 1));
    if (abut_collmesh_init(&t->cm, &t->model, NULL)) abort();
}

#endif
