/* Tets of a model with their masses and terms of their materials; contact surfaces of objects: the faces of their elements, of
 * bodies of tets also finer ones, or any. */
#include "scene/build_parts.h"

#include "base/order.h"
#include "base/words.h"
#include "geom/jacobian.h"
#include "geom/quadrature.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- tets ---- */

/* The arrays of tets; those of higher order are NULL in a scene without any. */
typedef struct tets {
    int32_t *tet, *mat, *order, *first, *more, *geo_order, *geo_first;
    double *geo_X, *fill, *density;
    int32_t row, nmore, ngx;    /* rows that are filled */
} tets;

static abut_status make_room(abut_build *b, tets *t, abut_err *err)
{
    int64_t more = 0, shape = 0;
    int cages = 0, matched = 0;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_scene_object *s = &b->scene->object[o];
        const int64_t own = b->out->object[o].tets;
        more += own * abut_mesh_more(&s->mesh);
        cages |= own && s->fill;
        matched |= own && s->density;
        if (s->order.kept) shape += own * abut_tet_nodes(s->order.kept);
    }
    const int64_t n = b->out->tets;
    int ok = (t->tet = abut_model_put(b->model, "tet/node", n, err)) != NULL &&
             (t->mat = abut_model_put(b->model, "tet/material", n, err)) != NULL;
    if (ok && more)
        ok = (t->order = abut_build_required(b, "tet/order", n, err)) &&
             (t->first = abut_build_required(b, "tet/first", n, err)) &&
             (t->more = abut_build_required(b, "tet/more", more, err));
    if (ok && shape)
        ok = (t->geo_order = abut_build_required(b, "geometry/order", n, err)) &&
             (t->geo_first = abut_build_required(b, "geometry/first", n, err)) &&
             (t->geo_X = abut_build_required(b, "geometry/X", shape, err));
    if (ok && cages) ok = (t->fill = abut_build_required(b, "tet/fill", n, err)) != NULL;
    if (ok && matched) ok = (t->density = abut_build_required(b, "tet/density-scale", n, err)) != NULL;
    return ok ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/* The part of tet t that counts as solid: one without any would have no mass. */
static double fill_of(const abut_scene_object *s, int32_t t)
{
    return s->is_frame ? s->fill[t] : s->fill ? fmax(s->fill[t], 1e-3) : 1;
}

/* Returns the ratio of the mass of tet t to its volume times the material's density. */
static double weight_of(const abut_scene_object *s, int32_t t) { return fill_of(s, t) * (s->density ? s->density[t] : 1); }

/* Adds a tet of order 1, a quarter of its mass to each corner. */
static void straight(abut_build *b, const abut_scene_object *s, const int32_t *v, double weight, abut_object_facts *f)
{
    abut_vec3 p[4];
    for (int k = 0; k < 4; k++) p[k] = abut_v3_get(b->X + 3 * (size_t)v[k]);
    const double V = abut_v3_dot(abut_v3_sub(p[1], p[0]), abut_v3_cross(abut_v3_sub(p[2], p[0]), abut_v3_sub(p[3], p[0]))) / 6;
    const double m = V * b->scene->material[s->material].density * weight;
    f->volume += V, f->mass += m;
    f->least_volume = fmin(f->least_volume, V);
    for (int k = 0; k < 4; k++) b->mass[v[k]] += m / 4;
}

/* Places of the rest shape of tet t of an object; returns its order. */
static int shape_of(const abut_scene_object *s, int32_t t, double X[ABUT_TET_NODES_MAX][3])
{
    if (!s->order.kept) return abut_mesh_tet_places(&s->mesh, t, X), abut_mesh_order(&s->mesh);
    const size_t n = 3 * (size_t)abut_tet_nodes(s->order.kept);
    memcpy(X, s->order.rest + n * (size_t)t, n * sizeof(double));
    return s->order.kept;
}

