#include "formats/result/object_parts.h"

#include "base/order.h"
#include "model/naming.h"
#include "model/tets.h"
#include "mesh/surface.h"

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
    free(g->tri);
    free(g->seg);
    free(g->point);
    free(g->shape);
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
    const abut_status rc = hidden ? abut_surface_triangles(m->tet, m->nt, m->nv, &skin, &n, err) : ABUT_OK;
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
    if (!rc && g->ntri) rc = abut_surface_edges(g->tri, g->ntri, NULL, 0, n_points, &edges, &n_edges, err);
    if (!rc) {
        gather_segments(m, edges, n_edges, g);
        for (int32_t i = 0; i < 3 * g->ntri; i++) used[g->tri[i]] = 1;
        for (int32_t i = 0; i < 2 * g->nseg; i++) used[g->seg[i]] = 1;
        gather_points(m, used, g);
    }
    free(edges);
    free(used);
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
    if (!p->tri || !p->seg || !p->point)
        return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its surface", p->name);
    return ABUT_OK;
}

static void mark(const int32_t *list, int32_t n, int32_t *local)
{
    for (int32_t i = 0; i < n; i++) local[list[i]] = 0;
}

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
    free(local);
    free(take);
    if (rc) abut_parts_clear(&made);
    else *out = made;
    return rc;
}

void abut_parts_clear(abut_parts *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        free(p->part[i].node);
        free(p->part[i].tri);
        free(p->part[i].seg);
        free(p->part[i].point);
    }
    free(p->part);
    free(p->lead);
    free(p->chosen);
    free(p->number);
    free(p->plane);
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
