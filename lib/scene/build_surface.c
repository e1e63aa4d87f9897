/* Contact surfaces of objects: the faces of their elements; of bodies of tets also finer ones, or any. */
#include "scene/build_parts.h"

#include "base/order.h"
#include "base/words.h"
#include "mesh/proxy.h"
#include "mesh/surface.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faces of elements ---- */

static abut_status no_memory(abut_err *err, const char *what)
{
    return abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for %s", what);
}

/* The nodes of a triangle, ascending. */
typedef struct face_key {
    int32_t node[3];
} face_key;

static face_key face_key_of(const int32_t *v)
{
    const int32_t a = v[0] < v[1] ? v[0] : v[1], b = v[0] < v[1] ? v[1] : v[0];
    return v[2] < a ? (face_key){ { v[2], a, b } } : v[2] < b ? (face_key){ { a, v[2], b } } : (face_key){ { a, b, v[2] } };
}

/* The mesh's own triangles beside the surface of its tets; one that lines a face of that is there already. */
static abut_status add_triangles(abut_part *p, const abut_mesh *m, abut_err *err)
{
    const size_t n = (size_t)p->ntri;
    int32_t *all = realloc(p->tri, 3 * (n + (size_t)m->nf) * sizeof *all);
    if (all) p->tri = all;
    face_key *face = malloc((n + 1) * sizeof *face);
    if (!all || !face) {
        free(face);
        return no_memory(err, "triangles");
    }
    for (size_t i = 0; i < n; i++) face[i] = face_key_of(all + 3 * i);
    qsort(face, n, sizeof *face, abut_by_three);
    for (int32_t i = 0; i < m->nf; i++) {
        const face_key own = face_key_of(m->tri + 3 * (size_t)i);
        if (bsearch(&own, face, n, sizeof *face, abut_by_three)) continue;
        memcpy(all + 3 * (size_t)p->ntri++, m->tri + 3 * (size_t)i, 3 * sizeof *all);
    }
    free(face);
    return ABUT_OK;
}

abut_status abut_build_surface(abut_part *p, abut_err *err)
{
    const abut_mesh *m = &p->object->mesh;
    abut_status rc = abut_surface_triangles(m->tet, m->nt, m->nv, &p->tri, &p->ntri, err);
    if (rc) return rc;
    if (m->nf && (rc = add_triangles(p, m, err))) return rc;
    return abut_surface_edges(p->tri, p->ntri, m->seg, m->ns, m->nv, &p->edge, &p->nedge, err);
}

abut_status abut_build_mark_surface(abut_part *p, abut_err *err)
{
    const abut_mesh *m = &p->object->mesh;
    const int order = abut_mesh_order(m);
    int64_t *face = NULL;
    int32_t n = 0;
    p->surface = calloc((size_t)m->nv + 1, 1);
    if (!p->surface) return no_memory(err, "nodes");
    for (int32_t i = 0; i < m->nv; i++) p->surface[i] = p->vertex[i] == 0;
    abut_status rc = order > 1 ? abut_surface_faces(m->tet, m->nt, m->nv, &face, &n, err) : ABUT_OK;
    for (int32_t i = 0; i < n && !rc; i++) {
        int32_t node[ABUT_TET_NODES_MAX];
        int of_face[ABUT_FACE_NODES_MAX];
        abut_mesh_tet_nodes(m, (int32_t)(face[i] / 4), node);
        abut_tet_face_nodes(order, (int)(face[i] % 4), of_face);
        for (int k = 0; k < abut_triangle_nodes(order); k++) p->surface[node[of_face[k]]] = 1;
    }
    free(face);
    return rc;
}

/* ---- surfaces of their own ---- */

int abut_part_has_proxy(const abut_part *p)
{
    const abut_scene_object *o = p->object;
    const abut_scene_proxy *y = &o->proxy;
    return !o->obstacle && o->mesh.nt &&
           (abut_mesh_order(&o->mesh) > 1 || y->segments > 1 || y->edge > 0 || y->tolerance.value > 0 || y->surface.nf);
}

/* Places of errors; a number that is too large is one of the scene. */
static abut_status placed(const abut_scene_object *o, abut_status rc, abut_err *err)
{
    if (rc && err) abut_wrap(err, "%s: contact surface of '%s'", *o->proxy.from ? o->proxy.from : o->from, o->name);
    if (rc == ABUT_E_ARG) rc = ABUT_E_FORMAT;
    if (rc && err) err->code = rc;
    return rc;
}

/* Rest shape of an object, if that has more nodes than its mesh. */
static abut_rest_shape shape_of(const abut_scene_object *o) { return (abut_rest_shape){ o->order.kept, o->order.rest }; }

