/* The mesh of an object: from its file or generator to its place; the order of its elements; its shape at rest; what contact sees
 * of it. */
#include "formats/scene/keys.h"

#include "math/mat3.h"
#include "mesh/proxy.h"
#include "mesh/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what to keep of the mesh ---- */

static abut_status keep_points(abut_mesh *m, abut_err *err)
{
    m->nt = m->nf = m->ns = m->np = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < m->nv && !rc; i++) rc = abut_mesh_add_point(m, i, err);
    return rc;
}

/* Sides of triangles become segments, each once. */
static abut_status keep_edges(abut_mesh *m, abut_err *err)
{
    int32_t *edge = NULL, n = 0;
    abut_status rc = abut_surface_edges(m->tri, m->nf, m->seg, m->ns, &edge, &n, err);
    m->nf = m->np = 0;
    if (!rc) m->ns = 0;
    for (int32_t i = 0; i < n && !rc; i++) rc = abut_mesh_add_seg(m, edge[2 * (size_t)i], edge[2 * (size_t)i + 1], err);
    free(edge);
    return rc;
}

static abut_status use_part(const abut_tree *t, int edges, abut_mesh *m, abut_err *err)
{
    if (edges && m->nt) return abut_tree_fail(t, err, "use: edges of a mesh of tets: expected a surface");
    return edges ? keep_edges(m, err) : keep_points(m, err);
}

/* ---- where it is ---- */

/* R <- rotation(axis * angle) R. */
static void rotate_by(const double w[3], double R[9])
{
    const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (angle == 0) return;
    const double a[3] = { w[0] / angle, w[1] / angle, w[2] / angle };
    double Q[9], P[9], s = sin(angle), c = cos(angle);
    const double quarter = angle / 1.5707963267948966;
    if (quarter == floor(quarter)) {                /* multiples of 90 degrees keep exact coordinates */
        static const double COS[4] = { 1, 0, -1, 0 }, SIN[4] = { 0, 1, 0, -1 };
        const int q = (int)fmod(quarter, 4);
        c = COS[q], s = SIN[q];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) Q[3 * i + k] = (i == k ? c : 0) + (1 - c) * a[i] * a[k];
    Q[1] -= s * a[2], Q[2] += s * a[1], Q[3] += s * a[2], Q[5] -= s * a[0], Q[6] -= s * a[1], Q[7] += s * a[0];
    memcpy(P, R, sizeof P);
    abut_m3_mul(R, Q, P);
}

static const abut_key ANGLE_KEYS[] = {
    { ABUT_NUMBER(abut_scene_turn, "axis", axis, PURE, NULL) },
    { ABUT_NUMBER(abut_scene_turn, "angle", value, ANGLE, NULL) },
    { 0 }
};
static const abut_key RATE_KEYS[] = {
    { ABUT_NUMBER(abut_scene_turn, "axis", axis, PURE, NULL) },
    { ABUT_NUMBER(abut_scene_turn, "rate", value, RATE, NULL) },
    { ABUT_TREE(abut_scene_turn, "center", center), .form = "[x, y, z]" },
    { 0 }
};
const abut_keys abut_scene_angle = { "rotation", NULL, ANGLE_KEYS, 2, "{axis: [x, y, z], angle: number and unit}" };
const abut_keys abut_scene_rate = { "rotation", NULL, RATE_KEYS, 2, "{axis: [x, y, z], rate: number and unit}" };

abut_status abut_scene_axis(const abut_scene_reader *r, const abut_keys *keys, const abut_tree *t, double out[3],
                            const abut_tree **center, abut_err *err)
{
    abut_scene_turn w = { { 0 }, 0, NULL };
    abut_status rc = abut_keys_read(r, keys, t, &w, err);
    const double n = abut_tree_norm(w.axis, 3);
    if (!rc) rc = abut_scene_nonzero(abut_tree_find(t, "axis"), "axis", w.axis, err);
    for (int k = 0; k < 3 && !rc; k++) out[k] = w.value * w.axis[k] / n;
    if (center) *center = w.center;
    return rc;
}

