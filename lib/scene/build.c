#include "scene/build_parts.h"

#include "energy/barrier_pair.h"
#include "math/vec3.h"
#include "model/model.h"
#include "model/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err, const char *what)
{
    return abut_fail(err, ABUT_E_NOMEM, "building the model: no memory for %s", what);
}

/* abut_model_put for callers that want a status. */
static abut_status put(abut_arrays *set, const char *name, int64_t rows, void *data, abut_err *err)
{
    void *p = abut_model_put(set, name, rows, err);
    memcpy(data, &p, sizeof p);
    return p ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

static void mark(int32_t *at, const int32_t *e, size_t n)
{
    for (size_t i = 0; i < n; i++) at[e[i]] = 0;
}

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
    p->node = malloc(n * sizeof *p->node);
    p->vertex = malloc(n * sizeof *p->vertex);
    if (!p->node || !p->vertex) return no_memory(err, "nodes");
    memset(p->node, -1, n * sizeof *p->node);
    memset(p->vertex, -1, n * sizeof *p->vertex);
    mark(p->vertex, p->edge, 2 * (size_t)p->nedge);
    mark(p->vertex, m->point, (size_t)m->np);
    if (!p->object->obstacle) f->inner = mark_tets(p->node, m);
    const abut_status rc = abut_build_mark_surface(p, err);
    if (rc) return rc;
    p->first = out->nodes;
    for (int32_t i = 0; i < m->nv; i++) {
        if (p->vertex[i] == 0) p->vertex[i] = proxy ? 0 : out->collision_vertices++, p->node[i] = 0;
        if (p->node[i] == 0) p->node[i] = out->nodes++;
        else f->dropped++;
    }
    p->nodes = f->nodes = out->nodes - p->first;
    f->tets = p->object->obstacle ? 0 : m->nt;
    f->triangles = p->ntri, f->edges = p->nedge, f->points = m->np, f->least_edge = shortest_edge(p);
    out->shells += f->shells, out->hinges += f->hinges;
    out->rods += f->rods, out->bends += f->bends, out->particles += f->particles;
    out->tets += f->tets;
    if (!proxy) out->edges += p->nedge, out->triangles += p->ntri;
    abut_mesh_bounds(m, f->lo, f->hi);
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
    b->part = calloc((size_t)s->nobjects + 1, sizeof *b->part);
    b->out->object = calloc((size_t)s->nobjects + 1, sizeof *b->out->object);
    b->out->selected = calloc((size_t)s->nmotions + 1, sizeof *b->out->selected);
    b->out->attached = calloc((size_t)s->nattachments + 1, sizeof *b->out->attached);
    b->out->sewn = calloc((size_t)s->nseams + 1, sizeof *b->out->sewn);
    if (!b->part || !b->out->object || !b->out->selected || !b->out->attached || !b->out->sewn) return no_memory(err, "objects");
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
    abut_status rc = put(b->model, "node/X", n, &b->X, err);
    if (!rc) rc = put(b->model, "node/mass", n, &b->mass, err);
    if (!rc) rc = put(b->model, "node/role", n, &b->role, err);
    if (!rc) rc = put(b->model, "node/object", n, &body, err);
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

/* Diagonal of the bounding box of the simulated nodes, or of all. */
static double diagonal(const abut_build *b, int all)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY }, d2 = 0;
    for (int32_t i = 0; i < b->out->nodes; i++)
        for (int k = 0; k < 3 && (all || b->role[i] != ABUT_NODE_OBSTACLE); k++) {
            lo[k] = fmin(lo[k], b->X[3 * (size_t)i + k]);
            hi[k] = fmax(hi[k], b->X[3 * (size_t)i + k]);
        }
    for (int k = 0; k < 3; k++) d2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
    return sqrt(d2);
}

