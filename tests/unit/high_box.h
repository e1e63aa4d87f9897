/* A box of tets of order k on a rest shape of order g as an abut_model: a jittered box of tets (kuhn.h), raised to order g, its
 * new nodes moved, raised to order k. */
#ifndef ABUT_TESTS_HIGH_BOX_H
#define ABUT_TESTS_HIGH_BOX_H

#include "kuhn.h"
#include "mesh/tet_nodes.h"

#include <string.h>

typedef struct high_box {
    kuhn_box straight;
    abut_mesh mesh;
    abut_model model;       /* tets of one order; material t % nm */
    int32_t *order, *first, *body;
} high_box;

/* Tets of b->mesh as a model with the materials of b->straight. */
static inline void high_box_model(high_box *b)
{
    const abut_mesh *m = &b->mesh;
    const int32_t more = abut_mesh_more(m), n = m->nt + 1;
    b->order = malloc((size_t)n * sizeof *b->order), b->first = malloc((size_t)n * sizeof *b->first);
    b->body = calloc((size_t)m->nv, sizeof *b->body);
    for (int32_t t = 0; t < m->nt; t++) b->order[t] = abut_mesh_order(m), b->first[t] = more * t;
    b->model = b->straight.model;
    b->model.nv = m->nv, b->model.nt = m->nt, b->model.no = 1, b->model.X = m->x, b->model.tet = m->tet;
    b->model.body = b->body;
    if (more == 0) return;
    b->model.tet_order = b->order, b->model.tet_first = b->first, b->model.tet_more = m->more, b->model.nmore = more * m->nt;
}

/* n^3 cells of edge `cell`; `bend` of it is how far nodes beyond corners move; nm materials, which are its models 0 .. */
static inline void high_box_build(high_box *b, int n, double cell, double jitter, int nm, int g, double bend, int k)
{
    abut_err err = { 0 };
    abut_rng r = { 5 };
    *b = (high_box){ 0 };
    kuhn_build(&b->straight, n, cell, jitter, nm);
    const abut_model *m = &b->straight.model;
    int bad = 0;
    for (int32_t i = 0; i < m->nv; i++) bad |= abut_mesh_add_vertex(&b->mesh, m->X + 3 * i, &err) != ABUT_OK;
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *v = m->tet + 4 * t;
        bad |= abut_mesh_add_tet(&b->mesh, v[0], v[1], v[2], v[3], &err) != ABUT_OK;
    }
    bad |= abut_mesh_set_order(&b->mesh, g, &err) != ABUT_OK;
    for (int32_t i = 3 * m->nv; i < 3 * b->mesh.nv; i++) b->mesh.x[i] += abut_rng_real(&r, -bend * cell, bend * cell);
    bad |= abut_mesh_set_order(&b->mesh, k, &err) != ABUT_OK;
    if (bad) abort();
    high_box_model(b);
}

static inline void high_box_free(high_box *b)
{
    abut_mesh_clear(&b->mesh);
    kuhn_free(&b->straight);
    free(b->order), free(b->first), free(b->body);
}

#endif
