#include "energy/codim.h"

#include "base/order.h"
#include "base/par.h"
#include "energy/stretch.h"
#include "energy/codim_elements.h"
#include "energy/rod_inline.h"
#include "energy/term.h"
#include "model/naming.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rest shapes ---- */

static void count(abut_codim *t)
{
    const abut_model *m = t->model;
    /* bends of curved rods are a term of their own (energy/curved_rod.h) */
    const int32_t of_kind[ABUT_CODIM_KINDS] = { m->nsh, m->nhg, m->nrd, m->rod_curvature ? 0 : m->nbd };
    for (int k = 0; k < ABUT_CODIM_KINDS; k++) t->first[k + 1] = t->first[k] + (size_t)of_kind[k];
    t->n = t->first[ABUT_CODIM_KINDS];
}

static abut_status allocate(abut_codim *t, abut_err *err)
{
    const abut_model *m = t->model;
    const size_t ns = (size_t)m->nsh + 1;
    if (ABUT_ARRAYS(ABUT_ITEMS(t->node, 4 * t->n), ABUT_ZEROS(t->inc_first, (size_t)m->nv + 1), ABUT_ITEMS(t->inc, 4 * t->n),
                    ABUT_ITEMS(t->B, 4 * ns), ABUT_ITEMS(t->vol, ns), ABUT_ZEROS(t->membrane, m->nm))) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "rest shapes of %zu thin elements", t->n);
}

static void stencils(abut_codim *t)
{
    const abut_model *m = t->model;
    const int32_t *const node[ABUT_CODIM_KINDS] = { m->shell, m->hinge, m->rod, m->bend };
    static const size_t corners[ABUT_CODIM_KINDS] = { 3, 4, 2, 3 };
    for (int k = 0; k < ABUT_CODIM_KINDS; k++)
        for (size_t e = t->first[k]; e < t->first[k + 1]; e++)
            for (size_t c = 0; c < 4; c++)
                t->node[4 * e + c] = c < corners[k] ? node[k][corners[k] * (e - t->first[k]) + c] : -1;
}

static abut_status shells(abut_codim *t, abut_err *err)
{
    const abut_model *m = t->model;
    t->bounded = m->nsh && m->shell_limit;
    for (int32_t i = 0; i < m->nsh; i++) {
        const double *R = m->shell_rest + 4 * (size_t)i, area2 = R[0] * R[3] - R[1] * R[2];
        double *B = t->B + 4 * (size_t)i;
        B[0] = R[3] / area2, B[1] = -R[1] / area2, B[2] = -R[2] / area2, B[3] = R[0] / area2;
        t->vol[i] = 0.5 * area2 * m->shell_thick[i];
        abut_membrane *law = &t->membrane[m->shell_mat[i]];
        if (law->mu > 0) continue;      /* known already */
        const abut_status rc = abut_membrane_of(m, m->shell_mat[i], law, err);
        if (rc) return abut_wrap(err, "shell %d", i), rc;
        t->bounded |= law->strain != NULL;
    }
    return ABUT_OK;
}

abut_status abut_codim_init(abut_codim *t, const abut_model *m, abut_err *err)
{
    *t = (abut_codim){ .model = m };
    count(t);
    if (t->n == 0) return ABUT_OK;
    if (t->n > INT32_MAX / 4) return abut_fail(err, ABUT_E_FORMAT, "%zu thin elements: more than %d", t->n, INT32_MAX / 4);
    abut_status rc = allocate(t, err);
    if (!rc) rc = shells(t, err);
    if (rc) {
        abut_codim_clear(t);
        return rc;
    }
    stencils(t);
    abut_list_groups(t->node, 4 * t->n, m->nv, t->inc_first, t->inc);
    return ABUT_OK;
}

void abut_codim_clear(abut_codim *t)
{
    ABUT_FREE(t->node, t->inc_first, t->inc, t->B, t->vol, t->membrane);
    *t = (abut_codim){ 0 };
}

/* ---- sums ---- */

/* the part of [lo, hi) that is of kind k */
static abut_range of_kind(const abut_codim *t, int k, size_t lo, size_t hi)
{
    const size_t a = t->first[k], b = t->first[k + 1];
    const abut_range r = { lo > a ? lo : a, hi < b ? hi : b };
    return r.lo < r.hi ? r : (abut_range){ lo, lo };
}

