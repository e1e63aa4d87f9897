/* Rigid bodies and frames: what locks hold of them; the stiffness K of the orthogonality energy K |F^T F - 1|^2 of rigid ones,
 * from the loads that strain them.
 *
 * A load with the generalised force G (N m) strains by G / 8K.  Those that are known at the start are
 *
 *     spin      w^2 S             w the rate, S the largest second moment of the mass, kg m^2
 *     weight    m (a + |f|/m) r   on a support at the largest distance r from the centre of mass; m: with what joints join to it
 *     stop      m v r / h         from the largest speed v of the scene, in one time step
 *
 * and 8K is the largest of them over a fifth of the strain that is allowed, at least 1e3 S / h^2, so that schemes that damp
 * oscillations damp those of a stretch, and at most 1e9 S / h^2, which bounds the condition of a step. */
#include "scene/build_parts.h"

#include "math/mat3.h"
#include "math/rigid.h"
#include "math/spd_inline.h"
#include "model/motion.h"
#include "model/schemes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double DESIGN = 0.2;               /* of the allowed strain */
static const double LEAST = 1e3, MOST = 1e9;    /* 8 K over S / h^2 */
static const double STICKS = 1e-4;              /* rad/s, and sizes of the bodies a second: slower, joints with friction stick */
static const double TURN_MOST = 1;              /* rad in a step by a motor */
static const double ANGLE_MOST = 0.05;          /* rad in a step of a scheme whose elasticity is not at its end */

/* A rigid body at rest, and loads on it. */
typedef struct body {
    const abut_part *part;
    abut_vec3 center;
    double mass, S, r;      /* kg; kg m^2, largest; m */
    double rate, pull;      /* rad/s, m/s^2: largest, known at the start */
    double carried;         /* N: pull of all bodies that joints join to it */
    int32_t root;           /* a body of those, the same for all of them in the end */
} body;

static body measure(const abut_build *b, const abut_part *p, const abut_model *m, const double *v)
{
    body o = { .part = p };
    const abut_mesh *surface = &p->object->proxy.surface;
    double S[9] = { 0 }, w[3], Q[9];
    int32_t node[4];
    for (int32_t k = 0; k < 4; k++) {
        node[k] = p->first + k;
        o.mass += b->mass[node[k]];
        o.center = abut_v3_axpy(o.center, 0.25, abut_v3_get(b->X + 3 * (size_t)node[k]));
    }
    for (int k = 0; k < 4; k++) {
        double d[3];
        abut_v3_put(d, abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)node[k]), o.center));
        for (int i = 0; i < 9; i++) S[i] += o.mass / 4 * d[i / 3] * d[i % 3];
    }
    abut_sym_eigen(3, S, w, Q);
    o.S = fmax(w[0], fmax(w[1], w[2]));
    for (int32_t i = 0; i < surface->nv; i++)
        o.r = fmax(o.r, abut_v3_norm(abut_v3_sub(abut_v3_get(surface->x + 3 * (size_t)i), o.center)));
    const abut_rigid motion = abut_rigid_part(4, node, b->mass, b->X, v);
    o.rate = abut_v3_norm(abut_v3_get(motion.spin));
    o.pull = abut_v3_norm(abut_v3_get(m->gravity));
    return o;
}

/* Speed, m/s, and rate, rad/s, that motion k gives its nodes at most; the largest factor of a load. */
static double speed_of(const abut_build *b, const abut_model *m, int32_t k, double *rate)
{
    double reach = 0, most = 0;
    const int32_t *rows = m->mo_key ? m->mo_key + 2 * k : (const int32_t[2]){ 0, 0 }, nodes = m->mo_first[2 * k + 1];
    const abut_vec3 c = abut_v3_get(m->mo_center + 3 * (size_t)k);
    for (int32_t i = m->mo_first[2 * k]; i < nodes; i++)
        reach = fmax(reach, abut_v3_norm(abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)m->mo_node[i]), c)));
    *rate = 0;
    if (m->mo_kind[k] == ABUT_MOTION_MOVE) *rate = abut_v3_norm(abut_v3_get(m->mo_angular + 3 * (size_t)k));
    if (m->mo_kind[k] == ABUT_MOTION_MOVE) most = abut_v3_norm(abut_v3_get(m->mo_linear + 3 * (size_t)k));
    for (int32_t i = rows[0]; i + 1 < rows[1]; i++) {
        const double dt = m->key_time[i + 1] - m->key_time[i];
        if (m->mo_kind[k] == ABUT_MOTION_KEYS) {
            const double *p = m->key_turn + 4 * (size_t)i, *T = m->key_shift + 3 * (size_t)i;
            const double half = fmin(1, fabs(p[0] * p[4] + p[1] * p[5] + p[2] * p[6] + p[3] * p[7]));
            *rate = fmax(*rate, 2 * acos(half) / dt);
            most = fmax(most, abut_v3_norm(abut_v3_sub(abut_v3_get(T + 3), abut_v3_get(T))) / dt);
        }
        for (int32_t j = 0; j < nodes - m->mo_first[2 * k] && m->mo_kind[k] == ABUT_MOTION_PATH; j++) {
            const size_t at = (size_t)m->mo_path[k] + (size_t)(i - rows[0]) * (size_t)(nodes - m->mo_first[2 * k]) + (size_t)j;
            const double *x = m->path_x + 3 * at, *y = x + 3 * (size_t)(nodes - m->mo_first[2 * k]);
            most = fmax(most, abut_v3_norm(abut_v3_sub(abut_v3_get(y), abut_v3_get(x))) / dt);
        }
    }
    return most + *rate * reach;
}

