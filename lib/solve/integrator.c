#include "solve/integrator.h"

#include "energy/elastic.h"
#include "energy/membrane.h"
#include "math/vec3.h"

#include <math.h>

/* Shift of the quasi-static Hessian, relative to the mass, which has the size of an element's stiffness: below the softest mode
 * of any practical mesh, above the rounding of a factorisation. */
#define STATIC_SHIFT 1e-9

/* ---- BDF ---- */

int abut_integrator_bdf(int past)
{
    int k = ABUT_FIRST_SCHEME;
    while (k < ABUT_ALL_SCHEMES - 1 && (abut_schemes[k].form > ABUT_FORM_BDF2 || abut_schemes[k].past != past)) k++;
    return k;
}

int abut_integrator_past_of(const abut_frame *f, const double *x[ABUT_PAST], const double *v[ABUT_PAST])
{
    const double *const xs[] = { f->x1, f->x2, f->x3, f->x4, f->x5 }, *const vs[] = { f->v1, f->v2, f->v3, f->v4, f->v5 };
    int n = 0;
    for (; n < ABUT_PAST && xs[n]; n++) x[n] = xs[n], v[n] = vs[n];
    return n;
}

/* xt or vt of component i, from x, that at the start */
static double extrapolated(const abut_scheme *of, const double *x, double *const *past, size_t i)
{
    double sum = 0;
    for (int k = 0; k < of->past; k++) sum += of->a[k] * (past[k][i] - x[i]);
    return of->past ? x[i] + sum : x[i];
}

double abut_integrator_change(int scheme, const double *v1, const double *v0, double *const *past_v, size_t i)
{
    const abut_scheme *of = &abut_schemes[scheme];
    if (of->form == ABUT_FORM_BDF2) return 0.5 * (3 * v1[i] - 4 * v0[i] + past_v[0][i]);
    return (v1[i] - extrapolated(of, v0, past_v, i)) / of->b;
}

/* ---- schemes ---- */

int abut_integrator_rebounds(const abut_model *m) { return abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_KEEPS_ENERGY); }

abut_status abut_integrator_plain(const abut_model *m, const char *solver, abut_err *err)
{
    const int scheme = abut_scheme_of(m);
    if (abut_scheme_is(scheme, ABUT_SCHEME_PLAIN)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "solver %s: time scheme %s, expected %s", solver, abut_scheme_names[scheme],
                     abut_scheme_names[ABUT_FIRST_SCHEME]);
}

int abut_integrator_damped(const abut_frame *from, const abut_frame *to)
{
    /* a bout that begins with the step itself is longer than that before, and one step of it is over (solve/step/energy.c) */
    const int32_t bout = to->euler_bout ? to->euler_bout[0] : 0, before = from->euler_bout ? from->euler_bout[0] : 0;
    const int begins = bout > before / 2 && to->euler_left && to->euler_left[0] < bout;
    return begins || (from->euler_left && from->euler_left[0] > 0);
}

int abut_integrator_scheme(const abut_model *m, const abut_frame *f)
{
    const int scheme = abut_scheme_of(m), reads = abut_schemes[scheme].past;
    if (abut_integrator_rebounds(m) && f->euler_left && f->euler_left[0] > 0) return ABUT_FIRST_SCHEME;
    const double *x[ABUT_PAST], *v[ABUT_PAST];
    const int has = reads ? abut_integrator_past_of(f, x, v) : 0;
    return has < reads ? abut_integrator_bdf(has) : scheme;
}

static double newmark_beta(const abut_model *m) { return m->newmark_beta ? m->newmark_beta[0] : ABUT_NEWMARK_BETA; }
static double newmark_gamma(const abut_model *m) { return m->newmark_gamma ? m->newmark_gamma[0] : ABUT_NEWMARK_GAMMA; }

/* Returns 1 for Newmark schemes with contact at the end of the step. */
static int parts_contact(const abut_model *m) { return newmark_beta(m) == 0.5 * newmark_gamma(m); }

double abut_integrator_step_weight(const abut_model *m, int scheme)
{
    return abut_schemes[scheme].form != ABUT_FORM_NEWMARK || parts_contact(m) ? abut_schemes[scheme].s : newmark_beta(m);
}

/* Mean of the six squared edges, m^2. */
static double mean_edge2(const abut_vec3 X[4])
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) sum += abut_v3_norm2(abut_v3_sub(X[i], X[j]));
    return sum / 6;
}

/* Sums over elements of volume, and of it times squared edge and modulus. */
typedef struct mean_element {
    double volume, a2, modulus;
} mean_element;

