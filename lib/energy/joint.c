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

void abut_joints_set(abut_joints *t, const double *x)
{
    const abut_model *m = t->model;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
            t->g[r] = abut_joint_row(m, j, r, x, t->C + ABUT_JOINT_WIDTH * (size_t)r);
}

double abut_joint_gap(const abut_model *m, int32_t j, const double *x)
{
    double most = 0;
    for (int32_t i = j < 0 ? 0 : j; i < (j < 0 ? m->njo : j + 1); i++)
        for (int32_t r = m->joint_first[2 * i]; r < m->joint_first[2 * i + 1]; r++)
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

void abut_joint_coordinates(const abut_model *m, int32_t j, const double *x, double *angle, double *position)
{
    const int32_t kind = m->joint_kind[j];
    const abut_vec3 t = abut_v3_get(m->joint_axis + 3 * (size_t)j);
    double A[9], B[9];
    const abut_vec3 o = map_of(m, j, 0, x, A), y = map_of(m, j, 1, x, B);
    const abut_vec3 n = abut_v3_cross(t, fabs(t.x) < 0.6 ? abut_v3(1, 0, 0) : abut_v3(0, 1, 0)), b = abut_v3_cross(t, n);
    const abut_vec3 na = times(A, n), ba = times(A, b), nb = times(B, n), bb = times(B, b);
    const int turns = kind == ABUT_JOINT_HINGE || kind == ABUT_JOINT_CYLINDER;
    const int slides = kind == ABUT_JOINT_SLIDER || kind == ABUT_JOINT_CYLINDER;
    *angle = turns ? atan2(abut_v3_dot(ba, nb) - abut_v3_dot(na, bb), abut_v3_dot(na, nb) + abut_v3_dot(ba, bb)) : NAN;
    *position = slides ? abut_v3_dot(times(A, t), abut_v3_sub(y, o)) : NAN;
}

void abut_joint_reaction(const abut_model *m, int32_t j, const double *x, const double *newtons, double force[3],
                         double torque[3])
{
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    double F[9];
    const abut_vec3 o = map_of(m, j, 1, x, F);
    abut_vec3 f = abut_v3(0, 0, 0), t = f;
    for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
        double C[ABUT_JOINT_WIDTH];
        (void)abut_joint_row(m, j, r, x, C);
        for (int k = 4; k < ABUT_JOINT_NODES; k++) {
            const abut_vec3 by = abut_v3_scale(-newtons[r], abut_v3_get(C + 3 * k));
            f = abut_v3_add(f, by);
            t = abut_v3_add(t, abut_v3_cross(abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[k]), o), by));
        }
    }
    abut_v3_put(force, f), abut_v3_put(torque, t);
}

int abut_joints_have(const abut_model *m, int32_t node)
{
    for (size_t i = 0; i < ABUT_JOINT_NODES * (size_t)m->njo; i++)
        if (m->joint_node[i] == node) return 1;
    return 0;
}

/* ---- the term ---- */

abut_joints *abut_joints_of(const abut_terms *terms) { return abut_terms_find(terms, "joints"); }

int abut_joints_bend(const abut_terms *terms)
{
    const abut_joints *t = abut_joints_of(terms);
    return t && t->bend;
}