/* The node of [lo, hi) that is farthest from c, and how far, m.  Without `all` obstacles do not count. */
static int32_t farthest(const abut_build *b, int32_t lo, int32_t hi, int all, abut_vec3 c, double *far)
{
    int32_t at = lo;
    *far = 0;
    for (int32_t i = lo; i < hi; i++) {
        if (!all && b->role[i] == ABUT_NODE_OBSTACLE) continue;
        const double d = abut_v3_norm(abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)i), c));
        if (d > *far) *far = d, at = i;
    }
    return at;
}

/* Searches for the largest distance of two nodes of [lo, hi), m, from the node that is farthest from their mean; a rotation does
 * not change it, and a box has its diagonal. */
static double extent(const abut_build *b, int32_t lo, int32_t hi, int all)
{
    abut_vec3 mean = { 0, 0, 0 };
    double n = 0, far, most = 0;
    for (int32_t i = lo; i < hi; i++)
        if (all || b->role[i] != ABUT_NODE_OBSTACLE) mean = abut_v3_add(mean, abut_v3_get(b->X + 3 * (size_t)i)), n++;
    int32_t at = farthest(b, lo, hi, all, abut_v3_scale(1 / n, mean), &far);
    for (int grows = 1; grows;) {
        at = farthest(b, lo, hi, all, abut_v3_get(b->X + 3 * (size_t)at), &far);
        grows = far > most * (1 + 1e-12);
        most = fmax(most, far);
    }
    return most;
}

static double mean_mass(const abut_build *b, int32_t lo, int32_t hi)
{
    double mass = 0, n = 0;
    for (int32_t i = lo; i < hi; i++)
        if (b->role[i] != ABUT_NODE_OBSTACLE) n++, mass += b->mass[i];
    return mass / n;
}

/* The lengths and mean masses of bodies, and the least of each.  A body of one node has the least length, if there is one. */
static void measure_bodies(abut_build *b)
{
    abut_built *o = b->out;
    o->length = o->mean_mass = INFINITY;
    o->smallest = -1;
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_part *p = &b->part[i];
        abut_object_facts *f = &o->object[i];
        if (p->object->obstacle) continue;
        f->extent = extent(b, p->first, p->first + p->nodes, 0);
        f->node_mass = mean_mass(b, p->first, p->first + p->nodes);
        if (f->extent > 0 && f->extent < o->length) o->length = f->extent, o->smallest = i;
        o->mean_mass = fmin(o->mean_mass, f->node_mass);
        o->heavy_mass = fmax(o->heavy_mass, f->node_mass);
    }
    if (o->smallest < 0) o->length = extent(b, 0, o->nodes, 0);
    if (!(o->length > 0)) o->length = extent(b, 0, o->nodes, 1);
    o->longest = o->length;
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        abut_object_facts *f = &o->object[i];
        if (!b->part[i].object->obstacle && !(f->extent > 0)) f->extent = o->length;
        o->longest = fmax(o->longest, f->extent);
    }
}

/* Puts the length, nodal mass and part of dhat of each body, for contact; 0 for obstacles. */
static abut_status put_bodies(abut_build *b, abut_err *err)
{
    const int32_t n = b->scene->nobjects;
    double *length = NULL, *mass = NULL, *dhat = NULL;
    if (b->scene->length_of_box || b->scene->contact_off) return ABUT_OK;
    const int weighs = !(b->scene->fixed_kappa.value > 0);
    abut_status rc = weighs ? put(b->model, "object/length", n, &length, err) : ABUT_OK;
    if (!rc && weighs) rc = put(b->model, "object/node-mass", n, &mass, err);
    if (!rc && b->scene->dhat.per_length) rc = put(b->model, "object/dhat-part", n, &dhat, err);
    for (int32_t i = 0; i < n && !rc; i++) {
        const abut_object_facts *f = &b->out->object[i];
        if (weighs) length[i] = f->extent, mass[i] = f->node_mass;
        if (dhat) dhat[i] = f->extent > 0 ? f->extent / b->out->longest : 1;
    }
    static const char *const name[] = { "object/length", "object/node-mass", "object/dhat-part" };
    for (int i = 0; i < 3 && !rc; i++) {
        abut_array *a = abut_arrays_find(b->model, name[i]);
        if (a) a->flags |= ABUT_A_REQUIRED;
    }
    return rc;
}

