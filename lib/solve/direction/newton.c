/* Newton's direction: p = -H^-1 g, by a linear solver of the table. */
#include "base/par.h"
#include "solve/direction/newton_solve.h"
#include "solve/direction.h"

#include <stdlib.h>
#include <string.h>

typedef struct newton {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    double *ahead;              /* [6 nv] the gradient with bounds ahead, the direction without; NULL until one is met */
} newton;

static void release(void *self)
{
    newton *n = self;
    abut_newton_solve_clear(&n->solve);
    abut_newton_matrix_clear(&n->matrix);
    free(n->ahead);
    free(n);
}

static abut_status make(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err)
{
    newton *n = calloc(1, sizeof *n);
    if (!n) return abut_fail(err, ABUT_E_NOMEM, "Newton direction");
    n->p = p;
    abut_status rc = abut_newton_matrix_init(&n->matrix, p, opt->user->search.without, err);
    if (!rc) rc = abut_newton_solve_init(&n->solve, p, opt, 1, err);
    if (!rc && opt->instead && !p->step.ranks && !(opt->user->search.without & ABUT_WITHOUT_REUSE))
        rc = abut_newton_solve_iterate_instead(&n->solve, p, opt->instead, err);
    n->solve.order.degree.on = 1;
    if (rc) release(n);
    else *self = n;
    return rc;
}

static void begin_step(void *self)
{
    newton *n = self;
    abut_newton_solve_begin_step(&n->solve, &n->matrix);
    abut_objective_majorant_forget(n->p);
    abut_objective_ahead_forget(n->p);
}

static void require_exact(void *self)
{
    newton *n = self;
    abut_objective_majorant_forget(n->p);
    n->solve.exact = 1;
}

/* Names the node at which the matrix is not positive definite. */
static void blame(const newton *n, abut_direction_info *info)
{
    info->bad_node = n->solve.bad_node;
    info->guessed = info->bad_node < 0;
    if (info->guessed) info->bad_node = abut_newton_matrix_worst_node(&n->matrix, n->p);
}

/* Checks that all ranks have the same iterate and gradient. */
static abut_status agree(const abut_objective *p, const abut_point *at, abut_err *err)
{
    const size_t bytes = 3 * (size_t)p->model->nv * sizeof *at->x;
    if (!p->step.ranks) return ABUT_OK;
    const uint64_t mark = abut_ranks_mark(abut_ranks_mark((uint64_t)p->nrow, at->x, bytes), at->g, bytes);
    return abut_ranks_agree(p->step.ranks, mark, "an iterate", err);
}

/* dir = -H^-1 g, H summed at `at` with the present state of the terms. */
static abut_status solve(newton *n, const abut_point *at, const double *g, double *dir, abut_direction_info *info,
                         abut_report *rep, abut_err *err)
{
    const abut_objective *p = n->p;
    abut_status rc = abut_newton_solve_sum(&n->solve, &n->matrix, p, at, rep, err);
    if (rc) return rc;
    abut_rows_gather(p, g, -1, n->solve.rhs);
    rc = abut_newton_solve_first(&n->solve, &n->matrix, p, rep, err);
    if (rc == ABUT_E_NUMERIC) blame(n, info);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    abut_rows_scatter(p, n->solve.sol, 1, dir);
    return ABUT_OK;
}

/* Replaces a dir that leads far beyond bounds of terms by one that includes them; not if a short direction may end the
 * minimisation. */
static abut_status look_at_bounds(newton *n, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                                  abut_err *err)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_at here = abut_point_at(at, p);
    if (n->solve.user->search.without & ABUT_WITHOUT_LOOK_AHEAD) return ABUT_OK;
    if (abut_largest(dir, n3) <= m->tolerance[0] * m->h[0]) return ABUT_OK;
    if (!abut_objective_ahead(p, &here, dir)) return ABUT_OK;
    if (!n->ahead) n->ahead = malloc(2 * n3 * sizeof *n->ahead);
    if (!n->ahead) return abut_fail(err, ABUT_E_NOMEM, "bounds ahead of %d nodes", m->nv);
    double *g = n->ahead, *plain = n->ahead + n3;
    memcpy(g, at->g, n3 * sizeof *g);
    memcpy(plain, dir, n3 * sizeof *plain);
    abut_objective_ahead_gradient(p, &here, g);
    const abut_status rc = solve(n, at, g, dir, info, rep, err);
    info->exact = 0, info->ahead = 1;
    if (rc || abut_descends(p, at->g, dir)) return rc;
    abut_objective_ahead_forget(p);
    memcpy(dir, plain, n3 * sizeof *dir);
    info->ahead = 0;
    return ABUT_OK;
}

static abut_status find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                        abut_err *err)
{
    newton *n = self;
    const int exact = n->solve.exact;
    *info = (abut_direction_info){ .bad_node = -1 };
    n->solve.bad_node = -1;
    abut_objective_ahead_forget(n->p);
    abut_status rc = agree(n->p, at, err);
    if (!rc) rc = solve(n, at, at->g, dir, info, rep, err);
    info->exact = n->matrix.exact && !n->solve.shifted;
    if (!rc && !exact) rc = look_at_bounds(n, at, dir, info, rep, err);
    if (rc) return rc;
    info->approximate = abut_newton_solve_is_approximate(&n->solve);
    abut_newton_matrix_majorise(&n->matrix, n->p, at, dir);
    abut_newton_solve_stats(&n->solve, rep);
    return ABUT_OK;
}

static abut_status resolve(void *self, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    newton *n = self;
    abut_rows_gather(n->p, g, -1, n->solve.rhs);
    const abut_status rc = abut_newton_solve_again(&n->solve, &n->matrix, n->p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * n->p->nrow), rc;
    abut_rows_scatter(n->p, n->solve.sol, 1, dir);
    return ABUT_OK;
}

static abut_linear_solver *factor(void *self, abut_operator *A)
{
    newton *n = self;
    *A = abut_newton_solve_operator(&n->solve, &n->matrix);
    return abut_newton_solve_factor(&n->solve);
}

const abut_direction_ops abut_direction_newton = {
    .name = "newton", .make = make, .begin_step = begin_step, .find = find, .require_exact = require_exact,
    .resolve = resolve, .factor = factor, .free = release,
};
