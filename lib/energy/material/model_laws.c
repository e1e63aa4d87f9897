#include "energy/material/model_laws.h"

#include "base/arena.h"
#include "base/order.h"
#include "math/svd3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- squared distance to volume 1 ---- */

/* Solves p - t/p = s: the stationary points of |p - s|^2 on p0 p1 p2 = 1 have one t for all three.  The larger solution p belongs
 * to a minimum, except for the smallest stretch of a strongly stretched element: `inner` takes the smaller one. */
static double along(double s, double t, int inner)
{
    const double r = sqrt(fmax(0, s * s + 4 * t));
    if (inner) return 0.5 * (s - r);
    return s >= 0 ? 0.5 * (s + r) : 2 * t / (r - s);    /* without cancellation */
}

static double volume_at(const double s[3], double t, int inner, double p[3])
{
    for (int i = 0; i < 3; i++) p[i] = along(s[i], t, inner && i == 2);
    return p[0] * p[1] * p[2];
}

double abut_project_volume(const double s[3], double p[3])
{
    /* on the larger branches the volume grows with t, from t = -s2^2/4 on */
    double lo = -0.25 * s[2] * s[2], hi = 1;
    if (s[2] <= 0) lo = 0;
    const int inner = s[2] > 0 && volume_at(s, lo, 0, p) > 1;
    if (inner) {
        hi = lo;            /* there the volume is above 1, and 0 at t = 0 */
        lo = 0;
    } else {
        while (volume_at(s, hi, 0, p) < 1) hi *= 2;
    }
    /* bisection: lo has less volume, hi more */
    for (int i = 0; i < 200 && lo != hi; i++) {
        const double t = 0.5 * (lo + hi);
        if (t == lo || t == hi) break;
        if (volume_at(s, t, inner, p) < 1) lo = t;
        else hi = t;
    }
    volume_at(s, hi, inner, p);
    return hi;
}

void abut_volume_principal(double k, const double s[3], abut_principal *out)
{
    double p[3], w[3], square = 0, sum = 0;
    const double t = abut_project_volume(s, p);
    for (int i = 0; i < 3; i++) {
        const double d = s[i] - p[i];
        square += d * d;
        w[i] = p[i] * p[i] / (p[i] * p[i] + t);     /* dp/ds at constant t */
        sum += w[i] / (p[i] * p[i]);
        out->d[i] += k * d;
    }
    out->psi += 0.5 * k * square;
    for (int i = 0; i < 3; i++) {
        out->A[4 * i] += k;
        for (int j = 0; j < 3; j++)   /* dp_i/ds_j, the volume held at 1 */
            out->A[3 * i + j] -= k * ((i == j ? w[i] : 0) - w[i] * w[j] / (p[i] * p[j] * sum));
        /* (p_j - p_k)/(s_j - s_k) = 1/(1 + t p_i), as p_j p_k = 1/p_i */
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        out->flip[i] += k * t * p[i] / (1 + t * p[i]);
        out->twist[i] += k * (1 - (p[j] + p[l]) / abut_stretch_sum(s[j], s[l]));
    }
}

/* ---- squared distance to a range of stretches ---- */

static double excess(double s, double low, double high)
{
    return s < low ? s - low : s > high ? s - high : 0;
}

/* (e(u) - e(v)) / (u - v) of the excess e, its derivative where they are equal */
static double excess_chord(double u, double v, double low, double high)
{
    const double lo = fmin(u, v), hi = fmax(u, v);
    if (lo == hi) return lo < low || lo > high;
    const double inside = fmax(0, fmin(hi, high) - fmax(lo, low));
    return 1 - inside / (hi - lo);
}

void abut_strain_principal(double k, double low, double high, const double s[3], abut_principal *out)
{
    double e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = excess(s[i], low, high);
        out->psi += 0.5 * k * e[i] * e[i];
        out->d[i] += k * e[i];
        out->A[4 * i] += e[i] != 0 ? k : 0;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        out->flip[i] += k * excess_chord(s[j], s[l], low, high);
        out->twist[i] += k * (e[j] + e[l]) / abut_stretch_sum(s[j], s[l]);
    }
}

