#include "formats/result/object_parts.h"

#include "base/arena.h"
#include "base/order.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "model/naming.h"
#include "model/tets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of points of the model by object, before the points of an object are numbered. */
typedef struct gather {
    int32_t *tri, *seg, *point;
    int32_t ntri, nseg, npoint;
    uint8_t *shape;     /* [no] SHAPE_* */
} gather;

/* An object is shown by springs and points, if it has nothing else; by elements; or by its collision edges and triangles, whose
 * vertices are nodes, or sums of nodes. */
enum { SHAPE_SPRINGS, SHAPE_ELEMENTS, SHAPE_NODES, SHAPE_SUMS };

static void gather_clear(gather *g)
{
    ABUT_FREE(g->tri, g->seg, g->point, g->shape);
    *g = (gather){ 0 };
}

static int is_sum(const abut_model *m, int32_t v)
{
    if (!m->map_first) return 0;
    const int32_t lo = m->map_first[2 * v];
    const double *by = m->map_offset ? m->map_offset + 3 * (size_t)v : NULL;
    return m->map_first[2 * v + 1] - lo != 1 || m->map_weight[lo] < 1 || m->map_weight[lo] > 1 ||
           (by && (fabs(by[0]) > 0 || fabs(by[1]) > 0 || fabs(by[2]) > 0));
}

/* Raises the shape of the objects of n elements of `width` nodes, or collision vertices, each. */
static void show_by(const abut_model *m, const int32_t *element, int32_t n, int width, int of_vertices, uint8_t to,
                    uint8_t *shape)
{
    for (size_t i = 0; i < (size_t)n; i++) {
        const int32_t lead = element[(size_t)width * i];
        uint8_t *of = &shape[m->body[of_vertices ? abut_model_contact_node(m, lead) : lead]];
        if (*of < to) *of = to;
    }
}

static void find_shapes(const abut_model *m, uint8_t *shape)
{
    show_by(m, m->tet, m->nt, 4, 0, SHAPE_ELEMENTS, shape);
    show_by(m, m->shell, m->nsh, 3, 0, SHAPE_ELEMENTS, shape);
    show_by(m, m->rod, m->nrd, 2, 0, SHAPE_ELEMENTS, shape);
    show_by(m, m->coll_edge, m->nce, 2, 1, SHAPE_NODES, shape);
    show_by(m, m->coll_tri, m->nct, 3, 1, SHAPE_NODES, shape);
    for (int32_t v = 0; v < m->nc; v++)
        if (is_sum(m, v)) show_by(m, &v, 1, 1, 1, SHAPE_SUMS, shape);
    for (int32_t t = 0; t < m->nt; t++)
        if (shape[m->body[m->tet[4 * (size_t)t]]] == SHAPE_NODES && m->map_first && abut_tet_order(m, t) > 1)
            show_by(m, m->tet + 4 * (size_t)t, 1, 4, 0, SHAPE_SUMS, shape);
}

/* The point that collision vertex v is. */
static int32_t point_of(const abut_model *m, const gather *g, int32_t v)
{
    const int32_t node = abut_model_contact_node(m, v);
    return g->shape[m->body[node]] == SHAPE_SUMS ? m->nv + v : node;
}

/* Adds n elements of `width` nodes each to a list, those of objects of one shape. */
static void add_elements(const abut_model *m, const uint8_t *shape, uint8_t which, const int32_t *node, int32_t n, int width,
                         int32_t *to, int32_t *count)
{
    for (size_t i = 0, w = (size_t)width; i < (size_t)n; i++)
        if (shape[m->body[node[w * i]]] == which) memcpy(to + w * (size_t)(*count)++, node + w * i, w * sizeof *to);
}

