#include "formats/scene/scene_parts.h"
#include "base/words.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a half-space has keys of its own, and is here for who spells it otherwise */
static const char *const BODY_KEYS[] = {
    "mesh", "use", "generate", "half-space", "sequence", "flip", "origin", "unit-size", "obstacle", "material", "scale",
    "rotate", "translate", "repeat", "fit", "velocity", "angular-velocity", "center", "mu", "tetrahedralize", "shell",
    "rod", "particle", "rest", "weld", "contact-thickness", "order", "geometry", "surface", "proxy", "match-mass",
    "frame", NULL
};

abut_status abut_scene_axis(const abut_tree *t, const char *word, abut_quantity q, double out[3], abut_err *err)
{
    const char *const keys[] = { "axis", word, strcmp(word, "rate") ? NULL : "center", NULL };
    double a[3] = { 0 }, v = 0;
    abut_status rc = abut_tree_keys(t, "rotation", keys, err);
    if (rc) return rc;
    const abut_tree *axis = abut_tree_find(t, "axis"), *value = abut_tree_find(t, word);
    if (!axis || !value) return abut_tree_fail(t, err, "expected {axis: [x, y, z], %s: number and unit}", word);
    rc = abut_tree_vector(axis, "axis", ABUT_Q_PURE, 3, a, err);
    if (!rc) rc = abut_tree_real(value, word, q, &v, NULL, err);
    const double n = abut_tree_norm(a, 3);
    if (!rc && !(n > 0)) rc = abut_tree_fail(axis, err, "axis: expected a vector that is not zero");
    for (int k = 0; k < 3 && !rc; k++) out[k] = v * a[k] / n;
    return rc;
}

abut_status abut_read_scene_material(const abut_scene_reader *r, const abut_tree *t, int32_t *row, abut_err *err)
{
    const abut_scene *s = r->scene;
    const char *word = NULL;
    abut_status rc = abut_tree_word(t, "the name of a material", "rubber", &word, err);
    if (rc) return rc;
    for (int32_t i = 0; i < s->nmaterials; i++)
        if (!strcmp(s->material[i].name, word)) {
            *row = i;
            return ABUT_OK;
        }
    const char **names = calloc((size_t)s->nmaterials + 1, sizeof *names);
    if (!names) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d names", s->nmaterials);
    for (int32_t i = 0; i < s->nmaterials; i++) names[i] = s->material[i].name;
    const char *near = abut_name_nearest(word, names);
    char there[240];
    rc = near ? abut_tree_fail(t, err, "no material is called '%s'; did you mean '%s'?", word, near)
              : abut_tree_fail(t, err, "no material is called '%s': expected one of %s", word,
                               abut_names_join(names, there, sizeof there));
    free(names);
    return rc;
}

/* The material an object names; of a body the only one there is, when it names none. */
static abut_status find_material(const abut_scene_reader *r, const abut_tree *object, int body, int32_t *row, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "material");
    *row = body ? 0 : -1;
    if (t) return abut_read_scene_material(r, t, row, err);
    if (!body || r->scene->nmaterials == 1) return ABUT_OK;
    return abut_tree_fail_key(object, err, "object '%s' names no material, and there are %d", object->key,
                              r->scene->nmaterials);
}

static abut_status read_mu(const abut_tree *object, int *has, double *mu, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "mu");
    if (!t) return ABUT_OK;
    *has = 1;
    const abut_status rc = abut_tree_real(t, "mu", ABUT_Q_PURE, mu, NULL, err);
    if (rc || *mu >= 0) return rc;
    return abut_tree_fail(t, err, "mu is %g: expected 0 or more", *mu);
}