/* Adds a tet of order k, per density: volume, mass, and the diagonal of its consistent mass at its nodes. */
static void curved(const abut_scene_object *s, int32_t t, const abut_quadrature *q, const int32_t *node, double *diagonal,
                   abut_object_facts *f)
{
    const int order = abut_mesh_order(&s->mesh), n = abut_tet_nodes(order);
    double X[ABUT_TET_NODES_MAX][3], phi[ABUT_TET_NODES_MAX], J[9], volume = 0;
    const int shape = shape_of(s, t, X);
    for (int i = 0; i < q->n; i++) {
        const double w = q->w[i] / 6 * abut_tet_point(shape, (const double(*)[3])X, q->L + 4 * i, NULL, J);
        abut_tet_basis(order, q->L + 4 * i, phi, NULL);
        for (int c = 0; c < n; c++) diagonal[node[c]] += w * weight_of(s, t) * phi[c] * phi[c];
        volume += w;
    }
    f->volume += volume;
    f->mass += volume * weight_of(s, t);
    f->least_volume = fmin(f->least_volume, volume);
    f->least_ratio = fmin(f->least_ratio, abut_jacobian_least(shape, (const double(*)[3])X, NULL) / (6 * volume));
}

/* The masses of a body of order k > 1.  Nodes of its mesh as those of the model are p->node. */
static abut_status put_masses(abut_build *b, const abut_part *p, abut_object_facts *f, abut_err *err)
{
    const abut_scene_object *s = p->object;
    const int order = abut_mesh_order(&s->mesh), shape = s->order.kept ? s->order.kept : order;
    const double density = b->scene->material[s->material].density;
    abut_quadrature q = { 0 };
    double *diagonal = calloc((size_t)s->mesh.nv + 1, sizeof *diagonal), sum = 0;
    abut_status rc = diagonal ? abut_quadrature_tet(abut_degree_mass(order, shape), &q, err)
                              : abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for masses");
    for (int32_t t = 0; t < f->tets && !rc; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        abut_mesh_tet_nodes(&s->mesh, t, node);
        curved(s, t, &q, node, diagonal, f);
    }
    f->mass *= density;
    for (int32_t i = 0; i < s->mesh.nv && !rc; i++) sum += diagonal[i];
    for (int32_t i = 0; i < s->mesh.nv && !rc; i++)
        if (p->node[i] >= 0) b->mass[p->node[i]] += f->mass * diagonal[i] / sum;
    abut_quadrature_clear(&q);
    free(diagonal);
    return rc;
}

/* The tets of an object into the rows that follow. */
static void put_rows(const abut_part *p, int32_t n, tets *to)
{
    const abut_scene_object *s = p->object;
    for (int32_t t = 0; t < n; t++, to->row++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int nodes = abut_mesh_tet_nodes(&s->mesh, t, node);
        for (int c = 0; c < 4; c++) to->tet[4 * (size_t)to->row + (size_t)c] = p->node[node[c]];
        to->mat[to->row] = s->rigid.is ? s->rigid.material : s->material;
        if (to->fill) to->fill[to->row] = fill_of(s, t);
        if (to->density) to->density[to->row] = s->density ? s->density[t] : 1;
        if (to->order) to->order[to->row] = abut_mesh_order(&s->mesh), to->first[to->row] = to->nmore;
        for (int c = 4; c < nodes; c++) to->more[to->nmore++] = p->node[node[c]];
        if (!to->geo_order) continue;
        to->geo_order[to->row] = s->order.kept ? s->order.kept : abut_mesh_order(&s->mesh);
        to->geo_first[to->row] = to->ngx;
        const size_t rows = s->order.kept ? (size_t)abut_tet_nodes(s->order.kept) : 0;
        if (rows) memcpy(to->geo_X + 3 * (size_t)to->ngx, s->order.rest + 3 * rows * (size_t)t, 3 * rows * sizeof(double));
        to->ngx += (int32_t)rows;
    }
}

abut_status abut_build_tets(abut_build *b, abut_err *err)
{
    tets all = { 0 };
    if (!b->out->tets) return ABUT_OK;
    abut_status rc = make_room(b, &all, err);
    for (int32_t o = 0; o < b->scene->nobjects && !rc; o++) {
        const abut_part *p = &b->part[o];
        abut_object_facts *f = &b->out->object[o];
        const int32_t first = all.row;
        if (!f->tets) continue;
        f->order = abut_mesh_order(&p->object->mesh);
        f->shape = p->object->order.kept ? p->object->order.kept : f->order;
        f->least_volume = INFINITY, f->least_ratio = 1;
        for (int32_t t = 0; p->object->density && t < f->tets; t++) {
            f->density[0] = t ? fmin(f->density[0], p->object->density[t]) : p->object->density[t];
            f->density[1] = fmax(f->density[1], p->object->density[t]);
        }
        put_rows(p, f->tets, &all);
        if (f->shape > 1) rc = put_masses(b, p, f, err);
        for (int32_t t = first; t < all.row && f->shape == 1; t++)
            straight(b, p->object, all.tet + 4 * (size_t)t, weight_of(p->object, t - first), f);
    }
    return rc;
}