/* The largest absolute factor of a load. */
static double largest_factor(const abut_model *m, int32_t k)
{
    double most = 0;
    if (!m->key_factor || !m->mo_key || m->mo_key[2 * k] == m->mo_key[2 * k + 1]) return 1;
    for (int32_t i = m->mo_key[2 * k]; i < m->mo_key[2 * k + 1]; i++) most = fmax(most, fabs(m->key_factor[i]));
    return most;
}

/* Adds motion k to the loads of the bodies of its nodes. */
static void add_motion(const abut_build *b, const abut_model *m, int32_t k, body *all)
{
    const double factor = largest_factor(m, k), *a = m->mo_linear + 3 * (size_t)k;
    const int newtons = m->mo_newtons && m->mo_newtons[k];
    double rate;
    (void)speed_of(b, m, k, &rate);
    for (int32_t i = m->mo_first[2 * k]; i < m->mo_first[2 * k + 1]; i++) {
        body *o = &all[m->body[m->mo_node[i]]];
        if (!o->part) continue;
        o->rate = fmax(o->rate, rate);
        if (m->mo_kind[k] != ABUT_MOTION_FORCE) continue;
        const double *share = m->mo_share ? m->mo_share + 3 * (size_t)i : (const double[3]){ 1, 1, 1 };
        const double by = factor * (newtons ? 1 : b->mass[m->mo_node[i]]) / o->mass;
        o->pull += by * abut_v3_norm((abut_vec3){ share[0] * a[0], share[1] * a[1], share[2] * a[2] });
    }
}

/* The largest speed that bodies may meet at: at the start, of a script, of a fall through the scene. */
static double meeting_speed(const abut_build *b, const abut_model *m, const double *v)
{
    double most = 0, lo[3], hi[3], rate, d2 = 0;
    if (b->scene->contact_off) return 0;
    for (int k = 0; k < 3; k++) lo[k] = INFINITY, hi[k] = -INFINITY;
    for (int32_t i = 0; i < m->nv; i++) {
        most = fmax(most, abut_v3_norm(abut_v3_get(v + 3 * (size_t)i)));
        for (int k = 0; k < 3; k++) lo[k] = fmin(lo[k], b->X[3 * i + k]), hi[k] = fmax(hi[k], b->X[3 * i + k]);
    }
    for (int k = 0; k < 3; k++) d2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
    for (int32_t k = 0; k < m->nmo; k++) most = fmax(most, speed_of(b, m, k, &rate));
    return fmax(most, sqrt(2 * abut_v3_norm(abut_v3_get(m->gravity)) * sqrt(d2)));
}

/* Chooses K of a body. */
static void choose(const abut_build *b, const body *o, double speed, abut_rigid_facts *f)
{
    const abut_scene_rigid *g = &o->part->object->rigid;
    const double h = b->scene->step.value, least = LEAST * o->S / (h * h), most = MOST * o->S / (h * h);
    const abut_object_facts *of = &b->out->object[o->part->object - b->scene->object];
    const double V = of->volume * o->part->object->fill[0];
    const double spin = o->rate * o->rate * o->S, weight = o->carried * o->r, stop = o->mass * speed * o->r / h;
    const double K8 = fmin(most, fmax(least, fmax(spin, fmax(weight, stop)) / (DESIGN * g->strain)));
    f->stiffness = g->stiffness > 0 ? g->stiffness * V : K8 / 8;
    f->most = fmax(most / 8, f->stiffness);
    f->kappa = f->stiffness / V;
    f->spin = spin / (8 * f->stiffness), f->weight = weight / (8 * f->stiffness);
    f->stop = fmin(stop / (8 * f->stiffness), speed * sqrt(o->mass / (8 * f->stiffness)));
    f->angle = o->rate * h;
}

