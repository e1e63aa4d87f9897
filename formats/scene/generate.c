/* Meshes of a scene: from files, from files for one time each, or by sizes, with one generator for each shape. */
#include "formats/scene/keys.h"

#include "formats/mesh/mesh_io.h"
#include "mesh/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

enum { PATH_SIZE = 4096, FILES_MOST = 1000000 };

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

/* ---- meshes at given times ---- */

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

/* The keys of a sequence. */
typedef struct sequence {
    const abut_tree *files, *times;
    double step;
} sequence;

static const abut_key SEQUENCE_KEYS[] = {
    { ABUT_TREE(sequence, "files", files), .form = "\"folder/%d.obj\", or a list of paths" },
    { ABUT_NUMBER(sequence, "step", step, TIME, "(0,)") },
    { ABUT_TREE(sequence, "times", times), .form = "[time, ...]" },
    { 0 }
};
const abut_keys abut_scene_sequence = { "sequence", NULL, SEQUENCE_KEYS, 1,
                                        "{files: \"folder/%d.obj\", step: time} or {files: [...], times: [...]}" };

/* files: "folder/%d.seg": meshes 0, 1, ... until one is missing, `step` apart. */
static abut_status read_numbered(const abut_scene_reader *r, const abut_tree *t, const sequence *s, abut_mesh *mesh,
                                 abut_scene_path *p, abut_err *err)
{
    char path[PATH_SIZE], pattern[PATH_SIZE];
    if (!(s->step > 0)) return abut_tree_fail(t, err, "sequence: 'step' is missing");
    abut_status rc = make_path(r, s->files, s->files->text, pattern, err);
    if (rc) return rc;
    char *mark = strrchr(pattern, '%');
    if (!mark || mark[1] != 'd')
        return abut_tree_fail(s->files, err, "files: expected a path with %%d in its name, or a list of paths");
    *mark = 0;
    for (int32_t k = 0; k < FILES_MOST && !rc; k++) {
        if (snprintf(path, sizeof path, "%s%d%s", pattern, k, mark + 2) >= PATH_SIZE)
            return abut_tree_fail(s->files, err, "this path is longer than %d letters", PATH_SIZE - 1);
        if (k > 0 && access(path, F_OK)) break;
        rc = path_load(s->files, path, mesh->nv, k * s->step, k == 0 && !mesh->nv ? mesh : NULL, p, err);
    }
    return rc;
}

/* files: a list of paths, and `times` of as many times, or `step`. */
static abut_status read_listed(const abut_scene_reader *r, const abut_tree *t, const sequence *s, abut_mesh *mesh,
                               abut_scene_path *p, abut_err *err)
{
    char path[PATH_SIZE];
    const char *name = NULL;
    if (!s->times == !(s->step > 0)) return abut_tree_fail(t, err, "sequence: expected one of 'times' and 'step'");
    abut_status rc = s->times ? abut_tree_list(s->times, "times", 0, "0.5 s", err) : ABUT_OK;
    if (!rc && s->times && s->times->n != s->files->n)
        rc = abut_tree_fail(s->times, err, "times: %d for %d file%s: expected as many", s->times->n, s->files->n,
                            abut_s(s->files->n));
    const abut_tree *at = rc || !s->times ? NULL : s->times->child;
    for (const abut_tree *c = s->files->child; c && !rc; c = c->next) {
        double time = p->n * s->step;
        rc = abut_tree_word(c, "files", "ball.obj", &name, err);
        if (!rc) rc = make_path(r, c, name, path, err);
        if (!rc && at) rc = abut_tree_not_negative(at, "times", ABUT_Q_TIME, &time, err);
        if (!rc) rc = path_load(c, path, mesh->nv, time, !mesh->nv ? mesh : NULL, p, err);
        if (at) at = at->next;
    }
    return rc || p->n ? rc : abut_tree_fail(s->files, err, "files: an empty list");
}