static abut_status gather_triangles(const abut_model *m, gather *g, abut_err *err)
{
    int32_t *skin = NULL, n = 0;
    int hidden = 0;
    for (int32_t t = 0; t < m->nt && !hidden; t++) hidden = g->shape[m->body[m->tet[4 * (size_t)t]]] == SHAPE_ELEMENTS;
    const abut_status rc = hidden ? abut_surface_triangles(m->tet, m->nt, &skin, &n, err) : ABUT_OK;
    if (!rc) g->tri = malloc((3 * ((size_t)m->nct + (size_t)n + (size_t)m->nsh) + 1) * sizeof *g->tri);
    if (g->tri) {
        g->ntri = m->nct;
        for (size_t i = 0; i < 3 * (size_t)m->nct; i++) g->tri[i] = point_of(m, g, m->coll_tri[i]);
        add_elements(m, g->shape, SHAPE_ELEMENTS, skin, n, 3, g->tri, &g->ntri);
        add_elements(m, g->shape, SHAPE_ELEMENTS, m->shell, m->nsh, 3, g->tri, &g->ntri);
    }
    free(skin);
    return rc;
}

/* Segments: collision edges, rods and springs that are edges of no triangle.  edges: those of the triangles, ascending. */
static void gather_segments(const abut_model *m, const int32_t *edges, int32_t n_edges, gather *g)
{
    for (int32_t i = 0; i < m->nce; i++) {
        g->seg[2 * g->nseg] = point_of(m, g, m->coll_edge[2 * i]);
        g->seg[2 * g->nseg++ + 1] = point_of(m, g, m->coll_edge[2 * i + 1]);
    }
    add_elements(m, g->shape, SHAPE_ELEMENTS, m->rod, m->nrd, 2, g->seg, &g->nseg);
    add_elements(m, g->shape, SHAPE_SPRINGS, m->spring, m->nsp, 2, g->seg, &g->nseg);
    int32_t kept = 0;
    for (int32_t i = 0; i < g->nseg; i++) {
        const int32_t a = g->seg[2 * i], b = g->seg[2 * i + 1], key[2] = { a < b ? a : b, a < b ? b : a };
        if (n_edges && bsearch(key, edges, (size_t)n_edges, sizeof key, abut_by_two)) continue;
        g->seg[2 * kept] = a;
        g->seg[2 * kept++ + 1] = b;
    }
    g->nseg = kept;
}

/* Points: collision vertices of no edge and no triangle, and nodes of no element of objects that no collision edge shows.
 * used[n_points]: 1 for points of triangles and segments. */
static void gather_points(const abut_model *m, uint8_t *used, gather *g)
{
    int32_t node[ABUT_TET_NODES_MAX];
    for (int32_t v = 0; v < m->nc; v++) {
        const int32_t p = point_of(m, g, v);
        if (!used[p]) g->point[g->npoint++] = p;
        used[p] = 1;
    }
    for (int32_t t = 0; t < m->nt; t++)
        for (int c = abut_tet_corners(m, t, node) - 1; c >= 0; c--) used[node[c]] = 1;
    for (int32_t i = 0; i < m->nv; i++)
        if (!used[i] && g->shape[m->body[i]] <= SHAPE_ELEMENTS) g->point[g->npoint++] = i;
}

static abut_status gather_lists(const abut_model *m, int32_t n_points, gather *g, abut_err *err)
{
    int32_t *edges = NULL, n_edges = 0;
    uint8_t *used = calloc((size_t)n_points + 1, 1);
    *g = (gather){ .shape = calloc((size_t)m->no + 1, 1) };
    abut_status rc = ABUT_OK;
    if (g->shape) {
        find_shapes(m, g->shape);
        rc = gather_triangles(m, g, err);
    }
    g->seg = malloc((2 * ((size_t)m->nce + (size_t)m->nrd + (size_t)m->nsp) + 1) * sizeof *g->seg);
    g->point = malloc(((size_t)m->nc + (size_t)m->nv + 1) * sizeof *g->point);
    if (!rc && (!used || !g->shape || !g->tri || !g->seg || !g->point))
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory for the surface of the model");
    if (!rc && g->ntri) rc = abut_surface_edges(g->tri, g->ntri, NULL, 0, &edges, &n_edges, err);
    if (!rc) {
        gather_segments(m, edges, n_edges, g);
        for (int32_t i = 0; i < 3 * g->ntri; i++) used[g->tri[i]] = 1;
        for (int32_t i = 0; i < 2 * g->nseg; i++) used[g->seg[i]] = 1;
        gather_points(m, used, g);
    }
    ABUT_FREE(edges, used);
    if (rc) gather_clear(g);
    return rc;
}

