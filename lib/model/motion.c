#include "model/motion.h"

#include "base/order.h"
#include "base/words.h"
#include "math/mat3.h"
#include "math/vec3.h"
#include "model/schemes.h"

#include <math.h>
#include <string.h>

/* ---- when ---- */

#define ROUNDED 1e-9    /* of a step: what times may be off by */

int abut_motion_has_step(const abut_model *m, int32_t k, double t)
{
    const double mid = t + (0.5 + ROUNDED) * m->h[0];
    return m->mo_window[2 * k] <= mid && mid < m->mo_window[2 * k + 1];
}

/* The part of a motion within one step: from script time a to b = a + dt. */
typedef struct span {
    double a, b, dt;
} span;

static int span_of(const abut_model *m, int32_t k, double t, int obstacle, span *s)
{
    const double h = m->h[0], from = fmax(m->mo_window[2 * k], 0), until = m->mo_window[2 * k + 1];
    if (!obstacle && !abut_motion_has_step(m, k, t)) return 0;
    const int first = !obstacle && !abut_motion_has_step(m, k, t - h), last = !obstacle && !abut_motion_has_step(m, k, t + h);
    s->a = first ? from : fmax(t, from);
    s->b = last ? until : fmin(t + h, until);
    s->dt = s->b - s->a;
    if (fabs(s->dt - h) <= ROUNDED * h) s->dt = h;      /* a whole step */
    return !obstacle || s->dt > ROUNDED * h;
}

/* ---- MOVE ---- */

/* R(w) d, the rotation by the vector w (Rodrigues) */
static abut_vec3 rotate(abut_vec3 w, abut_vec3 d)
{
    const double angle = abut_v3_norm(w);
    if (angle == 0) return d;
    const abut_vec3 k = abut_v3_scale(1 / angle, w);
    const double c = cos(angle), s = sin(angle);
    abut_vec3 r = abut_v3_scale(c, d);
    r = abut_v3_axpy(r, s, abut_v3_cross(k, d));
    return abut_v3_axpy(r, (1 - c) * abut_v3_dot(k, d), k);
}

typedef struct field_step {
    abut_vec3 shift, rotation, center;
    abut_vec3 grow;     /* exp(scale dt) - 1 */
} field_step;

static field_step field_of(const abut_model *m, int32_t k, span s)
{
    const abut_vec3 linear = abut_v3_get(m->mo_linear + 3 * k);
    const double since = s.a - fmax(m->mo_window[2 * k], 0);
    field_step f = { .shift = abut_v3_scale(s.dt, linear), .rotation = abut_v3_scale(s.dt, abut_v3_get(m->mo_angular + 3 * k)),
                     .center = abut_v3_axpy(abut_v3_get(m->mo_center + 3 * k), since, linear) };
    if (m->mo_scale) {
        const double *rate = m->mo_scale + 3 * k;
        f.grow = abut_v3(expm1(rate[0] * s.dt), expm1(rate[1] * s.dt), expm1(rate[2] * s.dt));
    }
    return f;
}

static abut_vec3 move_by_field(const field_step *f, abut_vec3 x)
{
    const abut_vec3 d = abut_v3_sub(x, f->center);
    const abut_vec3 grown = abut_v3(d.x + f->grow.x * d.x, d.y + f->grow.y * d.y, d.z + f->grow.z * d.z);
    return abut_v3_add(abut_v3_sub(rotate(f->rotation, grown), d), f->shift);
}

/* ---- keys ---- */

/* The two keys around a time, and the fraction of the distance from the first to the second. */
typedef struct between {
    int32_t lo, hi;
    double u;
} between;

static between find_rows(const abut_model *m, const int32_t row[2], int smooth, double t)
{
    int32_t lo = row[0], hi = row[1] - 1;
    if (t <= m->key_time[lo]) return (between){ lo, lo, 0 };
    if (t >= m->key_time[hi]) return (between){ hi, hi, 0 };
    lo += (int32_t)abut_count_at_most(m->key_time + lo + 1, (size_t)(hi - lo - 1), t);
    hi = lo + 1;
    const double u = (t - m->key_time[lo]) / (m->key_time[hi] - m->key_time[lo]);
    return (between){ lo, hi, smooth ? u * u * (3 - 2 * u) : u };
}

