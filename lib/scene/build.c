#include "base/arena.h"
#include "scene/build_parts.h"

#include "geom/jacobian.h"
#include "math/vec3.h"
#include "mesh/tet_nodes.h"
#include "model/model.h"
#include "model/motion.h"
#include "model/schemes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err, const char *what)
{
    return abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for %s", what);
}

/* ---- shapes of elements ---- */

static void gather(const abut_mesh *m, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, m->x + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* 6 V / L^3 with L the longest edge: about 0.7 for a regular tet, 0 for a flat one, < 0 for an inverted one. */
static double tet_shape(const double *x)
{
    double longest2 = 0;
    abut_vec3 e[3];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            const abut_vec3 d = abut_v3_sub(abut_v3_get(x + 3 * a), abut_v3_get(x + 3 * b));
            longest2 = fmax(longest2, abut_v3_norm2(d));
            if (b == 0) e[a - 1] = d;
        }
    const double det = abut_v3_dot(e[0], abut_v3_cross(e[1], e[2]));
    const double cube = longest2 * sqrt(longest2);
    return cube > 0 && isfinite(cube) ? det / cube : 0;
}

/* 2 A / L^2 with L the longest edge. */
static double tri_shape(const double *x)
{
    const abut_vec3 a = abut_v3_get(x), u = abut_v3_sub(abut_v3_get(x + 3), a), v = abut_v3_sub(abut_v3_get(x + 6), a);
    const double longest2 = fmax(fmax(abut_v3_norm2(u), abut_v3_norm2(v)), abut_v3_norm2(abut_v3_sub(u, v)));
    return longest2 > 0 ? abut_v3_norm(abut_v3_cross(u, v)) / longest2 : 0;
}

/* Rounding in the coordinates is about 1e-16 of their size: a shape below this is not known to be positive. */
static const double FLAT = 1e-13;

static void mark(int32_t *at, const int32_t *e, size_t n)
{
    for (size_t i = 0; i < n; i++) at[e[i]] = 0;
}

/* The number of each point as a node of the object: of those that an element uses; -1: left out.  NULL: no memory. */
static int32_t *number_points(const abut_mesh *m)
{
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number), n = 0;
    if (!number) return NULL;
    memset(number, -1, (size_t)m->nv * sizeof *number);
    mark(number, m->tet, 4 * (size_t)m->nt);
    mark(number, m->more, (size_t)abut_mesh_more(m) * (size_t)m->nt);
    mark(number, m->tri, 3 * (size_t)m->nf);
    mark(number, m->seg, 2 * (size_t)m->ns);
    mark(number, m->point, (size_t)m->np);
    for (int32_t i = 0; i < m->nv; i++)
        if (number[i] == 0) number[i] = n++;
    return number;
}

/* Every tet is. */
static int is_inside_out(const abut_mesh *m)
{
    double x[12];
    int32_t t = 0;
    for (; t < m->nt; t++) {
        gather(m, m->tet + 4 * (size_t)t, 4, x);
        if (!(tet_shape(x) < -FLAT)) break;
    }
    return m->nt && t == m->nt;
}

static abut_status check_tets(const abut_scene_object *o, const int32_t *number, abut_offenders *bad, abut_err *err)
{
    double x[12];
    abut_status rc = ABUT_OK;
    if (is_inside_out(&o->mesh))
        return abut_fail(err, ABUT_E_GEOM, "%s: object '%s': all %d tets are inverted: the mesh is stored inside out, and "
                         "`flip: true` turns it over", o->from, o->name, o->mesh.nt);
    for (int32_t t = 0; t < o->mesh.nt && !rc; t++) {
        const int32_t *v = o->mesh.tet + 4 * (size_t)t;
        gather(&o->mesh, v, 4, x);
        const double shape = tet_shape(x);
        if (shape > FLAT) continue;
        rc = abut_offenders_add(bad, 4, 0, x, err, "tet %d of '%s' (nodes %d, %d, %d, %d) is %s at (%.6g, %.6g, "
                                "%.6g): 6 V / L^3 = %.3g, expected more than %g", t, o->name, number[v[0]],
                                number[v[1]], number[v[2]], number[v[3]],
                                shape < -FLAT ? "inverted" : "flat", x[0], x[1], x[2], shape, FLAT);
    }
    return rc;
}