abut_status abut_scene_read_path(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh, abut_scene_path *p,
                                 abut_err *err)
{
    sequence s = { 0 };
    const abut_status rc = abut_keys_read(r, &abut_scene_sequence, t, &s, err);
    if (rc) return rc;
    if (s.files->kind == ABUT_TREE_MAP) return abut_tree_fail(t, err, "sequence: expected %s", abut_scene_sequence.form);
    return s.files->kind == ABUT_TREE_LIST ? read_listed(r, t, &s, mesh, p, err) : read_numbered(r, t, &s, mesh, p, err);
}

/* ---- what generators ask for ---- */

/* Rows of lengths, malloc'ed. */
typedef struct lengths {
    double *x;
    int32_t n;
} lengths;

/* Values of the keys of all generators; lengths in m. */
typedef struct shape {
    double size[3], area[2], radius, tube, height, length, depth, span, thickness, ends[2], cell, edge, spacing, apart[3], offset,
        gap, blend, jitter, lean, tilt, opening;
    int32_t cells[3], two[2], one, count[3], pair[2], number, divisions, seed;
    int layout, snap;
    abut_hair hair;
    lengths profile, points;
    abut_capsule *capsule;
    int32_t ncapsules;
    const abut_tree *list[3], *roll, *fold, *along;     /* segments, triangles, tets; how a sheet is bent */
    double bend[2];
} shape;

/* A list of rows of `width` lengths. */
static abut_status read_rows(const abut_tree *t, const char *what, int width, lengths *to, abut_err *err)
{
    abut_status rc = abut_tree_list(t, what, -1, width == 2 ? "[0, 1]" : "[0, 1, 0]", err);
    if (!rc && !(to->x = malloc((size_t)t->n * (size_t)width * sizeof *to->x)))
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory for %d rows of %s", t->n, what);
    for (const abut_tree *c = t->child; c && !rc; c = c->next)
        rc = abut_tree_vector(c, what, ABUT_Q_LENGTH, width, to->x + (size_t)to->n++ * (size_t)width, err);
    return rc;
}

static abut_status read_profile(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r;
    return read_rows(t, "profile [radius, y]", 2, to, err);
}

static abut_status read_points(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r;
    return read_rows(t, "points [x, y, z]", 3, to, err);
}

static const abut_key CAPSULE_KEYS[] = {
    { ABUT_NUMBER(abut_capsule, "from", a, LENGTH, NULL) },
    { ABUT_NUMBER(abut_capsule, "radius", radius, LENGTH, "(0,)") },
    { ABUT_NUMBER(abut_capsule, "to", b, LENGTH, NULL), .fallback = "from" },
    { 0 }
};
static const abut_keys CAPSULE = { "capsule", NULL, CAPSULE_KEYS, 2, "{from: [x, y, z], to: [x, y, z], radius: length}" };

static abut_status read_capsule(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_capsule *const c = to;
    const abut_status rc = abut_keys_read(r, &CAPSULE, t, c, err);
    if (!rc && !abut_tree_find(t, "to")) memcpy(c->b, c->a, sizeof c->b);
    return rc;
}

abut_status abut_scene_capsules(const abut_scene_reader *r, const abut_tree *t, abut_capsule **capsule, int32_t *n, abut_err *err)
{
    static const char entry[] = "{from: [0, 0, 0], to: [0, 1, 0], radius: 0.1}";
    const abut_status rc = abut_tree_list(t, "capsules", -1, entry, err);
    return rc ? rc : abut_scene_list(r, t, "capsules", entry, read_capsule, sizeof **capsule, capsule, n, err);
}

static abut_status read_capsules(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    shape *const s = to;
    return abut_scene_capsules(r, t, &s->capsule, &s->ncapsules, err);
}

/* ---- keys of each generator, needed ones first ---- */

