#include "scene/build_parts.h"

#include "energy/curved_rod.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static abut_status status(const abut_err *err)
{
    return err ? err->code : ABUT_E_NOMEM;
}

static const double *at(const abut_scene_object *o, int32_t i)
{
    return o->mesh.x + 3 * (size_t)i;
}

/* ---- the shape at rest ---- */

/* The edges from corner 0 at rest along warp and weft, as columns of R (row major).  Without a direction of its own, because
 * warp is across the triangle, an isotropic membrane takes the first edge. */
static abut_status rest_matrix(const abut_scene_object *o, int isotropic, int32_t t, double R[4], abut_err *err)
{
    const double *c = o->shell.rest + 9 * (size_t)t;
    const abut_vec3 d[2] = { abut_v3_sub(abut_v3_get(c + 3), abut_v3_get(c)),
                             abut_v3_sub(abut_v3_get(c + 6), abut_v3_get(c)) };
    const abut_vec3 n = abut_v3_cross(d[0], d[1]), warp = abut_v3_get(o->shell.warp);
    const double area2 = abut_v3_norm(n), longest2 = fmax(abut_v3_norm2(d[0]), abut_v3_norm2(d[1]));
    if (!(area2 > 1e-13 * longest2))
        return abut_fail(err, ABUT_E_GEOM, "%s: triangle %d of '%s' has no area at rest: 2 A = %.3g m^2", o->from, t,
                         o->name, area2);
    const abut_vec3 up = abut_v3_scale(1 / area2, n);
    abut_vec3 u = abut_v3_axpy(warp, -abut_v3_dot(warp, up), up);
    if (!(abut_v3_norm(u) > 1e-6 * abut_v3_norm(warp))) {
        if (!isotropic)
            return abut_fail(err, ABUT_E_GEOM,
                             "%s: triangle %d of '%s' lies across warp (%g, %g, %g): expected a direction along it", o->from,
                             t, o->name, warp.x, warp.y, warp.z);
        u = d[0];
    }
    u = abut_v3_scale(1 / abut_v3_norm(u), u);
    const abut_vec3 v = abut_v3_cross(up, u);
    for (int k = 0; k < 2; k++)
        R[k] = abut_v3_dot(d[k], u), R[2 + k] = abut_v3_dot(d[k], v);
    return ABUT_OK;
}

/* Rest length of the edge (a, b) of triangle t. */
double abut_rest_edge(const abut_scene_object *o, int32_t t, int32_t a, int32_t b)
{
    const int32_t *v = o->mesh.tri + 3 * (size_t)t;
    const double *c = o->shell.rest + 9 * (size_t)t, *p = NULL, *q = NULL;
    for (int k = 0; k < 3; k++)
        p = v[k] == a ? c + 3 * k : p, q = v[k] == b ? c + 3 * k : q;
    return abut_v3_norm(abut_v3_sub(abut_v3_get(p), abut_v3_get(q)));
}

/* Corner of triangle t at rest that is point a of the mesh. */
static const double *rest_corner(const abut_scene_object *o, int32_t t, int32_t a)
{
    const int32_t *v = o->mesh.tri + 3 * (size_t)t;
    int k = 0;
    while (k < 2 && v[k] != a)
        k++;
    return o->shell.rest + 9 * (size_t)t + 3 * (size_t)k;
}

/* Angle of a hinge at rest, from the mesh in space if the shell has a pattern, which is flat and in pieces. */
static double rest_angle(const abut_scene_object *o, const abut_hinge *h)
{
    double x[12];
    if (o->shell.flat) return 0;
    for (int k = 0; k < 4; k++)
        memcpy(x + 3 * k, o->shell.has_pattern ? at(o, h->node[k]) : rest_corner(o, h->tri[k == 3], h->node[k]), 3 * sizeof *x);
    return abut_hinge_angle(x);
}

/* ---- the start ---- */

/* C = F^T F of triangle t where it starts, F = [x1 - x0, x2 - x0] R^-1: C11, C22, C12. */
static void start_metric(const abut_scene_object *o, int32_t t, const double R[4], double C[3])
{
    const int32_t *v = o->mesh.tri + 3 * (size_t)t;
    const abut_vec3 x = abut_v3_get(at(o, v[0]));
    const abut_vec3 d0 = abut_v3_sub(abut_v3_get(at(o, v[1])), x), d1 = abut_v3_sub(abut_v3_get(at(o, v[2])), x);
    const double det = R[0] * R[3] - R[1] * R[2];
    const abut_vec3 f0 = abut_v3_scale(1 / det, abut_v3_axpy(abut_v3_scale(R[3], d0), -R[2], d1));
    const abut_vec3 f1 = abut_v3_scale(1 / det, abut_v3_axpy(abut_v3_scale(R[0], d1), -R[1], d0));
    C[0] = abut_v3_norm2(f0), C[1] = abut_v3_norm2(f1), C[2] = abut_v3_dot(f0, f1);
}

