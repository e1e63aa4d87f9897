/* Meshes that a scene describes by sizes: one generator for each shape. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "mesh/generate/cage.h"
#include "mesh/generate/generate.h"
#include "mesh/generate/sheets.h"
#include "mesh/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_scene_placed(const abut_tree *t, abut_status rc, abut_err *err)
{
    char at[200];
    abut_tree_place(t, at, sizeof at);
    const size_t n = strlen(at);
    const int is_said = rc && err && !strncmp(err->msg, at, n) && err->msg[n] == ':';   /* a mesh file on the command line */
    if (rc && !is_said) abut_wrap(err, "%s", at);
    if (rc != ABUT_E_ARG) return rc;
    if (err) err->code = ABUT_E_FORMAT;
    return ABUT_E_FORMAT;
}

abut_status abut_scene_all_there(const abut_tree *t, const char *const *keys, abut_err *err)
{
    char list[160];
    if (t->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(t, t->key, err, "a map with the keys %s", abut_names_join(keys, list, sizeof list));
    for (; *keys; keys++)
        if (!abut_tree_find(t, *keys)) return abut_tree_fail(t, err, "%s: '%s' is missing", t->key, *keys);
    return ABUT_OK;
}

abut_status abut_scene_need(const abut_tree *t, const char *const *keys, abut_err *err)
{
    const abut_status rc = abut_tree_keys(t, t->key, keys, err);
    return rc ? rc : abut_scene_all_there(t, keys, err);
}

static abut_status make_box(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double size[3] = { 0 };
    int32_t cells[3] = { 0 };
    abut_status rc = abut_scene_need(t, (const char *const[]){ "size", "cells", NULL }, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "size"), "size", ABUT_Q_LENGTH, 3, size, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells", 3, 1, 4096, cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_box(size, cells, m, err), err);
}

static abut_status make_sphere(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0;
    int32_t cells = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "cells", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 360, &cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_sphere(radius, cells, m, err), err);
}

static abut_status make_ball(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0;
    int32_t n = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "divisions", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "divisions"), "divisions", 1, 64, &n, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_star(radius, n, m, err), err);
}

static abut_status make_cylinder(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0, height = 0;
    int32_t cells[2] = { 0 };
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "height", "cells", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "height"), "height", ABUT_Q_LENGTH, &height, NULL, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells [across, along]", 2, 1, 4096, cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_cylinder(radius, height, cells[0], cells[1], m, err), err);
}

static abut_status make_rod(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double length = 0;
    int32_t cells = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "length", "cells", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &length, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 4096, &cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_rod(length, cells, m, err), err);
}

static abut_status make_torus(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0, tube = 0;
    int32_t cells[2] = { 0 };
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "tube", "cells", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "tube"), "tube", ABUT_Q_LENGTH, &tube, NULL, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells [around, across]", 2, 1, 4096, cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_torus(radius, tube, cells[0], cells[1], m, err), err);
}

/* A list of rows of `width` lengths, malloc'ed. */
static abut_status read_rows(const abut_tree *t, const char *what, int width, double **rows, int32_t *n, abut_err *err)
{
    *rows = NULL, *n = 0;
    const abut_status is_list = abut_tree_list(t, what, -1, width == 2 ? "[0, 1]" : width == 3 ? "[0, 1, 0]" : "[...]", err);
    if (is_list) return is_list;
    double *p = malloc((size_t)t->n * (size_t)width * sizeof *p);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d rows of %s", t->n, what);
    abut_status rc = ABUT_OK;
    for (const abut_tree *c = t->child; c && !rc; c = c->next)
        rc = abut_tree_vector(c, what, ABUT_Q_LENGTH, width, p + (size_t)(*n)++ * (size_t)width, err);
    if (rc) free(p);
    else *rows = p;
    return rc;
}

