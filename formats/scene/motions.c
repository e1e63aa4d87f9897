/* Motions, loads and attachments of a scene, and the selections of nodes that they act on. */
#include "formats/scene/scene_parts.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- selections ---- */

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

/* ---- the factor of a load: `ramp`, or `factor` with its times and values ---- */

static abut_status new_table(int32_t n, abut_scene_table *out, abut_err *err)
{
    out->time = malloc((size_t)n * sizeof *out->time);
    out->value = malloc((size_t)n * sizeof *out->value);
    if (!out->time || !out->value) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d times", n);
    out->n = n;
    return ABUT_OK;
}

static abut_status read_table(const abut_tree *t, abut_scene_table *out, abut_err *err)
{
    abut_status rc = abut_scene_need(t, (const char *const[]){ "times", "values", NULL }, err);
    if (rc) return rc;
    const abut_tree *times = abut_tree_find(t, "times"), *values = abut_tree_find(t, "values");
    const abut_tree *const list[2] = { times, values };
    for (int k = 0; k < 2; k++)
        if (list[k]->kind != ABUT_TREE_LIST || !list[k]->n)
            return abut_tree_fail(list[k], err, "%s: expected a list of one number or more", k ? "values" : "times");
    if (times->n != values->n)
        return abut_tree_fail(values, err, "values: %d for %d times: expected as many", values->n, times->n);
    rc = new_table(times->n, out, err);
    int32_t i = 0;
    for (const abut_tree *a = times->child, *b = values->child; a && !rc; a = a->next, b = b->next, i++) {
        rc = abut_tree_not_negative(a, "times", ABUT_Q_TIME, &out->time[i], err);
        if (!rc) rc = abut_tree_real(b, "values", ABUT_Q_PURE, &out->value[i], NULL, err);
        if (!rc && i && !(out->time[i] > out->time[i - 1]))
            rc = abut_tree_fail(a, err, "times: %g s after %g s: expected ascending times", out->time[i], out->time[i - 1]);
    }
    return rc;
}

abut_status abut_scene_factor(const abut_tree *map, abut_scene_table *out, abut_err *err)
{
    const abut_tree *ramp = abut_tree_find(map, "ramp"), *factor = abut_tree_find(map, "factor");
    if (ramp && factor) return abut_tree_fail_key(factor, err, "factor: expected one of ramp and factor");
    if (factor) return read_table(factor, out, err);
    if (!ramp) return ABUT_OK;
    abut_status rc = new_table(2, out, err);
    if (!rc) rc = abut_tree_positive(ramp, "ramp", ABUT_Q_TIME, &out->time[1], NULL, err);
    if (!rc) out->time[0] = out->value[0] = 0, out->value[1] = 1;
    return rc;
}

/* ---- when a motion ends ---- */

/* Reads the place at which a motion that only translates stops. */
static abut_status read_place_of_stop(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *gap = abut_tree_find(t, "gap"), *to = abut_tree_find(t, "to"), *past = abut_tree_find(t, "past");
    const abut_tree *share = abut_tree_find(t, "share"), *at = abut_tree_find(t, "coordinate");
    const double *v = m->linear, *w = m->angular, *g = m->scale;
    const int axes = (v[0] != 0) + (v[1] != 0) + (v[2] != 0);
    abut_status rc = ABUT_OK;
    if (m->act != ABUT_ACT_MOVE || w[0] != 0 || w[1] != 0 || w[2] != 0 || g[0] != 0 || g[1] != 0 || g[2] != 0 || !axes)
        return abut_tree_fail(t, err, "until: a motion that ends at a place has to be 'translate' alone; found another");
    if (gap && to) {
        m->stop = ABUT_STOP_GAP;
        rc = abut_tree_real(gap, "gap", ABUT_Q_LENGTH_OR_L, &m->gap.value, &m->gap.per_length, err);
        return rc ? rc : abut_scene_find(r, to, 0, &m->to, err);
    }
    if (past) {
        m->stop = ABUT_STOP_PAST;
        m->gap.value = 1;
        if (share) rc = abut_tree_positive(share, "share", ABUT_Q_PURE, &m->gap.value, NULL, err);
        return rc ? rc : abut_scene_find(r, past, 0, &m->to, err);
    }
    if (axes != 1) return abut_tree_fail(t, err, "until a coordinate: expected 'translate' along one axis");
    m->stop = ABUT_STOP_AT;
    return abut_tree_real(at, "coordinate", ABUT_Q_LENGTH, &m->gap.value, NULL, err);
}

