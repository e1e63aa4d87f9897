#include "scene/scene.h"

#include "base/arena.h"
#include "base/words.h"
#include "geom/quadrature.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Defaults of the rows of scene.h, whose types are these. */
#define DEFAULT_int(value, l) (value)
#define DEFAULT_double(value, l) (value)
#define DEFAULT_abut_param(value, l) (abut_param){ value, l, "default" }
#define REAL(type, member, key, q, range, value, label) \
    s.member = DEFAULT_##type(value, (value) > 0 && ABUT_Q_##q == ABUT_Q_LENGTH_OR_L);
#define WORD(type, member, key, words, value, label) s.member = value;

abut_scene abut_scene_defaults(void)
{
    abut_scene s = { .gravity = { 0, -9.81, 0 }, .barrier_law = ABUT_BARRIER_IPC, .lags = { 1, 0, "default" } };
    ABUT_TIME_KEYS(REAL, WORD)
    ABUT_NEWMARK_KEYS(REAL)
    ABUT_DAMPING_KEYS(REAL)
    ABUT_CONTACT_KEYS(REAL, WORD)
    ABUT_BARRIER_KEYS(REAL, WORD)
    ABUT_FRICTION_KEYS(REAL, WORD)
    ABUT_TOP_KEYS(REAL, WORD)
    return s;
}

abut_status abut_scene_rows(void *rows, int32_t *count, int32_t n, size_t size, abut_err *err)
{
    void *p = calloc((size_t)n + 1, size), *old;
    assert(rows && count && n >= 0);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "scene: no memory for %d rows of %zu bytes", n, size);
    memcpy(&old, rows, sizeof old);
    free(old);
    memcpy(rows, &p, sizeof p);
    *count = n;
    return ABUT_OK;
}

abut_status abut_scene_rigid_materials(abut_scene *s, abut_err *err)
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_scene_object *o = &s->object[i];
        int32_t k = 0;
        if (!o->rigid.is) continue;
        for (; k < i && !(s->object[k].rigid.is && s->object[k].material == o->material);) k++;
        o->rigid.material = k < i ? s->object[k].rigid.material : s->nmaterials;
        if (k < i) continue;
        abut_scene_material *all = realloc(s->material, ((size_t)s->nmaterials + 1) * sizeof *all);
        if (!all) return abut_fail(err, ABUT_E_NOMEM, "materials of rigid objects");
        const abut_scene_material *of = &all[o->material];
        abut_scene_material m = { .model = ABUT_ORTHOGONAL, .density = of->density, .young = of->young };
        memcpy(m.name, of->name, sizeof m.name);
        memcpy(m.from, of->from, sizeof m.from);
        s->material = all;
        s->material[s->nmaterials++] = m;
    }
    return ABUT_OK;
}

void abut_scene_path_transform(abut_scene_path *path, int32_t nv, const double A[9], const double b[3])
{
    for (size_t i = 0; i < (size_t)path->n * (size_t)nv; i++) {
        double *p = path->x + 3 * i;
        const double q[3] = { p[0], p[1], p[2] };
        for (int k = 0; k < 3; k++) p[k] = A[3 * k] * q[0] + A[3 * k + 1] * q[1] + A[3 * k + 2] * q[2] + b[k];
    }
}

/* x -> A x + b for every object that is placed and every position that it passes through. */
static void transform_all(abut_scene *s, const double A[9], const double b[3])
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_scene_object *o = &s->object[i];
        if (o->in_place) continue;
        abut_mesh_transform(&o->mesh, A, b);
        abut_mesh_transform(&o->proxy.surface, A, b);
        abut_mesh_transform(&o->reference, A, b);
        abut_scene_path_transform(&o->path, o->mesh.nv, A, b);
    }
    for (int32_t i = 0; i < s->nmotions; i++) {
        abut_scene_motion *m = &s->motion[i];
        const abut_scene_object *o = m->act == ABUT_ACT_PATH ? &s->object[m->select.object] : NULL;
        if (o && !o->in_place) abut_scene_path_transform(&m->path, o->mesh.nv, A, b);
    }
}

