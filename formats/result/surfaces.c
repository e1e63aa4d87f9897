#include "formats/result/surfaces.h"

#include "base/arena.h"
#include "base/order.h"
#include "math/vec3.h"
#include "mesh/proxy.h"
#include "mesh/surface.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the smooth surface of curved tets ---- */

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
    const abut_status rc = abut_surface_triangles(m->tet, m->nt, &tri, &n, err);
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
    return ABUT_ARRAYS(ABUT_ITEMS(s->first, 2 * nc), ABUT_ITEMS(s->node, nw), ABUT_ITEMS(s->weight, nw),
                       ABUT_ZEROS(s->offset, 3 * nc), ABUT_ITEMS(s->tri, 3 * nt), ABUT_ITEMS(s->edge, 2 * (size_t)m->nce))
        ? ABUT_OK : no_memory(m, err);
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

/* ---- shells, rods and particles with their thickness ---- */

enum {
    SIDES = 12,                 /* around a capsule or a ball */
    HALF = 3,                   /* rings of half a ball, its rim included */
    CAPSULE = 2 * HALF,         /* rings: both rims */
    BALL = 2 * HALF - 1         /* rings: one rim */
};

static const double PI = 3.141592653589793;

static int32_t lathe_points(int rings) { return 2 + rings * SIDES; }
static int32_t lathe_triangles(int rings) { return 2 * rings * SIDES; }

/* ---- triangles, once for a model ---- */

typedef struct edge {
    int32_t from, to;
} edge;

static int32_t *put(int32_t *t, int32_t a, int32_t b, int32_t c)
{
    t[0] = a, t[1] = b, t[2] = c;
    return t + 3;
}

/* Two sheets, and a strip along every edge that one triangle alone has.  at[point]: its place among those of the sheets.
 * Returns how many triangles; t NULL: counts. */
static int32_t sheets(const abut_part *p, const int32_t *at, edge *e, int32_t *t)
{
    const int32_t ne = 3 * p->ntri;
    int32_t *start = t;
    int32_t n = 2 * p->ntri;
    for (int32_t i = 0; i < p->ntri; i++) {
        const int32_t *c = p->tri + 3 * i;
        for (int k = 0; k < 3; k++) e[3 * i + k] = (edge){ at[c[k]], at[c[(k + 1) % 3]] };
        if (t) t = put(t, 2 * at[c[0]], 2 * at[c[1]], 2 * at[c[2]]);
        if (t) t = put(t, 2 * at[c[0]] + 1, 2 * at[c[2]] + 1, 2 * at[c[1]] + 1);
    }
    qsort(e, (size_t)ne, sizeof *e, abut_by_two);
    for (int32_t i = 0; i < ne; i++) {
        const edge back = { e[i].to, e[i].from };
        if (bsearch(&back, e, (size_t)ne, sizeof *e, abut_by_two)) continue;
        n += 2;
        if (!t) continue;
        t = put(t, 2 * e[i].to, 2 * e[i].from, 2 * e[i].from + 1);
        t = put(t, 2 * e[i].to, 2 * e[i].from + 1, 2 * e[i].to + 1);
    }
    return start ? (int32_t)((t - start) / 3) : n;
}

/* A pole, rings, the other pole: points from `first` on. */
static int32_t *lathe(int32_t *t, int32_t first, int rings)
{
    const int32_t last = first + 1 + rings * SIDES;
    for (int k = 0; k < SIDES; k++) {
        const int next = (k + 1) % SIDES;
        t = put(t, first, first + 1 + next, first + 1 + k);
        for (int ring = 0; ring + 1 < rings; ring++) {
            const int32_t a = first + 1 + ring * SIDES, b = a + SIDES;
            t = put(t, a + k, a + next, b + next);
            t = put(t, a + k, b + next, b + k);
        }
        t = put(t, last, last - SIDES + k, last - SIDES + next);
    }
    return t;
}

static abut_status no_room(const abut_part *p, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its surface", p->name);
}

/* Points of triangles, in their order; at[point]: place, or -1. */
static void find_sheet(const abut_part *p, abut_thick_part *t, int32_t *at)
{
    for (int32_t i = 0; i < p->nv; i++) at[i] = -1;
    for (int32_t i = 0; i < 3 * p->ntri; i++) at[p->tri[i]] = 0;
    for (int32_t i = 0; i < p->nv; i++)
        if (!at[i]) {
            at[i] = t->nsheet;
            t->sheet[t->nsheet++] = i;
        }
}