/* ---- fibres ---- */

/* f = F d; returns its length */
static double stretch(const double d[3], const double F[9], double f[3])
{
    for (int i = 0; i < 3; i++) f[i] = F[3 * i] * d[0] + F[3 * i + 1] * d[1] + F[3 * i + 2] * d[2];
    return sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
}

double abut_fibre_psi(double kappa, const double d[3], const double F[9], double *P)
{
    double f[3];
    const double l = stretch(d, F, f), pull = l > 0 ? kappa * (1 - 1 / l) : 0;
    if (P)
        for (int i = 0; i < 9; i++) P[i] += pull * f[i / 3] * d[i % 3];
    return 0.5 * kappa * (l - 1) * (l - 1);
}

void abut_fibre_hessian(double kappa, const double d[3], const double F[9], int project, double M[9])
{
    double f[3];
    const double l = stretch(d, F, f), across = l > 1 || (!project && l > 0) ? 1 - 1 / l : 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double uu = l > 0 ? f[i] * f[j] / (l * l) : 0;
            M[3 * i + j] = kappa * (across * ((i == j) - uu) + uu);
        }
}

/* ---- splines: one curve ---- */

/* Piece of x: 0 .. n - 2 between knots, -1 below, n - 1 above. */
static int32_t piece_of(const abut_curve *c, double x)
{
    return (int32_t)abut_count_at_most(c->x, (size_t)c->n, x) - 1;
}

/* y = p[0] + p[1] t + p[2] t^2 + p[3] t^3 on a piece, t from its first knot (below the first: from that) */
static double polynomial(const abut_curve *c, int32_t k, double p[4])
{
    const int32_t at = k < 0 ? 0 : k;
    p[0] = c->y[at], p[1] = c->slope[at], p[2] = p[3] = 0;
    if (k >= 0 && k < c->n - 1) {
        const double h = c->x[k + 1] - c->x[k], d = (c->y[k + 1] - c->y[k]) / h;
        p[2] = (3 * d - 2 * c->slope[k] - c->slope[k + 1]) / h;
        p[3] = (c->slope[k] + c->slope[k + 1] - 2 * d) / (h * h);
    }
    return c->x[at];
}

/* integral from the first knot to x */
static double area_to(const abut_curve *c, double x)
{
    double p[4];
    const int32_t k = piece_of(c, x);
    const double t = x - polynomial(c, k, p);
    return (k < 0 ? 0 : c->area[k]) + t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * (p[3] / 4))));
}

double abut_curve_at(const abut_curve *c, double x, double *slope, double *integral)
{
    double p[4];
    const double t = x - polynomial(c, piece_of(c, x), p);
    if (slope) *slope = p[1] + t * (2 * p[2] + 3 * p[3] * t);
    if (integral) *integral = area_to(c, x) - c->area_at_1;
    return p[0] + t * (p[1] + t * (p[2] + t * p[3]));
}

/* the chord inside one piece, where it is a polynomial of both ends */
static double chord_inside(const abut_curve *c, int32_t k, double u, double v)
{
    double p[4];
    const double from = polynomial(c, k, p), s = u - from, t = v - from;
    return p[1] + p[2] * (s + t) + p[3] * (s * s + s * t + t * t);
}

double abut_curve_chord(const abut_curve *c, double u, double v)
{
    const double lo = fmin(u, v), hi = fmax(u, v);
    const int32_t first = piece_of(c, lo), last = piece_of(c, hi);
    if (first == last) return chord_inside(c, first, lo, hi);
    double rise = 0, at = lo;
    for (int32_t k = first; k <= last; k++) {   /* piece by piece: a mean of chords, weighted by their lengths */
        const double to = k == last ? hi : c->x[k + 1];
        rise += (to - at) * chord_inside(c, k, at, to);
        at = to;
    }
    return rise / (hi - lo);
}

