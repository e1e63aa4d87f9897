/* Scenes of the public rigid IPC code, one JSON file each, as the tree of a scene.
 *
 * formats/IPC.md explains every key, and which of them mean something else than they say.  Bodies that move freely are rigid
 * objects; static and kinematic ones are obstacles, of which the latter have motions.  Forces are those of the keys' units: the
 * public code turns a body by twice its torque, which `published` imitates. */
#include "formats/ipc/script.h"

#include "base/order.h"
#include "formats/scene/keys.h"
#include "math/mat3.h"
#include "math/spd_inline.h"
#include "math/vec3.h"
#include "model/schemes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS 0.017453292519943295    /* of a degree */
#define KAPPA_SCALE 1e11                /* of the smallest barrier stiffness (Li 2020, App. F) */
#define WELD 1e-9                       /* of the diagonal of a mesh: points that are as near are one */

enum { DYNAMIC, STATIC, KINEMATIC };

/* One entry of rigid_bodies, and what its mesh tells. */
typedef struct body {
    const abut_tree *at, *mesh, *vertices, *edges, *faces, *fixed, *poses;
    double density, position[3], rotation[3], scale[3], dimensions[3], linear[3], angular[3], force[3], torque[3], until;
    int has_dimensions, type, split, enabled, compared;
    int32_t group;
    int locked[6];              /* of is_dof_fixed */
    char name[ABUT_SCENE_NAME];
    abut_mesh shape;            /* placed */
    double weld;                /* m: its points less than that apart are one; 0: there are none */
    int is_solid;               /* its density is of a volume */
    double center[3], S[9];     /* of mass; second moment over the mass, m^2 */
} body;

/* The whole file, with the defaults of the public code. */
typedef struct rigid {
    abut_ipc_script s;          /* maker, notes, trees */
    abut_scene_reader reader;
    int published;
    double step, end, dhat, thickness, eps_v, tolerance, near, kappa, mu, gravity[3];
    int32_t steps, lags;
    int is_absolute, scheme, scene, solver, barrier;
    const abut_tree *bodies, *restitution, *unused[16];
    int32_t nbodies;
    body *body;
    double diagonal;            /* m: of the box of all points at the start */
} rigid;

/* ---- keys ---- */

#define UNUSED(k, i) { ABUT_TREE(rigid, k, unused[i]) }
#define VECTOR(k, m) { ABUT_NUMBER(body, k, m, PURE, NULL) }

static const abut_key BODY_KEYS[] = {
    { ABUT_TREE(body, "mesh", mesh) }, { ABUT_TREE(body, "vertices", vertices) }, { ABUT_TREE(body, "edges", edges) },
    { ABUT_TREE(body, "faces", faces) }, { ABUT_NUMBER(body, "density", density, PURE, "(0,)") }, VECTOR("position", position),
    VECTOR("rotation", rotation), { .name = "scale", .kind = ABUT_KEY_AXES, ABUT_AT(body, scale) },
    { ABUT_NUMBER(body, "dimensions", dimensions, PURE, "[0,)"), ABUT_HAS(body, has_dimensions) },
    VECTOR("linear_velocity", linear), VECTOR("angular_velocity", angular), VECTOR("force", force), VECTOR("torque", torque),
    { ABUT_TREE(body, "is_dof_fixed", fixed) }, { ABUT_WORD(body, "type", type, ABUT_WORDS("dynamic", "static", "kinematic")) },
    { ABUT_NUMBER(body, "kinematic_max_time", until, PURE, NULL) }, { ABUT_TREE(body, "kinematic_poses", poses) },
    { ABUT_WHOLE(body, "group_id", group, "[-1,2147483647]") }, { ABUT_FLAG(body, "split_components", split) },
    { ABUT_FLAG(body, "enabled", enabled) }, { ABUT_FLAG(body, "ipc_comparison_enabled", compared) }, { 0 }
};
static const abut_keys BODY = { "rigid body", NULL, BODY_KEYS, 0, NULL };

