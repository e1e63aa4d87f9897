#include "formats/scene/scene_parts.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

static abut_status read_box(const abut_tree *t, const char *what, abut_quantity q, double lo[3], double hi[3], abut_err *err)
{
    if (t->kind != ABUT_TREE_LIST || t->n != 2)
        return abut_tree_fail_kind(t, what, err, "[[x, y, z], [x, y, z]], the smallest and the largest corner");
    abut_status rc = abut_tree_vector(t->child, what, q, 3, lo, err);
    if (!rc) rc = abut_tree_vector(t->child->next, what, q, 3, hi, err);
    for (int k = 0; k < 3 && !rc; k++)
        if (lo[k] > hi[k])
            rc = abut_tree_fail(t, err, "%s: from %g to %g along axis %d: expected the smaller one first", what, lo[k], hi[k],
                                k);
    return rc;
}

static abut_status read_sphere(const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    static const char *const keys[] = { "center", "radius", NULL };
    abut_status rc = abut_tree_keys(t, "sphere", keys, err);
    const abut_tree *c = rc ? NULL : abut_tree_find(t, "center"), *radius = rc ? NULL : abut_tree_find(t, "radius");
    if (!rc && (!c || !radius)) rc = abut_tree_fail(t, err, "sphere: expected {center: [x, y, z], radius: number}");
    if (!rc) rc = abut_tree_vector(c, "center", ABUT_Q_LENGTH, 3, s->center, err);
    if (!rc) rc = abut_tree_positive(radius, "radius", ABUT_Q_LENGTH, &s->radius, NULL, err);
    s->in_sphere = 1;
    return rc;
}

/* Reads a half-space that selects points on or behind its plane, in the keys of a half-space among the objects. */
static abut_status read_half_space(const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "half-space", (const char *const[]){ "point", "normal", NULL }, err);
    const abut_tree *point = rc ? NULL : abut_tree_find(t, "point"), *normal = rc ? NULL : abut_tree_find(t, "normal");
    if (!rc && (!point || !normal)) rc = abut_tree_fail(t, err, "half-space: expected {point: [x, y, z], normal: [x, y, z]}");
    if (!rc) rc = abut_tree_vector(point, "point", ABUT_Q_LENGTH, 3, s->point, err);
    if (!rc) rc = abut_tree_vector(normal, "normal", ABUT_Q_PURE, 3, s->normal, err);
    if (!rc && s->normal[0] == 0 && s->normal[1] == 0 && s->normal[2] == 0)
        rc = abut_tree_fail(normal, err, "normal: expected a vector that is not zero");
    s->in_half_space = 1;
    return rc;
}

static abut_status read_cylinder(const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "cylinder", (const char *const[]){ "axis", "radius", NULL }, err);
    const abut_tree *axis = rc ? NULL : abut_tree_find(t, "axis"), *radius = rc ? NULL : abut_tree_find(t, "radius");
    if (!rc && (!axis || !radius))
        rc = abut_tree_fail(t, err, "cylinder: expected {axis: [[x, y, z], [x, y, z]], radius: number}");
    if (!rc) rc = abut_tree_list(axis, "axis", 2, "[[0, 0, 0], [0, 1, 0]]", err);
    for (int i = 0; i < 2 && !rc; i++) rc = abut_tree_vector(abut_tree_at(axis, i), "axis", ABUT_Q_LENGTH, 3, s->axis[i], err);
    if (!rc) rc = abut_tree_positive(radius, "radius", ABUT_Q_LENGTH, &s->axis_radius, NULL, err);
    if (!rc && !memcmp(s->axis[0], s->axis[1], sizeof s->axis[0]))
        rc = abut_tree_fail(axis, err, "axis: twice the same point: expected two ends");
    s->in_cylinder = 1;
    return rc;
}

/* Points of the object's mesh by number, from 0; each once. */
static abut_status read_points(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    if (s->object < 0) return abut_tree_fail_key(t, err, "nodes: numbers of nodes of one object: expected one 'object' too");
    abut_status rc = abut_tree_list(t, "nodes", -1, "0", err);
    if (rc) return rc;
    const abut_scene_object *o = &r->scene->object[s->object];
    s->points = malloc((size_t)t->n * sizeof *s->points);
    if (!s->points) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d numbers", t->n);
    for (const abut_tree *c = t->child; c && !rc; c = c->next)
        rc = abut_tree_int(c, "nodes: a point", 0, o->mesh.nv - 1, &s->points[s->npoints++], err);
    if (rc) return rc;
    qsort(s->points, (size_t)s->npoints, sizeof *s->points, abut_by_one);
    for (int32_t i = 1; i < s->npoints && !rc; i++)
        if (s->points[i] == s->points[i - 1]) rc = abut_tree_fail(t, err, "nodes: %d twice", s->points[i]);
    return rc;
}