static int32_t root_of(body *all, int32_t i)
{
    while (all[i].root != i) i = all[i].root = all[all[i].root].root;
    return i;
}

/* Sets `carried`. */
static void carry(const abut_scene *s, body *all)
{
    for (int32_t i = 0; i < s->nobjects; i++) all[i].root = i;
    for (const abut_scene_joint *j = s->joint; j < s->joint + s->njoints; j++)
        if (j->body[0] >= 0) all[root_of(all, j->body[1])].root = root_of(all, j->body[0]);
    for (int32_t i = 0; i < s->nobjects; i++) all[root_of(all, i)].carried += all[i].mass * all[i].pull;
    for (int32_t i = 0; i < s->nobjects; i++) all[i].carried = all[root_of(all, i)].carried;
}

/* Refuses time schemes in which rotations of a stiff body do not keep their energy. */
static abut_status check_scheme(const abut_build *b, const abut_scene_object *o, double angle, abut_err *err)
{
    const abut_scheme *s = &abut_schemes[b->scene->scheme];
    if (s->is & ABUT_SCHEME_ACCELERATION)
        return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' is rigid, and time.scheme is %s, in which a stretch rings without end: "
                         "expected %s or %s", o->from, o->name, s->name, abut_scheme_names[ABUT_FIRST_SCHEME],
                         abut_scheme_names[abut_scheme_with(ABUT_SCHEME_DAMPS)]);
    if (s->share < 1 && angle > ANGLE_MOST)
        return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' is rigid, rotates by %.3g rad in a time step, and time.scheme is %s: "
                         "expected at most %g rad, a smaller time.step, or %s", o->from, o->name, angle, s->name, ANGLE_MOST,
                         abut_scheme_names[abut_scheme_with(ABUT_SCHEME_DAMPS)]);
    return ABUT_OK;
}

abut_status abut_build_rigid(abut_build *b, abut_err *err)
{
    assert(b);
    const abut_scene *s = b->scene;
    abut_model m;
    double *range = NULL, *strain = NULL;
    int32_t n = 0;
    for (int32_t i = 0; i < s->nobjects; i++) n += s->object[i].rigid.is;
    if (!n) return ABUT_OK;
    if (!(range = abut_build_required(b, "rigid/range", s->nobjects, err)) ||
        !(strain = abut_build_required(b, "rigid/strain", s->nobjects, err)))
        return err ? err->code : ABUT_E_NOMEM;
    abut_status rc = abut_model_view(b->model, &m, err);
    if (rc) return rc;
    body *all = calloc((size_t)s->nobjects + 1, sizeof *all);
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "rigid bodies: %d", n);
    const double *v = abut_arrays_find(b->frame, "node/v")->data, speed = meeting_speed(b, &m, v);
    for (int32_t i = 0; i < s->nobjects; i++)
        if (s->object[i].rigid.is) all[i] = measure(b, &b->part[i], &m, v);
    for (int32_t k = 0; k < m.nmo; k++) add_motion(b, &m, k, all);
    carry(s, all);
    for (int32_t i = 0; i < s->nobjects && !rc; i++) {
        abut_rigid_facts *f = &b->out->object[i].rigid;
        if (!all[i].part) continue;
        choose(b, &all[i], speed, f);
        rc = check_scheme(b, &s->object[i], f->angle, err);
        range[2 * i] = f->stiffness, range[2 * i + 1] = f->most, strain[i] = s->object[i].rigid.strain;
    }
    free(all);
    return rc;
}

/* ---- locks ---- */

/* Unit rows that hold a frame: e_d / 2 at each node for a translation of the centre; s_k . y for the affine map of a direction, y
 * that direction in the frame's axes L (mesh/mesh.h): of all directions, if no rotation is free, else of the free axis. */
static int32_t locked_rows(const double *X, const int lock[6], double (*row)[12])
{
    const double(*s)[3] = abut_frame_corners;
    const int rotations = lock[3] + lock[4] + lock[5];
    double L[9] = { 0 }, inverse[9], y[3] = { 0 };
    int32_t n = 0;
    for (int d = 0; d < 3; d++) {
        if (!lock[d]) continue;
        memset(row[n], 0, sizeof row[n]);
        for (int k = 0; k < 4; k++) row[n][3 * k + d] = 0.5;
        n++;
    }
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 4; k++) L[i] += 0.25 * X[3 * k + i / 3] * s[k][i % 3];
    (void)abut_m3_inverse(inverse, L);
    for (int axis = 0; axis < 3 && rotations == 2; axis++)
        for (int i = 0; i < 3 && !lock[3 + axis]; i++) y[i] = inverse[3 * i + axis];
    const double length = abut_v3_norm(abut_v3_get(y));
    for (int j = 0; j < (rotations == 3 ? 3 : rotations == 2); j++)
        for (int d = 0; d < 3; d++) {
            memset(row[n], 0, sizeof row[n]);
            for (int k = 0; k < 4; k++)
                row[n][3 * k + d] = rotations == 3 ? 0.5 * s[k][j] : (s[k][0] * y[0] + s[k][1] * y[1] +
                                                                      s[k][2] * y[2]) / (2 * length);
            n++;
        }
    return n;
}