static const abut_key PROBLEM_KEYS[] = {
    { ABUT_TREE(rigid, "rigid_bodies", bodies) }, { ABUT_NUMBER(rigid, "gravity", gravity, PURE, NULL) },
    { ABUT_NUMBER(rigid, "coefficient_friction", mu, PURE, "[0,)") },
    { ABUT_TREE(rigid, "coefficient_restitution", restitution) }, UNUSED("collision_eps", 0), UNUSED("do_intersection_check", 1),
    { ABUT_WORD(rigid, "time_stepper", scheme, ABUT_WORDS("default", "implicit_euler", "implicit_newmark")) }, { 0 }
};
static const abut_keys PROBLEM = { "rigid_body_problem", NULL, PROBLEM_KEYS, 1, NULL };
static const abut_key DISTANCE_KEYS[] = {
    { ABUT_NUMBER(rigid, "initial_barrier_activation_distance", dhat, PURE, "(0,)") },
    { ABUT_NUMBER(rigid, "minimum_separation_distance", thickness, PURE, "[0,)") }, UNUSED("detection_method", 2),
    UNUSED("trajectory_type", 3), { ABUT_WORD(rigid, "barrier_type", barrier, ABUT_WORDS("ipc")) }, { 0 }
};
static const abut_keys DISTANCE = { "distance_barrier_constraint", NULL, DISTANCE_KEYS, 0, NULL };
static const abut_key FRICTION_KEYS[] = {
    { ABUT_NUMBER(rigid, "static_friction_speed_bound", eps_v, PURE, "(0,)") },
    { ABUT_WHOLE(rigid, "iterations", lags, "[-1,1000000]") }, { 0 }
};
static const abut_keys FRICTION = { "friction_constraints", NULL, FRICTION_KEYS, 0, NULL };
static const abut_key SOLVER_KEYS[] = {
    { ABUT_NUMBER(rigid, "velocity_conv_tol", tolerance, PURE, "(0,)") },
    { ABUT_FLAG(rigid, "is_velocity_conv_tol_abs", is_absolute) },
    { ABUT_NUMBER(rigid, "dhat_epsilon", near, PURE, "(0,)") },
    { ABUT_NUMBER(rigid, "min_barrier_stiffness_scale", kappa, PURE, "(0,)") }, { 0 }
};
static const abut_keys SOLVER = { NULL, NULL, SOLVER_KEYS, 0, NULL };
static const abut_key TOP_KEYS[] = {
    { ABUT_MAP("rigid_body_problem", &PROBLEM) },
    { ABUT_WORD(rigid, "scene_type", scene, ABUT_WORDS("distance_barrier_rb_problem")) },
    { ABUT_WORD(rigid, "solver", solver, ABUT_WORDS("ipc_solver")) },
    { ABUT_NUMBER(rigid, "timestep", step, PURE, "(0,)") }, { ABUT_NUMBER(rigid, "max_time", end, PURE, NULL) },
    { ABUT_WHOLE(rigid, "max_iterations", steps, "[-1,2147483647]") }, { ABUT_MAP("distance_barrier_constraint", &DISTANCE) },
    { ABUT_MAP("friction_constraints", &FRICTION) }, { ABUT_MAP("newton_solver", &SOLVER) }, { ABUT_MAP("ipc_solver", &SOLVER) },
    UNUSED("homotopy_solver", 4), UNUSED("ncp_solver", 5), UNUSED("volume_constraint", 6), UNUSED("viewport_bbox", 7),
    UNUSED("oriented", 8), { 0 }
};
static const abut_keys TOP = { "rigid scene", NULL, TOP_KEYS, 1, NULL };

int abut_rigid_scene_is(const abut_tree *root)
{
    return root->kind == ABUT_TREE_MAP && abut_tree_find(root, "rigid_body_problem") != NULL;
}

/* Drops comments: keys that begin with '#'. */
static void drop_comments(abut_tree *t)
{
    abut_tree **link = &t->child;
    t->last = NULL;
    while (*link) {
        abut_tree *c = *link;
        if (c->key && *c->key == '#') {
            *link = c->next;
            t->n--;
            continue;
        }
        drop_comments(c);
        t->last = c;
        link = &c->next;
    }
}

/* is_dof_fixed: one flag, or six. */
static abut_status read_fixed(body *b, abut_err *err)
{
    int all = 0;
    abut_status rc = ABUT_OK;
    if (!b->fixed) return ABUT_OK;
    if (b->fixed->kind == ABUT_TREE_TEXT) {
        rc = abut_tree_choice(b->fixed, "is_dof_fixed", abut_false_true, &all, err);
        for (int k = 0; k < 6; k++) b->locked[k] = all;
    } else {
        int *flag = b->locked;
        rc = abut_tree_list(b->fixed, "is_dof_fixed", 6, "true", err);
        for (const abut_tree *c = b->fixed->child; c && !rc; c = c->next)
            rc = abut_tree_choice(c, "is_dof_fixed", abut_false_true, flag++, err);
    }
    int locks = 0;
    for (int k = 0; k < 6; k++) locks += b->locked[k];
    if (!rc && locks == 6) b->type = STATIC;
    return rc;
}

/* ---- meshes ---- */

/* A list of rows of `width` numbers; of points or of an element's points. */
static abut_status read_rows(const abut_tree *t, const char *what, int width, abut_mesh *m, abut_err *err)
{
    const int is_point = !strcmp(what, "vertices");
    abut_status rc = t ? abut_tree_list(t, what, 0, width == 2 ? "[0, 1]" : "[0, 1, 2]", err) : ABUT_OK;
    for (const abut_tree *c = t ? t->child : NULL; c && !rc; c = c->next) {
        double x[3];
        int32_t v[3];
        rc = is_point ? abut_tree_vector(c, what, ABUT_Q_PURE, 3, x, err) : abut_tree_ints(c, what, width, 0, m->nv - 1, v, err);
        if (!rc) rc = is_point ? abut_mesh_add_vertex(m, x, err) : width == 3 ? abut_mesh_add_tri(m, v[0], v[1], v[2], err)
                                                                              : abut_mesh_add_seg(m, v[0], v[1], err);
    }
    return rc;
}

