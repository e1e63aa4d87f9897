#include "adjoint/parts.h"

#include "energy/damping.h"
#include "energy/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tets taken apart: corner c of tet t is node 4 t + c, so that each can be moved alone. */
typedef struct apart {
    abut_elastic e;
    abut_model model;
    int32_t *tet;           /* [4 n] */
    double *x, *p, *u;      /* [12 n] */
    double *lame, *law_lame;    /* [2 n], [2 nm] of tets and of materials */
    double *low, *high;     /* [n] p.K u of each */
    double *K;              /* of as many as are taken at once */
} apart;

enum { TETS_AT_ONCE = 256 };

/* w[t] = p.K u with the stiffness that damping takes, projected */
static void works(const apart *a, double *w)
{
    double *const K = a->K;
    const size_t n = (size_t)a->e.n, size = abut_packed_size(4);
    for (size_t lo = 0; lo < n; lo += TETS_AT_ONCE) {
        const size_t hi = lo + TETS_AT_ONCE < n ? lo + TETS_AT_ONCE : n;
        abut_elastic_hessian_some(&a->e, a->x, 1, lo, hi, K);
        for (size_t t = lo; t < hi; t++) {
            const double *k = K + size * (t - lo), *p = a->p + 12 * t, *u = a->u + 12 * t;
            w[t] = 0;
            for (size_t c = 0; c < 4; c++)
                for (size_t d = c; d < 4; d++, k += 9)
                    for (size_t i = 0; i < 9; i++) {
                        w[t] += k[i] * p[3 * c + i / 3] * u[3 * d + i % 3];
                        if (c != d) w[t] += k[i] * p[3 * d + i % 3] * u[3 * c + i / 3];
                    }
        }
    }
}

/* Sets the moduli of a: those of e, with modulus k raised by `by` times mu. */
static void set_moduli(apart *a, const abut_elastic *e, size_t k, double by)
{
    memcpy(a->lame, e->lame, 2 * (size_t)e->n * sizeof *a->lame);
    memcpy(a->law_lame, e->laws.lame, 2 * (size_t)e->model->nm * sizeof *a->law_lame);
    for (size_t t = 0; t < (size_t)e->n; t++) a->lame[2 * t + k] += by * e->lame[2 * t];
    for (size_t i = 0; i < (size_t)e->model->nm; i++) a->law_lame[2 * i + k] += by * e->laws.lame[2 * i];
}

static abut_status take_apart(apart *a, const abut_elastic *e, const double *x, const double *p, const double *u,
                              abut_arena *scratch, abut_err *err)
{
    const size_t n = (size_t)e->n;
    *a = (apart){ .e = *e, .model = *e->model, .tet = ABUT_NEW(scratch, int32_t, 4 * n), .x = ABUT_NEW(scratch, double, 12 * n),
                  .p = ABUT_NEW(scratch, double, 12 * n), .u = ABUT_NEW(scratch, double, 12 * n),
                  .lame = ABUT_NEW(scratch, double, 2 * n),
                  .law_lame = ABUT_NEW(scratch, double, 2 * (size_t)e->model->nm), .low = ABUT_NEW(scratch, double, n),
                  .high = ABUT_NEW(scratch, double, n),
                  .K = ABUT_NEW(scratch, double, TETS_AT_ONCE * abut_packed_size(4)) };
    if (!a->tet || !a->x || !a->p || !a->u || !a->lame || !a->law_lame || !a->low || !a->high || !a->K)
        return abut_fail(err, ABUT_E_NOMEM, "backward pass: damping of %zu tets", n);
    a->model.tet = a->tet;
    a->e.model = &a->model;
    a->e.lame = a->lame;
    a->e.laws.lame = a->law_lame;
    set_moduli(a, e, 0, 0);
    for (size_t c = 0; c < 12 * n; c++) {
        const size_t at = 3 * (size_t)e->model->tet[c / 3] + c % 3;
        a->tet[c / 3] = (int32_t)(c / 3);
        a->x[c] = x[at], a->p[c] = p[at], a->u[c] = u[at];
    }
    return ABUT_OK;
}

/* Central differences: by the coordinates of each tet, and by its moduli.  Projection has a kink where an eigenvalue is 0, as at
 * rest: there they are the mean of both sides. */
static void differences(apart *a, const abut_objective *o, const abut_elastic *e, double scale, double *x_bar,
                        abut_parameter_bar *bars)
{
    const size_t n = (size_t)e->n;
    for (size_t c = 0; c < 12; c++) {
        for (int side = -1; side <= 1; side += 2) {
            for (size_t t = 0; t < n; t++) a->x[12 * t + c] += side * 1e-6 * cbrt(e->vol[t]);
            works(a, side < 0 ? a->low : a->high);
            for (size_t t = 0; t < n; t++) a->x[12 * t + c] -= side * 1e-6 * cbrt(e->vol[t]);
        }
        for (size_t t = 0; t < n; t++)
            x_bar[3 * (size_t)e->model->tet[4 * t + c / 3] + c % 3] +=
                scale * (a->high[t] - a->low[t]) / (2e-6 * cbrt(e->vol[t]));
    }
    for (size_t k = 0; k < 2; k++) {
        for (int side = -1; side <= 1; side += 2) {
            set_moduli(a, e, k, side * 1e-6);
            works(a, side < 0 ? a->low : a->high);
        }
        set_moduli(a, e, k, 0);
        for (size_t t = 0; t < n; t++)
            (k ? bars->lame : bars->shear)[abut_objective_tet(o, (int32_t)t)] +=
                scale * (a->high[t] - a->low[t]) / (2e-6 * e->lame[2 * t]);
    }
}

abut_status abut_adjoint_damping_back(abut_adjoint *a, const double *u, abut_err *err)
{
    const abut_objective *o = &a->s.solver.prob;
    const abut_model *m = a->model;
    const double w = o->step.damping, *p = a->work.p, rate = m->damp_mass ? m->damp_mass[0] : 0;
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) {
        const double along = w * p[i] * u[i];
        a->bars.damp_mass[0] += m->mass[i / 3] * along;
        a->bars.mass[i / 3] += rate * along;
    }
    const abut_elastic *e = abut_elastic_of(&o->terms);
    const double b = m->damp_stiffness ? m->damp_stiffness[0] : 0;
    if (!(b > 0) || !e->n) return ABUT_OK;
    apart taken;
    const abut_mark mark = abut_arena_mark(&a->s.solver.scratch);
    const abut_status rc = take_apart(&taken, e, o->xn, p, u, &a->s.solver.scratch, err);
    if (!rc) {
        works(&taken, taken.low);
        for (size_t t = 0; t < (size_t)e->n; t++) a->bars.damp_stiffness[0] += w * taken.low[t];
        differences(&taken, o, e, w * b, a->work.start.x, &a->bars);
    }
    abut_arena_release(&a->s.solver.scratch, mark);
    return rc;
}