#define POSITIVE(k, m) { ABUT_NUMBER(shape, k, m, LENGTH, "(0,)") }
#define LENGTHS(k, m) { ABUT_NUMBER(shape, k, m, LENGTH, NULL) }
#define COUNT(k, m) { ABUT_WHOLE(shape, k, m, "[1,4096]") }
#define LABEL(k, m, words) { ABUT_WHOLE(shape, k, m, "[1,4096]"), .as = words }
#define SEED { ABUT_WHOLE(shape, "seed", seed, "[0,)"), .fallback = "1" }
#define EDGE POSITIVE("edge", edge), { ABUT_WORD(shape, "layout", layout, ABUT_WORDS("grid", "rows")), .fallback = "grid" }
#define CAPSULES { .name = "capsules", .kind = ABUT_KEY_READ, .read = read_capsules, .keys = &CAPSULE, .form = "a list of maps" }

static const abut_key ROLL_KEYS[] = { POSITIVE("radius", bend[0]), POSITIVE("gap", bend[1]), { 0 } };
static const abut_key FOLD_KEYS[] = { POSITIVE("length", bend[0]), POSITIVE("gap", bend[1]), { 0 } };
static const abut_keys ROLL = { .row = ROLL_KEYS, .needs = 2 }, FOLD = { .row = FOLD_KEYS, .needs = 2 };

static const abut_key CURL_KEYS[] = {
    POSITIVE("radius", hair.curl), POSITIVE("wavelength", hair.wavelength), POSITIVE("ramp", hair.ramp),
    { ABUT_NUMBER(shape, "vary", hair.vary, PURE, "[0,)"), .fallback = "0" },
    { ABUT_NUMBER(shape, "phase", hair.phase, PURE, "[0,)"), .fallback = "1" },
    { 0 }
};
static const abut_keys CURL = { "curl", "curl.", CURL_KEYS, 3, NULL };

static const abut_key
    box_keys[] = { LENGTHS("size", size), COUNT("cells", cells), { 0 } },
    sphere_keys[] = { POSITIVE("radius", radius), { ABUT_WHOLE(shape, "cells", one, "[1,360]") }, { 0 } },
    ball_keys[] = { POSITIVE("radius", radius), { ABUT_WHOLE(shape, "divisions", divisions, "[1,64]") }, { 0 } },
    icosphere_keys[] = { POSITIVE("radius", radius), { ABUT_WHOLE(shape, "divisions", divisions, "[1,500]") }, { 0 } },
    cylinder_keys[] = { POSITIVE("radius", radius), POSITIVE("height", height), LABEL("cells", two, "cells [across, along]"),
                        { 0 } },
    torus_keys[] = { POSITIVE("radius", radius), POSITIVE("tube", tube), LABEL("cells", two, "cells [around, across]"), { 0 } },
    bowl_keys[] = { POSITIVE("radius", radius), LABEL("cells", two, "cells [around, along]"),
                    { ABUT_NUMBER(shape, "opening", opening, ANGLE, "(0,)"), .fallback = "90 deg" }, { 0 } },
    revolution_keys[] = { { ABUT_READ(shape, "profile", profile, read_profile), .form = "[[radius, y], ...]" },
                          LABEL("cells", two, "cells [around, along]"), { 0 } },
    tube_keys[] = { POSITIVE("radius", radius), POSITIVE("height", height), COUNT("cells", two), EDGE, { 0 } },
    cloth_keys[] = { LENGTHS("size", area), COUNT("cells", two), EDGE, { ABUT_NUMBER(shape, "jitter", jitter, PURE, NULL),
                     .fallback = "0" }, SEED, { ABUT_TREE(shape, "roll", roll), .keys = &ROLL },
                     { ABUT_TREE(shape, "fold", fold), .keys = &FOLD },
                     { ABUT_TREE(shape, "along", along), .form = "[[x, y], ...]" }, { 0 } },
    rod_keys[] = { POSITIVE("length", length), COUNT("cells", one), { 0 } },
    strands_keys[] = { COUNT("count", pair), POSITIVE("spacing", spacing), POSITIVE("length", length), COUNT("cells", one),
                       LENGTHS("lean", lean), SEED, { 0 } },
    net_keys[] = { COUNT("count", pair), POSITIVE("spacing", spacing), POSITIVE("offset", offset), COUNT("cells", one), { 0 } },
    sprinkles_keys[] = { COUNT("count", count), LENGTHS("spacing", apart), POSITIVE("length", length),
                         { ABUT_NUMBER(shape, "tilt", tilt, ANGLE, NULL) }, SEED, { 0 } },
    particles_keys[] = { LENGTHS("size", size), COUNT("count", count), POSITIVE("jitter", jitter), SEED, { 0 } },
    hair_keys[] = { { ABUT_WHOLE(shape, "count", hair.count, "[1,1000000]") }, POSITIVE("radius", hair.radius),
                    POSITIVE("offset", hair.offset), POSITIVE("length", hair.length),
                    { ABUT_WHOLE(shape, "cells", hair.cells, "[2,4096]") }, { ABUT_FLAG(shape, "whole", hair.whole) },
                    { ABUT_WHOLE(shape, "seed", hair.seed, "[0,)"), .fallback = "1" }, { ABUT_MAP("curl", &CURL) }, { 0 } },
    blob_keys[] = { CAPSULES, POSITIVE("cell", cell), { ABUT_NUMBER(shape, "blend", blend, LENGTH, "[0,)"), .fallback = "0" },
                    { ABUT_FLAG(shape, "snap", snap), .fallback = "false" }, { 0 } },
    tendrils_keys[] = { POSITIVE("radius", radius), POSITIVE("length", length), POSITIVE("thickness", thickness),
                        POSITIVE("cell", cell), { ABUT_WHOLE(shape, "count", number, "[1,10000]") }, { 0 } },
    arch_keys[] = { POSITIVE("span", span), POSITIVE("height", height),
                    { ABUT_NUMBER(shape, "thickness", ends, LENGTH, NULL), .as = "thickness [feet, crown]" },
                    POSITIVE("depth", depth), COUNT("blocks", number), LENGTHS("gap", gap), { 0 } },
    explicit_keys[] = { { ABUT_READ(shape, "points", points, read_points), .form = "[[x, y, z], ...]" },
                        { ABUT_TREE(shape, "segments", list[0]), .form = "[[a, b], ...]" },
                        { ABUT_TREE(shape, "triangles", list[1]), .form = "[[a, b, c], ...]" },
                        { ABUT_TREE(shape, "tets", list[2]), .form = "[[a, b, c, d], ...]" }, { 0 } };