static void add(mean_element *sum, double volume, double a2, double modulus)
{
    sum->volume += volume;
    sum->modulus += volume * modulus;
    sum->a2 += volume * a2;
}

static void add_codim(const abut_model *m, mean_element *sum)
{
    for (int32_t t = 0; t < m->nsh; t++) {
        const double *R = m->shell_rest + 4 * (size_t)t, p[3] = { R[0], R[1], R[1] - R[0] }, q[3] = { R[2], R[3], R[3] - R[2] };
        double a2 = 0;
        for (int k = 0; k < 3; k++) a2 += (p[k] * p[k] + q[k] * q[k]) / 3;
        abut_membrane law;
        abut_membrane_take(m, m->shell_mat[t], &law);
        add(sum, 0.5 * (R[0] * R[3] - R[1] * R[2]) * m->shell_thick[t], a2, abut_membrane_stiffness(&law));
    }
    for (int32_t t = 0; t < m->nrd; t++) {
        const double l = m->rod_length[t], r = m->rod_radius[t];
        add(sum, 3.14159265358979323846 * r * r * l, l * l, m->mat_young[m->rod_mat[t]]);
    }
}

/* T of the quasi-static scheme, s: about the time in which a wave crosses an element, T^2 = density a^2 / (lambda + mu) with the
 * means over the volume of density, squared edge length and modulus; h without elements. */
static double static_time(const abut_model *m)
{
    double mass = 0;
    mean_element sum = { 0, 0, 0 };
    for (int32_t i = 0; i < m->nv; i++)
        if (m->role[i] != ABUT_NODE_OBSTACLE) mass += m->mass[i];
    for (int32_t t = 0; t < m->nt; t++) {
        abut_vec3 X[4];
        double mu, lambda;
        for (int k = 0; k < 4; k++) X[k] = abut_v3_get(m->X + 3 * (size_t)m->tet[4 * t + k]);
        const abut_vec3 e = abut_v3_sub(X[1], X[0]), f = abut_v3_sub(X[2], X[0]), g = abut_v3_sub(X[3], X[0]);
        const double v = abut_v3_dot(e, abut_v3_cross(f, g)) / 6;
        abut_lame(m->mat_young[m->tet_mat[t]], m->mat_poisson[m->tet_mat[t]], &mu, &lambda);
        add(&sum, v, mean_edge2(X), lambda + mu);
    }
    add_codim(m, &sum);
    return sum.volume > 0 ? sqrt(mass / sum.modulus * (sum.a2 / sum.volume)) : m->h[0];
}

/* the velocity after a step is rate (x' - c) / h */
static double velocity_rate(const abut_model *m, int scheme)
{
    return abut_schemes[scheme].form == ABUT_FORM_NEWMARK ? newmark_gamma(m) / newmark_beta(m) : abut_schemes[scheme].rate;
}

abut_weights abut_integrator_weights(const abut_model *m, int scheme)
{
    const abut_scheme *of = &abut_schemes[scheme];
    if (of->form == ABUT_FORM_STATIC) {
        const double T = static_time(m), h = m->h[0];
        return (abut_weights){ .scheme = scheme, .shift = STATIC_SHIFT, .psi = T * T, .smooth = T * T, .share = 1,
                               .h_force = T, .damping = T * T / h, .eps_v = m->eps_v[0] * h / T, .late = 1,
                               .late_contact = 1 };
    }
    const double s = abut_integrator_step_weight(m, scheme), h = m->h[0], share = of->share;
    const double rate = velocity_rate(m, scheme), h_force = h * sqrt(s);
    const int newmark = of->form == ABUT_FORM_NEWMARK, parts = newmark && parts_contact(m);
    const double smooth = newmark ? newmark_beta(m) : s;
    return (abut_weights){ .scheme = scheme, .inertia = 1, .psi = smooth / share * (h * h), .share = share, .h_force = h_force,
                           .smooth = parts ? smooth * (h * h) : h_force * h_force,
                           .damping = smooth * h * (share < 1 ? 1 : rate),
                           .eps_v = m->eps_v[0] / (sqrt(s) * rate),
                           .late = newmark ? newmark_gamma(m) : 1,
                           .late_contact = newmark && !parts ? newmark_gamma(m) : 1 };
}

double abut_integrator_force_scale(const abut_model *m, const abut_frame *f)
{
    const int scheme = abut_integrator_rebounds(m) ? abut_scheme_of(m) : abut_integrator_scheme(m, f);
    const double T = abut_schemes[scheme].form == ABUT_FORM_STATIC ? static_time(m) : m->h[0];
    return abut_integrator_step_weight(m, scheme) * (T * T);
}