static abut_status make_revolution(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double *profile = NULL;
    int32_t n = 0, cells[2] = { 0 };
    abut_status rc = abut_scene_need(t, (const char *const[]){ "profile", "cells", NULL }, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells [around, along]", 2, 1, 4096, cells, err);
    if (!rc) rc = read_rows(abut_tree_find(t, "profile"), "profile [radius, y]", 2, &profile, &n, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_revolution(profile, n, cells[0], cells[1], m, err), err);
    free(profile);
    return rc;
}

/* {from: point, to: point, radius: length}; without `to` a ball. */
static abut_status read_capsule(const abut_tree *t, abut_capsule *c, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "capsule", (const char *const[]){ "from", "to", "radius", NULL }, err);
    const abut_tree *from = rc ? NULL : abut_tree_find(t, "from"), *to = rc ? NULL : abut_tree_find(t, "to");
    const abut_tree *radius = rc ? NULL : abut_tree_find(t, "radius");
    if (!rc && (!from || !radius))
        rc = abut_tree_fail(t, err, "capsule: expected {from: [x, y, z], to: [x, y, z], radius: length}");
    if (!rc) rc = abut_tree_vector(from, "from", ABUT_Q_LENGTH, 3, c->a, err);
    if (!rc) rc = abut_tree_vector(to ? to : from, "to", ABUT_Q_LENGTH, 3, c->b, err);
    return rc ? rc : abut_tree_positive(radius, "radius", ABUT_Q_LENGTH, &c->radius, NULL, err);
}

abut_status abut_scene_capsules(const abut_tree *t, abut_capsule **capsule, int32_t *n, double *blend, abut_err *err)
{
    abut_status rc = abut_scene_all_there(t, (const char *const[]){ "capsules", NULL }, err);
    const abut_tree *list = rc ? NULL : abut_tree_find(t, "capsules"), *b = rc ? NULL : abut_tree_find(t, "blend");
    if (!rc && b) rc = abut_tree_not_negative(b, "blend", ABUT_Q_LENGTH, blend, err);
    if (!rc) rc = abut_tree_list(list, "capsules", -1, "{from: [0, 0, 0], to: [0, 1, 0], radius: 0.1}", err);
    abut_capsule *c = rc ? NULL : calloc((size_t)list->n, sizeof *c);
    if (!rc && !c) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for %d capsules", list->n);
    *n = 0;
    for (const abut_tree *row = rc ? NULL : list->child; row && !rc; row = row->next) rc = read_capsule(row, &c[(*n)++], err);
    if (rc) free(c);
    else *capsule = c;
    return rc;
}

static abut_status make_blob(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double cell = 0, blend = 0;
    int snap = 0;
    abut_capsule *c = NULL;
    int32_t n = 0;
    abut_status rc = abut_tree_keys(t, t->key, (const char *const[]){ "capsules", "cell", "blend", "snap", NULL }, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "capsules", "cell", NULL }, err);
    if (rc) return rc;
    const abut_tree *s = abut_tree_find(t, "snap");
    rc = abut_tree_positive(abut_tree_find(t, "cell"), "cell", ABUT_Q_LENGTH, &cell, NULL, err);
    if (!rc && s) rc = abut_tree_flag(s, "snap", &snap, err);
    if (!rc) rc = abut_scene_capsules(t, &c, &n, &blend, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_blob(c, n, blend, cell, snap, m, err), err);
    free(c);
    return rc;
}

static abut_status make_tendrils(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "radius", "length", "thickness", "cell", "count", NULL };
    double size[4] = { 0 };
    int32_t count = 0;
    abut_status rc = abut_scene_need(t, keys, err);
    for (int k = 0; k < 4 && !rc; k++)
        rc = abut_tree_positive(abut_tree_find(t, keys[k]), keys[k], ABUT_Q_LENGTH, &size[k], NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "count"), "count", 1, 10000, &count, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_tendrils(size[0], size[1], size[2], count, size[3], m, err), err);
}

/* ---- a mesh written out ---- */

static abut_status add_element(int width, const int32_t v[4], abut_mesh *m, abut_err *err)
{
    switch (width) {
    case 4: return abut_mesh_add_tet(m, v[0], v[1], v[2], v[3], err);
    case 3: return abut_mesh_add_tri(m, v[0], v[1], v[2], err);
    default: return abut_mesh_add_seg(m, v[0], v[1], err);
    }
}