/* ---- properties of their materials beside moduli ---- */

static abut_status put_splines(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) n += s->material[i].nknots;
    if (!n) return ABUT_OK;
    int32_t *rows = abut_build_required(b, "material/spline", s->nmaterials, err);
    double *knot = rows ? abut_build_required(b, "spline/knot", n, err) : NULL;
    double *slope = knot ? abut_build_required(b, "spline/slope", n, err) : NULL;
    if (!slope) return err->code;
    n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        const abut_scene_material *m = &s->material[i];
        rows[2 * i] = n;
        if (m->nknots) {
            memcpy(knot + n, m->knot, (size_t)m->nknots * sizeof *knot);
            memcpy(slope + 3 * (size_t)n, m->slope, 3 * (size_t)m->nknots * sizeof *slope);
        }
        rows[2 * i + 1] = n += m->nknots;
    }
    return ABUT_OK;
}

/* The direction of every tet: that of its material, in the axes of the scene at the start; any other tet has one to no effect. */
static abut_status put_fibres(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const abut_array *of = abut_arrays_find(b->model, "tet/material");
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].fibre > 0;
    if (!some || !of) return ABUT_OK;
    const int64_t nt = of->shape[0];
    const int32_t *material = of->data;     /* stays where it is when arrays are added; *of does not */
    double *kappa = abut_build_required(b, "material/fibre", s->nmaterials, err);
    double *d = kappa ? abut_build_required(b, "tet/fibre", nt, err) : NULL;
    if (!d) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) kappa[i] = s->material[i].fibre;
    for (int64_t t = 0; t < nt; t++) {
        const abut_scene_material *m = &s->material[material[t]];
        d[3 * t] = 1;
        if (m->fibre > 0) memcpy(d + 3 * t, m->fibre_direction, 3 * sizeof *d);
    }
    return ABUT_OK;
}

/* Puts the quadrature degrees of elastic energies; masses are exact. */
static abut_status put_degrees(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].quadrature > 0;
    if (!some) return ABUT_OK;
    int32_t *degree = abut_build_required(b, "material/quadrature", s->nmaterials, err);
    if (!degree) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) degree[2 * i] = s->material[i].quadrature;
    return ABUT_OK;
}

/* Fails if shells or rods have a material with these terms, which are terms of volumes. */
static abut_status check_codim(const abut_build *b, abut_err *err)
{
    static const char *const name[2] = { "shell/material", "rod/material" };
    for (int k = 0; k < 2; k++) {
        const abut_array *of = abut_arrays_find(b->model, name[k]);
        for (int64_t i = 0; of && i < of->shape[0]; i++) {
            const abut_scene_material *m = &b->scene->material[((const int32_t *)of->data)[i]];
            if (m->fibre > 0 || m->volume > 0 || m->stretch[0] > 0 || m->quadrature > 0)
                return abut_fail(err, ABUT_E_FORMAT,
                                 "%s: material '%s' has fibre, volume, stretch or quadrature, which are of tets: expected none "
                                 "of them for %s",
                                 m->from, m->name, k ? "rods" : "shells");
        }
    }
    return ABUT_OK;
}

