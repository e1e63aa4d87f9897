#include "formats/result/smooth_surface.h"

#include "mesh/proxy.h"
#include "mesh/surface.h"
#include "model/tets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The divided boundary of one object, over its nodes. */
typedef struct body {
    int smooth;
    abut_mesh mesh;
    int32_t *global;            /* [mesh.nv] node of the model */
    double *rest;               /* of the rest shape, where its order is higher */
    abut_proxy proxy;
} body;

typedef struct maker {
    const abut_model *m;
    body *body;                 /* [no] */
    int32_t *local;             /* [nv] of the object at hand, -1 */
    uint8_t *vertex;            /* [nv] 1: a collision vertex is this node alone */
} maker;

static void clear(maker *k)
{
    for (int32_t o = 0; k->body && o < k->m->no; o++) {
        abut_mesh_clear(&k->body[o].mesh);
        abut_proxy_clear(&k->body[o].proxy);
        free(k->body[o].global), free(k->body[o].rest);
    }
    free(k->body), free(k->local), free(k->vertex);
}

static abut_status no_memory(const abut_model *m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "smooth surface: no memory for %d tets", m->nt);
}

/* Which nodes collide themselves. */
static void find_vertices(maker *k)
{
    const abut_model *m = k->m;
    for (int32_t v = 0; v < m->nc; v++)
        if (!m->map_first || m->map_first[2 * v + 1] - m->map_first[2 * v] == 1) k->vertex[abut_model_contact_node(m, v)] = 1;
}

/* Marks objects with curved tets whose contact surface is the boundary: all its corners collide.  If the model has no contact
 * surface, marks all objects with tets: their boundary is shown. */
static abut_status choose(maker *k, abut_err *err)
{
    const abut_model *m = k->m;
    int32_t *tri = NULL, n = 0;
    int curved = 0;
    for (int32_t t = 0; t < m->nt; t++) curved |= abut_tet_geometry_order(m, t) > 1;
    if (!curved) return ABUT_OK;
    for (int32_t t = 0; t < m->nt; t++)
        if (!m->nct || abut_tet_geometry_order(m, t) > 1) k->body[m->body[m->tet[4 * (size_t)t]]].smooth = 1;
    const abut_status rc = abut_surface_triangles(m->tet, m->nt, m->nv, &tri, &n, err);
    for (int32_t i = 0; i < (m->nct ? 3 * n : 0); i++)
        if (!k->vertex[tri[i]]) k->body[m->body[tri[i]]].smooth = 0;
    free(tri);
    return rc;
}

static abut_status add_tet(maker *k, body *b, int32_t t, abut_err *err)
{
    const abut_model *m = k->m;
    int32_t node[ABUT_TET_NODES_MAX];
    const int n = abut_tet_corners(m, t, node);
    abut_status rc = ABUT_OK;
    for (int c = 0; c < n && !rc; c++) {
        int32_t *at = &k->local[node[c]];
        if (*at < 0) {
            *at = b->mesh.nv;
            b->global[b->mesh.nv] = node[c];
            rc = abut_mesh_add_vertex(&b->mesh, m->X + 3 * (size_t)node[c], err);
        }
        node[c] = *at;
    }
    return rc ? rc : abut_mesh_add_tet_of(&b->mesh, abut_tet_order(m, t), node, err);
}