/* The part `to` of t's points, whose arrays are new. */
static abut_status surface(const abut_part *p, abut_thick_part *t, abut_part *to, abut_err *err)
{
    int32_t *at = malloc(((size_t)p->nv + 1) * sizeof *at);
    edge *e = malloc((3 * (size_t)p->ntri + 1) * sizeof *e);
    abut_status rc = ABUT_OK;
    t->sheet = malloc(((size_t)p->nv + 1) * sizeof *t->sheet);
    if (!at || !e || !t->sheet) rc = no_room(p, err);
    if (!rc) {
        find_sheet(p, t, at);
        to->nv = 2 * t->nsheet + p->nseg * lathe_points(CAPSULE) + p->npoint * lathe_points(BALL);
        to->ntri = sheets(p, at, e, NULL) + p->nseg * lathe_triangles(CAPSULE) + p->npoint * lathe_triangles(BALL);
        to->nseg = to->npoint = 0;
        to->seg = to->point = NULL;
        if (!ABUT_ARRAYS(ABUT_ITEMS(to->node, to->nv), ABUT_ITEMS(to->tri, 3 * (size_t)to->ntri))) rc = no_room(p, err);
    }
    if (!rc) {
        int32_t *tri = to->tri + 3 * sheets(p, at, e, to->tri), first = 2 * t->nsheet;
        for (int32_t i = 0; i < p->nseg; i++, first += lathe_points(CAPSULE)) tri = lathe(tri, first, CAPSULE);
        for (int32_t i = 0; i < p->npoint; i++, first += lathe_points(BALL)) tri = lathe(tri, first, BALL);
        for (int32_t i = 0; i < to->nv; i++) to->node[i] = t->first + i;
    }
    ABUT_FREE(at, e);
    return rc;
}

/* The point of the part that each point of its surface belongs to. */
static void owners(const abut_thick_part *t, int32_t *own)
{
    const abut_part *p = t->of;
    int32_t k = 0;
    for (int32_t i = 0; i < t->nsheet; i++) own[k++] = t->sheet[i], own[k++] = t->sheet[i];
    for (int32_t i = 0; i < p->nseg; i++)
        for (int32_t j = 0; j < lathe_points(CAPSULE); j++) own[k++] = p->seg[2 * i + (j > CAPSULE / 2 * SIDES)];
    for (int32_t i = 0; i < p->npoint; i++)
        for (int32_t j = 0; j < lathe_points(BALL); j++) own[k++] = p->point[i];
}

/* ---- points, of every frame ---- */

/* Points from pole to pole about the line from a to b, r from it; of a ball a is b. */
static double *turned(double *to, abut_vec3 a, abut_vec3 b, double r, int rings)
{
    const abut_vec3 along = abut_v3_sub(b, a);
    const double len = abut_v3_norm(along);
    const abut_vec3 t = len > 0 ? abut_v3_scale(1 / len, along) : abut_v3(0, 1, 0);
    const double ax = fabs(t.x), ay = fabs(t.y), az = fabs(t.z);
    const abut_vec3 e = ax <= ay && ax <= az ? abut_v3(1, 0, 0) : ay <= az ? abut_v3(0, 1, 0) : abut_v3(0, 0, 1);
    abut_vec3 u = abut_v3_cross(t, e);
    u = abut_v3_scale(1 / abut_v3_norm(u), u);
    const abut_vec3 w = abut_v3_cross(t, u);
    for (int ring = -1; ring <= rings; ring++) {
        const int pole = ring < 0 || ring == rings;
        const double polar = PI / (2 * HALF) * (rings == CAPSULE && ring >= HALF ? ring : ring + 1);
        for (int k = 0; k < (pole ? 1 : SIDES); k++, to += 3) {
            const double angle = 2 * PI * k / SIDES, out = pole ? 0 : r * sin(polar);
            const abut_vec3 rim = abut_v3_axpy(ring < HALF ? a : b, -r * cos(polar), t);
            abut_v3_put(to, abut_v3_axpy(abut_v3_axpy(rim, out * cos(angle), u), out * sin(angle), w));
        }
    }
    return to;
}

/* Points of both sheets; normal [3 nv]: scratch for the sums of the triangles' normals, each as long as twice its area. */
static double *lift(const abut_thick_part *t, const double *x, double *normal, double *to)
{
    const abut_part *p = t->of;
    memset(normal, 0, 3 * (size_t)p->nv * sizeof *normal);
    for (int32_t i = 0; i < p->ntri; i++) {
        const int32_t *c = p->tri + 3 * i;
        const double *q = x + 3 * (size_t)p->node[c[0]];
        const abut_vec3 n = abut_v3_cross(abut_v3_diff(x + 3 * (size_t)p->node[c[1]], q),
                                          abut_v3_diff(x + 3 * (size_t)p->node[c[2]], q));
        for (int k = 0; k < 3; k++) abut_v3_put(normal + 3 * c[k], abut_v3_add(abut_v3_get(normal + 3 * c[k]), n));
    }
    for (int32_t i = 0; i < t->nsheet; i++, to += 6) {
        const abut_vec3 n = abut_v3_get(normal + 3 * t->sheet[i]), at = abut_v3_get(x + 3 * (size_t)p->node[t->sheet[i]]);
        const double len = abut_v3_norm(n), s = len > 0 ? t->radius / len : 0;
        abut_v3_put(to, abut_v3_axpy(at, s, n));
        abut_v3_put(to + 3, abut_v3_axpy(at, -s, n));
    }
    return to;
}