abut_status abut_scene_rotation(const abut_scene_reader *r, const abut_tree *t, void *R, abut_err *err)
{
    const int is_list = t->kind == ABUT_TREE_LIST;
    abut_status rc = ABUT_OK;
    for (const abut_tree *c = is_list ? t->child : t; c && !rc; c = is_list ? c->next : NULL) {
        double w[3] = { 0 };
        rc = abut_scene_axis(r, &abut_scene_angle, c, w, NULL, err);
        if (!rc) rotate_by(w, R);
    }
    return rc;
}

/* The mean of the points that some element uses. */
static void vertex_mean(const abut_mesh *m, double mean[3])
{
    for (int k = 0; k < 3; k++) {
        mean[k] = 0;
        for (int32_t i = 0; i < m->nv; i++) mean[k] += m->x[3 * (size_t)i + k];
        mean[k] /= m->nv;
    }
}

/* The middle of the mesh takes the place of the file's origin: that of its box, or the mean of its points. */
static abut_status move_origin(const abut_tree *t, int mean, abut_scene_object *o, abut_err *err)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double lo[3], hi[3], b[3];
    if (o->path.n) return abut_tree_fail_key(t, err, "origin: a sequence says where the obstacle is; expected no %s", t->text);
    abut_mesh_bounds(&o->mesh, lo, hi);
    for (int k = 0; k < 3; k++) b[k] = 0.5 * (lo[k] + hi[k]);
    if (mean) vertex_mean(&o->mesh, b);
    for (int k = 0; k < 3; k++) b[k] = -b[k];
    abut_mesh_transform(&o->mesh, I, b);
    abut_mesh_transform(&o->order.snap.mesh, I, b);
    return ABUT_OK;
}

/* `unit-size: true`: divides the mesh by the longest side of its box. */
static abut_status make_unit(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    double lo[3], hi[3], side = 0, A[9] = { 0 };
    const double none[3] = { 0 };
    if (o->path.n) return abut_tree_fail_key(t, err, "unit-size: a sequence says how large the obstacle is; expected false");
    abut_mesh_bounds(&o->mesh, lo, hi);
    for (int k = 0; k < 3; k++) side = fmax(side, hi[k] - lo[k]);
    if (!(side > 0)) return abut_tree_fail_key(t, err, "unit-size: the mesh has no extent: expected one that has");
    for (int k = 0; k < 3; k++) A[4 * k] = 1 / side;
    abut_mesh_transform(&o->mesh, A, none);
    abut_mesh_transform(&o->order.snap.mesh, A, none);
    return ABUT_OK;
}

abut_status abut_scene_transform_check(const abut_tree *object, abut_scene_transform *p, abut_err *err)
{
    for (int i = 0; i < 9; i++) p->A[i] *= p->scale[i % 3];
    if (p->scale[0] != 0 && p->scale[1] != 0 && p->scale[2] != 0) return ABUT_OK;
    return abut_tree_fail(abut_tree_find(object, "scale"), err, "scale: expected numbers that are not 0");
}

abut_status abut_scene_read_transform(const abut_scene_reader *r, const abut_tree *object, abut_scene_transform *p, abut_err *err)
{
    static const abut_key rows[] = { ABUT_TRANSFORM_KEYS(abut_scene_transform, ), { 0 } };
    *p = (abut_scene_transform)ABUT_NO_TRANSFORM;
    const abut_status rc = abut_keys_some(r, &(const abut_keys){ .row = rows }, object, p, err);
    return rc ? rc : abut_scene_transform_check(object, p, err);
}

static const abut_key REPEAT_KEYS[] = {
    { ABUT_WHOLE(abut_scene_lattice, "count", count, "[1,4096]") },
    { ABUT_NUMBER(abut_scene_lattice, "spacing", spacing, LENGTH, NULL) },
    { ABUT_FLAG(abut_scene_lattice, "objects", objects), .fallback = "false" },
    { 0 }
};
const abut_keys abut_scene_repeat = { "repeat", NULL, REPEAT_KEYS, 2, "{count: [n, n, n], spacing: [x, y, z]}" };