/* The points that no element has, of lists without faces and edges. */
static abut_status read_lists(const body *b, abut_mesh *m, abut_err *err)
{
    abut_status rc = read_rows(b->vertices, "vertices", 3, m, err);
    if (!rc) rc = read_rows(b->edges, "edges", 2, m, err);
    if (!rc) rc = read_rows(b->faces, "faces", 3, m, err);
    for (int32_t i = 0; i < m->nv && !m->nf && !m->ns && !rc; i++) rc = abut_mesh_add_point(m, i, err);
    return rc ? rc : abut_mesh_check(m, err);
}

/* Makes one point of those at one place, as the corners of triangles in an .stl; *length: of `weld`, 0: there are none. */
static abut_status weld(abut_mesh *m, double *length, abut_err *err)
{
    double lo[3], hi[3];
    const size_t bytes = 3 * (size_t)m->nf * sizeof *m->tri;
    int32_t *before = malloc(bytes + 1);
    *length = 0;
    if (!before) return abut_fail(err, ABUT_E_NOMEM, "triangles: no memory for %d", m->nf);
    if (bytes) memcpy(before, m->tri, bytes);
    abut_mesh_bounds(m, lo, hi);
    const double near = WELD * abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)));
    const abut_status rc = m->nf ? abut_mesh_weld(m, near, err) : ABUT_OK;
    if (!rc && bytes && memcmp(before, m->tri, bytes)) *length = near;
    free(before);
    return rc;
}

/* Adds a cell of the corners d[n], about the middle of the box, to mass, first and second moments (second over the mass). */
static void add_cell(const abut_vec3 *d, int n, double mass, double share, double *sum, double first[3], double second[9])
{
    const abut_vec3 s = abut_v3_add(abut_v3_add(d[0], n > 1 ? d[1] : abut_v3(0, 0, 0)), n > 2 ? d[2] : abut_v3(0, 0, 0));
    double c[4][3];
    abut_v3_put(c[3], s);
    for (int k = 0; k < n; k++) abut_v3_put(c[k], d[k]);
    const int corners = share < 1. / 12 ? 4 : n;    /* a tet has the middle as its fourth */
    *sum += mass;
    for (int i = 0; i < 3; i++) first[i] += mass * c[3][i] / corners;
    for (int e = 0; e < 9; e++) {
        double product = n > 1 ? c[3][e / 3] * c[3][e % 3] : 0;
        for (int k = 0; k < n; k++) product += c[k][e / 3] * c[k][e % 3];
        second[e] += mass * share * product;
    }
}

/* Mass over the density, centre and second moment: of the volume that closed triangles enclose, of the area of others; of
 * segments; of points. */
static abut_status measure(body *b, abut_err *err)
{
    const abut_mesh *m = &b->shape;
    double lo[3], hi[3], sum = 0, first[3] = { 0 }, second[9] = { 0 };
    abut_mesh_bounds(m, lo, hi);
    const abut_vec3 mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
    b->is_solid = m->nf >= 4 && !abut_mesh_solid_check(m, NULL);
    for (int32_t t = 0; t < m->nf; t++) {
        abut_vec3 d[3];
        for (int k = 0; k < 3; k++) d[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)m->tri[3 * (size_t)t + (size_t)k]), mid);
        const abut_vec3 n = abut_v3_cross(abut_v3_sub(d[1], d[0]), abut_v3_sub(d[2], d[0]));
        if (b->is_solid) add_cell(d, 3, abut_v3_dot(d[0], abut_v3_cross(d[1], d[2])) / 6, 1. / 20, &sum, first, second);
        else add_cell(d, 3, 0.5 * abut_v3_norm(n), 1. / 12, &sum, first, second);
    }
    for (int32_t s = 0; s < (m->nf ? 0 : m->ns); s++) {
        abut_vec3 d[2];
        for (int k = 0; k < 2; k++) d[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)m->seg[2 * (size_t)s + (size_t)k]), mid);
        add_cell(d, 2, abut_v3_norm(abut_v3_sub(d[1], d[0])), 1. / 6, &sum, first, second);
    }
    for (int32_t i = 0; i < (m->nf || m->ns ? 0 : m->np); i++) {
        const abut_vec3 d = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)m->point[i]), mid);
        add_cell(&d, 1, 1, 1, &sum, first, second);
    }
    if (!(sum > 0)) return abut_tree_fail(b->at, err, "'%s' has neither volume, area, length nor points", b->name);
    for (int i = 0; i < 3; i++) first[i] /= sum;
    for (int e = 0; e < 9; e++) b->S[e] = second[e] / sum - first[e / 3] * first[e % 3];
    abut_v3_put(b->center, abut_v3_add(mid, abut_v3_get(first)));
    return ABUT_OK;
}

