#include "energy/pressure.h"

#include "base/order.h"
#include "base/par.h"
#include "energy/material/two_modes.h"
#include "energy/term.h"
#include "math/vec3.h"
#include "model/motion.h"
#include "sparse/packed_inline.h"

#include <assert.h>
#include <stdlib.h>

static double of_object(const double *value, const abut_model *m, int32_t shell)
{
    return value ? value[m->body[m->shell[3 * (size_t)shell]]] : 0;
}

/* Current pressure on a shell, Pa. */
static double pressure(const abut_air *a, int32_t shell)
{
    return of_object(a->pressure ? a->pressure : a->model->obj_pressure, a->model, shell);
}

/* ---- rims ---- */

static size_t copies(const int32_t *edge, size_t n, int32_t from, int32_t to)
{
    const int32_t key[2] = { from, to };
    size_t lo = abut_place_of(key, edge, n, 2 * sizeof *edge, abut_by_two), count = 0;
    for (; lo < n && !abut_by_two(edge + 2 * lo, key); lo++) count++;
    return count;
}

/* Marks the ends of every directed edge that does not go as often forth as back. */
static abut_status find_rims(abut_air *a, abut_err *err)
{
    const abut_model *m = a->model;
    size_t n = 0;
    int32_t *edge = malloc(6 * (size_t)m->nsh * sizeof *edge);
    if (!edge) return abut_fail(err, ABUT_E_NOMEM, "rims of %d shells", m->nsh);
    for (int32_t s = 0; s < m->nsh; s++) {
        const int32_t *v = m->shell + 3 * (size_t)s;
        for (int k = 0; k < 3 && of_object(m->obj_pressure, m, s) != 0; k++, n++) {
            edge[2 * n] = v[k];
            edge[2 * n + 1] = v[(k + 1) % 3];
        }
    }
    qsort(edge, n, 2 * sizeof *edge, abut_by_two);
    for (size_t e = 0; e < n; e++) {
        const int32_t from = edge[2 * e], to = edge[2 * e + 1];
        if (copies(edge, n, from, to) != copies(edge, n, to, from)) a->rim[from] = a->rim[to] = 1, a->open = 1;
    }
    free(edge);
    return ABUT_OK;
}

static void air_clear(abut_air *a)
{
    ABUT_FREE(a->rim, a->origin, a->pressure, a->facing);
    *a = (abut_air){ 0 };
}

static abut_status air_init(abut_air *a, const abut_model *m, abut_err *err)
{
    assert(m);
    *a = (abut_air){ .model = m };
    for (int32_t o = 0; o < m->no && m->nsh; o++) {
        a->presses |= m->obj_pressure && m->obj_pressure[o] != 0;
        a->drags |= m->obj_drag && m->obj_drag[o] != 0;
    }
    abut_status rc = ABUT_OK;
    if (a->drags && !(a->facing = calloc(3 * (size_t)m->nsh, sizeof *a->facing)))
        rc = abut_fail(err, ABUT_E_NOMEM, "drag: %d shells", m->nsh);
    if (!rc && a->presses) {
        a->rim = calloc((size_t)m->nv, 1);
        a->origin = calloc(3 * (size_t)m->no, sizeof *a->origin);
        if (m->obj_pressure_key) a->pressure = calloc((size_t)m->no, sizeof *a->pressure);
        const int room = a->rim && a->origin && (a->pressure || !m->obj_pressure_key);
        rc = room ? find_rims(a, err) : abut_fail(err, ABUT_E_NOMEM, "pressure: %d nodes", m->nv);
        if (!rc) abut_air_press(a, 0);
    }
    if (rc) air_clear(a);
    return rc;
}

/* ---- loads at rims ---- */

/* the corners, from the object's origin when the object has one */
static void corners(const abut_air *a, int32_t shell, const double *x, abut_vec3 c[3])
{
    const abut_model *m = a->model;
    const int32_t *v = m->shell + 3 * (size_t)shell;
    const abut_vec3 o = a->origin ? abut_v3_get(a->origin + 3 * m->body[v[0]]) : abut_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) c[k] = abut_v3_sub(abut_v3_get(x + 3 * (size_t)v[k]), o);
}

