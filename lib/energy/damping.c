/* Rayleigh damping with a lagged stiffness: forces -C v with C = a_M M + b_K K, K the elastic Hessian at the start of the
 * step, projected to positive semidefinite, so that the damping is a convex quadratic of the positions (stretch limits are no
 * part of K: they are no material; nor are springs and attachments):
 *     D(x) = scale/2 (x - c)^T C (x - c),     v = rate (x - c) / h.
 * Tets of order 2 and more have terms of their own.
 * Source: Rayleigh 1877, 81 (forces proportional to mass and stiffness). */
#include "base/par.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "energy/mass.h"
#include "energy/term.h"
#include "sparse/packed_inline.h"

#include <assert.h>
#include <stdlib.h>

static void damping_clear(abut_damping *d)
{
    ABUT_FREE(d->K, d->codim_K);
    *d = (abut_damping){ 0 };
}

/* Takes the coefficients of the model and allocates K; M is borrowed. */
static abut_status damping_init(abut_damping *d, const abut_mass *M, const abut_codim *t, abut_err *err)
{
    assert(M && t);
    const abut_model *m = M->model;
    *d = (abut_damping){ .M = M, .mass = m->damp_mass ? m->damp_mass[0] : 0,
                         .stiffness = m->damp_stiffness ? m->damp_stiffness[0] : 0 };
    if (d->stiffness == 0) return ABUT_OK;
    if (ABUT_ARRAYS(ABUT_ITEMS(d->K, (size_t)m->nt * abut_packed_size(4)), ABUT_ITEMS(d->codim_K, t->n * abut_packed_size(4))))
        return ABUT_OK;
    damping_clear(d);
    return abut_fail(err, ABUT_E_NOMEM, "damping: stiffness of %d tets, %zu thin elements", m->nt, t->n);
}

/* The terms of masses and tets, and of thin elements: the first owns what both are of. */
typedef struct damped {
    abut_damping d;         /* first: abut_damping_of */
    const abut_elastic *elastic;
    const abut_codim *codim;
} damped;

/* Parts that are damped; a mask. */
enum { TETS = 1 /* and masses */, CODIM = 2 };

/* Elements with a frozen stiffness: their nodes, -1 for unused corners, and at each node their corners. */
typedef struct elements {
    size_t n;
    const int32_t *node, *inc_first, *inc;
    const double *K;
} elements;

static void both_sets(const damped *s, elements set[2])
{
    const abut_elastic *e = s->elastic;
    const abut_codim *t = s->codim;
    set[0] = (elements){ (size_t)e->n, e->model->tet, e->inc_first, e->inc, s->d.K };
    set[1] = (elements){ t->n, t->node, t->inc_first, t->inc, s->d.codim_K };
}

/* f = K (x - c) of one element; returns (x - c)^T f */
static double element_force(const double *K, const int32_t v[4], const double *x, const double *c, double f[12])
{
    double u[12], work = 0;
    for (int i = 0; i < 12; i++) {
        const size_t at = 3 * (size_t)(v[i / 3] < 0 ? 0 : v[i / 3]) + (size_t)(i % 3);
        u[i] = v[i / 3] < 0 ? 0 : x[at] - c[at];
        f[i] = 0;
    }
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, K += 9)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    f[3 * a + i] += K[3 * i + j] * u[3 * b + j];
                    if (a != b) f[3 * b + j] += K[3 * i + j] * u[3 * a + i];
                }
    for (int i = 0; i < 12; i++) work += u[i] * f[i];
    return work;
}

static double mass_work(const abut_damping *d, const abut_model *m, const double *x, const double *c)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < 3 * m->nv; i++)
        if (!abut_mass_order(d->M, i / 3)) abut_acc_add(&sum, m->mass[i / 3] * (x[i] - c[i]) * (x[i] - c[i]));
    return d->mass * (sum.hi + sum.lo);
}

static abut_status set_work(const elements *s, const double *x, const double *c, double *work, abut_arena *scratch, abut_err *err)
{
    const size_t n = s->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "damping: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double f[12], sum = 0;
        for (size_t t = r.lo; t < r.hi; t++) sum += element_force(s->K + abut_packed_size(4) * t, s->node + 4 * t, x, c, f);
        part[b] = sum;
    }
    *work += abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status part_energy(const damped *s, int parts, const abut_at *at, double scale, double *e, abut_arena *scratch,
                               abut_err *err)
{
    const abut_damping *d = &s->d;
    const double *x = at->x, *c = at->step->x_damp;
    double work = d->mass > 0 && parts & TETS ? mass_work(d, s->elastic->model, x, c) : 0;
    elements set[2];
    both_sets(s, set);
    for (int k = 0; k < 2 && d->K; k++) {
        if (!(parts & 1 << k)) continue;
        const abut_status rc = set_work(&set[k], x, c, &work, scratch, err);
        if (rc) return rc;
    }
    *e = 0.5 * (scale * at->step->damping) * work;
    return ABUT_OK;
}

