/* Robots of a scene: URDF files, each as the objects and joints of a scene.  formats/SCENE.md says what each element becomes.
 *
 * A link and all that fixed joints join to it is one rigid object, in the axes of the first of them.  The pose of a link at the
 * start is that of its parent, times the origin of its joint, times the motion of the joint at its position at the start. */
#include "formats/scene/keys.h"
#include "formats/scene/scene_read.h"

#include "formats/mesh/mesh_io.h"
#include "formats/mesh/scan.h"
#include "math/mat3.h"
#include "math/spd_inline.h"
#include "math/vec3.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* ---- values ---- */

typedef struct pose {
    double R[9], t[3];
} pose;
static const pose HERE = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } };

enum { REVOLUTE, CONTINUOUS, PRISMATIC, PLANAR, FIXED, FLOATING };
static const char *const KINDS[] = { "revolute", "continuous", "prismatic", "planar", "fixed", "floating", NULL };

typedef struct limb {
    const abut_tree *at;
    const char *name;
    int32_t joint, body;        /* to its parent, -1: none; the link whose object it is a part of */
    int reached;
    pose in_body, place;        /* in the axes of that link; in the world, at the start */
    int has_mass, shapes;       /* of all that is joined to it, of a link that is an object */
    double mass, center[3], inertia[9];
} limb;

typedef struct joint {
    const abut_tree *at;
    const char *name;
    int kind;
    int32_t parent, child, leader;      /* leader: of a mimic; -1: none */
    pose origin;
    double axis[3], limit[2], effort, damping, friction, ratio, offset, q;
    int has_limit;
} joint;

typedef struct robot {
    abut_arena *arena;
    abut_scene_reader reader;
    abut_tree_maker make;
    abut_tree *root, *unused, *notes;   /* elements without effect; remarks */
    const char *name;
    const abut_tree *urdf, *position, *material;
    int fixed, apart;
    pose place;
    limb *link;
    joint *joint;
    int32_t nlinks, njoints;
} robot;

static const abut_key ROBOT_KEYS[] = {
    { ABUT_TREE(robot, "urdf", urdf), .form = "file" },
    { ABUT_WORD(robot, "base", fixed, ABUT_WORDS("free", "fixed")), .fallback = "free" },
    { ABUT_TREE(robot, "position", position), .form = "{joint: angle or length, ...}", .fallback = "0" },
    { ABUT_READ(robot, "rotate", place.R, abut_scene_rotation), .keys = &abut_scene_angle, .form = "map, or a list of maps" },
    { ABUT_NUMBER(robot, "translate", place.t, LENGTH, NULL), .fallback = "[0, 0, 0]" },
    { ABUT_WORD(robot, "contact", apart, ABUT_WORDS("on", "off")), .fallback = "on" },
    { ABUT_TREE(robot, "material", material), .form = "name" }, { 0 }
};
static const abut_keys ROBOT = { "robot", NULL, ROBOT_KEYS, 1, NULL };
static const abut_key NAME_KEYS[] = { { .name = "NAME", .kind = ABUT_KEY_LATER, .keys = &ROBOT }, { 0 } };
const abut_keys abut_scene_robot_names = { .row = NAME_KEYS };

static pose times(const pose *a, const pose *b)
{
    pose c = { { 0 }, { a->t[0], a->t[1], a->t[2] } };
    abut_m3_mul(c.R, a->R, b->R);
    abut_m3_add_times(c.t, a->R, b->t);
    return c;
}

/* The rotation by an angle about a unit axis. */
static void rotation(const double u[3], double angle, double R[9])
{
    const double s = sin(angle), c = cos(angle), cross[9] = { 0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0 };
    for (int e = 0; e < 9; e++) R[e] = s * cross[e] + (1 - c) * u[e / 3] * u[e % 3] + (e % 4 ? 0 : c);
}

/* An element without effect: its name is noted once. */
static void note_unused(robot *r, const abut_tree *t)
{
    r->make.line = t->key_line;
    if (!r->make.failed && !abut_tree_find(r->unused, t->key)) abut_make_text(&r->make, r->unused, t->key, "%d", t->key_line);
}

/* Checks what is in an element: attributes are among the names, other elements have no effect. */
static abut_status check_element(robot *r, const abut_tree *t, const char *const *names, abut_err *err)
{
    for (const abut_tree *c = t->child; c; c = c->next) {
        int k = 0;
        while (names[k] && strcmp(names[k], c->key) != 0) k++;
        const char *near = names[k] ? NULL : abut_name_nearest(c->key, names);
        if (names[k]) continue;
        if (c->kind == ABUT_TREE_TEXT)
            return abut_tree_fail_key(c, err, "<%s> has no attribute '%s'%s%s%s", t->key, c->key, near ? ": '" : "",
                                      near ? near : "", near ? "'?" : "");
        note_unused(r, c);
    }
    return ABUT_OK;
}

