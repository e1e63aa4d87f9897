#include "energy/codim_term.h"

#include "energy/codim_bound.h"
#include "energy/rod.h"
#include "energy/rod_inline.h"
#include "energy/stretch_limit.h"
#include "energy/terms.h"
#include "model/naming.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fraction of the distance to a bound that a step leaves if its direction has met the bounds (energy/stretch_ahead.h). */
#define LEFT_AHEAD 0.2

abut_codim_state *abut_codim_state_of(const abut_terms *terms) { return abut_terms_find(terms, "codim"); }
abut_codim *abut_codim_of(const abut_terms *terms) { return &abut_codim_state_of(terms)->t; }

static void destroy(void *self)
{
    abut_codim_state *s = self;
    abut_codim_clear(&s->t);
    abut_stretch_ahead_clear(&s->ahead);
    free(s->tension);
    free(s);
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

static double stiffness(const void *self) { return abut_codim_stiffness(&((const abut_codim_state *)self)->t); }

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
        abut_codim_hessian_as_is(&s->t, at->z, parts(at), s->strain_kappa, scale, val);
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
    if (s->t.model->nrd)
        abut_codim_tension_forecast(&s->t, from->z, from->x, to, from->step->reach, fmin(alpha, 1), s->tension);
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
    if (at->step->as_is) abut_codim_hessian_as_is(&s->t, at->x, ABUT_CODIM_BOUNDED, s->strain_kappa, scale, val);
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