/* Fails if a shell starts beyond its limits, which a barrier cannot enforce. */
static abut_status check_stretch(const abut_scene_object *o, int32_t t, const double C[3], abut_err *err)
{
    const double *s = o->shell.limit, mean = 0.5 * (C[0] + C[1]), r = hypot(0.5 * (C[0] - C[1]), C[2]);
    const double high = sqrt(mean + r), low = sqrt(fmax(mean - r, 0));
    if (s[3] > 0 && !(high < s[3]))
        return abut_fail(err, ABUT_E_GEOM,
                         "%s: triangle %d of '%s' starts with the stretch %.9g: expected less than its limit %.9g", o->from,
                         t, o->name, high, s[3]);
    if (s[1] > 0 && !(low > s[0]))
        return abut_fail(err, ABUT_E_GEOM,
                         "%s: triangle %d of '%s' starts with the stretch %.9g: expected more than its limit %.9g", o->from,
                         t, o->name, low, s[0]);
    return ABUT_OK;
}

static abut_status check_strain(const abut_scene_object *o, const abut_scene_material *m, int32_t t, const double C[3],
                                abut_err *err)
{
    static const char *const name[] = { "along warp", "along weft", "in shear" };
    const double E[3] = { 0.5 * (C[0] - 1), 0.5 * (C[1] - 1), 0.5 * C[2] };
    for (int k = 0; k < 3 && m->membrane == ABUT_MEMBRANE_CLOTH; k++)
        if (!(fabs(E[k]) < m->strain_limit[k]))
            return abut_fail(err, ABUT_E_GEOM,
                             "%s: triangle %d of '%s' starts with the strain %.9g %s: expected less than the limit "
                             "%.9g of '%s'",
                             o->from, t, o->name, E[k], name[k], m->strain_limit[k], m->name);
    return ABUT_OK;
}

/* ---- arrays ---- */

typedef struct shell_arrays {
    int32_t *node, *material;
    double *thickness, *rest, *limit; /* limit NULL: no shell has one */
} shell_arrays;

static int any_limit(const abut_scene *s)
{
    int any = 0;
    for (int32_t i = 0; i < s->nobjects; i++)
        any |= !s->object[i].obstacle && (s->object[i].shell.limit[1] > 0 || s->object[i].shell.limit[3] > 0);
    return any;
}

static abut_status new_shells(abut_build *b, shell_arrays *a, abut_err *err)
{
    const int64_t n = b->out->shells;
    a->node = abut_build_required(b, "shell/node", n, err);
    a->material = a->node ? abut_build_required(b, "shell/material", n, err) : NULL;
    a->thickness = a->material ? abut_build_required(b, "shell/thickness", n, err) : NULL;
    a->rest = a->thickness ? abut_build_required(b, "shell/rest", n, err) : NULL;
    a->limit = a->rest && any_limit(b->scene) ? abut_build_required(b, "shell/stretch-limit", n, err) : NULL;
    return !a->rest || (any_limit(b->scene) && !a->limit) ? status(err) : ABUT_OK;
}

static abut_status put_shell(abut_build *b, int32_t object, int32_t t, int32_t row, const shell_arrays *a, abut_err *err)
{
    const abut_scene_object *o = &b->scene->object[object];
    const abut_scene_material *m = &b->scene->material[o->material];
    double *R = a->rest + 4 * (size_t)row, C[3];
    abut_status rc = rest_matrix(o, m->membrane == ABUT_MEMBRANE_ISOTROPIC, t, R, err);
    if (rc) return rc;
    start_metric(o, t, R, C);
    if ((rc = check_stretch(o, t, C, err)) || (rc = check_strain(o, m, t, C, err))) return rc;
    const double area = 0.5 * (R[0] * R[3] - R[1] * R[2]), mass = m->density * area * o->shell.thickness;
    for (int k = 0; k < 3; k++) {
        const int32_t v = b->part[object].node[o->mesh.tri[3 * (size_t)t + k]];
        a->node[3 * (size_t)row + k] = v;
        b->mass[v] += mass / 3;
    }
    a->material[row] = o->material;
    a->thickness[row] = o->shell.thickness;
    if (a->limit) memcpy(a->limit + 4 * (size_t)row, o->shell.limit, sizeof o->shell.limit);
    b->out->object[object].mass += mass;
    b->out->object[object].area += area;
    return ABUT_OK;
}