static int is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* R = Rz Ry Rx, of degrees. */
static void rotation_of(const double degrees[3], double R[9])
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    memcpy(R, I, sizeof I);
    for (int axis = 0; axis < 3; axis++) {
        const double a = degrees[axis] * RADIANS, c = cos(a), s = sin(a);
        const int p = (axis + 1) % 3, q = (axis + 2) % 3;
        for (int k = 0; k < 3; k++) {
            const double u = R[3 * p + k], v = R[3 * q + k];
            R[3 * p + k] = c * u - s * v, R[3 * q + k] = s * u + c * v;
        }
    }
}

/* Reads the mesh, and places it: scale, rotation, position. */
static abut_status read_shape(const rigid *r, body *b, abut_err *err)
{
    double lo[3], hi[3], R[9];
    if (!b->mesh == !b->vertices) return abut_tree_fail(b->at, err, "a rigid body: expected one of mesh and vertices");
    abut_status rc = b->mesh ? abut_scene_load(&r->reader, b->mesh, &b->shape, err) : read_lists(b, &b->shape, err);
    if (rc) return rc;
    abut_mesh_bounds(&b->shape, lo, hi);
    for (int k = 0; k < 3 && b->has_dimensions; k++) {
        const double extent = hi[k] - lo[k];
        b->scale[k] = extent > 0 ? b->dimensions[k] / extent : 1;
    }
    for (int k = 0; k < 3; k++)
        if (!(b->scale[k] > 0 || b->scale[k] < 0))
            return abut_tree_fail(b->at, err, "'%s' would have no extent along %c: expected a scale, or dimensions, above 0",
                                  b->name, "xyz"[k]);
    rotation_of(b->rotation, R);
    for (int i = 0; i < 9; i++) R[i] *= b->scale[i % 3];
    abut_mesh_transform(&b->shape, R, b->position);
    rc = abut_scene_placed(b->at, weld(&b->shape, &b->weld, err), err);
    return rc ? rc : measure(b, err);
}

/* The mesh of an object: its file with its place, or the points as they were placed. */
static void put_shape(rigid *r, const body *b, abut_tree *o)
{
    abut_tree_maker *m = &r->s.make;
    const abut_mesh *shape = &b->shape;
    if (b->mesh && !b->split) {
        abut_make_text(m, o, "mesh", "%s", b->mesh->text);
        abut_make_numbers(m, o, "scale", b->scale, 3);
        abut_tree *turn = is_zero(b->rotation) ? NULL : abut_make_list(m, o, "rotate");
        for (int k = 0; k < 3; k++) {
            if (b->rotation[k] == 0) continue;
            abut_tree *one = abut_make_map(m, turn, NULL);
            abut_make_numbers(m, one, "axis", (double[3]){ k == 0, k == 1, k == 2 }, 3);
            abut_make_number(m, one, "angle", b->rotation[k], "deg");
        }
        abut_make_numbers(m, o, "translate", b->position, 3);
        if (b->weld > 0) abut_make_number(m, o, "weld", b->weld, NULL);
        return;
    }
    static const char *const names[] = { "points", "segments", "triangles" };
    const int32_t *const of[] = { NULL, shape->seg, shape->tri }, count[] = { shape->nv, shape->ns, shape->nf };
    if (shape->np) abut_make_text(m, o, "use", "points");   /* of segments between them */
    abut_tree *list = abut_make_map(m, abut_make_map(m, o, "generate"), "explicit");
    for (int k = 0; k < 3; k++) {
        const int chain = k == 1 && shape->np > 0;
        const int32_t n = chain ? shape->nv - 1 : count[k];
        abut_tree *rows = n > 0 ? abut_make_list(m, list, names[k]) : NULL;
        for (int32_t i = 0; i < n; i++) {
            double row[3];
            for (int c = 0; c < (k ? k + 1 : 3); c++)
                row[c] = chain ? i + c : k ? of[k][(k + 1) * (size_t)i + (size_t)c] : shape->x[3 * (size_t)i + (size_t)c];
            abut_make_numbers(m, rows, NULL, row, k ? k + 1 : 3);
        }
    }
}

/* ---- bodies ---- */

/* "cube-3": from the mesh and the place in the list, from 0. */
static void name_body(body *b, int32_t number)
{
    const char *path = b->mesh && b->mesh->kind == ABUT_TREE_TEXT ? b->mesh->text : "body", *slash = strrchr(path, '/');
    const char *stem = slash ? slash + 1 : path;
    const size_t n = strcspn(stem, ".");
    snprintf(b->name, sizeof b->name, "%.*s-%d", (int)(n < 40 ? n : 40), stem, (int)number);
}