abut_status abut_build_locks(abut_build *b, abut_err *err)
{
    double row[12][12];
    int32_t n = 0, *node = NULL;
    double *out = NULL;
    for (int fill = 0; fill < 2; fill++) {
        n = 0;
        for (int32_t o = 0; o < b->scene->nobjects; o++) {
            const abut_part *p = &b->part[o];
            const int32_t rows = p->object->is_frame ? locked_rows(b->X + 3 * (size_t)p->first, p->object->lock, row) : 0;
            if (!rows) continue;
            for (int32_t r = 0; r < rows && fill; r++) {
                for (int k = 0; k < 4; k++) node[4 * (size_t)(n + r) + (size_t)k] = p->first + k;
                memcpy(out + 12 * (size_t)(n + r), row[r], sizeof row[r]);
            }
            n += rows;
            if (b->role[p->first] != ABUT_NODE_FREE)
                return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' has a lock, and a motion moves it: expected one of them",
                                 p->object->from, p->object->name);
        }
        if (!n || fill) return ABUT_OK;
        node = abut_build_required(b, "lock/node", n, err);
        out = node ? abut_build_required(b, "lock/row", n, err) : NULL;
        if (!out) return err ? err->code : ABUT_E_NOMEM;
    }
    return ABUT_OK;
}

/* ---- joints ---- */

/* Joints: the rows u . w - c = 0 (energy/joint.h) of each kind.  a is the first object, or the world, b the second; o, n1, n2 and
 * the direction t belong to a, y_i to b, at the same places at the start; d is the larger distance of a point of both from its
 * centre, so that all rows are lengths.
 *
 *     ball        y - o                                       in x, y, z
 *     hinge       two points on the axis, d apart             six rows, of which one repeats another: equal stretch
 *     fixed       four points
 *     pin-slot    n1, n2 . (y - o)
 *     cylinder    n1, n2 . (y_i - o)                          at two points on the axis, d apart
 *     slider      those of the cylinder, d n1 . n2'           n2' belongs to b
 *     planar      t . (y_i - o)                               at three points
 *     universal   y - o in x, y, z, d t . s                   s, across t at the start, belongs to b
 *     distance    (|y - o|^2 - l^2) / 2l                      two places, l apart
 *
 *     weld        x_i - o in x, y, z                       of a node of b, each a joint by itself
 *     gear        q_1 - r q_2 of two joints (energy/joint.h), no row of this form
 *     a motor that is exact adds, for it at 0 (energy/joint.h),
 *     hinge       d b . n'                                b = t x n
 *     slider      t . (y - o)
 *
 * Rows whose directions are those of the world are linear. */

const char *const abut_joint_names[ABUT_JOINTS] = {
    [ABUT_JOINT_BALL] = "ball", [ABUT_JOINT_HINGE] = "hinge", [ABUT_JOINT_FIXED] = "fixed", [ABUT_JOINT_CYLINDER] = "cylinder",
    [ABUT_JOINT_SLIDER] = "slider", [ABUT_JOINT_PLANAR] = "planar", [ABUT_JOINT_PIN_SLOT] = "pin-slot",
    [ABUT_JOINT_UNIVERSAL] = "universal", [ABUT_JOINT_DISTANCE] = "distance",
    [ABUT_JOINT_GEAR] = "gear", [ABUT_JOINT_WELD] = "weld",
};

enum { ROWS_MOST = 12 };

/* The rows of a joint while they are made. */
typedef struct maker {
    const double *X[2];     /* of the four nodes of each body at rest; NULL: the world */
    abut_vec3 center[2];
    double inverse[2][9];   /* of the axes L (mesh/mesh.h) */
    int n;
    double along[ROWS_MOST][11], apart[ROWS_MOST][12];
} maker;

static void add_body(maker *k, int side, const double *X)
{
    double L[9] = { 0 };
    k->X[side] = X;
    if (!X) return;
    for (int i = 0; i < 4; i++) k->center[side] = abut_v3_axpy(k->center[side], 0.25, abut_v3_get(X + 3 * i));
    for (int i = 0; i < 9; i++)
        for (int c = 0; c < 4; c++) L[i] += 0.25 * X[3 * c + i / 3] * abut_frame_corners[c][i % 3];
    (void)abut_m3_inverse(k->inverse[side], L);
}