static int64_t copies_of(const abut_scene_lattice *l)
{
    return (int64_t)l->count[0] * l->count[1] * l->count[2];
}

abut_status abut_scene_copies(const abut_scene_reader *r, const abut_tree *object, int32_t *n, abut_err *err)
{
    enum { MOST = 100000 };
    const abut_tree *t = abut_tree_find(object, "repeat");
    abut_scene_lattice l = { { 1, 1, 1 }, { 0, 0, 0 }, 0 };
    const abut_status rc = t ? abut_keys_read(r, &abut_scene_repeat, t, &l, err) : ABUT_OK;
    const int64_t all = rc || !l.objects ? 0 : copies_of(&l);
    *n = (int32_t)all;
    if (all <= MOST) return rc;
    return abut_tree_fail(t, err, "repeat: %lld object%s: expected at most %d", (long long)all, abut_s(all), MOST);
}

void abut_scene_copy_at(const abut_scene_lattice *l, int64_t c, double at[3])
{
    at[0] = (double)(c % l->count[0]) * l->spacing[0];
    at[1] = (double)(c / l->count[0] % l->count[1]) * l->spacing[1];
    at[2] = (double)(c / l->count[0] / l->count[1]) * l->spacing[2];
}

/* Puts all copies into the mesh; of copies that are objects, copy `which`. */
static abut_status repeat(const abut_scene_lattice *l, const abut_tree *count, int32_t which, abut_mesh *m, abut_err *err)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const int64_t first = l->objects ? which : 0, n = l->objects ? 1 : copies_of(l);
    const double points = (double)n * m->nv, elements = (double)n * abut_mesh_elements(m);
    abut_status rc = abut_scene_placed(count, abut_mesh_bound(points, elements, "repeat", err), err);
    abut_mesh all = { 0 }, copy = { 0 };
    for (int64_t c = first; c < first + n && !rc; c++) {
        double at[3];
        abut_scene_copy_at(l, c, at);
        rc = abut_mesh_append(&copy, m, err);
        abut_mesh_transform(&copy, I, at);
        if (!rc) rc = abut_mesh_append(&all, &copy, err);
        copy.nv = copy.nt = copy.nf = copy.ns = copy.np = 0;
    }
    abut_mesh_clear(&copy);
    abut_mesh_clear(rc ? &all : m);
    if (!rc) *m = all;
    return rc;
}

/* ---- the shape at rest ---- */

static abut_status new_rest(abut_scene_object *o, abut_err *err)
{
    if (ABUT_ARRAYS(ABUT_ZEROS(o->shell.rest, 9 * (size_t)o->mesh.nf), ABUT_ZEROS(o->rod_length, o->mesh.ns))) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for the rest shape of %d triangles", o->mesh.nf);
}

/* Makes the rest shape of the points x[3 nv] of a mesh with as many triangles and segments. */
static abut_status rest_of_points(const abut_tree *t, abut_scene_object *o, const abut_mesh *m, const double *x, abut_err *err)
{
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++)
        memcpy(o->shell.rest + 3 * i, x + 3 * (size_t)m->tri[i], 3 * sizeof *x);
    for (int32_t s = 0; s < m->ns; s++) {
        const double *p = x + 3 * (size_t)m->seg[2 * (size_t)s], *q = x + 3 * (size_t)m->seg[2 * (size_t)s + 1];
        const double d[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
        o->rod_length[s] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!(o->rod_length[s] > 0) && o->rod_radius > 0)
            return abut_tree_fail_key(t, err, "segment %d of '%s' has no length at rest", s, o->name);
    }
    return ABUT_OK;
}