/* The rest shapes of tets of order 2 and more are one-to-one everywhere. */
static abut_status check_curved(const abut_scene_object *o, abut_offenders *bad, abut_err *err)
{
    const int order = o->order.kept ? o->order.kept : abut_mesh_order(&o->mesh);
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nt && !rc && order > 1; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_jacobian_at at;
        if (o->order.kept) memcpy(X, o->order.rest + 3 * (size_t)abut_tet_nodes(order) * (size_t)t, sizeof(double[3]) *
                                  (size_t)abut_tet_nodes(order));
        else abut_mesh_tet_places(&o->mesh, t, X);
        if (abut_jacobian_check(order, (const double(*)[3])X, &at) == ABUT_JACOBIAN_POSITIVE) continue;
        rc = abut_offenders_add(bad, 4, 0, X[0], err, "tet %d of '%s', of order %d, is not one-to-one: det J = %.3g m^3 at the "
                                "barycentric point (%.4g, %.4g, %.4g, %.4g), expected more than 0", t, o->name, order, at.det,
                                at.L[0], at.L[1], at.L[2], at.L[3]);
    }
    return rc;
}

static abut_status check_surface(const abut_scene_object *o, const int32_t *number, abut_offenders *bad, abut_err *err)
{
    double x[9];
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < o->mesh.nf && !rc; t++) {
        const int32_t *v = o->mesh.tri + 3 * (size_t)t;
        gather(&o->mesh, v, 3, x);
        const double shape = tri_shape(x);
        if (!(shape > FLAT))
            rc = abut_offenders_add(bad, 3, 0, x, err, "triangle %d of '%s' (nodes %d, %d, %d) has no area at (%.6g, "
                                    "%.6g, %.6g): 2 A / L^2 = %.3g, expected more than %g", t, o->name,
                                    number[v[0]], number[v[1]], number[v[2]], x[0], x[1],
                                    x[2], shape, FLAT);
    }
    for (int32_t s = 0; s < o->mesh.ns && !rc; s++) {
        const int32_t *v = o->mesh.seg + 2 * (size_t)s;
        gather(&o->mesh, v, 2, x);
        if (!memcmp(x, x + 3, 3 * sizeof *x))
            rc = abut_offenders_add(bad, 2, 0, x, err, "segment %d of '%s' (nodes %d, %d) has no length at (%.6g, %.6g, "
                                    "%.6g)", s, o->name, number[v[0]], number[v[1]], x[0], x[1], x[2]);
    }
    return rc;
}

/* Lists inverted, flat and degenerate elements of all objects. */
static abut_status check_shapes(const abut_build *b, abut_offenders *bad, abut_err *err)
{
    assert(b);
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) {
        const abut_scene_object *o = &b->scene->object[i];
        int32_t *number = number_points(&o->mesh);
        if (!number) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for %d points", o->name, o->mesh.nv);
        rc = check_surface(o, number, bad, err);
        if (!rc && !o->obstacle) rc = check_tets(o, number, bad, err);
        if (!rc && !o->obstacle) rc = check_curved(o, bad, err);
        free(number);
    }
    if (!rc && bad->total)
        rc = bad->total == 1 ? abut_fail(err, ABUT_E_GEOM, "one element cannot be simulated: %s", bad->item[0].text)
                             : abut_fail(err, ABUT_E_GEOM, "%lld elements cannot be simulated; the first: %s",
                                         (long long)bad->total, bad->item[0].text);
    return rc;
}

/* ---- objects ---- */

/* All nodes of tets; returns how many are no corners. */
static int32_t mark_tets(int32_t *at, const abut_mesh *m)
{
    const size_t n = (size_t)abut_mesh_more(m) * (size_t)m->nt;
    int32_t inner = 0;
    mark(at, m->tet, 4 * (size_t)m->nt);
    for (size_t i = 0; i < n; i++) inner += at[m->more[i]] < 0, at[m->more[i]] = 0;
    return inner;
}

static double shortest_edge(const abut_part *p)
{
    const double *x = p->object->mesh.x;
    double least = INFINITY;
    for (int32_t i = 0; i < p->nedge; i++) {
        const int32_t *e = p->edge + 2 * (size_t)i;
        least = fmin(least, abut_v3_norm(abut_v3_sub(abut_v3_get(x + 3 * (size_t)e[1]), abut_v3_get(x + 3 * (size_t)e[0]))));
    }
    return p->nedge ? least : 0;
}