/* until: a map. */
static abut_status read_stop(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const keys[] = { "gap", "to", "past", "share", "coordinate", "motion", NULL };
    const abut_status rc = abut_tree_keys(t, "until", keys, err);
    if (rc) return rc;
    const int gap = abut_tree_find(t, "gap") && abut_tree_find(t, "to"), past = abut_tree_find(t, "past") != NULL;
    const abut_tree *with = abut_tree_find(t, "motion");
    const int at = abut_tree_find(t, "coordinate") != NULL, used = gap ? 2 : past ? 1 + (abut_tree_find(t, "share") != NULL) : 1;
    if (gap + past + at + (with != NULL) != 1 || t->n != used)
        return abut_tree_fail(t, err, "until: expected a time, or {gap: length, to: name}, {past: name, share: number}, "
                              "{coordinate: length} or {motion: number}");
    abut_scene_from(t->child, m->gap.from);
    if (!with) return read_place_of_stop(r, t, m, err);
    const int32_t own = (int32_t)(m - r->scene->motion);
    m->stop = ABUT_STOP_WITH;
    if (own == 0) return abut_tree_fail(with, err, "motion: no motion comes before this one");
    return abut_tree_int(with, "motion (one before this one)", 0, own - 1, &m->to, err);
}

/* Reads the window of a motion; after its act. */
static abut_status read_window(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
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
        rc = abut_tree_fail(until ? until : from, err, "from %g s until %g s: expected 'from' before 'until'", window[0],
                            window[1]);
    return rc;
}

/* ---- what the nodes do ---- */

static abut_status read_center(const abut_tree *map, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *t = map ? abut_tree_find(map, "center") : NULL;
    if (!t) return ABUT_OK;
    if (m->has_center) return abut_tree_fail_key(t, err, "center: given twice: rotate and scale have the same centre");
    m->has_center = 1;
    m->center_of_box = t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "box");
    if (m->center_of_box) return ABUT_OK;
    return abut_tree_vector(t, "center", ABUT_Q_LENGTH, 3, m->center, err);
}

/* Reads one number for all axes, or three. */
static abut_status one_or_three(const abut_tree *t, const char *what, abut_quantity q, double out[3], abut_err *err)
{
    if (t->kind == ABUT_TREE_LIST) return abut_tree_vector(t, what, q, 3, out, err);
    const abut_status rc = abut_tree_real(t, what, q, out, NULL, err);
    out[1] = out[2] = out[0];
    return rc;
}

/* Velocities: translate, rotate, scale, any of them together. */
static abut_status read_velocities(const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *translate = abut_tree_find(t, "translate"), *rotate = abut_tree_find(t, "rotate");
    const abut_tree *scale = abut_tree_find(t, "scale");
    abut_status rc = ABUT_OK;
    if (translate) rc = abut_tree_vector(translate, "translate", ABUT_Q_SPEED, 3, m->linear, err);
    if (!rc && rotate) rc = abut_scene_axis(rotate, "rate", ABUT_Q_RATE, m->angular, err);
    if (!rc) rc = read_center(rotate, m, err);
    if (rc || !scale) return rc;
    rc = abut_tree_keys(scale, "scale", (const char *const[]){ "rate", "center", NULL }, err);
    const abut_tree *rate = rc ? NULL : abut_tree_find(scale, "rate");
    if (!rc && !rate) rc = abut_tree_fail(scale, err, "scale: expected {rate: number or three (1/s), center: [x, y, z]}");
    if (!rc) rc = one_or_three(rate, "rate", ABUT_Q_PER_TIME, m->scale, err);
    if (!rc) rc = read_center(scale, m, err);
    if (!rc && rotate && (m->scale[0] != m->scale[1] || m->scale[0] != m->scale[2]))
        rc = abut_tree_fail(rate, err, "scale: three rates together with rotate: expected one, since the axes rotate, too");
    return rc;
}