/* Bounding box of all placed objects, or of the simulated ones alone.  Returns 0 if there are none. */
static int bounds(const abut_scene *s, int simulated, double lo[3], double hi[3])
{
    double a[3], b[3];
    int any = 0;
    for (int32_t i = 0; i < s->nobjects; i++) {
        const abut_scene_object *o = &s->object[i];
        if (!o->mesh.nv || (simulated ? o->obstacle : o->in_place)) continue;
        abut_mesh_bounds(&o->mesh, a, b);
        for (int k = 0; k < 3; k++) {
            lo[k] = any && lo[k] < a[k] ? lo[k] : a[k];
            hi[k] = any && hi[k] > b[k] ? hi[k] : b[k];
        }
        any = 1;
    }
    return any;
}

/* Rest shapes grow with the scene; they do not rotate. */
static void scale_rest(abut_scene_object *o, double c)
{
    for (size_t i = 0; o->shell.rest && i < 9 * (size_t)o->mesh.nf; i++) o->shell.rest[i] *= c;
    for (int32_t i = 0; o->rod_length && i < o->mesh.ns; i++) o->rod_length[i] *= c;
}

static void fit(abut_scene *s)
{
    double lo[3], hi[3], longest = 0;
    if (!(s->fit > 0) || !bounds(s, 0, lo, hi)) return;
    for (int k = 0; k < 3; k++) longest = hi[k] - lo[k] > longest ? hi[k] - lo[k] : longest;
    if (!(longest > 0)) return;
    const double c = s->fit / longest, down[3] = { -lo[0], -lo[1], -lo[2] };
    /* moved, then scaled: the lower corner is at 0 to the last bit */
    transform_all(s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, down);
    transform_all(s, (const double[9]){ c, 0, 0, 0, c, 0, 0, 0, c }, (const double[3]){ 0 });
    for (int32_t i = 0; i < s->nobjects; i++)
        if (!s->object[i].in_place) scale_rest(&s->object[i], c);
}

static void lift(abut_scene *s)
{
    double lo[3], hi[3], d2 = 0, height = s->lift.value;
    if (height == 0) return;
    if (s->lift.per_length && bounds(s, 1, lo, hi)) {
        for (int k = 0; k < 3; k++) d2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
        height *= sqrt(d2);
    }
    transform_all(s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, (const double[3]){ 0, height, 0 });
}

void abut_scene_place(abut_scene *s)
{
    if (s->is_rotated) transform_all(s, s->rotation, (const double[3]){ 0 });
    for (int32_t i = 0; s->is_rotated && i < s->nmaterials; i++) {
        const double *R = s->rotation;
        double *f = s->material[i].fibre_direction, d[3];
        memcpy(d, f, sizeof d);
        for (int k = 0; k < 3; k++) f[k] = R[3 * k] * d[0] + R[3 * k + 1] * d[1] + R[3 * k + 2] * d[2];
    }
    fit(s);
    lift(s);
}

void abut_scene_select_clear(abut_scene_select *s)
{
    ABUT_FREE(s->points, s->objects);
    *s = (abut_scene_select){ .object = -1 };
}

