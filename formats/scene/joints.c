/* Joints of a scene: each names two rigid objects, or the world and one, its kind and its place. */
#include "base/order.h"
#include "base/words.h"
#include "formats/scene/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT { ABUT_NUMBER(abut_scene_joint, "at", at, LENGTH, NULL), ABUT_HAS(abut_scene_joint, has_at) }
#define DIRECTION(k) { ABUT_NUMBER(abut_scene_joint, k, direction, PURE, NULL), ABUT_HAS(abut_scene_joint, has_direction) }
static const abut_key POINT_KEYS[] = { AT, { 0 } };
static const abut_key LINE_KEYS[] = {
    AT, DIRECTION("direction"),
    { ABUT_POINTS(abut_scene_joint, "axis", axis, LENGTH), ABUT_HAS(abut_scene_joint, has_axis) }, { 0 }
};
static const abut_key SLOT_KEYS[] = { AT, DIRECTION("direction"), { 0 } };
static const abut_key PLANE_KEYS[] = { AT, DIRECTION("normal"), { 0 } };
static const abut_key CROSS_KEYS[] = {
    AT, DIRECTION("first"), { ABUT_NUMBER(abut_scene_joint, "second", second, PURE, NULL) }, { 0 }
};
static const abut_key SPAN_KEYS[] = {
    { ABUT_NUMBER(abut_scene_joint, "from", at, LENGTH, NULL), ABUT_HAS(abut_scene_joint, has_at) },
    { ABUT_NUMBER(abut_scene_joint, "to", to, LENGTH, NULL) }, { 0 }
};
static const abut_key NO_KEYS[] = { { 0 } };
static const abut_keys POINT = { NULL, NULL, POINT_KEYS, 1, NULL };
static const abut_keys LINE = { NULL, NULL, LINE_KEYS, 0, NULL };
static const abut_keys SLOT = { NULL, NULL, SLOT_KEYS, 2, NULL };
static const abut_keys PLANE = { NULL, NULL, PLANE_KEYS, 2, NULL };
static const abut_keys CROSS = { NULL, NULL, CROSS_KEYS, 3, NULL };
static const abut_keys SPAN = { NULL, NULL, SPAN_KEYS, 2, NULL };
static const abut_keys NONE = { NULL, NULL, NO_KEYS, 0, NULL };

static const abut_key GEAR_KEYS[] = {
    { .name = "of", .kind = ABUT_KEY_LATER, .form = "[joint, joint]" },
    { ABUT_NUMBER(abut_scene_joint, "ratio", ratio, PURE, NULL) }, { 0 }
};
static const abut_keys GEAR = { NULL, NULL, GEAR_KEYS, 2, NULL };

static const abut_key WELD_KEYS[] = {
    { ABUT_READ(abut_scene_joint, "select", select, abut_scene_read_select), .keys = &abut_scene_select_keys,
      .form = "a name in selections, or a map" }, { 0 }
};
static const abut_keys WELD = { NULL, NULL, WELD_KEYS, 1, NULL };

static const abut_key SPRING_KEYS[] = {
    { .name = "stiffness", .kind = ABUT_KEY_LATER, .form = "N m/rad, or N/m" },
    { .name = "rest", .kind = ABUT_KEY_LATER, .form = "angle, or length", .fallback = "0" }, { 0 }
};
static const abut_keys SPRING = { "spring", NULL, SPRING_KEYS, 1, NULL };