static abut_status read_elements(const abut_tree *t, const char *what, int width, abut_mesh *m, abut_err *err)
{
    static const char *const row[] = { "", "0", "[0, 1]", "[0, 1, 2]", "[0, 1, 2, 3]" };
    abut_status rc = abut_tree_list(t, what, 0, row[width], err);
    for (const abut_tree *c = t->child; c && !rc; c = c->next) {
        int32_t v[4] = { 0 };
        rc = abut_tree_ints(c, what, width, 0, m->nv - 1, v, err);
        if (!rc) rc = add_element(width, v, m, err);
    }
    return rc;
}

static abut_status make_explicit(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "points", "segments", "triangles", "tets", NULL };
    double *x = NULL;
    int32_t n = 0, elements = 0;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "points", NULL }, err);
    if (!rc) rc = read_rows(abut_tree_find(t, "points"), "points [x, y, z]", 3, &x, &n, err);
    for (int32_t i = 0; i < n && !rc; i++) rc = abut_mesh_add_vertex(m, x + 3 * (size_t)i, err);
    free(x);
    for (int k = 1; k < 4 && !rc; k++) {
        const abut_tree *list = abut_tree_find(t, keys[k]);
        if (list) rc = read_elements(list, keys[k], k + 1, m, err), elements++;
    }
    if (!rc && !elements) rc = abut_tree_fail(t, err, "explicit: expected tets, triangles or segments");
    return rc ? rc : abut_scene_placed(t, abut_mesh_check(m, err), err);
}

static abut_status make_arch(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "span", "height", "thickness", "depth", "blocks", "gap", NULL };
    double size[3] = { 0 }, thickness[2] = { 0 }, gap = 0;
    int32_t blocks = 0;
    abut_status rc = abut_scene_need(t, keys, err);
    for (int i = 0; i < 3 && !rc; i++) {
        const char *const key = keys[i < 2 ? i : 3];
        rc = abut_tree_positive(abut_tree_find(t, key), key, ABUT_Q_LENGTH, &size[i], NULL, err);
    }
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "thickness"), "thickness [feet, crown]", ABUT_Q_LENGTH, 2, thickness, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "blocks"), "blocks", 1, 4096, &blocks, err);
    if (!rc) rc = abut_tree_real(abut_tree_find(t, "gap"), "gap", ABUT_Q_LENGTH, &gap, NULL, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_arch(size[0], size[1], thickness, size[2], blocks, gap, m, err), err);
}

/* ---- sheets, strands and grains ---- */

enum { CELLS_MOST = 4096 };

static const char *const LAYOUTS[] = { "grid", "rows", NULL };

/* `cells`, or `edge`: the number of cells of about that size. */
static abut_status read_cells(const abut_tree *t, const double size[2], int layout, int32_t cells[2], abut_err *err)
{
    const abut_tree *n = abut_tree_find(t, "cells"), *e = abut_tree_find(t, "edge");
    double edge = 0;
    if (!n == !e) return abut_tree_fail(t, err, "%s: expected one of 'cells' and 'edge'", t->key);
    if (n) return abut_tree_ints(n, "cells", 2, 1, CELLS_MOST, cells, err);
    const abut_status rc = abut_tree_positive(e, "edge", ABUT_Q_LENGTH, &edge, NULL, err);
    if (rc) return rc;
    abut_sheet_cells(size, edge, layout, cells);
    if (cells[0] <= CELLS_MOST && cells[1] <= CELLS_MOST) return ABUT_OK;
    return abut_tree_fail(e, err, "edge is '%s': a side of %g m would have more than %d cells", e->text, fmax(size[0], size[1]),
                          (int)CELLS_MOST);
}

static abut_status read_layout(const abut_tree *t, int *layout, abut_err *err)
{
    const abut_tree *l = abut_tree_find(t, "layout");
    return l ? abut_tree_choice(l, "layout", LAYOUTS, layout, err) : ABUT_OK;
}

static abut_status read_seed(const abut_tree *t, int32_t *seed, abut_err *err)
{
    const abut_tree *s = abut_tree_find(t, "seed");
    *seed = 1;
    return s ? abut_tree_int(s, "seed", 0, INT32_MAX, seed, err) : ABUT_OK;
}