/* The rest shape of the tets of object o, where that has more nodes than they. */
static abut_status find_rest(const maker *k, body *b, int32_t o, abut_rest_shape *shape, abut_err *err)
{
    const abut_model *m = k->m;
    int32_t n = 0;
    *shape = (abut_rest_shape){ 0, NULL };
    for (int32_t t = 0; t < m->nt; t++) {
        const int order = abut_tet_geometry_order(m, t);
        if (m->body[m->tet[4 * (size_t)t]] != o) continue;
        if (n == 0 && order > abut_mesh_order(&b->mesh)) {
            b->rest = malloc(3 * (size_t)b->mesh.nt * (size_t)abut_tet_nodes(order) * sizeof *b->rest);
            if (!b->rest) return no_memory(m, err);
            *shape = (abut_rest_shape){ order, b->rest };
        }
        if (order != (shape->order ? shape->order : abut_mesh_order(&b->mesh)))
            return abut_fail(err, ABUT_E_FORMAT, "tet %d has a rest shape of order %d, others of its object of order %d: "
                             "expected one order", t, order, shape->order);
        if (b->rest) abut_tet_geometry(m, t, b->rest + 3 * (size_t)n * (size_t)abut_tet_nodes(order));
        n++;
    }
    return ABUT_OK;
}

static abut_status divide(maker *k, int32_t o, int segments, abut_err *err)
{
    const abut_model *m = k->m;
    body *b = &k->body[o];
    abut_rest_shape shape;
    abut_status rc = ABUT_OK;
    b->global = malloc(((size_t)m->nv + 1) * sizeof *b->global);
    if (!b->global) return no_memory(m, err);
    memset(k->local, -1, (size_t)m->nv * sizeof *k->local);
    for (int32_t t = 0; t < m->nt && !rc; t++)
        if (m->body[m->tet[4 * (size_t)t]] == o) rc = add_tet(k, b, t, err);
    if (!rc) rc = find_rest(k, b, o, &shape, err);
    const int flat = !rc && !shape.order && abut_mesh_order(&b->mesh) == 1;
    return rc ? rc : abut_proxy_upsample(&b->mesh, shape, flat ? 1 : segments, &b->proxy, err);
}

/* ---- the map of all ---- */

/* Allocates the arrays for unchanged and divided surfaces. */
static abut_status make_room(const maker *k, abut_smooth *s, abut_err *err)
{
    const abut_model *m = k->m;
    size_t nc = (size_t)m->nc, nw = nc + (size_t)m->nmap, nt = (size_t)m->nct;
    for (int32_t o = 0; o < m->no; o++) {
        const abut_proxy *p = &k->body[o].proxy;
        nc += (size_t)p->nv, nt += (size_t)p->nf, nw += p->nv ? (size_t)p->first[p->nv] : 0;
    }
    if (nc + (size_t)m->nv > INT32_MAX || nw > INT32_MAX || 3 * nt > INT32_MAX)
        return abut_fail(err, ABUT_E_FORMAT, "smooth surface: %zu vertices, %zu triangles are too many: fewer segments", nc, nt);
    s->first = malloc(2 * (nc + 1) * sizeof *s->first), s->node = malloc((nw + 1) * sizeof *s->node);
    s->weight = malloc((nw + 1) * sizeof *s->weight), s->offset = calloc(3 * (nc + 1), sizeof *s->offset);
    s->tri = malloc(3 * (nt + 1) * sizeof *s->tri), s->edge = malloc(2 * ((size_t)m->nce + 1) * sizeof *s->edge);
    return s->first && s->node && s->weight && s->offset && s->tri && s->edge ? ABUT_OK : no_memory(m, err);
}

static void add_term(abut_smooth *s, int32_t node, double weight)
{
    s->node[s->view.nmap] = node, s->weight[s->view.nmap++] = weight;
    s->first[2 * (size_t)s->view.nc + 1] = s->view.nmap;
}

