#include "energy/joint.h"

#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weighted sum of nodes and a constant. */
static abut_vec3 sum_of(const int32_t *node, const double *weight, const double *x)
{
    abut_vec3 s = abut_v3_get(weight + ABUT_JOINT_NODES);
    for (int k = 0; k < ABUT_JOINT_NODES; k++)
        if (node[k] >= 0) s = abut_v3_axpy(s, weight[k], abut_v3_get(x + 3 * (size_t)node[k]));
    return s;
}

double abut_joint_row(const abut_model *m, int32_t j, int32_t r, const double *x, double *C)
{
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *along = m->joint_along + 11 * (size_t)r, *apart = m->joint_apart + 12 * (size_t)r;
    const abut_vec3 u = sum_of(node, along, x), w = sum_of(node, apart, x);
    for (int k = 0; k < ABUT_JOINT_NODES && C; k++)
        abut_v3_put(C + 3 * k, node[k] < 0 ? abut_v3(0, 0, 0) : abut_v3_axpy(abut_v3_scale(along[k], w), apart[k], u));
    return abut_v3_dot(u, w) - apart[11];
}

int32_t abut_joint_end(const abut_model *m, int32_t j)
{
    const int32_t kind = m->joint_motor ? m->joint_motor[4 * (size_t)j] : ABUT_MOTOR_NONE;
    const double *law = m->joint_motor_law ? m->joint_motor_law + 5 * (size_t)j : NULL;
    return m->joint_first[2 * j + 1] - (kind && kind != ABUT_MOTOR_EFFORT && law[2] == 0 && law[3] == 0);
}

double abut_joint_gap(const abut_model *m, int32_t j, const double *x)
{
    double most = 0;
    for (int32_t i = j < 0 ? 0 : j; i < (j < 0 ? m->njo : j + 1); i++)
        for (int32_t r = m->joint_first[2 * i]; r < abut_joint_end(m, i); r++)
            most = fmax(most, fabs(abut_joint_row(m, i, r, x, NULL)));
    return most;
}

static abut_vec3 times(const double F[9], abut_vec3 v)
{
    return abut_v3(abut_v3_dot(abut_v3_get(F), v), abut_v3_dot(abut_v3_get(F + 3), v), abut_v3_dot(abut_v3_get(F + 6), v));
}

/* The affine map of a side of a joint, 0 the first body: its gradient F, and where it takes the joint's point. */
static abut_vec3 map_of(const abut_model *m, int32_t j, int side, const double *x, double F[9])
{
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j + 4 * side;
    const abut_vec3 o = abut_v3_get(m->joint_point + 3 * (size_t)j);
    double rest[9], now[9], inverse[9];
    for (int i = 0; i < 9; i++) F[i] = i % 4 == 0;
    if (*node < 0) return o;
    for (int i = 0; i < 9; i++) {
        const size_t at = 3 * (size_t)node[1 + i % 3] + (size_t)(i / 3), from = 3 * (size_t)*node + (size_t)(i / 3);
        rest[i] = m->X[at] - m->X[from], now[i] = x[at] - x[from];
    }
    (void)abut_m3_inverse(inverse, rest);
    abut_m3_mul(F, now, inverse);
    const abut_vec3 from = abut_v3_sub(o, abut_v3_get(m->X + 3 * (size_t)*node));
    return abut_v3_add(abut_v3_get(x + 3 * (size_t)*node), times(F, from));
}

static int turns(const abut_model *m, int32_t j)
{
    return m->joint_kind[j] == ABUT_JOINT_HINGE || m->joint_kind[j] == ABUT_JOINT_CYLINDER;
}

static int slides(const abut_model *m, int32_t j)
{
    return m->joint_kind[j] == ABUT_JOINT_SLIDER || m->joint_kind[j] == ABUT_JOINT_CYLINDER;
}

/* Two vectors of one length across the axis of joint j at rest, n and *b = t x n. */
static abut_vec3 across(const abut_model *m, int32_t j, abut_vec3 *b)
{
    const abut_vec3 t = abut_v3_get(m->joint_axis + 3 * (size_t)j);
    const abut_vec3 n = abut_v3_cross(t, fabs(t.x) < 0.6 ? abut_v3(1, 0, 0) : abut_v3(0, 1, 0));
    *b = abut_v3_cross(t, n);
    return n;
}