static abut_status rest_of_file(const abut_scene_reader *r, const abut_tree *t, const double scale[3], int flipped,
                                abut_scene_object *o, abut_err *err)
{
    const double A[9] = { scale[0], 0, 0, 0, scale[1], 0, 0, 0, scale[2] };
    abut_mesh m = { 0 };
    if (o->rod_curved && o->mesh.ns)
        return abut_tree_fail(t, err, "rest: rods of '%s' are at rest as curved as their mesh: expected `rest` or rod.curved",
                              o->name);
    abut_status rc = abut_scene_load(r, t, &m, err);
    if (!rc && (m.nf != o->mesh.nf || m.ns != o->mesh.ns))
        rc = abut_tree_fail(t, err, "rest: a mesh of %d triangle%s and %d segment%s, expected %d and %d as '%s' has", m.nf,
                            abut_s(m.nf), m.ns, abut_s(m.ns), o->mesh.nf, o->mesh.ns, o->name);
    if (!rc) {
        if (flipped) abut_mesh_flip(&m);
        abut_mesh_transform(&m, A, (const double[3]){ 0 });
        rc = rest_of_points(t, o, &m, m.x, err);
    }
    abut_mesh_clear(&m);
    return rc;
}

/* Corners at (u, v, 0) of the mesh's pattern, u and v in units of `unit`. */
static abut_status rest_of_pattern(const abut_tree *t, double unit, abut_scene_object *o, abut_err *err)
{
    if (!o->mesh.uv && o->mesh.nf)
        return abut_tree_fail_key(t, err, "'%s' has no pattern: not every corner of its triangles has a place (vt) in it",
                                  o->name);
    for (size_t i = 0; i < 3 * (size_t)o->mesh.nf; i++) {
        const double corner[3] = { unit * o->mesh.uv[2 * i], unit * o->mesh.uv[2 * i + 1], 0 };
        memcpy(o->shell.rest + 3 * i, corner, sizeof corner);
    }
    o->shell.has_pattern = 1;
    return ABUT_OK;
}

typedef struct rest_keys {
    const abut_tree *mesh;
    double unit;
} rest_keys;

static const abut_key REST_KEYS[] = {
    { ABUT_NUMBER(rest_keys, "uv", unit, LENGTH, "(0,)") }, { ABUT_TREE(rest_keys, "mesh", mesh), .form = "file" }, { 0 }
};
const abut_keys abut_scene_rest = { "rest", NULL, REST_KEYS, 0, "{uv: length of a unit} or {mesh: file}" };

static abut_status read_rest(const abut_scene_reader *r, const abut_tree *t, const double scale[3], int flipped,
                             abut_scene_object *o, abut_err *err)
{
    rest_keys said = { NULL, 0 };
    if (t->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(t, "rest", err, "%s", abut_scene_rest.form);
    const abut_status rc = abut_keys_read(r, &abut_scene_rest, t, &said, err);
    if (rc) return rc;
    if (!said.mesh == !(said.unit > 0)) return abut_tree_fail(t, err, "rest: expected %s", abut_scene_rest.form);
    return said.mesh ? rest_of_file(r, said.mesh, scale, flipped, o, err)
                     : rest_of_pattern(abut_tree_find(t, "uv"), said.unit, o, err);
}

/* The shape at rest of shells and rods: `rest`, or the mesh itself, x[3 nv] its points scaled but neither rotated nor moved. */
static abut_status set_rest(const abut_scene_reader *r, const abut_tree *t, const double *x, const double scale[3], int flipped,
                            abut_scene_object *o, abut_err *err)
{
    const abut_tree *said = abut_tree_find(t, "rest"), *gen = abut_tree_find(t, "generate");
    if (!(o->shell.thickness > 0 || o->rod_radius > 0))
        return said ? abut_tree_fail_key(said, err, "rest: '%s' is neither a shell nor a rod", o->name) : ABUT_OK;
    abut_status rc = new_rest(o, err);
    if (!rc) rc = rest_of_points(t, o, &o->mesh, x, err);
    if (!rc && said) rc = read_rest(r, said, scale, flipped, o, err);
    if (!rc && !said && gen && o->mesh.uv && o->shell.thickness > 0) {
        const double s = fabs(scale[0]);
        if (s != fabs(scale[1]) || s != fabs(scale[2]))
            return abut_tree_fail_key(abut_tree_find(t, "scale"), err,
                                      "scale: '%s' has a pattern, which is scaled by one number only", o->name);
        rc = rest_of_pattern(gen, s, o, err);
    }
    if (!o->shell.has_angle) o->shell.flat = o->shell.has_pattern;
    return rc;
}

/* n copies of rows of `width` numbers. */
static int copied(double **p, size_t rows, size_t width, size_t n)
{
    if (!*p) return 1;
    const size_t one = rows * width;
    double *all = malloc((one * n + 1) * sizeof *all);
    if (!all) return 0;
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * one, *p, one * sizeof *all);
    free(*p);
    *p = all;
    return 1;
}