/* Velocities along what is_dof_fixed locks have no effect. */
static void drop_locked(rigid *r, body *b)
{
    int dropped = 0;
    for (int k = 0; k < 3; k++) {
        dropped |= (b->locked[k] && b->linear[k] != 0) || (b->locked[3 + k] && b->angular[k] != 0);
        if (b->locked[k]) b->linear[k] = 0;
        if (b->locked[3 + k]) b->angular[k] = 0;
    }
    char text[200];
    snprintf(text, sizeof text, "%s: velocities along what is_dof_fixed locks have no effect", b->name);
    if (dropped) abut_ipc_assume(&r->s, text);
}

static void put_rate(rigid *r, abut_tree *parent, const char *key, const double degrees[3], const double center[3])
{
    abut_tree_maker *m = &r->s.make;
    if (is_zero(degrees)) return;
    abut_tree *turn = abut_make_map(m, parent, key);
    abut_make_numbers(m, turn, "axis", degrees, 3);
    abut_make_number(m, turn, "rate", abut_v3_norm(abut_v3_get(degrees)), "deg/s");
    abut_make_numbers(m, turn, "center", center, 3);
}

/* A motion of a whole body. */
static abut_tree *put_motion(rigid *r, const body *b)
{
    abut_tree *m = abut_make_map(&r->s.make, r->s.motion, NULL);
    abut_make_text(&r->s.make, abut_make_map(&r->s.make, m, "select"), "object", "%s", b->name);
    return m;
}

/* Columns: principal axes of inertia, smallest moment first, each with its largest coordinate positive unless they would be
 * left-handed. */
static void principal_axes(const body *b, double R[9])
{
    double w[3], Q[9];
    int order[3] = { 0, 1, 2 };
    abut_sym_eigen(3, b->S, w, Q);
    for (int i = 0; i < 2; i++)         /* a large second moment is a small moment of inertia */
        for (int k = 0; k < 2 - i; k++)
            if (w[order[k]] < w[order[k + 1]] * (1 - 1e-9)) {
                const int swap = order[k];
                order[k] = order[k + 1], order[k + 1] = swap;
            }
    for (int c = 0; c < 3; c++) {
        const double *q = Q + 3 * order[c];
        const int most = fabs(q[1]) > fabs(q[0]) ? (fabs(q[2]) > fabs(q[1]) ? 2 : 1) : fabs(q[2]) > fabs(q[0]) ? 2 : 0;
        for (int i = 0; i < 3; i++) R[3 * i + c] = q[most] < 0 ? -q[i] : q[i];
    }
    if (abut_m3_det(R) < 0)
        for (int i = 0; i < 3; i++) R[3 * i + 2] = -R[3 * i + 2];
}

/* The rotation by the vector w, rad, after R0^T, as a quaternion. */
static void quaternion_of(const double w[3], const double R0[9], double q[4])
{
    const double angle = abut_v3_norm(abut_v3_get(w)), s = angle > 0 ? sin(angle) / angle : 1;
    const double c = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0;
    const double cross[9] = { 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0 };
    double R[9], Q[9];
    for (int e = 0; e < 9; e++) R[e] = s * cross[e] + c * w[e / 3] * w[e % 3] + (e % 4 ? 0 : 1 - c * angle * angle);
    abut_m3_mul_nt(Q, R, R0);
    abut_scene_quaternion(Q, q);
}

typedef struct pose {
    double position[3], rotation[3];
} pose;
static const abut_key POSE_KEYS[] = { { ABUT_NUMBER(pose, "position", position, PURE, NULL) },
                                      { ABUT_NUMBER(pose, "rotation", rotation, PURE, NULL) }, { 0 } };
static const abut_keys POSE = { "kinematic pose", NULL, POSE_KEYS, 0, NULL };

/* kinematic_poses: one at the end of each step, of the centre of mass and of the principal axes.  *time, last: after them. */
static abut_status put_poses(rigid *r, const body *b, double *time, double last[3], abut_err *err)
{
    abut_tree_maker *m = &r->s.make;
    double R0[9];
    *time = 0;
    memcpy(last, b->center, 3 * sizeof *last);
    abut_status rc = b->poses ? abut_tree_list(b->poses, "kinematic_poses", 0, "{position: [0, 1, 0]}", err) : ABUT_OK;
    if (rc || !b->poses || !b->poses->n) return rc;
    principal_axes(b, R0);
    abut_tree *motion = put_motion(r, b), *keys = abut_make_list(m, motion, "keyframes");
    int n = 0;
    for (const abut_tree *c = b->poses->child; c && !rc; c = c->next) {
        pose p = { { 0 }, { 0 } };
        double q[4], shift[3];
        if ((rc = abut_keys_read(&r->reader, &POSE, c, &p, err))) break;
        m->line = c->line;
        abut_tree *key = abut_make_map(m, keys, NULL);
        *time = ++n * r->step;
        quaternion_of(p.rotation, R0, q);
        for (int k = 0; k < 3; k++) shift[k] = p.position[k] - b->center[k];
        abut_make_number(m, key, "time", *time, "s");
        abut_make_numbers(m, key, "translate", shift, 3);
        abut_make_numbers(m, key, "quaternion", q, 4);
        memcpy(last, p.position, sizeof p.position);
    }
    abut_make_numbers(m, motion, "center", b->center, 3);
    return rc;
}

