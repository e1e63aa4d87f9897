#include "energy/prescribed.h"

#include "base/par.h"
#include "energy/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct prescribed {
    abut_lagrangian al;     /* first: abut_lagrangian_of */
    const abut_model *model;
} prescribed;

abut_lagrangian *abut_lagrangian_of(const abut_terms *terms) { return abut_terms_find(terms, "lagrangian"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    prescribed *p = *self = calloc(1, sizeof *p);
    if (p) *p = (prescribed){ { .lam = calloc(3 * (size_t)w->model->nv + 1, sizeof(double)) }, w->model };
    if (p && p->al.lam) return ABUT_OK;
    free(p);
    return *self = NULL, abut_fail(err, ABUT_E_NOMEM, "prescribed nodes: %d nodes", w->model->nv);
}

static void destroy(void *self)
{
    prescribed *p = self;
    free(p->al.lam);
    free(p);
}

static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    prescribed *p = self;
    (void)err;
    p->al.on = as->pending && f->penalty;
    if (!p->al.on) return ABUT_OK;
    p->al.kap = f->penalty[0];
    memcpy(p->al.lam, f->multiplier, 3 * (size_t)p->model->nv * sizeof *p->al.lam);
    return ABUT_OK;
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const prescribed *p = self;
    if (!as->pending || !p->al.on) return ABUT_OK;
    double *kap = abut_frame_put(out, "step/penalty", 1, err);
    if (!kap) return err->code;
    *kap = p->al.kap;
    double *lam = abut_frame_put(out, "step/multiplier", p->model->nv, err);
    if (!lam) return err->code;
    memcpy(lam, p->al.lam, 3 * (size_t)p->model->nv * sizeof *lam);
    return ABUT_OK;
}

static double node_energy(const prescribed *p, const abut_at *at, int32_t i)
{
    const double m = p->model->mass[i];
    double d2 = 0, ld = 0;
    for (int k = 3 * i; k < 3 * i + 3; k++) {
        const double d = at->x[k] - at->step->target[k];
        d2 += d * d;
        ld += p->al.lam[k] * d;
    }
    return 0.5 * p->al.kap * m * d2 - sqrt(m) * ld;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const prescribed *p = self;
    const size_t nv = (size_t)p->model->nv, nb = abut_blocks(nv);
    *e = 0;
    if (!p->al.on) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_ROOM(scratch, double, nb + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "prescribed nodes: %zu partial sums", nb);
    #pragma omp parallel for schedule(static) if (nv >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(nv, b);
        abut_acc sum = { 0, 0 };
        for (int32_t i = (int32_t)r.lo; i < (int32_t)r.hi; i++)
            if (at->step->held[i]) abut_acc_add(&sum, node_energy(p, at, i));
        part[b] = sum.hi + sum.lo;
    }
    *e = scale * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const prescribed *p = self;
    const abut_model *m = p->model;
    (void)scratch, (void)err;
    #pragma omp parallel for schedule(static) if ((size_t)m->nv >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < m->nv; i++)
        for (int k = 3 * i; k < 3 * i + 3 && p->al.on && at->step->held[i]; k++)
            g[k] += scale * (p->al.kap * m->mass[i] * (at->x[k] - at->step->target[k]) - sqrt(m->mass[i]) * p->al.lam[k]);
    return ABUT_OK;
}

static void diagonal(const void *self, const abut_term_step *s, double scale, double *diag)
{
    const prescribed *p = self;
    for (int32_t i = 0; i < p->model->nv && p->al.on; i++)
        if (s->held[i]) diag[i] += scale * (p->model->mass[i] * p->al.kap);
}

const abut_term_ops abut_term_prescribed = { .name = "lagrangian", .kind = ABUT_TERM_CONSTRAINT, .weight = ABUT_TERM_WEIGHED,
                                             .make = make, .load = load, .store = store, .energy = energy, .gradient = gradient,
                                             .diagonal = diagonal, .free = destroy };