static between find_keys(const abut_model *m, int32_t k, double t)
{
    return find_rows(m, m->mo_key + 2 * (size_t)k, m->mo_smooth && m->mo_smooth[k], t);
}

static double lerp(double a, double b, double u) { return a + u * (b - a); }

/* The fraction of the remaining way to the first key of a PATH that a span covers; 1: it ends there or later. */
static double approach(const abut_model *m, int32_t k, span s)
{
    const double start = fmax(m->mo_window[2 * k], 0), key = m->key_time[m->mo_key[2 * k]];
    double left[2];
    if (s.b >= key) return 1;
    for (int i = 0; i < 2; i++) {
        const double u = ((i ? s.b : s.a) - start) / (key - start);
        left[i] = 1 - (m->mo_smooth && m->mo_smooth[k] ? u * u * (3 - 2 * u) : u);
    }
    return 1 - left[1] / left[0];
}

typedef struct quaternion {
    double w;
    abut_vec3 v;
} quaternion;

/* a to b by the shorter rotation at even speed (Shoemake 1985); the angle by atan2, which is exact near 0, too */
static quaternion slerp(const double a[4], const double b[4], double u)
{
    double sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1, less = 0, more = 0, q[4], n = 0;
    for (int i = 0; i < 4; i++) {
        less += (a[i] - sign * b[i]) * (a[i] - sign * b[i]);
        more += (a[i] + sign * b[i]) * (a[i] + sign * b[i]);
    }
    const double angle = 2 * atan2(sqrt(less), sqrt(more)), s = sin(angle);
    const double wa = s > 0 ? sin((1 - u) * angle) / s : 1 - u, wb = s > 0 ? sin(u * angle) / s : u;
    for (int i = 0; i < 4; i++) q[i] = wa * a[i] + sign * wb * b[i], n += q[i] * q[i];
    n = sqrt(n);
    return (quaternion){ q[0] / n, abut_v3(q[1] / n, q[2] / n, q[3] / n) };
}

static abut_vec3 rotate_by(quaternion q, abut_vec3 d)
{
    const abut_vec3 c = abut_v3_scale(2, abut_v3_cross(q.v, d));
    return abut_v3_add(abut_v3_axpy(d, q.w, c), abut_v3_cross(q.v, c));
}

typedef struct pose {
    abut_vec3 shift, scale;
    quaternion rotation;
} pose;

static pose pose_at(const abut_model *m, between at)
{
    double v[6];
    for (int i = 0; i < 3; i++) {
        v[i] = lerp(m->key_shift[3 * at.lo + i], m->key_shift[3 * at.hi + i], at.u);
        v[3 + i] = lerp(m->key_scale[3 * at.lo + i], m->key_scale[3 * at.hi + i], at.u);
    }
    return (pose){ abut_v3_get(v), abut_v3_get(v + 3), slerp(m->key_turn + 4 * at.lo, m->key_turn + 4 * at.hi, at.u) };
}

/* displacement from one pose to another of a point at x */
static abut_vec3 move_by_poses(const pose *a, const pose *b, abut_vec3 center, abut_vec3 x)
{
    const quaternion back = { a->rotation.w, abut_v3_scale(-1, a->rotation.v) };
    const abut_vec3 d = abut_v3_sub(abut_v3_sub(x, center), a->shift), rest = rotate_by(back, d);
    const abut_vec3 scaled = abut_v3(rest.x / a->scale.x * b->scale.x, rest.y / a->scale.y * b->scale.y,
                                     rest.z / a->scale.z * b->scale.z);
    return abut_v3_add(abut_v3_sub(rotate_by(b->rotation, scaled), d), abut_v3_sub(b->shift, a->shift));
}

/* ---- targets ---- */

/* The part of one motion that a step shows, ready for its nodes. */
typedef struct motion_step {
    int kind, rests;
    field_step field;
    pose a, b;
    abut_vec3 center;
    between at;
    double part;        /* PATH: of the way to `at` */
} motion_step;