/* The length l and the mean mass, which obstacles get, too. */
static abut_status measure(abut_build *b, abut_err *err)
{
    abut_built *o = b->out;
    if (b->scene->length_of_box) {
        o->length = diagonal(b, 0);
        if (!(o->length > 0)) o->length = diagonal(b, 1);
        o->longest = o->length;
        o->mean_mass = o->heavy_mass = mean_mass(b, 0, o->nodes);
    } else measure_bodies(b);
    if (!(o->length > 0)) return abut_fail(err, ABUT_E_GEOM, "all nodes stand at one point: expected a scene with a size");
    for (int32_t i = 0; i < o->nodes; i++)
        if (b->role[i] == ABUT_NODE_OBSTACLE) b->mass[i] = o->mean_mass;
    return ABUT_OK;
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
                             : put(b->model, "contact/node", b->out->collision_vertices, &node, err);
    if (!rc && b->out->edges) rc = put(b->model, "contact/edge", b->out->edges, &edge, err);
    if (!rc && b->out->triangles) rc = put(b->model, "contact/triangle", b->out->triangles, &tri, err);
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
    const abut_scene *s = b->scene;
    int32_t *model;
    double *density, *young, *poisson;
    abut_status rc = put(b->model, "material/model", s->nmaterials, &model, err);
    if (!rc) rc = put(b->model, "material/density", s->nmaterials, &density, err);
    if (!rc) rc = put(b->model, "material/young", s->nmaterials, &young, err);
    if (!rc) rc = put(b->model, "material/poisson", s->nmaterials, &poisson, err);
    for (int32_t i = 0; i < s->nmaterials && !rc; i++) {
        model[i] = s->material[i].model;
        density[i] = s->material[i].density;
        young[i] = s->material[i].young;
        poisson[i] = s->material[i].poisson;
    }
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
    const abut_scene_object *o = s->object + thing;
    const abut_scene_plane *p = s->plane + (thing - s->nobjects);
    return thing < s->nobjects ? (rubbing){ o->has_mu, o->mu, o->material } : (rubbing){ p->has_mu, p->mu, p->material };
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
    if (!rc) rc = put(b->model, "contact/mu", classes, &mu, err);
    if (!rc) rc = put(b->model, "object/friction", s->nobjects, &object, err);
    if (!rc && s->nplanes) rc = put(b->model, "half-space/friction", s->nplanes, &plane, err);
    if (!rc) {
        for (int32_t i = 0; i < classes; i++)
            for (int32_t k = 0; k < classes; k++) mu[(size_t)i * (size_t)classes + (size_t)k] = pair_mu(s, first[i], first[k]);
        for (int32_t i = 0; i < n; i++) {
            if (i < s->nobjects) object[i] = class_of[i];
            else if (plane) plane[i - s->nobjects] = class_of[i];
        }
        b->out->friction_classes = classes;
    }
    free(class_of);
    free(first);
    return rc;
}

static abut_status put_planes(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    double *point, *normal;
    if (!s->nplanes) return ABUT_OK;
    abut_status rc = put(b->model, "half-space/point", s->nplanes, &point, err);
    if (!rc) rc = put(b->model, "half-space/normal", s->nplanes, &normal, err);
    for (int32_t i = 0; i < s->nplanes && !rc; i++) {
        memcpy(point + 3 * (size_t)i, s->plane[i].point, 3 * sizeof *point);
        memcpy(normal + 3 * (size_t)i, s->plane[i].normal, 3 * sizeof *normal);
    }
    return rc;
}