abut_status abut_codim_energy(const abut_codim *t, const double *x, int parts, double kappa, double *energy, abut_arena *scratch,
                             abut_err *err)
{
    assert(t);
    const size_t n = t->n, nb = abut_blocks(n);
    *energy = 0;
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "energy of thin elements: %zu partial sums", nb);
    const abut_codim_ask ask = { .t = t, .x = x, .parts = parts, .kappa = kappa, .scale = 1 };

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range block = abut_block(n, b);
        double sum = 0;
        for (int k = 0; k < ABUT_CODIM_KINDS; k++) {
            const abut_range r = of_kind(t, k, block.lo, block.hi);
            sum += abut_codim_elements_energy(&ask, k, r.lo, r.hi);
        }
        part[b] = sum;
    }

    const double total = abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;   /* inf - inf in the compensated sum is NaN */
    return ABUT_OK;
}

/* g += f, forces of corners of all elements, or with `turning` of shells and rod segments alone */
static void gather(const abut_codim *t, int turning, const double *f, double *g)
{
    const size_t shells = 4 * t->first[ABUT_CODIM_HINGE], rods = 4 * t->first[ABUT_CODIM_ROD],
        bends = 4 * t->first[ABUT_CODIM_BEND];
    const int32_t nv = t->model->nv;
    #pragma omp parallel for schedule(static) if ((size_t)nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++) {
        double sum[3] = { 0, 0, 0 };
        for (int32_t k = t->inc_first[i]; k < t->inc_first[i + 1]; k++) {
            const size_t c = (size_t)t->inc[k];
            if (turning && c >= shells && (c < rods || c >= bends)) continue;
            for (size_t d = 0; d < 3; d++) sum[d] += f[3 * c + d];
        }
        for (int d = 0; d < 3; d++) g[3 * (size_t)i + (size_t)d] += sum[d];
    }
}

abut_status abut_codim_gradient(const abut_codim *t, const double *x, int parts, double kappa, double scale, double *g,
                               abut_arena *scratch, abut_err *err)
{
    assert(t);
    const size_t n = t->n, nb = abut_blocks(n);
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_ROOM(scratch, double, 12 * n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "forces of %zu thin elements", n);
    const abut_codim_ask ask = { .t = t, .x = x, .parts = parts, .kappa = kappa, .scale = scale };

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range block = abut_block(n, b);
        for (int k = 0; k < ABUT_CODIM_KINDS; k++) {
            const abut_range r = of_kind(t, k, block.lo, block.hi);
            abut_codim_elements_gradient(&ask, k, r.lo, r.hi, f);
        }
    }

    gather(t, 0, f, g);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

void abut_codim_gather(const abut_codim *t, const double *f, double *g)
{
    if (t->n) gather(t, 0, f, g);
}

/* Edges of element e, k of them from its corner 0, times `by`. */
static void edges(const abut_codim *t, size_t e, int k, const double *x, double by, double *to)
{
    const double *first = x + 3 * (size_t)t->node[4 * e];
    for (int c = 1; c <= k; c++)
        for (int i = 0; i < 3; i++) to[3 * (c - 1) + i] = by * (x[3 * (size_t)t->node[4 * e + (size_t)c] + (size_t)i] - first[i]);
}

/* f[12] = H (0, u), corners of the element; returns half of u.f.  u[3 k], H packed. */
static double pull(int k, const double *H, const double *u, double f[12])
{
    enum { B01 = 9, B02 = 18, B11 = 36, B12 = 45, B22 = 63 };
    double work = 0;
    memset(f, 0, 12 * sizeof *f);
    abut_m3_add_times(f, H + B01, u);
    abut_m3_add_times(f + 3, H + B11, u);
    if (k == 2) {
        abut_m3_add_times(f, H + B02, u + 3);
        abut_m3_add_times(f + 3, H + B12, u + 3);
        abut_m3_add_t_times(f + 6, H + B12, u);
        abut_m3_add_times(f + 6, H + B22, u + 3);
    }
    for (int i = 0; i < 3 * k; i++) work += 0.5 * u[i] * f[3 + i];
    return work;
}