/* The velocities of a kinematic body, after its poses. */
static abut_status put_kinematic(rigid *r, const body *b, abut_err *err)
{
    abut_tree_maker *m = &r->s.make;
    double from, center[3];
    const abut_status rc = put_poses(r, b, &from, center, err);
    if (rc || (is_zero(b->linear) && is_zero(b->angular)) || (b->until >= 0 && b->until <= from)) return rc;
    abut_tree *motion = put_motion(r, b);
    if (!is_zero(b->linear)) abut_make_numbers(m, motion, "translate", b->linear, 3);
    put_rate(r, motion, "rotate", b->angular, center);
    if (from > 0) abut_make_number(m, motion, "from", from, "s");
    if (b->until >= 0) abut_make_number(m, motion, "until", b->until, "s");
    return ABUT_OK;
}

static void put_lock(rigid *r, const body *b, abut_tree *o)
{
    static const char *const names[] = { "translate", "rotate" };
    abut_tree_maker *m = &r->s.make;
    abut_tree *lock = NULL;
    for (int k = 0; k < 2; k++) {
        const int *flag = b->locked + 3 * k;
        if (!flag[0] && !flag[1] && !flag[2]) continue;
        if (!lock) lock = abut_make_map(m, o, "lock");
        abut_tree *list = abut_make_list(m, lock, names[k]);
        for (int i = 0; i < 3; i++) abut_make_text(m, list, NULL, "%s", abut_false_true[flag[i]]);
    }
}

/* Velocities, locks and loads of a body that moves freely. */
static void put_dynamic(rigid *r, const body *b, abut_tree *o)
{
    abut_tree_maker *m = &r->s.make;
    if (!is_zero(b->linear)) abut_make_numbers(m, o, "velocity", b->linear, 3);
    put_rate(r, o, "angular-velocity", b->angular, b->center);
    put_lock(r, b, o);
    if (!is_zero(b->force)) abut_make_numbers(m, put_motion(r, b), "force", b->force, 3);
    if (is_zero(b->torque)) return;
    double torque[3];
    for (int k = 0; k < 3; k++) torque[k] = b->torque[k] * RADIANS * (r->published ? 2 : 1);
    abut_make_numbers(m, put_motion(r, b), "torque", torque, 3);
}

/* Cells whose measure a density multiplies. */
enum { OF_POINTS, OF_LENGTH, OF_AREA, OF_VOLUME };

static int density_of(const body *b)
{
    const abut_mesh *m = &b->shape;
    if (!m->nf) return m->ns ? OF_LENGTH : OF_POINTS;
    return b->is_solid ? OF_VOLUME : OF_AREA;
}

/* The material, and what triangles, segments and points are: of a section of 1 mm, whose density follows from that of the key. */
static void put_material(rigid *r, const body *b, abut_tree *o)
{
    static const char *const what[] = { "point", "length", "area", "volume" };
    static const double section[] = { 4. / 3 * 3.14159265358979 * 1e-9, 3.14159265358979e-6, 1e-3, 1 };
    abut_tree_maker *m = &r->s.make;
    const int of = density_of(b);
    char name[64];
    snprintf(name, sizeof name, "%s-%g", what[of], b->density);
    abut_make_text(m, o, "material", "%s", name);
    abut_make_text(m, o, "rigid", "true");
    char text[200];
    snprintf(text, sizeof text, "%s: the surface is open or inside out: its density is of its area", b->name);
    if (of == OF_AREA && b->shape.nf >= 4) abut_ipc_assume(&r->s, text);
    if (of == OF_AREA) abut_make_number(m, abut_make_map(m, o, "shell"), "thickness", 1e-3, "m");
    if (of == OF_LENGTH) abut_make_number(m, abut_make_map(m, o, "rod"), "radius", 1e-3, "m");
    if (of == OF_POINTS) abut_make_number(m, abut_make_map(m, o, "particle"), "radius", 1e-3, "m");
    if (m->failed || abut_tree_find(r->s.materials, name)) return;
    abut_make_number(m, abut_make_map(m, r->s.materials, name), "density", b->density / section[of], NULL);
}