/* Rolls or folds a flat sheet, or bends it along a curve. */
static abut_status bend(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    const abut_tree *roll = abut_tree_find(t, "roll"), *fold = abut_tree_find(t, "fold"),
                    *along = abut_tree_find(t, "along");
    double a = 0, b = 0, *curve = NULL;
    int32_t n = 0;
    abut_status rc = ABUT_OK;
    if ((roll != NULL) + (fold != NULL) + (along != NULL) > 1)
        return abut_tree_fail(t, err, "%s: expected one of 'roll', 'fold' and 'along'", t->key);
    if (along) {
        rc = read_rows(along, "along [x, y]", 2, &curve, &n, err);
        if (!rc) rc = abut_scene_placed(along, abut_sheet_follow(m, curve, n, err), err);
        free(curve);
        return rc;
    }
    const abut_tree *shape = roll ? roll : fold;
    if (!shape) return ABUT_OK;
    const char *const first = roll ? "radius" : "length";
    rc = abut_scene_need(shape, (const char *const[]){ first, "gap", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(shape, first), first, ABUT_Q_LENGTH, &a, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(shape, "gap"), "gap", ABUT_Q_LENGTH, &b, NULL, err);
    return rc ? rc : abut_scene_placed(shape, roll ? abut_sheet_roll(m, a, b, err) : abut_sheet_fold(m, a, b, err), err);
}

static abut_status make_cloth(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "size", "cells", "edge", "layout", "jitter", "seed", "roll", "fold", "along", NULL };
    abut_sheet s = { 0 };
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "size", NULL }, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "size"), "size", ABUT_Q_LENGTH, 2, s.size, err);
    if (!rc) rc = read_layout(t, &s.layout, err);
    if (!rc) rc = read_cells(t, s.size, s.layout, s.cells, err);
    if (!rc) rc = read_seed(t, &s.seed, err);
    const abut_tree *jitter = rc ? NULL : abut_tree_find(t, "jitter");
    if (jitter) rc = abut_tree_real(jitter, "jitter", ABUT_Q_PURE, &s.jitter, NULL, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_sheet(&s, m, err), err);
    return rc ? rc : bend(t, m, err);
}

static abut_status make_tube(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "radius", "height", "cells", "edge", "layout", NULL };
    double radius = 0, height = 0;
    int32_t cells[2] = { 0 };
    int layout = ABUT_LAYOUT_GRID;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "height", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "height"), "height", ABUT_Q_LENGTH, &height, NULL, err);
    if (!rc) rc = read_layout(t, &layout, err);
    if (!rc) rc = read_cells(t, (double[2]){ 6.28318530717958648 * radius, height }, layout, cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_tube(radius, height, cells, layout, m, err), err);
}

static abut_status make_icosphere(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0;
    int32_t divisions = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "divisions", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "divisions"), "divisions", 1, 500, &divisions, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_icosphere(radius, divisions, m, err), err);
}

static abut_status make_bowl(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0, opening = 1.57079632679489662;
    int32_t cells[2] = { 0 };
    abut_status rc = abut_tree_keys(t, t->key, (const char *const[]){ "radius", "cells", "opening", NULL }, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "cells", NULL }, err);
    const abut_tree *o = rc ? NULL : abut_tree_find(t, "opening");
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells [around, along]", 2, 1, 4096, cells, err);
    if (!rc && o) rc = abut_tree_positive(o, "opening", ABUT_Q_ANGLE, &opening, NULL, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_bowl(radius, opening, cells[0], cells[1], m, err), err);
}

static abut_status make_strands(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "spacing", "length", "cells", "lean", "seed", NULL };
    double spacing = 0, length = 0, lean = 0;
    int32_t count[2] = { 0 }, cells = 0, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "spacing", "length", "cells", NULL }, err);
    const abut_tree *l = rc ? NULL : abut_tree_find(t, "lean");
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 2, 1, 4096, count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, &spacing, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &length, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 4096, &cells, err);
    if (!rc && l) rc = abut_tree_real(l, "lean", ABUT_Q_LENGTH, &lean, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_strands(count, spacing, length, cells, lean, seed, m, err), err);
}