/* Lowers *segments, not below the order, until all altitudes exceed dhat: else contact pushes neighbours apart at rest. */
static abut_status coarse_enough(const abut_scene_object *o, double dhat, int *segments, abut_err *err)
{
    abut_status rc = ABUT_OK;
    while (*segments > abut_mesh_order(&o->mesh) && !rc) {
        abut_proxy p;
        rc = abut_proxy_upsample(&o->mesh, shape_of(o), *segments, &p, err);
        const double altitude = rc ? 0 : abut_proxy_altitude(&p);
        abut_proxy_clear(&p);
        if (altitude > dhat) break;
        --*segments;
    }
    return rc;
}

/* Default number of segments: flat triangles at most dhat/4 from the boundary, unless they get too small; at least the order
 * of the tets, so that all shapes of the body are resolved. */
static abut_status usual_segments(const abut_scene_object *o, double dhat, int *segments, abut_err *err)
{
    abut_chord chord;
    abut_status rc = abut_proxy_segments_for(&o->mesh, shape_of(o), 0.25 * dhat, segments, &chord, err);
    if (*segments < abut_mesh_order(&o->mesh)) *segments = abut_mesh_order(&o->mesh);
    return rc ? rc : coarse_enough(o, dhat, segments, err);
}

static abut_status choose_segments(const abut_build *b, const abut_scene_object *o, int *segments, abut_err *err)
{
    const abut_scene_proxy *y = &o->proxy;
    const abut_mesh *m = &o->mesh;
    *segments = y->segments;
    if (y->segments) return ABUT_OK;
    if (y->edge > 0) {
        double longest;
        const abut_status rc = abut_proxy_longest_side(m, &longest, err);
        const double n = ceil(longest / y->edge);
        *segments = n > 1 ? n < ABUT_SEGMENTS_MOST ? (int)n : ABUT_SEGMENTS_MOST : 1;
        if (rc || n <= ABUT_SEGMENTS_MOST) return rc;
        return abut_fail(err, ABUT_E_FORMAT, "edge is %.6g m, and the longest side of a face %.6g m: expected no more than %d "
                         "segments on it", y->edge, longest, ABUT_SEGMENTS_MOST);
    }
    if (y->tolerance.value > 0) {
        abut_chord chord;
        const double most = y->tolerance.value * (y->tolerance.per_length ? b->out->length : 1);
        const abut_status rc = abut_proxy_segments_for(m, shape_of(o), most, segments, &chord, err);
        if (rc || chord.measured <= most) return rc;
        return abut_fail(err, ABUT_E_FORMAT,
                         "%d %s %.6g m between the boundary and its flat triangles, expected at most the tolerance, "
                         "%.6g m: smaller tets, or more segments",
                         *segments, abut_plural(*segments, "segment leaves", "segments leave"), chord.measured, most);
    }
    return usual_segments(o, b->out->object[o - b->scene->object].dhat, segments, err);
}

static abut_status make_proxy(const abut_build *b, const abut_scene_object *o, abut_proxy *p, abut_proxy_facts *f, abut_err *err)
{
    const int order = abut_mesh_order(&o->mesh);
    abut_status rc = ABUT_OK;
    if (o->mesh.nf || o->mesh.ns || o->mesh.np)
        return abut_fail(err, ABUT_E_FORMAT,
                         "the body has %d triangle%s, %d segment%s and %d point%s of its own: expected tets alone", o->mesh.nf,
                         abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np, abut_s(o->mesh.np));
    if (o->proxy.surface.nf) {
        const double most = o->proxy.extrapolation >= 0 ? o->proxy.extrapolation : order > 1 ? 0.1 : 0.5;
        rc = abut_proxy_embed(&o->mesh, &o->proxy.surface, most, p, &f->embedding, err);
    } else {
        rc = choose_segments(b, o, &f->segments, err);
        if (!rc) rc = abut_proxy_upsample(&o->mesh, shape_of(o), f->segments, p, err);
        if (!rc) rc = abut_proxy_chord(&o->mesh, shape_of(o), f->segments, &f->chord, err);
    }
    f->altitude = rc ? 0 : abut_proxy_altitude(p);
    return rc;
}

static double shortest_side(const abut_part *p)
{
    const double *X = p->proxy->X;
    double least2 = INFINITY;
    for (int32_t i = 0; i < p->nedge; i++) {
        double d2 = 0;
        for (size_t d = 0; d < 3; d++) {
            const double s = X[3 * (size_t)p->edge[2 * i + 1] + d] - X[3 * (size_t)p->edge[2 * i] + d];
            d2 += s * s;
        }
        least2 = fmin(least2, d2);
    }
    return sqrt(least2);
}

/* Refuses too many vertices before memory is allocated: n segments on a side make n^2/2 vertices of each face. */
static abut_status estimate(const abut_build *b, abut_err *err)
{
    double points = 0;
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_part *p = &b->part[i];
        const int n = abut_part_has_proxy(p) ? p->object->proxy.segments : 0;
        const char *const others = points > 0 ? " with all objects before this one" : "";
        points += 0.5 * n * n * p->ntri;
        if (points > ABUT_POINTS_MOST)
            return placed(p->object, abut_fail(err, ABUT_E_FORMAT, "%d faces with %d segments on a side: about %.3g points%s: "
                                               "expected at most %g", p->ntri, n, points, others, ABUT_POINTS_MOST), err);
    }
    return ABUT_OK;
}