/* n numbers of an attribute; without it `out` stays. */
static abut_status read_numbers(const abut_tree *t, const char *key, int n, double *out, abut_err *err)
{
    const abut_tree *a = abut_tree_find(t, key);
    if (!a) return ABUT_OK;
    const char *s = a->kind == ABUT_TREE_TEXT ? a->text : "";
    int k = 0;
    for (char *end; k <= n && s[strspn(s, " \t\r\n")]; k++, s = end) {
        const double v = strtod(s, &end);
        if (end == s || (*end && !isspace((unsigned char)*end)) || !(fabs(v) <= ABUT_FARTHEST)) break;
        if (k < n) out[k] = v;
    }
    if (k == n && !s[strspn(s, " \t\r\n")]) return ABUT_OK;
    return abut_tree_fail(a, err, "%s of <%s>: '%s': expected %d finite number%s", key, t->key, a->text, n, abut_s(n));
}

static abut_status read_text(const abut_tree *t, const char *key, const char **out, abut_err *err)
{
    const abut_tree *a = abut_tree_find(t, key);
    if (!a || !*a->text) return abut_tree_fail(t, err, "<%s>: expected %s=\"...\"", t->key, key);
    *out = a->text;
    return ABUT_OK;
}

/* <origin xyz rpy>: R = Rz Ry Rx. */
static abut_status read_origin(robot *r, const abut_tree *in, pose *out, abut_err *err)
{
    const abut_tree *t = abut_tree_find(in, "origin");
    double rpy[3] = { 0 };
    *out = HERE;
    abut_status rc = t ? check_element(r, t, ABUT_WORDS("xyz", "rpy"), err) : ABUT_OK;
    if (!rc && t) rc = read_numbers(t, "xyz", 3, out->t, err);
    if (!rc && t) rc = read_numbers(t, "rpy", 3, rpy, err);
    for (int k = 0; k < 3; k++) {
        double one[9], before[9];
        memcpy(before, out->R, sizeof before);
        rotation((const double[3]){ k == 0, k == 1, k == 2 }, rpy[k], one);
        if (rpy[k] != 0) abut_m3_mul(out->R, one, before);
    }
    return rc;
}

/* ---- links ---- */

/* Mass, centre and tensor of an <inertial>, in the axes of its link. */
static abut_status read_inertial(robot *r, const abut_tree *t, limb *l, abut_err *err)
{
    static const char *const ENTRY[] = { "ixx", "ixy", "ixz", "iyy", "iyz", "izz", NULL };
    static const int TO[] = { 0, 1, 2, 4, 5, 8 };
    const abut_tree *mass = abut_tree_find(t, "mass"), *inertia = abut_tree_find(t, "inertia");
    double I[9] = { 0 }, RI[9], w[3], Q[9];
    pose at;
    abut_status rc = check_element(r, t, ABUT_WORDS("origin", "mass", "inertia"), err);
    if (!rc && (!mass || !inertia)) rc = abut_tree_fail(t, err, "<inertial>: expected <mass> and <inertia>");
    if (!rc) rc = check_element(r, mass, ABUT_WORDS("value"), err);
    if (!rc) rc = check_element(r, inertia, ENTRY, err);
    if (!rc) rc = read_origin(r, t, &at, err);
    if (!rc) rc = read_numbers(mass, "value", 1, &l->mass, err);
    for (int k = 0; k < 6 && !rc; k++) {
        if (TO[k] % 4 == 0 && !abut_tree_find(inertia, ENTRY[k]))
            rc = abut_tree_fail(inertia, err, "<inertia>: expected %s", ENTRY[k]);
        if (!rc) rc = read_numbers(inertia, ENTRY[k], 1, &I[TO[k]], err);
        I[3 * (TO[k] % 3) + TO[k] / 3] = I[TO[k]];
    }
    if (!rc && !(l->mass >= 0)) rc = abut_tree_fail(mass, err, "mass of link '%s': %g kg: expected 0 or more", l->name, l->mass);
    if (rc) return rc;
    abut_sym_eigen(3, I, w, Q);
    const double least = fmin(w[0], fmin(w[1], w[2])), most = fmax(w[0], fmax(w[1], w[2])), trace = w[0] + w[1] + w[2];
    if (least < -1e-6 * most || trace - 2 * most < -1e-6 * most || (l->mass > 0 && !(most > 0)))
        return abut_tree_fail(inertia, err, "inertia of link '%s': principal moments from %.6g to %.6g of the sum %.6g kg m^2: "
                              "expected none below 0, not all 0, and none above the sum of the two others", l->name, least, most,
                              trace);
    l->has_mass = 1;
    memcpy(l->center, at.t, sizeof at.t);
    abut_m3_mul(RI, at.R, I);
    abut_m3_mul_nt(l->inertia, RI, at.R);
    return ABUT_OK;
}