/* Which points of the mesh become nodes and collision vertices; counts continue from those of the parts before. */
static abut_status part_number(abut_part *p, abut_built *out, abut_object_facts *f, abut_err *err)
{
    const abut_mesh *m = &p->object->mesh;
    const size_t n = (size_t)m->nv + 1;
    const int proxy = abut_part_has_proxy(p);
    if (!ABUT_ARRAYS(ABUT_ITEMS(p->node, n), ABUT_ITEMS(p->vertex, n))) return no_memory(err, "nodes");
    memset(p->node, -1, n * sizeof *p->node);
    memset(p->vertex, -1, n * sizeof *p->vertex);
    mark(p->vertex, p->edge, 2 * (size_t)p->nedge);
    mark(p->vertex, m->point, (size_t)m->np);
    if (!p->object->obstacle) f->inner = mark_tets(p->node, m);
    const abut_status rc = abut_build_mark_surface(p, err);
    if (rc) return rc;
    p->first = out->nodes;
    for (int k = 0; k < 3; k++) f->lo[k] = INFINITY, f->hi[k] = -INFINITY;
    for (int32_t i = 0; i < m->nv; i++) {
        if (p->vertex[i] == 0) p->vertex[i] = proxy ? 0 : out->collision_vertices++, p->node[i] = 0;
        if (p->node[i] != 0) {
            f->dropped++;
            continue;
        }
        p->node[i] = out->nodes++;
        for (int k = 0; k < 3; k++) {
            f->lo[k] = fmin(f->lo[k], m->x[3 * (size_t)i + (size_t)k]);
            f->hi[k] = fmax(f->hi[k], m->x[3 * (size_t)i + (size_t)k]);
        }
    }
    p->nodes = f->nodes = out->nodes - p->first;
    f->tets = p->object->obstacle ? 0 : m->nt;
    f->triangles = p->ntri, f->edges = p->nedge, f->points = m->np, f->least_edge = shortest_edge(p);
    out->shells += f->shells, out->hinges += f->hinges;
    out->rods += f->rods, out->bends += f->bends, out->particles += f->particles;
    out->tets += f->tets;
    if (!proxy) out->edges += p->nedge, out->triangles += p->ntri;
    return ABUT_OK;
}

static abut_status check_elements(const abut_scene_object *o, abut_err *err)
{
    const abut_mesh *m = &o->mesh;
    if (m->nt || m->nf || m->ns || m->np) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: %s '%s' has no element", o->from, o->obstacle ? "obstacle" : "body", o->name);
}

static abut_status parts_make(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    if (!ABUT_ARRAYS(ABUT_ZEROS(b->part, s->nobjects), ABUT_ZEROS(b->out->object, s->nobjects),
                     ABUT_ZEROS(b->out->selected, s->nmotions), ABUT_ZEROS(b->out->attached, s->nattachments),
                     ABUT_ZEROS(b->out->sewn, s->nseams))) return no_memory(err, "objects");
    abut_status rc = ABUT_OK;
    int32_t simulated = 0;
    for (int32_t i = 0; i < s->nobjects && !rc; i++) {
        b->part[i].object = &s->object[i];
        rc = check_elements(&s->object[i], err);
        if (!rc && !s->object[i].obstacle) rc = abut_build_bending(&b->part[i], &b->out->object[i], err);
        simulated += !s->object[i].obstacle;
        if (!rc && (rc = abut_build_surface(&b->part[i], err))) abut_wrap(err, "object '%s'", s->object[i].name);
        if (!rc) rc = part_number(&b->part[i], b->out, &b->out->object[i], err);
    }
    if (!rc && !simulated)
        rc = abut_fail(err, ABUT_E_FORMAT, "nothing to simulate: expected at least one object that is no obstacle");
    return rc;
}

static void parts_free(abut_build *b)
{
    for (int32_t i = 0; b->part && i < b->scene->nobjects; i++) {
        abut_part *p = &b->part[i];
        free(p->node), free(p->vertex), free(p->surface), free(p->tri), free(p->edge), free(p->hinge), free(p->bend);
        if (p->proxy) abut_proxy_clear(p->proxy);
        free(p->proxy);
    }
    free(b->part);
}

/* Returns the centre of a body's initial rotation. */
static abut_vec3 center_of(const abut_scene_object *s, const abut_object_facts *f)
{
    abut_vec3 sum = { 0, 0, 0 };
    if (s->has_center) return abut_v3_get(s->center);
    for (int k = 0; k < 4 && s->is_frame; k++) sum = abut_v3_add(sum, abut_v3_get(s->mesh.x + 3 * k));
    return s->is_frame ? abut_v3_scale(0.25, sum) : abut_v3_scale(0.5, abut_v3_add(abut_v3_get(f->lo), abut_v3_get(f->hi)));
}