const char *abut_scene_select_words(const abut_scene *s, const abut_scene_select *select, char *buf, size_t size)
{
    size_t used = 0;
    snprintf(buf, size, "%s", select->object < 0 ? "all bodies" : s->object[select->object].name);
    for (int32_t i = 0; i < select->nobjects && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", s->object[select->objects[i]].name);
    return buf;
}

void abut_scene_clear(abut_scene *s)
{
    for (int32_t i = 0; i < s->nobjects; i++) {
        abut_mesh_clear(&s->object[i].mesh);
        abut_mesh_clear(&s->object[i].proxy.surface);
        abut_mesh_clear(&s->object[i].reference);
        ABUT_FREE(s->object[i].density, s->object[i].path.time, s->object[i].path.x, s->object[i].shell.rest,
                  s->object[i].shell.factor.time, s->object[i].shell.factor.value, s->object[i].rod_length);
        abut_snap_clear(&s->object[i].order.snap);
        ABUT_FREE(s->object[i].order.rest, s->object[i].fill);
    }
    for (int32_t i = 0; i < s->nmotions; i++) {
        abut_scene_select_clear(&s->motion[i].select);
        ABUT_FREE(s->motion[i].pose, s->motion[i].path.time, s->motion[i].path.x, s->motion[i].factor.time,
                  s->motion[i].factor.value);
    }
    for (int32_t i = 0; i < s->nattachments; i++) abut_scene_select_clear(&s->attachment[i].select);
    for (int32_t i = 0; i < s->nseams; i++)
        for (int k = 0; k < 2; k++) abut_scene_select_clear(&s->seam[i].side[k]);
    free(s->attachment), free(s->seam);
    for (int32_t i = 0; i < s->njoints; i++) abut_scene_select_clear(&s->joint[i].select);
    for (int32_t i = 0; i < s->nmotors; i++) ABUT_FREE(s->motor[i].value.time, s->motor[i].value.value);
    free(s->cohesion), free(s->joint), free(s->motor);
    for (int32_t i = 0; s->material && i < s->nmaterials; i++) free(s->material[i].knot), free(s->material[i].slope);
    free(s->material), free(s->object), free(s->plane), free(s->motion), free(s->pair), free(s->excluded);
    memset(s, 0, sizeof *s);
}

/* ---- orders of tets ---- */

int abut_scene_order_of(const abut_scene_object *o)
{
    return o->order.order ? o->order.order : o->order.found > 1 ? o->order.found : abut_mesh_order(&o->mesh);
}

static abut_status refuse(const abut_scene_object *o, abut_err *err, const char *what, int number, const char *expected)
{
    return abut_fail(err, ABUT_E_FORMAT, "%s: object '%s': %s%d: expected %s", o->from, o->name, what, number, expected);
}

/* Checks the orders that the scene asks for against the mesh, whose tets have order `found`. */
static abut_status check_order(const abut_scene_object *o, int found, abut_err *err)
{
    const abut_scene_order *a = &o->order;
    if (o->obstacle && a->order > 1)
        return refuse(o, err, "order: ", a->order, "none, as an obstacle is its surface of flat triangles");
    if (o->obstacle && found > 1 && a->order != 1)
        return refuse(o, err, "an obstacle of tets of order ", found, "order: 1, which keeps their corners alone");
    if (!o->mesh.nt && (a->order > 1 || a->geometry > 1))
        return refuse(o, err, a->order > 1 ? "order: " : "geometry: ", a->order > 1 ? a->order : a->geometry, "a mesh of tets");
    if (found > 1 && a->surface)
        return refuse(o, err, "surface: for tets of order ", found, "straight tets, as theirs are curved already");
    if (found > 1 && a->geometry > found) return refuse(o, err, "geometry: ", a->geometry, "at most the order of the mesh");
    if (found == 1 && !a->snap.kind && a->geometry > 1)
        return refuse(o, err, "geometry: ", a->geometry, "1, or a surface that the mesh is put onto (surface: {snap: ...})");
    return ABUT_OK;
}

abut_status abut_scene_shape(abut_scene_object *o, abut_err *err)
{
    abut_scene_order *a = &o->order;
    const int found = abut_mesh_order(&o->mesh);
    abut_status rc = check_order(o, found, err);
    if (rc) return rc;
    a->found = found;
    if (!rc && a->geometry > 1 && abut_scene_order_of(o) == 1)
        return refuse(o, err, "geometry: ", a->geometry, "1 for tets of order 1, or order: 2 or more");
    const int order = abut_scene_order_of(o), smooth = a->snap.kind != ABUT_SNAP_NONE;
    const int shape = a->geometry ? a->geometry : found > 1 && found < order ? found : order;
    if (found > 1) {
        if (shape < found) rc = abut_mesh_set_order(&o->mesh, shape, err);
    } else if (smooth && o->mesh.nt && (shape > 1 || a->surface)) {
        double points = 0;
        rc = abut_mesh_order_bound(&o->mesh, shape, &points, err);
        if (!rc) rc = abut_snap_begin(&a->snap, err);
        if (!rc) rc = abut_mesh_curve(&o->mesh, &a->snap, shape, &a->facts, err);
        a->curved = !rc;
    }
    if (rc) abut_wrap(err, "%s: object '%s'", o->from, o->name);
    return rc;
}

/* The rest shape apart, tet by tet. */
static abut_status keep_shape(abut_scene_object *o, abut_err *err)
{
    const abut_mesh *m = &o->mesh;
    const size_t n = (size_t)abut_tet_nodes(abut_mesh_order(m));
    o->order.kept = abut_mesh_order(m);
    o->order.rest = malloc((3 * n * (size_t)m->nt + 1) * sizeof *o->order.rest);
    if (!o->order.rest) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for the shape of %d tets", o->name, m->nt);
    for (int32_t t = 0; t < m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(m, t, X);
        memcpy(o->order.rest + 3 * n * (size_t)t, X, 3 * n * sizeof(double));
    }
    return ABUT_OK;
}

static abut_status set_order(abut_scene_object *o, double *points, double *elements, abut_err *err)
{
    const int order = abut_scene_order_of(o);
    abut_status rc = o->mesh.nt && abut_mesh_order(&o->mesh) > order ? keep_shape(o, err) : ABUT_OK;
    if (!rc) rc = abut_mesh_set_order(&o->mesh, order, err);
    *points += o->mesh.nv, *elements += abut_mesh_elements(&o->mesh);
    return rc ? rc : abut_mesh_bound(*points, *elements, "all objects up to this one", err);
}

abut_status abut_scene_orders(abut_scene *s, abut_err *err)
{
    double estimate = 0, points = 0, elements = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < 2 * s->nobjects && !rc; i++) {      /* all are estimated before one is made */
        abut_scene_object *o = &s->object[i % s->nobjects];
        rc = i < s->nobjects ? abut_mesh_order_bound(&o->mesh, abut_scene_order_of(o), &estimate, err)
                             : set_order(o, &points, &elements, err);
        if (rc) abut_wrap(err, "%s: object '%s'", o->from, o->name);
        if (rc == ABUT_E_ARG) rc = ABUT_E_FORMAT;
        if (rc && err) err->code = rc;
    }
    return rc;
}