/* Sine and cosine of the angle times |n|^2, of the gradients A of the first body and B of the second. */
static void angle_of(const abut_model *m, int32_t j, const double A[9], const double B[9], double *s, double *c)
{
    abut_vec3 b;
    const abut_vec3 n = across(m, j, &b);
    *s = abut_v3_dot(times(A, b), times(B, n)) - abut_v3_dot(times(A, n), times(B, b));
    *c = abut_v3_dot(times(A, n), times(B, n)) + abut_v3_dot(times(A, b), times(B, b));
}

void abut_joint_coordinates(const abut_model *m, int32_t j, const double *x, double *angle, double *position)
{
    double A[9], B[9], s, c;
    *angle = *position = NAN;
    if (!turns(m, j) && !slides(m, j)) return;
    const abut_vec3 o = map_of(m, j, 0, x, A), y = map_of(m, j, 1, x, B);
    angle_of(m, j, A, B, &s, &c);
    *angle = turns(m, j) ? atan2(s, c) : NAN;
    *position = slides(m, j) ? abut_v3_dot(times(A, abut_v3_get(m->joint_axis + 3 * (size_t)j)), abut_v3_sub(y, o)) : NAN;
}

void abut_joint_rates(const abut_model *m, int32_t j, const double *x, const double *v, double *rate, double *speed)
{
    double A[9], B[9], dA[9], dB[9], s, c, ds[2], dc[2];
    *rate = *speed = NAN;
    if (!turns(m, j) && !slides(m, j)) return;
    const abut_vec3 t = abut_v3_get(m->joint_axis + 3 * (size_t)j);
    abut_vec3 o = map_of(m, j, 0, x, A), y = map_of(m, j, 1, x, B), vo = map_of(m, j, 0, v, dA), vy = map_of(m, j, 1, v, dB);
    if (m->joint_node[ABUT_JOINT_NODES * (size_t)j] < 0) memset(dA, 0, sizeof dA), vo = abut_v3(0, 0, 0);
    angle_of(m, j, A, B, &s, &c);
    angle_of(m, j, dA, B, &ds[0], &dc[0]), angle_of(m, j, A, dB, &ds[1], &dc[1]);
    *rate = turns(m, j) ? (c * (ds[0] + ds[1]) - s * (dc[0] + dc[1])) / (c * c + s * s) : NAN;
    *speed = abut_v3_dot(times(dA, t), abut_v3_sub(y, o)) + abut_v3_dot(times(A, t), abut_v3_sub(vy, vo));
    if (!slides(m, j)) *speed = NAN;
}

/* Adds force and moment about o of row r on the second body. */
static void push(const int32_t *node, const double *C, double newtons, const double *x, abut_vec3 o, abut_vec3 *f, abut_vec3 *t)
{
    for (int k = 4; k < ABUT_JOINT_NODES && node[k] >= 0; k++) {
        const abut_vec3 by = abut_v3_scale(-newtons, abut_v3_get(C + 3 * k));
        *f = abut_v3_add(*f, by);
        *t = abut_v3_add(*t, abut_v3_cross(abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[k]), o), by));
    }
}

void abut_joint_reaction(const abut_model *m, int32_t j, const double *x, const double *newtons, double force[3],
                         double torque[3])
{
    double F[9], C[ABUT_JOINT_WIDTH];
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const int weld = m->joint_kind[j] == ABUT_JOINT_WELD;
    const abut_vec3 o = weld ? abut_v3_get(x + 3 * (size_t)node[4]) : map_of(m, j, 1, x, F);
    abut_vec3 f = abut_v3(0, 0, 0), t = f;
    for (int32_t r = m->joint_first[2 * j]; r < abut_joint_end(m, j); r++) {
        (void)abut_joint_row(m, j, r, x, C);
        push(node, C, newtons[r], x, o, &f, &t);
    }
    abut_v3_put(force, f), abut_v3_put(torque, t);
}

int abut_joints_have(const abut_joints *t, int32_t node) { return t && t->has[node]; }

/* ---- coordinates of hinges and sliders ---- */

