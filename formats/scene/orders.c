#include "formats/scene/scene_parts.h"

#include <stdlib.h>
#include <string.h>

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