#define KIND(k, map, number) { ABUT_MAP(k, map), ABUT_HAS(abut_scene_joint, has[number]) }
static const abut_key JOINT_KEYS[] = {
    { .name = "between", .kind = ABUT_KEY_LATER, .form = "[object or world, object]" },
    KIND("ball", &POINT, ABUT_JOINT_BALL), KIND("hinge", &LINE, ABUT_JOINT_HINGE), KIND("fixed", &NONE, ABUT_JOINT_FIXED),
    KIND("cylinder", &LINE, ABUT_JOINT_CYLINDER), KIND("slider", &LINE, ABUT_JOINT_SLIDER),
    KIND("planar", &PLANE, ABUT_JOINT_PLANAR), KIND("pin-slot", &SLOT, ABUT_JOINT_PIN_SLOT),
    KIND("universal", &CROSS, ABUT_JOINT_UNIVERSAL), KIND("distance", &SPAN, ABUT_JOINT_DISTANCE),
    KIND("gear", &GEAR, ABUT_JOINT_GEAR), KIND("weld", &WELD, ABUT_JOINT_WELD),
    { .name = "spring", .kind = ABUT_KEY_LATER, .keys = &SPRING },
    { .name = "damper", .kind = ABUT_KEY_LATER, .form = "N m s/rad, or N s/m" },
    { .name = "load", .kind = ABUT_KEY_LATER, .form = "N m, or N" },
    { .name = "limits", .kind = ABUT_KEY_LATER, .form = "[least, largest]" },
    { .name = "friction", .kind = ABUT_KEY_LATER, .form = "N m, or N" },
    { ABUT_WORD(abut_scene_joint, "contact", contact, ABUT_WORDS("off", "on")), .fallback = "off" },
    { 0 }
};
static const abut_keys JOINT = { "joint", NULL, JOINT_KEYS, 0, NULL };
static const abut_key NAME_KEYS[] = { { .name = "NAME", .kind = ABUT_KEY_LATER, .keys = &JOINT }, { 0 } };
const abut_keys abut_scene_joint_names = { .row = NAME_KEYS };

/* v becomes a unit vector; without the part along `across`. */
static abut_status unit(const abut_tree *t, const double *across, double v[3], abut_err *err)
{
    double length = abut_tree_norm(v, 3), along = 0;
    for (int k = 0; k < 3 && length > 0; k++) v[k] /= length;
    for (int k = 0; k < 3 && across; k++) along += v[k] * across[k];
    if (!(length > 0)) return abut_tree_fail(t, err, "%s: a direction of length 0", t->key);
    if (fabs(along) > 1e-3)
        return abut_tree_fail(t, err, "%s: the cosine between first and second is %.3g, expected 0: perpendicular ones", t->key,
                              along);
    for (int k = 0; k < 3 && across; k++) v[k] -= along * across[k];
    return across && along != 0 ? unit(t, NULL, v, err) : ABUT_OK;
}

/* The place as a point and a unit direction. */
static abut_status set_place(const abut_tree *t, abut_scene_joint *j, abut_err *err)
{
    if (j->has[ABUT_JOINT_HINGE] || j->has[ABUT_JOINT_CYLINDER] || j->has[ABUT_JOINT_SLIDER]) {
        if (j->has_axis + j->has_at != 1 || j->has_at != j->has_direction)
            return abut_tree_fail(t, err, "%s: expected {axis: [point, point]} or {at: point, direction: [x, y, z]}", t->key);
    }
    for (int k = 0; k < 3 && j->has_axis; k++) {
        j->at[k] = 0.5 * (j->axis[0][k] + j->axis[1][k]);
        j->direction[k] = j->axis[1][k] - j->axis[0][k];
    }
    if (j->kind == ABUT_JOINT_DISTANCE && !memcmp(j->at, j->to, sizeof j->at))
        return abut_tree_fail(t, err, "distance: from and to are one point: expected two, or a ball");
    abut_status rc = j->has_axis || j->has_direction ? unit(t, NULL, j->direction, err) : ABUT_OK;
    if (!rc && j->kind == ABUT_JOINT_UNIVERSAL) rc = unit(t, j->direction, j->second, err);
    return rc;
}

static int has_coordinate(const abut_scene_joint *j) { return j->kind == ABUT_JOINT_HINGE || j->kind == ABUT_JOINT_SLIDER; }

