/* The barriers of det F in tets of each order from 2 on, as terms. */
#include "energy/jacobian_barrier.h"

#include "energy/terms.h"

#include <stdlib.h>

static void destroy(void *self)
{
    abut_jacobian_barriers_clear(self);
    free(self);
}

static abut_status make(void **self, const abut_term_world *w, int order, abut_err *err)
{
    const abut_elastic_high *tets = abut_elastic_high_of(w->before, order);
    if (!tets) return ABUT_OK;
    abut_jacobian_barriers *b = calloc(1, sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "barrier of det F: %d tets of order %d", tets->n, order);
    const abut_status rc = abut_jacobian_barriers_init(b, tets, err);
    if (rc) destroy(b);
    else *self = b;
    return rc;
}

/* The points where the step starts. */
static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    abut_jacobian_barriers *b = self;
    int32_t added;
    b->n = 0;
    return abut_jacobian_barriers_look(b, step->x0, &added, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    *e = scale * abut_jacobian_barriers_energy(self, at->x);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    abut_jacobian_barriers_gradient(self, at->x, scale, g);
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    abut_jacobian_barriers_hessian(self, at->x, scale, at->step->as_is, lo, hi, val);
}

static abut_status stiffen(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch, abut_err *err)
{
    int32_t added;
    (void)from, (void)scratch;
    const abut_status rc = abut_jacobian_barriers_look(self, to->x, &added, err);
    *raised |= added > 0;
    return rc;
}

#define TERM_OF_ORDER(k) \
    static abut_status make_##k(void **self, const abut_term_world *w, abut_err *err) { return make(self, w, k, err); } \
    const abut_term_ops abut_term_jacobian_barrier_##k = { .name = "barrier of det F, order " #k, .kind = ABUT_TERM_POTENTIAL, \
                                                           .weight = ABUT_TERM_AT_X, .make = make_##k, .begin = begin, \
                                                           .energy = energy, .gradient = gradient, \
                                                           .set = "tets of order " #k, .hessian = hessian, \
                                                           .stiffen = stiffen, .free = destroy };
TERM_OF_ORDER(2)
TERM_OF_ORDER(3)
TERM_OF_ORDER(4)