#define GENERATORS(G) \
    G(box, 2) G(sphere, 2) G(cylinder, 3) G(torus, 3) G(cloth, 1) G(revolution, 2) G(rod, 2) G(particles, 2) G(blob, 2) \
    G(tendrils, 5) G(arch, 6) G(explicit, 1) G(tube, 2) G(icosphere, 2) G(bowl, 2) G(strands, 4) G(net, 4) G(sprinkles, 3) \
    G(ball, 2) G(hair, 5)
#define NUMBER(name, needed) MAKE_##name,
#define NAME(name, needed) #name,
#define ROW(name, needed) { ABUT_MAP(#name, (&(const abut_keys){ .row = name##_keys, .needs = needed })) },
enum { GENERATORS(NUMBER) MAKES };

/* ---- meshes by sizes ---- */

enum { CELLS_MOST = 4096 };

/* `cells`, or `edge`: the number of cells of about that size. */
static abut_status choose_cells(const abut_tree *t, const double size[2], shape *s, abut_err *err)
{
    const abut_tree *e = abut_tree_find(t, "edge");
    if (!e == !s->two[0]) return abut_tree_fail(t, err, "%s: expected one of 'cells' and 'edge'", t->key);
    if (!e) return ABUT_OK;
    abut_sheet_cells(size, s->edge, s->layout, s->two);
    if (s->two[0] <= CELLS_MOST && s->two[1] <= CELLS_MOST) return ABUT_OK;
    return abut_tree_fail(e, err, "edge is '%s': a side of %g m would have more than %d cells", e->text, fmax(size[0], size[1]),
                          (int)CELLS_MOST);
}