abut_status abut_codim_turn(const abut_codim *t, const double *z, const double *d, const double *meant, double reach,
                           const double *H, double *g, double *cost, abut_arena *scratch, abut_err *err)
{
    const size_t n = t->n, nb = abut_blocks(n);
    *cost = 0;
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_ROOM(scratch, double, 12 * n), *part = ABUT_ROOM(scratch, double, nb);
    if (!f || !part) return abut_fail(err, ABUT_E_NOMEM, "no memory for the rotations of %zu thin elements", n);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range block = abut_block(n, b);
        double sum = 0;
        for (int kind = ABUT_CODIM_SHELL; kind <= ABUT_CODIM_ROD; kind += ABUT_CODIM_ROD - ABUT_CODIM_SHELL) {
            const int k = kind == ABUT_CODIM_SHELL ? 2 : 1;
            const abut_range r = of_kind(t, kind, block.lo, block.hi);
            for (size_t e = r.lo; e < r.hi; e++) {
                double at[6], moved[6], aim[6], u[6];
                edges(t, e, k, z, 1, at);
                edges(t, e, k, d, reach, moved);
                edges(t, e, k, meant, reach, aim);
                abut_turn_edges(k, at, moved, aim, u);
                for (int i = 0; i < 3 * k; i++) u[i] /= reach;
                sum += pull(k, H + abut_packed_size(4) * e, u, f + 12 * e);
            }
        }
        part[b] = sum;
    }
    *cost = abut_sum(part, nb);
    gather(t, 1, f, g);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static void hessians(const abut_codim_ask *ask, double *H)
{
    const abut_codim *t = ask->t;
    const size_t n = t->n, nb = abut_blocks(n);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range block = abut_block(n, b);
        for (int k = 0; k < ABUT_CODIM_KINDS; k++) {
            const abut_range r = of_kind(t, k, block.lo, block.hi);
            abut_codim_elements_hessian(ask, k, r.lo, r.hi, H);
        }
    }
}

void abut_codim_hessian(const abut_codim *t, const double *x, int parts, double kappa, double scale, double *H)
{
    hessians(&(abut_codim_ask){ .t = t, .x = x, .parts = parts, .kappa = kappa, .scale = scale, .add = 1 }, H);
}

void abut_codim_hessian_ahead(const abut_codim *t, const double *x, int parts, double kappa, double scale, const double *tension,
                              const abut_stretch_ahead *limits, double *H)
{
    hessians(&(abut_codim_ask){ .t = t, .x = x, .parts = parts, .kappa = kappa, .scale = scale, .tension = tension,
                                .limits = limits }, H);
}

/* H += scale * d2E/dx2 of each element at x, not projected. */
static void codim_hessian_as_is(const abut_codim *t, const double *x, int parts, double kappa, double scale, double *H)
{
    hessians(&(abut_codim_ask){ .t = t, .x = x, .parts = parts, .kappa = kappa, .scale = scale, .add = 1, .as_is = 1 }, H);
}

/* ---- terms ---- */

/* Fraction of the distance to a bound that a step leaves if its direction has met the bounds. */
#define LEFT_AHEAD 0.2

abut_codim_state *abut_codim_state_of(const abut_terms *terms) { return abut_terms_find(terms, "codim"); }
abut_codim *abut_codim_of(const abut_terms *terms) { return &abut_codim_state_of(terms)->t; }

static void destroy(void *self)
{
    abut_codim_state *s = self;
    abut_codim_clear(&s->t);
    abut_stretch_ahead_clear(&s->ahead);
    ABUT_FREE(s->tension, s);
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const size_t nrd = (size_t)w->model->nrd;
    abut_codim_state *s = calloc(1, sizeof *s);
    abut_status rc = s ? abut_codim_init(&s->t, w->model, err) : abut_fail(err, ABUT_E_NOMEM, "codimensional elements");
    if (rc) return free(s), rc;
    s->strain_kappa = ABUT_STRAIN_KAPPA_MIN;
    s->tension = calloc(nrd + 1, sizeof *s->tension);
    if (!s->tension) rc = abut_fail(err, ABUT_E_NOMEM, "tensions of %zu segments", nrd);
    if (!rc) rc = abut_stretch_ahead_init(&s->ahead, w->model, err);
    if (!rc) return *self = s, ABUT_OK;
    destroy(s);
    return rc;
}

static double stiffness(const void *self, double *each)
{
    const abut_codim *t = &((const abut_codim_state *)self)->t;
    const abut_model *m = t->model;
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < (t->n ? m->nsh : 0); i++) {
        const double k = t->vol[i] * abut_membrane_stiffness(&t->membrane[m->shell_mat[i]]);
        abut_acc_add(&sum, k);
        each[m->body[m->shell[3 * i]]] += k;
    }
    return sum.hi + sum.lo + abut_codim_bend_stiffness(t, each);
}