/* ---- which objects ---- */

/* nh: of the half-spaces that may be named, too */
static abut_status unknown_object(const abut_arrays *set, int32_t no, int32_t nh, const char *name, abut_err *err)
{
    char list[240] = "", one[ABUT_PART_NAME];
    size_t at = 0;
    for (int32_t o = 0; o < no + nh && at + 24 < sizeof list; o++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%.*s", o ? ", " : "", (int)(sizeof list - at - 10),
                               abut_text_row(set, o < no ? "object/name" : "half-space/name", o < no ? o : o - no, one,
                                             sizeof one));
    return abut_fail(err, ABUT_E_ARG, "no object is called '%.60s'; there are %.*s%s", name, (int)sizeof list - 8, list,
                     at + 24 < sizeof list ? "" : " ...");
}

/* Marks the rows of a text of names that one of the names is; returns whether there was one. */
static int take_name(const abut_arrays *set, const char *text, int32_t n, const char *name, uint8_t *take)
{
    char one[ABUT_PART_NAME];
    int found = 0;
    for (int32_t o = 0; o < n; o++)
        if (!strcmp(abut_text_row(set, text, o, one, sizeof one), name)) take[o] = found = 1;
    return found;
}

/* Marks the chosen objects in take[0 .. no) and half-spaces in take[no .. no + nh). */
static abut_status choose(const abut_arrays *set, int32_t no, int32_t nh, const char *const *names, int n_names, uint8_t *take,
                          abut_err *err)
{
    memset(take, n_names == 0, (size_t)no + (size_t)nh);
    for (int k = 0; k < n_names; k++) {
        const int object = take_name(set, "object/name", no, names[k], take);
        if (!take_name(set, "half-space/name", nh, names[k], take + no) && !object)
            return unknown_object(set, no, nh, names[k], err);
    }
    return ABUT_OK;
}

abut_status abut_objects_choose(const abut_arrays *set, int32_t no, const char *const *names, int n_names, uint8_t *take,
                                abut_err *err)
{
    return choose(set, no, 0, names, n_names, take, err);
}

/* ---- one part ---- */

/* The elements of one object, by the object of their first point, moved into its lists as point numbers. */
static int32_t *pick(const abut_model *m, const int32_t *lead, const int32_t *list, int32_t n, int width, const int32_t *local,
                     int32_t object, int32_t *count)
{
    *count = 0;
    for (int32_t i = 0; i < n; i++) *count += m->body[lead[list[width * i]]] == object;
    int32_t *out = malloc(((size_t)*count * (size_t)width + 1) * sizeof *out);
    int32_t *p = out;
    for (int32_t i = 0; out && i < n; i++)
        if (m->body[lead[list[width * i]]] == object)
            for (int k = 0; k < width; k++) *p++ = local[list[width * i + k]];
    return out;
}

/* local[n_points]: number of every point in its part, -1 when it is in none. */
static abut_status fill_part(const abut_model *m, const abut_parts *all, const gather *g, int32_t *local, abut_part *p,
                             abut_err *err)
{
    const int32_t *lead = all->lead;
    int32_t count = 0;
    for (int32_t i = 0; i < all->n_points; i++)
        if (m->body[lead[i]] == p->object && local[i] >= 0) count++;
    p->node = malloc(((size_t)count + 1) * sizeof *p->node);
    if (!p->node) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its surface", p->name);
    for (int32_t i = 0; i < all->n_points; i++)
        if (m->body[lead[i]] == p->object && local[i] >= 0) {
            local[i] = p->nv;
            p->node[p->nv++] = i;
        }
    p->obstacle = p->nv > 0 && m->role[lead[p->node[0]]] == ABUT_NODE_OBSTACLE;
    p->proxy = p->nv > 0 && p->node[p->nv - 1] >= m->nv;
    p->tri = pick(m, lead, g->tri, g->ntri, 3, local, p->object, &p->ntri);
    p->seg = pick(m, lead, g->seg, g->nseg, 2, local, p->object, &p->nseg);
    p->point = pick(m, lead, g->point, g->npoint, 1, local, p->object, &p->npoint);
    if (!p->tri || !p->seg || !p->point) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its surface", p->name);
    return ABUT_OK;
}

