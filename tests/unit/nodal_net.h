/* Random contacts of points with triangles and edges with edges on free nodes. */
#ifndef ABUT_TESTS_NODAL_NET_H
#define ABUT_TESTS_NODAL_NET_H

#include "base/rng.h"
#include "contact/touching.h"
#include "solve/nodal/coulomb.h"

typedef struct net {
    int32_t nodes;
    double *v, *w, *inv_w, *p;      /* [3 nodes] velocities, weights over two decades, projected velocities */
    abut_touching t;
    abut_projection q;
    abut_err err;
} net;

static inline void net_unit(abut_rng *r, double n[3])
{
    double size;
    do {
        for (int d = 0; d < 3; d++) n[d] = abut_rng_real(r, -1, 1);
        size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    } while (!(size > 0.1 && size <= 1));
    for (int d = 0; d < 3; d++) n[d] /= size;
}

static inline void net_contact(abut_rng *r, int32_t nodes, double mu, abut_touch *c, int32_t node[4], double b[4])
{
    const double f = abut_rng_real(r, 0.05, 0.95), g = abut_rng_real(r, 0.05, 0.95);
    const int edges = (int)abut_rng_below(r, 2);
    *c = (abut_touch){ .key = { .kind = edges ? ABUT_EE : ABUT_PT, .plane = -1 }, .n = 4, .node = node, .b = b, .mu = mu };
    for (int k = 0; k < 4; k++) {
        int again;
        do {
            node[k] = (int32_t)abut_rng_below(r, (uint32_t)nodes);
            again = 0;
            for (int j = 0; j < k; j++) again |= node[j] == node[k];
        } while (again);
        c->key.vert[k] = node[k];
    }
    const double ee[4] = { 1 - f, f, g - 1, -g }, pt[4] = { 1, -(1 - f) * (1 - g), -f * (1 - g), -g };
    memcpy(b, edges ? ee : pt, sizeof ee);
    net_unit(r, c->normal);
}

static inline void net_make(net *e, uint64_t seed, int32_t nodes, size_t contacts, double mu)
{
    abut_rng r = { seed };
    *e = (net){ .nodes = nodes };
    e->v = malloc(3 * (size_t)nodes * sizeof *e->v);
    e->p = malloc(3 * (size_t)nodes * sizeof *e->p);
    e->w = malloc((size_t)nodes * sizeof *e->w);
    e->inv_w = malloc((size_t)nodes * sizeof *e->inv_w);
    for (int32_t i = 0; i < nodes; i++) {
        e->w[i] = pow(10, abut_rng_real(&r, -1, 1));
        e->inv_w[i] = 1 / e->w[i];
        for (int d = 0; d < 3; d++) e->v[3 * i + d] = abut_rng_real(&r, -1, 1);
    }
    CHECK(!abut_touching_begin(&e->t, nodes, &e->err));
    for (size_t i = 0; i < contacts; i++) {
        abut_touch c;
        int32_t node[4];
        double b[4];
        net_contact(&r, nodes, mu, &c, node, b);
        CHECK(!abut_touching_append(&e->t, &c, &e->err));
    }
    CHECK(!abut_touching_settle(&e->t, e->inv_w, &e->err));
}

static inline void net_clear(net *e)
{
    abut_touching_clear(&e->t);
    abut_projection_clear(&e->q);
    free(e->v);
    free(e->p);
    free(e->w);
    free(e->inv_w);
}

#endif