static motion_step step_of(const abut_model *m, int32_t k, span s)
{
    motion_step w = { .kind = m->mo_kind[k] };
    if (w.kind == ABUT_MOTION_MOVE) {
        w.field = field_of(m, k, s);
        return w;
    }
    w.at = find_keys(m, k, s.b);
    w.part = approach(m, k, s);
    if (w.kind == ABUT_MOTION_KEYS) {
        const between from = find_keys(m, k, s.a);
        w.rests = from.lo == w.at.lo && from.hi == w.at.hi && from.u == w.at.u;
        w.a = pose_at(m, from);
        w.b = pose_at(m, w.at);
        w.center = abut_v3_get(m->mo_center + 3 * k);
    }
    return w;
}

/* Displacement of row j of the motion's nodes from x. */
static abut_vec3 displacement(const abut_model *m, int32_t k, const motion_step *w, int32_t j, abut_vec3 x)
{
    if (w->kind == ABUT_MOTION_MOVE) return move_by_field(&w->field, x);
    if (w->rests) return abut_v3(0, 0, 0);
    if (w->kind == ABUT_MOTION_KEYS) return move_by_poses(&w->a, &w->b, w->center, x);
    const size_t n = (size_t)(m->mo_first[2 * k + 1] - m->mo_first[2 * k]), first = (size_t)m->mo_path[k];
    const double *a = m->path_x + 3 * (first + (size_t)(w->at.lo - m->mo_key[2 * k]) * n + (size_t)j);
    const double *b = m->path_x + 3 * (first + (size_t)(w->at.hi - m->mo_key[2 * k]) * n + (size_t)j);
    const abut_vec3 to = abut_v3(lerp(a[0], b[0], w->at.u), lerp(a[1], b[1], w->at.u), lerp(a[2], b[2], w->at.u));
    return abut_v3_scale(w->part, abut_v3_sub(to, x));
}

/* Moves the nodes of one motion and one role, obstacles or handles. */
static void move_nodes(const abut_model *m, int32_t k, double t, int obstacle, const double *x, double *target, uint8_t *held)
{
    span s;
    if (!span_of(m, k, t, obstacle, &s)) return;
    const motion_step w = step_of(m, k, s);
    const int32_t *node = m->mo_node + m->mo_first[2 * k], n = m->mo_first[2 * k + 1] - m->mo_first[2 * k];
    for (int32_t j = 0; j < n; j++) {
        const int32_t i = node[j];
        if ((m->role[i] == ABUT_NODE_OBSTACLE) != obstacle) continue;
        const abut_vec3 d = displacement(m, k, &w, j, abut_v3_get(x + 3 * i));
        abut_v3_put(target + 3 * i, abut_v3_add(abut_v3_get(target + 3 * i), d));
        held[i] = 1;
    }
}

void abut_motion_targets(const abut_model *m, double t, const double *x, double *target, uint8_t *held)
{
    memcpy(target, x, 3 * (size_t)m->nv * sizeof *target);
    for (int32_t i = 0; i < m->nv; i++) held[i] = m->role[i] == ABUT_NODE_OBSTACLE;
    for (int32_t k = 0; k < m->nmo; k++)
        for (int obstacle = 0; obstacle < 2 && m->mo_kind[k] != ABUT_MOTION_FORCE; obstacle++)
            move_nodes(m, k, t, obstacle, x, target, held);
}

/* ---- velocities ---- */

/* The rotation vector that leads from unit quaternion a to b, by the shorter rotation. */
static abut_vec3 rotation_between(const double a[4], const double b[4])
{
    const abut_vec3 p = abut_v3_get(a + 1), q = abut_v3_get(b + 1);
    const double cosine = a[0] * b[0] + abut_v3_dot(p, q);
    const abut_vec3 v = abut_v3_sub(abut_v3_axpy(abut_v3_scale(a[0], q), -b[0], p), abut_v3_cross(q, p));
    const double sine = abut_v3_norm(v), angle = 2 * atan2(sine, fabs(cosine));
    return sine > 0 ? abut_v3_scale((cosine < 0 ? -angle : angle) / sine, v) : v;
}