/* The path of a mesh as the scene names it: relative to the file, of a package in a folder above it. */
static abut_status find_mesh(robot *r, const abut_tree *at, const char *name, char out[PATH_SIZE], abut_err *err)
{
    enum { LEVELS = 32 };
    static const char PACKAGE[] = "package://", FILE_[] = "file://";
    const char *slash = strrchr(r->urdf->text, '/');
    const int n = slash ? (int)(slash - r->urdf->text) + 1 : 0, of_package = !strncmp(name, PACKAGE, strlen(PACKAGE));
    const char *inner = of_package ? name + strlen(PACKAGE) : !strncmp(name, FILE_, strlen(FILE_)) ? name + strlen(FILE_) : name;
    const char *behind = strchr(inner, '/');
    char probe[2 * PATH_SIZE], up[3 * LEVELS + 1] = "";
    if ((size_t)n + strlen(inner) + strlen(r->reader.base) + sizeof up >= PATH_SIZE)
        return abut_tree_fail(at, err, "%s: this path is longer than %d letters", at->key, PATH_SIZE - 1);
    snprintf(out, PATH_SIZE, "%.*s%s", *inner == '/' ? 0 : n, r->urdf->text, inner);
    if (!of_package) return ABUT_OK;
    for (int level = 0; level < LEVELS; level++, strcat(up, "../"))
        for (const char *path = inner; path; path = path == inner && behind ? behind + 1 : NULL) {
            snprintf(out, PATH_SIZE, "%.*s%s%s", n, r->urdf->text, up, path);
            snprintf(probe, sizeof probe, "%s%s", *out == '/' ? "" : r->reader.base, out);
            if (!access(probe, F_OK)) return ABUT_OK;
        }
    return abut_tree_fail(at, err, "%s: no folder above %s has it", name, r->make.file);
}

/* <mesh filename scale>; corners of triangles of an .stl become one point. */
static abut_status put_mesh(robot *r, const abut_tree *t, abut_tree *part, abut_err *err)
{
    const char *name = NULL, *dot;
    char path[PATH_SIZE];
    double scale[3] = { 1, 1, 1 }, lo[3], hi[3];
    abut_mesh m = { 0 };
    abut_status rc = check_element(r, t, ABUT_WORDS("filename", "scale"), err);
    if (!rc) rc = read_text(t, "filename", &name, err);
    if (!rc) rc = read_numbers(t, "scale", 3, scale, err);
    if (!rc) rc = find_mesh(r, abut_tree_find(t, "filename"), name, path, err);
    if (rc) return rc;
    abut_make_text(&r->make, part, "mesh", "%s", path);
    abut_make_numbers(&r->make, part, "scale", scale, 3);
    if (r->make.failed || !(dot = strrchr(name, '.')) || (strcmp(dot, ".stl") != 0 && strcmp(dot, ".STL") != 0)) return ABUT_OK;
    rc = abut_scene_load(&r->reader, abut_tree_find(part, "mesh"), &m, err);
    abut_mesh_bounds(&m, lo, hi);
    double size = 0;
    for (int k = 0; k < 3; k++) size += fabs(scale[k]) * (hi[k] - lo[k]);
    if (!rc && size > 0) abut_make_number(&r->make, part, "weld", 1e-9 * size, NULL);
    abut_mesh_clear(&m);
    return rc;
}

/* `rotate` and `translate`, where they are not none. */
static void put_pose(robot *r, abut_tree *in, const pose *p)
{
    double q[4];
    abut_scene_quaternion(p->R, q);
    if (memcmp(p->R, HERE.R, sizeof p->R) != 0) {
        abut_tree *turn = abut_make_map(&r->make, in, "rotate");
        abut_make_numbers(&r->make, turn, "axis", q + 1, 3);
        abut_make_number(&r->make, turn, "angle", 2 * atan2(abut_v3_norm(abut_v3_get(q + 1)), q[0]), "rad");
    }
    if (p->t[0] != 0 || p->t[1] != 0 || p->t[2] != 0) abut_make_numbers(&r->make, in, "translate", p->t, 3);
}

/* A <collision> or <visual> as a part of a union. */
static abut_status put_shape(robot *r, const limb *l, const abut_tree *t, abut_tree *parts, abut_err *err)
{
    enum { SIDES = 48, DIVISIONS = 8 };
    static const char *const SHAPES[] = { "box", "cylinder", "sphere", "mesh", NULL };
    static const pose UPRIGHT = { { 1, 0, 0, 0, 0, -1, 0, 1, 0 }, { 0, 0, 0 } };    /* axis y to z */
    const abut_tree *g = abut_tree_find(t, "geometry"), *s = g ? g->child : NULL;
    abut_tree_maker *m = &r->make;
    double size[3] = { 0 }, radius = 0, length = 0;
    int kind = 0;
    pose at;
    abut_status rc = check_element(r, t, ABUT_WORDS("name", "origin", "geometry", "material"), err);
    if (!rc) rc = read_origin(r, t, &at, err);
    if (!rc && (!s || s->next || s->kind != ABUT_TREE_MAP))
        rc = abut_tree_fail(g ? g : t, err, "<%s> of link '%s': expected <geometry> with one of box, cylinder, sphere, mesh",
                            t->key, l->name);
    while (!rc && SHAPES[kind] && strcmp(SHAPES[kind], s->key) != 0) kind++;
    if (!rc && !SHAPES[kind])
        rc = abut_tree_fail(s, err, "<%s>: a geometry that is not known: expected box, cylinder, sphere or mesh", s->key);
    if (rc) return rc;
    at = times(&l->in_body, &at);
    m->line = s->key_line;
    abut_tree *part = abut_make_map(m, parts, NULL), *generate = kind < 3 ? abut_make_map(m, part, "generate") : NULL;
    if (kind == 3) rc = put_mesh(r, s, part, err);
    if (kind == 0) {
        rc = check_element(r, s, ABUT_WORDS("size"), err);
        if (!rc) rc = read_numbers(s, "size", 3, size, err);
        abut_tree *box = abut_make_map(m, generate, "box");
        abut_make_numbers(m, box, "size", size, 3);
        abut_make_numbers(m, box, "cells", (double[3]){ 1, 1, 1 }, 3);
    } else if (kind < 3) {
        rc = check_element(r, s, kind == 1 ? ABUT_WORDS("radius", "length") : ABUT_WORDS("radius"), err);
        if (!rc) rc = read_numbers(s, "radius", 1, &radius, err);
        if (!rc) rc = read_numbers(s, "length", 1, &length, err);
    }
    if (!rc && kind == 1 && !(radius > 0 && length > 0))
        rc = abut_tree_fail(s, err, "<cylinder>: radius %g, length %g: expected more than 0", radius, length);
    if (kind == 1) {
        const double profile[4][2] = { { 0, -length / 2 }, { radius, -length / 2 }, { radius, length / 2 }, { 0, length / 2 } };
        abut_tree *turned = abut_make_map(m, generate, "revolution"), *list = abut_make_list(m, turned, "profile");
        for (int k = 0; k < 4; k++) abut_make_numbers(m, list, NULL, profile[k], 2);
        abut_make_numbers(m, turned, "cells", (double[2]){ SIDES, 1 }, 2);
        at = times(&at, &UPRIGHT);
    } else if (kind == 2) {
        abut_tree *ball = abut_make_map(m, generate, "icosphere");
        abut_make_number(m, ball, "radius", radius, NULL);
        abut_make_number(m, ball, "divisions", DIVISIONS, NULL);
    }
    put_pose(r, part, &at);
    return rc;
}

