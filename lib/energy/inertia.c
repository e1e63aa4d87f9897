#include "energy/mass.h"
#include "energy/terms.h"

#include "base/par.h"

/* Inertia of the nodes that are not prescribed, 1/2 sum m |x - x_hat|^2; in quasi-static steps the work of the loads in its
 * place, which is the part of that linear in x: -sum m (x_hat - x_0).(x - x_0).  Nodes of tets of order 2 and more have terms of
 * their own (energy/inertia_high.c). */

const abut_mass *abut_mass_of(const abut_terms *terms) { return abut_terms_find(terms, "inertia"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_mass *M = malloc(sizeof *M);
    if (!M) return abut_fail(err, ABUT_E_NOMEM, "inertia of %d nodes", w->model->nv);
    const abut_status rc = abut_mass_init(M, w->model, err);
    if (rc) return free(M), rc;
    *self = M;
    return ABUT_OK;
}

static void destroy(void *self)
{
    abut_mass_clear(self);
    free(self);
}

static double node_energy(const abut_term_step *s, const double *x, int32_t i, double mass)
{
    double sum = 0;
    for (int k = 3 * i; k < 3 * i + 3; k++)
        sum += s->inertia ? 0.5 * ((x[k] - s->x_hat[k]) * (x[k] - s->x_hat[k])) : (s->x0[k] - s->x_hat[k]) * (x[k] - s->x0[k]);
    return mass * sum;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_mass *M = self;
    const abut_model *m = M->model;
    const size_t nv = (size_t)m->nv, nb = abut_blocks(nv);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_ROOM(scratch, double, nb + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "inertia: %zu partial sums", nb);
    #pragma omp parallel for schedule(static) if (nv >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(nv, b);
        abut_acc sum = { 0, 0 };
        for (int32_t i = (int32_t)r.lo; i < (int32_t)r.hi; i++)
            if (!at->step->held[i] && !abut_mass_order(M, i)) abut_acc_add(&sum, node_energy(at->step, at->x, i, m->mass[i]));
        part[b] = sum.hi + sum.lo;
    }
    *e = scale * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_mass *M = self;
    const abut_model *m = M->model;
    const abut_term_step *s = at->step;
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)m->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 3 * i; k < 3 * i + 3 && !s->held[i] && !abut_mass_order(M, i); k++)
            g[k] += scale * (m->mass[i] * ((s->inertia ? at->x[k] : s->x0[k]) - s->x_hat[k]));
    return ABUT_OK;
}

static void diagonal(const void *self, const abut_term_step *s, double scale, double *diag)
{
    const abut_mass *M = self;
    const abut_model *m = M->model;
    for (int32_t i = 0; i < m->nv; i++)
        if (!s->held[i]) diag[i] += scale * (m->mass[i] * ((abut_mass_order(M, i) ? 0 : s->inertia) + s->shift));
}

const abut_term_ops abut_term_inertia = { .name = "inertia", .kind = ABUT_TERM_INERTIA, .weight = ABUT_TERM_WEIGHED,
                                          .make = make, .energy = energy, .gradient = gradient,
                                          .diagonal = diagonal, .free = destroy };