/* Velocity of a point at x that is at u between the poses of two keys, where u grows by 1 in a second. */
static abut_vec3 pose_velocity(const abut_model *m, between at, abut_vec3 center, abut_vec3 x)
{
    const pose p = pose_at(m, at);
    const quaternion back = { p.rotation.w, abut_v3_scale(-1, p.rotation.v) };
    const double *a = m->key_scale + 3 * at.lo, *b = m->key_scale + 3 * at.hi;
    const abut_vec3 d = abut_v3_sub(abut_v3_sub(x, center), p.shift), own = rotate_by(back, d);
    const abut_vec3 grown = abut_v3((b[0] - a[0]) / p.scale.x * own.x, (b[1] - a[1]) / p.scale.y * own.y,
                                    (b[2] - a[2]) / p.scale.z * own.z);
    const abut_vec3 shift = abut_v3_sub(abut_v3_get(m->key_shift + 3 * at.hi), abut_v3_get(m->key_shift + 3 * at.lo));
    const abut_vec3 turned = abut_v3_cross(rotation_between(m->key_turn + 4 * at.lo, m->key_turn + 4 * at.hi), d);
    return abut_v3_add(shift, abut_v3_add(turned, rotate_by(p.rotation, grown)));
}

/* m/s, of row j of the nodes of motion k, at x when the motion is at time t, which is before its end. */
static abut_vec3 velocity_of(const abut_model *m, int32_t k, double t, int32_t j, abut_vec3 x)
{
    const size_t at_k = 3 * (size_t)k;
    const abut_vec3 d = abut_v3_sub(x, abut_v3_get(m->mo_center + at_k));
    const int smooth = m->mo_smooth && m->mo_smooth[k];
    if (m->mo_kind[k] == ABUT_MOTION_MOVE) {
        const double *s = m->mo_scale ? m->mo_scale + at_k : (const double[3]){ 0, 0, 0 };
        const abut_vec3 turned = abut_v3_cross(abut_v3_get(m->mo_angular + at_k), d);
        return abut_v3_add(abut_v3_get(m->mo_linear + at_k), abut_v3_add(turned, abut_v3(s[0] * d.x, s[1] * d.y, s[2] * d.z)));
    }
    between at = find_keys(m, k, t);
    const size_t n = (size_t)(m->mo_first[2 * k + 1] - m->mo_first[2 * k]);
    const double *path = m->mo_kind[k] == ABUT_MOTION_PATH ? m->path_x + 3 * ((size_t)m->mo_path[k] + (size_t)j) : NULL;
    const double wait = m->key_time[at.lo] - t;
    if (path && wait > 0 && !smooth) return abut_v3_scale(1 / wait, abut_v3_sub(abut_v3_get(path), x));
    if (smooth && wait >= 0) return abut_v3(0, 0, 0);
    if (at.lo == at.hi) at.hi++;
    const double dt = m->key_time[at.hi] - m->key_time[at.lo], u = fmax(-wait, 0) / dt;
    const double rate = (smooth ? 6 * u * (1 - u) : 1) / dt;
    if (!path) return abut_v3_scale(rate, pose_velocity(m, at, abut_v3_get(m->mo_center + at_k), x));
    path += 3 * (size_t)(at.lo - m->mo_key[2 * k]) * n;
    return abut_v3_scale(rate, abut_v3_sub(abut_v3_get(path + 3 * n), abut_v3_get(path)));
}

void abut_motion_first_velocities(const abut_model *m, const double *x, double *v)
{
    for (int32_t k = 0; k < m->nmo; k++) {
        const int32_t *node = m->mo_node + m->mo_first[2 * k], n = m->mo_first[2 * k + 1] - m->mo_first[2 * k];
        if (m->mo_kind[k] == ABUT_MOTION_FORCE || !abut_motion_has_step(m, k, 0)) continue;
        for (int32_t j = 0; j < n; j++)
            if (m->role[node[j]] != ABUT_NODE_OBSTACLE)
                abut_v3_put(v + 3 * node[j], velocity_of(m, k, fmax(m->mo_window[2 * k], 0), j, abut_v3_get(x + 3 * node[j])));
    }
}

/* ---- rotations ---- */

/* The fraction of the way from key i to the next at time t. */
static double fraction(const abut_model *m, int32_t k, int32_t i, double t)
{
    const double u = (t - m->key_time[i]) / (m->key_time[i + 1] - m->key_time[i]);
    return m->mo_smooth && m->mo_smooth[k] ? u * u * (3 - 2 * u) : u;
}