static abut_status read_link(robot *r, const abut_tree *t, limb *l, abut_err *err)
{
    *l = (limb){ .at = t, .joint = -1 };
    abut_status rc = read_text(t, "name", &l->name, err);
    if (!rc) rc = check_element(r, t, ABUT_WORDS("name", "inertial", "collision", "visual", "material"), err);
    for (const limb *other = r->link; other < l && !rc; other++)
        if (!strcmp(other->name, l->name))
            rc = abut_tree_fail(t, err, "link '%s': twice, the first in line %d", l->name, other->at->line);
    const abut_tree *inertial = rc ? NULL : abut_tree_find(t, "inertial");
    return inertial ? read_inertial(r, inertial, l, err) : rc;
}

/* ---- joints ---- */

static int moves(const joint *j) { return j->kind <= PRISMATIC; }

/* *row: the link, or the joint, that the attribute names. */
static abut_status find_named(const robot *r, const abut_tree *t, const char *key, int of_joints, int32_t *row, abut_err *err)
{
    const int32_t n = of_joints ? r->njoints : r->nlinks;
    const char *name = NULL, **names = calloc((size_t)n + 1, sizeof *names);
    for (int32_t i = 0; i < n && names; i++) names[i] = of_joints ? r->joint[i].name : r->link[i].name;
    const abut_status rc = read_text(t, key, &name, err);
    if (rc) return free(names), rc;
    return abut_scene_named(t, of_joints ? "joint" : "link", name, names, NULL, row, err);
}

/* The numbers of <limit>, <dynamics> and <axis>. */
static abut_status read_drive(robot *r, const abut_tree *t, joint *j, abut_err *err)
{
    const abut_tree *limit = abut_tree_find(t, "limit"), *dynamics = abut_tree_find(t, "dynamics");
    const abut_tree *axis = abut_tree_find(t, "axis");
    abut_status rc = axis ? check_element(r, axis, ABUT_WORDS("xyz"), err) : ABUT_OK;
    if (!rc && axis) rc = read_numbers(axis, "xyz", 3, j->axis, err);
    double unit[3] = { j->axis[0], j->axis[1], j->axis[2] };
    const double length = abut_tree_norm(unit, 3);
    if (!rc && !(length > 0)) rc = abut_tree_fail(axis, err, "<axis>: a direction of length 0");
    for (int k = 0; k < 3; k++) j->axis[k] = unit[k] / length;
    j->has_limit = j->kind == REVOLUTE || j->kind == PRISMATIC;
    if (!rc && j->has_limit && !limit)
        rc = abut_tree_fail(t, err, "joint '%s' is %s: expected <limit lower=\"..\" upper=\"..\">", j->name, KINDS[j->kind]);
    if (!rc && limit) rc = check_element(r, limit, ABUT_WORDS("lower", "upper", "effort", "velocity"), err);
    if (!rc && limit) rc = read_numbers(limit, "lower", 1, &j->limit[0], err);
    if (!rc && limit) rc = read_numbers(limit, "upper", 1, &j->limit[1], err);
    if (!rc && limit) rc = read_numbers(limit, "effort", 1, &j->effort, err);
    if (!rc && limit && abut_tree_find(limit, "velocity")) note_unused(r, abut_tree_find(limit, "velocity"));
    if (!rc && dynamics) rc = check_element(r, dynamics, ABUT_WORDS("damping", "friction"), err);
    if (!rc && dynamics) rc = read_numbers(dynamics, "damping", 1, &j->damping, err);
    return rc || !dynamics ? rc : read_numbers(dynamics, "friction", 1, &j->friction, err);
}