static abut_status set_gradient(const elements *s, int32_t nv, const double *x, const double *c, double scale, double *g,
                                abut_arena *scratch, abut_err *err)
{
    if (s->n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 12 * s->n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "damping: forces of %zu elements", s->n);
    #pragma omp parallel for schedule(static) if (s->n >= ABUT_PAR_MIN)
    for (size_t t = 0; t < s->n; t++) (void)element_force(s->K + abut_packed_size(4) * t, s->node + 4 * t, x, c, f + 12 * t);

    /* every node reads the corners it is in, in their order */
    #pragma omp parallel for schedule(static) if (s->n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++)
        for (int32_t k = s->inc_first[i]; k < s->inc_first[i + 1]; k++)
            for (int j = 0; j < 3; j++) g[3 * i + j] += scale * f[3 * (size_t)s->inc[k] + (size_t)j];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status part_gradient(const damped *s, int parts, const abut_at *at, double scale, double *g, abut_arena *scratch,
                                 abut_err *err)
{
    const abut_damping *d = &s->d;
    const abut_model *m = s->elastic->model;
    const double *x = at->x, *c = at->step->x_damp;
    elements set[2];
    scale *= at->step->damping;
    both_sets(s, set);
    if (d->mass > 0 && parts & TETS)
        for (int32_t i = 0; i < 3 * m->nv; i++)
            if (!abut_mass_order(d->M, i / 3)) g[i] += scale * d->mass * m->mass[i / 3] * (x[i] - c[i]);
    for (int k = 0; k < 2 && d->K; k++) {
        if (!(parts & 1 << k)) continue;
        const abut_status rc = set_gradient(&set[k], m->nv, x, c, scale, g, scratch, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

abut_damping *abut_damping_of(const abut_terms *terms) { return abut_terms_find(terms, "damping"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const abut_model *m = w->model;
    if (!(m->damp_mass && m->damp_mass[0] > 0) && !(m->damp_stiffness && m->damp_stiffness[0] > 0)) return ABUT_OK;
    damped *s = malloc(sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "damping");
    *s = (damped){ .elastic = abut_elastic_of(w->before), .codim = abut_codim_of(w->before) };
    const abut_status rc = damping_init(&s->d, abut_mass_of(w->before), s->codim, err);
    if (rc) return free(s), rc;
    *self = s;
    return ABUT_OK;
}

static void destroy(void *self)
{
    damping_clear(self);
    free(self);
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    damped *s = self;
    abut_damping *d = &s->d;
    (void)err;
    if (!d->K) return ABUT_OK;
    abut_elastic_hessian(s->elastic, step->x0, d->stiffness, d->K);
    for (size_t i = 0; i < s->codim->n * abut_packed_size(4); i++) d->codim_K[i] = 0;
    abut_codim_hessian(s->codim, step->x0, ABUT_CODIM_ALL, 0, d->stiffness, d->codim_K);
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    return part_energy(self, TETS, at, scale, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    return part_gradient(self, TETS, at, scale, g, scratch, err);
}

static void diagonal(const void *self, const abut_term_step *step, double scale, double *diag)
{
    const damped *s = self;
    const abut_model *m = s->elastic->model;
    for (int32_t i = 0; i < m->nv; i++)
        if (!abut_mass_order(s->d.M, i)) diag[i] += scale * (m->mass[i] * (step->damping * s->d.mass));
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const damped *s = self;
    const size_t size = abut_packed_size(4);
    const double c = scale * at->step->damping;
    for (size_t i = 0; i < size * (hi - lo) && s->d.K; i++) val[i] += c * s->d.K[size * lo + i];
}

const abut_term_ops abut_term_damping = { .name = "damping", .kind = ABUT_TERM_DAMPING, .weight = ABUT_TERM_WEIGHED, .make = make,
                                          .begin = begin, .energy = energy, .gradient = gradient, .set = "tets",
                                          .hessian = hessian, .diagonal = diagonal, .free = destroy };

static abut_status codim_make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_damping *d = abut_damping_of(w->before);
    (void)err;
    if (d && d->stiffness > 0 && abut_codim_of(w->before)->n) *self = d;
    return ABUT_OK;
}

static abut_status codim_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    return part_energy(self, CODIM, at, scale, e, scratch, err);
}

static abut_status codim_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    return part_gradient(self, CODIM, at, scale, g, scratch, err);
}

static void codim_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const damped *s = self;
    const double c = scale * at->step->damping;
    (void)lo, (void)hi;
    if (!s->d.K) return;
    #pragma omp parallel for schedule(static) if (s->codim->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < s->codim->n * abut_packed_size(4); i++) val[i] += c * s->d.codim_K[i];
}

const abut_term_ops abut_term_codim_damping = { .name = "codim damping", .kind = ABUT_TERM_DAMPING, .weight = ABUT_TERM_WEIGHED,
                                                .make = codim_make, .energy = codim_energy, .gradient = codim_gradient,
                                                .set = "codimensional elements", .hessian = codim_hessian };

/* ---- tets of higher order ---- */

/* Rayleigh damping of the tets of one order, with the moduli of their points frozen at the start of the step
 * and their part of the mass matrix. */
typedef struct damping_high {
    const abut_elastic_high *e;
    const abut_mass *M;
    double mass, stiffness; /* a_M, 1/s; b_K, s */
    size_t *first;          /* [n + 1] where the moduli of a tet begin in K */
    double *K, *f;          /* b_K times moduli; [n * nodes * 3] forces; NULL when b_K is 0 */
    double *u;              /* [3 nv] x - c */
} damping_high;

static void high_destroy(void *self)
{
    damping_high *s = self;
    ABUT_FREE(s->first, s->K, s->f, s->u, s);
}

static abut_status high_make(void **self, const abut_term_world *w, int order, abut_err *err)
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
    high_destroy(s);
    return abut_fail(err, ABUT_E_NOMEM, "damping of %zu tets of order %d", n, order);
}

static abut_status high_begin(void *self, const abut_term_step *step, abut_err *err)
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

static abut_status high_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
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

static abut_status high_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
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

static void high_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
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
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return high_make(self, w, k, err); } \
    const abut_term_ops abut_term_damping_##k = { .name = "damping of order " #k, .kind = ABUT_TERM_DAMPING, \
                                                  .weight = ABUT_TERM_WEIGHED, .make = make_##k, .begin = high_begin, \
                                                  .energy = high_energy, .gradient = high_gradient, .set = "tets of order " #k, \
                                                  .hessian = high_hessian, .free = high_destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)