/* Repeats the shape at rest as often as the mesh repeats one with nf triangles and ns segments. */
static abut_status repeat_rest(abut_scene_object *o, int32_t nf, int32_t ns, abut_err *err)
{
    const size_t n = nf ? (size_t)(o->mesh.nf / nf) : ns ? (size_t)(o->mesh.ns / ns) : 1;
    if (copied(&o->shell.rest, (size_t)nf, 9, n) && copied(&o->rod_length, (size_t)ns, 1, n)) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for the rest shape of %zu copies", n);
}

/* ---- all of it ---- */

#define LATER(k, words) { .name = k, .kind = ABUT_KEY_LATER, .form = words }
static const abut_key PART_KEYS[] = {
    LATER("mesh", "file"), LATER("generate", "as of an object"), ABUT_TRANSFORM_KEYS(abut_object_said, place.),
    { ABUT_NUMBER(abut_object_said, "weld", weld, LENGTH, "(0,)") }, { 0 }
};
const abut_keys abut_scene_union = { "part of a union", NULL, PART_KEYS, 0, NULL };

/* Drops points that no triangle has: they would be vertices of nothing. */
static abut_status keep_triangles(const abut_tree *t, abut_mesh *m, abut_err *err);

/* Adds the surface of a part of a union. */
static abut_status add_part(const abut_scene_reader *r, const abut_tree *t, abut_mesh *all, abut_err *err)
{
    abut_object_said s = { .place = ABUT_NO_TRANSFORM, .repeat = { .count = { 1, 1, 1 } } };
    abut_mesh *const m = &s.o.mesh;
    int32_t *tri = NULL, n = 0;
    abut_status rc = abut_keys_read(r, &abut_scene_union, t, &s, err);
    if (!rc && !abut_tree_find(t, "mesh") == !abut_tree_find(t, "generate"))
        rc = abut_tree_fail(t, err, "part of a union: expected one of mesh, generate");
    if (!rc) rc = abut_scene_transform_check(t, &s.place, err);
    if (!rc) rc = abut_scene_mesh(r, t, 0, &s, err);
    if (!rc && m->nt) rc = abut_surface_triangles(m->tet, m->nt, &tri, &n, err);
    for (int32_t i = 0; i < n && !rc; i++) rc = abut_mesh_add_tri(m, tri[3 * i], tri[3 * i + 1], tri[3 * i + 2], err);
    m->nt = 0;
    if (!rc) rc = keep_triangles(t, m, err);
    if (!rc) rc = abut_mesh_append(all, m, err);
    free(tri), free(s.o.fill);
    abut_mesh_clear(m);
    return rc;
}

/* Exactly one of mesh, generate, union, sequence. */
static abut_status source(const abut_scene_reader *r, const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    const abut_tree *mesh = abut_tree_find(t, "mesh"), *gen = abut_tree_find(t, "generate");
    const abut_tree *sequence = abut_tree_find(t, "sequence"), *parts = abut_tree_find(t, "union");
    if ((mesh != NULL) + (gen != NULL) + (sequence != NULL) + (parts != NULL) != 1)
        return abut_tree_fail_key(t, err, "object '%s': expected one of mesh, generate, union, sequence, half-space", t->key);
    if (parts) {
        abut_status rc = abut_tree_list(parts, "union", -1, "{generate: {sphere: {radius: 1, cells: 8}}}", err);
        for (const abut_tree *c = rc ? NULL : parts->child; c && !rc; c = c->next) rc = add_part(r, c, &o->mesh, err);
        return rc;
    }
    if (mesh) return abut_scene_load(r, mesh, &o->mesh, err);
    if (gen) return abut_scene_generate(r, t, gen, o, err);
    if (!o->obstacle) return abut_tree_fail_key(sequence, err, "sequence: only an obstacle follows one (obstacle: true)");
    if (abut_tree_find(t, "repeat") || abut_tree_find(t, "velocity") || abut_tree_find(t, "angular-velocity"))
        return abut_tree_fail_key(sequence, err, "sequence: says where the obstacle is; expected no repeat or velocity");
    return abut_scene_read_path(r, sequence, &o->mesh, &o->path, err);
}

