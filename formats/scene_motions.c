#include "formats/scene_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status read_box(const abut_tree *t, const char *what, abut_quantity q, double lo[3], double hi[3], abut_err *err)
{
    if (t->kind != ABUT_TREE_LIST || t->n != 2)
        return abut_tree_fail(t, err, "%s: expected [[x, y, z], [x, y, z]], the smallest and the largest corner", what);
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

static abut_status read_conditions(const scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    static const char *const keys[] = { "object", "box", "relative-box", "sphere", "surface", NULL };
    abut_status rc = abut_tree_keys(t, "select", keys, err);
    if (rc) return rc;
    const abut_tree *object = abut_tree_find(t, "object"), *box = abut_tree_find(t, "box");
    const abut_tree *relative = abut_tree_find(t, "relative-box"), *sphere = abut_tree_find(t, "sphere");
    const abut_tree *surface = abut_tree_find(t, "surface");
    s->object = -1;
    if (object) rc = scene_find(r, object, 0, &s->object, err);
    if (!rc && box) rc = read_box(box, "box", ABUT_Q_LENGTH, s->lo, s->hi, err);
    if (!rc && relative) rc = read_box(relative, "relative-box", ABUT_Q_PURE, s->rlo, s->rhi, err);
    if (!rc && sphere) rc = read_sphere(sphere, s, err);
    if (!rc && surface) rc = abut_tree_flag(surface, "surface", &s->on_surface, err);
    s->in_box = box != NULL;
    s->in_relative_box = relative != NULL;
    return rc;
}

/* A map of conditions, or the name of one in `selections`. */
static abut_status read_select(const scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
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

/* until: {gap: length, to: object}, of a motion that only translates. */
static abut_status read_stop(const scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const keys[] = { "gap", "to", NULL };
    abut_status rc = abut_tree_keys(t, "until", keys, err);
    if (rc) return rc;
    const abut_tree *gap = abut_tree_find(t, "gap"), *to = abut_tree_find(t, "to");
    const double *v = m->linear, *w = m->angular;
    if (!gap || !to) return abut_tree_fail(t, err, "until: expected a time, or {gap: length, to: name}");
    if (m->act != ABUT_ACT_MOVE || w[0] != 0 || w[1] != 0 || w[2] != 0 || (v[0] == 0 && v[1] == 0 && v[2] == 0))
        return abut_tree_fail(t, err, "until a gap: expected a motion with 'translate' alone");
    m->stops = 1;
    scene_from(gap, m->gap.from);
    rc = abut_tree_real(gap, "gap", ABUT_Q_LENGTH_OR_L, &m->gap.value, &m->gap.per_length, err);
    return rc ? rc : scene_find(r, to, 0, &m->to, err);
}

/* After the act. */
static abut_status read_window(const scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *from = abut_tree_find(t, "from"), *until = abut_tree_find(t, "until");
    abut_status rc = ABUT_OK;
    double *window = m->window;
    window[0] = 0;
    window[1] = INFINITY;
    if (from) rc = abut_tree_real(from, "from", ABUT_Q_TIME, &window[0], NULL, err);
    if (!rc && until && until->kind == ABUT_TREE_MAP) return read_stop(r, until, m, err);
    if (!rc && until) rc = abut_tree_real(until, "until", ABUT_Q_TIME, &window[1], NULL, err);
    if (!rc && !(window[0] < window[1]))
        rc = abut_tree_fail(until ? until : from, err, "active from %g s until %g s: expected the start first", window[0],
                            window[1]);
    return rc;
}

static abut_status read_act(const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *translate = abut_tree_find(t, "translate"), *rotate = abut_tree_find(t, "rotate");
    const abut_tree *fix = abut_tree_find(t, "fix"), *force = abut_tree_find(t, "force");
    const abut_tree *accelerate = abut_tree_find(t, "acceleration");
    int yes = 1;
    const int ways = (translate || rotate) + (fix != NULL) + (force != NULL) + (accelerate != NULL);
    if (ways != 1)
        return abut_tree_fail(t, err, "a motion: expected one of translate and rotate, fix, acceleration, force; found %d",
                              ways);
    abut_status rc = ABUT_OK;
    if (fix) rc = abut_tree_flag(fix, "fix", &yes, err);
    if (!rc && !yes) rc = abut_tree_fail(fix, err, "fix: expected true");
    if (!rc && translate) rc = abut_tree_vector(translate, "translate", ABUT_Q_SPEED, 3, m->linear, err);
    if (!rc && rotate) rc = scene_axis(rotate, "rate", ABUT_Q_RATE, m->angular, err);
    const abut_tree *center = !rc && rotate ? abut_tree_find(rotate, "center") : NULL;
    if (center) rc = abut_tree_vector(center, "center", ABUT_Q_LENGTH, 3, m->center, err), m->has_center = 1;
    if (!rc && force) rc = abut_tree_vector(force, "force", ABUT_Q_FORCE, 3, m->linear, err), m->act = ABUT_ACT_FORCE;
    if (!rc && accelerate)
        rc = abut_tree_vector(accelerate, "acceleration", ABUT_Q_ACCELERATION, 3, m->linear, err),
        m->act = ABUT_ACT_ACCELERATE;
    return rc;
}

static abut_status read_motion(const scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const keys[] = { "select", "translate", "rotate", "fix", "acceleration", "force", "from", "until",
                                        NULL };
    abut_status rc = abut_tree_keys(t, "motion", keys, err);
    if (rc) return rc;
    const abut_tree *select = abut_tree_find(t, "select");
    if (!select) return abut_tree_fail(t, err, "motion: 'select' is missing");
    scene_from(t, m->from);
    rc = read_select(r, select, &m->select, err);
    if (!rc) rc = read_act(t, m, err);
    return rc ? rc : read_window(r, t, m, err);
}

abut_status scene_motions(scene_reader *r, const abut_tree *motion, abut_err *err)
{
    const abut_tree *named = abut_tree_find(r->root, "selections");
    abut_status rc = ABUT_OK;
    abut_scene_select unused = { 0 };
    int32_t i = 0;
    if (named && named->kind != ABUT_TREE_MAP) return abut_tree_fail(named, err, "selections: expected a map of names");
    for (const abut_tree *c = named ? named->child : NULL; c && !rc; c = c->next)
        rc = read_conditions(r, c, &unused, err);
    for (const abut_tree *c = motion ? motion->child : NULL; c && !rc; c = c->next, i++)
        rc = read_motion(r, c, &r->scene->motion[i], err);
    return rc;
}
