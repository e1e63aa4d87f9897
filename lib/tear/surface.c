#include "tear/surface.h"

#include "base/order.h"
#include "mesh/surface.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Lists of the new contact surface, by nodes. */
typedef struct surface {
    int32_t *tri, *edge, *seg, ntri, nedge, nseg;
} surface;

/* Edges by nodes, a < b, ascending. */
typedef struct edges {
    int32_t *node, n;
} edges;

static int has_edge(const edges *e, int32_t a, int32_t b)
{
    const int32_t key[2] = { a < b ? a : b, a < b ? b : a };
    return e->n && bsearch(key, e->node, (size_t)e->n, 2 * sizeof *key, abut_by_two);
}

/* Finds the contact edges that stay independently of triangles: remaining rods, and edges that are neither a side of a triangle
 * nor a rod, such as segments of obstacles. */
static abut_status find_segments(const abut_tearing *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    int32_t *tri = malloc((3 * (size_t)m->nct + 1) * sizeof *tri), *rod = malloc((2 * (size_t)m->nrd + 1) * sizeof *rod);
    edges stay = { 0 }, other = { 0 };
    int32_t n = 0, from_end = m->nrd;
    s->seg = malloc((2 * (size_t)m->nce + 1) * sizeof *s->seg);
    abut_status rc = tri && rod && s->seg ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: %d contact edges", m->nce);
    for (int32_t i = 0; i < 3 * m->nct && !rc; i++) tri[i] = abut_model_contact_node(m, m->coll_tri[i]);
    for (int32_t r = 0; r < m->nrd && !rc; r++)     /* those that stay, then those that go */
        memcpy(rod + 2 * (size_t)(w->no_rod[r] ? --from_end : n++), m->rod + 2 * (size_t)r, 2 * sizeof *rod);
    if (!rc) rc = abut_surface_edges(NULL, 0, rod, n, m->nv, &stay.node, &stay.n, err);
    if (!rc) rc = abut_surface_edges(tri, m->nct, rod + 2 * (size_t)n, m->nrd - n, m->nv, &other.node, &other.n, err);
    for (int32_t e = 0; e < m->nce && !rc; e++) {
        const int32_t *v = m->coll_edge + 2 * (size_t)e;
        const int32_t a = abut_model_contact_node(m, v[0]), b = abut_model_contact_node(m, v[1]);
        if (!has_edge(&stay, a, b) && has_edge(&other, a, b)) continue;
        s->seg[2 * s->nseg] = a;
        s->seg[2 * s->nseg++ + 1] = b;
    }
    free(tri);
    free(rod);
    free(stay.node);
    free(other.node);
    return rc;
}

static abut_status find_surface(const abut_tearing *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    const abut_tear_cells *c = &w->c;
    int32_t *tet = malloc((4 * (size_t)c->nt + 1) * sizeof *tet), *outer = NULL, n = 0, nouter = 0;
    const int32_t nv = m->nv + w->ncopies;
    abut_status rc = tet ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    for (int32_t t = 0; t < c->nt && !rc; t++)
        if (!c->gone[t]) memcpy(tet + 4 * (size_t)n++, c->now + 4 * (size_t)t, 4 * sizeof *tet);
    if (!rc) rc = abut_surface_triangles(tet, n, nv, &outer, &nouter, err);
    s->tri = rc ? NULL : malloc(3 * ((size_t)nouter + (size_t)c->n + (size_t)m->nct + 1) * sizeof *s->tri);
    if (!rc && !s->tri) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    if (!rc) {
        memcpy(s->tri, outer, 3 * (size_t)nouter * sizeof *s->tri);
        s->ntri = nouter;
        for (int32_t t = c->nt; t < c->n; t++)
            if (!c->gone[t]) memcpy(s->tri + 3 * (size_t)s->ntri++, c->now + 4 * (size_t)t, 3 * sizeof *s->tri);
        for (int32_t t = 0; t < m->nct; t++) {
            const int32_t *v = m->coll_tri + 3 * (size_t)t;
            if (abut_tear_simulated(m, v)) continue;
            for (int k = 0; k < 3; k++) s->tri[3 * (size_t)s->ntri + (size_t)k] = abut_model_contact_node(m, v[k]);
            s->ntri++;
        }
    }
    if (!rc) rc = find_segments(w, s, err);
    if (!rc) rc = abut_surface_edges(s->tri, s->ntri, s->seg, s->nseg, nv, &s->edge, &s->nedge, err);
    free(tet);
    free(outer);
    return rc;
}

static abut_status put_index(abut_arrays *set, const char *name, const int32_t *v, int width, int32_t n, const int32_t *vertex,
                             abut_err *err)
{
    int32_t *to = n ? abut_model_put(set, name, n, err) : NULL;
    if (n && !to) return err->code;
    for (int32_t i = 0; i < width * n; i++) to[i] = vertex ? vertex[v[i]] : v[i];
    return ABUT_OK;
}

abut_status abut_tear_put_surface(const abut_tearing *w, abut_arrays *set, abut_err *err)
{
    assert(w);
    const abut_model *m = w->m;
    const int32_t nv = m->nv + w->ncopies;
    surface s = { 0 };
    if (!m->nc) return ABUT_OK;     /* contact is off */
    abut_status rc = find_surface(w, &s, err);
    int32_t *vertex = calloc((size_t)nv + 1, sizeof *vertex), *node = malloc(((size_t)nv + 1) * sizeof *node), nc = 0;
    uint8_t *in_old = calloc((size_t)m->nc + 1, 1);
    if (!rc && (!vertex || !node || !in_old)) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    if (!rc) {
        for (int32_t i = 0; i < 3 * s.ntri; i++) vertex[s.tri[i]] = 1;
        for (int32_t i = 0; i < 2 * s.nedge; i++) vertex[s.edge[i]] = 1;
        for (int32_t i = 0; i < 2 * m->nce; i++) in_old[m->coll_edge[i]] = 1;
        for (int32_t i = 0; i < m->nc; i++)
            if (!in_old[i]) vertex[abut_model_contact_node(m, i)] = 1;        /* points */
        for (int32_t i = 0; i < nv; i++)
            if (vertex[i]) vertex[i] = nc, node[nc++] = i;
        rc = put_index(set, "contact/node", node, 1, nc, NULL, err);
        if (!rc) rc = put_index(set, "contact/edge", s.edge, 2, s.nedge, vertex, err);
        if (!rc) rc = put_index(set, "contact/triangle", s.tri, 3, s.ntri, vertex, err);
    }
    free(s.tri);
    free(s.edge);
    free(s.seg);
    free(vertex);
    free(node);
    free(in_old);
    return rc;
}