/* Names the groups of a body: all that are not dynamic are one group, which a dynamic body joins by the number of one of them. */
static void put_groups(rigid *r, const body *b, abut_tree *o)
{
    int joins = 0;
    for (int32_t i = 0; i < r->nbodies && b->group >= 0; i++)
        joins |= r->body[i].enabled && r->body[i].type != DYNAMIC && r->body[i].group == b->group;
    if (b->type == DYNAMIC && b->group < 0) return;
    abut_tree *list = abut_make_list(&r->s.make, o, "groups");
    if (b->type != DYNAMIC || joins) abut_make_text(&r->s.make, list, NULL, "static");
    else abut_make_text(&r->s.make, list, NULL, "group-%d", (int)b->group);
}

static abut_status put_body(rigid *r, body *b, abut_err *err)
{
    abut_tree_maker *m = &r->s.make;
    m->line = b->at->line;
    drop_locked(r, b);
    abut_tree *o = abut_make_map(m, r->s.objects, b->name);
    put_shape(r, b, o);
    put_groups(r, b, o);
    if (r->thickness > 0) abut_make_number(m, o, "contact-thickness", r->thickness, "m");
    if (b->type != DYNAMIC) {
        abut_make_text(m, o, "obstacle", "true");
        return b->type == KINEMATIC ? put_kinematic(r, b, err) : ABUT_OK;
    }
    put_material(r, b, o);
    put_dynamic(r, b, o);
    return ABUT_OK;
}

/* ---- split_components ---- */

/* The triangles of set k of points as the mesh of a body of its own. */
static abut_status take_component(const body *whole, const int32_t *set, int32_t k, body *part, abut_err *err)
{
    const abut_mesh *m = &whole->shape;
    int32_t *number = malloc(((size_t)m->nv + 1) * sizeof *number);
    abut_status rc = number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "components of %d points", m->nv);
    *part = *whole;
    part->shape = (abut_mesh){ 0 };
    snprintf(part->name + strlen(part->name), sizeof part->name - strlen(part->name), ".%d", (int)k);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        if (set[i] != k) continue;
        number[i] = part->shape.nv;
        rc = abut_mesh_add_vertex(&part->shape, m->x + 3 * (size_t)i, err);
    }
    for (int32_t t = 0; t < m->nf && !rc; t++) {
        const int32_t *v = m->tri + 3 * (size_t)t;
        if (set[*v] == k) rc = abut_mesh_add_tri(&part->shape, number[v[0]], number[v[1]], number[v[2]], err);
    }
    free(number);
    return rc ? rc : measure(part, err);
}

/* Puts one body for each connected set of triangles. */
static abut_status put_components(rigid *r, const body *whole, abut_err *err)
{
    const abut_mesh *m = &whole->shape;
    int32_t *set = malloc(((size_t)m->nv + 1) * sizeof *set);
    if (!set) return abut_fail(err, ABUT_E_NOMEM, "components of %d points", m->nv);
    for (int32_t i = 0; i < m->nv; i++) set[i] = i;
    for (int32_t t = 0; t < 3 * m->nf; t++) abut_set_join(set, m->tri[t], m->tri[t - t % 3]);
    const int32_t n = abut_set_numbers(set, m->nv);
    abut_status rc = m->nf ? ABUT_OK : abut_tree_fail(whole->at, err, "split_components: of triangles, this mesh has none");
    for (int32_t k = 0; k < n && !rc; k++) {
        body part;
        rc = take_component(whole, set, k, &part, err);
        if (!rc) rc = put_body(r, &part, err);
        abut_mesh_clear(&part.shape);
    }
    free(set);
    return rc;
}

/* ---- the whole ---- */

static abut_status read_body(rigid *r, const abut_tree *t, int32_t number, body *b, abut_err *err)
{
    *b = (body){ .at = t, .density = 1000, .scale = { 1, 1, 1 }, .until = -1, .enabled = 1, .group = -1 };
    if (t->kind != ABUT_TREE_MAP) return abut_tree_fail_kind(t, "rigid_bodies", err, "a map, {mesh: cube.obj}");
    abut_status rc = abut_keys_read(&r->reader, &BODY, t, b, err);
    if (rc || !b->enabled) return rc;
    name_body(b, number);
    rc = read_fixed(b, err);
    return rc ? rc : read_shape(r, b, err);
}

static abut_status read_bodies(rigid *r, abut_err *err)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    abut_status rc = abut_tree_list(r->bodies, "rigid_bodies", -1, "{mesh: cube.obj}", err);
    r->body = rc ? NULL : calloc((size_t)r->bodies->n, sizeof *r->body);
    if (!rc && !r->body) rc = abut_fail(err, ABUT_E_NOMEM, "%d rigid bodies", r->bodies->n);
    for (const abut_tree *c = r->bodies->child; c && !rc; c = c->next) {
        body *b = &r->body[r->nbodies++];
        double low[3], high[3];
        rc = read_body(r, c, r->nbodies - 1, b, err);
        if (rc || !b->enabled) continue;
        abut_mesh_bounds(&b->shape, low, high);
        for (int k = 0; k < 3; k++) lo[k] = fmin(lo[k], low[k]), hi[k] = fmax(hi[k], high[k]);
    }
    r->diagonal = abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)));
    for (int32_t i = 0; i < r->nbodies && !rc; i++)
        if (r->body[i].enabled) rc = r->body[i].split ? put_components(r, &r->body[i], err) : put_body(r, &r->body[i], err);
    return rc;
}