/* sum[11] += scale times direction n (whole 0), or point n (whole 1), of a side. */
static void add(const maker *k, int side, int whole, double scale, abut_vec3 n, double *sum)
{
    if (!k->X[side]) {
        abut_v3_put(sum + 8, abut_v3_axpy(abut_v3_get(sum + 8), scale, n));
        return;
    }
    double from[3];
    abut_v3_put(from, whole ? abut_v3_sub(n, k->center[side]) : n);
    for (int c = 0; c < 4; c++) {
        double weight = whole;
        for (int i = 0; i < 9; i++) weight += abut_frame_corners[c][i / 3] * k->inverse[side][i] * from[i % 3];
        sum[4 * side + c] += scale * weight / 4;
    }
}

/* A row n . (y - o), n a direction of `of` (-1: the world), y and o at the same place. */
static void add_row(maker *k, int of, abut_vec3 n, abut_vec3 at)
{
    double *u = k->along[k->n], *w = k->apart[k->n++];
    if (of < 0) abut_v3_put(u + 8, n);
    else add(k, of, 0, 1, n, u);
    add(k, 1, 1, 1, at, w);
    add(k, 0, 1, -1, at, w);
}

static void add_point(maker *k, abut_vec3 at)
{
    add_row(k, -1, abut_v3(1, 0, 0), at);
    add_row(k, -1, abut_v3(0, 1, 0), at);
    add_row(k, -1, abut_v3(0, 0, 1), at);
}

static void make_rows(maker *k, const abut_scene_joint *j, double d, int driven)
{
    const abut_vec3 o = abut_v3_get(j->at), t = abut_v3_get(j->direction);
    const abut_vec3 least = fabs(t.x) <= fabs(t.y) && fabs(t.x) <= fabs(t.z) ? abut_v3(1, 0, 0)
                            : fabs(t.y) <= fabs(t.z) ? abut_v3(0, 1, 0) : abut_v3(0, 0, 1);
    const abut_vec3 across = abut_v3_cross(t, least);
    const double length = abut_v3_norm(across);
    const abut_vec3 n1 = length > 0 ? abut_v3_scale(1 / length, across) : across, n2 = abut_v3_cross(t, n1);
    const abut_vec3 low = abut_v3_axpy(o, -0.5 * d, t), high = abut_v3_axpy(o, 0.5 * d, t);
    switch (j->kind) {
    case ABUT_JOINT_BALL: add_point(k, o); break;
    case ABUT_JOINT_HINGE: add_point(k, low), add_point(k, high); break;
    case ABUT_JOINT_FIXED: {
        const abut_vec3 c = k->center[1];
        add_point(k, c);
        add_point(k, abut_v3_add(c, abut_v3(d, 0, 0)));
        add_point(k, abut_v3_add(c, abut_v3(0, d, 0)));
        add_point(k, abut_v3_add(c, abut_v3(0, 0, d)));
        break;
    }
    case ABUT_JOINT_PIN_SLOT: add_row(k, 0, n1, o), add_row(k, 0, n2, o); break;
    case ABUT_JOINT_CYLINDER:
    case ABUT_JOINT_SLIDER:
        add_row(k, 0, n1, low), add_row(k, 0, n2, low), add_row(k, 0, n1, high), add_row(k, 0, n2, high);
        if (j->kind == ABUT_JOINT_CYLINDER) break;
        add(k, 0, 0, 1, n1, k->along[k->n]);
        add(k, 1, 0, d, n2, k->apart[k->n++]);
        break;
    case ABUT_JOINT_PLANAR:
        add_row(k, 0, t, o), add_row(k, 0, t, abut_v3_axpy(o, d, n1)), add_row(k, 0, t, abut_v3_axpy(o, d, n2));
        break;
    case ABUT_JOINT_UNIVERSAL:
        add_point(k, o);
        add(k, 0, 0, 1, t, k->along[k->n]);
        add(k, 1, 0, d, abut_v3_get(j->second), k->apart[k->n++]);
        break;
    case ABUT_JOINT_DISTANCE: {
        const abut_vec3 to = abut_v3_get(j->to);
        const double l = abut_v3_norm(abut_v3_sub(to, o));
        add(k, 1, 1, 0.5 / l, to, k->along[k->n]), add(k, 0, 1, -0.5 / l, o, k->along[k->n]);
        add(k, 1, 1, 1, to, k->apart[k->n]), add(k, 0, 1, -1, o, k->apart[k->n]);
        k->apart[k->n++][11] = 0.5 * l;
        break;
    }
    case ABUT_JOINT_GEAR: k->n++; break;
    case ABUT_JOINT_WELD:
        add_point(k, k->center[1]);
        for (int r = 0; r < 3; r++) k->apart[r][4] = 1, abut_v3_put(k->apart[r] + 8, abut_v3(0, 0, 0));
        break;
    default: assert(0);
    }
    if (!driven) return;
    if (j->kind == ABUT_JOINT_SLIDER) {
        add_row(k, 0, t, o);
        return;
    }
    add(k, 0, 0, 1, n2, k->along[k->n]);
    add(k, 1, 0, d, n1, k->apart[k->n++]);
}