abut_status abut_build_terms(abut_build *b, abut_err *err)
{
    assert(b);
    static const abut_column columns[] = { ABUT_COLUMN(abut_scene_material, volume, "material/volume"),
                                           ABUT_COLUMN(abut_scene_material, stretch, "material/stretch") };
    const abut_scene *s = b->scene;
    int there[2] = { 0 };
    abut_status rc = check_codim(b, err);
    for (int32_t i = 0; i < s->nmaterials; i++)
        there[0] |= s->material[i].volume > 0, there[1] |= s->material[i].stretch[0] > 0;
    for (int k = 0; k < 2 && !rc; k++)
        if (there[k])
            rc = abut_build_columns(b, &columns[k], 1, s->material, sizeof *s->material, s->nmaterials, ABUT_A_REQUIRED, err);
    if (!rc) rc = put_splines(b, err);
    if (!rc) rc = put_fibres(b, err);
    return rc ? rc : put_degrees(b, err);
}

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
    abut_status rc = abut_surface_triangles(m->tet, m->nt, &p->tri, &p->ntri, err);
    if (rc) return rc;
    if (m->nf && (rc = add_triangles(p, m, err))) return rc;
    return abut_surface_edges(p->tri, p->ntri, m->seg, m->ns, &p->edge, &p->nedge, err);
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
    abut_status rc = order > 1 ? abut_surface_faces(m->tet, m->nt, &face, &n, err) : ABUT_OK;
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
           (abut_mesh_order(&o->mesh) > 1 || y->segments > 1 || y->edge > 0 || y->tolerance.value > 0 || y->surface.nv);
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
static abut_rest_shape rest_of(const abut_scene_object *o) { return (abut_rest_shape){ o->order.kept, o->order.rest }; }

/* Lowers *segments, not below the order, until all altitudes exceed dhat: else contact pushes neighbours apart at rest. */
static abut_status coarse_enough(const abut_scene_object *o, double dhat, int *segments, abut_err *err)
{
    abut_status rc = ABUT_OK;
    while (*segments > abut_mesh_order(&o->mesh) && !rc) {
        abut_proxy p;
        rc = abut_proxy_upsample(&o->mesh, rest_of(o), *segments, &p, err);
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
    abut_status rc = abut_proxy_segments_for(&o->mesh, rest_of(o), 0.25 * dhat, segments, &chord, err);
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
        const abut_status rc = abut_proxy_segments_for(m, rest_of(o), most, segments, &chord, err);
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
    if (o->proxy.surface.nv) {
        const double most = o->proxy.extrapolation >= 0 ? o->proxy.extrapolation : order > 1 ? 0.1 : 0.5;
        rc = abut_proxy_embed(&o->mesh, &o->proxy.surface, most, p, &f->embedding, err);
    } else {
        rc = choose_segments(b, o, &f->segments, err);
        if (!rc) rc = abut_proxy_upsample(&o->mesh, rest_of(o), f->segments, p, err);
        if (!rc) rc = abut_proxy_chord(&o->mesh, rest_of(o), f->segments, &f->chord, err);
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
        const abut_mesh *s = &o->proxy.surface;
        if (!rc) rc = abut_surface_edges(p->proxy->tri, p->proxy->nf, s->seg, s->ns, &p->edge, &p->nedge, err);
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

typedef struct contact_rows {
    int32_t *first, *node;
    double *weight, *offset;    /* offset NULL: 0 everywhere */
    size_t n;                   /* written */
} contact_rows;

static void put_row(contact_rows *r, int32_t vertex, size_t n)
{
    r->first[2 * (size_t)vertex] = (int32_t)r->n;
    r->first[2 * (size_t)vertex + 1] = (int32_t)(r->n + n);
}

static void put_part(const abut_part *p, contact_rows *r)
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
    contact_rows r = { 0 };
    size_t n = 0;
    int offset = 0;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        n += rows_of(&b->part[o]);
        offset |= b->part[o].proxy && b->part[o].proxy->offset;
    }
    if (n > INT32_MAX / 4) return abut_fail(err, ABUT_E_FORMAT, "contact surfaces: more than %d entries", INT32_MAX / 4);
    r.first = abut_build_required(b, "contact/map-first", b->out->collision_vertices, err);
    r.node = r.first ? abut_build_required(b, "contact/map-node", (int64_t)n, err) : NULL;
    r.weight = r.node ? abut_build_required(b, "contact/map-weight", (int64_t)n, err) : NULL;
    r.offset = r.weight && offset ? abut_build_required(b, "contact/offset", b->out->collision_vertices, err) : NULL;
    if (!r.weight || (offset && !r.offset)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t o = 0; o < b->scene->nobjects; o++) put_part(&b->part[o], &r);
    return ABUT_OK;
}
