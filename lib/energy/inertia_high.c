/* Inertia of the tets of one order, 1/2 (x - x_hat)^T M (x - x_hat) with their part M of the mass matrix (energy/mass.h); in
 * quasi-static steps -(x_hat - x_0)^T M (x - x_0).  Prescribed nodes are in it: they pull their neighbours along. */
#include "energy/mass.h"
#include "energy/terms.h"

#include "base/par.h"

#include <stdlib.h>

typedef struct inertia_high {
    const abut_mass *mass;
    int order;
    double *d;          /* [3 nv] x - x_hat, or x_0 - x_hat */
} inertia_high;

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    const abut_mass *mass = abut_mass_of(w->before);
    if (!mass->element[order]) return ABUT_OK;
    inertia_high *t = malloc(sizeof *t);
    if (t) *t = (inertia_high){ mass, order, malloc(3 * (size_t)w->model->nv * sizeof(double)) };
    if (t && t->d) return *self = t, ABUT_OK;
    free(t);
    return abut_fail(err, ABUT_E_NOMEM, "inertia of %d nodes", w->model->nv);
}

static void destroy(void *self)
{
    free(((inertia_high *)self)->d);
    free(self);
}

/* x - x_hat; without inertia x_0 - x_hat */
static const double *difference(const inertia_high *t, const abut_at *at)
{
    const double *from = at->step->inertia ? at->x : at->step->x0, *to = at->step->x_hat;
    for (size_t i = 0; i < 3 * (size_t)t->mass->model->nv; i++) t->d[i] = from[i] - to[i];
    return t->d;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const inertia_high *t = self;
    const abut_mass *M = t->mass;
    const size_t nv = (size_t)M->model->nv, nb = abut_blocks(nv);
    const double *d = difference(t, at), *x0 = at->step->x0;
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_ROOM(scratch, double, nb + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "inertia: %zu partial sums", nb);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(nv, b);
        abut_acc sum = { 0, 0 };
        for (int32_t i = (int32_t)r.lo; i < (int32_t)r.hi; i++) {
            double f[3];
            if (M->order[i] != t->order) continue;
            abut_mass_row(M, d, i, f);
            for (int k = 0; k < 3; k++) {
                const size_t at_k = 3 * (size_t)i + (size_t)k;
                abut_acc_add(&sum, at->step->inertia ? 0.5 * f[k] * d[at_k] : f[k] * (at->x[at_k] - x0[at_k]));
            }
        }
        part[b] = sum.hi + sum.lo;
    }
    *e = scale * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const inertia_high *t = self;
    const abut_mass *M = t->mass;
    const double *d = difference(t, at);
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)M->model->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < M->model->nv; i++) {
        double f[3];
        if (M->order[i] != t->order) continue;
        abut_mass_row(M, d, i, f);
        for (int k = 0; k < 3; k++) g[3 * (size_t)i + (size_t)k] += scale * f[k];
    }
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const inertia_high *t = self;
    if (at->step->inertia) abut_mass_add_elements(t->mass, t->order, scale, lo, hi, val);
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_inertia_##k = { .name = "inertia of order " #k, .kind = ABUT_TERM_INERTIA, \
                                                  .weight = ABUT_TERM_WEIGHED, .make = make_##k, .energy = energy, \
                                                  .gradient = gradient, .set = "tets of order " #k, .hessian = hessian, \
                                                  .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)