int abut_motion_rotate(const abut_model *m, int32_t k, double t, double d[3], double u[3], double *about)
{
    span s;
    int rotates = 0;
    *about = 0;
    if (!span_of(m, k, t, 0, &s)) return 0;
    const int keys = m->mo_kind[k] == ABUT_MOTION_KEYS;
    const int32_t first = keys ? m->mo_key[2 * k] : 0;
    const int32_t pieces = keys ? m->mo_key[2 * k + 1] - first - 1 : m->mo_kind[k] == ABUT_MOTION_MOVE;
    for (int32_t i = first; i < first + pieces; i++) {
        abut_vec3 w = abut_v3_scale(s.dt, abut_v3_get(m->mo_angular + 3 * k));
        if (keys) {
            const double a = fmax(s.a, m->key_time[i]), b = fmin(s.b, m->key_time[i + 1]);
            const double part = a < b ? fraction(m, k, i, b) - fraction(m, k, i, a) : 0;
            w = abut_v3_scale(part, rotation_between(m->key_turn + 4 * i, m->key_turn + 4 * (i + 1)));
        }
        if (abut_v3_norm2(w) == 0) continue;
        rotates = 1;
        *about += abut_v3_dot(w, abut_v3_get(d));
        abut_v3_put(d, rotate(w, abut_v3_get(d)));
        abut_v3_put(u, rotate(w, abut_v3_get(u)));
    }
    return rotates;
}

void abut_motion_owners(const abut_model *m, double t, int32_t *by)
{
    for (int32_t i = 0; i < m->nv; i++) by[i] = -1;
    for (int32_t k = 0; k < m->nmo; k++)
        for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++)
            if (m->mo_kind[k] != ABUT_MOTION_FORCE && abut_motion_has_step(m, k, t)) by[m->mo_node[j]] = k;
}

/* ---- loads ---- */

double abut_motion_load_time(const abut_model *m, double t)
{
    return t + abut_schemes[abut_scheme_of(m)].share * m->h[0];
}

/* row: of keys, [lo, hi), or NULL */
static abut_factor factor_at(const abut_model *m, const int32_t *row, int smooth, double at)
{
    if (!m->key_factor || !row || row[0] == row[1]) return (abut_factor){ -1, -1, 0, 1 };
    const between b = find_rows(m, row, smooth, at);
    return (abut_factor){ b.lo, b.hi, b.u, lerp(m->key_factor[b.lo], m->key_factor[b.hi], b.u) };
}

abut_factor abut_motion_factor(const abut_model *m, int32_t k, double at)
{
    return factor_at(m, m->mo_key ? m->mo_key + 2 * (size_t)k : NULL, m->mo_smooth && m->mo_smooth[k],
                     fmin(at, m->mo_window[2 * k + 1]));
}

abut_factor abut_pressure_factor(const abut_model *m, int32_t object, double at)
{
    return factor_at(m, m->obj_pressure_key ? m->obj_pressure_key + 2 * (size_t)object : NULL, 0, at);
}

/* Adds the accelerations or, if newtons is 1, the forces of FORCE motions to out; returns the number of these motions. */
static int32_t add_forces(const abut_model *m, double t, double at, int newtons, double *out)
{
    int32_t n = 0;
    for (int32_t k = 0; k < m->nmo; k++) {
        if (m->mo_kind[k] != ABUT_MOTION_FORCE || !abut_motion_has_step(m, k, t)) continue;
        if ((m->mo_newtons && m->mo_newtons[k]) != newtons) continue;
        n++;
        const double factor = abut_motion_factor(m, k, at).value;
        for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++)
            for (int d = 0; d < 3; d++) {
                const double share = m->mo_share ? m->mo_share[3 * (size_t)j + (size_t)d] : 1;
                out[3 * m->mo_node[j] + d] += m->mo_linear[3 * k + d] * factor * share;
            }
    }
    return n;
}

/* Centre of mass and tensor of inertia about it of the nodes of motion k. */
static abut_vec3 inertia_of(const abut_model *m, int32_t k, const double *x, double I[9])
{
    const int32_t *node = m->mo_node + m->mo_first[2 * k], n = m->mo_first[2 * k + 1] - m->mo_first[2 * k];
    abut_vec3 c = abut_v3(0, 0, 0);
    double mass = 0;
    for (int32_t j = 0; j < n; j++) {
        mass += m->mass[node[j]];
        c = abut_v3_axpy(c, m->mass[node[j]], abut_v3_get(x + 3 * (size_t)node[j]));
    }
    c = abut_v3_scale(1 / mass, c);
    memset(I, 0, 9 * sizeof *I);
    for (int32_t j = 0; j < n; j++) {
        double d[3];
        abut_v3_put(d, abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[j]), c));
        const double w = m->mass[node[j]], d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        for (int e = 0; e < 9; e++) I[e] += w * ((e % 4 ? 0 : d2) - d[e / 3] * d[e % 3]);
    }
    return c;
}