static abut_status read_joint(robot *r, const abut_tree *t, joint *j, abut_err *err)
{
    *j = (joint){ .at = t, .leader = -1, .axis = { 1, 0, 0 } };
    const abut_tree *parent = abut_tree_find(t, "parent"), *child = abut_tree_find(t, "child"), *type = abut_tree_find(t, "type");
    abut_status rc = read_text(t, "name", &j->name, err);
    if (!rc) rc = check_element(r, t, ABUT_WORDS("name", "type", "parent", "child", "origin", "axis", "limit", "dynamics",
                                                 "mimic"), err);
    if (!rc && (!type || !parent || !child))
        rc = abut_tree_fail(t, err, "joint '%s': expected type=\"...\", <parent link=\"..\"> and <child link=\"..\">", j->name);
    for (const joint *other = r->joint; other < j && !rc; other++)
        if (!strcmp(other->name, j->name))
            rc = abut_tree_fail(t, err, "joint '%s': twice, the first in line %d", j->name, other->at->line);
    if (!rc) rc = abut_tree_choice(type, "type", KINDS, &j->kind, err);
    if (!rc) rc = check_element(r, parent, ABUT_WORDS("link"), err);
    if (!rc) rc = check_element(r, child, ABUT_WORDS("link"), err);
    if (!rc) rc = find_named(r, parent, "link", 0, &j->parent, err);
    if (!rc) rc = find_named(r, child, "link", 0, &j->child, err);
    if (!rc) rc = read_origin(r, t, &j->origin, err);
    if (!rc) rc = read_drive(r, t, j, err);
    if (rc) return rc;
    limb *l = &r->link[j->child];
    if (l->joint >= 0)
        return abut_tree_fail(child, err, "link '%s' is the child of the joints '%s' and '%s': expected one; a joint of the "
                              "scene closes a loop", l->name, r->joint[l->joint].name, j->name);
    l->joint = (int32_t)(j - r->joint);
    return ABUT_OK;
}

static abut_status read_mimic(robot *r, joint *j, abut_err *err)
{
    const abut_tree *t = abut_tree_find(j->at, "mimic");
    if (!t) return ABUT_OK;
    j->ratio = 1;
    abut_status rc = check_element(r, t, ABUT_WORDS("joint", "multiplier", "offset"), err);
    if (!rc) rc = find_named(r, t, "joint", 1, &j->leader, err);
    if (!rc) rc = read_numbers(t, "multiplier", 1, &j->ratio, err);
    if (!rc) rc = read_numbers(t, "offset", 1, &j->offset, err);
    if (!rc && (!moves(j) || !moves(&r->joint[j->leader])))
        rc = abut_tree_fail(t, err, "<mimic>: expected two joints that are revolute, continuous or prismatic");
    return rc;
}

/* The positions at the start. */
static abut_status read_positions(robot *r, abut_err *err)
{
    const char **names = calloc((size_t)r->njoints + 1, sizeof *names);
    abut_status rc = names ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%d joints", r->njoints);
    int32_t n = 0;
    for (int32_t i = 0; i < r->njoints && !rc; i++)
        if (moves(&r->joint[i]) && r->joint[i].leader < 0) names[n++] = r->joint[i].name;
    if (!rc && r->position) rc = abut_tree_keys(r->position, "position", names, err);
    free(names);
    for (joint *j = r->joint; j < r->joint + r->njoints && !rc && r->position; j++) {
        const abut_tree *t = abut_tree_find(r->position, j->name);
        if (t) rc = abut_tree_real(t, j->name, j->kind == PRISMATIC ? ABUT_Q_LENGTH : ABUT_Q_ANGLE, &j->q, NULL, err);
    }
    for (joint *j = r->joint; j < r->joint + r->njoints && !rc; j++) {
        double ratio = 1, q = 0;
        const joint *from = j;
        for (n = 0; from->leader >= 0 && n <= r->njoints; n++)
            q += ratio * from->offset, ratio *= from->ratio, from = &r->joint[from->leader];
        if (n > r->njoints) return abut_tree_fail(j->at, err, "joint '%s' follows itself (mimic)", j->name);
        if (j->leader >= 0) j->q = q + ratio * from->q;
        if (j->has_limit && !(j->limit[0] < j->q && j->q < j->limit[1]))
            rc = abut_tree_fail(j->at, err, "joint '%s' starts at %g, expected between its limits, %g and %g: `position: "
                                "{%s: ...}` of the robot says another start", j->name, j->q, j->limit[0], j->limit[1],
                                from->name);
    }
    return rc;
}

/* ---- the tree of links ---- */

/* Adds mass, centre and tensor of b to those of a, both in the axes of a's body. */
static void add_mass(limb *a, const limb *b)
{
    const pose *p = &b->in_body;
    double c[3] = { p->t[0], p->t[1], p->t[2] }, RI[9], I[9], d[2][3];
    if (!(b->mass > 0)) return;
    abut_m3_add_times(c, p->R, b->center);
    abut_m3_mul(RI, p->R, b->inertia);
    abut_m3_mul_nt(I, RI, p->R);
    const double m[2] = { a->mass, b->mass }, share = m[1] / (m[0] + m[1]);
    for (int k = 0; k < 3; k++) {
        const double apart = c[k] - a->center[k], center = m[0] > 0 ? a->center[k] + share * apart : c[k];
        d[0][k] = m[0] > 0 ? a->center[k] - center : 0, d[1][k] = c[k] - center;
        a->center[k] = center;
    }
    a->mass = m[0] + m[1];
    for (int e = 0; e < 9; e++) {
        a->inertia[e] += I[e];
        for (int k = 0; k < 2; k++)
            a->inertia[e] += m[k] * ((e % 4 ? 0 : abut_v3_dot(abut_v3_get(d[k]), abut_v3_get(d[k]))) - d[k][e / 3] * d[k][e % 3]);
    }
}