/* The motor of joint i; NULL: none. */
static const abut_scene_motor *motor_of(const abut_scene *s, int32_t i)
{
    for (const abut_scene_motor *m = s->motor; m < s->motor + s->nmotors; m++)
        if (m->joint == i) return m;
    return NULL;
}

static int is_exact(const abut_scene_motor *m)
{
    return m && m->kind != ABUT_MOTOR_EFFORT && m->stiffness == 0 && m->damper == 0;
}

/* The first node of a rigid object and the largest distance of its surface from its centre; the world has -1, 0. */
static int32_t first_of(const abut_build *b, int32_t object, double *r)
{
    if (object < 0) return -1;
    const abut_part *p = &b->part[object];
    const abut_mesh *surface = &p->object->proxy.surface;
    abut_vec3 c = abut_v3(0, 0, 0);
    for (int32_t k = 0; k < 4; k++) c = abut_v3_axpy(c, 0.25, abut_v3_get(b->X + 3 * (size_t)(p->first + k)));
    for (int32_t i = 0; i < surface->nv; i++)
        *r = fmax(*r, abut_v3_norm(abut_v3_sub(abut_v3_get(surface->x + 3 * (size_t)i), c)));
    return p->first;
}

/* The joints of the model: those of the scene, the first node of each weld, then further nodes of welds. */
typedef struct listed {
    int32_t joint, node;    /* of the scene; of a weld */
} listed;

static abut_status list_joints(const abut_build *b, listed **out, int32_t *n, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_status rc = ABUT_OK;
    listed *all = *out = calloc((size_t)s->njoints + 1, sizeof *all);
    *n = s->njoints;
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "joints: %d", s->njoints);
    for (int32_t i = 0; i < s->njoints && !rc; i++) {
        abut_listed *nodes = NULL;
        int32_t count = 0;
        all[i] = (listed){ i, -1 };
        if (s->joint[i].kind != ABUT_JOINT_WELD) continue;
        rc = abut_build_select(b, &s->joint[i].select, s->joint[i].from, &nodes, &count, err);
        listed *grown = rc ? NULL : realloc(all, ((size_t)*n + (size_t)count) * sizeof *all);
        if (!rc && !grown) rc = abut_fail(err, ABUT_E_NOMEM, "joints: %d", *n + count);
        if (grown) *out = all = grown;
        for (int32_t k = 0; k < count && !rc; k++) {
            if (b->role[nodes[k].node] != ABUT_NODE_FREE)
                rc = abut_fail(err, ABUT_E_FORMAT, "%s: '%s' welds nodes of '%s', which a motion moves: expected others",
                               s->joint[i].from, s->joint[i].name, s->object[s->joint[i].body[1]].name);
            all[k ? (*n)++ : i] = (listed){ i, nodes[k].node };
        }
        free(nodes);
    }
    return rc;
}

/* The rows of a joint; *reach: d. */
static abut_status make_joint(const abut_build *b, const listed *of, maker *k, int32_t node[8], double *reach, abut_err *err)
{
    const int32_t i = of->joint;
    const abut_scene_joint *j = &b->scene->joint[i];
    double d = 0;
    int moves = 0;
    *k = (maker){ .n = 0 };
    for (int side = 0; side < 2; side++) {
        if (side && j->kind == ABUT_JOINT_WELD) {
            for (int32_t c = 0; c < 4; c++) node[4 + c] = c ? -1 : of->node;
            k->center[1] = abut_v3_get(b->X + 3 * (size_t)of->node);
            moves = 1;
            continue;
        }
        const int32_t first = first_of(b, j->body[side], &d);
        moves |= first >= 0 && b->role[first] == ABUT_NODE_FREE;
        add_body(k, side, first < 0 ? NULL : b->X + 3 * (size_t)first);
        for (int32_t c = 0; c < 4; c++) node[4 * side + c] = first < 0 ? -1 : first + c;
    }
    const abut_scene_object *held = j->kind == ABUT_JOINT_GEAR && j->held >= 0 ? &b->scene->object[j->held] : NULL;
    int locks = 0;
    for (int c = 0; c < 6 && held; c++) locks += held->lock[c];
    if (held && locks < 6 && b->role[b->part[j->held].first] == ABUT_NODE_FREE)
        return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' is a gear of joints of '%s', which moves freely: expected `lock: all` or "
                         "a motion of it, or two bodies beside the world", j->from, j->name, held->name);
    if (!moves)
        return abut_fail(err, ABUT_E_FORMAT, "%s: '%s' joins '%s', which a motion moves, to %s: expected a body that moves "
                         "freely", j->from, j->name,
                         b->scene->object[j->body[1]].name, j->body[0] < 0 ? "the world" : "another such one");
    make_rows(k, j, *reach = d, is_exact(motor_of(b->scene, i)));
    return ABUT_OK;
}

