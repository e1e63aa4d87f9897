/* The mesh of an object: from its file or generator to its place; the order of its elements; what contact sees of it. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "formats/mesh/mesh_io.h"
#include "mesh/proxy.h"
#include "mesh/surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, KEYS_MAX = 1000000 };

static abut_status make_path(const abut_scene_reader *r, const abut_tree *t, const char *name, char path[PATH_SIZE],
                             abut_err *err)
{
    const int n = snprintf(path, PATH_SIZE, "%s%s", *name == '/' ? "" : r->base, name);
    return n < PATH_SIZE ? ABUT_OK : abut_tree_fail(t, err, "this path is longer than %d letters", PATH_SIZE - 1);
}

/* Loads a mesh that the scene names at t.  If there is no such file, the message quotes the scene's `mesh-source`. */
static abut_status load(const abut_tree *t, const char *path, abut_mesh *m, abut_err *err)
{
    const abut_status rc = abut_scene_placed(t, abut_mesh_load(path, m, err), err);
    const abut_tree *root = t;
    while (root->parent) root = root->parent;
    const abut_tree *source = rc && access(path, F_OK) ? abut_tree_find(root, "mesh-source") : NULL;
    const size_t used = source ? strlen(err->msg) : 0;
    if (source) snprintf(err->msg + used, sizeof err->msg - used, "; %s", source->text);
    return rc;
}

abut_status abut_scene_load(const abut_scene_reader *r, const abut_tree *t, abut_mesh *m, abut_err *err)
{
    char path[PATH_SIZE];
    const char *name = NULL;
    abut_status rc = abut_tree_word(t, "mesh", "ball.msh", &name, err);
    if (!rc) rc = make_path(r, t, name, path, err);
    return rc ? rc : load(t, path, m, err);
}

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
    abut_status rc = abut_surface_edges(m->tri, m->nf, m->seg, m->ns, m->nv, &edge, &n, err);
    m->nf = m->np = 0;
    if (!rc) m->ns = 0;
    for (int32_t i = 0; i < n && !rc; i++) rc = abut_mesh_add_seg(m, edge[2 * (size_t)i], edge[2 * (size_t)i + 1], err);
    free(edge);
    return rc;
}

static abut_status use_part(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const names[] = { "points", "edges", NULL };
    int which = 0;
    const abut_status rc = abut_tree_choice(t, "use", names, &which, err);
    if (rc) return rc;
    if (which == 1 && m->nt) return abut_tree_fail(t, err, "use: edges of a mesh of tets: expected a surface");
    return which == 0 ? keep_points(m, err) : keep_edges(m, err);
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
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) R[3 * i + k] = Q[3 * i] * P[k] + Q[3 * i + 1] * P[3 + k] + Q[3 * i + 2] * P[6 + k];
}

abut_status abut_scene_rotation(const abut_tree *t, double R[9], abut_err *err)
{
    double w[3] = { 0 };
    abut_status rc = ABUT_OK;
    if (t->kind != ABUT_TREE_LIST) {
        rc = abut_scene_axis(t, "angle", ABUT_Q_ANGLE, w, err);
        if (!rc) rotate_by(w, R);
        return rc;
    }
    for (const abut_tree *c = t->child; c && !rc; c = c->next) {
        rc = abut_scene_axis(c, "angle", ABUT_Q_ANGLE, w, err);
        if (!rc) rotate_by(w, R);
    }
    return rc;
}