/* Puts the mesh where it is, and makes its shape at rest. */
static abut_status place(const abut_scene_reader *r, const abut_tree *t, abut_object_said *s, abut_err *err)
{
    const abut_scene_transform *p = &s->place;
    abut_scene_object *const o = &s->o;
    double *x = malloc(3 * ((size_t)o->mesh.nv + 1) * sizeof *x);
    if (!x) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d points", o->mesh.nv);
    for (size_t i = 0; i < 3 * (size_t)o->mesh.nv; i++) x[i] = p->scale[i % 3] * o->mesh.x[i];
    if (s->flip) abut_mesh_flip(&o->mesh);
    abut_mesh_transform(&o->mesh, p->A, p->b);
    abut_mesh_transform(&o->order.snap.mesh, p->A, p->b);
    abut_scene_path_transform(&o->path, o->mesh.nv, p->A, p->b);
    const abut_status rc = set_rest(r, t, x, p->scale, s->flip, o, err);
    free(x);
    return rc;
}

abut_status abut_scene_mesh(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_object_said *s, abut_err *err)
{
    const abut_tree *copies = abut_tree_find(t, "repeat"), *unit = abut_tree_find(t, "unit-size");
    abut_scene_object *const o = &s->o;
    abut_status rc = source(r, t, o, err);
    if (!rc && !abut_tree_find(t, "tetrahedralize")) rc = abut_scene_shape(o, err);
    if (!rc && s->has_use) rc = use_part(abut_tree_find(t, "use"), s->use, &o->mesh, err);
    if (!rc && s->origin) rc = move_origin(abut_tree_find(t, "origin"), s->origin == 2, o, err);
    if (!rc && s->unit && abut_tree_find(t, "rest"))
        rc = abut_tree_fail_key(unit, err, "unit-size and rest: expected one of them");
    if (!rc && s->unit) rc = make_unit(unit, o, err);
    if (!rc) rc = place(r, t, s, err);
    const int32_t nf = o->mesh.nf, ns = o->mesh.ns;
    if (!rc && copies) rc = repeat(&s->repeat, abut_tree_find(copies, "count"), copy, &o->mesh, err);
    if (!rc && copies) rc = repeat_rest(o, nf, ns, err);
    if (rc || !(s->weld > 0)) return rc;
    return abut_scene_placed(abut_tree_find(t, "weld"), abut_mesh_weld(&o->mesh, s->weld, err), err);
}

/* ---- curved surfaces ---- */

static abut_status read_capsules(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_snap *const s = to;
    return abut_scene_capsules(r, t, &s->capsule, &s->ncapsules, err);
}

#define CENTER { ABUT_NUMBER(abut_snap, "center", center, LENGTH, NULL), .fallback = "[0, 0, 0]" }, { 0 }
#define POSITIVE(k, m) { ABUT_NUMBER(abut_snap, k, m, LENGTH, "(0,)") }
static const abut_key SPHERE[] = { POSITIVE("radius", radius), CENTER };
static const abut_key CYLINDER[] = { POSITIVE("radius", radius), POSITIVE("height", size), CENTER };
static const abut_key TORUS[] = { POSITIVE("radius", radius), POSITIVE("tube", size), CENTER };
static const abut_key CAPSULES[] = { { .name = "capsules", .kind = ABUT_KEY_READ, .read = read_capsules,
                                       .form = "a list of maps" },
                                     { ABUT_NUMBER(abut_snap, "blend", blend, LENGTH, "[0,)"), .fallback = "0" }, { 0 } };
#define SHAPE(k, keys, n) { ABUT_MAP(k, (&(const abut_keys){ .row = keys, .needs = n })) }
static const abut_key SHAPES[] = { SHAPE("sphere", SPHERE, 1), SHAPE("cylinder", CYLINDER, 2), SHAPE("torus", TORUS, 2),
                                   SHAPE("capsules", CAPSULES, 1), { 0 } };
