/* The linear solutions of hard contact: A v = f, and (A + W) v = f + W (p + lambda) of every iteration of ADMM. */
#include "solve/nodal/nodal.h"

#include <math.h>
#include <string.h>

/* s->solve.sol = M^-1 s->solve.rhs: by the factor that there is, or by iterations to the goal. */
static abut_status solve_to(abut_nodal *s, const abut_solve_goal *goal, abut_err *err)
{
    abut_newton_solve *q = &s->solve;
    const int iterates = abut_newton_solve_iterates(q);
    const abut_operator of = abut_newton_solve_operator(q, &s->matrix);
    abut_linear_solver *linear = iterates ? &q->linear : abut_reuse_inner(&q->linear);
    const abut_status rc = abut_linear_solve(linear, &of, q->rhs, iterates ? goal : NULL, q->sol, err);
    if (!rc && iterates) s->rep->cg_iterations += abut_linear_get_stats(linear).iterations;
    return rc;
}

#define EXACT 1e-8          /* of a right-hand side, where no residual of ADMM is known */
#define PART 1e-4           /* of that residual: largest error of a velocity (Daviet 2020, 6.2.5) */

abut_status abut_nodal_solve_rows(void *ctx, const double *rhs, double *v, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_objective *p = &s->objective;
    const abut_solve_goal goal = { .far = EXACT, .close = EXACT };
    if (!p->nrow) return ABUT_OK;
    abut_rows_gather(p, rhs, 1, s->solve.rhs);
    const abut_status rc = solve_to(s, &goal, err);
    for (int32_t i = 0; i < p->model->nv && !rc; i++)
        if (p->row[i] >= 0) memcpy(v + 3 * (size_t)i, s->solve.sol + 3 * (size_t)p->row[i], 3 * sizeof *v);
    return rc;
}

/* Solves by the factor for the rows that are awake.  Others keep the velocities of both iterations before. */
static abut_status solve_awake(abut_nodal *s, const double *rhs, double *v, abut_err *err)
{
    abut_newton_solve *q = &s->solve;
    const abut_node_list *awake = &s->parts.awake;
    const int32_t *row = s->objective.row;
    const abut_operator of = abut_newton_solve_operator(q, &s->matrix);
    for (int32_t k = 0; k < awake->n; k++)
        memcpy(q->rhs + 3 * (size_t)row[awake->node[k]], rhs + 3 * (size_t)awake->node[k], 3 * sizeof *rhs);
    const abut_status rc = abut_linear_solve_parts(abut_reuse_inner(&q->linear), &of, s->parts.wanted, q->rhs, q->sol, err);
    for (int32_t k = 0; k < awake->n && !rc; k++)
        memcpy(v + 3 * (size_t)awake->node[k], q->sol + 3 * (size_t)row[awake->node[k]], 3 * sizeof *v);
    return rc;
}

abut_status abut_nodal_solve_iteration(void *ctx, const double *rhs, double *v, abut_err *err)
{
    abut_nodal *s = ctx;
    const abut_objective *p = &s->objective;
    abut_newton_solve *q = &s->solve;
    const double *from = s->state.v_old;
    if (!p->nrow) return ABUT_OK;
    const int iterates = abut_newton_solve_iterates(q);
    if (!iterates && !s->opt.split && s->state.iterations > ABUT_COULOMB_ALL) return solve_awake(s, rhs, v, err);
    if (!iterates || isnan(s->state.delta)) return abut_nodal_solve_rows(ctx, rhs, v, err);
    const abut_solve_goal goal = { .far = 1, .close = EXACT, .fraction = 1, .near = INFINITY,
                                   .within = PART * s->state.delta / p->model->h[0] };
    abut_rows_gather(p, from, 1, q->sol);
    abut_bsr_multiply(&s->matrix.A, q->sol, q->rhs);
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        const int32_t row = p->row[i / 3];
        if (row >= 0) q->rhs[3 * row + i % 3] = rhs[i] - q->rhs[3 * row + i % 3];
    }
    const abut_status rc = solve_to(s, &goal, err);
    for (int32_t i = 0; i < 3 * p->model->nv && !rc; i++) {
        const int32_t row = p->row[i / 3];
        if (row >= 0) v[i] = from[i] + q->sol[3 * row + i % 3];
    }
    return rc;
}