static abut_status put_shells(abut_build *b, abut_err *err)
{
    shell_arrays a;
    if (!b->out->shells) return ABUT_OK;
    abut_status rc = new_shells(b, &a, err);
    int32_t row = 0;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++)
        for (int32_t t = 0; t < b->out->object[i].shells && !rc; t++)
            rc = put_shell(b, i, t, row++, &a, err);
    return rc;
}

static double bending_young(const abut_scene_material *m)
{
    return m->bending_young > 0 ? m->bending_young : m->young;
}

static double rest_area(const abut_scene_object *o, int32_t t)
{
    const double *c = o->shell.rest + 9 * (size_t)t;
    const abut_vec3 p = abut_v3_get(c);
    return 0.5 * abut_v3_norm(abut_v3_cross(abut_v3_sub(abut_v3_get(c + 3), p), abut_v3_sub(abut_v3_get(c + 6), p)));
}

static double hinge_stiffness(const abut_build *b, const abut_scene_object *o, const abut_hinge *h)
{
    const abut_scene_material *m = &b->scene->material[o->material];
    const double edge =
        0.5 * (abut_rest_edge(o, h->tri[0], h->node[0], h->node[1]) + abut_rest_edge(o, h->tri[1], h->node[0], h->node[1]));
    return abut_hinge_stiffness(bending_young(m), m->poisson, o->shell.thickness, edge,
                                rest_area(o, h->tri[0]) + rest_area(o, h->tri[1]), o->shell.plate);
}

static abut_status put_hinges(abut_build *b, abut_err *err)
{
    if (!b->out->hinges) return ABUT_OK;
    int32_t *node = abut_build_required(b, "hinge/node", b->out->hinges, err);
    double *angle = node ? abut_build_required(b, "hinge/angle", b->out->hinges, err) : NULL;
    double *stiffness = angle ? abut_build_required(b, "hinge/stiffness", b->out->hinges, err) : NULL;
    if (!stiffness) return status(err);
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_part *p = &b->part[i];
        for (const abut_hinge *h = p->hinge; h < p->hinge + p->nhinge; h++, node += 4) {
            for (int k = 0; k < 4; k++)
                node[k] = p->node[h->node[k]];
            *angle++ = rest_angle(p->object, h);
            *stiffness++ = hinge_stiffness(b, p->object, h);
        }
    }
    return ABUT_OK;
}

static abut_status put_rods(abut_build *b, abut_err *err)
{
    if (!b->out->rods) return ABUT_OK;
    int32_t *node = abut_build_required(b, "rod/node", b->out->rods, err);
    int32_t *material = node ? abut_build_required(b, "rod/material", b->out->rods, err) : NULL;
    double *radius = material ? abut_build_required(b, "rod/radius", b->out->rods, err) : NULL;
    double *length = radius ? abut_build_required(b, "rod/length", b->out->rods, err) : NULL;
    if (!length) return status(err);
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_scene_object *o = &b->scene->object[i];
        abut_object_facts *f = &b->out->object[i];
        for (int32_t s = 0; s < f->rods; s++, node += 2) {
            const double l = o->rod_length[s],
                         mass = b->scene->material[o->material].density * PI * o->rod_radius * o->rod_radius * l;
            for (int k = 0; k < 2; k++) {
                node[k] = b->part[i].node[o->mesh.seg[2 * (size_t)s + k]];
                b->mass[node[k]] += mass / 2;
            }
            *material++ = o->material, *radius++ = o->rod_radius, *length++ = l;
            f->mass += mass, f->length += l;
        }
    }
    return ABUT_OK;
}