/* twice the area, as a vector along the normal */
static abut_vec3 double_area(const abut_vec3 c[3])
{
    return abut_v3_cross(abut_v3_sub(c[1], c[0]), abut_v3_sub(c[2], c[0]));
}

void abut_air_press(abut_air *a, double at)
{
    for (int32_t o = 0; a->pressure && o < a->model->no; o++)
        a->pressure[o] = a->model->obj_pressure[o] * abut_pressure_factor(a->model, o, at).value;
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    abut_air *a = self;
    const abut_model *m = a->model;
    const double *x = step->x0;
    (void)err;
    abut_air_press(a, step->load_time);
    for (int32_t o = 0; o < m->no && a->presses; o++) {
        double sum[3] = { 0 }, n = 0;
        for (int32_t s = 0; s < m->nsh; s++) {
            const int32_t *v = m->shell + 3 * (size_t)s;
            if (m->body[v[0]] != o) continue;
            n += 3;
            for (int k = 0; k < 9; k++) sum[k % 3] += x[3 * (size_t)v[k / 3] + (size_t)(k % 3)];
        }
        for (int d = 0; d < 3; d++) a->origin[3 * o + d] = n > 0 ? sum[d] / n : 0;
    }
    for (int32_t s = 0; s < m->nsh && a->drags; s++) {
        abut_vec3 c[3];
        corners(a, s, x, c);
        abut_v3_put(a->facing + 3 * (size_t)s, abut_v3_scale(0.5, double_area(c)));
    }
    return ABUT_OK;
}

static void add(double *f, abut_vec3 v)
{
    f[0] += v.x;
    f[1] += v.y;
    f[2] += v.z;
}

/* p A / 3 less p (xb x xc) / 6, which is p xa x (xb - xc) / 6 */
static void rim_load(const abut_air *a, int32_t shell, const double *x, double *f)
{
    const int32_t *v = a->model->shell + 3 * (size_t)shell;
    const double p = pressure(a, shell);
    abut_vec3 c[3];
    if (p == 0 || !(a->rim[v[0]] || a->rim[v[1]] || a->rim[v[2]])) return;
    corners(a, shell, x, c);
    for (int k = 0; k < 3; k++) {
        const abut_vec3 opposite = abut_v3_sub(c[(k + 1) % 3], c[(k + 2) % 3]);
        if (a->rim[v[k]]) add(f + 3 * (size_t)v[k], abut_v3_scale(p / 6, abut_v3_cross(c[k], opposite)));
    }
}

void abut_air_load(const abut_air *a, const double *x, double *f)
{
    for (int32_t s = 0; s < a->model->nsh && a->open; s++) rim_load(a, s, x, f);
}

/* ---- drag ---- */

/* A triangle in the wind. */
typedef struct sail {
    double drag, area;      /* c; A */
    abut_vec3 n;            /* 1 */
    double wn;              /* w.n, m/s */
} sail;

/* 0 when nothing drags it */
static int set_sail(const abut_air *a, int32_t shell, const double *x, const double *c, double tau, sail *s)
{
    const abut_model *m = a->model;
    const int32_t *v = m->shell + 3 * (size_t)shell;
    const abut_vec3 facing = abut_v3_get(a->facing + 3 * (size_t)shell);
    s->drag = of_object(m->obj_drag, m, shell);
    s->area = abut_v3_norm(facing);
    if (s->drag == 0 || !(s->area > 0)) return 0;
    abut_vec3 w = m->wind ? abut_v3_get(m->wind) : abut_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        const size_t at = 3 * (size_t)v[k];
        w = abut_v3_axpy(w, -1 / (3 * tau), c ? abut_v3_sub(abut_v3_get(x + at), abut_v3_get(c + at)) : abut_v3_get(x + at));
    }
    s->n = abut_v3_scale(1 / s->area, facing);
    s->wn = abut_v3_dot(w, s->n);
    return 1;
}