/* sum[11] += a direction v of a side of joint j (whole 0), or a point (whole 1), times scale. */
static void weigh(const abut_model *m, int32_t j, int side, int whole, double scale, abut_vec3 v, double *sum)
{
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j + 4 * side;
    double rest[9], inverse[9], at[3];
    if (*node < 0) {
        abut_v3_put(sum + 8, abut_v3_axpy(abut_v3_get(sum + 8), scale, v));
        return;
    }
    const abut_vec3 X = abut_v3_get(m->X + 3 * (size_t)*node);
    for (int i = 0; i < 9; i++)
        rest[i] = m->X[3 * (size_t)node[1 + i % 3] + (size_t)(i / 3)] - m->X[3 * (size_t)*node + (size_t)(i / 3)];
    (void)abut_m3_inverse(inverse, rest);
    abut_v3_put(at, times(inverse, whole ? abut_v3_sub(v, X) : v));
    sum[4 * side] += scale * (whole - at[0] - at[1] - at[2]);
    for (int k = 0; k < 3; k++) sum[4 * side + 1 + k] += scale * at[k];
}

/* C: p ds - q dc of a hinge, s and c the sine and cosine of its angle, v its four vectors of the weights w. */
static void turn(const abut_vec3 v[4], const double *w, double p, double q, double *C)
{
    for (int k = 0; k < ABUT_JOINT_NODES; k++) {
        const double n = w[k], b = w[11 + k], n1 = w[22 + k], b1 = w[33 + k];
        abut_vec3 sum = abut_v3_scale(p * b - q * n, v[2]);
        sum = abut_v3_axpy(sum, -p * n - q * b, v[3]);
        sum = abut_v3_axpy(sum, -p * b1 - q * n1, v[0]);
        abut_v3_put(C + 3 * k, abut_v3_axpy(sum, p * n1 - q * b1, v[1]));
    }
}

/* The coordinate of joint j at x, an angle in (-pi, pi], and its derivative C[ABUT_JOINT_WIDTH], NULL to skip.  Of a hinge the
 * four vectors are n and b across the axis on the first body, n' and b' on the second; of a slider u along it, and y - o. */
static double coordinate(const abut_joints *t, int32_t j, const double *x, double *C)
{
    const int32_t *node = t->model->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *w = t->weight + 44 * (size_t)j;
    abut_vec3 v[4];
    for (int i = 0; i < 4; i++) v[i] = sum_of(node, w + 11 * i, x);
    if (t->model->joint_kind[j] == ABUT_JOINT_SLIDER) {
        for (int k = 0; k < ABUT_JOINT_NODES && C; k++)
            abut_v3_put(C + 3 * k, abut_v3_axpy(abut_v3_scale(w[k], v[1]), w[11 + k], v[0]));
        return abut_v3_dot(v[0], v[1]);
    }
    const double c = abut_v3_dot(v[0], v[2]) + abut_v3_dot(v[1], v[3]), s = abut_v3_dot(v[1], v[2]) - abut_v3_dot(v[0], v[3]);
    const double p = c / (c * c + s * s), q = s / (c * c + s * s);
    if (C) turn(v, w, p, q, C);
    return atan2(s, c);
}

/* The coordinate with its turns counted, next to `from`. */
static double wound(const abut_joints *t, int32_t j, const double *x, double from, double *C)
{
    static const double TURN = 2 * 3.14159265358979323846;
    const double q = coordinate(t, j, x, C);
    return t->model->joint_kind[j] == ABUT_JOINT_HINGE ? q + TURN * round((from - q) / TURN) : q;
}

static int is_driven(const abut_model *m, int32_t j)
{
    const double *d = m->joint_drive ? m->joint_drive + 4 * (size_t)j : NULL;
    const double *limit = m->joint_limit ? m->joint_limit + 4 * (size_t)j : NULL;
    if (m->joint_motor && m->joint_motor[4 * (size_t)j]) return 1;
    if (m->joint_friction && m->joint_friction[2 * (size_t)j] > 0) return 1;
    return (d && (d[0] > 0 || d[2] > 0 || d[3] != 0)) || (limit && (isfinite(limit[0]) || isfinite(limit[1])));
}

/* ---- rows of a step ---- */