/* Spring, damper, load, limits and friction of the angle of a hinge or the position of a slider. */
static abut_status read_drive(const abut_scene_reader *r, const abut_tree *t, abut_scene_joint *j, abut_err *err)
{
    const abut_tree *spring = abut_tree_find(t, "spring"), *damper = abut_tree_find(t, "damper");
    const abut_tree *load = abut_tree_find(t, "load"), *friction = abut_tree_find(t, "friction");
    const abut_tree *limits = abut_tree_find(t, "limits");
    const abut_tree *any = spring ? spring : damper ? damper : load ? load : limits ? limits : friction;
    const int turns = j->kind == ABUT_JOINT_HINGE;
    if (!any) return ABUT_OK;
    if (!has_coordinate(j))
        return abut_tree_fail_key(any, err, "%s: of a hinge or a slider, whose one coordinate it acts on", any->key);
    abut_status rc = spring ? abut_keys_read(r, &SPRING, spring, j, err) : ABUT_OK;
    const abut_tree *rest = spring ? abut_tree_find(spring, "rest") : NULL;
    if (!rc && spring)
        rc = abut_tree_positive(abut_tree_find(spring, "stiffness"), "spring.stiffness", turns ? ABUT_Q_TWIST : ABUT_Q_STIFFNESS,
                                &j->drive[0], NULL, err);
    if (!rc && rest) rc = abut_tree_real(rest, "spring.rest", turns ? ABUT_Q_ANGLE : ABUT_Q_LENGTH, &j->drive[1], NULL, err);
    if (!rc && damper) rc = abut_tree_not_negative(damper, "damper", turns ? ABUT_Q_TWIST_DRAG : ABUT_Q_DRAG, &j->drive[2], err);
    if (!rc && limits) {
        j->has_limits = 1;
        rc = abut_tree_vector(limits, "limits", turns ? ABUT_Q_ANGLE : ABUT_Q_LENGTH, 2, j->limit, err);
        if (!rc && !(j->limit[0] < 0 && j->limit[1] > 0))
            rc = abut_tree_fail(limits, err, "limits: %g, %g: expected one below and one above the start, 0", j->limit[0],
                                j->limit[1]);
    }
    if (!rc && friction)
        rc = abut_tree_not_negative(friction, "friction", turns ? ABUT_Q_TORQUE : ABUT_Q_FORCE, &j->friction, err);
    return rc || !load ? rc : abut_tree_real(load, "load", turns ? ABUT_Q_TORQUE : ABUT_Q_FORCE, &j->drive[3], NULL, err);
}

static abut_status read_bodies(const abut_scene_reader *r, const abut_tree *t, abut_scene_joint *j, abut_err *err)
{
    const abut_tree *between = abut_tree_find(t, "between");
    if (j->kind == ABUT_JOINT_GEAR)
        return between ? abut_tree_fail_key(between, err, "between: a gear has the bodies of its joints") : ABUT_OK;
    if (!between) return abut_tree_fail(t, err, "a joint: expected `between: [object or world, object]`");
    abut_status rc = abut_tree_list(between, "between", 2, "[world, arm]", err);
    for (int k = 0; k < 2 && !rc; k++) {
        const abut_tree *name = abut_tree_at(between, k);
        j->body[k] = -1;
        if (!k && name->kind == ABUT_TREE_TEXT && !strcmp(name->text, "world")) continue;
        rc = abut_scene_find_object(r, name, 0, &j->body[k], err);
        if (rc) break;
        const abut_scene_object *o = &r->scene->object[j->body[k]];
        if (k && j->kind == ABUT_JOINT_WELD) {
            if (o->is_frame || o->obstacle || j->body[0] < 0)
                rc = abut_tree_fail(between, err, "between: expected a rigid object and one that deforms");
            if (!rc && ((j->select.object >= 0 && j->select.object != j->body[1]) || j->select.nobjects > 1))
                rc = abut_tree_fail(t, err, "weld: selects nodes of other objects than '%s'", o->name);
            j->select.object = j->body[1];
        } else if (!o->rigid.is)
            rc = abut_tree_fail(name, err, "between: '%s' is not rigid: expected an object with `rigid: true`%s",
                                r->scene->object[j->body[k]].name, k ? "" : ", or world");
    }
    if (rc || j->body[0] != j->body[1]) return rc;
    return abut_tree_fail(between, err, "between: '%s' twice: expected two objects", r->scene->object[j->body[1]].name);
}