/* Places a link behind its parent, and joins it to its body. */
static void reach(robot *r, limb *l)
{
    const joint *j = &r->joint[l->joint];
    const limb *parent = &r->link[j->parent];
    pose by = HERE, at;
    if (j->kind == PRISMATIC)
        for (int k = 0; k < 3; k++) by.t[k] = j->q * j->axis[k];
    else if (moves(j) && j->q != 0) rotation(j->axis, j->q, by.R);
    at = times(&parent->place, &j->origin);
    l->place = times(&at, &by);
    l->in_body = HERE;
    if (j->kind == FIXED) l->body = parent->body, l->in_body = times(&parent->in_body, &j->origin);
    l->reached = 1;
}

static abut_status reach_all(robot *r, int32_t *root, abut_err *err)
{
    *root = -1;
    for (int32_t i = 0; i < r->nlinks; i++) {
        limb *l = &r->link[i];
        l->body = i;
        if (l->joint >= 0) continue;
        if (*root >= 0)
            return abut_tree_fail(l->at, err, "links '%s' and '%s': two roots, which no joint has as its child: expected one",
                                  r->link[*root].name, l->name);
        *root = i, l->reached = 1, l->place = r->place, l->in_body = HERE;
    }
    for (int32_t n = *root >= 0, before = 0; n != before;) {
        before = n;
        for (limb *l = r->link; l < r->link + r->nlinks; l++)
            if (!l->reached && r->link[r->joint[l->joint].parent].reached) reach(r, l), n++;
    }
    for (const limb *l = r->link; l < r->link + r->nlinks; l++)
        if (!l->reached)
            return abut_tree_fail(r->joint[l->joint].at, err, "joint '%s' is in a loop of links, or behind one: expected a tree; "
                                  "a joint of the scene closes a loop", r->joint[l->joint].name);
    return ABUT_OK;
}

/* ---- objects and joints of the scene ---- */

/* Puts a map into another; keys that the scene has there stay. */
static void put_into(robot *r, abut_tree *in, const char *name, abut_tree *made)
{
    abut_tree *own = in ? abut_tree_find(in, name) : NULL;
    if (r->make.failed) return;
    if (!own || own->kind != ABUT_TREE_MAP) {
        r->make.failed |= !abut_tree_add(r->arena, in, name, made);
        return;
    }
    for (abut_tree *c = made->child, *next; c; c = next) {
        next = c->next, c->next = NULL;
        if (!abut_tree_find(own, c->key)) r->make.failed |= !abut_tree_add(r->arena, own, c->key, c);
    }
}

/* Shapes of all links of body i, visual ones of links without collision; its mass. */
static abut_status gather(robot *r, int32_t i, abut_tree *parts, abut_err *err)
{
    limb all = { .has_mass = 0 };
    abut_status rc = ABUT_OK;
    for (const limb *l = r->link; l < r->link + r->nlinks; l++) {
        const char *which = abut_tree_find(l->at, "collision") ? "collision" : "visual";
        if (l->body != i) continue;
        add_mass(&all, l);
        all.has_mass |= l->has_mass;
        for (const abut_tree *c = l->at->child; c && !rc; c = c->next)
            if (c->kind == ABUT_TREE_MAP && !strcmp(c->key, which)) rc = put_shape(r, l, c, parts, err), all.shapes++;
    }
    limb *to = &r->link[i];
    to->has_mass = all.has_mass, to->shapes = all.shapes, to->mass = all.mass;
    memcpy(to->center, all.center, sizeof to->center);
    memcpy(to->inertia, all.inertia, sizeof to->inertia);
    return rc;
}