static void mark(const int32_t *list, int32_t n, int32_t *local) { for (int32_t i = 0; i < n; i++) local[list[i]] = 0; }

abut_status abut_parts_make(const abut_arrays *set, const abut_model *m, const char *const *names, int n_names,
                            abut_parts *out, abut_err *err)
{
    gather g = { 0 };
    const int32_t np = m->nv + (m->map_first ? m->nc : 0);
    abut_parts made = { .n_points = np, .lead = malloc(((size_t)np + 1) * sizeof *made.lead),
                        .part = calloc((size_t)m->no + 1, sizeof *made.part), .chosen = calloc((size_t)m->nv + 1, 1),
                        .plane = malloc(((size_t)m->nh + 1) * sizeof *made.plane),
                        .number = malloc(((size_t)m->nv + 1) * sizeof *made.number) };
    int32_t *local = malloc(((size_t)np + 1) * sizeof *local);
    uint8_t *take = malloc((size_t)m->no + (size_t)m->nh + 1);
    abut_status rc = ABUT_OK;
    if (!made.lead || !made.part || !made.chosen || !made.number || !made.plane || !local || !take)
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory for the objects");
    if (!rc) rc = abut_node_numbers(m, made.number, err);
    if (!rc) rc = choose(set, m->no, m->nh, names, n_names, take, err);
    if (!rc) rc = gather_lists(m, np, &g, err);
    if (!rc) {
        for (int32_t i = 0; i < m->nv; i++) made.chosen[i] = take[m->body[i]];
        for (int32_t i = 0; i < np; i++) {
            local[i] = -1;
            made.lead[i] = i < m->nv ? i : abut_model_contact_node(m, i - m->nv);
        }
        mark(g.tri, 3 * g.ntri, local);
        mark(g.seg, 2 * g.nseg, local);
        mark(g.point, g.npoint, local);
    }
    for (int32_t h = 0; h < m->nh && !rc; h++)
        if (take[m->no + h]) made.plane[made.n_plane++] = h;
    for (int32_t o = 0; o < m->no && !rc; o++) {
        if (!take[o]) continue;
        abut_part *p = &made.part[made.n++];
        p->object = o;
        abut_text_row(set, "object/name", o, p->name, sizeof p->name);
        rc = fill_part(m, &made, &g, local, p, err);
    }
    for (int32_t k = 0; k < made.n && !rc; k++)
        for (int32_t t = 0; t < m->nt && !made.part[k].solid; t++)
            made.part[k].solid = m->body[m->tet[4 * t]] == made.part[k].object;
    gather_clear(&g);
    ABUT_FREE(local, take);
    if (rc) abut_parts_clear(&made);
    else *out = made;
    return rc;
}

void abut_parts_clear(abut_parts *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        ABUT_FREE(p->part[i].node, p->part[i].tri, p->part[i].seg, p->part[i].point);
    }
    ABUT_FREE(p->part, p->lead, p->chosen, p->number, p->plane);
    *p = (abut_parts){ 0 };
}

double abut_object_radius(const abut_model *m, int32_t object)
{
    double r = m->obj_thick ? 0.5 * m->obj_thick[object] : 0;
    for (int32_t i = 0; i < m->nrd; i++)
        if (m->body[m->rod[2 * i]] == object) r = fmax(r, m->rod_radius[i]);
    for (int32_t i = 0; i < m->np; i++)
        if (m->body[m->particle[i]] == object) r = fmax(r, m->particle_radius[i]);
    return r;
}

/* ---- triangles made ready for shading ---- */

/* Corners (3 * triangle + place) at every point: those of point i are list[first[i] .. first[i + 1]). */
typedef struct fans {
    int32_t *first, *list;
    abut_vec3 *normal;      /* of each triangle at rest, unit */
} fans;