static abut_status read_joint(const abut_scene_reader *r, const abut_tree *t, abut_scene_joint *j, abut_err *err)
{
    int kinds = 0;
    abut_status rc = abut_scene_name(t, j->name, err);
    abut_scene_copy_place(t, j->from);
    if (!rc) rc = abut_keys_read(r, &JOINT, t, j, err);
    for (int k = 0; k < ABUT_JOINTS && !rc; k++)
        if (j->has[k]) j->kind = k, kinds++;
    const abut_tree *place = NULL;
    for (const abut_key *k = JOINT_KEYS; k->name; k++)
        if (k->kind == ABUT_KEY_MAP && abut_tree_find(t, k->name)) place = abut_tree_find(t, k->name);
    if (!rc && kinds != 1)
        rc = abut_tree_fail(t, err, "a joint: expected one of ball, hinge, fixed, cylinder, slider, planar, pin-slot, universal, "
                            "distance, gear, weld; found %d", kinds);
    if (!rc) rc = set_place(place, j, err);
    if (!rc) rc = read_drive(r, t, j, err);
    return rc ? rc : read_bodies(r, t, j, err);
}

/* *row: the joint that t names. */
static abut_status find_joint(const abut_scene *s, const abut_tree *t, const char *what, int32_t *row, abut_err *err)
{
    const char **names = calloc((size_t)s->njoints + 1, sizeof *names), *name;
    for (int32_t i = 0; i < s->njoints && names; i++) names[i] = s->joint[i].name;
    const abut_status rc = abut_tree_word(t, what, "elbow", &name, err);
    if (rc) return free(names), rc;
    return abut_scene_named(t, "joint", name, names, s->njoints ? NULL : "a name in 'joints'", row, err);
}

/* The joints of a gear, and their bodies: two beside the world, and beside one that is of both joints. */
static abut_status read_gear(abut_scene *s, const abut_tree *t, abut_scene_joint *j, abut_err *err)
{
    const abut_tree *gear = abut_tree_find(t, "gear"), *of = abut_tree_find(gear, "of");
    int n = 0;
    int32_t all[4];
    abut_status rc = abut_tree_list(of, "of", 2, "[first, second]", err);
    for (int k = 0; k < 2 && !rc; k++) {
        rc = find_joint(s, abut_tree_at(of, k), "of", &j->of[k], err);
        if (rc) return rc;
        const abut_scene_joint *one = &s->joint[j->of[k]];
        if (!has_coordinate(one)) return abut_tree_fail(of, err, "of: '%s' is no hinge and no slider", one->name);
        for (int side = 0; side < 2; side++) {
            const int32_t body = one->body[side];
            int i = 0;
            while (i < n && all[i] != body) i++;
            if (body >= 0 && i == n) all[n++] = body;
        }
    }
    j->held = -1;
    for (int i = 0; i < n && n == 3 && !rc; i++) {
        const int32_t *a = s->joint[j->of[0]].body, *b = s->joint[j->of[1]].body;
        if ((a[0] != all[i] && a[1] != all[i]) || (b[0] != all[i] && b[1] != all[i])) continue;
        j->held = all[i], all[i] = all[--n];
    }
    if (n == 2) memcpy(j->body, all, sizeof j->body);
    if (!rc && (j->of[0] == j->of[1] || n != 2))
        rc = abut_tree_fail(of, err, "of: the joints have %d %s beside the world, expected two", n,
                            abut_plural(n, "body", "bodies"));
    if (!rc && j->ratio == 0) rc = abut_tree_fail(abut_tree_find(gear, "ratio"), err, "ratio: 0: expected another number");
    return rc;
}