static const int KIND[] = { ABUT_SNAP_SPHERE, ABUT_SNAP_CYLINDER, ABUT_SNAP_TORUS, ABUT_SNAP_CAPSULES };
static const abut_keys SNAP = { "snap", NULL, SHAPES, 0, NULL };
static const abut_key SURFACE_KEYS[] = {
    { .name = "snap", .kind = ABUT_KEY_TREE, .keys = &SNAP, .form = "file, none, or a shape" }, { 0 }
};
const abut_keys abut_scene_surface = { "surface", NULL, SURFACE_KEYS, 1, "{snap: a file of triangles, a shape, or none}" };

/* Reads a smooth shape by its name. */
static abut_status read_shape(const abut_scene_reader *r, const abut_tree *t, abut_snap *s, abut_err *err)
{
    abut_status rc = abut_keys_read(r, &SNAP, t, s, err);
    if (!rc && t->n != 1) rc = abut_tree_fail(t, err, "snap: %d shapes: expected one", t->n);
    for (int k = 0; k < 4 && !rc; k++)
        if (!strcmp(t->child->key, SHAPES[k].name)) s->kind = KIND[k];
    if (!rc && s->kind == ABUT_SNAP_TORUS && !(s->size < s->radius))
        rc = abut_tree_fail(t->child, err, "torus: tube %g m: expected less than the radius %g m", s->size, s->radius);
    return rc;
}

abut_status abut_scene_read_surface(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_order *const a = to;
    const abut_tree *snap = NULL;
    abut_status rc = abut_keys_read(r, &abut_scene_surface, t, &snap, err);
    if (rc || (snap->kind == ABUT_TREE_TEXT && !strcmp(snap->text, "none"))) return rc;
    a->surface = 1;
    if (snap->kind == ABUT_TREE_MAP) return read_shape(r, snap, &a->snap, err);
    rc = abut_scene_load(r, snap, &a->snap.mesh, err);
    if (!rc && !a->snap.mesh.nf) rc = abut_tree_fail(snap, err, "snap: a mesh without triangles: expected a surface");
    if (!rc && a->snap.mesh.nt) rc = abut_tree_fail(snap, err, "snap: a mesh with tets: expected triangles alone");
    a->snap.kind = rc ? ABUT_SNAP_NONE : ABUT_SNAP_MESH;
    return rc;
}

abut_status abut_scene_check_surface(const abut_tree *t, const abut_scene_order *a, abut_err *err)
{
    const abut_tree *surface = abut_tree_find(t, "surface");
    if (!a->surface || !abut_tree_find(t, "tetrahedralize")) return ABUT_OK;
    if (a->snap.kind != ABUT_SNAP_MESH)
        return abut_tree_fail_key(surface, err, "surface: of a surface that is filled with tets: expected a file of triangles");
    if (!abut_tree_find(t, "repeat")) return ABUT_OK;
    return abut_tree_fail_key(surface, err, "surface: of copies that are filled with tets: expected no repeat");
}

/* ---- `proxy` and `match-mass`: how finely contact sees a boundary, or by which surface; and whose mass it has ---- */

static abut_status keep_triangles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    if (!m->nf || m->nt || m->ns || m->np)
        return abut_tree_fail(t, err,
                              "mesh: expected triangles alone, this one has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
                              m->nt, abut_s(m->nt), m->nf, abut_s(m->nf), m->ns, abut_s(m->ns), m->np, abut_s(m->np));
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number), n = 0;
    if (!number) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d points", m->nv);
    for (int32_t i = 0; i < m->nv; i++) number[i] = -1;
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++) number[m->tri[i]] = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        if (number[i] < 0) continue;
        memmove(m->x + 3 * (size_t)n, m->x + 3 * (size_t)i, 3 * sizeof *m->x);
        number[i] = n++;
    }
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++) m->tri[i] = number[m->tri[i]];
    m->nv = n;
    free(number);
    return ABUT_OK;
}