static void quaternion_of(const double R[9], double q[4])
{
    /* the largest of w^2, x^2, y^2, z^2 first, so that nothing small is divided by (Shepperd 1978) */
    const double square[4] = { 1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8] };
    int i = 0;
    for (int k = 1; k < 4; k++) i = square[k] > square[i] ? k : i;
    const double a = R[7] - R[5], b = R[2] - R[6], c = R[3] - R[1], d = R[1] + R[3], e = R[2] + R[6], f = R[5] + R[7];
    const double row[4][4] = { { square[0], a, b, c }, { a, square[1], d, e }, { b, d, square[2], f }, { c, e, f, square[3] } };
    double n = 0;
    for (int k = 0; k < 4; k++) n += row[i][k] * row[i][k];
    for (int k = 0; k < 4; k++) q[k] = row[i][k] / sqrt(n);
}

static abut_status read_quaternion(const abut_tree *t, double q[4], abut_err *err)
{
    const abut_status rc = abut_tree_vector(t, "quaternion", ABUT_Q_PURE, 4, q, err);
    const double n = abut_tree_norm(q, 4);
    if (!rc && !(n > 0)) return abut_tree_fail(t, err, "quaternion: expected four numbers [w, x, y, z] that are not all 0");
    for (int k = 0; k < 4; k++) q[k] /= n;
    return rc;
}

/* The rotation vector of a key that says one axis and angle; anything else has none, and none is zero. */
static int single_rotation(const abut_tree *rotate, double w[3])
{
    w[0] = w[1] = w[2] = 0;
    return !rotate || (rotate->kind == ABUT_TREE_MAP && !abut_scene_axis(rotate, "angle", ABUT_Q_ANGLE, w, NULL));
}

/* 180 degrees between two keys have two directions, and more would take the shorter one: neither is what is meant. */
static abut_status check_rotation(const abut_tree *t, const abut_tree *before, const double q0[4], const double q1[4],
                                  abut_err *err)
{
    static const double half_turn = 3.141592653589793;
    const abut_tree *r0 = before ? abut_tree_find(before, "rotate") : NULL, *r1 = abut_tree_find(t, "rotate");
    double w0[3], w1[3], difference2 = 0, cross2 = 0;
    const double dot = q0[0] * q1[0] + q0[1] * q1[1] + q0[2] * q1[2] + q0[3] * q1[3];
    int long_way = fabs(dot) < 1e-9;
    if (!(before && abut_tree_find(before, "quaternion")) && !abut_tree_find(t, "quaternion") && single_rotation(r0, w0) &&
        single_rotation(r1, w1)) {
        for (int k = 0; k < 3; k++) {
            const double c = w0[(k + 1) % 3] * w1[(k + 2) % 3] - w0[(k + 2) % 3] * w1[(k + 1) % 3];
            difference2 += (w1[k] - w0[k]) * (w1[k] - w0[k]);
            cross2 += c * c;
        }
        long_way |= cross2 < 1e-18 && sqrt(difference2) > half_turn * (1 - 1e-9);     /* the same axis */
    }
    if (!long_way) return ABUT_OK;
    return abut_tree_fail(t, err, "rotate: 180 degrees or more since the last keyframe: expected less; put one in between");
}