static void fans_clear(fans *f) { ABUT_FREE(f->first, f->list, f->normal); }

static abut_vec3 rest_normal(const abut_part *p, const double *X, int32_t t)
{
    const int32_t *v = p->tri + 3 * t;
    const abut_vec3 a = abut_v3_get(X + 3 * p->node[v[0]]), b = abut_v3_get(X + 3 * p->node[v[1]]),
                    c = abut_v3_get(X + 3 * p->node[v[2]]);
    const abut_vec3 n = abut_v3_cross(abut_v3_sub(b, a), abut_v3_sub(c, a));
    const double len = abut_v3_norm(n);
    return len > 0 ? abut_v3_scale(1 / len, n) : abut_v3(0, 0, 0);
}

static abut_status fans_make(const abut_part *p, const double *X, fans *f, abut_err *err)
{
    if (!ABUT_ARRAYS(ABUT_ZEROS(f->first, (size_t)p->nv + 2), ABUT_ITEMS(f->list, 3 * (size_t)p->ntri),
                     ABUT_ITEMS(f->normal, p->ntri)))
        return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for normals", p->name);
    for (int32_t c = 0; c < 3 * p->ntri; c++) f->first[p->tri[c] + 2]++;
    for (int32_t i = 0; i < p->nv; i++) f->first[i + 2] += f->first[i + 1];
    for (int32_t c = 0; c < 3 * p->ntri; c++) f->list[f->first[p->tri[c] + 1]++] = c;
    for (int32_t t = 0; t < p->ntri; t++) f->normal[t] = rest_normal(p, X, t);
    return ABUT_OK;
}

/* True when the triangles of two corners at one point have a second point in common: they are neighbours around it. */
static int share_edge(const abut_part *p, int32_t ca, int32_t cb)
{
    const int32_t *a = p->tri + 3 * (ca / 3), *b = p->tri + 3 * (cb / 3);
    const int32_t ends[2] = { a[(ca + 1) % 3], a[(ca + 2) % 3] };
    for (int k = 1; k < 3; k++)
        for (int e = 0; e < 2; e++)
            if (b[(cb + k) % 3] == ends[e]) return 1;
    return 0;
}

/* Gives the corners of one point to vertices: corners connected over smooth edges share one.  group[n] is scratch. */
static void split_point(const abut_part *p, const fans *f, int32_t i, double cosine, int32_t *group, abut_shading_mesh *s)
{
    const int32_t lo = f->first[i], n = f->first[i + 1] - lo;
    for (int32_t a = 0; a < n; a++) group[a] = a;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++) {
            const int32_t ca = f->list[lo + a], cb = f->list[lo + b];
            if (group[a] == group[b] || !share_edge(p, ca, cb)) continue;
            if (abut_v3_dot(f->normal[ca / 3], f->normal[cb / 3]) < cosine) continue;
            const int32_t from = group[b], to = group[a];
            for (int32_t c = 0; c < n; c++)
                if (group[c] == from) group[c] = to;
        }
    for (int32_t a = 0; a < n; a++) {
        if (group[a] < 0) continue;
        const int32_t g = group[a];
        for (int32_t b = a; b < n; b++)
            if (group[b] == g) {
                s->tri[f->list[lo + b]] = s->nv;
                group[b] = -1;
            }
        s->point[s->nv++] = i;
    }
}

abut_status abut_shading_mesh_make(const abut_part *p, const double *X, double crease, abut_shading_mesh *out, abut_err *err)
{
    fans f = { 0 };
    abut_shading_mesh s = { .ntri = p->ntri };
    abut_status rc = fans_make(p, X, &f, err);
    int32_t most = 0;
    for (int32_t i = 0; i < p->nv && !rc; i++)
        if (f.first[i + 1] - f.first[i] > most) most = f.first[i + 1] - f.first[i];
    int32_t *group = malloc(((size_t)most + 1) * sizeof *group);
    s.point = malloc((3 * (size_t)p->ntri + 1) * sizeof *s.point);
    s.tri = malloc((3 * (size_t)p->ntri + 1) * sizeof *s.tri);
    if (!rc && (!group || !s.point || !s.tri)) rc = abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for normals", p->name);
    for (int32_t i = 0; i < p->nv && !rc; i++) split_point(p, &f, i, cos(crease), group, &s);
    fans_clear(&f);
    free(group);
    if (rc) abut_shading_mesh_clear(&s);
    else *out = s;
    return rc;
}