/* Positions, rest and start; objects; starting velocities. */
static abut_status put_nodes(abut_build *b, abut_err *err)
{
    int32_t *body;
    const int64_t n = b->out->nodes;
    abut_status rc = abut_build_put(b->model, "node/X", n, &b->X, err);
    if (!rc) rc = abut_build_put(b->model, "node/mass", n, &b->mass, err);
    if (!rc) rc = abut_build_put(b->model, "node/role", n, &b->role, err);
    if (!rc) rc = abut_build_put(b->model, "node/object", n, &body, err);
    if (rc) return rc;
    double *x = abut_frame_put(b->frame, "node/x", n, err), *v = x ? abut_frame_put(b->frame, "node/v", n, err) : NULL;
    if (!v) return no_memory(err, "the frame");
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        const abut_scene_object *s = p->object;
        const abut_object_facts *f = &b->out->object[o];
        const abut_vec3 c = center_of(s, f);
        for (int32_t i = 0; i < s->mesh.nv; i++) {
            if (p->node[i] < 0) continue;
            const size_t k = (size_t)p->node[i];
            const abut_vec3 at = abut_v3_get(s->mesh.x + 3 * (size_t)i);
            const abut_vec3 spin = abut_v3_cross(abut_v3_get(s->spin), abut_v3_sub(at, c));
            abut_v3_put(b->X + 3 * k, at);
            abut_v3_put(x + 3 * k, at);
            if (!s->obstacle) abut_v3_put(v + 3 * k, abut_v3_add(abut_v3_get(s->velocity), spin));
            body[k] = o;
            b->role[k] = s->obstacle ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
        }
    }
    return ABUT_OK;
}

/* ---- contact, materials, friction ---- */

static abut_status put_excluded(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t *e = s->nexcluded ? abut_build_required(b, "contact/excluded", s->nexcluded, err) : NULL;
    if (e) memcpy(e, s->excluded, (size_t)s->nexcluded * sizeof *s->excluded);
    return e || !s->nexcluded ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/* Without them nothing touches. */
static abut_status put_contact(abut_build *b, abut_err *err)
{
    int32_t *node = NULL, *edge = NULL, *tri = NULL;
    if (b->scene->contact_off) {
        b->out->collision_vertices = b->out->edges = b->out->triangles = 0;
        return ABUT_OK;
    }
    int proxies = 0;
    for (int32_t o = 0; o < b->scene->nobjects; o++) proxies |= b->part[o].proxy != NULL;
    abut_status rc = proxies ? abut_build_contact_rows(b, err)
                             : abut_build_put(b->model, "contact/node", b->out->collision_vertices, &node, err);
    if (!rc && b->out->edges) rc = abut_build_put(b->model, "contact/edge", b->out->edges, &edge, err);
    if (!rc && b->out->triangles) rc = abut_build_put(b->model, "contact/triangle", b->out->triangles, &tri, err);
    if (!rc) rc = put_excluded(b, err);
    if (rc) return rc;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_part *p = &b->part[o];
        const abut_proxy *y = p->proxy;
        for (int32_t i = 0; i < (node ? p->object->mesh.nv : 0); i++)
            if (p->vertex[i] >= 0) node[p->vertex[i]] = p->node[i];
        for (int32_t i = 0; i < 3 * (y ? y->nf : p->ntri); i++) *tri++ = y ? p->first_vertex + y->tri[i] : p->vertex[p->tri[i]];
        for (int32_t i = 0; i < 2 * p->nedge; i++) *edge++ = y ? p->first_vertex + p->edge[i] : p->vertex[p->edge[i]];
    }
    return ABUT_OK;
}

static abut_status put_materials(abut_build *b, abut_err *err)
{
    static const abut_column columns[] = {
        ABUT_COLUMN(abut_scene_material, model, "material/model"), ABUT_COLUMN(abut_scene_material, density, "material/density"),
        ABUT_COLUMN(abut_scene_material, young, "material/young"), ABUT_COLUMN(abut_scene_material, poisson, "material/poisson")
    };
    const abut_scene *s = b->scene;
    const abut_status rc = abut_build_columns(b, columns, 4, s->material, sizeof *s->material, s->nmaterials, 0, err);
    return rc ? rc : abut_build_fabrics(b, err);
}

/* Data of an object or half-space that decide its friction. */
typedef struct rubbing {
    int has_mu;
    double mu;
    int32_t material;
} rubbing;