static abut_status put_number(abut_build *b, const char *name, double value, abut_err *err)
{
    double *p;
    const abut_status rc = put(b->model, name, 1, &p, err);
    if (!rc) *p = value;
    return rc;
}

static double in_metres(const abut_param *p, double l)
{
    return p->per_length ? p->value * l : p->value;
}

static abut_status put_choice(abut_build *b, const char *name, int value, abut_err *err)
{
    int32_t *p;
    const abut_status rc = put(b->model, name, 1, &p, err);
    if (!rc) *p = value;
    return rc;
}

/* Puts choices other than undamped implicit Euler and the published barrier and friction, as required arrays: a program that
 * does not know them must refuse the model. */
static abut_status put_variants(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_status rc = ABUT_OK;
    if (s->scheme != ABUT_IMPLICIT_EULER) rc = put_choice(b, "time/scheme", s->scheme, err);
    if (!rc && s->newmark_beta.value != ABUT_NEWMARK_BETA) rc = put_number(b, "time/newmark-beta", s->newmark_beta.value, err);
    if (!rc && s->newmark_gamma.value != ABUT_NEWMARK_GAMMA)
        rc = put_number(b, "time/newmark-gamma", s->newmark_gamma.value, err);
    if (!rc && s->barrier_law != ABUT_BARRIER_IPC) rc = put_choice(b, "contact/barrier-continuity", s->barrier_law, err);
    if (!rc && s->friction_law != ABUT_FRICTION_C1) rc = put_choice(b, "contact/friction-smoothing", s->friction_law, err);
    if (!rc && s->bodies_off) rc = put_choice(b, "contact/bodies", 0, err);
    if (!rc && s->mollifier_off) rc = put_choice(b, "contact/mollifier", 0, err);
    if (!rc && s->damp_mass.value > 0) rc = put_number(b, "damping/mass", s->damp_mass.value, err);
    if (!rc && s->damp_stiffness.value > 0) rc = put_number(b, "damping/stiffness", s->damp_stiffness.value, err);
    static const char *const name[] = { "time/scheme", "damping/mass", "damping/stiffness", "contact/barrier-continuity",
                                        "contact/friction-smoothing", "contact/bodies", "contact/mollifier", "time/newmark-beta",
                                        "time/newmark-gamma" };
    for (size_t i = 0; i < sizeof name / sizeof *name && !rc; i++) {
        abut_array *a = abut_arrays_find(b->model, name[i]);
        if (a) a->flags |= ABUT_A_REQUIRED;
    }
    return rc;
}

/* Default tolerance: PART of the speed of the scene; without gravity, TOLERANCE l in a time step if that is less.  REACHED l in a
 * step is attainable in spite of rounding.  STICKS: speed that counts as sticking, as a fraction of the tolerance. */
static const double PART = 1e-3, TOLERANCE = 1e-4, REACHED = 1e-8, STICKS = 0.1, STRAIN = 0.01;

/* Speed of the scene: of a fall through half of l; without gravity, of the fastest node at the start; if no node moves, the speed
 * that strains the slowest material by STRAIN. */
static double scene_speed(const abut_build *b, abut_speed_of *of)
{
    const abut_scene *s = b->scene;
    const double g = abut_v3_norm(abut_v3_get(s->gravity)), *v = abut_arrays_find(b->frame, "node/v")->data;
    double most = 0, sound = INFINITY;
    for (int32_t i = 0; i < b->out->nodes; i++) most = fmax(most, abut_v3_norm(abut_v3_get(v + 3 * (size_t)i)));
    for (const abut_scene_object *o = s->object; o < s->object + s->nobjects; o++)
        if (!o->obstacle) sound = fmin(sound, sqrt(s->material[o->material].young / s->material[o->material].density));
    *of = g > 0 ? ABUT_SPEED_OF_FALL : most > 0 ? ABUT_SPEED_OF_START : ABUT_SPEED_OF_SOUND;
    return g > 0 ? sqrt(g * b->out->length) : most > 0 ? most : STRAIN * sound;
}