/* The row of a gear. */
static double gear_row(const abut_joints *t, int32_t j, const double *x, double *C)
{
    const abut_model *m = t->model;
    const double factor[2] = { m->joint_ratio[2 * j + 1], -m->joint_ratio[2 * j] * m->joint_ratio[2 * j + 1] };
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    double part[ABUT_JOINT_WIDTH], sum = 0;
    if (C) memset(C, 0, ABUT_JOINT_WIDTH * sizeof *C);
    for (int i = 0; i < 2; i++) {
        const int32_t of = m->joint_gear[2 * j + i], *from = m->joint_node + ABUT_JOINT_NODES * (size_t)of;
        sum += factor[i] * wound(t, of, x, t->start[of], C ? part : NULL);
        for (int a = 0; a < ABUT_JOINT_NODES && C; a++)
            for (int b = 0; b < ABUT_JOINT_NODES; b++)
                for (int e = 0; e < 3 && from[a] >= 0 && from[a] == node[b]; e++) C[3 * b + e] += factor[i] * part[3 * a + e];
    }
    return sum;
}

/* abut_joint_row with the motor where it is at the end of the step; 0 if it rests. */
static double row_of(const abut_joints *t, int32_t j, int32_t r, const double *x, double *C)
{
    const abut_model *m = t->model;
    if (m->joint_kind[j] == ABUT_JOINT_GEAR) return gear_row(t, j, x, C);
    if (r < abut_joint_end(m, j)) return abut_joint_row(m, j, r, x, C);
    if (!t->motor[j].exact) {
        if (C) memset(C, 0, ABUT_JOINT_WIDTH * sizeof *C);
        return 0;
    }
    if (m->joint_kind[j] == ABUT_JOINT_SLIDER) return abut_joint_row(m, j, r, x, C) - t->target[j];
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *w = t->weight + 44 * (size_t)j;
    abut_vec3 v[4], n = sum_of(node, w + 22, m->X);
    for (int i = 0; i < 4; i++) v[i] = sum_of(node, w + 11 * i, x);
    const double s = abut_v3_dot(v[1], v[2]) - abut_v3_dot(v[0], v[3]), c = abut_v3_dot(v[0], v[2]) + abut_v3_dot(v[1], v[3]);
    const double by = abut_v3_norm(sum_of(node, m->joint_apart + 12 * (size_t)r, m->X)) / (2 * abut_v3_dot(n, n));
    const double p = by * cos(t->target[j]), q = by * sin(t->target[j]);
    if (C) turn(v, w, p, q, C);
    return p * s - q * c;
}

void abut_joints_set(abut_joints *t, const double *x)
{
    const abut_model *m = t->model;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
            t->g[r] = row_of(t, j, r, x, t->C + ABUT_JOINT_WIDTH * (size_t)r);
}

double abut_joints_gap(const abut_joints *t, const double *x)
{
    double most = 0;
    for (int32_t j = 0; j < t->model->njo; j++)
        for (int32_t r = t->model->joint_first[2 * j]; r < t->model->joint_first[2 * j + 1]; r++)
            most = fmax(most, fabs(row_of(t, j, r, x, NULL)));
    return most;
}

/* ---- the term ---- */

/* to[3 nv] += by times the derivative C of joint j. */
static void add_row(const abut_joints *t, int32_t j, double by, const double *C, double *to)
{
    for (int k = 0; k < ABUT_JOINT_WIDTH; k++) {
        const int32_t node = t->model->joint_node[ABUT_JOINT_NODES * (size_t)j + (size_t)(k / 3)];
        if (node >= 0) to[3 * (size_t)node + (size_t)(k % 3)] += by * C[k];
    }
}

abut_joints *abut_joints_of(const abut_terms *terms) { return abut_terms_find(terms, "joints"); }

int abut_joints_bend(const abut_terms *terms)
{
    const abut_joints *t = abut_joints_of(terms);
    return t && t->bend;
}

static void destroy(void *self)
{
    abut_joints *t = self;
    ABUT_FREE(t->newtons, t->sigma, t->rho, t->g, t->C, t->weight, t->start, t->target, t->motor, t->counts, t->has, t);
}

