/* Motions, loads, attachments and seams of a scene, and the selections of nodes that they act on. */
#include "formats/scene/keys.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- selections ---- */

/* Fails unless the first corner, low[3], is the smaller one along every axis. */
static abut_status check_box(const abut_tree *map, const char *key, double (*box)[3], abut_err *err)
{
    const abut_tree *t = abut_tree_find(map, key);
    for (int k = 0; k < 3; k++)
        if (t && box[0][k] > box[1][k])
            return abut_tree_fail(t, err, "%s: from %g to %g along axis %d: expected the smaller one first", key, box[0][k],
                                  box[1][k], k);
    return ABUT_OK;
}

static abut_status check_ends(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    double (*const axis)[3] = ((abut_scene_select *)to)->axis;
    (void)r;
    if (memcmp(axis[0], axis[1], sizeof axis[0]) != 0) return ABUT_OK;
    return abut_tree_fail(abut_tree_find(t, "axis"), err, "axis: twice the same point: expected two ends");
}

static abut_status check_normal(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r;
    return abut_scene_nonzero(abut_tree_find(t, "normal"), "normal", ((const abut_scene_select *)to)->normal, err);
}

/* Points of the object's mesh by number, from 0, each once.  After the object. */
static abut_status read_points(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_select *const s = to;
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
static abut_status read_objects(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_select *const s = to;
    if (t->kind == ABUT_TREE_TEXT) return abut_scene_find_object(r, t, 0, &s->object, err);
    if (t->kind == ABUT_TREE_MAP || !t->n)
        return abut_tree_fail_kind(t, "object", err, "a name, or a list of names, [ball, bar]");
    s->objects = malloc((size_t)t->n * sizeof *s->objects);
    if (!s->objects) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d objects", t->n);
    for (const abut_tree *c = t->child; c; c = c->next) {
        int32_t *const row = &s->objects[s->nobjects];
        const abut_status rc = abut_scene_find_object(r, c, 0, row, err);
        if (rc) return rc;
        for (int32_t i = 0; i < s->nobjects; i++)
            if (s->objects[i] == *row) return abut_tree_fail(c, err, "object: '%s' twice", c->text);
        s->nobjects++;
    }
    if (s->nobjects == 1) s->object = s->objects[0];
    return ABUT_OK;
}

static const abut_key SPHERE_KEYS[] = { { ABUT_NUMBER(abut_scene_select, "center", center, LENGTH, NULL) },
                                        { ABUT_NUMBER(abut_scene_select, "radius", radius, LENGTH, "(0,)") }, { 0 } };
static const abut_key HALF_KEYS[] = { { ABUT_NUMBER(abut_scene_select, "point", point, LENGTH, NULL) },
                                      { ABUT_NUMBER(abut_scene_select, "normal", normal, PURE, NULL) }, { 0 } };
static const abut_key CYLINDER_KEYS[] = { { ABUT_POINTS(abut_scene_select, "axis", axis, LENGTH) },
                                          { ABUT_NUMBER(abut_scene_select, "radius", axis_radius, LENGTH, "(0,)") }, { 0 } };
static const abut_keys SPHERE = { "sphere", NULL, SPHERE_KEYS, 2, "{center: [x, y, z], radius: number}" };
static const abut_keys HALF = { "half-space", NULL, HALF_KEYS, 2, "{point: [x, y, z], normal: [x, y, z]}" };
static const abut_keys CYLINDER = { "cylinder", NULL, CYLINDER_KEYS, 2, "{axis: [[x, y, z], [x, y, z]], radius: number}" };

#define CORNERS "[[x, y, z], [x, y, z]], the smallest and the largest corner"
#define WHOLE_OF(k, f, words) .name = k, .kind = ABUT_KEY_READ, .read = f, .form = words
static const abut_key SELECT_KEYS[] = {
    { WHOLE_OF("object", read_objects, "a name, or a list of names") },
    { ABUT_POINTS(abut_scene_select, "box", box, LENGTH), ABUT_HAS(abut_scene_select, in_box), .form = CORNERS },
    { ABUT_POINTS(abut_scene_select, "relative-box", relative, PURE), ABUT_HAS(abut_scene_select, in_relative_box),
      .form = CORNERS },
    { ABUT_MAP("sphere", &SPHERE), ABUT_HAS(abut_scene_select, in_sphere) },
    { ABUT_CHECKED("half-space", &HALF, check_normal), ABUT_HAS(abut_scene_select, in_half_space) },
    { ABUT_CHECKED("cylinder", &CYLINDER, check_ends), ABUT_HAS(abut_scene_select, in_cylinder) },
    { ABUT_FLAG(abut_scene_select, "surface", on_surface) },
    { WHOLE_OF("nodes", read_points, "a list of integers") },
    { 0 }
};
const abut_keys abut_scene_select_keys = { "select", NULL, SELECT_KEYS, 0, NULL };
static const abut_key SELECTION_KEYS[] = { { .name = "NAME", .kind = ABUT_KEY_LATER, .keys = &abut_scene_select_keys }, { 0 } };
const abut_keys abut_scene_selection_names = { .row = SELECTION_KEYS };

static abut_status read_conditions(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s, abut_err *err)
{
    s->object = -1;
    abut_scene_copy_place(t, s->from);
    abut_status rc = abut_keys_read(r, &abut_scene_select_keys, t, s, err);
    if (!rc) rc = check_box(t, "box", s->box, err);
    return rc ? rc : check_box(t, "relative-box", s->relative, err);
}

/* Reads a map of conditions, or the name of one in the root's `selections`. */
abut_status abut_scene_read_select(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    int32_t row;
    if (t->kind != ABUT_TREE_TEXT) return read_conditions(r, t, to, err);
    const abut_tree *all = abut_tree_find(r->root, "selections");
    const int n = all && all->kind == ABUT_TREE_MAP ? all->n : 0;
    const char **names = calloc((size_t)n + 1, sizeof *names);
    int i = 0;
    for (const abut_tree *c = n && names ? all->child : NULL; c; c = c->next) names[i++] = c->key;
    const abut_status rc = abut_scene_named(t, "selection", t->text, names, "a name in 'selections', or conditions {object: ..., "
                                            "box: ...}", &row, err);
    return rc ? rc : read_conditions(r, abut_tree_find(all, t->text), to, err);
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

static const abut_key FACTOR_KEYS[] = { { .name = "times", .kind = ABUT_KEY_LATER, .form = "[time, ...]" },
                                        { .name = "values", .kind = ABUT_KEY_LATER, .form = "[number, ...]" }, { 0 } };
const abut_keys abut_scene_factor_keys = { NULL, NULL, FACTOR_KEYS, 2, NULL };

static abut_status new_table(int32_t n, abut_scene_table *out, abut_err *err)
{
    if (!ABUT_ARRAYS(ABUT_ITEMS(out->time, n), ABUT_ITEMS(out->value, n)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d times", n);
    out->n = n;
    return ABUT_OK;
}

abut_status abut_scene_read_table(const abut_scene_reader *r, const abut_tree *t, abut_quantity q, abut_scene_table *out,
                                  abut_err *err)
{
    abut_status rc = abut_keys_read(r, &abut_scene_factor_keys, t, out, err);
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
        if (!rc) rc = abut_tree_real(b, "values", q, &out->value[i], NULL, err);
        if (!rc && i && !(out->time[i] > out->time[i - 1]))
            rc = abut_tree_fail(a, err, "times: %g s after %g s: expected ascending times", out->time[i], out->time[i - 1]);
    }
    return rc;
}

abut_status abut_scene_factor(const abut_scene_reader *r, const abut_tree *map, abut_scene_table *out, abut_err *err)
{
    const abut_tree *ramp = abut_tree_find(map, "ramp"), *factor = abut_tree_find(map, "factor");
    if (ramp && factor) return abut_tree_fail_key(factor, err, "factor: expected one of ramp and factor");
    if (factor) return abut_scene_read_table(r, factor, ABUT_Q_PURE, out, err);
    if (!ramp) return ABUT_OK;
    abut_status rc = new_table(2, out, err);
    if (!rc) rc = abut_tree_positive(ramp, "ramp", ABUT_Q_TIME, &out->time[1], NULL, err);
    if (!rc) out->time[0] = out->value[0] = 0, out->value[1] = 1;
    return rc;
}

/* ---- when a motion ends ---- */

typedef struct stop {
    const abut_tree *to, *past, *motion;
    abut_param gap;
    double share, at;
    int has_gap, has_share, has_at;
} stop;

static const abut_key STOP_KEYS[] = {
    { ABUT_NUMBER(stop, "gap", gap, LENGTH_OR_L, NULL), ABUT_HAS(stop, has_gap) },
    { ABUT_TREE(stop, "to", to), .form = "name" },
    { ABUT_TREE(stop, "past", past), .form = "name" },
    { ABUT_NUMBER(stop, "share", share, PURE, "(0,)"), ABUT_HAS(stop, has_share), .fallback = "1" },
    { ABUT_NUMBER(stop, "coordinate", at, LENGTH, NULL), ABUT_HAS(stop, has_at) },
    { ABUT_TREE(stop, "motion", motion), .form = "integer" },
    { 0 }
};
static const abut_keys STOP = { "until", NULL, STOP_KEYS, 0, NULL };

/* Reads the place at which a motion that only translates stops. */
static abut_status read_place_of_stop(const abut_scene_reader *r, const abut_tree *t, const stop *s, abut_scene_motion *m,
                                      abut_err *err)
{
    const double *v = m->linear, *w = m->angular, *g = m->scale;
    const int axes = (v[0] != 0) + (v[1] != 0) + (v[2] != 0);
    if (m->act != ABUT_ACT_MOVE || w[0] != 0 || w[1] != 0 || w[2] != 0 || g[0] != 0 || g[1] != 0 || g[2] != 0 || !axes)
        return abut_tree_fail(t, err, "until: a motion that ends at a place has to be 'translate' alone; found another");
    m->gap.value = s->has_gap ? s->gap.value : s->past ? s->has_share ? s->share : 1 : s->at;
    m->gap.per_length = s->has_gap ? s->gap.per_length : 0;
    m->stop = s->has_gap ? ABUT_STOP_GAP : s->past ? ABUT_STOP_PAST : ABUT_STOP_AT;
    if (s->to || s->past) return abut_scene_find_object(r, s->to ? s->to : s->past, 0, &m->to, err);
    return axes == 1 ? ABUT_OK : abut_tree_fail(t, err, "until a coordinate: expected 'translate' along one axis");
}

/* until: a map. */
static abut_status read_stop(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    stop s = { 0 };
    const abut_status rc = abut_keys_read(r, &STOP, t, &s, err);
    if (rc) return rc;
    const int gap = s.has_gap && s.to, past = s.past != NULL, used = gap ? 2 : past ? 1 + s.has_share : 1;
    if (gap + past + s.has_at + (s.motion != NULL) != 1 || t->n != used)
        return abut_tree_fail(t, err, "until: expected a time, or {gap: length, to: name}, {past: name, share: number}, "
                              "{coordinate: length} or {motion: number}");
    abut_scene_copy_place(t->child, m->gap.from);
    if (!s.motion) return read_place_of_stop(r, t, &s, m, err);
    const int32_t own = (int32_t)(m - r->scene->motion);
    m->stop = ABUT_STOP_WITH;
    if (own == 0) return abut_tree_fail(s.motion, err, "motion: no motion comes before this one");
    return abut_tree_int(s.motion, "motion (one before this one)", 0, own - 1, &m->to, err);
}

/* Checks the window of a motion, and reads an `until` that is no time; after its act. */
static abut_status read_window(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *from = abut_tree_find(t, "from"), *until = abut_tree_find(t, "until");
    double *window = m->window;
    window[1] = INFINITY;
    if (until && until->kind == ABUT_TREE_MAP) return read_stop(r, until, m, err);
    const abut_status rc = until ? abut_tree_real(until, "until", ABUT_Q_TIME, &window[1], NULL, err) : ABUT_OK;
    if (rc || window[0] < window[1]) return rc;
    return abut_tree_fail(until ? until : from, err, "from %g s until %g s: expected 'from' before 'until'", window[0],
                          window[1]);
}

/* ---- what the nodes do ---- */

/* A point, or `box`. */
static abut_status read_center(const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    if (!t) return ABUT_OK;
    if (m->has_center) return abut_tree_fail_key(t, err, "center: given twice: rotate and scale have the same centre");
    m->has_center = 1;
    m->center_of_box = t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "box");
    return m->center_of_box ? ABUT_OK : abut_tree_vector(t, "center", ABUT_Q_LENGTH, 3, m->center, err);
}

static const abut_key GROW_KEYS[] = {
    { .name = "rate", .kind = ABUT_KEY_AXES, .q = ABUT_Q_PER_TIME, ABUT_AT(abut_scene_motion, scale) },
    { .name = "center", .kind = ABUT_KEY_LATER, .form = "[x, y, z] or box" }, { 0 }
};
static const abut_keys GROW = { "scale", NULL, GROW_KEYS, 1, "{rate: number or three (1/s), center: [x, y, z]}" };

/* rotate and scale beside translate. */
static abut_status read_velocities(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *rotate = abut_tree_find(t, "rotate"), *scale = abut_tree_find(t, "scale"), *center = NULL;
    abut_status rc = rotate ? abut_scene_axis(r, &abut_scene_rate, rotate, m->angular, &center, err) : ABUT_OK;
    if (!rc) rc = read_center(center, m, err);
    if (rc || !scale) return rc;
    rc = abut_keys_read(r, &GROW, scale, m, err);
    if (!rc) rc = read_center(abut_tree_find(scale, "center"), m, err);
    if (!rc && rotate && (m->scale[0] != m->scale[1] || m->scale[0] != m->scale[2]))
        rc = abut_tree_fail(abut_tree_find(scale, "rate"), err,
                            "scale: three rates together with rotate: expected one, since the axes rotate, too");
    return rc;
}

void abut_scene_quaternion(const double R[9], double q[4])
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

static abut_status read_quaternion(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    double *const q = to;
    (void)r;
    const abut_status rc = abut_tree_vector(t, "quaternion", ABUT_Q_PURE, 4, q, err);
    const double n = abut_tree_norm(q, 4);
    if (!rc && !(n > 0)) return abut_tree_fail(t, err, "quaternion: expected four numbers [w, x, y, z] that are not all 0");
    for (int k = 0; k < 4; k++) q[k] /= n;
    return rc;
}

static abut_status read_rotation(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    double R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const abut_status rc = abut_scene_rotation(r, t, R, err);
    if (!rc) abut_scene_quaternion(R, to);
    return rc;
}

/* The rotation vector of a key that says one axis and angle; anything else has none, and none is zero. */
static int single_rotation(const abut_scene_reader *r, const abut_tree *rotate, double w[3])
{
    w[0] = w[1] = w[2] = 0;
    return !rotate || (rotate->kind == ABUT_TREE_MAP && !abut_scene_axis(r, &abut_scene_angle, rotate, w, NULL, NULL));
}

/* 180 degrees between two keys have two directions, and more would take the shorter one: neither is what is meant. */
static abut_status check_rotation(const abut_scene_reader *r, const abut_tree *t, const abut_tree *before, const double q0[4],
                                  const double q1[4], abut_err *err)
{
    static const double half_turn = 3.141592653589793;
    const abut_tree *r0 = before ? abut_tree_find(before, "rotate") : NULL, *r1 = abut_tree_find(t, "rotate");
    double w0[3], w1[3], difference2 = 0, cross2 = 0;
    const double dot = q0[0] * q1[0] + q0[1] * q1[1] + q0[2] * q1[2] + q0[3] * q1[3];
    int long_way = fabs(dot) < 1e-9;
    if (!(before && abut_tree_find(before, "quaternion")) && !abut_tree_find(t, "quaternion") && single_rotation(r, r0, w0) &&
        single_rotation(r, r1, w1)) {
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

static const abut_key POSE_KEYS[] = {
    { ABUT_NUMBER(abut_scene_pose, "time", time, TIME, NULL) },
    { ABUT_NUMBER(abut_scene_pose, "translate", shift, LENGTH, NULL), .fallback = "[0, 0, 0]" },
    { ABUT_READ(abut_scene_pose, "rotate", rotation, read_rotation), .keys = &abut_scene_angle,
      .form = "map, or a list of maps" },
    { ABUT_READ(abut_scene_pose, "quaternion", rotation, read_quaternion), .form = "4 numbers" },
    { .name = "scale", .kind = ABUT_KEY_AXES, .range = "(0,)", ABUT_AT(abut_scene_pose, scale), .fallback = "1" },
    { 0 }
};
static const abut_keys POSE = { "keyframe", NULL, POSE_KEYS, 1, NULL };

static abut_status read_pose(const abut_scene_reader *r, const abut_tree *t, abut_scene_pose *k, abut_err *err)
{
    *k = (abut_scene_pose){ .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
    if (abut_tree_find(t, "rotate") && abut_tree_find(t, "quaternion"))
        return abut_tree_fail(t, err, "keyframe: expected one of rotate and quaternion");
    return abut_keys_read(r, &POSE, t, k, err);
}

static int is_start(const abut_scene_pose *k)
{
    int same = fabs(k->rotation[0]) == 1;
    for (int i = 0; i < 3; i++) same &= k->shift[i] == 0 && k->scale[i] == 1;
    return same;
}

/* Poses at ascending times after 0; at 0 the nodes are where they are. */
static abut_status read_keyframes(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
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
        abut_status rc = read_pose(r, c, k, err);
        if (rc) return rc;
        if (k->time == 0 && m->nposes == 1 && !before) {
            if (!is_start(k))
                return abut_tree_fail(c, err, "a keyframe at 0 s: the nodes are then where they are: expected nothing but its "
                                      "time");
            continue;
        }
        if (!(k->time > k[-1].time))
            return abut_tree_fail(c, err, "a keyframe at %g s, after one at %g s: expected ascending times", k->time, k[-1].time);
        rc = check_rotation(r, c, before, k[-1].rotation, k->rotation, err);
        if (rc) return rc;
        m->nposes++;
    }
    return m->nposes > 1 ? ABUT_OK : abut_tree_fail(t, err, "keyframes: expected one after 0 s");
}

/* Files say where the points of a mesh are; they are placed as the mesh itself was. */
static abut_status read_positions(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    static const char *const moved[] = { "origin", "unit-size", "repeat", "tetrahedralize" };
    abut_scene_transform at;
    m->act = ABUT_ACT_PATH;
    if (m->select.object < 0) return abut_tree_fail_key(t, err, "sequence: moves points of one mesh: expected 'object' in "
                                                        "select");
    abut_scene_object *o = &r->scene->object[m->select.object];
    const abut_tree *object = abut_tree_find(abut_tree_find(r->root, "objects"), o->name);
    for (int i = 0; i < 4; i++)
        if (abut_tree_find(object, moved[i]))
            return abut_tree_fail_key(t, err, "sequence: the points of object '%s' are not those of its file, because of '%s'",
                                      o->name, moved[i]);
    abut_status rc = abut_scene_read_transform(r, object, &at, err);
    if (!rc) rc = abut_scene_read_path(r, t, &o->mesh, &m->path, err);
    if (!rc && m->path.time[m->path.n - 1] == 0)
        rc = abut_tree_fail_key(t, err, "sequence: one mesh, at 0 s, moves nothing: expected a mesh at a later time");
    if (!rc) abut_scene_path_transform(&m->path, o->mesh.nv, at.A, at.b);
    return rc;
}

/* Keys that say what nodes do.  The reader puts loads into `linear`. */
static const struct act {
    const char *key;
    int act;
} ACTS[] = {
    { "keyframes", ABUT_ACT_KEYS }, { "sequence", ABUT_ACT_PATH }, { "fix", ABUT_ACT_MOVE },
    { "acceleration", ABUT_ACT_ACCELERATE }, { "force", ABUT_ACT_FORCE }, { "force-density", ABUT_ACT_DENSITY },
    { "torque", ABUT_ACT_TORQUE },
    { "traction", ABUT_ACT_TRACTION }, { "pressure", ABUT_ACT_PRESSURE },
};
enum { NACTS = sizeof ACTS / sizeof *ACTS };

static abut_status read_act(const abut_scene_reader *r, const abut_tree *t, abut_scene_motion *m, abut_err *err)
{
    const abut_tree *keys = abut_tree_find(t, "keyframes"), *center = abut_tree_find(t, "center");
    const int has_rates = abut_tree_find(t, "translate") || abut_tree_find(t, "rotate") || abut_tree_find(t, "scale");
    int acts = has_rates;
    for (int i = 0; i < NACTS; i++)
        if (abut_tree_find(t, ACTS[i].key)) m->act = ACTS[i].act, acts++;
    if (acts != 1)
        return abut_tree_fail(t, err, "a motion: expected one of translate and rotate and scale, keyframes, sequence, fix, "
                              "acceleration, force, torque, force-density, traction, pressure; found %d", acts);
    if (center && !keys) return abut_tree_fail_key(center, err, "center: of keyframes; rotate and scale have their own");
    if (has_rates) return read_velocities(r, t, m, err);
    if (m->act == ABUT_ACT_PATH) return read_positions(r, abut_tree_find(t, "sequence"), m, err);
    const abut_status rc = keys ? read_keyframes(r, keys, m, err) : ABUT_OK;
    return rc ? rc : read_center(center, m, err);
}

/* Refuses keys that only some motions have. */
static abut_status check_options(const abut_tree *t, const abut_scene_motion *m, abut_err *err)
{
    const abut_tree *hold = abut_tree_find(t, "hold"), *rule = abut_tree_find(t, "interpolation");
    const abut_tree *until = abut_tree_find(t, "until"), *ramp = abut_tree_find(t, "ramp");
    const abut_tree *varies = ramp ? ramp : abut_tree_find(t, "factor");
    const int keys = m->act == ABUT_ACT_KEYS || m->act == ABUT_ACT_PATH;
    if (until && keys) return abut_tree_fail_key(until, err, "until: the last key ends the motion");
    if (varies && abut_act_moves(m->act))
        return abut_tree_fail_key(varies, err, "%s: of a load: expected acceleration, force, torque, force-density, traction or "
                                  "pressure",
                                  varies->key);
    if (rule && !keys && !varies)
        return abut_tree_fail_key(rule, err, "interpolation: of keyframes, sequences and loads that change in time");
    if (hold && !abut_act_moves(m->act))
        return abut_tree_fail_key(hold, err, "hold: a force holds nothing: expected a prescribed motion");
    if (hold && !keys && !until) return abut_tree_fail_key(hold, err, "hold: the motion never ends: expected 'until'");
    return ABUT_OK;
}

#define LATER(k, words) { .name = k, .kind = ABUT_KEY_LATER, .form = words }
static const abut_key MOTION_KEYS[] = {
    { ABUT_READ(abut_scene_motion, "select", select, abut_scene_read_select), .keys = &abut_scene_select_keys,
      .form = "a name in selections, or a map" },
    { ABUT_NUMBER(abut_scene_motion, "translate", linear, SPEED, NULL) },
    { .name = "rotate", .kind = ABUT_KEY_LATER, .keys = &abut_scene_rate },
    { .name = "scale", .kind = ABUT_KEY_LATER, .keys = &GROW },
    { .name = "keyframes", .kind = ABUT_KEY_LATER, .keys = &POSE, .form = "a list of maps" },
    { .name = "sequence", .kind = ABUT_KEY_LATER, .keys = &abut_scene_sequence },
    { ABUT_WORD(abut_scene_motion, "interpolation", smooth, ABUT_WORDS("linear", "smooth")), .fallback = "linear" },
    LATER("center", "[x, y, z] or box"),
    { ABUT_WORD(abut_scene_motion, "fix", act, ABUT_WORDS("true")) },
    { ABUT_NUMBER(abut_scene_motion, "acceleration", linear, ACCELERATION, NULL) },
    { ABUT_NUMBER(abut_scene_motion, "force", linear, FORCE, NULL) },
    { ABUT_NUMBER(abut_scene_motion, "torque", linear, TORQUE, NULL) },
    { ABUT_NUMBER(abut_scene_motion, "force-density", linear, FORCE_DENSITY, NULL) },
    { ABUT_NUMBER(abut_scene_motion, "traction", linear, PRESSURE, NULL) },
    { ABUT_NUMBER(abut_scene_motion, "pressure", linear[0], PRESSURE, NULL) },
    LATER("ramp", "time"),
    { .name = "factor", .kind = ABUT_KEY_LATER, .keys = &abut_scene_factor_keys },
    { ABUT_NUMBER(abut_scene_motion, "from", window[0], TIME, NULL), .fallback = "0" },
    { .name = "until", .kind = ABUT_KEY_LATER, .keys = &STOP, .form = "time, or a map" },
    { ABUT_FLAG(abut_scene_motion, "hold", hold), .fallback = "false" },
    { 0 }
};
const abut_keys abut_scene_motion_keys = { "motion", NULL, MOTION_KEYS, 1, NULL };

abut_status abut_scene_read_motion(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_motion *const m = to;
    abut_scene_copy_place(t, m->from);
    abut_status rc = abut_keys_read(r, &abut_scene_motion_keys, t, m, err);
    if (!rc) rc = read_act(r, t, m, err);
    if (!rc) rc = read_window(r, t, m, err);
    if (!rc) rc = check_options(t, m, err);
    return rc ? rc : abut_scene_factor(r, t, &m->factor, err);
}

/* ---- attachments and seams ---- */

static const abut_key TARGET_KEYS[] = {
    LATER("object", "name"), { ABUT_NUMBER(abut_scene_attachment, "point", point, LENGTH, NULL) }, { 0 }
};
static const abut_keys TARGET = { "to", NULL, TARGET_KEYS, 0, NULL };

/* {object: name}, where it is nearest, or {point: [x, y, z]} */
static abut_status read_target(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_attachment *const a = to;
    const abut_tree *object = abut_tree_find(t, "object");
    const abut_status rc = abut_keys_read(r, &TARGET, t, a, err);
    if (rc) return rc;
    if (t->n != 1) return abut_tree_fail(t, err, "to: expected {object: name} or {point: [x, y, z]}");
    a->to = -1;
    return object ? abut_scene_find_object(r, object, 0, &a->to, err) : ABUT_OK;
}

static const abut_key ATTACHMENT_KEYS[] = {
    { ABUT_READ(abut_scene_attachment, "from", select, abut_scene_read_select), .keys = &abut_scene_select_keys,
      .form = "a name in selections, or a map" },
    { .name = "to", .kind = ABUT_KEY_READ, .read = read_target, .keys = &TARGET },
    { ABUT_NUMBER(abut_scene_attachment, "stiffness", stiffness, STIFFNESS, "(0,)") },
    { ABUT_NUMBER(abut_scene_attachment, "within", within, LENGTH, "(0,)") },
    { 0 }
};
const abut_keys abut_scene_attachment_keys = {
    "attachment", NULL, ATTACHMENT_KEYS, 3, "{from: conditions, to: {object: name} or {point: [x, y, z]}, stiffness: number}"
};

abut_status abut_scene_read_attachment(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_attachment *const a = to;
    abut_scene_copy_place(t, a->from);
    a->within = INFINITY;
    const abut_status rc = abut_keys_read(r, &abut_scene_attachment_keys, t, a, err);
    if (rc || a->to < 0) return rc;
    if (a->select.object < 0)
        return abut_tree_fail(abut_tree_find(t, "from"), err, "from: expected one object, whose nodes are tied to another one");
    if (a->select.object != a->to) return ABUT_OK;
    return abut_tree_fail(abut_tree_find(t, "to"), err, "to: object '%s' is tied to itself: expected another one",
                          r->scene->object[a->to].name);
}

static const abut_key SEAM_KEYS[] = {
    { ABUT_READ(abut_scene_seam, "from", side[0], abut_scene_read_select), .keys = &abut_scene_select_keys,
      .form = "a name in selections, or a map" },
    { ABUT_READ(abut_scene_seam, "to", side[1], abut_scene_read_select), .keys = &abut_scene_select_keys,
      .form = "a name in selections, or a map" },
    { ABUT_NUMBER(abut_scene_seam, "stiffness", stiffness, STIFFNESS, "(0,)") },
    { 0 }
};
const abut_keys abut_scene_seam_keys = { "seam", NULL, SEAM_KEYS, 2, "{from: conditions, to: conditions}" };

abut_status abut_scene_read_seam(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_seam *const s = to;
    abut_scene_copy_place(t, s->from);
    abut_status rc = abut_keys_read(r, &abut_scene_seam_keys, t, s, err);
    for (int i = 0; i < 2 && !rc; i++) {
        const int32_t o = s->side[i].object;
        if (o < 0 || !(r->scene->object[o].shell.thickness > 0))
            rc = abut_tree_fail(abut_tree_find(t, SEAM_KEYS[i].name), err, "seam: expected one object that is a shell");
    }
    return rc;
}