static abut_status read_plane(const abut_scene_reader *r, const abut_tree *t, abut_scene_plane *p, abut_err *err)
{
    static const char *const keys[] = { "half-space", "material", "mu", NULL }, *const own[] = { "point", "normal", NULL };
    const abut_tree *h = abut_tree_find(t, "half-space");
    abut_status rc = abut_tree_keys(t, "half-space object", keys, err);
    if (!rc) rc = abut_tree_keys(h, "half-space", own, err);
    if (!rc) rc = abut_scene_name(t, p->name, err);
    if (rc) return rc;
    const abut_tree *point = abut_tree_find(h, "point"), *normal = abut_tree_find(h, "normal");
    if (!normal) return abut_tree_fail(h, err, "expected {point: [x, y, z], normal: [x, y, z]}");
    abut_scene_from(t, p->from);
    if (point) rc = abut_tree_vector(point, "point", ABUT_Q_LENGTH, 3, p->point, err);
    if (!rc) rc = abut_tree_vector(normal, "normal", ABUT_Q_PURE, 3, p->normal, err);
    const double n = abut_tree_norm(p->normal, 3);
    if (!rc && !(n > 0)) rc = abut_tree_fail(normal, err, "normal: expected a vector that is not zero");
    for (int k = 0; k < 3; k++) p->normal[k] /= n;
    if (!rc) rc = find_material(r, t, 0, &p->material, err);
    return rc ? rc : read_mu(t, &p->has_mu, &p->mu, err);
}

static abut_status read_velocity(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, "velocity"), *w = abut_tree_find(t, "angular-velocity");
    const abut_tree *center = abut_tree_find(t, "center");
    abut_status rc = ABUT_OK;
    if (v) rc = abut_tree_vector(v, "velocity", ABUT_Q_SPEED, 3, o->velocity, err);
    if (!rc && w) rc = abut_scene_axis(w, "rate", ABUT_Q_RATE, o->spin, err);
    if (!rc && w && !center) center = abut_tree_find(w, "center");
    if (!rc && center && !w) rc = abut_tree_fail_key(center, err, "center without angular-velocity");
    if (!rc && center) {
        rc = abut_tree_vector(center, "center", ABUT_Q_LENGTH, 3, o->center, err);
        o->has_center = 1;
    }
    return rc;
}

/* An equilibrium has no velocity to start with; obstacles move as the scene says. */
static abut_status check_velocity(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *v = abut_tree_find(t, "velocity"), *w = abut_tree_find(t, "angular-velocity");
    if (o->obstacle || (!v && !w) || r->scene->scheme != ABUT_QUASI_STATIC) return ABUT_OK;
    return abut_tree_fail_key(v ? v : w, err, "a body without inertia has no velocity: expected a motion, or another time.scheme "
                              "than quasi-static");
}

static abut_status read_fill(const abut_tree *t, abut_scene_object *o, abut_err *err)
{
    static const char *const keys[] = { "max-volume", "keep-surface", NULL };
    const abut_tree *fill = abut_tree_find(t, "tetrahedralize");
    if (!fill) return ABUT_OK;
    abut_status rc = abut_tree_keys(fill, "tetrahedralize", keys, err);
    const abut_tree *most = rc ? NULL : abut_tree_find(fill, "max-volume");
    if (!rc && !most) rc = abut_tree_fail(fill, err, "tetrahedralize: expected {max-volume: number (m^3)}");
    if (!rc) rc = abut_tree_positive(most, "max-volume", ABUT_Q_VOLUME, &o->max_volume, NULL, err);
    const abut_tree *keep = rc ? NULL : abut_tree_find(fill, "keep-surface");
    if (keep) rc = abut_tree_flag(keep, "keep-surface", &o->keep_surface, err);
    if (!rc && o->obstacle) rc = abut_tree_fail_key(fill, err, "tetrahedralize: an obstacle needs no inside");
    if (!rc && (o->mesh.nt || !o->mesh.nf || o->mesh.ns || o->mesh.np))
        rc = abut_tree_fail_key(
            fill, err,
            "tetrahedralize: expected a mesh of triangles alone, this one has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
            o->mesh.nt, abut_s(o->mesh.nt), o->mesh.nf, abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np,
            abut_s(o->mesh.np));
    return rc;
}

/* An isotropic shell is of a model that is known in plane stress. */
static abut_status check_shell(const abut_scene_reader *r, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    const abut_tree *shell = abut_tree_find(t, "shell");
    const abut_scene_material *m = &r->scene->material[o->material];
    char list[200];
    if (!shell || m->membrane != ABUT_MEMBRANE_ISOTROPIC || abut_material_is(m->model, ABUT_MATERIAL_PLANE)) return ABUT_OK;
    return abut_tree_fail_key(shell, err, "shell of material '%s', which is %s: expected %s, or an orthotropic membrane", m->name,
                              abut_material_names[m->model], abut_materials_with(ABUT_MATERIAL_PLANE, list, sizeof list));
}