static rubbing rubbing_of(const abut_scene *s, int32_t thing)
{
    const abut_scene_object *o = thing < s->nobjects ? s->object + thing : NULL;
    const abut_scene_plane *p = o ? NULL : s->plane + (thing - s->nobjects);
    return o ? (rubbing){ o->has_mu, o->mu, o->material } : (rubbing){ p->has_mu, p->mu, p->material };
}

static const abut_scene_pair *find_pair(const abut_scene *s, int of_materials, int32_t a, int32_t b)
{
    for (const abut_scene_pair *p = s->pair; p < s->pair + s->npairs; p++)
        if (p->of_materials == of_materials && ((p->a == a && p->b == b) || (p->a == b && p->b == a))) return p;
    return NULL;
}

static int coheres(const abut_scene *s, int32_t thing)
{
    for (int32_t i = 0; i < s->ncohesions; i++)
        if (s->cohesion[i].a == thing || s->cohesion[i].b == thing) return 1;
    return 0;
}

static int in_pairs(const abut_scene *s, int of_materials, int32_t row)
{
    for (const abut_scene_pair *p = s->pair; p < s->pair + s->npairs; p++)
        if (p->of_materials == of_materials && (p->a == row || p->b == row)) return 1;
    return 0;
}

/* Friction coefficient of two things: an explicit pair of them; else one of their materials; else the mean of their own, or
 * the one that has its own; else the scene's. */
static double pair_mu(const abut_scene *s, int32_t a, int32_t b)
{
    const rubbing p = rubbing_of(s, a), q = rubbing_of(s, b);
    const abut_scene_pair *said = find_pair(s, 0, a, b);
    if (!said && p.material >= 0 && q.material >= 0) said = find_pair(s, 1, p.material, q.material);
    if (said) return said->mu;
    if (p.has_mu && q.has_mu) return 0.5 * (p.mu + q.mu);
    return p.has_mu ? p.mu : q.has_mu ? q.mu : s->mu.value;
}

/* Things that behave alike share a class: no explicit pair names them, nor does a cohesion, their own coefficients are the same
 * or none, and so are their materials as far as a pair of materials names them. */
static int same_class(const abut_scene *s, int32_t a, int32_t b)
{
    const rubbing p = rubbing_of(s, a), q = rubbing_of(s, b);
    if (in_pairs(s, 0, a) || in_pairs(s, 0, b) || coheres(s, a) || coheres(s, b)) return 0;
    if (p.material != q.material && (in_pairs(s, 1, p.material) || in_pairs(s, 1, q.material))) return 0;
    return p.has_mu == q.has_mu && (!p.has_mu || p.mu == q.mu);
}

static abut_status put_friction(abut_build *b, abut_err *err)
{
    enum { CLASSES_MOST = 4096 };       /* each has a coefficient with each */
    const abut_scene *s = b->scene;
    const int32_t n = s->nobjects + s->nplanes;
    int32_t *class_of = malloc(((size_t)n + 1) * sizeof *class_of), *first = malloc(((size_t)n + 1) * sizeof *first);
    int32_t classes = 0, *object, *plane = NULL;
    double *mu;
    abut_status rc = class_of && first ? ABUT_OK : no_memory(err, "friction classes");
    for (int32_t i = 0; i < n && !rc; i++) {
        int32_t c = 0;
        while (c < classes && !same_class(s, first[c], i)) c++;
        if (c == CLASSES_MOST)
            rc = abut_fail(err, ABUT_E_FORMAT, "%s: more than %d objects differ in their friction: expected fewer values of mu, "
                           "fewer names in friction pairs", i < s->nobjects ? s->object[i].from : s->plane[i - s->nobjects].from,
                           (int)CLASSES_MOST);
        else if (c == classes) first[classes++] = i;
        class_of[i] = c;
    }
    if (!rc) rc = abut_build_put(b->model, "contact/mu", classes, &mu, err);
    if (!rc) rc = abut_build_put(b->model, "object/friction", s->nobjects, &object, err);
    if (!rc && s->nplanes) rc = abut_build_put(b->model, "half-space/friction", s->nplanes, &plane, err);
    if (!rc) {
        for (int32_t i = 0; i < classes; i++)
            for (int32_t k = 0; k < classes; k++) *mu++ = pair_mu(s, first[i], first[k]);
        for (int32_t i = 0; i < n; i++) {
            if (i < s->nobjects) object[i] = class_of[i];
            else if (plane) plane[i - s->nobjects] = class_of[i];
        }
        b->out->friction_classes = classes;
    }
    ABUT_FREE(class_of, first);
    return rc;
}