/* Rolls or folds a flat sheet, or bends it along a curve. */
static abut_status bend(const abut_scene_reader *r, const abut_tree *t, shape *s, abut_mesh *m, abut_err *err)
{
    const abut_tree *const how = s->roll ? s->roll : s->fold ? s->fold : s->along;
    if ((s->roll != NULL) + (s->fold != NULL) + (s->along != NULL) > 1)
        return abut_tree_fail(t, err, "%s: expected one of 'roll', 'fold' and 'along'", t->key);
    if (!how) return ABUT_OK;
    const abut_status rc = s->along ? read_rows(how, "along [x, y]", 2, &s->points, err)
                                    : abut_keys_read(r, s->roll ? &ROLL : &FOLD, how, s, err);
    if (rc) return rc;
    return abut_scene_placed(how, s->along ? abut_sheet_follow(m, s->points.x, s->points.n, err)
                                  : s->roll ? abut_sheet_roll(m, s->bend[0], s->bend[1], err)
                                            : abut_sheet_fold(m, s->bend[0], s->bend[1], err), err);
}

static abut_status add_element(int width, const int32_t v[4], abut_mesh *m, abut_err *err)
{
    switch (width) {
    case 4: return abut_mesh_add_tet(m, v[0], v[1], v[2], v[3], err);
    case 3: return abut_mesh_add_tri(m, v[0], v[1], v[2], err);
    default: return abut_mesh_add_seg(m, v[0], v[1], err);
    }
}

/* A mesh that is written out. */
static abut_status write_out(const abut_tree *t, const shape *s, abut_mesh *m, abut_err *err)
{
    static const char *const row[] = { "[0, 1]", "[0, 1, 2]", "[0, 1, 2, 3]" };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < s->points.n && !rc; i++) rc = abut_mesh_add_vertex(m, s->points.x + 3 * (size_t)i, err);
    for (int k = 0; k < 3 && !rc; k++) {
        const abut_tree *list = s->list[k];
        if (list) rc = abut_tree_list(list, list->key, 0, row[k], err);
        for (const abut_tree *c = list ? list->child : NULL; c && !rc; c = c->next) {
            int32_t v[4] = { 0 };
            rc = abut_tree_ints(c, list->key, k + 2, 0, m->nv - 1, v, err);
            if (!rc) rc = add_element(k + 2, v, m, err);
        }
    }
    if (!rc && !s->list[0] && !s->list[1] && !s->list[2])
        rc = abut_tree_fail(t, err, "explicit: expected tets, triangles or segments");
    return rc;
}

static abut_status make(int which, const shape *s, abut_mesh *m, abut_err *err)
{
    const abut_sheet sheet = { { s->area[0], s->area[1] }, { s->two[0], s->two[1] }, s->layout, s->jitter, s->seed };
    const double r = s->radius;
    switch (which) {
    case MAKE_box: return abut_generate_box(s->size, s->cells, m, err);
    case MAKE_sphere: return abut_generate_sphere(r, s->one, m, err);
    case MAKE_cylinder: return abut_generate_cylinder(r, s->height, s->two[0], s->two[1], m, err);
    case MAKE_torus: return abut_generate_torus(r, s->tube, s->two[0], s->two[1], m, err);
    case MAKE_cloth: return abut_generate_sheet(&sheet, m, err);
    case MAKE_revolution: return abut_generate_revolution(s->profile.x, s->profile.n, s->two[0], s->two[1], m, err);
    case MAKE_rod: return abut_generate_rod(s->length, s->one, m, err);
    case MAKE_particles: return abut_generate_particles(s->size, s->count, m, err);
    case MAKE_blob: return abut_generate_blob(s->capsule, s->ncapsules, s->blend, s->cell, s->snap, m, err);
    case MAKE_tendrils: return abut_generate_tendrils(r, s->length, s->thickness, s->number, s->cell, m, err);
    case MAKE_arch: return abut_generate_arch(s->span, s->height, s->ends, s->depth, s->number, s->gap, m, err);
    case MAKE_explicit: return abut_mesh_check(m, err);
    case MAKE_tube: return abut_generate_tube(r, s->height, s->two, s->layout, m, err);
    case MAKE_icosphere: return abut_generate_icosphere(r, s->divisions, m, err);
    case MAKE_bowl: return abut_generate_bowl(r, s->opening, s->two[0], s->two[1], m, err);
    case MAKE_strands: return abut_generate_strands(s->pair, s->spacing, s->length, s->one, s->lean, s->seed, m, err);
    case MAKE_net: return abut_generate_net(s->pair, s->spacing, s->offset, s->one, m, err);
    case MAKE_sprinkles: return abut_generate_sprinkles(s->count, s->apart, s->length, s->tilt, s->seed, m, err);
    case MAKE_ball: return abut_generate_star(r, s->divisions, m, err);
    default: return abut_generate_hair(&s->hair, m, err);
    }
}

