#include "energy/damping.h"

#include "base/par.h"
#include "linalg/bsr.h"

#include <stdlib.h>

abut_status abut_damping_init(abut_damping *d, const abut_model *m, abut_err *err)
{
    *d = (abut_damping){ .mass = m->damp_mass ? m->damp_mass[0] : 0, .stiffness = m->damp_stiffness ? m->damp_stiffness[0] : 0 };
    if (d->stiffness == 0) return ABUT_OK;
    d->K = malloc(((size_t)m->nt * ABUT_PACKED + 1) * sizeof *d->K);
    return d->K ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "damping: stiffness of %d tets", m->nt);
}

void abut_damping_clear(abut_damping *d)
{
    free(d->K);
    *d = (abut_damping){ 0 };
}

void abut_damping_freeze(abut_damping *d, const abut_elastic *e, const double *x)
{
    if (d->K) abut_elastic_hessian(e, x, d->stiffness, d->K);
}

/* f = K (x - c) of one tet; returns (x - c)^T f */
static double tet_force(const double *K, const int32_t v[4], const double *x, const double *c, double f[12])
{
    double u[12], work = 0;
    for (int i = 0; i < 12; i++) {
        const size_t at = 3 * (size_t)v[i / 3] + (size_t)(i % 3);
        u[i] = x[at] - c[at];
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

abut_status abut_damping_energy(const abut_damping *d, const abut_elastic *e, const double *x, const double *c, double scale,
                                double *energy, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = e->model;
    const size_t nt = (size_t)m->nt, nb = abut_blocks(nt);
    double work = d->mass > 0 ? mass_work(d, m, x, c) : 0;
    if (d->K) {
        const abut_mark mark = abut_arena_mark(scratch);
        double *part = ABUT_NEW(scratch, double, nb);
        if (!part) return abut_fail(err, ABUT_E_NOMEM, "damping: %zu partial sums", nb);

        #pragma omp parallel for schedule(static) if (nb > 2)
        for (size_t b = 0; b < nb; b++) {
            const abut_range r = abut_block(nt, b);
            double f[12], sum = 0;
            for (size_t t = r.lo; t < r.hi; t++) sum += tet_force(d->K + ABUT_PACKED * t, m->tet + 4 * t, x, c, f);
            part[b] = sum;
        }
        work += abut_sum(part, nb);
        abut_arena_release(scratch, mark);
    }
    *energy = 0.5 * scale * work;
    return ABUT_OK;
}

abut_status abut_damping_gradient(const abut_damping *d, const abut_elastic *e, const double *x, const double *c,
                                  double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = e->model;
    const size_t nt = (size_t)m->nt;
    if (d->mass > 0)
        for (int32_t i = 0; i < 3 * m->nv; i++) g[i] += scale * d->mass * m->mass[i / 3] * (x[i] - c[i]);
    if (!d->K) return ABUT_OK;

    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 12 * nt);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "damping: forces of %zu tets", nt);
    #pragma omp parallel for schedule(static) if (nt >= ABUT_PAR_MIN)
    for (size_t t = 0; t < nt; t++) (void)tet_force(d->K + ABUT_PACKED * t, m->tet + 4 * t, x, c, f + 12 * t);

    /* every node reads the corners it is in, in their order */
    #pragma omp parallel for schedule(static) if (nt >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        for (int32_t k = e->inc_first[i]; k < e->inc_first[i + 1]; k++)
            for (int j = 0; j < 3; j++) g[3 * i + j] += scale * f[3 * (size_t)e->inc[k] + (size_t)j];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

void abut_damping_hessian(const abut_damping *d, int32_t nt, double scale, double *H)
{
    if (!d->K) return;
    const size_t n = (size_t)nt * ABUT_PACKED;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) H[i] += scale * d->K[i];
}