static void add_torque(const abut_model *m, int32_t k, const double *x, double factor, double *acc)
{
    const double *T = m->mo_torque + 3 * (size_t)k;
    double I[9], inverse[9], a[3];
    if (T[0] == 0 && T[1] == 0 && T[2] == 0) return;
    const abut_vec3 c = inertia_of(m, k, x, I);
    (void)abut_m3_inverse(inverse, I);
    for (int e = 0; e < 3; e++) a[e] = factor * (inverse[3 * e] * T[0] + inverse[3 * e + 1] * T[1] + inverse[3 * e + 2] * T[2]);
    for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++) {
        double *of = acc + 3 * (size_t)m->mo_node[j];
        const abut_vec3 d = abut_v3_sub(abut_v3_get(x + 3 * (size_t)m->mo_node[j]), c);
        abut_v3_put(of, abut_v3_add(abut_v3_get(of), abut_v3_cross(abut_v3_get(a), d)));
    }
}

void abut_motion_acceleration(const abut_model *m, double t, const double *x, double at, double *acc)
{
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 0; k < 3; k++) acc[3 * i + k] = m->gravity[k];
    (void)add_forces(m, t, at, 0, acc);
    for (int32_t k = 0; k < (m->mo_torque ? m->nmo : 0); k++)
        if (m->mo_kind[k] == ABUT_MOTION_FORCE && abut_motion_has_step(m, k, t))
            add_torque(m, k, x, abut_motion_factor(m, k, at).value, acc);
}

int abut_motion_load(const abut_model *m, double t, double at, double *f)
{
    memset(f, 0, 3 * (size_t)m->nv * sizeof *f);
    return m->mo_newtons && add_forces(m, t, at, 1, f) > 0;
}

/* ---- motors of joints ---- */

/* The value of the keys of the motor of joint j at a time since its start, or the integral of it until then. */
static double motor_at(const abut_model *m, int32_t j, double at, int integral)
{
    const int32_t *motor = m->joint_motor + 4 * (size_t)j;
    const double *k = m->joint_key + 2 * (size_t)motor[1], *last = m->joint_key + 2 * (size_t)motor[2] - 2;
    double sum = k[1] * fmin(at, k[0]);
    for (; k < last && k[0] < at; k += 2) {
        const double dt = k[2] - k[0], u = fmin(1, (at - k[0]) / dt), by = k[3] - k[1];
        const double mean = motor[3] ? u * u * u * (1 - u / 2) : u * u / 2;
        if (!integral && u < 1) return k[1] + (motor[3] ? u * u * (3 - 2 * u) : u) * by;
        sum += dt * (u * k[1] + mean * by);
    }
    return !integral ? k[1] : sum + k[1] * fmax(0, at - fmax(k[0], 0));
}

abut_motor abut_motor_step(const abut_model *m, int32_t j, double t)
{
    abut_motor s = { .kind = m->joint_motor ? m->joint_motor[4 * (size_t)j] : ABUT_MOTOR_NONE };
    if (!s.kind) return s;
    const double *law = m->joint_motor_law + 5 * (size_t)j, h = m->h[0], mid = t + (0.5 + ROUNDED) * h;
    if (!(law[0] <= mid && mid < law[1])) return (abut_motor){ 0 };
    s.begins = !(law[0] <= mid - h);
    const double a = s.begins ? 0 : t - law[0], b = (mid + h < law[1] ? t + h : law[1]) - law[0];
    s.exact = s.kind != ABUT_MOTOR_EFFORT && law[2] == 0 && law[3] == 0;
    s.value = s.kind == ABUT_MOTOR_RATE ? motor_at(m, j, b, 1) - motor_at(m, j, a, 1) : motor_at(m, j, b, 0);
    s.rate = s.kind == ABUT_MOTOR_PLACE ? (s.value - motor_at(m, j, a, 0)) / (b - a) : s.value / (b - a);
    if (s.kind == ABUT_MOTOR_EFFORT) s.value = motor_at(m, j, fmin(abut_motion_load_time(m, t), law[1]) - law[0], 0);
    return s;
}

