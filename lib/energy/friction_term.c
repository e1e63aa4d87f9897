#include "energy/friction_term.h"

#include "energy/terms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

abut_friction_state *abut_friction_state_of(const abut_terms *terms) { return abut_terms_find(terms, "friction"); }
abut_lag *abut_lag_of(const abut_terms *terms) { return &abut_friction_state_of(terms)->lag; }

void abut_lag_exchange(const abut_terms *terms, abut_lag *lag)
{
    abut_lag *mine = abut_lag_of(terms);
    const abut_lag other = *lag;
    *lag = *mine;
    *mine = other;
}

abut_stiction abut_stiction_of(const abut_model *m, const abut_term_step *step)
{
    return (abut_stiction){ step->h_force, step->eps_v, m->smoothing ? m->smoothing[0] : ABUT_FRICTION_C1 };
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_friction_state *f = *self = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "friction");
    f->model = w->model;
    f->cm = w->cm;
    return ABUT_OK;
}

static void destroy(void *self)
{
    abut_friction_state *f = self;
    abut_lag_clear(&f->lag);
    free(f->above);
    free(f);
}

int abut_friction_acts(const abut_model *m)
{
    for (int32_t i = 0; i < m->ng * m->ng; i++)
        if (m->mu[i] > 0) return 1;
    return 0;
}

static abut_status load(void *self, const abut_frame *frame, const abut_term_frame *as, abut_err *err)
{
    abut_friction_state *f = self;
    return as->pending ? ABUT_OK : abut_lag_from_frame(f->cm, frame, &f->lag, err);
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const abut_friction_state *f = self;
    return as->pending || !abut_friction_acts(f->model) ? ABUT_OK : abut_lag_to_frame(&f->lag, out, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    return abut_friction_energy(&f->lag, &law, at->x, at->step->x_ref, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    return abut_friction_gradient(&f->lag, &law, f->model->nv, at->x, at->step->x_ref, g, scratch, err);
}

/* The set of contacts, with a flag for each; clears all flags if the number of contacts has changed. */
static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    abut_friction_state *f = self;
    const size_t n = f->lag.n;
    (void)at;
    set->corners = 4, set->n = n, set->row = n ? f->lag.node[0] : NULL, set->map = f->lag.map;
    if (n > f->cap) {
        free(f->above);
        f->cap = 0;
        f->above = malloc(2 * n);
        if (!f->above) return abut_fail(err, ABUT_E_NOMEM, "friction: %zu contacts", n);
        f->cap = 2 * n;
        f->n = 0;
    }
    if (f->n != n && n) memset(f->above, 0, n);
    f->n = n;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    (void)lo, (void)hi;
    abut_friction_hessian(&f->lag, &law, at->x, at->step->x_ref, f->n == f->lag.n ? f->above : NULL, NULL, val);
}

static void majorant_forget(void *self) { ((abut_friction_state *)self)->n = 0; }

static void majorant_learn(void *self, const abut_at *at, const double *p)
{
    abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    if (f->n && f->n == f->lag.n) abut_friction_kinks(&f->lag, &law, at->x, at->step->x_ref, p, f->above);
}

static int majorant_is_exact(const void *self)
{
    const abut_friction_state *f = self;
    return !f->n || !memchr(f->above, 1, f->n);
}

const abut_term_ops abut_term_friction = { .name = "friction", .kind = ABUT_TERM_FRICTION, .weight = ABUT_TERM_WEIGHED,
                                           .make = make, .load = load, .store = store, .energy = energy,
                                           .gradient = gradient, .set = "friction",
                                           .elements = elements, .hessian = hessian,
                                           .majorant_forget = majorant_forget, .majorant_learn = majorant_learn,
                                           .majorant_is_exact = majorant_is_exact, .free = destroy };