static int parts(const abut_at *at) { return at->z == at->x ? ABUT_CODIM_ALL : ABUT_CODIM_ELASTIC; }

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_codim_state *s = self;
    const abut_status rc = abut_codim_energy(&s->t, at->z, parts(at), s->strain_kappa, e, scratch, err);
    if (!rc) *e *= scale;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_codim_state *s = self;
    return abut_codim_gradient(&s->t, at->z, parts(at), s->strain_kappa, scale, g, scratch, err);
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_codim *t = &((const abut_codim_state *)self)->t;
    (void)at, (void)err;
    set->corners = 4, set->n = t->n, set->row = t->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_codim_state *s = self;
    (void)lo, (void)hi;
    if (at->step->as_is) {
        memset(val, 0, abut_packed_size(4) * s->t.n * sizeof *val);
        codim_hessian_as_is(&s->t, at->z, parts(at), s->strain_kappa, scale, val);
    } else {
        abut_codim_hessian_ahead(&s->t, at->z, parts(at), s->strain_kappa, scale, s->tension, &s->ahead, val);
    }
}

static void limit(void *self, const abut_at *at, const double *p, abut_limit *lim)
{
    const abut_codim_state *s = self;
    abut_limit_stretch(&s->t, at->x, p, s->ahead.any ? LEFT_AHEAD : ABUT_STRETCH_LEFT, lim);
}

static void limit_words(const void *self, const double *x, const abut_limit *lim, abut_bound_words *w)
{
    const abut_codim *t = &((const abut_codim_state *)self)->t;
    const abut_model *m = t->model;
    double F[6], s[2];
    *w = (abut_bound_words){ .what = "shell", .number = abut_element_number(m, m->shell, 3, lim->tet),
                             .object = m->body[m->shell[3 * lim->tet]] };
    abut_shell_deformation(t, x, lim->tet, F, s);
    snprintf(w->detail, sizeof w->detail, "stretched to %.6g and %.6g", fmin(s[0], s[1]), fmax(s[0], s[1]));
}

static int outside(const void *self, const double *x, abut_bound_words *w)
{
    const abut_codim *t = &((const abut_codim_state *)self)->t;
    const abut_model *m = t->model;
    abut_codim_excess e;
    if (!abut_codim_outside(t, x, &e)) return 0;
    const int32_t *n = m->shell + 3 * (size_t)e.shell;
    *w = (abut_bound_words){ "shell", abut_element_number(m, m->shell, 3, e.shell), m->body[n[0]], "", 3, { n[0], n[1], n[2] } };
    snprintf(w->detail, sizeof w->detail, "%s %.9g, expected %s %.9g", e.what, e.value, e.below ? "more than" : "less than",
             e.limit);
    return 1;
}

/* no rotation of an element changes the trace of a block */
static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_codim_state *s = self;
    (void)fit, (void)err;
    abut_codim_hessian_ahead(&s->t, s->t.model->X, ABUT_CODIM_ALL, s->strain_kappa, scale, NULL, NULL, val);
    for (double *block = val; block < val + abut_packed_size(4) * s->t.n; block += 9) {
        const double trace = block[0] + block[4] + block[8];
        for (int d = 0; d < 9; d++) block[d] = d % 4 ? 0 : trace;
    }
    return ABUT_OK;
}

/* ---- limits that a direction meets ---- */

static int ahead(void *self, const abut_at *at, const double *p)
{
    abut_codim_state *s = self;
    return parts(at) & ABUT_CODIM_BOUNDED && abut_stretch_ahead_take(&s->ahead, &s->t, at->x, p);
}

static void ahead_forget(void *self) { ((abut_codim_state *)self)->ahead.any = 0; }

static void ahead_gradient(void *self, const abut_at *at, double scale, double *g)
{
    const abut_codim_state *s = self;
    abut_stretch_ahead_gradient(&s->ahead, &s->t, at->x, s->strain_kappa, scale, g);
}

/* ---- the forecast of tensions ---- */

static void forecast_start(void *self, const abut_at *at)
{
    abut_codim_state *s = self;
    if (s->t.model->nrd) abut_codim_tension(&s->t, at->z, s->tension);
}

static void forecast_step(void *self, const abut_at *from, const double *to, double alpha)
{
    abut_codim_state *s = self;
    if (s->t.model->nrd) abut_codim_tension_forecast(&s->t, from->z, from->x, to, from->step->reach, fmin(alpha, 1), s->tension);
}

/* 1: the forecast makes no segment much stiffer across than its tension at this point does */
static int forecast_is_fair(const void *self, const abut_at *at)
{
    const abut_codim_state *s = self;
    const abut_model *m = s->t.model;
    const abut_term_step *step = at->step;
    for (int32_t i = 0; i < m->nrd; i++) {
        const int32_t *v = m->rod + 2 * (size_t)i;
        const double l = m->rod_length[i], *a = at->z + 3 * (size_t)v[0], *b = at->z + 3 * (size_t)v[1];
        const double x6[6] = { a[0], a[1], a[2], b[0], b[1], b[2] };
        const double w = abut_rod_stretch_stiffness(m->mat_young[m->rod_mat[i]], m->rod_radius[i], l);
        const double inertia = step->inertia * fmin(m->mass[v[0]], m->mass[v[1]]) * l / step->weight_z2;
        if (abut_rod_fairness_of(w, l, x6, s->tension[i], inertia) < 0) return 0;
    }
    return 1;
}