/* The smooth shape that a generator cuts into straight tets, if it is one; capsules go along. */
static void snap_to(int which, shape *s, abut_snap *snap)
{
    snap->radius = s->radius;
    if (which == MAKE_sphere || which == MAKE_ball) snap->kind = ABUT_SNAP_SPHERE;
    if (which == MAKE_cylinder) snap->kind = ABUT_SNAP_CYLINDER, snap->size = s->height;
    if (which == MAKE_torus) snap->kind = ABUT_SNAP_TORUS, snap->size = s->tube;
    if (which != MAKE_blob || !s->snap) return;
    snap->kind = ABUT_SNAP_CAPSULES, snap->capsule = s->capsule, snap->ncapsules = s->ncapsules, snap->blend = s->blend;
    s->capsule = NULL;
}

static abut_status generate(const abut_scene_reader *r, int which, const abut_keys *keys, const abut_tree *t, shape *s,
                            abut_mesh *m, abut_err *err)
{
    abut_status rc = abut_keys_read(r, keys, t, s, err);
    if (!rc && which == MAKE_cloth) rc = choose_cells(t, s->area, s, err);
    if (!rc && which == MAKE_tube) rc = choose_cells(t, (double[2]){ 6.28318530717958648 * s->radius, s->height }, s, err);
    if (!rc && which == MAKE_explicit) rc = write_out(t, s, m, err);
    if (!rc) rc = abut_scene_placed(t, make(which, s, m, err), err);
    if (!rc && which == MAKE_particles && s->jitter > 0) abut_mesh_jitter(m, s->jitter, s->seed);
    return rc || which != MAKE_cloth ? rc : bend(r, t, s, m, err);
}

/* ---- tets around a surface ---- */

typedef struct cage {
    const abut_tree *mesh;
    double cell, inflate;
    int fit, has_inflate, solid, is_solid;
    int32_t star;
} cage;

static const abut_key CAGE_KEYS[] = {
    { ABUT_TREE(cage, "mesh", mesh), .form = "file" },
    { ABUT_NUMBER(cage, "cell", cell, LENGTH, "(0,)") },
    { ABUT_NUMBER(cage, "inflate", inflate, LENGTH, "[0,)"), ABUT_HAS(cage, has_inflate), .fallback = "cell / 20" },
    { ABUT_FLAG(cage, "fit", fit), .fallback = "false" },
    { ABUT_WORD(cage, "solid", solid, ABUT_WORDS("icosahedron", "octahedron")), ABUT_HAS(cage, is_solid) },
    { ABUT_WHOLE(cage, "star", star, "[1,6]") },
    { 0 }
};
static const abut_keys CAGE = { "cage", NULL, CAGE_KEYS, 0, NULL };

static const abut_key GENERATOR_KEYS[] = { GENERATORS(ROW) { ABUT_MAP("cage", &CAGE) }, { 0 } };
const abut_keys abut_scene_generators = { "generate", NULL, GENERATOR_KEYS, 0, NULL };