/* The vectors of the coordinate of joint j. */
static void set_weights(const abut_model *m, int32_t j, double *to)
{
    const abut_vec3 axis = abut_v3_get(m->joint_axis + 3 * (size_t)j), o = abut_v3_get(m->joint_point + 3 * (size_t)j);
    abut_vec3 b;
    const abut_vec3 n1 = across(m, j, &b);
    if (m->joint_kind[j] == ABUT_JOINT_SLIDER) {
        weigh(m, j, 0, 0, 1, axis, to);
        weigh(m, j, 1, 1, 1, o, to + 11), weigh(m, j, 0, 1, -1, o, to + 11);
    } else {
        weigh(m, j, 0, 0, 1, n1, to), weigh(m, j, 0, 0, 1, b, to + 11);
        weigh(m, j, 1, 0, 1, n1, to + 22), weigh(m, j, 1, 0, 1, b, to + 33);
    }
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const abut_model *m = w->model;
    const size_t rows = (size_t)m->njr, joints = (size_t)m->njo;
    if (!joints) return ABUT_OK;
    abut_joints *t = calloc(1, sizeof *t);
    if (t)
        *t = (abut_joints){ .model = m, .newtons = calloc(rows, sizeof(double)), .sigma = calloc(joints, sizeof(double)),
                            .rho = calloc(joints, sizeof(double)), .g = calloc(rows, sizeof(double)),
                            .C = calloc(ABUT_JOINT_WIDTH * rows, sizeof(double)), .weight = calloc(44 * joints, sizeof(double)),
                            .start = calloc(joints, sizeof(double)), .target = calloc(joints, sizeof(double)),
                            .motor = calloc(joints, sizeof(abut_motor)), .counts = calloc(joints, 1),
                            .has = calloc((size_t)m->nv, 1) };
    if (!t || !t->newtons || !t->sigma || !t->rho || !t->g || !t->C || !t->weight || !t->start || !t->target || !t->motor ||
        !t->counts || !t->has) {
        if (t) destroy(t);
        return abut_fail(err, ABUT_E_NOMEM, "%zu joints", joints);
    }
    for (size_t i = 0; i < 11 * rows; i++) t->bend |= i % 11 < ABUT_JOINT_NODES && m->joint_along[i] != 0;
    for (size_t i = 0; i < ABUT_JOINT_NODES * joints; i++)
        if (m->joint_node[i] >= 0) t->has[m->joint_node[i]] = 1;
    for (int32_t j = 0; j < m->njo; j++) {
        t->counts[j] |= is_driven(m, j);
        t->bend |= m->joint_kind[j] == ABUT_JOINT_GEAR;
        for (int i = 0; i < 2 && m->joint_kind[j] == ABUT_JOINT_GEAR; i++) t->counts[m->joint_gear[2 * j + i]] = 1;
    }
    for (int32_t j = 0; j < m->njo; j++)
        if (t->counts[j]) set_weights(m, j, t->weight + 44 * (size_t)j);
    return *self = t, ABUT_OK;
}

/* n numbers of a frame; 0 if it has none. */
static void take(double *to, const double *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++) to[i] = from ? from[i] : 0;
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_joints *t = self;
    const abut_model *m = t->model;
    (void)err;
    if (as->pending) return ABUT_OK;
    take(t->newtons, f->joint_multiplier, m->njr);
    take(t->start, f->joint_coordinate, m->njo);
    take(t->target, f->joint_target, m->njo);
    t->resumes = f->x0 != NULL;
    return ABUT_OK;
}

static int any_driven(const abut_model *m)
{
    return m->joint_drive || m->joint_limit || m->joint_motor || m->joint_friction || m->joint_gear;
}