/* Vertices, triangles and edges of contact that stay; at[nc] gets the new numbers, -1. */
static void keep(const maker *k, abut_smooth *s, int32_t *at)
{
    const abut_model *m = k->m;
    for (int32_t v = 0; v < m->nc; v++) {
        at[v] = -1;
        if (k->body[m->body[abut_model_contact_node(m, v)]].smooth) continue;
        s->first[2 * (size_t)s->view.nc] = s->view.nmap;
        if (!m->map_first) add_term(s, abut_model_contact_node(m, v), 1);
        for (int32_t i = m->map_first ? m->map_first[2 * v] : 0; m->map_first && i < m->map_first[2 * v + 1]; i++)
            add_term(s, m->map_node[i], m->map_weight[i]);
        if (m->map_offset) memcpy(s->offset + 3 * (size_t)s->view.nc, m->map_offset + 3 * (size_t)v, 3 * sizeof *s->offset);
        at[v] = s->view.nc++;
    }
    for (int32_t t = 0; t < m->nct; t++) {
        if (at[m->coll_tri[3 * (size_t)t]] < 0) continue;
        for (int c = 0; c < 3; c++) s->tri[3 * (size_t)s->view.nct + (size_t)c] = at[m->coll_tri[3 * (size_t)t + (size_t)c]];
        s->view.nct++;
    }
    for (int32_t e = 0; e < m->nce; e++) {
        if (at[m->coll_edge[2 * (size_t)e]] < 0) continue;
        for (int c = 0; c < 2; c++) s->edge[2 * (size_t)s->view.nce + (size_t)c] = at[m->coll_edge[2 * (size_t)e + (size_t)c]];
        s->view.nce++;
    }
}

static void add_body(const body *b, abut_smooth *s)
{
    const abut_proxy *p = &b->proxy;
    const int32_t before = s->view.nc;
    for (int32_t v = 0; v < p->nv; v++) {
        s->first[2 * (size_t)s->view.nc] = s->view.nmap;
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++) add_term(s, b->global[p->point[i]], p->weight[i]);
        if (p->offset) memcpy(s->offset + 3 * (size_t)s->view.nc, p->offset + 3 * (size_t)v, 3 * sizeof *s->offset);
        s->view.nc++;
    }
    for (int32_t i = 0; i < 3 * p->nf; i++) s->tri[3 * (size_t)s->view.nct + (size_t)i] = before + p->tri[i];
    s->view.nct += p->nf;
}

static abut_status join(const maker *k, abut_smooth *s, abut_err *err)
{
    const abut_model *m = k->m;
    int32_t *at = malloc(((size_t)m->nc + 1) * sizeof *at);
    const abut_status rc = at ? make_room(k, s, err) : no_memory(m, err);
    s->view = *m;
    s->view.nc = s->view.nct = s->view.nce = s->view.nmap = 0;
    if (!rc) keep(k, s, at);
    for (int32_t o = 0; o < (rc ? 0 : m->no); o++) add_body(&k->body[o], s);
    s->view.map_first = s->first, s->view.map_node = s->node, s->view.map_weight = s->weight, s->view.map_offset = s->offset;
    s->view.coll_node = NULL, s->view.coll_tri = s->tri, s->view.coll_edge = s->edge;
    free(at);
    return rc;
}

abut_status abut_smooth_make(const abut_model *m, int segments, abut_smooth *out, abut_err *err)
{
    assert(m && segments > 0);
    maker k = { m, calloc((size_t)m->no + 1, sizeof *k.body), malloc(((size_t)m->nv + 1) * sizeof *k.local),
                calloc((size_t)m->nv + 1, 1) };
    int some = 0;
    *out = (abut_smooth){ .first = NULL };
    abut_status rc = k.body && k.local && k.vertex ? ABUT_OK : no_memory(m, err);
    if (!rc) find_vertices(&k);
    if (!rc) rc = choose(&k, err);
    for (int32_t o = 0; o < m->no && !rc; o++) {
        if (k.body[o].smooth) rc = divide(&k, o, segments, err);
        some |= k.body[o].smooth;
    }
    if (!rc && some) rc = join(&k, out, err);
    else if (!rc) out->view = *m;
    clear(&k);
    if (rc) abut_smooth_clear(out);
    return rc;
}

void abut_smooth_clear(abut_smooth *s)
{
    free(s->first), free(s->node), free(s->tri), free(s->edge), free(s->weight), free(s->offset);
    *s = (abut_smooth){ .first = NULL };
}