/* Steps: a time, which is rounded up to steps, or their number. */
static abut_status count_steps(const rigid *r, const abut_tree *root, double *steps, abut_err *err)
{
    if (r->end >= 0 && r->steps >= 0)
        return abut_tree_fail(abut_tree_find(root, "max_iterations"), err, "max_iterations, the number of steps, and max_time: "
                              "expected one of them");
    *steps = r->end >= 0 ? ceil(r->end / r->step) : r->steps >= 0 ? r->steps : 1000;
    return *steps > 0 ? ABUT_OK : abut_tree_fail(root, err, "no step: expected max_time or max_iterations above 0");
}

static void finish(rigid *r, double steps)
{
    abut_tree_maker *m = &r->s.make;
    abut_tree *root = r->s.root, *time = abut_make_map(m, root, "time"), *contact = abut_make_map(m, root, "contact");
    abut_make_number(m, time, "step", r->step, "s");
    abut_make_number(m, time, "end", steps * r->step, "s");
    if (r->scheme == 2) abut_make_text(m, time, "scheme", "%s", abut_scheme_names[abut_scheme_with(ABUT_SCHEME_BETA_GAMMA)]);
    abut_make_numbers(m, root, "gravity", r->gravity, 3);
    abut_make_number(m, contact, "dhat", r->dhat, "m");
    if (r->kappa != KAPPA_SCALE) abut_make_number(m, contact, "kappa-scale", r->kappa / KAPPA_SCALE, NULL);
    abut_make_number(m, abut_make_map(m, contact, "barrier"), "stiffen-below", r->near * r->diagonal, "m");
    abut_make_text(m, contact, "start", "pressed");
    abut_tree *friction = abut_make_map(m, contact, "friction");
    abut_make_number(m, friction, "mu", r->lags ? r->mu : 0, NULL);
    abut_make_number(m, friction, "eps_v", r->eps_v, "m/s");
    if (r->lags < 0) abut_make_text(m, friction, "lags", "converged");
    else if (r->lags) abut_make_text(m, friction, "lags", "%d", (int)r->lags);
    abut_make_number(m, root, "tolerance", r->tolerance * (r->is_absolute ? 1 : r->diagonal), "m/s");
    for (size_t i = 0; i < sizeof r->unused / sizeof *r->unused; i++)
        if (r->unused[i]) abut_ipc_unused(&r->s, r->unused[i]->key, r->unused[i]->key_line);
    if (r->restitution) abut_ipc_unused(&r->s, "coefficient_restitution", r->restitution->key_line);
    if (!r->lags && r->mu > 0) abut_ipc_assume(&r->s, "friction_constraints.iterations 0: no friction");
}

abut_status abut_rigid_scene_read(abut_arena *arena, abut_tree *in, const char *base, int published, abut_tree **root,
                                  abut_ipc_notes *notes, abut_err *err)
{
    rigid r = { .published = published, .step = 0.01, .end = -1, .steps = -1, .dhat = 1e-3, .eps_v = 1e-3, .lags = 1,
                .tolerance = 1e-2, .near = 1e-9, .kappa = KAPPA_SCALE, .s = { .notes = { "", "" } } };
    double steps = 0;
    drop_comments(in);
    r.reader = (abut_scene_reader){ in, base, NULL };
    r.s.make = (abut_tree_maker){ arena, in->file, 1, 0 };
    r.s.root = abut_make_map(&r.s.make, NULL, NULL);
    abut_make_text(&r.s.make, r.s.root, "abut", "1");
    r.s.objects = abut_make_map(&r.s.make, r.s.root, "objects");
    r.s.materials = abut_make_map(&r.s.make, r.s.root, "materials");
    r.s.motion = abut_make_list(&r.s.make, r.s.root, "motion");
    abut_status rc = abut_keys_read(&r.reader, &TOP, in, &r, err);
    if (!rc) rc = count_steps(&r, in, &steps, err);
    if (!rc) rc = read_bodies(&r, err);
    if (!rc) finish(&r, steps);
    if (!rc && r.s.make.failed) rc = abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the scene", in->file);
    for (int32_t i = 0; i < r.nbodies; i++) abut_mesh_clear(&r.body[i].shape);
    free(r.body);
    if (!rc) *root = r.s.root, *notes = r.s.notes;
    return rc;
}