static abut_status put_link(robot *r, int32_t i, int is_root, abut_tree *objects, abut_err *err)
{
    limb *l = &r->link[i];
    abut_tree_maker *m = &r->make;
    char name[2 * ABUT_SCENE_NAME + 2];
    m->line = l->at->line;
    abut_tree *o = abut_make_map(m, NULL, NULL), *parts = abut_make_list(m, o, "union");
    abut_status rc = gather(r, i, parts, err);
    m->line = l->at->line;
    if (rc || (is_root && !l->shapes && r->fixed)) return rc;
    if (!l->shapes) return abut_tree_fail(l->at, err, "link '%s' has no <collision> and no <visual>: expected a shape%s", l->name,
                                          is_root ? ", or `base: fixed` of the robot" : ", or a fixed joint to another link");
    if (l->has_mass && !(l->mass > 0) && !(is_root && r->fixed))
        return abut_tree_fail(l->at, err, "link '%s' has no mass: expected more than 0%s", l->name,
                              is_root ? ", or `base: fixed` of the robot" : "");
    if (l->mass > 0) {
        const double *I = l->inertia, inertia[6] = { I[0], I[4], I[8], I[1], I[2], I[5] };
        abut_tree *rigid = abut_make_map(m, o, "rigid");
        abut_make_number(m, rigid, "mass", l->mass, NULL);
        abut_make_numbers(m, rigid, "center", l->center, 3);
        abut_make_numbers(m, rigid, "inertia", inertia, 6);
    } else {
        abut_make_text(m, o, "rigid", "true");
        if (!l->has_mass)
            abut_make_text(m, r->notes, NULL, "%s:%d: link '%s' has no <inertial>: its mass is that of its shapes, by the "
                           "density of its material", m->file, m->line, l->name);
    }
    put_pose(r, o, &l->place);
    if (is_root && r->fixed) abut_make_text(m, o, "lock", "all");
    if (r->apart) abut_make_text(m, abut_make_list(m, o, "groups"), NULL, "%s", r->name);
    if (r->material) abut_make_text(m, o, "material", "%s", r->material->text);
    snprintf(name, sizeof name, "%s.%s", r->name, l->name);
    put_into(r, objects, name, o);
    return ABUT_OK;
}

static void put_joint(robot *r, const joint *j, int of_world, abut_tree *joints)
{
    abut_tree_maker *m = &r->make;
    const limb *child = &r->link[j->child], *parent = &r->link[r->link[j->parent].body];
    const char *const unit = j->kind == PRISMATIC ? NULL : "rad";
    char name[2 * ABUT_SCENE_NAME + 10];
    double axis[3] = { 0 };
    if (j->kind > PLANAR) return;
    m->line = j->at->line;
    abut_m3_add_times(axis, child->place.R, j->axis);
    abut_tree *t = abut_make_map(m, NULL, NULL);
    abut_tree *place = abut_make_map(m, t, j->kind == PLANAR ? "planar" : j->kind == PRISMATIC ? "slider" : "hinge");
    abut_make_numbers(m, place, "at", child->place.t, 3);
    abut_make_numbers(m, place, j->kind == PLANAR ? "normal" : "direction", axis, 3);
    abut_tree *between = abut_make_list(m, t, "between"), *limits = j->has_limit ? abut_make_list(m, t, "limits") : NULL;
    if (of_world) abut_make_text(m, between, NULL, "world");
    else abut_make_text(m, between, NULL, "%s.%s", r->name, parent->name);
    abut_make_text(m, between, NULL, "%s.%s", r->name, child->name);
    for (int k = 0; k < 2 && limits; k++) abut_make_number(m, limits, NULL, j->limit[k] - j->q, unit);
    if (j->damping != 0) abut_make_number(m, t, "damper", j->damping, NULL);
    if (j->friction != 0) abut_make_number(m, t, "friction", j->friction, NULL);
    snprintf(name, sizeof name, "%s.%s", r->name, j->name);
    put_into(r, joints, name, t);
    if (j->leader < 0) return;
    m->line = abut_tree_find(j->at, "mimic")->line;
    t = abut_make_map(m, NULL, NULL);
    abut_tree *gear = abut_make_map(m, t, "gear"), *of = abut_make_list(m, gear, "of");
    abut_make_text(m, of, NULL, "%s", name);
    abut_make_text(m, of, NULL, "%s.%s", r->name, r->joint[j->leader].name);
    abut_make_number(m, gear, "ratio", j->ratio, NULL);
    abut_make_text(m, t, "contact", "on");
    strcat(name, "-mimic");
    put_into(r, joints, name, t);
}

/* The effort of a joint bounds its motor, if that pulls and has no bound. */
static void bound_motors(robot *r)
{
    const abut_tree *motors = abut_tree_find(r->root, "motors");
    char name[2 * ABUT_SCENE_NAME + 2];
    for (abut_tree *t = motors && motors->kind == ABUT_TREE_LIST ? motors->child : NULL; t; t = t->next) {
        const abut_tree *of = t->kind == ABUT_TREE_MAP ? abut_tree_find(t, "joint") : NULL;
        if (!of || of->kind != ABUT_TREE_TEXT || abut_tree_find(t, "max")) continue;
        if (!abut_tree_find(t, "stiffness") && !abut_tree_find(t, "damper")) continue;
        for (const joint *j = r->joint; j < r->joint + r->njoints; j++) {
            snprintf(name, sizeof name, "%s.%s", r->name, j->name);
            if (strcmp(name, of->text) != 0 || j->effort == 0) continue;
            r->make.line = j->at->line;
            abut_make_number(&r->make, t, "max", j->effort, NULL);
        }
    }
}