/* Derivatives at the knots that keep the curve monotone between them (Fritsch and Carlson 1980). */
static void monotone_slopes(abut_curve *c)
{
    const int32_t n = c->n;
    for (int32_t i = 0; i < n; i++) {
        const double left = i > 0 ? (c->y[i] - c->y[i - 1]) / (c->x[i] - c->x[i - 1]) : 0;
        const double right = i + 1 < n ? (c->y[i + 1] - c->y[i]) / (c->x[i + 1] - c->x[i]) : left;
        c->slope[i] = i == 0 ? right : left * right > 0 || i == n - 1 ? 0.5 * (left + right) : 0;
    }
    for (int32_t i = 0; i + 1 < n; i++) {
        const double d = (c->y[i + 1] - c->y[i]) / (c->x[i + 1] - c->x[i]);
        if (d == 0) {
            c->slope[i] = c->slope[i + 1] = 0;
            continue;
        }
        const double p = c->slope[i] / d, q = c->slope[i + 1] / d, r = p * p + q * q;
        if (r > 9) {
            c->slope[i] = 3 / sqrt(r) * p * d;
            c->slope[i + 1] = 3 / sqrt(r) * q * d;
        }
    }
}

static void curve_measure(abut_curve *c)
{
    c->area[0] = 0;
    for (int32_t i = 0; i + 1 < c->n; i++) {
        double p[4];
        const double t = c->x[i + 1] - polynomial(c, i, p);
        c->area[i + 1] = c->area[i] + t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * (p[3] / 4))));
    }
    c->area_at_1 = area_to(c, 1);
}

static int curve_init(abut_curve *c, int32_t n, const double *knot, const double *value, int stride)
{
    const size_t size = ((size_t)n + 1) * sizeof(double);
    *c = (abut_curve){ n, malloc(size), malloc(size), malloc(size), malloc(size), 0 };
    if (!c->x || !c->y || !c->slope || !c->area) return 0;
    for (int32_t i = 0; i < n; i++) {
        c->x[i] = knot[i];
        c->y[i] = value[i * stride];
    }
    monotone_slopes(c);
    curve_measure(c);
    return 1;
}

static void curve_clear(abut_curve *c)
{
    ABUT_FREE(c->x, c->y, c->slope, c->area);
    *c = (abut_curve){ 0 };
}

/* ---- splines: a density ---- */

abut_status abut_spline_init(abut_spline *s, int32_t n, const double *knot, const double *slope, abut_err *err)
{
    assert(n >= 0);
    *s = (abut_spline){ 0 };
    if (!curve_init(&s->a, n, knot, slope, 3) || !curve_init(&s->b, n, knot, slope + 1, 3) ||
        !curve_init(&s->c, n, knot, slope + 2, 3)) {
        abut_spline_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "spline of %d knots", n);
    }
    const double stress = abut_curve_at(&s->a, 1, NULL, NULL) + 2 * abut_curve_at(&s->b, 1, NULL, NULL) +
                          abut_curve_at(&s->c, 1, NULL, NULL);
    for (int32_t i = 0; i < n; i++) s->a.y[i] -= stress;
    curve_measure(&s->a);
    return ABUT_OK;
}

void abut_spline_clear(abut_spline *s)
{
    curve_clear(&s->a);
    curve_clear(&s->b);
    curve_clear(&s->c);
}

