#include "formats/scene/scene_parts.h"

#include "mesh/generate/generate.h"

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

abut_status abut_scene_rows(const abut_tree *t, const char *what, int width, double **rows, int32_t *n, abut_err *err)
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
    if (!rc) rc = abut_scene_rows(abut_tree_find(t, "profile"), "profile [radius, y]", 2, &profile, &n, err);
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
    if (!rc) rc = abut_scene_rows(abut_tree_find(t, "points"), "points [x, y, z]", 3, &x, &n, err);
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

abut_status abut_scene_generate(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const names[] = { "box", "sphere", "cylinder", "torus", "cloth", "revolution", "rod", "particles", "blob",
                                         "tendrils", "arch", "explicit", "tube", "icosphere", "bowl", "strands", "net",
                                         "sprinkles", "ball", "hair", NULL };
    static abut_status (*const make[])(const abut_tree *, abut_mesh *, abut_err *) = {
        make_box, make_sphere, make_cylinder, make_torus, abut_scene_make_cloth, make_revolution, make_rod,
            abut_scene_make_particles,
        make_blob, make_tendrils, make_arch, make_explicit, abut_scene_make_tube, abut_scene_make_icosphere, abut_scene_make_bowl,
        abut_scene_make_strands, abut_scene_make_net, abut_scene_make_sprinkles, make_ball, abut_scene_make_hair
    };
    abut_status rc = abut_tree_keys(t, "generate", names, err);
    if (!rc && t->n != 1) rc = abut_tree_fail(t, err, "generate: %d shapes: expected one", t->n);
    for (int i = 0; !rc && names[i]; i++)
        if (!strcmp(t->child->key, names[i])) rc = make[i](t->child, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}