void abut_shading_mesh_clear(abut_shading_mesh *s)
{
    ABUT_FREE(s->point, s->tri);
    *s = (abut_shading_mesh){ 0 };
}

void abut_shading_mesh_normals(const abut_shading_mesh *s, const float *x, float *n)
{
    memset(n, 0, 3 * (size_t)s->nv * sizeof *n);
    for (int32_t t = 0; t < s->ntri; t++) {
        const int32_t *v = s->tri + 3 * t;
        const float *a = x + 3 * s->point[v[0]], *b = x + 3 * s->point[v[1]], *c = x + 3 * s->point[v[2]];
        const float e[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, g[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
        const float area[3] = { e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2], e[0] * g[1] - e[1] * g[0] };
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) n[3 * v[k] + d] += area[d];
    }
    for (int32_t i = 0; i < s->nv; i++) {
        float *p = n + 3 * i;
        /* scaled first: squares of tiny areas would underflow */
        const float big = fmaxf(fabsf(p[0]), fmaxf(fabsf(p[1]), fabsf(p[2]))), scale = big > 1e-36f ? 1 / big : 0;
        const float u[3] = { p[0] * scale, p[1] * scale, p[2] * scale };
        const float len = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int d = 0; d < 3; d++) p[d] = len > 0 ? u[d] / len : d == 1;
    }
}

/* ---- boxes around points, and which direction is up ---- */

abut_bounds abut_bounds_empty(void)
{
    return (abut_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
}

void abut_bounds_add(abut_bounds *b, const float p[3])
{
    for (int d = 0; d < 3; d++) {
        if (p[d] < b->lo[d]) b->lo[d] = p[d];
        if (p[d] > b->hi[d]) b->hi[d] = p[d];
    }
}

void abut_bounds_center(const abut_bounds *b, double center[3])
{
    for (int d = 0; d < 3; d++) center[d] = b->lo[d] <= b->hi[d] ? 0.5 * ((double)b->lo[d] + b->hi[d]) : 0;
}

double abut_bounds_diagonal(const abut_bounds *b)
{
    double s = 0;
    for (int d = 0; d < 3; d++) {
        const double e = (double)b->hi[d] - b->lo[d];
        if (!(e >= 0)) return 0;
        s += e * e;
    }
    return sqrt(s);
}

int abut_up_axis(const abut_model *m, double *sign)
{
    int axis = 1;
    for (int d = 0; d < 3; d++)
        if (fabs(m->gravity[d]) > fabs(m->gravity[axis])) axis = d;
    *sign = m->gravity[axis] > 0 ? -1 : 1;
    return axis;
}

void abut_half_space_square(const abut_model *m, int32_t i, const double center[3], double r, double corner[12])
{
    const abut_vec3 n = abut_v3_get(m->hs_normal + 3 * i), p = abut_v3_get(m->hs_point + 3 * i), c = abut_v3_get(center);
    const abut_vec3 foot = abut_v3_axpy(c, -abut_v3_dot(abut_v3_sub(c, p), n), n);
    /* the axis least along n gives the first side */
    int axis = 0;
    const double a[3] = { fabs(n.x), fabs(n.y), fabs(n.z) };
    for (int d = 1; d < 3; d++)
        if (a[d] < a[axis]) axis = d;
    abut_vec3 u = abut_v3_cross(n, abut_v3(axis == 0, axis == 1, axis == 2));
    u = abut_v3_scale(1 / abut_v3_norm(u), u);
    const abut_vec3 w = abut_v3_cross(n, u);
    for (int k = 0; k < 4; k++) {
        const double su = k == 0 || k == 3 ? -r : r, sw = k < 2 ? -r : r;
        abut_v3_put(corner + 3 * k, abut_v3_axpy(abut_v3_axpy(foot, su, u), sw, w));
    }
}