/* Bounds the defaults of speeds by the speed of the scene, once velocities are known. */
static void bound_speeds(const abut_build *b)
{
    abut_built *o = b->out;
    if (b->scene->scheme == ABUT_QUASI_STATIC) return;
    o->speed = scene_speed(b, &o->speed_of);
    const double step = TOLERANCE * o->length / b->scene->step.value, part = PART * o->speed;
    const double bound = fmax(o->speed_of == ABUT_SPEED_OF_FALL ? part : fmin(step, part), REACHED / TOLERANCE * step);
    o->is_bounded = bound == part;
    if (!(b->scene->tolerance.value > 0))
        *(double *)abut_arrays_find(b->model, "solve/tolerance")->data = o->tolerance = bound;
    if (!(b->scene->eps_v.value > 0))
        *(double *)abut_arrays_find(b->model, "contact/eps-v")->data = o->eps_v = STICKS * bound;
}

static abut_status put_parameters(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_built *o = b->out;
    double *gravity;
    int32_t *lags;
    o->eps_v = s->eps_v.value > 0 ? in_metres(&s->eps_v, o->length) : STICKS * TOLERANCE * o->length / s->step.value;
    o->tolerance = s->tolerance.value > 0 ? in_metres(&s->tolerance, o->length) : TOLERANCE * o->length / s->step.value;
    if (!s->contact_off && o->dhat > o->length)
        return abut_fail(err, ABUT_E_FORMAT, "%s: contact.dhat is %.6g m, more than the length of the scene, %.6g m: expected a "
                         "small part of it (default 1e-3 l)", s->dhat.from, o->dhat, o->length);
    abut_status rc = put(b->model, "world/gravity", 3, &gravity, err);
    if (!rc) memcpy(gravity, s->gravity, sizeof s->gravity);
    if (!rc) rc = put_number(b, "time/step", s->step.value, err);
    if (!rc) rc = put_variants(b, err);
    if (!rc) rc = put_number(b, "scene/length", o->length, err);
    if (!rc) rc = put_number(b, "contact/dhat", in_metres(&s->dhat, o->longest), err);
    if (!rc) rc = put_bodies(b, err);
    if (!rc) rc = put_number(b, "contact/eps-v", o->eps_v, err);
    if (!rc) rc = put(b->model, "contact/lags", 1, &lags, err);
    if (!rc) *lags = (int32_t)s->lags.value;
    if (!rc) rc = put_number(b, "solve/tolerance", o->tolerance, err);
    if (!rc && s->barrier_filter.value > 0) rc = put_number(b, "contact/barrier-filter", s->barrier_filter.value, err);
    if (!rc && s->stiffen_below.value > 0)
        rc = put_number(b, "contact/stiffen-below", in_metres(&s->stiffen_below, o->length), err);
    if (!rc && s->force_tolerance.value > 0) rc = put_number(b, "solve/force-tolerance", s->force_tolerance.value, err);
    if (!rc && s->end.value > 0) rc = abut_arrays_put_f64(b->model, "time/end", s->end.value, "s", err);
    return rc;
}

/* Puts a text of names, one per line, in the order of the rows. */
static abut_status put_names(abut_arrays *set, const char *array, const char *first, size_t stride, int32_t n,
                             abut_err *err)
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
    return rc ? rc : put_names(b->model, "half-space/name", (const char *)s->plane + offsetof(abut_scene_plane, name),
                               sizeof *s->plane, s->nplanes, err);
}

#define STIFFER 2   /* lower bound over the published one: gaps are wider, and sliding primitives meet fewer edges */