static abut_status put_bends(abut_build *b, abut_err *err)
{
    if (!b->out->bends) return ABUT_OK;
    int32_t *node = abut_build_required(b, "bend/node", b->out->bends, err);
    double *stiffness = node ? abut_build_required(b, "bend/stiffness", b->out->bends, err) : NULL;
    if (!stiffness) return status(err);
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_part *p = &b->part[i];
        const abut_scene_object *o = p->object;
        for (const abut_bend *e = p->bend; e < p->bend + p->nbend; e++, node += 3) {
            /* along the rod, where its segments run the other direction */
            const int back = o->rod_curved && o->mesh.seg[2 * (size_t)e->seg[0]] == e->node[1];
            for (int k = 0; k < 3; k++)
                node[k] = p->node[e->node[back ? 2 - k : k]];
            *stiffness++ = abut_bend_stiffness(bending_young(&b->scene->material[o->material]), o->rod_radius,
                                               o->rod_length[e->seg[0]], o->rod_length[e->seg[1]]);
        }
    }
    return ABUT_OK;
}

static abut_status put_particles(abut_build *b, abut_err *err)
{
    if (!b->out->particles) return ABUT_OK;
    int32_t *node = abut_build_required(b, "particle/node", b->out->particles, err);
    double *radius = node ? abut_build_required(b, "particle/radius", b->out->particles, err) : NULL;
    if (!radius) return status(err);
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_scene_object *o = &b->scene->object[i];
        abut_object_facts *f = &b->out->object[i];
        for (int32_t k = 0; k < f->particles; k++) {
            const double r = o->particle_radius, mass = b->scene->material[o->material].density * 4 / 3 * PI * r * r * r;
            *node = b->part[i].node[o->mesh.point[k]];
            b->mass[*node++] += mass;
            *radius++ = r;
            f->mass += mass;
        }
    }
    return ABUT_OK;
}

/* A number of every object, for those that are not an obstacle unless `all`; absent where all are 0. */
static abut_status put_of_objects(abut_build *b, const char *name, size_t offset, int all, abut_err *err)
{
    const abut_scene *s = b->scene;
    int any = 0;
    double *out = NULL;
    for (int32_t i = 0; i < s->nobjects; i++) {
        double v;
        memcpy(&v, (const char *)&s->object[i] + offset, sizeof v);
        if (v == 0 || (s->object[i].obstacle && !all)) continue;
        if (!any++ && !(out = abut_build_required(b, name, s->nobjects, err))) return status(err);
        if (out) out[i] = v;
    }
    return ABUT_OK;
}

abut_status abut_build_codim(abut_build *b, abut_err *err)
{
    abut_status rc;
    if ((rc = put_shells(b, err)) || (rc = put_hinges(b, err)) || (rc = put_rods(b, err)) || (rc = put_bends(b, err)) ||
        (rc = put_particles(b, err)) ||
        (rc = put_of_objects(b, "object/thickness", offsetof(abut_scene_object, contact_thickness), 1, err)) ||
        (rc = put_of_objects(b, "object/pressure", offsetof(abut_scene_object, shell.pressure), 0, err)) ||
        (rc = put_of_objects(b, "object/drag", offsetof(abut_scene_object, shell.drag), 0, err)))
        return rc;
    const double *w = b->scene->wind;
    if (w[0] == 0 && w[1] == 0 && w[2] == 0) return ABUT_OK;
    double *wind = abut_build_required(b, "world/wind", 3, err);
    if (!wind) return status(err);
    memcpy(wind, w, 3 * sizeof *w);
    return ABUT_OK;
}

abut_status abut_build_fabrics(abut_build *b, abut_err *err)
{
    assert(b);
    static const abut_column columns[] = {
        ABUT_COLUMN(abut_scene_material, membrane, "material/membrane"),
        ABUT_COLUMN(abut_scene_material, fabric, "material/fabric"),
        ABUT_COLUMN(abut_scene_material, strain_limit, "material/strain-limit"),
        ABUT_COLUMN(abut_scene_material, compression, "material/compression")
    };
    const abut_scene *s = b->scene;
    int there[4] = { 0 };
    for (int32_t i = 0; i < s->nmaterials; i++) {
        there[0] = there[1] |= s->material[i].membrane != ABUT_MEMBRANE_ISOTROPIC;
        there[2] |= s->material[i].membrane == ABUT_MEMBRANE_CLOTH;
        there[3] |= s->material[i].membrane == ABUT_MEMBRANE_BARAFF_WITKIN;
    }
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 4 && !rc; k++)
        if (there[k])
            rc = abut_build_columns(b, &columns[k], 1, s->material, sizeof *s->material, s->nmaterials, ABUT_A_REQUIRED, err);
    return rc;
}

/* ---- bending, and elements without a meaning ---- */