/* The last key of rows row[0] to row[1], s; -infinity without any. */
static double last_key(const abut_model *m, const int32_t *row)
{
    return row[0] < row[1] ? m->key_time[row[1] - 1] : -INFINITY;
}

static int has_keys(const abut_model *m, size_t k)
{
    const int32_t kind = m->mo_kind[k];
    return kind == ABUT_MOTION_KEYS || kind == ABUT_MOTION_PATH || (kind == ABUT_MOTION_FORCE && m->key_factor && m->mo_key);
}

double abut_motion_last_event(const abut_model *m)
{
    double last = -INFINITY;
    for (size_t k = 0; k < (size_t)m->nmo; k++) {
        const double *w = m->mo_window + 2 * k;
        if (!(w[0] < w[1])) continue;
        if (isfinite(w[0])) last = fmax(last, w[0]);
        if (isfinite(w[1])) last = fmax(last, w[1]);
        else if (has_keys(m, k)) last = fmax(last, last_key(m, m->mo_key + 2 * k));
    }
    for (size_t j = 0; m->joint_motor && j < (size_t)m->njo; j++) {
        const double *law = m->joint_motor_law + 5 * j;
        const int32_t *motor = m->joint_motor + 4 * j;
        if (motor[0]) last = fmax(last, isfinite(law[1]) ? law[1] : law[0] + m->joint_key[2 * (size_t)motor[2] - 2]);
    }
    for (size_t o = 0; m->obj_pressure_key && o < (size_t)m->no; o++) last = fmax(last, last_key(m, m->obj_pressure_key + 2 * o));
    return last;
}

/* ---- locks ---- */

void abut_locks_keep(const abut_model *m, const int32_t *row, const double *from, double *to)
{
    for (int32_t k = 0; k < m->nlk; k++) {
        const double *n = m->lock_row + 12 * (size_t)k;
        size_t at[12];
        double sum = 0;
        for (size_t i = 0; i < 12; i++) {
            const int32_t node = m->lock_node[4 * (size_t)k + i / 3];
            at[i] = 3 * (size_t)(row ? row[node] : node) + i % 3;
            sum += n[i] * (to[at[i]] - (from ? from[at[i]] : 0));
        }
        for (int i = 0; i < 12; i++) to[at[i]] -= sum * n[i];
    }
}

int abut_locks_have(const abut_model *m, int32_t node)
{
    for (size_t i = 0; i < 4 * (size_t)m->nlk; i++)
        if (m->lock_node[i] == node) return 1;
    return 0;
}

abut_status abut_check_locks(const abut_model *m, abut_err *err)
{
    for (int32_t k = 0, first = 0; k < m->nlk; k++) {
        const int32_t *node = m->lock_node + 4 * (size_t)k;
        if (k && memcmp(node, node - 4, 4 * sizeof *node)) first = k;
        for (int i = 0; i < 4; i++) {
            if (m->role[node[i]] != ABUT_NODE_FREE)
                return abut_fail(err, ABUT_E_FORMAT, "array 'lock/node' row %d: node %d has node/role %d, expected a free node",
                                 k,
                                 node[i], m->role[node[i]]);
            if (m->body[node[i]] != m->body[node[0]])
                return abut_fail(err, ABUT_E_FORMAT, "array 'lock/node' row %d: nodes %d and %d, expected nodes of one object", k,
                                 node[0], node[i]);
            for (const int32_t *other = m->lock_node; other < m->lock_node + 4 * (size_t)first; other++)
                if (*other == node[i])
                    return abut_fail(err, ABUT_E_FORMAT, "array 'lock/node' row %d: node %d is in an earlier row beside other "
                                     "nodes, expected the same four in rows that follow each other", k, node[i]);
        }
        for (int32_t l = first; l <= k; l++) {
            double sum = 0;
            for (size_t i = 0; i < 12; i++) sum += m->lock_row[12 * (size_t)l + i] * m->lock_row[12 * (size_t)k + i];
            if (!(fabs(sum - (l == k)) <= 1e-9))
                return abut_fail(err, ABUT_E_FORMAT, "array 'lock/row' row %d: product %.17g with row %d, expected %d", k, sum, l,
                                 l == k);
        }
    }
    return ABUT_OK;
}

