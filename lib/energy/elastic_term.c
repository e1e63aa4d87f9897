#include "energy/elastic.h"

#include "base/par.h"
#include "contact/curved.h"
#include "energy/elastic_high.h"
#include "energy/stiffness_fit.h"
#include "energy/terms.h"
#include "model/naming.h"
#include "model/tets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct elastic {
    abut_elastic e;         /* first: abut_elastic_of */
    abut_elastic_memo memo; /* at the last point */
    const abut_reordered *reordered;
    const abut_terms *terms;    /* among them those of tets of higher order */
} elastic;

abut_elastic *abut_elastic_of(const abut_terms *terms) { return abut_terms_find(terms, "elastic"); }

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    elastic *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "elasticity: %d tets", w->model->nt);
    t->reordered = w->reordered;
    t->terms = w->before;
    const abut_status rc = abut_elastic_init(&t->e, w->model, err);
    if (rc) return free(t), rc;
    *self = t;
    return ABUT_OK;
}

static void destroy(void *self)
{
    elastic *t = self;
    abut_elastic_clear(&t->e);
    abut_elastic_memo_clear(&t->memo);
    free(t);
}

/* psi of a stiff element at rest is a difference of numbers of the size of its moduli */
static double stiffness(const void *self)
{
    const abut_elastic *e = self;
    abut_acc sum = { 0, 0 };
    for (int32_t t = 0; t < e->n; t++) abut_acc_add(&sum, e->vol[t] * (e->lame[2 * t] + e->lame[2 * t + 1]));
    return sum.hi + sum.lo;
}

/* The memo at a point. */
static abut_status recall(elastic *t, const abut_at *at, abut_arena *scratch, abut_err *err)
{
    t->memo.by.ranks = at->step->ranks;
    t->memo.by.node = t->reordered ? t->reordered->node : NULL;      /* asked for where ranks divide the work alone */
    return abut_elastic_recall(&t->e, at->z, &t->memo, scratch, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    elastic *t = self;
    const abut_status rc = recall(t, at, scratch, err);
    if (!rc) *e = scale * t->memo.energy;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    elastic *t = self;
    const abut_status rc = recall(t, at, scratch, err);
    return rc ? rc : abut_elastic_gather(&t->e, &t->memo, scale, g, scratch, err);
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_elastic *e = &((const elastic *)self)->e;
    (void)at, (void)err;
    set->corners = 4, set->n = (size_t)e->n, set->row = e->model->tet;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    if (at->step->as_is) abut_elastic_hessian_as_is(self, at->z, scale, lo, hi, val);
    else abut_elastic_hessian_some(self, at->z, scale, lo, hi, val);
}

/* constant matrices of tets, from the stiffness k[nm] of their materials, Pa (Liu 2018, 8.1) */
static void constant_tets(const abut_elastic *e, const double *k, double scale, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = 0; t < (size_t)e->n; t++) {
        const double *B = e->B + 9 * t, w = scale * e->vol[t] * k[m->tet_mat[t]];
        double g[12];
        for (int d = 0; d < 3; d++) {
            for (int a = 0; a < 3; a++) g[3 * (a + 1) + d] = B[3 * a + d];
            g[d] = -(B[d] + B[3 + d] + B[6 + d]);
        }
        const double kappa = m->mat_fibre ? scale * e->vol[t] * m->mat_fibre[m->tet_mat[t]] : 0;
        double along[4] = { 0 };    /* the fibre */
        for (int a = 0; a < 4 && kappa > 0; a++)
            for (int d = 0; d < 3; d++) along[a] += g[3 * a + d] * m->tet_fibre[3 * t + (size_t)d];
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, H += 9)
                H[0] = H[4] = H[8] = kappa * along[a] * along[b] +
                    w * (g[3 * a] * g[3 * b] + g[3 * a + 1] * g[3 * b + 1] + g[3 * a + 2] * g[3 * b + 2]);
    }
}

static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_elastic *e = &((const elastic *)self)->e;
    if (!e->n) return ABUT_OK;
    double *k = malloc(((size_t)e->model->nm + 1) * sizeof *k);
    const abut_status rc = k ? abut_stiffness_fit_materials(e, fit[0], fit[1], k, err)
                             : abut_fail(err, ABUT_E_NOMEM, "constant matrix: %d materials", e->model->nm);
    if (!rc) constant_tets(e, k, scale, val);
    free(k);
    return rc;
}

static void limit(void *self, const abut_at *at, const double *p, abut_limit *lim)
{
    abut_limit_inversion(((const elastic *)self)->e.model, at->x, p, ABUT_VOLUME_LEFT, lim);
}

/* Words for a tet of order 2 or more, whose elastic energy depends on det F at the points of quadrature alone. */
static void words_of_order(const elastic *t, const double *x, int32_t tet, abut_bound_words *w)
{
    const abut_model *m = t->e.model;
    const abut_elastic_high *e = abut_elastic_high_of(t->terms, abut_tet_order(m, tet));
    const double least = abut_curved_jacobian(m, tet, x, INFINITY, NULL);
    double stress, seen = least;
    if (e) seen = abut_elastic_high_stress(e, x, tet - e->first, &stress, NULL, NULL);
    if (!(seen > 2 * least)) snprintf(w->detail, sizeof w->detail, "det F at least %.3g", least);
    else
        snprintf(w->detail, sizeof w->detail, "det F at least %.3g, %.3g at its points of quadrature: raise 'quadrature'",
                 least, seen);
}

static void limit_words(const void *self, const double *x, const abut_limit *lim, abut_bound_words *w)
{
    const elastic *t = self;
    const abut_model *m = t->e.model;
    double F[9];
    *w = (abut_bound_words){ .what = "element", .number = abut_reordered_tet_number(t->reordered, lim->tet),
                             .object = m->body[m->tet[4 * lim->tet]] };
    if (lim->tet < t->e.n)
        snprintf(w->detail, sizeof w->detail, "%.3g of its rest volume left", abut_elastic_deformation(&t->e, x, lim->tet, F));
    else words_of_order(t, x, lim->tet, w);
}

const abut_term_ops abut_term_elastic = { .name = "elastic", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z, .make = make,
                                          .stiffness = stiffness, .energy = energy, .gradient = gradient, .set = "tets",
                                          .set_is = ABUT_SET_LASTS | ABUT_SET_FUSED, .elements = elements,
                                          .hessian = hessian, .constant = constant, .limit = limit,
                                          .limit_words = limit_words, .free = destroy };