/* A name, or a list of names, each once. */
static abut_status read_objects(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    if (t->kind == ABUT_TREE_TEXT) return abut_scene_find(r, t, 0, &s->object, err);
    if (t->kind == ABUT_TREE_MAP || !t->n)
        return abut_tree_fail_kind(t, "object", err, "a name, or a list of names, [ball, bar]");
    s->objects = malloc((size_t)t->n * sizeof *s->objects);
    if (!s->objects) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d objects", t->n);
    for (const abut_tree *c = t->child; c; c = c->next) {
        int32_t *const row = &s->objects[s->nobjects];
        const abut_status rc = abut_scene_find(r, c, 0, row, err);
        if (rc) return rc;
        for (int32_t i = 0; i < s->nobjects; i++)
            if (s->objects[i] == *row) return abut_tree_fail(c, err, "object: '%s' twice", c->text);
        s->nobjects++;
    }
    if (s->nobjects == 1) s->object = s->objects[0];
    return ABUT_OK;
}

static abut_status read_conditions(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    static const char *const keys[] = { "object", "box", "relative-box", "sphere", "half-space", "cylinder", "nodes", "surface",
                                        NULL };
    abut_status rc = abut_tree_keys(t, "select", keys, err);
    if (rc) return rc;
    const abut_tree *object = abut_tree_find(t, "object"), *box = abut_tree_find(t, "box");
    const abut_tree *relative = abut_tree_find(t, "relative-box"), *sphere = abut_tree_find(t, "sphere");
    const abut_tree *half = abut_tree_find(t, "half-space"), *cylinder = abut_tree_find(t, "cylinder");
    const abut_tree *points = abut_tree_find(t, "nodes"), *surface = abut_tree_find(t, "surface");
    s->object = -1;
    abut_scene_from(t, s->from);
    if (object) rc = read_objects(r, object, s, err);
    if (!rc && box) rc = read_box(box, "box", ABUT_Q_LENGTH, s->lo, s->hi, err);
    if (!rc && relative) rc = read_box(relative, "relative-box", ABUT_Q_PURE, s->rlo, s->rhi, err);
    if (!rc && sphere) rc = read_sphere(sphere, s, err);
    if (!rc && half) rc = read_half_space(half, s, err);
    if (!rc && cylinder) rc = read_cylinder(cylinder, s, err);
    if (!rc && surface) rc = abut_tree_flag(surface, "surface", &s->on_surface, err);
    if (!rc && points) rc = read_points(r, points, s, err);
    s->in_box = box != NULL;
    s->in_relative_box = relative != NULL;
    return rc;
}

abut_status abut_read_scene_select(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    if (t->kind != ABUT_TREE_TEXT) return read_conditions(r, t, s, err);
    const abut_tree *all = abut_tree_find(r->root, "selections"), *named = all ? abut_tree_find(all, t->text) : NULL;
    if (named) return read_conditions(r, named, s, err);
    const int n = all && all->kind == ABUT_TREE_MAP ? all->n : 0;
    const char **names = calloc((size_t)n + 1, sizeof *names);
    if (!names) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d names", n);
    int i = 0;
    for (const abut_tree *c = n ? all->child : NULL; c; c = c->next) names[i++] = c->key;
    const char *near = abut_name_nearest(t->text, names);
    const abut_status rc =
        near ? abut_tree_fail(t, err, "no selection is called '%s'; did you mean '%s'?", t->text, near)
             : abut_tree_fail(t, err, "no selection is called '%s': expected a name in 'selections', or conditions "
                              "{object: ..., box: ...}", t->text);
    free(names);
    return rc;
}

abut_status abut_scene_selections(const abut_scene_reader *r, abut_err *err)
{
    const abut_tree *named = abut_tree_find(r->root, "selections");
    abut_status rc = ABUT_OK;
    if (named && named->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(named, "selections", err, "a map of names, {left: {object: ball, box: ...}, ...}");
    for (const abut_tree *c = named ? named->child : NULL; c && !rc; c = c->next) {
        abut_scene_select unused = { 0 };
        rc = read_conditions(r, c, &unused, err);
        abut_scene_select_clear(&unused);
    }
    return rc;
}