static abut_status check_kind(const abut_scene_object *o, int32_t n, const char *what, int said, const char *key, abut_err *err)
{
    if (n && !said)
        return abut_fail(err, ABUT_E_FORMAT, "%s: body '%s' has %d %s: expected %s, or an obstacle (obstacle: true)",
                         o->from, o->name, n, what, key);
    if (said && !n)
        return abut_fail(err, ABUT_E_FORMAT, "%s: body '%s' has no %s: expected some, or a body without %s", o->from,
                         o->name, what, key);
    return ABUT_OK;
}

static int any_directed_alike(const abut_part *p, int32_t *tri)
{
    const int32_t *t = p->object->mesh.tri;
    for (const abut_hinge *h = p->hinge; h < p->hinge + p->nhinge; h++) {
        const int32_t *v = t + 3 * (size_t)h->tri[1];
        for (int k = 0; k < 3; k++)
            if (v[k] == h->node[0] && v[(k + 1) % 3] == h->node[1]) return tri[0] = h->tri[0], tri[1] = h->tri[1], 1;
    }
    return 0;
}

abut_status abut_build_bending(abut_part *p, abut_object_facts *f, abut_err *err)
{
    const abut_scene_object *o = p->object;
    const abut_mesh *m = &o->mesh;
    int32_t tri[2];
    abut_status rc = check_kind(
        o, m->nf, "triangles", o->shell.thickness > 0,
        m->nt ? "shell: {thickness: length}" : "shell: {thickness: length}, a solid (tetrahedralize: {max-volume: volume})", err);
    if (!rc) rc = check_kind(o, m->ns, "segments", o->rod_radius > 0, "rod: {radius: length}", err);
    if (!rc) rc = check_kind(o, m->np, "isolated points", o->particle_radius > 0, "particle: {radius: length}", err);
    if (!rc && (rc = abut_hinges_find(m->tri, m->nf, m->nv, &p->hinge, &p->nhinge, err)))
        abut_wrap(err, "%s: '%s'", o->from, o->name);
    if (!rc && (rc = abut_bends_find(m->seg, m->ns, m->nv, &p->bend, &p->nbend, err)))
        abut_wrap(err, "%s: '%s'", o->from, o->name);
    if (!rc && o->shell.pressure != 0 && any_directed_alike(p, tri))
        rc = abut_fail(err, ABUT_E_GEOM,
                       "%s: triangles %d and %d of '%s' face opposite ways: expected one side to press on (pressure)",
                       o->from, tri[0], tri[1], o->name);
    if (rc) return rc;
    f->shells = m->nf, f->hinges = p->nhinge, f->rods = m->ns, f->bends = p->nbend, f->particles = m->np;
    return ABUT_OK;
}

/* ---- rods that are at rest as curved as their mesh ---- */

static const void *data_of(const abut_arrays *set, const char *name)
{
    const abut_array *a = abut_arrays_find(set, name);
    return a ? a->data : NULL;
}

/* Views the arrays of the model that describe the shape of its rods. */
static abut_model rods_of(const abut_build *b)
{
    const abut_arrays *s = b->model;
    return (abut_model){ .nv = b->out->nodes, .nrd = b->out->rods, .nbd = b->out->bends, .nm = b->scene->nmaterials,
                         .body = data_of(s, "node/object"), .rod = data_of(s, "rod/node"), .rod_mat = data_of(s, "rod/material"),
                         .rod_length = data_of(s, "rod/length"), .bend = data_of(s, "bend/node"),
                         .bend_stiffness = data_of(s, "bend/stiffness"), .mat_poisson = data_of(s, "material/poisson") };
}

abut_status abut_build_curved(abut_build *b, abut_err *err)
{
    assert(b);
    const abut_scene *s = b->scene;
    int32_t some = 0;
    while (some < s->nobjects && !s->object[some].rod_curved) some++;
    if (some == s->nobjects || !b->out->bends) return ABUT_OK;
    abut_curved_rods r;
    const abut_model m = rods_of(b);
    double *curvature = abut_build_required(b, "rod/curvature", m.nbd, err);
    if (!curvature) return status(err);
    abut_status rc = abut_curved_rods_init(&r, &m, err);
    if (rc) return abut_wrap(err, "%s: rods of '%s' are curved", s->object[some].from, s->object[some].name), rc;
    rc = abut_curved_rods_measure(&r, b->X, curvature, err);
    abut_curved_rods_clear(&r);
    for (int32_t i = 0; i < m.nbd && !rc; i++)
        if (!s->object[m.body[m.bend[3 * i]]].rod_curved) curvature[2 * i] = curvature[2 * i + 1] = 0;
    return rc;
}