static abut_status lattice(const abut_tree *t, const cage *c, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    const double inflate = c->has_inflate ? c->inflate : c->cell / 20;
    const abut_status rc = abut_scene_placed(t, abut_generate_cage(s, c->cell, inflate, m, err), err);
    return rc || !c->fit ? rc : abut_scene_placed(t, abut_cage_fit(m, s, inflate, err), err);
}

/* The tets around the surface s, and how much of each is solid. */
static abut_status enclose(const abut_tree *t, const cage *c, const abut_mesh *s, abut_scene_object *o, abut_err *err)
{
    if (!s->nf || s->nt)
        return abut_tree_fail(c->mesh, err, "mesh: expected triangles alone, this one has %d tet%s, %d triangle%s", s->nt,
                              abut_s(s->nt), s->nf, abut_s(s->nf));
    abut_status rc = abut_scene_placed(c->mesh, abut_mesh_solid_check(s, err), err);
    if (!rc && c->is_solid) rc = abut_scene_placed(t, abut_generate_round_cage(s, c->solid ? 8 : 20, &o->mesh, err), err);
    else if (!rc && c->star)
        rc = abut_scene_placed(abut_tree_find(t, "star"), abut_generate_star_cage(s, c->star, &o->mesh, err), err);
    else if (!rc) rc = lattice(t, c, s, &o->mesh, err);
    if (!rc && !(o->fill = malloc(((size_t)o->mesh.nt + 1) * sizeof *o->fill)))
        rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %d tets", o->mesh.nt);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill(&o->mesh, s, o->fill, err), err);
    return rc ? rc : abut_scene_placed(t, abut_cage_fill_match(&o->mesh, s, o->fill, err), err);
}

static abut_status make_cage(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, abut_scene_object *o,
                             abut_err *err)
{
    const abut_tree *copies = abut_tree_find(object, "repeat");
    cage c = { 0 };
    abut_mesh s = { 0 };
    abut_status rc = abut_keys_read(r, &CAGE, t, &c, err);
    if (rc) return rc;
    if (!c.mesh || c.is_solid + (c.cell > 0) + (c.star > 0) != 1)
        return abut_tree_fail(t, err, "cage: expected {mesh: file, cell: length}, {mesh: file, solid: icosahedron or "
                              "octahedron} or {mesh: file, star: divisions}");
    if (!(c.cell > 0) && (abut_tree_find(t, "fit") || c.has_inflate))
        return abut_tree_fail(t, err, "cage: fit and inflate are of its cells, and it has none: expected cell: length");
    if (o->obstacle) return abut_tree_fail_key(t, err, "cage: an obstacle is its surface, and needs none");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a cage: expected objects: true");
    rc = abut_scene_load(r, c.mesh, &s, err);
    if (!rc) rc = enclose(t, &c, &s, o, err);
    abut_mesh_clear(&s);
    return rc;
}

abut_status abut_scene_generate(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, abut_scene_object *o,
                                abut_err *err)
{
    static const char *const names[] = { GENERATORS(NAME) "cage", NULL };
    shape s = { .opening = 1.57079632679489662, .seed = 1, .hair = { .seed = 1, .phase = 1 } };
    const abut_scene_order *a = &o->order;
    int which = 0;
    abut_status rc = abut_tree_keys(t, "generate", names, err);
    if (!rc && t->n != 1) rc = abut_tree_fail(t, err, "generate: %d shapes: expected one", t->n);
    if (rc) return rc;
    while (strcmp(t->child->key, names[which]) != 0) which++;
    if (which == MAKES) return make_cage(r, object, t->child, o, err);
    rc = generate(r, which, GENERATOR_KEYS[which].keys, t->child, &s, &o->mesh, err);
    const int fills = abut_tree_find(object, "surface") || abut_tree_find(object, "tetrahedralize");
    if (!rc && !fills && (a->order > 1 || a->geometry > 1)) snap_to(which, &s, &o->order.snap);
    free(s.profile.x), free(s.points.x), free(s.capsule);
    if (rc) abut_mesh_clear(&o->mesh);
    return rc;
}