static abut_status make_net(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double spacing = 0, offset = 0;
    int32_t count[2] = { 0 }, cells = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "count", "spacing", "offset", "cells", NULL }, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 2, 1, 4096, count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, &spacing, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "offset"), "offset", ABUT_Q_LENGTH, &offset, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 4096, &cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_net(count, spacing, offset, cells, m, err), err);
}

static abut_status make_sprinkles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "spacing", "length", "tilt", "seed", NULL };
    double spacing[3] = { 0 }, length = 0, tilt = 0;
    int32_t count[3] = { 0 }, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "spacing", "length", NULL }, err);
    const abut_tree *lean = rc ? NULL : abut_tree_find(t, "tilt");
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 3, 1, 4096, count, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, 3, spacing, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &length, NULL, err);
    if (!rc && lean) rc = abut_tree_real(lean, "tilt", ABUT_Q_ANGLE, &tilt, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_sprinkles(count, spacing, length, tilt, seed, m, err), err);
}

static abut_status make_particles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double size[3] = { 0 }, jitter = 0;
    int32_t count[3] = { 0 }, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, (const char *const[]){ "size", "count", "jitter", "seed", NULL }, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "size", "count", NULL }, err);
    const abut_tree *j = rc ? NULL : abut_tree_find(t, "jitter");
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "size"), "size", ABUT_Q_LENGTH, 3, size, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 3, 1, 4096, count, err);
    if (!rc && j) rc = abut_tree_positive(j, "jitter", ABUT_Q_LENGTH, &jitter, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_particles(size, count, m, err), err);
    if (!rc && j) abut_mesh_jitter(m, jitter, seed);
    return rc;
}

/* ---- strands that grow out of a ball ---- */

/* {radius: m, wavelength: m, ramp: m} and what differs from strand to strand. */
static abut_status read_curl(const abut_tree *t, abut_hair *h, abut_err *err)
{
    static const char *const keys[] = { "radius", "wavelength", "ramp", "vary", "phase", NULL };
    const abut_tree *vary = abut_tree_find(t, "vary"), *phase = abut_tree_find(t, "phase");
    abut_status rc = abut_tree_keys(t, "curl", keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "wavelength", "ramp", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "curl.radius", ABUT_Q_LENGTH, &h->curl, NULL, err);
    const abut_tree *wave = abut_tree_find(t, "wavelength");
    if (!rc) rc = abut_tree_positive(wave, "curl.wavelength", ABUT_Q_LENGTH, &h->wavelength, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "ramp"), "curl.ramp", ABUT_Q_LENGTH, &h->ramp, NULL, err);
    if (!rc && vary) rc = abut_tree_not_negative(vary, "curl.vary", ABUT_Q_PURE, &h->vary, err);
    return rc || !phase ? rc : abut_tree_not_negative(phase, "curl.phase", ABUT_Q_PURE, &h->phase, err);
}

static abut_status make_hair(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "radius", "offset", "length", "cells", "whole", "curl", "seed", NULL };
    abut_hair h = { .seed = 1, .phase = 1 };
    const abut_tree *whole = abut_tree_find(t, "whole"), *curl = abut_tree_find(t, "curl"), *seed = abut_tree_find(t, "seed");
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "radius", "offset", "length", "cells", NULL }, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "count"), "count", 1, 1000000, &h.count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &h.radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "offset"), "offset", ABUT_Q_LENGTH, &h.offset, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &h.length, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 2, 4096, &h.cells, err);
    if (!rc && whole) rc = abut_tree_flag(whole, "whole", &h.whole, err);
    if (!rc && seed) rc = abut_tree_int(seed, "seed", 0, INT32_MAX, &h.seed, err);
    if (!rc && curl) rc = read_curl(curl, &h, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_hair(&h, m, err), err);
}

/* ---- tets around a surface ---- */

static abut_status lattice(const abut_tree *t, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    const abut_tree *cell = abut_tree_find(t, "cell"), *more = abut_tree_find(t, "inflate"), *fit = abut_tree_find(t, "fit");
    double size = 0, inflate = 0;
    int fits = 0;
    abut_status rc = abut_tree_positive(cell, "cell", ABUT_Q_LENGTH, &size, NULL, err);
    inflate = size / 20;
    if (!rc && more) rc = abut_tree_not_negative(more, "inflate", ABUT_Q_LENGTH, &inflate, err);
    if (!rc && fit) rc = abut_tree_flag(fit, "fit", &fits, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_cage(s, size, inflate, m, err), err);
    return rc || !fits ? rc : abut_scene_placed(t, abut_cage_fit(m, s, inflate, err), err);
}

