#include "energy/damping.h"

#include "base/par.h"
#include "sparse/packed_lanes.h"

#include <stdlib.h>

abut_status abut_damping_init(abut_damping *d, const abut_model *m, const abut_codim *t, abut_err *err)
{
    *d = (abut_damping){ .mass = m->damp_mass ? m->damp_mass[0] : 0, .stiffness = m->damp_stiffness ? m->damp_stiffness[0] : 0 };
    if (d->stiffness == 0) return ABUT_OK;
    d->K = malloc(((size_t)m->nt * ABUT_PACKED + 1) * sizeof *d->K);
    d->codim_K = malloc((t->n * ABUT_PACKED + 1) * sizeof *d->codim_K);
    if (d->K && d->codim_K) return ABUT_OK;
    abut_damping_clear(d);
    return abut_fail(err, ABUT_E_NOMEM, "damping: stiffness of %d tets, %zu thin elements", m->nt, t->n);
}

void abut_damping_clear(abut_damping *d)
{
    free(d->K);
    free(d->codim_K);
    *d = (abut_damping){ 0 };
}

void abut_damping_freeze(abut_damping *d, const abut_elastic *e, const abut_codim *t, const double *x)
{
    if (!d->K) return;
    abut_elastic_hessian(e, x, d->stiffness, d->K);
    for (size_t i = 0; i < t->n * ABUT_PACKED; i++) d->codim_K[i] = 0;
    abut_codim_hessian(t, x, ABUT_CODIM_ALL, 0, d->stiffness, d->codim_K);
}

/* Elements with a frozen stiffness: their nodes, -1 for unused corners, and at each node their corners. */
typedef struct elements {
    size_t n;
    const int32_t *node, *inc_first, *inc;
    const double *K;
} elements;

static void both_sets(const abut_damping *d, const abut_elastic *e, const abut_codim *t, elements set[2])
{
    set[0] = (elements){ (size_t)e->model->nt, e->model->tet, e->inc_first, e->inc, d->K };
    set[1] = (elements){ t->n, t->node, t->inc_first, t->inc, d->codim_K };
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
    for (int32_t i = 0; i < 3 * m->nv; i++) abut_acc_add(&sum, m->mass[i / 3] * (x[i] - c[i]) * (x[i] - c[i]));
    return d->mass * (sum.hi + sum.lo);
}

static abut_status set_work(const elements *s, const double *x, const double *c, double *work, abut_arena *scratch,
                            abut_err *err)
{
    const size_t n = s->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "damping: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double f[12], sum = 0;
        for (size_t t = r.lo; t < r.hi; t++) sum += element_force(s->K + ABUT_PACKED * t, s->node + 4 * t, x, c, f);
        part[b] = sum;
    }
    *work += abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_status abut_damping_energy(const abut_damping *d, const abut_elastic *e, const abut_codim *t, const double *x,
                                const double *c, double scale, double *energy, abut_arena *scratch, abut_err *err)
{
    double work = d->mass > 0 ? mass_work(d, e->model, x, c) : 0;
    elements set[2];
    both_sets(d, e, t, set);
    for (int k = 0; k < 2 && d->K; k++) {
        const abut_status rc = set_work(&set[k], x, c, &work, scratch, err);
        if (rc) return rc;
    }
    *energy = 0.5 * scale * work;
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
    for (size_t t = 0; t < s->n; t++) (void)element_force(s->K + ABUT_PACKED * t, s->node + 4 * t, x, c, f + 12 * t);

    /* every node reads the corners it is in, in their order */
    #pragma omp parallel for schedule(static) if (s->n >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < nv; i++)
        for (int32_t k = s->inc_first[i]; k < s->inc_first[i + 1]; k++)
            for (int j = 0; j < 3; j++) g[3 * i + j] += scale * f[3 * (size_t)s->inc[k] + (size_t)j];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_status abut_damping_gradient(const abut_damping *d, const abut_elastic *e, const abut_codim *t, const double *x,
                                  const double *c, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = e->model;
    elements set[2];
    both_sets(d, e, t, set);
    if (d->mass > 0)
        for (int32_t i = 0; i < 3 * m->nv; i++) g[i] += scale * d->mass * m->mass[i / 3] * (x[i] - c[i]);
    for (int k = 0; k < 2 && d->K; k++) {
        const abut_status rc = set_gradient(&set[k], m->nv, x, c, scale, g, scratch, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

void abut_damping_tet_hessian(const abut_damping *d, size_t lo, size_t hi, double scale, double *H)
{
    if (!d->K) return;
    const double *K = d->K + ABUT_PACKED * lo;
    for (size_t i = 0; i < ABUT_PACKED * (hi - lo); i++) H[i] += scale * K[i];
}

void abut_damping_codim_hessian(const abut_damping *d, const abut_codim *t, double scale, double *H)
{
    if (!d->K) return;
    #pragma omp parallel for schedule(static) if (t->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < t->n * ABUT_PACKED; i++) H[i] += scale * d->codim_K[i];
}
