#include "solve/direction/initial.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* The Newton matrix as an initial matrix, by sparse Cholesky, in single precision if that is exact enough.  If the factor would
 * be expensive (ordering.h), conjugate gradients apply the inverse, for as many iterations as the factor would cost.  The factor
 * is made for the next iteration, or if conjugate gradients on the Newton matrix need a preconditioner. */

#define LEFT 0.03       /* largest residual of conjugate gradients, relative to the right-hand side */

typedef struct hessian {
    abut_newton_solve *solve;   /* of the direction: it has the factor */
    abut_newton_matrix *matrix;
    const abut_objective *p;
    abut_report *rep;           /* of the minimisation, borrowed */
    int single;                 /* in single precision */
    int left;                   /* iterations until a factor is made, where they apply the inverse */
} hessian;

static abut_status hessian_make(void **self, const abut_direction_options *opt, abut_err *err)
{
    (void)opt;
    *self = calloc(1, sizeof(hessian));
    return *self ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "initial matrix");
}

/* Returns 1 if iterations apply the inverse. */
static int iterates(const hessian *h)
{
    return h->solve->order.by_iterations;
}

static abut_status begin_iterations(hessian *h, abut_err *err)
{
    const abut_operator A = abut_newton_solve_operator(h->solve, h->matrix);
    const abut_status rc = abut_linear_factor(&h->solve->instead, &A, ABUT_DOUBLE, err);
    const size_t bytes = abut_linear_get_stats(&h->solve->instead).bytes;
    h->left = 1 + (int)fmin(abut_iterations_worth(abut_ordering_spared(&h->solve->order), bytes, h->matrix->A.nnz), INT_MAX / 2);
    h->single = 1;
    return rc;
}

static abut_status hessian_factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    hessian *h = self;
    h->solve = at->solve;
    h->matrix = at->matrix;
    h->p = at->p;
    h->rep = rep;
    if (iterates(h)) return begin_iterations(h, err);
    return abut_newton_factor_single(at->solve, at->matrix, at->p, &h->single, rep, err);
}

/* Changes the rest of the step to factors. */
static abut_status give_up_iterations(hessian *h, abut_err *err)
{
    h->rep->iterations_given_up++;
    return abut_ordering_factor_after_all(&h->solve->order, &h->matrix->A, err);
}

/* Changes the rest of the step to factors, the first one of the last matrix. */
static abut_status make_factor(hessian *h, abut_err *err)
{
    const abut_status rc = give_up_iterations(h, err);
    return rc ? rc : abut_newton_factor_single(h->solve, h->matrix, h->p, &h->single, h->rep, err);
}

static abut_status hessian_apply(void *self, const double *r, double *z, abut_err *err)
{
    hessian *h = self;
    abut_linear_solver *instead = &h->solve->instead;
    if (iterates(h) && h->left > 0) {
        const abut_operator A = abut_newton_solve_operator(h->solve, h->matrix);
        const abut_solve_goal goal = { .far = LEFT, .close = LEFT, .fraction = 1, .most = h->left };
        const abut_status rc = abut_linear_solve(instead, &A, r, &goal, z, err);
        const int took = abut_linear_get_stats(instead).iterations;
        h->rep->cg_iterations += took;
        h->left -= took;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    const abut_status rc = iterates(h) ? make_factor(h, err) : ABUT_OK;
    if (rc) return rc;
    const abut_precond M = abut_linear_precond(&h->solve->linear);
    return M.apply(M.of, r, z, err);
}

static abut_status settle(void *self, abut_err *err)
{
    return iterates(self) ? make_factor(self, err) : ABUT_OK;
}

static abut_precond hessian_precond(void *self, int symmetric)
{
    hessian *h = self;
    (void)symmetric;
    return iterates(h) ? (abut_precond){ hessian_apply, h, h->matrix->A.n } : abut_linear_precond(&h->solve->linear);
}

static int is_exact(const void *self)
{
    return !((const hessian *)self)->single;
}

static abut_status refine(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    hessian *h = self;
    h->single = 0;
    at->solve->no_single = 1;    /* single precision is not tried again in this step */
    const abut_status rc = iterates(h) ? give_up_iterations(h, err) : ABUT_OK;
    return rc ? rc : abut_newton_factor(at->solve, at->matrix, at->p, rep, err);
}

static void hessian_stats(const void *self, abut_report *rep)
{
    abut_newton_solve_stats(((const hessian *)self)->solve, rep);
}

const abut_initial_ops abut_initial_hessian = { .needs = ABUT_NEEDS_MATRIX | ABUT_NEEDS_FACTOR, .make = hessian_make,
                                                .factor = hessian_factor, .settle = settle, .precond = hessian_precond,
                                                .is_exact = is_exact, .refine = refine, .stats = hessian_stats, .free = free };