static abut_status read_pose(const abut_tree *t, abut_scene_pose *k, abut_err *err)
{
    static const char *const keys[] = { "time", "translate", "rotate", "quaternion", "scale", NULL };
    double R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    abut_status rc = abut_tree_keys(t, "keyframe", keys, err);
    if (rc) return rc;
    const abut_tree *time = abut_tree_find(t, "time"), *translate = abut_tree_find(t, "translate");
    const abut_tree *rotate = abut_tree_find(t, "rotate"), *quaternion = abut_tree_find(t, "quaternion");
    const abut_tree *scale = abut_tree_find(t, "scale");
    *k = (abut_scene_pose){ .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
    if (!time) return abut_tree_fail(t, err, "keyframe: 'time' is missing");
    if (rotate && quaternion) return abut_tree_fail(t, err, "keyframe: expected one of rotate and quaternion");
    rc = abut_tree_real(time, "time", ABUT_Q_TIME, &k->time, NULL, err);
    if (!rc && translate) rc = abut_tree_vector(translate, "translate", ABUT_Q_LENGTH, 3, k->shift, err);
    if (!rc && rotate) rc = abut_scene_rotation(rotate, R, err);
    if (!rc && rotate) quaternion_of(R, k->rotation);
    if (!rc && quaternion) rc = read_quaternion(quaternion, k->rotation, err);
    if (!rc && scale) rc = one_or_three(scale, "scale", ABUT_Q_PURE, k->scale, err);
    for (int i = 0; i < 3 && !rc; i++)
        if (!(k->scale[i] > 0)) rc = abut_tree_fail(scale, err, "scale is %g: expected more than 0", k->scale[i]);
    return rc;
}

static int is_start(const abut_scene_pose *k)
{
    int same = fabs(k->rotation[0]) == 1;
    for (int i = 0; i < 3; i++) same &= k->shift[i] == 0 && k->scale[i] == 1;
    return same;
}

/* Poses at ascending times after 0; at 0 the nodes are where they are. */
static abut_status read_keyframes(const abut_tree *t, const abut_tree *motion, abut_scene_motion *m, abut_err *err)
{
    const abut_status is_list = abut_tree_list(t, "keyframes", -1, "{time: 1 s, translate: [0, 1, 0]}", err);
    if (is_list) return is_list;
    m->act = ABUT_ACT_KEYS;
    m->pose = malloc(((size_t)t->n + 1) * sizeof *m->pose);
    if (!m->pose) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d keyframes", t->n);
    m->pose[m->nposes++] = (abut_scene_pose){ .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
    const abut_tree *before = NULL;
    for (const abut_tree *c = t->child; c; before = c, c = c->next) {
        abut_scene_pose *k = &m->pose[m->nposes];
        abut_status rc = read_pose(c, k, err);
        if (rc) return rc;
        if (k->time == 0 && m->nposes == 1 && !before) {
            if (!is_start(k))
                return abut_tree_fail(c, err, "a keyframe at 0 s: the nodes are then where they are: expected nothing but its "
                                      "time");
            continue;
        }
        if (!(k->time > k[-1].time))
            return abut_tree_fail(c, err, "a keyframe at %g s, after one at %g s: expected ascending times", k->time, k[-1].time);
        rc = check_rotation(c, before, k[-1].rotation, k->rotation, err);
        if (rc) return rc;
        m->nposes++;
    }
    return m->nposes > 1 ? read_center(motion, m, err) : abut_tree_fail(t, err, "keyframes: expected one after 0 s");
}

/* Files say where the points of a mesh are; they are placed as the mesh itself was. */
static abut_status read_positions(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const moved[] = { "origin", "unit-size", "repeat", "tetrahedralize" };
    double A[9], b[3];
    m->act = ABUT_ACT_PATH;
    if (m->select.object < 0) return abut_tree_fail_key(t, err, "sequence: moves points of one mesh: expected 'object' in "
                                                        "select");
    abut_scene_object *o = &r->scene->object[m->select.object];
    const abut_tree *object = abut_tree_find(abut_tree_find(r->root, "objects"), o->name);
    for (int i = 0; i < 4; i++)
        if (abut_tree_find(object, moved[i]))
            return abut_tree_fail_key(t, err, "sequence: the points of object '%s' are not those of its file, because of '%s'",
                                      o->name,
                                      moved[i]);
    abut_status rc = abut_scene_placement(object, A, b, err);
    if (!rc) rc = abut_read_scene_path(r, t, &o->mesh, &m->path, err);
    if (!rc && m->path.time[m->path.n - 1] == 0)
        rc = abut_tree_fail_key(t, err, "sequence: one mesh, at 0 s, moves nothing: expected a mesh at a later time");
    if (!rc) abut_scene_path_transform(&m->path, o->mesh.nv, A, b);
    return rc;
}

/* Loads: a key, what it measures, its quantity. */
static const struct push {
    const char *key;
    int act, numbers;
    abut_quantity q;
} PUSH[] = {
    { "acceleration", ABUT_ACT_ACCELERATE, 3, ABUT_Q_ACCELERATION }, { "force", ABUT_ACT_FORCE, 3, ABUT_Q_FORCE },
    { "force-density", ABUT_ACT_DENSITY, 3, ABUT_Q_FORCE_DENSITY },  { "traction", ABUT_ACT_TRACTION, 3, ABUT_Q_PRESSURE },
    { "pressure", ABUT_ACT_PRESSURE, 1, ABUT_Q_PRESSURE },
};
enum { PUSHES = sizeof PUSH / sizeof *PUSH };

static abut_status read_push(const abut_tree *t, const struct push *p, abut_scene_motion *m, abut_err *err)
{
    m->act = p->act;
    return p->numbers == 1 ? abut_tree_real(t, p->key, p->q, m->linear, NULL, err)
                           : abut_tree_vector(t, p->key, p->q, p->numbers, m->linear, err);
}

static abut_status read_act(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *fix = abut_tree_find(t, "fix"), *keys = abut_tree_find(t, "keyframes"), *pushed = NULL;
    const abut_tree *sequence = abut_tree_find(t, "sequence"), *center = abut_tree_find(t, "center");
    const int has_rates = abut_tree_find(t, "translate") || abut_tree_find(t, "rotate") || abut_tree_find(t, "scale");
    int acts = has_rates + (fix != NULL) + (keys != NULL) + (sequence != NULL), push = 0, yes = 1;
    for (int i = 0; i < PUSHES; i++) {
        const abut_tree *found = abut_tree_find(t, PUSH[i].key);
        if (found) pushed = found, push = i, acts++;
    }
    if (acts != 1)
        return abut_tree_fail(t, err, "a motion: expected one of translate and rotate and scale, keyframes, sequence, fix, "
                              "acceleration, force, force-density, traction, pressure; found %d", acts);
    if (center && !keys) return abut_tree_fail_key(center, err, "center: of keyframes; rotate and scale have their own");
    if (keys) return read_keyframes(keys, t, m, err);
    if (sequence) return read_positions(r, sequence, m, err);
    if (has_rates) return read_velocities(t, m, err);
    if (pushed) return read_push(pushed, &PUSH[push], m, err);
    const abut_status rc = abut_tree_flag(fix, "fix", &yes, err);
    return rc || yes ? rc : abut_tree_fail(fix, err, "fix: expected true");
}

/* Reads the keys that only some motions have. */
static abut_status read_options(const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const names[] = { "linear", "smooth", NULL };
    const abut_tree *hold = abut_tree_find(t, "hold"), *rule = abut_tree_find(t, "interpolation");
    const abut_tree *until = abut_tree_find(t, "until"), *ramp = abut_tree_find(t, "ramp");
    const abut_tree *varies = ramp ? ramp : abut_tree_find(t, "factor");
    const int keys = m->act == ABUT_ACT_KEYS || m->act == ABUT_ACT_PATH;
    if (until && keys) return abut_tree_fail_key(until, err, "until: the last key ends the motion");
    if (varies && abut_act_moves(m->act))
        return abut_tree_fail_key(varies, err, "%s: of a load: expected acceleration, force, force-density, traction or pressure",
                                  varies->key);
    if (rule && !keys && !varies)
        return abut_tree_fail_key(rule, err, "interpolation: of keyframes, sequences and loads that change in time");
    if (hold && !abut_act_moves(m->act))
        return abut_tree_fail_key(hold, err, "hold: a force holds nothing: expected a prescribed motion");
    if (hold && !keys && !until) return abut_tree_fail_key(hold, err, "hold: the motion never ends: expected 'until'");
    abut_status rc = hold ? abut_tree_flag(hold, "hold", &m->hold, err) : ABUT_OK;
    if (!rc) rc = abut_scene_factor(t, &m->factor, err);
    if (!rc && rule) rc = abut_tree_choice(rule, "interpolation", names, &m->smooth, err);
    return rc;
}

static abut_status read_motion(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const keys[] = { "select", "translate", "rotate", "scale", "keyframes", "sequence", "interpolation",
                                       "center",
                                        "fix", "acceleration", "force", "force-density", "traction", "pressure", "ramp", "factor",
                                        "from", "until", "hold", NULL };
    abut_status rc = abut_tree_keys(t, "motion", keys, err);
    if (rc) return rc;
    const abut_tree *select = abut_tree_find(t, "select");
    if (!select) return abut_tree_fail(t, err, "motion: 'select' is missing");
    abut_scene_from(t, m->from);
    rc = abut_read_scene_select(r, select, &m->select, err);
    if (!rc) rc = read_act(r, t, m, err);
    if (!rc) rc = read_window(r, t, m, err);
    return rc ? rc : read_options(t, m, err);
}

abut_status abut_scene_motions(abut_scene_reader *r, const abut_tree *motion, abut_err *err)
{
    abut_status rc = ABUT_OK;
    int32_t i = 0;
    for (const abut_tree *c = motion ? motion->child : NULL; c && !rc; c = c->next, i++)
        rc = read_motion(r, c, &r->scene->motion[i], err);
    return rc;
}

/* ---- attachments ---- */

/* {object: name}, where it is nearest, or {point: [x, y, z]} */
static abut_status read_target(const abut_scene_reader *r, const abut_tree *t, abut_scene_attachment *a, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "to", (const char *const[]){ "object", "point", NULL }, err);
    const abut_tree *object = rc ? NULL : abut_tree_find(t, "object"), *point = rc ? NULL : abut_tree_find(t, "point");
    if (rc) return rc;
    if (!object == !point) return abut_tree_fail(t, err, "to: expected {object: name} or {point: [x, y, z]}");
    a->to = -1;
    return object ? abut_scene_find(r, object, 0, &a->to, err) : abut_tree_vector(point, "point", ABUT_Q_LENGTH, 3, a->point,
                                                                                  err);
}

static abut_status read_attachment(const abut_scene_reader *r, const abut_tree *t, abut_scene_attachment *a, abut_err *err)
{
    static const char *const keys[] = { "from", "to", "stiffness", "within", NULL };
    abut_status rc = abut_tree_keys(t, "attachment", keys, err);
    if (rc) return rc;
    const abut_tree *from = abut_tree_find(t, "from"), *to = abut_tree_find(t, "to"), *k = abut_tree_find(t, "stiffness");
    const abut_tree *within = abut_tree_find(t, "within");
    if (!from || !to || !k) return abut_tree_fail(t, err, "attachment: expected {from: conditions, to: {object: name} or "
                                                  "{point: [x, y, z]}, stiffness: number}");
    abut_scene_from(t, a->from);
    a->within = INFINITY;
    rc = abut_read_scene_select(r, from, &a->select, err);
    if (!rc) rc = read_target(r, to, a, err);
    if (!rc) rc = abut_tree_positive(k, "stiffness", ABUT_Q_STIFFNESS, &a->stiffness, NULL, err);
    if (!rc && within) rc = abut_tree_positive(within, "within", ABUT_Q_LENGTH, &a->within, NULL, err);
    if (rc || a->to < 0) return rc;
    if (a->select.object < 0) return abut_tree_fail(from, err, "from: expected one object, whose nodes are tied to another one");
    if (a->select.object == a->to)
        return abut_tree_fail(to, err, "to: object '%s' is tied to itself: expected another one", r->scene->object[a->to].name);
    return ABUT_OK;
}

abut_status abut_scene_attachments(abut_scene_reader *r, const abut_tree *attachments, abut_err *err)
{
    int32_t i = 0;
    if (!attachments) return ABUT_OK;
    static const char entry[] = "{from: {object: ball}, to: {object: wall}, stiffness: 10 N/m}";
    abut_status rc = abut_tree_list(attachments, "attachments", 0, entry, err);
    if (!rc) rc = abut_scene_reserve_attachments(r->scene, attachments->n, err);
    for (const abut_tree *c = attachments->child; c && !rc; c = c->next, i++)
        rc = read_attachment(r, c, &r->scene->attachment[i], err);
    return rc;
}