static double effort_of(const abut_joints *t, int32_t j, const double *x);

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const abut_joints *t = self;
    const abut_model *m = t->model;
    const double *x = abut_arrays_find(out, "node/x")->data;
    static const char *const names[] = { "joint/multiplier", "joint/coordinate", "joint/target", "joint/effort" };
    double *to[4] = { NULL };
    for (int k = 0; k < (as->pending ? 0 : m->joint_motor ? 4 : any_driven(m) ? 2 : 1); k++) {
        to[k] = abut_frame_put(out, names[k], k ? m->njo : m->njr, err);
        if (!to[k]) return err ? err->code : ABUT_E_NOMEM;
        if (k < 3) abut_arrays_find(out, names[k])->flags |= ABUT_A_REQUIRED;
    }
    if (to[0]) memcpy(to[0], t->newtons, (size_t)m->njr * sizeof **to);
    for (int32_t j = 0; j < m->njo && to[1]; j++) to[1][j] = t->counts[j] ? wound(t, j, x, t->start[j], NULL) : 0;
    for (int32_t j = 0; j < m->njo && to[2]; j++) to[2][j] = t->target[j], to[3][j] = effort_of(t, j, x);
    return ABUT_OK;
}

/* The matrix of an earlier minimisation, which another process does not know. */
static void forget(void *self)
{
    abut_joints *t = self;
    memset(t->sigma, 0, (size_t)t->model->njo * sizeof *t->sigma);
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    abut_joints *t = self;
    (void)err;
    forget(self);
    t->step = step;
    for (int32_t j = 0; j < t->model->njo; j++) {
        const abut_motor *s = &t->motor[j];
        if (t->counts[j]) t->start[j] = wound(t, j, step->x0, t->start[j], NULL);
        t->motor[j] = abut_motor_step(t->model, j, step->time);
        if (s->kind == ABUT_MOTOR_PLACE) t->target[j] = s->value;
        if (s->kind == ABUT_MOTOR_RATE && !t->resumes) t->target[j] = (s->begins ? t->start[j] : t->target[j]) + s->value;
    }
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_joints *t = self;
    const abut_model *m = t->model;
    const double newton = at->step->h_force * at->step->h_force;
    abut_acc sum = { 0, 0 };
    (void)scratch, (void)err;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
            const double g = row_of(t, j, r, at->x, NULL);
            abut_acc_add(&sum, g * (newton * t->newtons[r] + 0.5 * t->sigma[j] * g));
        }
    *e = scale * (sum.hi + sum.lo);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_joints *t = self;
    const abut_model *m = t->model;
    const double newton = at->step->h_force * at->step->h_force;
    (void)scratch, (void)err;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
            double C[ABUT_JOINT_WIDTH];
            const double gap = row_of(t, j, r, at->x, C), by = scale * (newton * t->newtons[r] + t->sigma[j] * gap);
            add_row(t, j, by, C, g);
        }
    return ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const abut_joints *)self)->model;
    (void)at, (void)err;
    set->corners = ABUT_JOINT_NODES, set->n = (size_t)m->njo, set->row = m->joint_node;
    return ABUT_OK;
}

/* Room in the pattern: the matrix adds rho C^T C once it knows its own diagonal (solve/direction/matrix.c). */
static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)self, (void)at, (void)scale;
    memset(val, 0, (hi - lo) * abut_packed_size(ABUT_JOINT_NODES) * sizeof *val);
}

const abut_term_ops abut_term_joints = { .name = "joints", .kind = ABUT_TERM_CONSTRAINT, .weight = ABUT_TERM_WEIGHED,
                                         .set = "joints", .set_is = ABUT_SET_LASTS, .make = make, .load = load, .store = store,
                                         .begin = begin, .energy = energy, .gradient = gradient, .elements = elements,
                                         .hessian = hessian, .start = forget, .free = destroy };

/* ---- springs, dampers, loads, motors, friction of coordinates ----
 *
 *     k/2 (q - q0)^2 + c/2 (q - q_d)^2 / t - f q + s b(q - least) + s b(largest - q) + M(q) + F(q)       J
 *     b(gap) = -(gap - w)^2 ln(gap / w) below the width w of a stop, +inf from 0 on
 *     M = k/2 (q - q*)^2 + c/2 (q - q_d - q*' t)^2 / t, linear from where its slope is the largest effort; F with k = q*' = 0
 *
 * q the angle of a hinge or the position of a slider, q_d that which damping opposes, over the time t; q* the target of a motor.
 * Angles count turns: each is the one next to that of the start of the step. */