static void destroy(void *self)
{
    abut_joints *t = self;
    ABUT_FREE(t->newtons, t->sigma, t->rho, t->g, t->C, t);
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const size_t rows = (size_t)w->model->njr, joints = (size_t)w->model->njo;
    if (!joints) return ABUT_OK;
    abut_joints *t = calloc(1, sizeof *t);
    if (t)
        *t = (abut_joints){ w->model, 0, calloc(rows, sizeof(double)), calloc(joints, sizeof(double)),
                            calloc(joints, sizeof(double)), calloc(rows, sizeof(double)),
                            calloc(ABUT_JOINT_WIDTH * rows, sizeof(double)) };
    for (size_t i = 0; t && i < 11 * rows; i++) t->bend |= i % 11 < ABUT_JOINT_NODES && w->model->joint_along[i] != 0;
    if (t && t->newtons && t->sigma && t->rho && t->g && t->C) return *self = t, ABUT_OK;
    if (t) destroy(t);
    return abut_fail(err, ABUT_E_NOMEM, "%zu joints", joints);
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_joints *t = self;
    const size_t bytes = (size_t)t->model->njr * sizeof *t->newtons;
    (void)err;
    if (as->pending) return ABUT_OK;
    if (f->joint_multiplier) memcpy(t->newtons, f->joint_multiplier, bytes);
    else memset(t->newtons, 0, bytes);
    return ABUT_OK;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const abut_joints *t = self;
    if (as->pending) return ABUT_OK;
    double *to = abut_frame_put(out, "joint/multiplier", t->model->njr, err);
    if (!to) return err ? err->code : ABUT_E_NOMEM;
    memcpy(to, t->newtons, (size_t)t->model->njr * sizeof *to);
    abut_arrays_find(out, "joint/multiplier")->flags |= ABUT_A_REQUIRED;
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
    (void)step, (void)err;
    forget(self);
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
            const double g = abut_joint_row(m, j, r, at->x, NULL);
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
            const double gap = abut_joint_row(m, j, r, at->x, C), by = scale * (newton * t->newtons[r] + t->sigma[j] * gap);
            for (int k = 0; k < ABUT_JOINT_WIDTH; k++) {
                const int32_t node = m->joint_node[ABUT_JOINT_NODES * (size_t)j + (size_t)(k / 3)];
                if (node >= 0) g[3 * (size_t)node + (size_t)(k % 3)] += by * C[k];
            }
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

/* ---- springs, dampers and loads of coordinates ----
 *
 *     k/2 (q - q0)^2 + c/2 (q - q_d)^2 / t - f q + s b(q - least) + s b(largest - q)       J
 *     b(gap) = -(gap - w)^2 ln(gap / w) below the width w of a stop, +inf from 0 on
 *
 * q the angle of a hinge or the position of a slider, q_d that which damping opposes, over the time t.  Angles count turns: each
 * is the one next to that of the start of the step. */

typedef struct drives {
    const abut_model *model;
    double *weight;         /* [njo * 4 * 11] of the vectors below: weights of the nodes, and a constant */
    double *start;          /* [njo] coordinates where the step starts */
} drives;

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

/* The coordinate of joint j at x, an angle in (-pi, pi], and its derivative C[ABUT_JOINT_WIDTH], NULL to skip.  Of a hinge the
 * four vectors are n and b across the axis on the first body, n' and b' on the second; of a slider u along it, and y - o. */
static double coordinate(const drives *t, int32_t j, const double *x, double *C)
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
    for (int k = 0; k < ABUT_JOINT_NODES && C; k++) {
        const double n = w[k], b = w[11 + k], n1 = w[22 + k], b1 = w[33 + k];
        abut_vec3 sum = abut_v3_scale(p * b - q * n, v[2]);
        sum = abut_v3_axpy(sum, -p * n - q * b, v[3]);
        sum = abut_v3_axpy(sum, -p * b1 - q * n1, v[0]);
        abut_v3_put(C + 3 * k, abut_v3_axpy(sum, p * n1 - q * b1, v[1]));
    }
    return atan2(s, c);
}

/* The coordinate with its turns counted, next to `from`. */
static double wound(const drives *t, int32_t j, const double *x, double from, double *C)
{
    static const double TURN = 2 * 3.14159265358979323846;
    const double q = coordinate(t, j, x, C);
    return t->model->joint_kind[j] == ABUT_JOINT_HINGE ? q + TURN * round((from - q) / TURN) : q;
}

static int is_driven(const abut_model *m, int32_t j)
{
    const double *d = m->joint_drive ? m->joint_drive + 4 * (size_t)j : NULL;
    const double *limit = m->joint_limit ? m->joint_limit + 4 * (size_t)j : NULL;
    return (d && (d[0] > 0 || d[2] > 0 || d[3] != 0)) || (limit && (isfinite(limit[0]) || isfinite(limit[1])));
}

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

static void drives_destroy(void *self)
{
    drives *t = self;
    ABUT_FREE(t->weight, t->start, t);
}

static abut_status drives_make(void **self, const abut_term_world *w, abut_err *err)
{
    const abut_model *m = w->model;
    const size_t n = (size_t)m->njo;
    if (!n || !(m->joint_drive || m->joint_limit)) return ABUT_OK;
    drives *t = calloc(1, sizeof *t);
    if (t) *t = (drives){ m, calloc(44 * n, sizeof(double)), calloc(n, sizeof(double)) };
    if (!t || !t->weight || !t->start) {
        if (t) drives_destroy(t);
        return abut_fail(err, ABUT_E_NOMEM, "%zu joints", n);
    }
    for (int32_t j = 0; j < m->njo; j++) {
        const abut_vec3 axis = abut_v3_get(m->joint_axis + 3 * (size_t)j), o = abut_v3_get(m->joint_point + 3 * (size_t)j);
        const abut_vec3 n1 = abut_v3_cross(axis, fabs(axis.x) < 0.6 ? abut_v3(1, 0, 0) : abut_v3(0, 1, 0));
        const abut_vec3 b = abut_v3_cross(axis, n1);
        double *to = t->weight + 44 * (size_t)j;
        if (m->joint_kind[j] == ABUT_JOINT_SLIDER) {
            weigh(m, j, 0, 0, 1, axis, to);
            weigh(m, j, 1, 1, 1, o, to + 11), weigh(m, j, 0, 1, -1, o, to + 11);
        } else {
            weigh(m, j, 0, 0, 1, n1, to), weigh(m, j, 0, 0, 1, b, to + 11);
            weigh(m, j, 1, 0, 1, n1, to + 22), weigh(m, j, 1, 0, 1, b, to + 33);
        }
    }
    return *self = t, ABUT_OK;
}