/* ---- mass and centre of another mesh ---- */

/* A tet keeps at least this part of the material's density. */
static const double LEAST = 0.05;

/* Volumes, of what is solid, and centres of the tets. */
static abut_status tet_moments(const abut_scene_object *o, double *volume, double (*center)[3], abut_err *err)
{
    const int order = o->order.kept ? o->order.kept : abut_mesh_order(&o->mesh);
    const size_t n = 3 * (size_t)abut_tet_nodes(order);
    abut_quadrature q = { 0 };
    const abut_status rc = abut_quadrature_tet(4 * order - 3, &q, err);
    for (int32_t t = 0; t < o->mesh.nt && !rc; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        if (o->order.kept) memcpy(X, o->order.rest + n * (size_t)t, n * sizeof(double));
        else abut_mesh_tet_places(&o->mesh, t, X);
        abut_tet_moments(order, (const double(*)[3])X, q.L, q.w, q.n, &volume[t], center[t]);
        volume[t] *= o->fill ? fmax(o->fill[t], 1e-3) : 1;
    }
    abut_quadrature_clear(&q);
    return rc;
}

static abut_status match(abut_scene_object *o, abut_err *err)
{
    const size_t n = (size_t)o->mesh.nt;
    double *volume = malloc((n + 1) * sizeof *volume), (*center)[3] = malloc((n + 1) * sizeof *center), total, at[3];
    o->density = malloc((n + 1) * sizeof *o->density);
    abut_status rc = volume && center && o->density ? abut_mesh_volume(&o->reference, &total, at, err)
                                                    : abut_fail(err, ABUT_E_NOMEM, "densities of %zu tets", n);
    if (!rc) rc = tet_moments(o, volume, center, err);
    if (!rc) rc = abut_match_mass(o->mesh.nt, volume, (const double(*)[3])center, total, at, LEAST, o->density, err);
    if (rc) abut_wrap(err, "%s: match-mass of '%s'", o->from, o->name);
    free(volume), free(center);
    return rc;
}

abut_status abut_scene_match(abut_scene *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < s->nobjects && !rc; i++)
        if (s->object[i].reference.nt || s->object[i].reference.nf) rc = match(&s->object[i], err);
    return rc;
}