/* limit[4] of a joint.  Stops are a degree, or a thousandth of d, wide; half of that bears a thousand times the weight of the
 * second body, at the distance d. */
static void set_limit(const abut_build *b, const abut_scene_joint *j, double d, double limit[4])
{
    const int turns = j->kind == ABUT_JOINT_HINGE;
    const double g = abut_v3_norm(abut_v3_get(b->scene->gravity)), width = turns ? acos(-1) / 180 : 1e-3 * d;
    double mass = 0;
    limit[0] = -INFINITY, limit[1] = INFINITY;
    if (!j->has_limits) return;
    for (int32_t k = 0; k < 4; k++) mass += b->mass[b->part[j->body[1]].first + k];
    memcpy(limit, j->limit, sizeof j->limit);
    limit[2] = width;
    limit[3] = 1e3 * mass * (g > 0 ? g : 9.81) * (turns ? d : 1) / ((0.5 + log(2)) * width);
}

static abut_status put_gears(abut_build *b, int32_t n, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t *of = NULL;
    double *ratio = NULL;
    for (int32_t i = 0; i < s->njoints; i++) {
        const abut_scene_joint *j = &s->joint[i];
        double reach = 0;
        if (j->kind != ABUT_JOINT_GEAR) continue;
        if (!of) {
            of = abut_build_required(b, "joint/gear", n, err);
            ratio = of ? abut_build_required(b, "joint/ratio", n, err) : NULL;
            if (!ratio) return err ? err->code : ABUT_E_NOMEM;
            for (int32_t k = 0; k < 2 * n; k++) of[k] = -1;
        }
        for (int side = 0; side < 2; side++) of[2 * i + side] = j->of[side], (void)first_of(b, j->body[side], &reach);
        ratio[2 * i] = j->ratio, ratio[2 * i + 1] = s->joint[j->of[0]].kind == ABUT_JOINT_HINGE ? reach : 1;
    }
    return ABUT_OK;
}

static abut_status put_friction(abut_build *b, int32_t n, abut_err *err)
{
    const abut_scene *s = b->scene;
    double *to = NULL;
    for (int32_t i = 0; i < s->njoints; i++) {
        const abut_scene_joint *j = &s->joint[i];
        double reach = 0;
        if (j->friction == 0) continue;
        if (!to) to = abut_build_required(b, "joint/friction", n, err);
        if (!to) return err ? err->code : ABUT_E_NOMEM;
        for (int side = 0; side < 2; side++) (void)first_of(b, j->body[side], &reach);
        to[2 * i] = j->friction, to[2 * i + 1] = STICKS * (j->kind == ABUT_JOINT_HINGE ? 1 : reach);
    }
    return ABUT_OK;
}

/* Refuses an exact motor that moves its joint too far in a time step. */
static abut_status check_motor(const abut_build *b, const abut_scene_motor *m, abut_err *err)
{
    const abut_scene_table *v = &m->value;
    const double h = b->scene->step.value;
    double most = 0;
    if (!is_exact(m) || b->scene->joint[m->joint].kind != ABUT_JOINT_HINGE) return ABUT_OK;
    for (int32_t i = 0; i < v->n; i++) {
        if (m->kind == ABUT_MOTOR_RATE) most = fmax(most, fabs(v->value[i]));
        if (m->kind == ABUT_MOTOR_PLACE && i)
            most = fmax(most, (m->smooth ? 1.5 : 1) * fabs(v->value[i] - v->value[i - 1]) / (v->time[i] - v->time[i - 1]));
    }
    if (most * h <= TURN_MOST) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: the motor of '%s' turns it by %.3g rad in a time step: expected at most %g rad, or "
                     "a smaller time.step", m->from, b->scene->joint[m->joint].name, most * h, TURN_MOST);
}

