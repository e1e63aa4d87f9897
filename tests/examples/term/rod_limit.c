/* An energy of one's own: no rod segment gets longer than STRETCH times its rest length.  With
 * u = (l / rest - 1) / (STRETCH - 1),
 *     E = sum w b(u),     b(u) = -u^4 ln(1 - u) for u > 0, 0 below,                        J
 * w a thousandth of the stiffness of the segment (energy/rod_inline.h): four times continuously differentiable, infinite at the
 * limit. */
#include "energy/rod_inline.h"
#include "energy/term.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STRETCH 2.0
#define LEFT 0.5    /* of what is left to the limit: what a step leaves */

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    return w->model->nrd ? abut_term_make_plain(self, w, err) : ABUT_OK;
}

/* Segment i: its direction d, length; derivatives of E by the length.  Returns E. */
static double segment(const void *self, const double *x, int32_t i, double d[3], double *l, double *dE, double *ddE)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    const double rest = m->rod_length[i], *a = x + 3 * (size_t)m->rod[2 * i], *b = x + 3 * (size_t)m->rod[2 * i + 1];
    const double w = 1e-3 * abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], rest);
    const double du = 1 / ((STRETCH - 1) * rest);
    *l = sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2]));
    for (int k = 0; k < 3; k++) d[k] = (b[k] - a[k]) / *l;
    const double u = (*l - rest) * du, v = 1 - u;
    *dE = *ddE = 0;
    if (!(u > 0)) return 0;
    if (!(v > 0)) return INFINITY;
    *dE = w * du * u * u * u * (-4 * log(v) + u / v);
    *ddE = w * du * du * u * u * (-12 * log(v) + 8 * u / v + u * u / (v * v));
    return -w * u * u * u * u * log(v);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    double d[3], l, dE, ddE, sum = 0;
    (void)scratch, (void)err;
    for (int32_t i = 0; i < ((abut_term_world *)self)->model->nrd; i++) sum += segment(self, at->x, i, d, &l, &dE, &ddE);
    *e = scale * sum;
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = ((abut_term_world *)self)->model;
    double d[3], l, dE, ddE;
    (void)scratch, (void)err;
    for (int32_t i = 0; i < m->nrd; i++) {
        segment(self, at->x, i, d, &l, &dE, &ddE);
        for (int k = 0; k < 3; k++) {
            g[3 * (size_t)m->rod[2 * i] + (size_t)k] -= scale * dE * d[k];
            g[3 * (size_t)m->rod[2 * i + 1] + (size_t)k] += scale * dE * d[k];
        }
    }
    return ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((abut_term_world *)self)->model;
    (void)at, (void)err;
    set->corners = 2, set->n = (size_t)m->nrd, set->row = m->rod;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *H)
{
    for (size_t i = lo; i < hi; i++, H += 27) {
        double d[3], l, dE, ddE;
        segment(self, at->x, (int32_t)i, d, &l, &dE, &ddE);
        for (int k = 0; k < 9; k++) {
            H[k] = H[18 + k] = scale * (ddE * d[k / 3] * d[k % 3] + dE / l * ((k % 4 == 0) - d[k / 3] * d[k % 3]));
            H[9 + k] = -H[k];
        }
    }
}

/* |e + t q| = l + (1 - LEFT)(limit - l), e the segment, q its motion */
static void limit(void *self, const abut_at *at, const double *p, abut_limit *lim)
{
    const abut_model *m = ((abut_term_world *)self)->model;
    for (int32_t i = 0; i < m->nrd; i++) {
        const double *a = p + 3 * (size_t)m->rod[2 * i], *b = p + 3 * (size_t)m->rod[2 * i + 1];
        double d[3], l, dE, ddE, q2 = 0, dq = 0;
        segment(self, at->x, i, d, &l, &dE, &ddE);
        for (int k = 0; k < 3; k++) q2 += (b[k] - a[k]) * (b[k] - a[k]), dq += l * d[k] * (b[k] - a[k]);
        const double most = l + (1 - LEFT) * (STRETCH * m->rod_length[i] - l), c = most * most - l * l;
        const double t = q2 > 0 ? c / (dq + sqrt(dq * dq + q2 * c)) : 2;
        if (!(t < lim->alpha)) continue;
        *lim = (abut_limit){ .alpha = t, .kind = ABUT_LIMIT_TERM, .node = { m->rod[2 * i], m->rod[2 * i + 1], -1, -1 },
                             .tet = i };
    }
}

static void limit_words(const void *self, const double *x, const abut_limit *lim, abut_bound_words *w)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    double d[3], l, dE, ddE;
    segment(self, x, lim->tet, d, &l, &dE, &ddE);
    *w = (abut_bound_words){ .what = "segment", .number = lim->tet, .object = m->body[m->rod[2 * lim->tet]] };
    snprintf(w->detail, sizeof w->detail, "stretched to %.6g", l / m->rod_length[lim->tet]);
}

static int outside(const void *self, const double *x, abut_bound_words *w)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    for (int32_t i = 0; i < m->nrd; i++) {
        double d[3], l, dE, ddE;
        segment(self, x, i, d, &l, &dE, &ddE);
        if (l < STRETCH * m->rod_length[i]) continue;
        *w = (abut_bound_words){ .what = "segment", .number = i, .object = m->body[m->rod[2 * i]] };
        snprintf(w->detail, sizeof w->detail, "stretched to %.6g, expected less than %g", l / m->rod_length[i], STRETCH);
        return 1;
    }
    return 0;
}

const abut_term_ops abut_term_rod_limit = {
    .name = "rod limit", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_X, .set = "rod limits", .set_is = ABUT_SET_LASTS,
    .make = make, .energy = energy, .gradient = gradient, .elements = elements, .hessian = hessian, .limit = limit,
    .limit_words = limit_words, .outside = outside, .free = free,
};