static abut_status correction(void *self, const abut_at *at, const double *d, const double *meant, const double *H, double *g,
                              double *cost, abut_arena *scratch, abut_err *err)
{
    double costs = 0;
    const abut_codim *t = &((const abut_codim_state *)self)->t;
    const abut_status rc = abut_codim_turn(t, at->z, d, meant, at->step->reach, H, g, &costs, scratch, err);
    *cost += costs;
    return rc;
}

const abut_term_ops abut_term_codim = { .name = "codim", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                                        .stiffness = stiffness, .energy = energy, .gradient = gradient,
                                        .set = "codimensional elements", .set_is = ABUT_SET_LASTS,
                                        .elements = elements, .hessian = hessian, .constant = constant, .limit = limit,
                                        .limit_words = limit_words, .outside = outside, .ahead = ahead,
                                        .ahead_forget = ahead_forget, .ahead_gradient = ahead_gradient,
                                        .forecast_start = forecast_start, .forecast_step = forecast_step,
                                        .forecast_is_fair = forecast_is_fair,
                                        .correction = correction, .free = destroy };

/* ---- their bounds ---- */

static abut_status bounds_make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_codim_state *s = abut_codim_state_of(w->before);
    (void)err;
    if (s->t.bounded) *self = s;
    return ABUT_OK;
}

static abut_status bounds_load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    (void)err;
    if (!as->pending) ((abut_codim_state *)self)->strain_kappa = f->strain_kappa ? f->strain_kappa[0] : ABUT_STRAIN_KAPPA_MIN;
    return ABUT_OK;
}

static abut_status bounds_store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const abut_codim_state *s = self;
    if (as->pending) return ABUT_OK;
    double *kappa = abut_frame_put(out, "strain/kappa", 1, err);
    if (!kappa) return err->code;
    *kappa = s->strain_kappa;
    return ABUT_OK;
}

static abut_status bounds_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_codim_state *s = self;
    *e = 0;
    if (at->z == at->x) return ABUT_OK;
    const abut_status rc = abut_codim_energy(&s->t, at->x, ABUT_CODIM_BOUNDED, s->strain_kappa, e, scratch, err);
    if (!rc) *e *= scale;
    return rc;
}

static abut_status bounds_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_codim_state *s = self;
    if (at->z == at->x) return ABUT_OK;
    return abut_codim_gradient(&s->t, at->x, ABUT_CODIM_BOUNDED, s->strain_kappa, scale, g, scratch, err);
}

static void bounds_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_codim_state *s = self;
    (void)lo, (void)hi;
    if (at->z == at->x) return;
    if (at->step->as_is) codim_hessian_as_is(&s->t, at->x, ABUT_CODIM_BOUNDED, s->strain_kappa, scale, val);
    else abut_codim_hessian(&s->t, at->x, ABUT_CODIM_BOUNDED, s->strain_kappa, scale, val);
}

static void bounds_start(void *self) { ((abut_codim_state *)self)->near_limit = 0; }

int abut_codim_stiffen(abut_codim_state *s, double room)
{
    const double before = s->strain_kappa;
    s->near_limit = room < ABUT_STRAIN_CLOSE ? s->near_limit + 1 : 0;
    if (s->near_limit < 2) return 0;
    s->strain_kappa = fmin(ABUT_STRAIN_KAPPA_MAX, 2 * before);
    s->near_limit = 0;
    return s->strain_kappa > before;
}

static abut_status bounds_stiffen(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch,
                                  abut_err *err)
{
    abut_codim_state *s = self;
    abut_codim_stretch now;
    (void)from;
    const abut_status rc = abut_codim_stretch_find(&s->t, to->x, &now, scratch, err);
    if (!rc) *raised |= abut_codim_stiffen(s, now.room);
    return rc;
}

const abut_term_ops abut_term_codim_bounds = { .name = "codim bounds", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_X,
                                               .make = bounds_make, .load = bounds_load, .store = bounds_store,
                                               .start = bounds_start, .energy = bounds_energy, .gradient = bounds_gradient,
                                               .set = "codimensional elements", .hessian = bounds_hessian,
                                               .stiffen = bounds_stiffen };