static abut_status drives_load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    drives *t = self;
    (void)err;
    if (as->pending) return ABUT_OK;
    if (f->joint_coordinate) memcpy(t->start, f->joint_coordinate, (size_t)t->model->njo * sizeof *t->start);
    else memset(t->start, 0, (size_t)t->model->njo * sizeof *t->start);
    return ABUT_OK;
}

static abut_status drives_store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const drives *t = self;
    const double *x = abut_arrays_find(out, "node/x")->data;
    if (as->pending) return ABUT_OK;
    double *to = abut_frame_put(out, "joint/coordinate", t->model->njo, err);
    if (!to) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t j = 0; j < t->model->njo; j++) to[j] = is_driven(t->model, j) ? wound(t, j, x, t->start[j], NULL) : 0;
    abut_arrays_find(out, "joint/coordinate")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status drives_begin(void *self, const abut_term_step *step, abut_err *err)
{
    drives *t = self;
    (void)err;
    for (int32_t j = 0; j < t->model->njo; j++)
        if (is_driven(t->model, j)) t->start[j] = wound(t, j, step->x0, t->start[j], NULL);
    return ABUT_OK;
}

/* Energy, J, its first and second derivative by the coordinate, and that by the nodes. */
static double drive(const drives *t, int32_t j, const abut_at *at, double *slope, double *curve, double *C)
{
    const abut_model *m = t->model;
    static const double none[4] = { 0 };
    const double *d = m->joint_drive ? m->joint_drive + 4 * (size_t)j : none, drag = d[2] / at->step->damp_time;
    const double q = wound(t, j, at->x, t->start[j], C);
    const double off = q - d[1], slid = drag > 0 ? q - wound(t, j, at->step->x_damp, t->start[j], NULL) : 0;
    *slope = d[0] * off + drag * slid - d[3];
    *curve = d[0] + drag;
    double energy = 0.5 * (d[0] * off * off + drag * slid * slid) - d[3] * q;
    if (m->joint_limit) {
        const double *limit = m->joint_limit + 4 * (size_t)j;
        energy += stop(q - limit[0], limit, 1, slope, curve);
        energy += stop(limit[1] - q, limit, -1, slope, curve);
    }
    return energy;
}

static abut_status drives_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const drives *t = self;
    double slope, curve, sum = 0;
    (void)scratch, (void)err;
    for (int32_t j = 0; j < t->model->njo; j++)
        if (is_driven(t->model, j)) sum += drive(t, j, at, &slope, &curve, NULL);
    *e = scale * sum;
    return ABUT_OK;
}

static abut_status drives_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const drives *t = self;
    (void)scratch, (void)err;
    for (int32_t j = 0; j < t->model->njo; j++) {
        double C[ABUT_JOINT_WIDTH], slope, curve;
        if (!is_driven(t->model, j)) continue;
        (void)drive(t, j, at, &slope, &curve, C);
        for (int k = 0; k < ABUT_JOINT_WIDTH; k++) {
            const int32_t node = t->model->joint_node[ABUT_JOINT_NODES * (size_t)j + (size_t)(k / 3)];
            if (node >= 0) g[3 * (size_t)node + (size_t)(k % 3)] += scale * slope * C[k];
        }
    }
    return ABUT_OK;
}

/* Second derivatives of the energy by the coordinate alone, which are not negative. */
static void drives_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const drives *t = self;
    memset(val, 0, (hi - lo) * abut_packed_size(ABUT_JOINT_NODES) * sizeof *val);
    for (size_t j = lo; j < hi; j++) {
        double C[ABUT_JOINT_WIDTH], slope, curve, *to = val + (j - lo) * abut_packed_size(ABUT_JOINT_NODES);
        if (!is_driven(t->model, (int32_t)j)) continue;
        (void)drive(t, (int32_t)j, at, &slope, &curve, C);
        for (int a = 0; a < ABUT_JOINT_NODES; a++)
            for (int b = a; b < ABUT_JOINT_NODES; b++, to += 9)
                for (int e = 0; e < 9; e++) to[e] = scale * curve * C[3 * a + e / 3] * C[3 * b + e % 3];
    }
}

static abut_status drives_elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    return elements(&(abut_joints){ .model = ((const drives *)self)->model }, at, set, err);
}

const abut_term_ops abut_term_drives = { .name = "drives of joints", .kind = ABUT_TERM_LOAD, .weight = ABUT_TERM_AT_X,
                                         .set = "drives of joints", .set_is = ABUT_SET_LASTS, .make = drives_make,
                                         .load = drives_load, .store = drives_store, .begin = drives_begin,
                                         .energy = drives_energy, .gradient = drives_gradient, .elements = drives_elements,
                                         .hessian = drives_hessian, .free = drives_destroy };