/* to[3 n_points ...]: of the model, then of surfaces */
static void move(const abut_thick *t, const double *x, double *to)
{
    memcpy(to, x, 3 * (size_t)t->n_points * sizeof *to);
    for (int32_t k = 0; k < t->parts.n; k++) {
        const abut_thick_part *q = &t->part[k];
        const abut_part *p = q->of;
        if (!(q->radius > 0)) continue;
        double *put = lift(q, x, t->normal, to + 3 * (size_t)q->first);
        for (int32_t i = 0; i < p->nseg; i++)
            put = turned(put, abut_v3_get(x + 3 * (size_t)p->node[p->seg[2 * i]]),
                         abut_v3_get(x + 3 * (size_t)p->node[p->seg[2 * i + 1]]), q->radius, CAPSULE);
        for (int32_t i = 0; i < p->npoint; i++) {
            const abut_vec3 at = abut_v3_get(x + 3 * (size_t)p->node[p->point[i]]);
            put = turned(put, at, at, q->radius, BALL);
        }
    }
}

void abut_thick_frame(abut_thick *t, const double *x, const double *v)
{
    move(t, x, t->x);
    memcpy(t->v, v, 3 * (size_t)t->n_points * sizeof *v);
    for (int32_t i = t->n_points; i < t->parts.n_points; i++)
        memcpy(t->v + 3 * (size_t)i, v + 3 * (size_t)t->own[i], 3 * sizeof *v);
}

/* ---- the whole ---- */

/* Points of surfaces: whose they are, and the node that speaks for them. */
static abut_status number_points(abut_thick *t, const abut_parts *from, abut_err *err)
{
    const size_t n = (size_t)t->parts.n_points + 1;
    int32_t most = 0;
    for (int32_t k = 0; k < from->n; k++) most = from->part[k].nv > most ? from->part[k].nv : most;
    if (!ABUT_ARRAYS(ABUT_ITEMS(t->parts.lead, n), ABUT_ITEMS(t->own, n), ABUT_ITEMS(t->X, 3 * n), ABUT_ITEMS(t->x, 3 * n),
                     ABUT_ITEMS(t->v, 3 * n), ABUT_ITEMS(t->normal, 3 * (size_t)most)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the %d points of thick surfaces", t->parts.n_points);
    memcpy(t->parts.lead, from->lead, (size_t)t->n_points * sizeof *t->parts.lead);
    for (int32_t k = 0; k < from->n; k++) {
        const abut_thick_part *q = &t->part[k];
        if (!(q->radius > 0)) continue;
        int32_t *own = t->own + q->first;
        owners(q, own);
        for (int32_t i = 0; i < t->parts.part[k].nv; i++) {
            own[i] = q->of->node[own[i]];
            t->parts.lead[q->first + i] = from->lead[own[i]];
        }
    }
    return ABUT_OK;
}

abut_status abut_thick_make(const abut_parts *from, const abut_model *m, const double *X, abut_thick *out, abut_err *err)
{
    abut_thick t = { .parts = *from, .n_points = from->n_points, .part = calloc((size_t)from->n + 1, sizeof *t.part) };
    abut_status rc = ABUT_OK;
    t.parts.lead = NULL;
    t.parts.part = calloc((size_t)from->n + 1, sizeof *t.parts.part);
    if (!t.part || !t.parts.part) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for the surfaces of %d objects", from->n);
    for (int32_t k = 0; k < from->n && !rc; k++) {
        const abut_part *p = &from->part[k];
        t.parts.part[k] = *p;
        t.part[k] = (abut_thick_part){ .of = p, .first = t.parts.n_points };
        if (p->solid) continue;
        const double r = abut_object_radius(m, p->object);
        if (!(r > 0)) continue;
        t.part[k].radius = r;
        t.parts.part[k].node = t.parts.part[k].tri = NULL;
        rc = surface(p, &t.part[k], &t.parts.part[k], err);
        t.parts.n_points += rc ? 0 : t.parts.part[k].nv;
    }
    if (!rc) rc = number_points(&t, from, err);
    if (!rc) move(&t, X, t.X);
    if (rc) abut_thick_clear(&t);
    else *out = t;
    return rc;
}

void abut_thick_clear(abut_thick *t)
{
    for (int32_t k = 0; t->part && t->parts.part && k < t->parts.n; k++) {
        free(t->part[k].sheet);
        if (!(t->part[k].radius > 0)) continue;
        ABUT_FREE(t->parts.part[k].node, t->parts.part[k].tri);
    }
    ABUT_FREE(t->part, t->parts.part, t->parts.lead, t->own, t->X, t->x, t->v, t->normal);
    *t = (abut_thick){ .part = NULL };
}