/* s b of a stop: its value, and its first two derivatives by the gap added to *slope, times `sign`, and *curve. */
static double stop(double gap, const double *limit, double sign, double *slope, double *curve)
{
    const double w = limit[2], s = limit[3], off = gap - w;
    if (!(gap > 0)) return INFINITY;
    if (gap >= w) return 0;
    const double log_gap = log(gap / w);
    *slope += sign * s * (-2 * off * log_gap - off * off / gap);
    *curve += s * (-2 * log_gap - 4 * off / gap + off * off / (gap * gap));
    return -s * off * off * log_gap;
}

static abut_status drives_make(void **self, const abut_term_world *w, abut_err *err)
{
    (void)err;
    if (any_driven(w->model)) *self = abut_terms_find(w->before, "joints");
    return ABUT_OK;
}

/* k/2 off^2, in a straight line from where its slope is `most`; adds its slope and curvature. */
static double bounded(double k, double off, double most, double *slope, double *curve)
{
    if (k * fabs(off) > most) return *slope += copysign(most, off), most * (fabs(off) - most / (2 * k));
    *slope += k * off, *curve += k;
    return 0.5 * k * off * off;
}

/* M, of the motor of joint j at the coordinate q, which damping takes to be led from `damped`. */
static double motor(const abut_joints *t, int32_t j, double q, double damped, double *slope, double *curve)
{
    const abut_motor *s = &t->motor[j];
    const double time = t->step->damp_time;
    if (!s->kind || s->exact) return 0;
    if (s->kind == ABUT_MOTOR_EFFORT) return *slope -= s->value, -s->value * q;
    const double *law = t->model->joint_motor_law + 5 * (size_t)j, c = law[3] / time, k = law[2] + c;
    return bounded(k, (law[2] * (q - t->target[j]) + c * (q - damped - s->rate * time)) / k, law[4], slope, curve);
}

/* Torque or force of the motor of joint j on its coordinate in the step that ends at x. */
static double effort_of(const abut_joints *t, int32_t j, const double *x)
{
    double F[9], C[ABUT_JOINT_WIDTH], slope = 0, curve = 0;
    if (!t->motor[j].kind) return 0;
    if (!t->motor[j].exact) {
        const double damped = wound(t, j, t->step->x_damp, t->start[j], NULL);
        (void)motor(t, j, wound(t, j, x, t->start[j], NULL), damped, &slope, &curve);
        return -slope;
    }
    const abut_model *m = t->model;
    const int32_t r = abut_joint_end(m, j);
    abut_vec3 f = abut_v3(0, 0, 0), moment = f, axis = abut_v3_get(m->joint_axis + 3 * (size_t)j);
    (void)row_of(t, j, r, x, C);
    const abut_vec3 o = map_of(m, j, 1, x, F);
    push(m->joint_node + ABUT_JOINT_NODES * (size_t)j, C, t->newtons[r], x, o, &f, &moment);
    (void)map_of(m, j, 0, x, F);
    return abut_v3_dot(times(F, axis), m->joint_kind[j] == ABUT_JOINT_SLIDER ? f : moment);
}

/* The parts of the energy of joint j at the coordinate q, led from `damped`, J, with their slopes; *curve: of their sum. */
enum { SPRING, LOAD, DAMPER, MOTOR, FRICTION, PARTS };
static void parts_of(const abut_joints *t, int32_t j, double q, double damped, double e[PARTS], double slope[PARTS],
                     double *curve)
{
    const abut_model *m = t->model;
    static const double none[4] = { 0 };
    const double *d = m->joint_drive ? m->joint_drive + 4 * (size_t)j : none, time = t->step->damp_time;
    const double *friction = m->joint_friction ? m->joint_friction + 2 * (size_t)j : none;
    memset(e, 0, PARTS * sizeof *e), memset(slope, 0, PARTS * sizeof *slope);
    *curve = 0;
    e[SPRING] = bounded(d[0], q - d[1], INFINITY, &slope[SPRING], curve);
    e[DAMPER] = bounded(d[2] / time, q - damped, INFINITY, &slope[DAMPER], curve);
    e[LOAD] = -d[3] * q, slope[LOAD] = -d[3];
    e[MOTOR] = motor(t, j, q, damped, &slope[MOTOR], curve);
    if (friction[0] > 0)
        e[FRICTION] = bounded(friction[0] / (friction[1] * time), q - damped, friction[0], &slope[FRICTION], curve);
    if (!m->joint_limit) return;
    const double *limit = m->joint_limit + 4 * (size_t)j;
    e[SPRING] += stop(q - limit[0], limit, 1, &slope[SPRING], curve);
    e[SPRING] += stop(limit[1] - q, limit, -1, &slope[SPRING], curve);
}