static abut_status star(const abut_tree *t, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    int32_t divisions = 0;
    const abut_status rc = abut_tree_int(t, "star", 1, 6, &divisions, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_star_cage(s, divisions, m, err), err);
}

abut_status abut_scene_cage(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, abut_scene_object *o,
                            abut_err *err)
{
    static const char *const keys[] = { "mesh", "cell", "inflate", "fit", "solid", "star", NULL };
    static const char *const solids[] = { "icosahedron", "octahedron", NULL };
    abut_status rc = abut_tree_keys(t, "cage", keys, err);
    const abut_tree *mesh = rc ? NULL : abut_tree_find(t, "mesh"), *solid = rc ? NULL : abut_tree_find(t, "solid");
    const abut_tree *cell = rc ? NULL : abut_tree_find(t, "cell"), *rays = rc ? NULL : abut_tree_find(t, "star");
    const abut_tree *copies = abut_tree_find(object, "repeat");
    abut_mesh s = { 0 };
    int which = 0;
    if (rc) return rc;
    if (!mesh || (solid != NULL) + (cell != NULL) + (rays != NULL) != 1)
        return abut_tree_fail(t, err, "cage: expected {mesh: file, cell: length}, {mesh: file, solid: icosahedron or "
                              "octahedron} or {mesh: file, star: divisions}");
    if (!cell && (abut_tree_find(t, "fit") || abut_tree_find(t, "inflate")))
        return abut_tree_fail(t, err, "cage: fit and inflate are of its cells, and it has none: expected cell: length");
    if (o->obstacle) return abut_tree_fail_key(t, err, "cage: an obstacle is its surface, and needs none");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a cage: expected objects: true");
    rc = abut_scene_load(r, mesh, &s, err);
    if (!rc && (!s.nf || s.nt))
        rc = abut_tree_fail(mesh, err, "mesh: expected triangles alone, this one has %d tet%s, %d triangle%s", s.nt, abut_s(s.nt),
                            s.nf, abut_s(s.nf));
    if (!rc) rc = abut_scene_placed(mesh, abut_mesh_solid_check(&s, err), err);
    if (!rc && solid && !(rc = abut_tree_choice(solid, "solid", solids, &which, err)))
        rc = abut_scene_placed(t, abut_generate_round_cage(&s, which ? 8 : 20, &o->mesh, err), err);
    else if (!rc) rc = rays ? star(rays, &s, &o->mesh, err) : lattice(t, &s, &o->mesh, err);
    if (!rc && !(o->fill = malloc(((size_t)o->mesh.nt + 1) * sizeof *o->fill)))
        rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %d tets", o->mesh.nt);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill(&o->mesh, &s, o->fill, err), err);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill_match(&o->mesh, &s, o->fill, err), err);
    abut_mesh_clear(&s);
    return rc;
}

/* ---- the table ---- */

abut_status abut_scene_generate(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const names[] = { "box", "sphere", "cylinder", "torus", "cloth", "revolution", "rod", "particles", "blob",
                                         "tendrils", "arch", "explicit", "tube", "icosphere", "bowl", "strands", "net",
                                         "sprinkles", "ball", "hair", NULL };
    static abut_status (*const make[])(const abut_tree *, abut_mesh *, abut_err *) = {
        make_box, make_sphere, make_cylinder, make_torus, make_cloth, make_revolution, make_rod, make_particles,
        make_blob, make_tendrils, make_arch, make_explicit, make_tube, make_icosphere, make_bowl, make_strands,
        make_net, make_sprinkles, make_ball, make_hair
    };
    abut_status rc = abut_tree_keys(t, "generate", names, err);
    if (!rc && t->n != 1) rc = abut_tree_fail(t, err, "generate: %d shapes: expected one", t->n);
    for (int i = 0; !rc && names[i]; i++)
        if (!strcmp(t->child->key, names[i])) rc = make[i](t->child, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}