void abut_integrator_predict(const abut_model *m, int scheme, const abut_start *at, double *xhat)
{
    const abut_scheme *of = &abut_schemes[scheme];
    const double h = m->h[0], *x = at->x, *v = at->v, *acc = at->acc, beta = newmark_beta(m);
    const double T = of->form == ABUT_FORM_STATIC ? static_time(m) : of->b * h;
    const int32_t n3 = 3 * m->nv;
    switch (of->form) {
    case ABUT_FORM_STATIC:
        for (int32_t i = 0; i < n3; i++) xhat[i] = x[i] + T * T * acc[i];
        break;
    case ABUT_FORM_NEWMARK:
        for (int32_t i = 0; i < n3; i++)
            xhat[i] = beta == ABUT_NEWMARK_BETA ? x[i] + h * v[i] + 0.25 * h * h * (at->a[i] + acc[i])
                                                : x[i] + h * v[i] + h * h * ((0.5 - beta) * at->a[i] + beta * acc[i]);
        break;
    case ABUT_FORM_BDF2:
        for (int32_t i = 0; i < n3; i++)
            xhat[i] = x[i] + (x[i] - at->past_x[0][i]) / 3 + 2 * h / 3 * ((4 * v[i] - at->past_v[0][i]) / 3) +
                      4.0 / 9 * h * h * acc[i];
        break;
    case ABUT_FORM_MIDPOINT:
        for (int32_t i = 0; i < n3; i++) xhat[i] = x[i] + h * v[i] + 0.5 * h * h * acc[i];
        break;
    default:
        for (int32_t i = 0; i < n3; i++)
            xhat[i] = extrapolated(of, x, at->past_x, (size_t)i) + T * extrapolated(of, v, at->past_v, (size_t)i) +
                      T * T * acc[i];
    }
}

void abut_integrator_still(const abut_model *m, int scheme, const abut_start *at, const uint8_t *held, const double *target,
                           double *c)
{
    const abut_scheme *of = &abut_schemes[scheme];
    const double h = m->h[0], rate = velocity_rate(m, scheme), *x = at->x, beta = newmark_beta(m), gamma = newmark_gamma(m);
    const int plain = abut_scheme_is(scheme, ABUT_SCHEME_PLAIN);
    const int newmark = of->form == ABUT_FORM_NEWMARK && (beta != ABUT_NEWMARK_BETA || gamma != ABUT_NEWMARK_GAMMA);
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        if (of->form == ABUT_FORM_STATIC || plain) c[i] = x[i];
        else if (held[i / 3]) c[i] = x[i] + (1 - 1 / rate) * (target[i] - x[i]);
        else if (of->form == ABUT_FORM_BDF2) c[i] = x[i] + (x[i] - at->past_x[0][i]) / 3;
        else if (of->form == ABUT_FORM_MULTISTEP) c[i] = extrapolated(of, x, at->past_x, (size_t)i);
        else if (newmark)
            c[i] = x[i] + h * at->v[i] + (0.5 - beta) * h * h * at->a[i] -
                   beta / gamma * (h * at->v[i] + (1 - gamma) * h * h * at->a[i]);
        else c[i] = x[i] + 0.5 * h * at->v[i];
    }
}

void abut_integrator_finish(const abut_model *m, int scheme, const abut_start *at, const uint8_t *held, const double *xhat,
                            const double *x, double *v, double *a)
{
    const abut_scheme *of = &abut_schemes[scheme];
    const double h = m->h[0], *x0 = at->x, beta = newmark_beta(m), gamma = newmark_gamma(m);
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        if (of->form == ABUT_FORM_STATIC) {
            v[i] = 0;
        } else if (held[i / 3]) {
            v[i] = (x[i] - x0[i]) / h;
        } else if (of->form == ABUT_FORM_BDF2) {
            v[i] = (3 * (x[i] - x0[i]) - (x0[i] - at->past_x[0][i])) / (2 * h);
        } else if (of->form == ABUT_FORM_MULTISTEP) {
            v[i] = (x[i] - extrapolated(of, x0, at->past_x, (size_t)i)) / (of->b * h);
        } else if (of->form == ABUT_FORM_MIDPOINT) {
            v[i] = 2 * (x[i] - x0[i]) / h - at->v[i];
        } else {
            a[i] = (x[i] - xhat[i]) / (beta * h * h) + at->acc[i];
            v[i] = gamma == ABUT_NEWMARK_GAMMA ? at->v[i] + 0.5 * h * (at->a[i] + a[i])
                                               : at->v[i] + h * ((1 - gamma) * at->a[i] + gamma * a[i]);
        }
    }
}