/* *map: the map of that key of the scene, which is made if it is absent. */
static abut_status map_of(robot *r, const char *key, abut_tree **map, abut_err *err)
{
    *map = abut_tree_find(r->root, key);
    if (*map && (*map)->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(*map, key, err, "a map of names");
    if (!*map) *map = abut_make_map(&r->make, r->root, key);
    return ABUT_OK;
}

static abut_status read_robot(robot *r, const abut_tree *t, abut_err *err)
{
    enum { MOST = 4096 };
    abut_tree *objects = NULL, *joints = NULL;
    int32_t root = -1, nlinks = 0, njoints = 0;
    abut_status rc = ABUT_OK;
    for (const abut_tree *c = t->child; c; c = c->next) {
        const int element = c->kind == ABUT_TREE_MAP;
        nlinks += element && !strcmp(c->key, "link"), njoints += element && !strcmp(c->key, "joint");
    }
    if (strcmp(t->key, "robot") != 0 || !nlinks || nlinks > MOST || njoints > MOST)
        return abut_tree_fail(t, err, "<%s> with %d <link> and %d <joint>: expected <robot>, with 1 to %d links", t->key, nlinks,
                              njoints, MOST);
    r->link = ABUT_NEW(r->arena, limb, nlinks), r->joint = ABUT_NEW(r->arena, joint, njoints + 1);
    if (!r->link || !r->joint) return abut_fail(err, ABUT_E_NOMEM, "%d links", nlinks);
    rc = check_element(r, t, ABUT_WORDS("name", "version", "link", "joint", "material"), err);
    for (const abut_tree *c = t->child; c && !rc; c = c->next)
        if (c->kind == ABUT_TREE_MAP && !strcmp(c->key, "link")) rc = read_link(r, c, &r->link[r->nlinks], err), r->nlinks++;
    for (const abut_tree *c = t->child; c && !rc; c = c->next)
        if (c->kind == ABUT_TREE_MAP && !strcmp(c->key, "joint")) rc = read_joint(r, c, &r->joint[r->njoints], err), r->njoints++;
    for (int32_t i = 0; i < r->njoints && !rc; i++) rc = read_mimic(r, &r->joint[i], err);
    if (!rc) rc = read_positions(r, err);
    if (!rc) rc = reach_all(r, &root, err);
    if (!rc && !strcmp(r->link[root].name, "world")) r->fixed = 1;
    if (!rc) rc = map_of(r, "objects", &objects, err);
    if (!rc) rc = map_of(r, "joints", &joints, err);
    for (int32_t i = 0; i < r->nlinks && !rc; i++)
        if (r->link[i].body == i) rc = put_link(r, i, i == root, objects, err);
    for (const joint *j = r->joint; j < r->joint + r->njoints && !rc; j++)
        put_joint(r, j, r->link[j->parent].body == root && !r->link[root].shapes, joints);
    if (!rc) bound_motors(r);
    return rc;
}

/* One note with the names of all elements that have no effect. */
static void say_unused(robot *r)
{
    char text[1000] = "";
    size_t n = 0;
    for (const abut_tree *c = r->unused ? r->unused->child : NULL; c && n < sizeof text - 2 * ABUT_SCENE_NAME; c = c->next)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (line %s)", n ? ", " : "", c->key, c->text);
    if (n) abut_make_text(&r->make, r->notes, NULL, "%s: without effect: %s", r->make.file, text);
}

static abut_status replace_robot(robot *r, const abut_tree *t, abut_err *err)
{
    abut_bytes in = { 0 };
    abut_tree *root = NULL;
    const char *name = NULL;
    char *path = NULL;
    abut_status rc = abut_keys_read(&r->reader, &ROBOT, t, r, err);
    if (!rc) rc = abut_tree_word(r->urdf, "urdf", "robot.urdf", &name, err);
    if (!rc && r->material) rc = abut_tree_word(r->material, "material", "steel", &name, err);
    if (rc) return rc;
    const char *base = *r->urdf->text == '/' ? "" : r->reader.base;
    path = abut_arena_alloc(r->arena, strlen(base) + strlen(r->urdf->text) + 1, 1);
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "robots: no memory");
    sprintf(path, "%s%s", base, r->urdf->text);
    r->make = (abut_tree_maker){ r->arena, path, 1, 0 };
    r->unused = abut_make_map(&r->make, NULL, NULL);
    rc = abut_scene_placed(r->urdf, abut_bytes_load(path, &in, err), err);
    if (!rc) rc = abut_xml_read(r->arena, path, &in, &root, err);
    if (!rc) rc = read_robot(r, root, err);
    if (!rc) say_unused(r);
    abut_bytes_clear(&in);
    return !rc && r->make.failed ? abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the scene", path) : rc;
}

abut_status abut_scene_robots(abut_arena *arena, abut_tree *root, const char *base, const abut_tree **notes, abut_err *err)
{
    abut_tree *all = abut_tree_find(root, "robots"), **link = &root->child;
    abut_tree *list = all ? abut_tree_new(arena, ABUT_TREE_LIST, all->file, all->line, all->col, NULL) : NULL;
    *notes = list;
    if (!all) return ABUT_OK;
    if (!list) return abut_fail(err, ABUT_E_NOMEM, "robots: no memory");
    if (all->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(all, "robots", err, "a map of names, {arm: {urdf: arm.urdf}}");
    abut_status rc = ABUT_OK;
    for (const abut_tree *t = all->child; t && !rc; t = t->next) {
        robot r = { .arena = arena, .reader = { root, base, NULL }, .root = root, .notes = list, .name = t->key, .place = HERE };
        if (t->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(t, t->key, err, "a map, {urdf: arm.urdf}");
        rc = replace_robot(&r, t, err);
    }
    root->last = NULL;
    while (*link) {
        if (*link == all) *link = all->next, root->n--;
        else root->last = *link, link = &(*link)->next;
    }
    return rc;
}