/* Bodies of a joint do not meet, unless it says so. */
static abut_status exclude(abut_scene *s, abut_err *err)
{
    int32_t (*all)[2] = realloc(s->excluded, ((size_t)s->nexcluded + (size_t)s->njoints + 1) * sizeof *all);
    size_t n = (size_t)s->nexcluded, kept = 0;
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "joints: %d", s->njoints);
    s->excluded = all;
    for (const abut_scene_joint *j = s->joint; j < s->joint + s->njoints; j++) {
        if (j->contact || j->body[0] < 0) continue;
        const int swap = j->body[0] > j->body[1];
        all[n][0] = j->body[swap], all[n++][1] = j->body[!swap];
    }
    if (n) qsort(all, n, sizeof *all, abut_by_two);
    for (size_t i = 0; i < n; i++)
        if (!kept || abut_by_two(all[kept - 1], all[i])) memmove(all[kept++], all[i], sizeof *all);
    s->nexcluded = (int32_t)kept;
    return ABUT_OK;
}

/* ---- motors ---- */

/* Demands of a motor, and their units for an angle and for a position. */
static const struct act {
    const char *key;
    int kind;
    abut_quantity turns, slides;    /* ABUT_Q_PURE: not of such a joint */
} ACTS[] = {
    { "target", ABUT_MOTOR_PLACE, ABUT_Q_ANGLE, ABUT_Q_LENGTH }, { "rate", ABUT_MOTOR_RATE, ABUT_Q_RATE, ABUT_Q_SPEED },
    { "torque", ABUT_MOTOR_EFFORT, ABUT_Q_TORQUE, ABUT_Q_PURE }, { "force", ABUT_MOTOR_EFFORT, ABUT_Q_PURE, ABUT_Q_FORCE },
};
enum { NACTS = sizeof ACTS / sizeof *ACTS };

#define VALUE(k, words) { .name = k, .kind = ABUT_KEY_LATER, .keys = &abut_scene_factor_keys, .form = words ", or a map" }
static const abut_key MOTOR_KEYS[] = {
    { .name = "joint", .kind = ABUT_KEY_LATER, .form = "name" },
    VALUE("target", "angle or length"), VALUE("rate", "deg/s, rpm or m/s"), VALUE("torque", "N m"), VALUE("force", "N"),
    { ABUT_WORD(abut_scene_motor, "interpolation", smooth, ABUT_WORDS("linear", "smooth")), .fallback = "linear" },
    { .name = "stiffness", .kind = ABUT_KEY_LATER, .form = "N m/rad, or N/m" },
    { .name = "damper", .kind = ABUT_KEY_LATER, .form = "N m s/rad, or N s/m" },
    { .name = "max", .kind = ABUT_KEY_LATER, .form = "N m, or N", .fallback = "none" },
    { ABUT_NUMBER(abut_scene_motor, "from", window[0], TIME, "[0,)"), .fallback = "0" },
    { ABUT_NUMBER(abut_scene_motor, "until", window[1], TIME, NULL), .fallback = "none" }, { 0 }
};
const abut_keys abut_scene_motor_keys = { "motor", NULL, MOTOR_KEYS, 1, NULL };

/* A number, or {times, values}. */
static abut_status read_value(const abut_scene_reader *r, const abut_tree *t, abut_quantity q, abut_scene_table *out,
                              abut_err *err)
{
    if (t->kind == ABUT_TREE_MAP) return abut_scene_read_table(r, t, q, out, err);
    if (!ABUT_ARRAYS(ABUT_ITEMS(out->time, 1), ABUT_ITEMS(out->value, 1))) return abut_fail(err, ABUT_E_NOMEM, "a motor");
    out->n = 1, out->time[0] = 0;
    return abut_tree_real(t, t->key, q, &out->value[0], NULL, err);
}