static abut_status read_scale(const abut_tree *t, double s[3], abut_err *err)
{
    abut_status rc;
    if (t->kind == ABUT_TREE_LIST) {
        rc = abut_tree_vector(t, "scale", ABUT_Q_PURE, 3, s, err);
    } else {
        rc = abut_tree_real(t, "scale", ABUT_Q_PURE, s, NULL, err);
        s[1] = s[2] = s[0];
    }
    if (!rc && (s[0] == 0 || s[1] == 0 || s[2] == 0)) rc = abut_tree_fail(t, err, "scale: expected numbers that are not 0");
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
static abut_status move_origin(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    static const char *const names[] = { "file", "box-center", "vertex-mean", NULL };
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double lo[3], hi[3], b[3];
    int which = 0;
    const abut_status rc = abut_tree_choice(t, "origin", names, &which, err);
    if (rc || which == 0) return rc;
    if (o->path.n)
        return abut_tree_fail_key(t, err, "origin: a sequence says where the obstacle is; expected no %s", names[which]);
    abut_mesh_bounds(&o->mesh, lo, hi);
    for (int k = 0; k < 3; k++) b[k] = 0.5 * (lo[k] + hi[k]);
    if (which == 2) vertex_mean(&o->mesh, b);
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
    int yes = 0;
    const abut_status rc = abut_tree_flag(t, "unit-size", &yes, err);
    if (rc || !yes) return rc;
    if (o->path.n) return abut_tree_fail_key(t, err, "unit-size: a sequence says how large the obstacle is; expected false");
    abut_mesh_bounds(&o->mesh, lo, hi);
    for (int k = 0; k < 3; k++) side = fmax(side, hi[k] - lo[k]);
    if (!(side > 0)) return abut_tree_fail_key(t, err, "unit-size: the mesh has no extent: expected one that has");
    for (int k = 0; k < 3; k++) A[4 * k] = 1 / side;
    abut_mesh_transform(&o->mesh, A, none);
    abut_mesh_transform(&o->order.snap.mesh, A, none);
    return ABUT_OK;
}

abut_status abut_scene_placement(const abut_tree *object, double A[9], double b[3], abut_err *err)
{
    const abut_tree *scale = abut_tree_find(object, "scale"), *rotate = abut_tree_find(object, "rotate");
    const abut_tree *translate = abut_tree_find(object, "translate");
    double s[3] = { 1, 1, 1 };
    const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    memcpy(A, I, sizeof I);
    memset(b, 0, 3 * sizeof *b);
    abut_status rc = ABUT_OK;
    if (scale) rc = read_scale(scale, s, err);
    if (!rc && rotate) rc = abut_scene_rotation(rotate, A, err);
    for (int i = 0; i < 9; i++) A[i] *= s[i % 3];
    return rc || !translate ? rc : abut_tree_vector(translate, "translate", ABUT_Q_LENGTH, 3, b, err);
}

/* objects: every copy is one. */
static abut_status read_repeat(const abut_tree *t, int32_t count[3], double spacing[3], int *objects, abut_err *err)
{
    *objects = 0;
    abut_status rc = abut_tree_keys(t, "repeat", (const char *const[]){ "count", "spacing", "objects", NULL }, err);
    const abut_tree *n = rc ? NULL : abut_tree_find(t, "count"), *d = rc ? NULL : abut_tree_find(t, "spacing");
    const abut_tree *apart = rc ? NULL : abut_tree_find(t, "objects");
    if (!rc && (!n || !d)) rc = abut_tree_fail(t, err, "repeat: expected {count: [n, n, n], spacing: [x, y, z]}");
    if (!rc) rc = abut_tree_ints(n, "count", 3, 1, 4096, count, err);
    if (!rc) rc = abut_tree_vector(d, "spacing", ABUT_Q_LENGTH, 3, spacing, err);
    return rc || !apart ? rc : abut_tree_flag(apart, "objects", objects, err);
}

abut_status abut_scene_copies(const abut_tree *object, int32_t *n, abut_err *err)
{
    enum { MOST = 100000 };
    const abut_tree *t = abut_tree_find(object, "repeat");
    int32_t count[3];
    double spacing[3];
    int objects = 0;
    const abut_status rc = t ? read_repeat(t, count, spacing, &objects, err) : ABUT_OK;
    *n = 0;
    if (rc || !objects) return rc;
    const int64_t all = (int64_t)count[0] * count[1] * count[2];
    if (all > MOST)
        return abut_tree_fail(t, err, "repeat: %lld object%s: expected at most %d", (long long)all, abut_s(all), MOST);
    *n = (int32_t)all;
    return ABUT_OK;
}

static void copy_at(const int32_t count[3], const double spacing[3], int64_t c, double at[3])
{
    at[0] = (double)(c % count[0]) * spacing[0];
    at[1] = (double)(c / count[0] % count[1]) * spacing[1];
    at[2] = (double)(c / count[0] / count[1]) * spacing[2];
}

/* at: offset of copy `copy` of a `repeat` from the first one, m; objects  out: 1 if copies are objects; NULL to skip. */
static abut_status offset_of_copy(const abut_tree *t, int64_t copy, double at[3], int *objects, abut_err *err)
{
    int32_t count[3] = { 1, 1, 1 };
    double spacing[3] = { 0 };
    int apart = 0;
    const abut_status rc = read_repeat(t, count, spacing, &apart, err);
    if (objects) *objects = apart;
    copy_at(count, spacing, copy, at);
    return rc;
}

/* All copies in one mesh; of copies that are objects, this one. */
static abut_status repeat(const abut_tree *t, int32_t which, abut_mesh *m, abut_err *err)
{
    int32_t count[3] = { 1, 1, 1 };
    double spacing[3] = { 0 };
    int objects = 0;
    abut_status rc = read_repeat(t, count, spacing, &objects, err);
    const double copies = objects ? 1 : (double)count[0] * count[1] * count[2];
    if (!rc)
        rc = abut_scene_placed(abut_tree_find(t, "count"),
                               abut_mesh_bound(copies * m->nv, copies * abut_mesh_elements(m), "repeat", err), err);
    if (rc) return rc;
    abut_mesh all = { 0 }, copy = { 0 };
    const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const int64_t total = (int64_t)count[0] * count[1] * count[2];
    for (int64_t c = objects ? which : 0; c < (objects ? which + 1 : total) && !rc; c++) {
        double at[3];
        copy_at(count, spacing, c, at);
        rc = abut_mesh_append(&copy, m, err);
        abut_mesh_transform(&copy, I, at);
        if (!rc) rc = abut_mesh_append(&all, &copy, err);
        copy.nv = copy.nt = copy.nf = copy.ns = copy.np = 0;
    }
    abut_mesh_clear(&copy);
    if (rc) {
        abut_mesh_clear(&all);
        return rc;
    }
    abut_mesh_clear(m);
    *m = all;
    return ABUT_OK;
}

/* ---- positions to pass through ---- */

/* Appends the positions of a mesh at that time. */
static abut_status path_add(const abut_tree *t, const char *file, const abut_mesh *m, int32_t nv, double time,
                            abut_scene_path *p, abut_err *err)
{
    if (m->nv != nv)
        return abut_tree_fail(t, err, "%s has %d point%s: expected %d, as the mesh that it moves", file, m->nv, abut_s(m->nv),
                              nv);
    if (p->n && !(time > p->time[p->n - 1]))
        return abut_tree_fail(t, err, "%s is at %g s, after one at %g s: expected ascending times", file, time,
                              p->time[p->n - 1]);
    const size_t row = 3 * (size_t)nv, n = (size_t)p->n;
    double *x = realloc(p->x, (n + 1) * row * sizeof *x), *at = x ? realloc(p->time, (n + 1) * sizeof *at) : NULL;
    if (x) p->x = x;
    if (at) p->time = at;
    if (!x || !at) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d meshes of a sequence", p->n + 1);
    memcpy(x + n * row, m->x, row * sizeof *x);
    at[n] = time;
    p->n++;
    return ABUT_OK;
}

/* Loads one mesh of a sequence and appends it; *first (NULL: not wanted) is empty and becomes the mesh it moves. */
static abut_status path_load(const abut_tree *t, const char *file, int32_t nv, double time, abut_mesh *first, abut_scene_path *p,
                             abut_err *err)
{
    abut_mesh m = { 0 };
    abut_status rc = load(t, file, &m, err);
    if (!rc) rc = path_add(t, file, &m, first ? m.nv : nv, time, p, err);
    if (!rc && first) rc = abut_mesh_append(first, &m, err);
    abut_mesh_clear(&m);
    return rc;
}

/* files: "folder/%d.seg": meshes 0, 1, ... until one is missing, `step` apart. */
static abut_status read_numbered(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh, abut_scene_path *p,
                                 abut_err *err)
{
    char path[PATH_SIZE], pattern[PATH_SIZE];
    const abut_tree *files = abut_tree_find(t, "files"), *step = abut_tree_find(t, "step");
    double dt = 0;
    if (!step) return abut_tree_fail(t, err, "sequence: 'step' is missing");
    abut_status rc = abut_tree_positive(step, "step", ABUT_Q_TIME, &dt, NULL, err);
    if (!rc) rc = make_path(r, files, files->text, pattern, err);
    if (rc) return rc;
    char *mark = strrchr(pattern, '%');
    if (!mark || mark[1] != 'd')
        return abut_tree_fail(files, err, "files: expected a path with %%d in its name, or a list of paths");
    *mark = 0;
    for (int32_t k = 0; k < KEYS_MAX && !rc; k++) {
        if (snprintf(path, sizeof path, "%s%d%s", pattern, k, mark + 2) >= PATH_SIZE)
            return abut_tree_fail(files, err, "this path is longer than %d letters", PATH_SIZE - 1);
        if (k > 0 && access(path, F_OK)) break;
        rc = path_load(files, path, mesh->nv, k * dt, k == 0 && !mesh->nv ? mesh : NULL, p, err);
    }
    return rc;
}

/* files: a list of paths, and `times` of as many times, or `step`. */
static abut_status read_listed(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh, abut_scene_path *p, abut_err *err)
{
    char path[PATH_SIZE];
    const abut_tree *files = abut_tree_find(t, "files"), *times = abut_tree_find(t, "times"), *step = abut_tree_find(t, "step");
    double dt = 0, time = 0;
    abut_status rc = ABUT_OK;
    if (!times == !step) return abut_tree_fail(t, err, "sequence: expected one of 'times' and 'step'");
    if (times) rc = abut_tree_list(times, "times", 0, "0.5 s", err);
    if (!rc && times && times->n != files->n)
        rc = abut_tree_fail(times, err, "times: %d for %d file%s: expected as many", times->n, files->n, abut_s(files->n));
    if (rc) return rc;
    if (step) rc = abut_tree_positive(step, "step", ABUT_Q_TIME, &dt, NULL, err);
    const abut_tree *at = times ? times->child : NULL;
    for (const abut_tree *c = files->child; c && !rc; c = c->next) {
        const char *name = NULL;
        time = p->n * dt;
        rc = abut_tree_word(c, "files", "ball.obj", &name, err);
        if (!rc) rc = make_path(r, c, name, path, err);
        if (!rc && at) rc = abut_tree_real(at, "times", ABUT_Q_TIME, &time, NULL, err);
        if (!rc && time < 0) rc = abut_tree_fail(at, err, "times: %g s: expected 0 or more", time);
        if (!rc) rc = path_load(c, path, mesh->nv, time, !mesh->nv ? mesh : NULL, p, err);
        if (at) at = at->next;
    }
    if (!rc && !p->n) rc = abut_tree_fail(files, err, "files: an empty list");
    return rc;
}

abut_status abut_read_scene_path(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh, abut_scene_path *p,
                                 abut_err *err)
{
    const abut_status rc = abut_tree_keys(t, "sequence", (const char *const[]){ "files", "step", "times", NULL }, err);
    const abut_tree *files = rc ? NULL : abut_tree_find(t, "files");
    if (rc) return rc;
    if (!files || files->kind == ABUT_TREE_MAP)
        return abut_tree_fail(t, err, "sequence: expected {files: \"folder/%%d.obj\", step: time} or {files: [...], times: "
                              "[...]}");
    if (files->kind == ABUT_TREE_LIST) return read_listed(r, t, mesh, p, err);
    return read_numbered(r, t, mesh, p, err);
}

/* Exactly one of mesh, generate, sequence. */
static abut_status source(const abut_scene_reader *r, const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    const abut_tree *mesh = abut_tree_find(t, "mesh"), *gen = abut_tree_find(t, "generate");
    const abut_tree *sequence = abut_tree_find(t, "sequence");
    if ((mesh != NULL) + (gen != NULL) + (sequence != NULL) != 1)
        return abut_tree_fail_key(t, err, "object '%s': expected one of mesh, generate, sequence, half-space", t->key);
    if (mesh) return abut_scene_load(r, mesh, &o->mesh, err);
    const int is_cage = gen && gen->kind == ABUT_TREE_MAP && gen->child && !strcmp(gen->child->key, "cage");
    if (is_cage) return abut_scene_cage(r, t, gen->child, o, err);
    if (gen) return abut_scene_generate(gen, &o->mesh, err);
    if (!o->obstacle) return abut_tree_fail_key(sequence, err, "sequence: only an obstacle follows one (obstacle: true)");
    if (abut_tree_find(t, "repeat") || abut_tree_find(t, "velocity") || abut_tree_find(t, "angular-velocity"))
        return abut_tree_fail_key(sequence, err, "sequence: says where the obstacle is; expected no repeat or velocity");
    return abut_read_scene_path(r, sequence, &o->mesh, &o->path, err);
}

/* The mesh, placed, and its shape at rest. */
static abut_status place(const abut_scene_reader *r, const abut_tree *t, int flipped, abut_scene_object *o, abut_err *err)
{
    const abut_tree *said = abut_tree_find(t, "scale");
    double A[9], b[3], scale[3] = { 1, 1, 1 };
    abut_status rc = abut_scene_placement(t, A, b, err);
    if (!rc && said) rc = read_scale(said, scale, err);
    if (rc) return rc;
    double *x = malloc(3 * ((size_t)o->mesh.nv + 1) * sizeof *x);
    if (!x) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d points", o->mesh.nv);
    for (size_t i = 0; i < 3 * (size_t)o->mesh.nv; i++) x[i] = scale[i % 3] * o->mesh.x[i];
    if (flipped) abut_mesh_flip(&o->mesh);
    abut_mesh_transform(&o->mesh, A, b);
    abut_mesh_transform(&o->order.snap.mesh, A, b);
    abut_scene_path_transform(&o->path, o->mesh.nv, A, b);
    rc = abut_scene_rest(r, t, x, scale, flipped, o, err);
    free(x);
    return rc;
}

static abut_status weld(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double distance = 0;
    const abut_status rc = abut_tree_positive(t, "weld", ABUT_Q_LENGTH, &distance, NULL, err);
    return rc ? rc : abut_scene_placed(t, abut_mesh_weld(m, distance, err), err);
}

abut_status abut_scene_mesh(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o, abut_err *err)
{
    const abut_tree *use = abut_tree_find(t, "use"), *flip = abut_tree_find(t, "flip"), *copies = abut_tree_find(t, "repeat");
    const abut_tree *origin = abut_tree_find(t, "origin"), *welded = abut_tree_find(t, "weld");
    const abut_tree *unit = abut_tree_find(t, "unit-size"), *rest = abut_tree_find(t, "rest");
    int flipped = 0;
    abut_status rc = source(r, t, o, err);
    if (!rc && !abut_tree_find(t, "tetrahedralize")) rc = abut_scene_shape(o, err);
    if (!rc && use) rc = use_part(use, &o->mesh, err);
    if (!rc && origin) rc = move_origin(origin, o, err);
    if (!rc && unit && rest) rc = abut_tree_fail_key(unit, err, "unit-size and rest: expected one of them");
    if (!rc && unit) rc = make_unit(unit, o, err);
    if (!rc && flip) rc = abut_tree_flag(flip, "flip", &flipped, err);
    if (!rc) rc = place(r, t, flipped, o, err);
    const int32_t nf = o->mesh.nf, ns = o->mesh.ns;
    if (!rc && copies) rc = repeat(copies, copy, &o->mesh, err);
    if (!rc && copies) rc = abut_scene_rest_repeat(o, nf, ns, err);
    return rc || !welded ? rc : weld(welded, &o->mesh, err);
}

/* ---- orders, geometry and curved surfaces ---- */

static abut_status read_center(const abut_tree *t, abut_snap *s, abut_err *err)
{
    const abut_tree *c = abut_tree_find(t, "center");
    return c ? abut_tree_vector(c, "center", ABUT_Q_LENGTH, 3, s->center, err) : ABUT_OK;
}

static abut_status read_length(const abut_tree *t, const char *key, double *out, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, key);
    if (t->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(t, t->key, err, "a map with the key %s, {%s: 0.1 m, ...}", key, key);
    if (!v) return abut_tree_fail(t, err, "%s: '%s' is missing", t->key, key);
    return abut_tree_positive(v, key, ABUT_Q_LENGTH, out, NULL, err);
}

static abut_status read_capsules(const abut_tree *t, abut_snap *s, abut_err *err)
{
    abut_status rc = abut_scene_capsules(t, &s->capsule, &s->ncapsules, &s->blend, err);
    if (!rc) s->kind = ABUT_SNAP_CAPSULES;
    return rc;
}

/* Reads a shape from a generator, or from the key of its name under `snap`.  strict: no other keys. */
static abut_status read_shape(const abut_tree *t, int strict, abut_snap *s, abut_err *err)
{
    static const char *const keys[][5] = { { "radius", "center", NULL }, { "radius", "height", "center", NULL },
                                           { "radius", "tube", "center", NULL }, { "capsules", "blend", NULL } };
    static const char *const names[] = { "sphere", "cylinder", "torus", "capsules" };
    static const int kind[] = { ABUT_SNAP_SPHERE, ABUT_SNAP_CYLINDER, ABUT_SNAP_TORUS, ABUT_SNAP_CAPSULES };
    int k = 0;
    while (k < 3 && strcmp(t->key, names[k]) != 0) k++;
    abut_status rc = strict ? abut_tree_keys(t, t->key, keys[k], err) : ABUT_OK;
    if (rc || kind[k] == ABUT_SNAP_CAPSULES) return rc ? rc : read_capsules(t, s, err);
    rc = read_length(t, "radius", &s->radius, err);
    if (!rc && k > 0) rc = read_length(t, keys[k][1], &s->size, err);
    if (!rc) rc = read_center(t, s, err);
    if (!rc && k == 2 && !(s->size < s->radius))
        rc = abut_tree_fail(t, err, "torus: tube %g m: expected less than the radius %g m", s->size, s->radius);
    if (!rc) s->kind = kind[k];
    return rc;
}

/* surface: {snap: FILE, none, or a map with one shape} */
static abut_status read_surface(const abut_scene_reader *r, const abut_tree *t, abut_scene_order *a, abut_err *err)
{
    static const char *const names[] = { "sphere", "cylinder", "torus", "capsules", NULL };
    abut_status rc = abut_tree_keys(t, "surface", (const char *const[]){ "snap", NULL }, err);
    const abut_tree *snap = rc ? NULL : abut_tree_find(t, "snap");
    if (rc) return rc;
    if (!snap) return abut_tree_fail(t, err, "surface: expected {snap: a file of triangles, a shape, or none}");
    if (snap->kind == ABUT_TREE_MAP) {
        rc = abut_tree_keys(snap, "snap", names, err);
        if (!rc && snap->n != 1) rc = abut_tree_fail(snap, err, "snap: %d shapes: expected one", snap->n);
        a->surface = 1;
        return rc ? rc : read_shape(snap->child, 1, &a->snap, err);
    }
    if (snap->kind == ABUT_TREE_TEXT && !strcmp(snap->text, "none")) return ABUT_OK;
    rc = abut_scene_load(r, snap, &a->snap.mesh, err);
    if (!rc && !a->snap.mesh.nf) rc = abut_tree_fail(snap, err, "snap: a mesh without triangles: expected a surface");
    if (!rc && a->snap.mesh.nt) rc = abut_tree_fail(snap, err, "snap: a mesh with tets: expected triangles alone");
    a->snap.kind = rc ? ABUT_SNAP_NONE : ABUT_SNAP_MESH;
    a->surface = 1;
    return rc;
}

/* The shape that a generator cuts into straight tets. */
static abut_status generated(const abut_tree *t, abut_snap *s, abut_err *err)
{
    const abut_tree *g = t->kind == ABUT_TREE_MAP ? t->child : NULL, *snap = g ? abut_tree_find(g, "snap") : NULL;
    int yes = 0;
    if (!g) return ABUT_OK;
    if (!strcmp(g->key, "blob") && snap) {
        const abut_status rc = abut_tree_flag(snap, "snap", &yes, err);
        return rc || !yes ? rc : read_capsules(g, s, err);
    }
    if (!strcmp(g->key, "ball")) {
        s->kind = ABUT_SNAP_SPHERE;
        return read_length(g, "radius", &s->radius, err);
    }
    if (!strcmp(g->key, "sphere") || !strcmp(g->key, "cylinder") || !strcmp(g->key, "torus")) return read_shape(g, 0, s, err);
    return ABUT_OK;
}

abut_status abut_scene_order_keys(const abut_scene_reader *r, const abut_tree *t, abut_scene_order *a, abut_err *err)
{
    const abut_tree *order = abut_tree_find(t, "order"), *geometry = abut_tree_find(t, "geometry");
    const abut_tree *surface = abut_tree_find(t, "surface"), *gen = abut_tree_find(t, "generate");
    const abut_tree *fill = abut_tree_find(t, "tetrahedralize"), *copies = abut_tree_find(t, "repeat");
    int32_t k = 0;
    abut_status rc = ABUT_OK;
    if (order && !(rc = abut_tree_int(order, "order", 1, ABUT_ORDER_MAX, &k, err))) a->order = k;
    if (!rc && geometry && !(rc = abut_tree_int(geometry, "geometry", 1, ABUT_ORDER_MAX, &k, err))) a->geometry = k;
    if (!rc && surface) rc = read_surface(r, surface, a, err);
    if (!rc && a->surface && fill && a->snap.kind != ABUT_SNAP_MESH)
        rc = abut_tree_fail_key(surface, err, "surface: of a surface that is filled with tets: expected a file of triangles");
    if (!rc && a->surface && fill && copies)
        rc = abut_tree_fail_key(surface, err, "surface: of copies that are filled with tets: expected no repeat");
    if (!rc && gen && !surface && !fill && (a->order > 1 || a->geometry > 1)) rc = generated(gen, &a->snap, err);
    return rc;
}

/* ---- `proxy` and `match-mass`: how finely contact sees a boundary, or by which surface; and whose mass it has ---- */

/* Points that no triangle has would be vertices of nothing. */
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

/* A mesh that is placed as the body is. */
static abut_status read_placed(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, int32_t copy,
                               abut_mesh *m, abut_err *err)
{
    static const char *const away[] = { "origin", "unit-size", "use", NULL };
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const abut_tree *repeat = abut_tree_find(object, "repeat");
    double A[9], b[3], at[3] = { 0 };
    int objects = 1;
    for (int i = 0; away[i]; i++)
        if (abut_tree_find(object, away[i]))
            return abut_tree_fail_key(t, err, "%s: the mesh is where its file says, as the body is: expected no %s", t->key,
                                      away[i]);
    abut_status rc = repeat ? offset_of_copy(repeat, copy, at, &objects, err) : ABUT_OK;
    if (!rc && !objects)
        return abut_tree_fail_key(t, err, "%s: of one body: expected no repeat, or one with objects: true", t->key);
    if (!rc) rc = abut_scene_load(r, t, m, err);
    if (!rc) rc = abut_scene_placement(object, A, b, err);
    if (rc) return rc;
    abut_mesh_transform(m, A, b);
    abut_mesh_transform(m, I, at);
    return ABUT_OK;
}

static abut_status read_extrapolation(const abut_tree *t, const abut_scene_object *o, double *most, abut_err *err)
{
    const int order = abut_scene_order_of(o);
    const double limit = order > 1 ? 0.5 : 10;
    const abut_status rc = abut_tree_not_negative(t, "max-extrapolation", ABUT_Q_PURE, most, err);
    if (rc || *most <= limit) return rc;
    return abut_tree_fail(t, err, "max-extrapolation: %g, expected at most %g for tets of order %d, whose polynomials grow fast "
                          "outside of them", *most, limit, order);
}

static abut_status read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_scene_object *o,
                              abut_err *err)
{
    static const char *const keys[] = { "segments", "edge", "tolerance", "mesh", "max-extrapolation", NULL };
    const abut_tree *t = abut_tree_find(object, "proxy");
    abut_scene_proxy *p = &o->proxy;
    p->extrapolation = -1;
    if (!t) return ABUT_OK;
    abut_scene_from(t, p->from);
    abut_status rc = abut_tree_keys(t, "proxy", keys, err);
    if (rc) return rc;
    const abut_tree *n = abut_tree_find(t, "segments"), *edge = abut_tree_find(t, "edge"), *tol = abut_tree_find(t, "tolerance");
    const abut_tree *mesh = abut_tree_find(t, "mesh"), *most = abut_tree_find(t, "max-extrapolation");
    if ((n != NULL) + (edge != NULL) + (tol != NULL) + (mesh != NULL) != 1)
        return abut_tree_fail(t, err, "proxy: expected one of segments, edge, tolerance, mesh");
    if (o->obstacle) return abut_tree_fail_key(t, err, "proxy: of a body of tets; an obstacle is its surface");
    if (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize"))
        return abut_tree_fail_key(t, err, "proxy: expected a body of tets");
    if (most && !mesh) return abut_tree_fail_key(most, err, "max-extrapolation: without a mesh nothing is outside of the tets");
    if (n) rc = abut_tree_int(n, "segments", 1, ABUT_SEGMENTS_MOST, &p->segments, err);
    if (edge) rc = abut_tree_positive(edge, "edge", ABUT_Q_LENGTH, &p->edge, NULL, err);
    if (tol) rc = abut_tree_positive(tol, "tolerance", ABUT_Q_LENGTH_OR_L, &p->tolerance.value, &p->tolerance.per_length, err);
    if (mesh) rc = read_placed(r, object, mesh, copy, &p->surface, err);
    if (!rc && mesh) rc = keep_triangles(mesh, &p->surface, err);
    return rc || !most ? rc : read_extrapolation(most, o, &p->extrapolation, err);
}

abut_status abut_scene_read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy, abut_scene_object *o,
                                  abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "match-mass");
    const abut_status rc = read_proxy(r, object, copy, o, err);
    if (rc || !t) return rc;
    if (o->obstacle || (!o->mesh.nt && !abut_tree_find(object, "tetrahedralize")))
        return abut_tree_fail_key(t, err, "match-mass: expected a body of tets");
    return read_placed(r, object, t, copy, &o->reference, err);
}