/* tau R; in equilibria, which have no velocities, drag is a load. */
static abut_status drag_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_air *a = self;
    const double tau = at->step->damp_time;
    abut_acc sum = { 0, 0 };
    sail s;
    (void)scratch, (void)err;
    for (int32_t t = 0; t < a->model->nsh && at->step->inertia; t++)
        if (set_sail(a, t, at->x, at->step->x_damp, tau, &s))
            abut_acc_add(&sum, tau * s.drag * s.area * fabs(s.wn) * s.wn * s.wn / 3);
    *e = scale * (sum.hi + sum.lo);
    return ABUT_OK;
}

void abut_air_drag_gradient(const abut_air *a, const double *x, const double *c, double tau, double scale, double *g)
{
    sail s;
    for (int32_t t = 0; t < a->model->nsh && a->drags; t++) {
        if (!set_sail(a, t, x, c, tau, &s)) continue;
        const abut_vec3 third = abut_v3_scale(-scale * s.drag * s.area * fabs(s.wn) * s.wn / 3, s.n);
        for (int k = 0; k < 3; k++) add(g + 3 * (size_t)a->model->shell[3 * (size_t)t + (size_t)k], third);
    }
}

static void drag_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    static const size_t used[] = { 0, 9, 18, 36, 45, 63 };  /* of three corners */
    const abut_air *a = self;
    const double tau = at->step->damp_time;
    sail s;
    (void)lo, (void)hi;
    for (int32_t t = 0; t < a->model->nsh && at->step->inertia; t++) {
        if (!set_sail(a, t, at->x, at->step->x_damp, tau, &s)) continue;
        const double k = scale * 2 * s.drag * s.area * fabs(s.wn) / (9 * tau), n[3] = { s.n.x, s.n.y, s.n.z };
        for (size_t b = 0; b < sizeof used / sizeof *used; b++)
            for (size_t i = 0; i < 9; i++) val[abut_packed_size(4) * (size_t)t + used[b] + i] += k * n[i / 3] * n[i % 3];
    }
}

/* ---- potential ---- */

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_air *a = self;
    abut_acc sum = { 0, 0 };
    (void)scratch, (void)err;
    for (int32_t s = 0; s < a->model->nsh && a->presses; s++) {
        abut_vec3 c[3];
        corners(a, s, at->z, c);
        abut_acc_add(&sum, -pressure(a, s) * abut_v3_dot(c[0], abut_v3_cross(c[1], c[2])) / 6);
    }
    *e = scale * (sum.hi + sum.lo);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_air *a = self;
    (void)scratch, (void)err;
    for (int32_t s = 0; s < a->model->nsh && a->presses; s++) {
        const int32_t *v = a->model->shell + 3 * (size_t)s;
        abut_vec3 c[3];
        corners(a, s, at->z, c);
        for (int k = 0; k < 3; k++)
            add(g + 3 * (size_t)v[k], abut_v3_scale(-scale * pressure(a, s) / 6, abut_v3_cross(c[(k + 1) % 3], c[(k + 2) % 3])));
    }
    return ABUT_OK;
}

/* By triangles, each about its own centroid, then projected: before that the sum is exact except at rims.
 *
 * Motions d of the corners y, seen from any o, change 6 V at second order by the sum over triangles of
 *     q = sum_k y_k.(d_{k+1} x d_{k+2}).
 * Seen from the centroid c of each instead, q loses c.(d_0 x d_1 + d_1 x d_2 + d_2 x d_0).  That is q/3 and terms
 * (y_k + y_{k+1}).(d_k x d_{k+1})/3 of the sides, which the two triangles at a side have with opposite signs: 2/3 of the sum are
 * left, and 3/2 make up for it.  From there, with nu the motions along the normal and xi those in the plane,
 *     q = sum_k nu_k n.(y_{k+1} x xi_{k+2} - y_{k+2} x xi_{k+1}):
 * three pairs of modes without diagonal.  xi is measured over the root of the area, to have the unit of nu. */