/* Stiffness, damper and bound. */
static abut_status read_law(const abut_tree *t, abut_scene_motor *m, int turns, abut_err *err)
{
    const abut_tree *stiffness = abut_tree_find(t, "stiffness"), *damper = abut_tree_find(t, "damper");
    const abut_tree *most = abut_tree_find(t, "max"), *any = stiffness ? stiffness : damper ? damper : most;
    abut_status rc = ABUT_OK;
    m->most = INFINITY;
    if (!any) return ABUT_OK;
    if (m->kind == ABUT_MOTOR_EFFORT)
        return abut_tree_fail_key(any, err, "%s: of a motor with a target or a rate", any->key);
    if (!stiffness && (m->kind == ABUT_MOTOR_PLACE || !damper))
        return abut_tree_fail_key(any, err, "%s: expected `stiffness` too%s", any->key,
                                  m->kind == ABUT_MOTOR_PLACE ? "" : ", or `damper`");
    if (stiffness)
        rc = abut_tree_positive(stiffness, "stiffness", turns ? ABUT_Q_TWIST : ABUT_Q_STIFFNESS, &m->stiffness, NULL, err);
    if (!rc && damper) rc = abut_tree_positive(damper, "damper", turns ? ABUT_Q_TWIST_DRAG : ABUT_Q_DRAG, &m->damper, NULL, err);
    return rc || !most ? rc : abut_tree_positive(most, "max", turns ? ABUT_Q_TORQUE : ABUT_Q_FORCE, &m->most, NULL, err);
}

abut_status abut_scene_read_motor(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_motor *const m = to;
    const abut_scene *s = r->scene;
    const abut_tree *value = NULL;
    const struct act *act = NULL;
    int acts = 0;
    abut_scene_copy_place(t, m->from);
    m->window[1] = INFINITY;
    abut_status rc = abut_keys_read(r, &abut_scene_motor_keys, t, m, err);
    if (rc) return rc;
    const abut_tree *joint = abut_tree_find(t, "joint");
    if ((rc = find_joint(s, joint, "joint", &m->joint, err))) return rc;
    const char *name = s->joint[m->joint].name;
    const int kind = s->joint[m->joint].kind, turns = kind == ABUT_JOINT_HINGE;
    if (!has_coordinate(&s->joint[m->joint]))
        return abut_tree_fail(joint, err, "joint: '%s' is no hinge and no slider, whose one coordinate a motor moves", name);
    for (const abut_scene_motor *other = s->motor; other < m; other++)
        if (other->joint == m->joint) return abut_tree_fail(joint, err, "joint: '%s' has a motor (%s)", name, other->from);
    for (const struct act *a = ACTS; a < ACTS + NACTS; a++)
        if (abut_tree_find(t, a->key)) value = abut_tree_find(t, a->key), act = a, acts++;
    if (acts != 1)
        return abut_tree_fail(t, err, "a motor: expected one of target, rate, torque, force; found %d", acts);
    const abut_quantity q = turns ? act->turns : act->slides;
    if (q == ABUT_Q_PURE) return abut_tree_fail_key(value, err, "%s: '%s' is a %s", act->key, name, abut_joint_names[kind]);
    m->kind = act->kind;
    rc = read_value(r, value, q, &m->value, err);
    if (!rc) rc = read_law(t, m, turns, err);
    if (!rc && !(m->window[0] < m->window[1]))
        rc = abut_tree_fail(t, err, "from %g s until %g s: expected 'from' before 'until'", m->window[0], m->window[1]);
    const int exact = m->stiffness == 0 && m->damper == 0 && m->kind == ABUT_MOTOR_PLACE;
    if (!rc && exact && m->window[0] == 0 && m->value.value[0] != 0)
        rc = abut_tree_fail(value, err, "target: %g at the start, where '%s' is at 0: expected 0 there, or `stiffness`",
                            m->value.value[0], name);
    return rc;
}

abut_status abut_scene_joints(const abut_scene_reader *r, abut_err *err)
{
    abut_scene *const s = r->scene;
    const abut_tree *t = abut_tree_find(r->root, "joints");
    if (!t) return ABUT_OK;
    if (t->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(t, "joints", err, "a map of names, {elbow: {ball: {at: [0, 1, 0]}, between: [a, b]}}");
    abut_status rc = abut_scene_rows(&s->joint, &s->njoints, t->n, sizeof *s->joint, err);
    int32_t i = 0;
    for (const abut_tree *c = t->child; c && !rc; c = c->next) rc = read_joint(r, c, &s->joint[i++], err);
    i = 0;
    for (const abut_tree *c = t->child; c && !rc; c = c->next, i++)
        if (s->joint[i].kind == ABUT_JOINT_GEAR) rc = read_gear(s, c, &s->joint[i], err);
    return rc ? rc : exclude(s, err);
}
