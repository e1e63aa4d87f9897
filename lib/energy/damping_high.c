/* Rayleigh damping of the tets of one order (energy/damping.h), with the moduli of their points frozen at the start of the step
 * and their part of the mass matrix. */
#include "energy/damping.h"
#include "energy/elastic_high.h"
#include "energy/mass.h"
#include "energy/terms.h"

#include "base/par.h"
#include "sparse/packed_inline.h"

#include <stdlib.h>

typedef struct damping_high {
    const abut_elastic_high *e;
    const abut_mass *M;
    double mass, stiffness; /* a_M, 1/s; b_K, s */
    size_t *first;          /* [n + 1] where the moduli of a tet begin in K */
    double *K, *f;          /* b_K times moduli; [n * nodes * 3] forces; NULL when b_K is 0 */
    double *u;              /* [3 nv] x - c */
} damping_high;

static void destroy(void *self)
{
    damping_high *s = self;
    free(s->first);
    free(s->K);
    free(s->f);
    free(s->u);
    free(s);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    const abut_damping *d = abut_damping_of(w->before);
    const abut_elastic_high *e = abut_elastic_high_of(w->before, order);
    if (!d || !e) return ABUT_OK;
    const size_t n = (size_t)e->n;
    damping_high *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "damping of %zu tets", n);
    *s = (damping_high){ .e = e, .M = abut_mass_of(w->before), .mass = d->mass, .stiffness = d->stiffness };
    s->u = malloc(3 * (size_t)w->model->nv * sizeof *s->u);
    int ok = s->u != NULL;
    if (d->stiffness > 0) {
        s->first = calloc(n + 1, sizeof *s->first);
        for (size_t t = 0; t < n && s->first; t++) s->first[t + 1] = s->first[t] + abut_elastic_high_moduli_size(e, (int32_t)t);
        s->K = s->first ? malloc(s->first[n] * sizeof *s->K) : NULL;
        s->f = malloc(3 * n * (size_t)e->nodes * sizeof *s->f);
        ok = ok && s->K && s->f;
    }
    if (ok) return *self = s, ABUT_OK;
    destroy(s);
    return abut_fail(err, ABUT_E_NOMEM, "damping of %zu tets of order %d", n, order);
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    damping_high *s = self;
    (void)err;
    #pragma omp parallel for schedule(static) if (abut_elastic_high_is_large(s->e))
    for (int32_t t = 0; t < s->e->n; t++)
        if (s->K) abut_elastic_high_moduli(s->e, t, step->x0, s->stiffness, s->K + s->first[t]);
    return ABUT_OK;
}

static void differences(const damping_high *s, const abut_at *at)
{
    for (size_t i = 0; i < 3 * (size_t)s->M->model->nv; i++) s->u[i] = at->x[i] - at->step->x_damp[i];
}

/* Forces of the frozen stiffness into s->f; part[n] gets u^T K u of each tet, NULL to skip. */
static void stiff_forces(const damping_high *s, double *part)
{
    const int nodes = s->e->nodes;
    #pragma omp parallel for schedule(static) if (abut_elastic_high_is_large(s->e))
    for (int32_t t = 0; t < s->e->n; t++) {
        const int32_t *node = s->e->node + (size_t)t * (size_t)nodes;
        double u[3 * ABUT_TET_NODES_MAX], *f = s->f + 3 * (size_t)t * (size_t)nodes, work = 0;
        for (int i = 0; i < 3 * nodes; i++) u[i] = s->u[3 * (size_t)node[i / 3] + (size_t)(i % 3)];
        abut_elastic_high_product(s->e, t, s->K + s->first[t], u, f);
        for (int i = 0; i < 3 * nodes; i++) work += u[i] * f[i];
        if (part) part[t] = work;
    }
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const damping_high *s = self;
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, (size_t)s->e->n + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "damping: %d partial sums", s->e->n);
    differences(s, at);
    if (s->K) stiff_forces(s, part);
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < s->M->model->nv && s->mass > 0; i++) {
        double f[3];
        if (abut_mass_order(s->M, i) != s->e->order) continue;
        abut_mass_row(s->M, s->u, i, f);
        for (int k = 0; k < 3; k++) abut_acc_add(&sum, s->mass * f[k] * s->u[3 * (size_t)i + (size_t)k]);
    }
    *e = 0.5 * scale * at->step->damping * (abut_sum(part, (size_t)s->e->n) + (sum.hi + sum.lo));
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const damping_high *s = self;
    (void)scratch, (void)err;
    differences(s, at);
    if (s->K) {
        stiff_forces(s, NULL);
        abut_elastic_high_gather(s->e, s->f, scale * at->step->damping, g);
    }
    for (int32_t i = 0; i < s->M->model->nv && s->mass > 0; i++) {
        double f[3];
        if (abut_mass_order(s->M, i) != s->e->order) continue;
        abut_mass_row(s->M, s->u, i, f);
        for (int k = 0; k < 3; k++) g[3 * (size_t)i + (size_t)k] += scale * at->step->damping * s->mass * f[k];
    }
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const damping_high *s = self;
    const double c = scale * at->step->damping;
    abut_mass_add_elements(s->M, s->e->order, c * s->mass, lo, hi, val);
    const size_t size = abut_packed_size(s->e->nodes);
    for (size_t t = lo; t < hi && s->K; t++) {
        double H[9 * ABUT_TET_NODES_MAX * (ABUT_TET_NODES_MAX + 1) / 2];
        abut_elastic_high_pack(s->e, (int32_t)t, s->K + s->first[t], H);
        for (size_t i = 0; i < size; i++) val[size * (t - lo) + i] += c * H[i];
    }
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_damping_##k = { .name = "damping of order " #k, .kind = ABUT_TERM_DAMPING, \
                                                  .weight = ABUT_TERM_WEIGHED, .make = make_##k, .begin = begin, \
                                                  .energy = energy, .gradient = gradient, .set = "tets of order " #k, \
                                                  .hessian = hessian, .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)