/* ---- checks ---- */

/* Row i of the array `name`: rows of key/ in ascending time. */
static abut_status check_key_rows(const abut_model *m, const char *name, const int32_t *rows, int32_t i, abut_err *err)
{
    const int32_t *r = rows + 2 * (size_t)i;
    if (r[0] < 0 || r[0] >= r[1] || r[1] > m->nk)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: [%d, %d), expected at least one row of key/time (%d)", name, i,
                         r[0], r[1], m->nk);
    for (int32_t k = r[0] + 1; k < r[1]; k++)
        if (!(m->key_time[k] > m->key_time[k - 1]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'key/time' row %d: %g s after %g s, expected a later time", k,
                             m->key_time[k], m->key_time[k - 1]);
    return ABUT_OK;
}

/* The keys of motion i, and poses, positions or factors for them; a load without keys has the same number twice. */
static abut_status check_keys(const abut_model *m, int32_t i, abut_err *err)
{
    const int poses = m->mo_kind[i] == ABUT_MOTION_KEYS, path = m->mo_kind[i] == ABUT_MOTION_PATH;
    const int varies = m->mo_kind[i] == ABUT_MOTION_FORCE && m->key_factor && m->mo_key &&
                       m->mo_key[2 * (size_t)i] != m->mo_key[2 * (size_t)i + 1];
    if (varies) return check_key_rows(m, "motion/key", m->mo_key, i, err);
    if (!poses && !path) return ABUT_OK;
    const char *missing = !m->mo_key ? "motion/key" : poses && !(m->key_shift && m->key_turn && m->key_scale)
                          ? "key/translation, key/rotation or key/scale" : path && !m->mo_path ? "motion/path" : NULL;
    if (missing) return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: motion %d follows keys", missing, i);
    const int32_t *r = m->mo_key + 2 * (size_t)i;
    const abut_status rc = check_key_rows(m, "motion/key", m->mo_key, i, err);
    if (rc) return rc;
    const int64_t rows = (int64_t)(r[1] - r[0]) * (m->mo_first[2 * (size_t)i + 1] - m->mo_first[2 * (size_t)i]);
    if (path && (m->mo_path[i] < 0 || m->mo_path[i] + rows > m->npx))
        return abut_fail(err, ABUT_E_FORMAT, "array 'motion/path' row %d: %d, and %lld row%s from there; path/x has %d", i,
                         m->mo_path[i], (long long)rows, abut_s(rows), m->npx);
    return ABUT_OK;
}

abut_status abut_check_motions(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nmo; i++) {
        const double *w = m->mo_window + 2 * (size_t)i;
        const int32_t *r = m->mo_first + 2 * (size_t)i;
        if (!(w[0] <= w[1]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'motion/window' row %d: [%g, %g), expected the start first", i, w[0],
                             w[1]);
        if (r[0] < 0 || r[0] > r[1] || r[1] > m->nmn)
            return abut_fail(err, ABUT_E_FORMAT, "array 'motion/first' row %d: [%d, %d), expected rows of motion/node "
                             "(%d)", i, r[0], r[1], m->nmn);
        for (int32_t k = r[0]; k < r[1] && m->mo_kind[i] != ABUT_MOTION_FORCE; k++)
            if (m->role[m->mo_node[k]] == ABUT_NODE_FREE)
                return abut_fail(err, ABUT_E_FORMAT, "array 'motion/node' row %d: node %d is free, expected a handle or "
                                 "an obstacle, because motion %d prescribes its velocity", k, m->mo_node[k], i);
        const abut_status rc = check_keys(m, i, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

abut_status abut_check_pressures(const abut_model *m, abut_err *err)
{
    for (int32_t o = 0; m->obj_pressure_key && o < m->no; o++) {
        if (m->obj_pressure_key[2 * (size_t)o] == m->obj_pressure_key[2 * (size_t)o + 1]) continue;
        const abut_status rc = check_key_rows(m, "object/pressure-key", m->obj_pressure_key, o, err);
        if (rc) return rc;
        if (!m->key_factor)
            return abut_fail(err, ABUT_E_FORMAT, "array 'key/factor' is missing: the pressure of object %d has keys", o);
    }
    return ABUT_OK;
}