static void hessian_projected(const abut_air *a, const double *x, double scale, double *H)
{
    for (int32_t s = 0; s < a->model->nsh && a->presses; s++) {
        const double p = pressure(a, s);
        abut_vec3 c[3];
        corners(a, s, x, c);
        const abut_vec3 n2 = double_area(c), sum = abut_v3_add(c[0], abut_v3_add(c[1], c[2]));
        const double area2 = abut_v3_norm(n2), size = sqrt(0.5 * area2);
        if (p == 0 || !(area2 > 0)) continue;
        const abut_vec3 n = abut_v3_scale(1 / area2, n2);
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            double nu[9] = { 0 }, xi[9] = { 0 };
            abut_v3_put(nu + 3 * k, n);
            /* n.(y x xi) = (n x y).xi */
            abut_v3_put(xi + 3 * j, abut_v3_scale(1 / size, abut_v3_cross(n, abut_v3_axpy(c[i], -1. / 3, sum))));
            abut_v3_put(xi + 3 * i, abut_v3_scale(-1 / size, abut_v3_cross(n, abut_v3_axpy(c[j], -1. / 3, sum))));
            abut_two_modes_add_positive(3, 0, -scale * p * size / 4, nu, xi, H + abut_packed_size(4) * (size_t)s);
        }
    }
}

/* About o, not projected: indefinite, and exact at rims.  dPsi/dx_k = -p x_{k+1} x x_{k+2} / 6: blocks of cross products. */
static void hessian_as_is(const abut_air *a, const double *x, double scale, double *H)
{
    static const size_t block[3] = { 9, 18, 45 };   /* of corners (0, 1), (0, 2), (1, 2) */
    for (int32_t s = 0; s < a->model->nsh && a->presses; s++) {
        double *h = H + abut_packed_size(4) * (size_t)s;
        abut_vec3 c[3];
        corners(a, s, x, c);
        for (int k = 0; k < 3; k++) {
            const abut_vec3 e = abut_v3_scale((k == 1 ? -scale : scale) * pressure(a, s) / 6, c[2 - k]);
            const double cross[9] = { 0, -e.z, e.y, e.z, 0, -e.x, -e.y, e.x, 0 };
            for (size_t i = 0; i < 9; i++) h[block[k] + i] += cross[i];
        }
    }
}

/* ---- as terms: the air belongs to the first ---- */

abut_air *abut_air_of(const abut_terms *terms) { return abut_terms_find(terms, "pressure"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_air *a = malloc(sizeof *a);
    const abut_status rc = a ? air_init(a, w->model, err) : abut_fail(err, ABUT_E_NOMEM, "pressure");
    if (rc) return free(a), rc;
    if (a->presses || a->drags) *self = a;
    else free(a);
    return ABUT_OK;
}

static void destroy(void *self)
{
    air_clear(self);
    free(self);
}

/* shells are the first of the codimensional elements */
static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)lo, (void)hi;
    if (at->step->as_is) hessian_as_is(self, at->z, scale, val);
    else hessian_projected(self, at->z, scale, val);
}

const abut_term_ops abut_term_pressure = { .name = "pressure", .kind = ABUT_TERM_FOLLOWER, .weight = ABUT_TERM_AT_Z,
                                           .make = make, .begin = begin, .energy = energy, .gradient = gradient,
                                           .set = "codimensional elements", .hessian = hessian, .free = destroy };

static abut_status drag_make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_air *a = abut_air_of(w->before);
    (void)err;
    if (a && a->drags) *self = a;
    return ABUT_OK;
}

static abut_status drag_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_term_step *s = at->step;
    (void)scratch, (void)err;
    if (s->inertia) abut_air_drag_gradient(self, at->x, s->x_damp, s->damp_time, scale, g);
    return ABUT_OK;
}

const abut_term_ops abut_term_drag = { .name = "drag", .kind = ABUT_TERM_LOAD, .weight = ABUT_TERM_AT_X, .make = drag_make,
                                       .energy = drag_energy, .gradient = drag_gradient, .set = "codimensional elements",
                                       .hessian = drag_hessian };
