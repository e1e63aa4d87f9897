#include "formats/result/object_parts.h"

#include "base/order.h"
#include "model/naming.h"
#include "mesh/surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of points of the model by object, before the points of an object are numbered. */
typedef struct gather {
    int32_t *tri, *seg, *point;
    int32_t ntri, nseg, npoint;
} gather;

static void gather_clear(gather *g)
{
    free(g->tri);
    free(g->seg);
    free(g->point);
    *g = (gather){ 0 };
}

/* The point that collision vertex v is. */
static int32_t point_of(const abut_model *m, int32_t v) { return m->map_first ? m->nv + v : abut_model_contact_node(m, v); }

/* Segments: collision edges of no triangle.  edges: those of the triangles, ascending. */
static void gather_segments(const abut_model *m, const int32_t *edges, int32_t n_edges, gather *g)
{
    for (int32_t i = 0; i < m->nce; i++) {
        const int32_t a = point_of(m, m->coll_edge[2 * i]), b = point_of(m, m->coll_edge[2 * i + 1]);
        const int32_t key[2] = { a < b ? a : b, a < b ? b : a };
        if (n_edges && bsearch(key, edges, (size_t)n_edges, sizeof key, abut_by_two)) continue;
        g->seg[2 * g->nseg] = a;
        g->seg[2 * g->nseg++ + 1] = b;
    }
}

static abut_status gather_lists(const abut_model *m, int32_t n_points, gather *g, abut_err *err)
{
    int32_t *edges = NULL, n_edges = 0;
    uint8_t *used = calloc((size_t)n_points + 1, 1);
    *g = (gather){ 0 };
    abut_status rc = ABUT_OK;
    if (m->nct) {
        g->ntri = m->nct;
        g->tri = malloc(3 * (size_t)m->nct * sizeof *g->tri);
        for (int32_t i = 0; g->tri && i < 3 * m->nct; i++) g->tri[i] = point_of(m, m->coll_tri[i]);
    } else if (m->nt) {
        rc = abut_surface_triangles(m->tet, m->nt, m->nv, &g->tri, &g->ntri, err);
    }
    g->seg = malloc((2 * (size_t)m->nce + 1) * sizeof *g->seg);
    g->point = malloc(((size_t)m->nc + 1) * sizeof *g->point);
    if (!rc && (!used || !g->seg || !g->point || (g->ntri && !g->tri)))
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory for the surface of the model");
    if (!rc && g->ntri) rc = abut_surface_edges(g->tri, g->ntri, NULL, 0, n_points, &edges, &n_edges, err);
    if (!rc) {
        gather_segments(m, edges, n_edges, g);
        for (int32_t i = 0; i < 3 * g->ntri; i++) used[g->tri[i]] = 1;
        for (int32_t i = 0; i < 2 * g->nseg; i++) used[g->seg[i]] = 1;
        for (int32_t i = 0; i < m->nc; i++)
            if (!used[point_of(m, i)]) g->point[g->npoint++] = point_of(m, i);
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

/* Of the objects take[no], of the half-spaces take[no + nh). */
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