abut_status abut_build_proxies(abut_build *b, abut_err *err)
{
    abut_status rc = b->scene->contact_off ? ABUT_OK : estimate(b, err);
    for (int32_t i = 0; i < b->scene->nobjects && !rc && !b->scene->contact_off; i++) {
        abut_part *p = &b->part[i];
        abut_object_facts *f = &b->out->object[i];
        const abut_scene_object *o = p->object;
        if (!abut_part_has_proxy(p)) continue;
        p->proxy = calloc(1, sizeof *p->proxy);
        if (!p->proxy) return abut_fail(err, ABUT_E_NOMEM, "contact surface of '%s'", o->name);
        rc = placed(o, make_proxy(b, o, p->proxy, &f->proxy, err), err);
        free(p->edge);
        p->edge = NULL;
        if (!rc) rc = abut_surface_edges(p->proxy->tri, p->proxy->nf, NULL, 0, p->proxy->nv, &p->edge, &p->nedge, err);
        if (rc) break;
        rc = placed(o, abut_mesh_bound((double)b->out->collision_vertices + p->proxy->nv,
                                       (double)b->out->triangles + p->proxy->nf, "all objects up to this one", err), err);
        if (rc) break;
        p->first_vertex = b->out->collision_vertices;
        b->out->collision_vertices += p->proxy->nv, b->out->edges += p->nedge, b->out->triangles += p->proxy->nf;
        f->proxy.vertices = p->proxy->nv, f->triangles = p->proxy->nf, f->edges = p->nedge;
        f->proxy.low = !(f->proxy.altitude > f->dhat);
        f->least_edge = shortest_side(p);
    }
    return rc;
}

/* Rows of one part: of a node itself, or of its proxy. */
static size_t rows_of(const abut_part *p)
{
    size_t n = 0;
    if (p->proxy) return (size_t)p->proxy->first[p->proxy->nv];
    for (int32_t i = 0; i < p->object->mesh.nv; i++) n += p->vertex[i] >= 0;
    return n;
}

typedef struct rows {
    int32_t *first, *node;
    double *weight, *offset;    /* offset NULL: 0 everywhere */
    size_t n;                   /* written */
} rows;

static void put_row(rows *r, int32_t vertex, size_t n)
{
    r->first[2 * (size_t)vertex] = (int32_t)r->n;
    r->first[2 * (size_t)vertex + 1] = (int32_t)(r->n + n);
}

static void put_part(const abut_part *p, rows *r)
{
    const abut_proxy *y = p->proxy;
    for (int32_t i = 0; i < (y ? 0 : p->object->mesh.nv); i++) {
        if (p->vertex[i] < 0) continue;
        put_row(r, p->vertex[i], 1);
        r->node[r->n] = p->node[i], r->weight[r->n++] = 1;
    }
    for (int32_t v = 0; v < (y ? y->nv : 0); v++) {
        put_row(r, p->first_vertex + v, (size_t)(y->first[v + 1] - y->first[v]));
        for (int32_t k = y->first[v]; k < y->first[v + 1]; k++)
            r->node[r->n] = p->node[y->point[k]], r->weight[r->n++] = y->weight[k];
        if (y->offset) memcpy(r->offset + 3 * (size_t)(p->first_vertex + v), y->offset + 3 * (size_t)v, 3 * sizeof *r->offset);
    }
}

abut_status abut_build_contact_rows(abut_build *b, abut_err *err)
{
    rows r = { 0 };
    size_t n = 0;
    int offset = 0;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        n += rows_of(&b->part[o]);
        offset |= b->part[o].proxy && b->part[o].proxy->offset;
    }
    if (n > INT32_MAX / 4) return abut_fail(err, ABUT_E_FORMAT, "contact surfaces: more than %d entries", INT32_MAX / 4);
    r.first = abut_model_put(b->model, "contact/map-first", b->out->collision_vertices, err);
    r.node = r.first ? abut_model_put(b->model, "contact/map-node", (int64_t)n, err) : NULL;
    r.weight = r.node ? abut_model_put(b->model, "contact/map-weight", (int64_t)n, err) : NULL;
    r.offset = r.weight && offset ? abut_model_put(b->model, "contact/offset", b->out->collision_vertices, err) : NULL;
    if (!r.weight || (offset && !r.offset)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t o = 0; o < b->scene->nobjects; o++) put_part(&b->part[o], &r);
    static const char *const name[] = { "contact/map-first", "contact/map-node", "contact/map-weight", "contact/offset" };
    for (int i = 0; i < 3 + offset; i++) abut_arrays_find(b->model, name[i])->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}
