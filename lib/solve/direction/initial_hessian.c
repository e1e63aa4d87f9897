/* The Newton matrix as an initial matrix, by sparse Cholesky: in single precision where that is fair. */
#include "solve/direction/initial.h"

#include <stdlib.h>

typedef struct hessian {
    abut_newton_solve *solve;   /* of the direction: it has the factor */
    int single;                 /* in single precision */
} hessian;

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(hessian));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    hessian *h = self;
    h->solve = at->solve;
    return abut_newton_factor_single(at->solve, at->matrix, at->p, &h->single, rep, err);
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return abut_linear_precond(&((hessian *)self)->solve->linear);
}

static int is_exact(const void *self)
{
    return !((const hessian *)self)->single;
}

static abut_status refine(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    ((hessian *)self)->single = 0;
    at->solve->no_single = 1;    /* single precision is not tried again in this step */
    return abut_newton_factor(at->solve, at->matrix, at->p, rep, err);
}

static void stats(const void *self, abut_report *rep)
{
    abut_newton_solve_stats(((const hessian *)self)->solve, rep);
}

const abut_initial_ops abut_initial_hessian = { .needs = ABUT_NEEDS_MATRIX | ABUT_NEEDS_FACTOR, .make = make, .factor = factor,
                                                .precond = precond, .is_exact = is_exact, .refine = refine, .stats = stats,
                                                .free = free };