/* Bounds of the barrier's stiffness, by the stiffest pair that the scene can have. */
static abut_status put_stiffness(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_built *o = b->out;
    const abut_array *thick = abut_arrays_find(b->model, "object/thickness");
    const int law = s->barrier_kappa ? ABUT_BARRIER_IPC : s->barrier_law;
    abut_status rc = abut_kappa_min_of(o->length, o->dhat, law, o->mean_mass, thick ? thick->data : NULL, s->nobjects,
                                       abut_arrays_find(b->model, "half-space/point") != NULL, &o->kappa_min, err);
    if (rc) return rc;
    if (!isfinite(o->kappa_min) && !(s->fixed_kappa.value > 0))
        return abut_fail(err, ABUT_E_FORMAT, "%s: contact.dhat is %.6g m, %.3g of the length of the scene, %.6g m: the stiffness "
                         "of contact has no finite bound for it; expected more than 1e-8 l (default 1e-3 l)", s->dhat.from,
                         o->dhat, o->dhat / o->length, o->length);
    o->kappa_min *= s->kappa_scale.value * (s->length_of_box || s->scheme == ABUT_QUASI_STATIC ? 1 : STIFFER);
    const double range = s->kappa_range.value;
    o->kappa_max = range * (range > 1 ? o->heavy_mass / o->mean_mass : 1) * o->kappa_min;
    if (s->fixed_kappa.value > 0) o->kappa_min = o->kappa_max = s->fixed_kappa.value;
    rc = put_number(b, "contact/kappa-min", o->kappa_min, err);
    return rc ? rc : put_number(b, "contact/kappa-max", o->kappa_max, err);
}

/* Velocities of what a motion moves from the start on; equilibria have none. */
static abut_status put_velocities(const abut_build *b, abut_err *err)
{
    abut_model m;
    if (!b->out->handles || b->scene->scheme == ABUT_QUASI_STATIC) return ABUT_OK;
    const abut_status rc = abut_model_view(b->model, &m, err);
    if (!rc) abut_motion_first_velocities(&m, b->X, abut_arrays_find(b->frame, "node/v")->data);
    return rc;
}

abut_status abut_scene_build(const abut_scene *s, abut_arrays *model, abut_arrays *frame, abut_built *built,
                             abut_offenders *bad, abut_err *err)
{
    abut_build b = { .scene = s, .out = built, .model = model, .frame = frame };
    memset(built, 0, sizeof *built);
    abut_status rc = abut_build_check(&b, bad, err);
    if (!rc) rc = parts_make(&b, err);
    if (!rc) rc = put_nodes(&b, err);
    if (!rc) rc = abut_build_tets(&b, err);
    if (!rc) rc = abut_build_codim(&b, err);
    if (!rc) rc = measure(&b, err);
    built->dhat = in_metres(&s->dhat, built->length);
    for (int32_t i = 0; i < s->nobjects && !rc; i++) {
        abut_object_facts *f = &built->object[i];
        f->dhat = f->extent > 0 ? in_metres(&s->dhat, f->extent) : built->dhat;
    }
    if (!rc) rc = abut_build_proxies(&b, err);
    if (!rc) rc = put_materials(&b, err);
    if (!rc) rc = abut_build_curved(&b, err);
    if (!rc) rc = put_contact(&b, err);
    if (!rc) rc = put_planes(&b, err);
    if (!rc) rc = put_friction(&b, err);
    if (!rc) rc = abut_build_terms(&b, err);
    if (!rc) rc = abut_build_motions(&b, err);
    if (!rc) rc = abut_build_attachments(&b, err);
    if (!rc) rc = put_parameters(&b, err);
    if (!rc) rc = put_all_names(&b, err);
    if (!rc) rc = put_stiffness(&b, err);
    if (!rc) rc = abut_build_nodal(&b, err);
    if (!rc) rc = put_velocities(&b, err);
    if (!rc) bound_speeds(&b);
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
    free(b->object);
    free(b->selected);
    free(b->attached);
    free(b->sewn);
    memset(b, 0, sizeof *b);
}