void abut_spline_principal(const abut_spline *p, const double s[3], abut_principal *out)
{
    double a[3], a2[3], b[3], b2[3], c2, area;
    const double J = s[0] * s[1] * s[2], c = abut_curve_at(&p->c, J, &c2, &area);
    out->psi = area;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        a[i] = abut_curve_at(&p->a, s[i], &a2[i], &area);
        out->psi += area;
        b[i] = abut_curve_at(&p->b, s[j] * s[k], &b2[i], &area);   /* of the pair that leaves i out */
        out->psi += area;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double jk = s[j] * s[k];
        out->d[i] = a[i] + s[j] * b[k] + s[k] * b[j] + jk * c;
        out->A[4 * i] = a2[i] + s[j] * s[j] * b2[k] + s[k] * s[k] * b2[j] + jk * jk * c2;
        out->A[3 * j + k] = out->A[3 * k + j] = b[i] + jk * b2[i] + s[i] * (c + J * c2);
        /* (psi_j - psi_k)/(s_j - s_k) and (psi_j + psi_k)/(s_j + s_k), the common factors divided out */
        out->flip[i] = abut_curve_chord(&p->a, s[j], s[k]) - b[i] +
                       s[i] * s[i] * abut_curve_chord(&p->b, s[i] * s[j], s[i] * s[k]) - s[i] * c;
        out->twist[i] = (a[j] + a[k] + s[i] * (b[k] + b[j])) / abut_stretch_sum(s[j], s[k]) + b[i] + s[i] * c;
    }
}

/* ---- laws of a model ---- */

void abut_lame(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2 * (1 + poisson));
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

abut_status abut_model_laws_check(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nm; i++) {
        if (!abut_density_known(m->mat_model[i]))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: model %d is not known", i, m->mat_model[i]);
        if (!(m->mat_young[i] > 0))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Young's modulus %g Pa, expected > 0", i, m->mat_young[i]);
        if (!(m->mat_poisson[i] > -1 && m->mat_poisson[i] < 0.5))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Poisson's ratio %g, expected in (-1, 0.5)", i, m->mat_poisson[i]);
    }
    return ABUT_OK;
}

static abut_status init_material(abut_model_laws *l, int32_t i, abut_err *err)
{
    const abut_model *m = l->model;
    const int more = (m->mat_volume && m->mat_volume[i] > 0) || (m->mat_stretch && m->mat_stretch[3 * i] > 0);
    abut_lame(m->mat_young[i], m->mat_poisson[i], &l->lame[2 * i], &l->lame[2 * i + 1]);
    l->needs[i] = (uint8_t)(more ? ABUT_NEEDS_STRETCHES : abut_density_need(m->mat_model[i]));
    if (m->mat_model[i] != ABUT_SPLINE) return ABUT_OK;
    if (!l->spline && !(l->spline = calloc((size_t)m->nm, sizeof *l->spline)))
        return abut_fail(err, ABUT_E_NOMEM, "splines of %d materials", m->nm);
    l->nspline = m->nm;
    const size_t lo = (size_t)m->mat_spline[2 * i];
    return abut_spline_init(&l->spline[i], m->mat_spline[2 * i + 1] - m->mat_spline[2 * i], m->spline_knot + lo,
                            m->spline_slope + 3 * lo, err);
}

abut_status abut_model_laws_init(abut_model_laws *l, const abut_model *m, abut_err *err)
{
    assert(m);
    *l = (abut_model_laws){ .model = m };
    abut_status rc = abut_model_laws_check(m, err);
    if (rc) return rc;
    if (!ABUT_ARRAYS(ABUT_ITEMS(l->lame, ((size_t)m->nm + 1) * 2), ABUT_ZEROS(l->needs, m->nm)))
        rc = abut_fail(err, ABUT_E_NOMEM, "%d materials", m->nm);
    for (int32_t i = 0; i < m->nm && !rc; i++) rc = init_material(l, i, err);
    if (rc) abut_model_laws_clear(l);
    return rc;
}

void abut_model_laws_clear(abut_model_laws *l)
{
    ABUT_FREE(l->lame, l->needs);
    for (int32_t i = 0; i < l->nspline; i++) abut_spline_clear(&l->spline[i]);
    free(l->spline);
    *l = (abut_model_laws){ 0 };
}

