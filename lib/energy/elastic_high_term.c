/* The tets of each order from 2 on as terms; their step bound is in the term "elastic". */
#include "energy/elastic_high.h"

#include "energy/terms.h"

#include <stdlib.h>
#include <string.h>

typedef struct elastic_high {
    abut_elastic_high e;    /* first: abut_elastic_high_of */
    double *x, *f, energy;  /* energy and forces at the last point: a search asks for the energy of a trial point and then,
                             * mostly, for the gradient there */
    int holds;
} elastic_high;

abut_elastic_high *abut_elastic_high_of(const abut_terms *terms, int order)
{
    static const char *const name[] = { [2] = "elastic of order 2", [3] = "elastic of order 3", [4] = "elastic of order 4" };
    return abut_terms_find(terms, name[order]);
}

static void destroy(void *self)
{
    elastic_high *t = self;
    abut_elastic_high_clear(&t->e);
    free(t->x);
    free(t->f);
    free(t);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    elastic_high *t = calloc(1, sizeof *t);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "elasticity: %d tets", w->model->nt);
    const abut_status rc = abut_elastic_high_init(&t->e, w->model, order, w->reordered ? w->reordered->number : NULL, err);
    if (rc || !t->e.n) return destroy(t), rc;
    t->x = malloc(3 * (size_t)w->model->nv * sizeof *t->x);
    t->f = malloc(3 * (size_t)t->e.n * (size_t)t->e.nodes * sizeof *t->f);
    if (t->x && t->f) return *self = t, ABUT_OK;
    destroy(t);
    return abut_fail(err, ABUT_E_NOMEM, "elasticity: forces of %d tets of order %d", w->model->nt, order);
}

static double stiffness(const void *self) { return abut_elastic_high_stiffness(self); }

static abut_status recall(elastic_high *t, const double *x, abut_arena *scratch, abut_err *err)
{
    const size_t bytes = 3 * (size_t)t->e.model->nv * sizeof *x;
    if (t->holds && !memcmp(t->x, x, bytes)) return ABUT_OK;
    t->holds = 0;
    const abut_status rc = abut_elastic_high_evaluate(&t->e, x, &t->energy, t->f, scratch, err);
    if (rc) return rc;
    memcpy(t->x, x, bytes);
    t->holds = 1;
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    elastic_high *t = self;
    const abut_status rc = recall(t, at->z, scratch, err);
    if (!rc) *e = scale * t->energy;
    return rc;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    elastic_high *t = self;
    const abut_status rc = recall(t, at->z, scratch, err);
    if (!rc) abut_elastic_high_gather(&t->e, t->f, scale, g);
    return rc;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_elastic_high *e = self;
    (void)at, (void)err;
    set->corners = e->nodes, set->n = (size_t)e->n, set->row = e->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    abut_elastic_high_hessian(self, at->z, scale, lo, hi, val);
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_elastic_##k = { .name = "elastic of order " #k, .kind = ABUT_TERM_POTENTIAL, \
                                                  .weight = ABUT_TERM_AT_Z, .make = make_##k, .stiffness = stiffness, \
                                                  .energy = energy, .gradient = gradient, .set = "tets of order " #k, \
                                                  .set_is = ABUT_SET_LASTS | ABUT_SET_FUSED, .elements = elements, \
                                                  .hessian = hessian, .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)