/* Energy, J, its first and second derivative by the coordinate, and that by the nodes. */
static double drive(const abut_joints *t, int32_t j, const abut_at *at, double *slope, double *curve, double *C)
{
    double e[PARTS], slopes[PARTS], sum = 0;
    const double q = wound(t, j, at->x, t->start[j], C), damped = wound(t, j, at->step->x_damp, t->start[j], NULL);
    parts_of(t, j, q, damped, e, slopes, curve);
    *slope = 0;
    for (int k = 0; k < PARTS; k++) sum += e[k], *slope += slopes[k];
    return sum;
}

void abut_joints_force(const abut_joints *t, const abut_at *at, double *f)
{
    const abut_model *m = t->model;
    double C[ABUT_JOINT_WIDTH], slope, curve;
    for (int32_t j = 0; j < m->njo; j++) {
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
            (void)row_of(t, j, r, at->x, C), add_row(t, j, -t->newtons[r], C, f);
        if (t->counts[j]) (void)drive(t, j, at, &slope, &curve, C), add_row(t, j, -slope, C, f);
    }
}

abut_joints_book abut_joints_energies(const abut_joints *t, const abut_at *at)
{
    abut_joints_book b = { 0 };
    for (int32_t j = 0; t && j < t->model->njo; j++) {
        double e[PARTS], slope[PARTS], curve;
        if (!t->counts[j]) continue;
        const double q0 = t->start[j], q = wound(t, j, at->x, q0, NULL), damped = wound(t, j, at->step->x_damp, q0, NULL);
        parts_of(t, j, q0, q0, e, slope, &curve);
        b.start += e[SPRING];
        parts_of(t, j, q, damped, e, slope, &curve);
        b.end += e[SPRING];
        b.load += (effort_of(t, j, at->x) - slope[LOAD]) * (q - q0);
        b.damping -= slope[DAMPER] * (q - q0), b.friction -= slope[FRICTION] * (q - q0);
    }
    return b;
}

static abut_status drives_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_joints *t = self;
    double slope, curve, sum = 0;
    (void)scratch, (void)err;
    for (int32_t j = 0; j < t->model->njo; j++)
        if (t->counts[j]) sum += drive(t, j, at, &slope, &curve, NULL);
    *e = scale * sum;
    return ABUT_OK;
}

static abut_status drives_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_joints *t = self;
    (void)scratch, (void)err;
    for (int32_t j = 0; j < t->model->njo; j++) {
        double C[ABUT_JOINT_WIDTH], slope, curve;
        if (!t->counts[j]) continue;
        (void)drive(t, j, at, &slope, &curve, C);
        add_row(t, j, scale * slope, C, g);
    }
    return ABUT_OK;
}

/* Second derivatives of the energy by the coordinate alone, which are not negative. */
static void drives_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_joints *t = self;
    memset(val, 0, (hi - lo) * abut_packed_size(ABUT_JOINT_NODES) * sizeof *val);
    for (size_t j = lo; j < hi; j++) {
        double C[ABUT_JOINT_WIDTH], slope, curve, *to = val + (j - lo) * abut_packed_size(ABUT_JOINT_NODES);
        if (!t->counts[j]) continue;
        (void)drive(t, (int32_t)j, at, &slope, &curve, C);
        for (int a = 0; a < ABUT_JOINT_NODES; a++)
            for (int b = a; b < ABUT_JOINT_NODES; b++, to += 9)
                for (int e = 0; e < 9; e++) to[e] = scale * curve * C[3 * a + e / 3] * C[3 * b + e % 3];
    }
}

const abut_term_ops abut_term_drives = { .name = "drives of joints", .kind = ABUT_TERM_LOAD, .weight = ABUT_TERM_AT_X,
                                         .set = "drives of joints", .set_is = ABUT_SET_LASTS, .make = drives_make,
                                         .energy = drives_energy, .gradient = drives_gradient, .elements = elements,
                                         .hessian = drives_hessian };