void abut_model_law_principal(const abut_model_laws *l, int32_t material, const double s[3], abut_principal *out)
{
    const abut_model *m = l->model;
    const int32_t i = material, model = m->mat_model[i];
    if (model == ABUT_SPLINE) abut_spline_principal(&l->spline[i], s, out);
    else abut_density_principal(model, l->lame[2 * i], l->lame[2 * i + 1], s, out);
    if (m->mat_volume && m->mat_volume[i] > 0) abut_volume_principal(m->mat_volume[i], s, out);
    const double *stretch = m->mat_stretch ? m->mat_stretch + 3 * (size_t)i : NULL;
    if (stretch && stretch[0] > 0) abut_strain_principal(stretch[0], stretch[1], stretch[2], s, out);
}

int abut_model_law_is_plain(const abut_model_laws *l, int32_t material)
{
    const abut_model *m = l->model;
    return m->mat_model[material] != ABUT_SPLINE && !(m->mat_volume && m->mat_volume[material] > 0) &&
           !(m->mat_stretch && m->mat_stretch[3 * (size_t)material] > 0);
}

void abut_model_law_principals(const abut_model_laws *l, int32_t material, const abut_lanes *s, abut_principals *out)
{
    if (abut_model_law_is_plain(l, material)) {
        const abut_lanes mu = ABUT_LANES_ALL(l->lame[2 * material]), lambda = ABUT_LANES_ALL(l->lame[2 * material + 1]);
        abut_density_principals(l->model->mat_model[material], &mu, &lambda, s, out);
        return;
    }
    for (size_t k = 0; k < ABUT_LANES; k++) {
        const double stretch[3] = { s[0][k], s[1][k], s[2][k] };
        abut_principal one;
        abut_model_law_principal(l, material, stretch, &one);
        abut_principals_set(out, k, &one);
    }
}

/* psi and P by singular values */
ABUT_LANES_CLONES
static void spectral_stress(const abut_model_laws *l, int32_t material, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    abut_lanes U[9], s[3], V[9], Ud[9];
    abut_principals p;
    abut_svd3_lanes(F, U, s, V);
    abut_model_law_principals(l, material, s, &p);
    *psi = p.psi;
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * p.d[i % 3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = Ud[3 * i] * V[3 * j] + Ud[3 * i + 1] * V[3 * j + 1] + Ud[3 * i + 2] * V[3 * j + 2];
}

static void add_fibre(double kappa, const double *d, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    for (size_t k = 0; k < ABUT_LANES; k++) {
        double f[9], p[9];
        if (!((*psi)[k] < INFINITY)) continue;
        for (int i = 0; i < 9; i++) f[i] = F[i][k], p[i] = P[i][k];
        (*psi)[k] += abut_fibre_psi(kappa, d, f, p);
        for (int i = 0; i < 9; i++) P[i][k] = p[i];
    }
}

ABUT_LANES_CLONES
void abut_model_law_stress(const abut_model_laws *l, int32_t material, const double *fibre, const abut_lanes *F, abut_lanes *psi,
                           abut_lanes *P)
{
    const abut_lanes mu = ABUT_LANES_ALL(l->lame[2 * material]), lambda = ABUT_LANES_ALL(l->lame[2 * material + 1]);
    const abut_model *m = l->model;
    abut_lanes R[9];
    for (int i = 0; i < 9; i++) P[i] = ABUT_LANES_ALL(0.);
    switch (l->needs[material]) {
    case ABUT_NEEDS_F: abut_density_direct(m->mat_model[material], &mu, &lambda, F, psi, P); break;
    case ABUT_NEEDS_ROTATION:
        abut_polar3_lanes(F, R);
        abut_density_rotated(m->mat_model[material], &mu, &lambda, F, R, psi, P);
        break;
    default: spectral_stress(l, material, F, psi, P);
    }
    if (m->mat_fibre && m->mat_fibre[material] > 0) add_fibre(m->mat_fibre[material], fibre, F, psi, P);
}