/* "wall.3": the name of a copy; no other object may have it. */
static abut_status name_copy(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o, abut_err *err)
{
    char number[16];
    const size_t n = strlen(o->name), k = (size_t)snprintf(number, sizeof number, ".%d", copy);
    if (n + k >= sizeof o->name)
        return abut_tree_fail_key(t, err, "'%s%s' is a name of %zu letter%s: expected less than %zu", o->name, number, n + k,
                                  abut_s(n + k), sizeof o->name);
    memcpy(o->name + n, number, k + 1);
    const abut_tree *other = abut_tree_find(abut_tree_find(r->root, "objects"), o->name);
    return other ? abut_tree_fail_key(other, err, "object '%s': a copy of '%s' has this name, too (repeat)", o->name, t->key)
                 : ABUT_OK;
}

/* copy: of an object whose copies are objects; -1: it is one. */
static abut_status read_object(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "object", BODY_KEYS, err);
    if (!rc) rc = abut_scene_name(t, o->name, err);
    if (!rc && copy >= 0) rc = name_copy(r, t, copy, o, err);
    if (rc) return rc;
    const abut_tree *obstacle = abut_tree_find(t, "obstacle");
    abut_scene_from(t, o->from);
    if (obstacle) rc = abut_tree_flag(obstacle, "obstacle", &o->obstacle, err);
    const abut_tree *fit = rc ? NULL : abut_tree_find(t, "fit");
    int is_fitted = 1;
    if (fit) rc = abut_tree_flag(fit, "fit", &is_fitted, err);
    o->in_place = !is_fitted;
    if (!rc) rc = find_material(r, t, !o->obstacle, &o->material, err);
    if (!rc) rc = read_mu(t, &o->has_mu, &o->mu, err);
    if (!rc) rc = read_velocity(t, o, err);
    if (!rc) rc = check_velocity(r, t, o, err);
    if (!rc) rc = abut_scene_codim(t, o, err);
    if (!rc) rc = check_shell(r, t, o, err);
    if (!rc) rc = abut_scene_order_keys(r, t, &o->order, err);
    if (!rc) rc = abut_scene_mesh(r, t, copy < 0 ? 0 : copy, o, err);
    if (!rc) rc = read_fill(t, o, err);
    if (!rc) rc = abut_scene_read_proxy(r, t, copy < 0 ? 0 : copy, o, err);
    return rc ? rc : abut_scene_read_frame(t, o, err);
}

/* Sums over all objects read so far. */
typedef struct total {
    double points, elements;
} total;

/* The object, or all objects that its `repeat` makes of it, at the rows from *row. */
static abut_status read_copies(const abut_scene_reader *r, const abut_tree *t, abut_scene_object *object, int32_t *row,
                               total *all, abut_err *err)
{
    int32_t n;
    abut_status rc = abut_scene_copies(t, &n, err);
    for (int32_t i = 0; i < (n ? n : 1) && !rc; i++) {
        abut_scene_object *o = &object[(*row)++];
        rc = read_object(r, t, n ? i : -1, o, err);
        if (rc) break;
        all->points += o->mesh.nv;
        all->elements += abut_mesh_elements(&o->mesh);
        rc = abut_scene_placed(t, abut_mesh_bound(all->points, all->elements, "all objects up to this one", err), err);
    }
    return rc;
}

abut_status abut_scene_objects(abut_scene_reader *r, const abut_tree *objects, abut_err *err)
{
    abut_scene *s = r->scene;
    int32_t body = 0, plane = 0;
    total all = { 0, 0 };
    abut_status rc = ABUT_OK;
    for (const abut_tree *c = objects->child; c && !rc; c = c->next) {
        if (c->kind != ABUT_TREE_MAP)
            return abut_tree_fail_kind(c, c->key, err, "a map, {mesh: ball.msh} or {generate: {sphere: {radius: 1, cells: 8}}}");
        if (abut_tree_find(c, "half-space")) rc = read_plane(r, c, &s->plane[plane++], err);
        else rc = read_copies(r, c, s->object, &body, &all, err);
    }
    return rc;
}