static abut_status put_planes(abut_build *b, abut_err *err)
{
    static const abut_column columns[] = { ABUT_COLUMN(abut_scene_plane, point, "half-space/point"),
                                           ABUT_COLUMN(abut_scene_plane, normal, "half-space/normal") };
    const abut_scene *s = b->scene;
    return s->nplanes ? abut_build_columns(b, columns, 2, s->plane, sizeof *s->plane, s->nplanes, 0, err) : ABUT_OK;
}

/* Puts a text of names, one per line, in the order of the rows. */
static abut_status put_names(abut_arrays *set, const char *array, const char *first, size_t stride, int32_t n, abut_err *err)
{
    if (!n) return ABUT_OK;
    char *text = malloc((size_t)n * (ABUT_SCENE_NAME + 1) + 1), *p = text;
    if (!text) return no_memory(err, "names");
    *p = 0;
    for (int32_t i = 0; i < n; i++) p += sprintf(p, "%.*s\n", ABUT_SCENE_NAME - 1, first + (size_t)i * stride);
    const abut_status rc = abut_arrays_put_text(set, array, text, err);
    free(text);
    return rc;
}

static abut_status put_all_names(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_status rc = put_names(b->model, "object/name", (const char *)s->object + offsetof(abut_scene_object, name),
                               sizeof *s->object, s->nobjects, err);
    if (!rc) rc = put_names(b->model, "material/name", (const char *)s->material + offsetof(abut_scene_material, name),
                            sizeof *s->material, s->nmaterials, err);
    if (!rc) rc = put_names(b->model, "joint/name", (const char *)s->joint + offsetof(abut_scene_joint, name),
                            sizeof *s->joint, s->njoints, err);
    return rc ? rc : put_names(b->model, "half-space/name", (const char *)s->plane + offsetof(abut_scene_plane, name),
                               sizeof *s->plane, s->nplanes, err);
}

/* Velocities of what a motion moves from the start on; equilibria have none. */
static abut_status put_velocities(const abut_build *b, abut_err *err)
{
    abut_model m;
    if (!b->out->handles || !abut_scheme_is(b->scene->scheme, ABUT_SCHEME_INERTIA)) return ABUT_OK;
    const abut_status rc = abut_model_view(b->model, &m, err);
    if (!rc) abut_motion_first_velocities(&m, b->X, abut_arrays_find(b->frame, "node/v")->data);
    return rc;
}

abut_status abut_scene_build(const abut_scene *s, abut_arrays *model, abut_arrays *frame, abut_built *built,
                             abut_offenders *bad, abut_err *err)
{
    abut_build b = { .scene = s, .out = built, .model = model, .frame = frame };
    memset(built, 0, sizeof *built);
    abut_status rc = check_shapes(&b, bad, err);
    if (!rc) rc = parts_make(&b, err);
    if (!rc) rc = put_nodes(&b, err);
    if (!rc) rc = abut_build_tets(&b, err);
    if (!rc) rc = abut_build_codim(&b, err);
    if (!rc) rc = abut_build_measure(&b, err);
    if (!rc) rc = abut_build_proxies(&b, err);
    if (!rc) rc = put_materials(&b, err);
    if (!rc) rc = abut_build_curved(&b, err);
    if (!rc) rc = put_contact(&b, err);
    if (!rc) rc = put_planes(&b, err);
    if (!rc) rc = put_friction(&b, err);
    if (!rc) rc = abut_build_terms(&b, err);
    if (!rc) rc = abut_build_motions(&b, err);
    if (!rc) rc = abut_build_locks(&b, err);
    if (!rc) rc = abut_build_attachments(&b, err);
    if (!rc) rc = abut_build_parameters(&b, err);
    if (!rc) rc = put_all_names(&b, err);
    if (!rc) rc = abut_build_stiffness(&b, err);
    if (!rc) rc = abut_build_nodal(&b, err);
    if (!rc) rc = put_velocities(&b, err);
    if (!rc) rc = abut_build_rigid(&b, err);
    if (!rc) rc = abut_build_joints(&b, err);
    if (!rc) abut_build_bound_speeds(&b);
    parts_free(&b);
    if (rc) {
        abut_built_clear(built);
        abut_arrays_clear(model);
        abut_arrays_clear(frame);
    }
    return rc;
}

void abut_built_clear(abut_built *b)
{
    ABUT_FREE(b->object, b->selected, b->attached, b->sewn);
    memset(b, 0, sizeof *b);
}