/* Loads a mesh that is placed as the body is. */
static abut_status read_placed(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, int32_t copy,
                               const abut_object_said *s, abut_mesh *m, abut_err *err)
{
    static const char *const away[] = { "origin", "unit-size", "use", NULL };
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double at[3];
    for (int i = 0; away[i]; i++)
        if (abut_tree_find(object, away[i]))
            return abut_tree_fail_key(t, err, "%s: the mesh is where its file says, as the body is: expected no %s", t->key,
                                      away[i]);
    if (abut_tree_find(object, "repeat") && !s->repeat.objects)
        return abut_tree_fail_key(t, err, "%s: of one body: expected no repeat, or one with objects: true", t->key);
    const abut_status rc = abut_scene_load(r, t, m, err);
    if (rc) return rc;
    abut_scene_copy_at(&s->repeat, copy, at);
    abut_mesh_transform(m, s->place.A, s->place.b);
    abut_mesh_transform(m, I, at);
    return ABUT_OK;
}

static const abut_key PROXY_KEYS[] = {
    { ABUT_WHOLE(abut_scene_proxy, "segments", segments, "[1,64]") },
    { ABUT_NUMBER(abut_scene_proxy, "edge", edge, LENGTH, "(0,)") },
    { ABUT_NUMBER(abut_scene_proxy, "tolerance", tolerance, LENGTH_OR_L, "(0,)") },
    { .name = "mesh", .kind = ABUT_KEY_LATER, .form = "file" },
    { ABUT_NUMBER(abut_scene_proxy, "max-extrapolation", extrapolation, PURE, "[0,)"), .fallback = "0.5, 0.1 for order 2 to 4" },
    { 0 }
};
_Static_assert(ABUT_SEGMENTS_MOST == 64, "the range of segments");
const abut_keys abut_scene_proxy_keys = { "proxy", NULL, PROXY_KEYS, 0, NULL };

static abut_status read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_object_said *s,
                              abut_err *err)
{
    abut_scene_object *const o = &s->o;
    const abut_tree *t = abut_tree_find(object, "proxy");
    abut_scene_proxy *p = &o->proxy;
    p->extrapolation = -1;
    if (!t) return ABUT_OK;
    abut_scene_copy_place(t, p->from);
    abut_status rc = abut_keys_read(r, &abut_scene_proxy_keys, t, p, err);
    const abut_tree *mesh = abut_tree_find(t, "mesh"), *most = abut_tree_find(t, "max-extrapolation");
    const double limit = abut_scene_order_of(o) > 1 ? 0.5 : 10;
    if (rc) return rc;
    if ((p->segments > 0) + (p->edge > 0) + (p->tolerance.value > 0) + (mesh != NULL) != 1)
        return abut_tree_fail(t, err, "proxy: expected one of segments, edge, tolerance, mesh");
    if (o->obstacle) return abut_tree_fail_key(t, err, "proxy: of a body of tets; an obstacle is its surface");
    if (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize"))
        return abut_tree_fail_key(t, err, "proxy: expected a body of tets");
    if (most && !mesh) return abut_tree_fail_key(most, err, "max-extrapolation: without a mesh nothing is outside of the tets");
    if (p->extrapolation > limit)
        return abut_tree_fail(most, err, "max-extrapolation: %g, expected at most %g for tets of order %d, whose polynomials "
                              "grow fast outside of them", p->extrapolation, limit, abut_scene_order_of(o));
    if (mesh) rc = read_placed(r, object, mesh, copy, s, &p->surface, err);
    return rc || !mesh ? rc : keep_triangles(mesh, &p->surface, err);
}

abut_status abut_scene_read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_object_said *s,
                                  abut_err *err)
{
    abut_scene_object *const o = &s->o;
    const abut_tree *t = abut_tree_find(object, "match-mass");
    const abut_status rc = read_proxy(r, object, copy, s, err);
    if (rc || !t) return rc;
    if (o->obstacle || (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize")))
        return abut_tree_fail_key(t, err, "match-mass: expected a body of tets");
    return read_placed(r, object, t, copy, s, &o->reference, err);
}