static abut_status put_motors(abut_build *b, int32_t n, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t keys = 0;
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < s->nmotors && !rc; i++) keys += s->motor[i].value.n, rc = check_motor(b, &s->motor[i], err);
    if (rc || !s->nmotors) return rc;
    int32_t *motor = abut_build_required(b, "joint/motor", n, err);
    double *law = motor ? abut_build_required(b, "joint/motor-law", n, err) : NULL;
    double *key = law ? abut_build_required(b, "joint/key", keys, err) : NULL;
    if (!key) return err ? err->code : ABUT_E_NOMEM;
    keys = 0;
    for (int32_t i = 0; i < s->njoints; i++) {
        const abut_scene_motor *m = motor_of(s, i);
        if (!m) continue;
        const int32_t of[4] = { m->kind, keys, keys + m->value.n, m->smooth };
        const double numbers[5] = { m->window[0], m->window[1], m->stiffness, m->damper, m->most };
        memcpy(motor + 4 * (size_t)i, of, sizeof of);
        memcpy(law + 5 * (size_t)i, numbers, sizeof numbers);
        for (int32_t k = 0; k < m->value.n; k++, keys++)
            key[2 * (size_t)keys] = m->value.time[k], key[2 * (size_t)keys + 1] = m->value.value[k];
    }
    return ABUT_OK;
}

static abut_status put_joints(abut_build *b, const listed *all, int32_t n, int32_t rows, abut_err *err)
{
    const abut_scene *s = b->scene;
    maker k;
    double reach = 0;
    abut_status rc = ABUT_OK;
    int32_t *kind = abut_build_required(b, "joint/kind", n, err);
    int32_t *node = kind ? abut_build_required(b, "joint/node", n, err) : NULL;
    int32_t *first = node ? abut_build_required(b, "joint/first", n, err) : NULL;
    double *along = first ? abut_build_required(b, "joint/along", rows, err) : NULL;
    double *apart = along ? abut_build_required(b, "joint/apart", rows, err) : NULL;
    double *axis = apart ? abut_build_required(b, "joint/axis", n, err) : NULL;
    double *point = axis ? abut_build_required(b, "joint/point", n, err) : NULL;
    int driven = 0, stops = 0, welds = 0;
    for (int32_t i = 0; i < s->njoints; i++) {
        welds |= s->joint[i].kind == ABUT_JOINT_WELD;
        stops |= s->joint[i].has_limits;
        for (int c = 0; c < 4; c++) driven |= s->joint[i].drive[c] != 0;
    }
    double *drive = point && driven ? abut_build_required(b, "joint/drive", n, err) : NULL;
    double *limit = point && stops ? abut_build_required(b, "joint/limit", n, err) : NULL;
    int32_t *weld = point && welds ? abut_build_required(b, "joint/weld", n, err) : NULL;
    if (!point || (driven && !drive) || (stops && !limit) || (welds && !weld)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t i = 0; i < s->njoints && drive; i++) memcpy(drive + 4 * (size_t)i, s->joint[i].drive, 4 * sizeof *drive);
    for (int32_t i = 0, row = 0; i < n && !rc; i++, row += k.n) {
        const abut_scene_joint *j = &s->joint[all[i].joint];
        rc = make_joint(b, &all[i], &k, node + 8 * (size_t)i, &reach, err);
        if (limit) set_limit(b, j, reach, limit + 4 * (size_t)i);
        if (weld) weld[i] = j->kind == ABUT_JOINT_WELD ? all[i].joint : -1;
        kind[i] = j->kind;
        first[2 * i] = row, first[2 * i + 1] = row + k.n;
        memcpy(along + 11 * (size_t)row, k.along, (size_t)k.n * sizeof *k.along);
        memcpy(apart + 12 * (size_t)row, k.apart, (size_t)k.n * sizeof *k.apart);
        memcpy(axis + 3 * (size_t)i, j->direction, 3 * sizeof *axis);
        const double *at = kind[i] == ABUT_JOINT_DISTANCE ? j->to : j->at;
        const int central = kind[i] == ABUT_JOINT_FIXED || kind[i] == ABUT_JOINT_WELD;
        abut_v3_put(point + 3 * (size_t)i, central ? k.center[1] : abut_v3_get(at));
    }
    if (!rc) rc = put_gears(b, n, err);
    if (!rc) rc = put_friction(b, n, err);
    return rc ? rc : put_motors(b, n, err);
}

abut_status abut_build_joints(abut_build *b, abut_err *err)
{
    maker k;
    int32_t rows = 0, unused[8];
    double reach = 0;
    listed *all;
    int32_t n;
    abut_status rc = list_joints(b, &all, &n, err);
    for (int32_t i = 0; i < n && !rc; i++, rows += k.n) rc = make_joint(b, &all[i], &k, unused, &reach, err);
    if (!rc && rows) rc = put_joints(b, all, n, rows, err);
    free(all);
    return rc;
}
