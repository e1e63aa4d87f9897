#include "solve/direction/newton.h"

#include "base/par.h"
#include "solve/direction/newton_parts.h"

#include <stdlib.h>

const char *const abut_solve_names[ABUT_SOLVES + 1] = { "newton", "lbfgs-h", "lbfgs-pd", "lbfgs-jh", "lbfgs-ic", "dot",
                                                        "gradient", NULL };

abut_status abut_direction_init(abut_direction *d, const abut_problem *p, int method, const abut_linear_solver_ops *linear,
                                int threads, abut_err *err)
{
    const size_t nt = (size_t)p->model->nt, nv = (size_t)p->model->nv;
    *d = (abut_direction){ .method = method, .threads = threads, .initial.kind = method };
    const abut_status rc = abut_linear_solver_init(&d->linear, linear ? linear : abut_linear_solvers[0], threads, err);
    if (rc) return rc;
    const int positions = abut_linear_can(&d->linear, ABUT_IS_ITERATIVE);
    if (positions) d->where = malloc((3 * nv + 1) * sizeof(double));
    d->tet_row = malloc((4 * nt + 1) * sizeof(int32_t));
    d->codim_H = calloc(p->codim.n * abut_packed_size(4) + 1, sizeof(double));     /* unused corners stay 0 */
    d->codim_row = malloc((4 * p->codim.n + 1) * sizeof(int32_t));
    d->perm = malloc(nv * sizeof(int32_t));
    int have_orders = 1;
    for (int k = 0; k < 2; k++) {
        d->tets[k].node_row = malloc(nv * sizeof(int32_t));
        d->tets[k].perm = malloc(nv * sizeof(int32_t));
        have_orders &= d->tets[k].node_row && d->tets[k].perm;
    }
    d->planned = malloc(nv * sizeof(int32_t));
    d->diag = malloc(nv * sizeof(double));
    d->rhs = malloc(3 * nv * sizeof(double));
    d->sol = malloc(3 * nv * sizeof(double));
    const size_t na = (size_t)p->model->na, nsp = (size_t)p->model->nsp;
    d->attach_row = malloc((5 * na + 1) * sizeof(int32_t));
    d->attach_H = malloc((na * abut_packed_size(5) + 1) * sizeof(double));
    d->spring_row = malloc((2 * nsp + 1) * sizeof(int32_t));
    d->spring_H = malloc((nsp * abut_packed_size(2) + 1) * sizeof(double));
    if (d->spring_row && d->spring_H && d->attach_row && d->attach_H && d->codim_H &&
        d->codim_row && d->tet_row && d->perm && have_orders && d->planned && d->diag && d->rhs && d->sol &&
        (d->where || !positions))
        return ABUT_OK;
    abut_direction_clear(d);
    return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu tets, %zu nodes", nt, nv);
}

void abut_direction_reset(abut_direction *d)
{
    if (!abut_direction_is_whole(d)) abut_direction_forget_pattern(d);
    abut_linear_begin_step(&d->linear);
    abut_factor_reuse_reset(&d->reuse);
    abut_quasi_reset(&d->quasi);
    d->kinks.n = 0;
    d->n_perm = 0;
    d->seen_n = 0;
    d->seen_nrow = -1;
}

void abut_direction_insist(abut_direction *d)
{
    d->kinks.n = 0;
    d->quasi.insist = d->reuse.insist = 1;
}

void abut_direction_clear(abut_direction *d)
{
    abut_direction_reset(d);
    abut_direction_forget_pattern(d);
    abut_linear_solver_clear(&d->linear);
    free(d->where);
    abut_factor_reuse_clear(&d->reuse);
    abut_initial_clear(&d->initial);
    abut_quasi_clear(&d->quasi);
    free(d->tet_row);
    free(d->codim_H);
    free(d->codim_row);
    free(d->attach_row);
    free(d->attach_H);
    free(d->spring_row);
    free(d->spring_H);
    free(d->perm);
    for (int k = 0; k < 2; k++) free(d->tets[k].node_row), free(d->tets[k].perm);
    free(d->planned);
    free(d->diag);
    free(d->rhs);
    free(d->sol);
    free(d->touch.node);
    free(d->touch.row);
    free(d->touch.H);
    free(d->seen_row);
    free(d->kinks.above);
    *d = (abut_direction){ 0 };
}

static void set_rhs(abut_direction *d, const abut_problem *p, const double *g)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0)
            for (int k = 0; k < 3; k++) d->rhs[3 * p->row[i] + k] = -g[3 * i + k];
}

static void get_solution(const abut_direction *d, const abut_problem *p, double *dir)
{
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < p->model->nv; i++)
        for (int k = 0; k < 3; k++) dir[3 * i + k] = p->row[i] < 0 ? 0 : d->sol[3 * p->row[i] + k];
}

abut_status abut_direction_again(abut_direction *d, const abut_problem *p, const double *g, double *dir, abut_report *rep,
                                 abut_err *err)
{
    set_rhs(d, p, g);
    const abut_status rc = abut_direction_solve_again(d, p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    get_solution(d, p, dir);
    return ABUT_OK;
}

int abut_direction_has_factor(const abut_direction *d)
{
    return d->method == ABUT_SOLVE_NEWTON && !d->reuse.old && !abut_linear_can(&d->linear, ABUT_IS_ITERATIVE);
}

abut_status abut_direction_by_factor(abut_direction *d, const abut_problem *p, const double *g, double *dir, abut_err *err)
{
    set_rhs(d, p, g);
    const abut_operator A = { .matrix = &d->A };
    const abut_status rc = abut_linear_solve(&d->linear, &A, d->rhs, NULL, d->sol, err);
    if (rc) return rc;
    get_solution(d, p, dir);
    return ABUT_OK;
}

static abut_status newton(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                          const double *g, double *dir, abut_report *rep, abut_err *err)
{
    const abut_stiction law = abut_problem_stiction(p);
    abut_status rc = abut_direction_matrix(d, p, x, y, pairs, rep, err);
    if (rc) return rc;
    set_rhs(d, p, g);
    rc = abut_direction_solve(d, p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    get_solution(d, p, dir);
    if (!(d->without & ABUT_WITHOUT_MAJORANT)) abut_friction_kinks(&p->lag, &law, x, p->still, dir, d->kinks.above);
    abut_direction_report_factor(d, rep);
    return ABUT_OK;
}

abut_status abut_direction_find(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                const abut_pairs *pairs, const double *g, double *dir, abut_report *rep,
                                abut_err *err)
{
    if (d->method != ABUT_SOLVE_NEWTON) return abut_quasi_find(d, p, x, y, pairs, g, dir, rep, err);
    return newton(d, p, x, y, pairs, g, dir, rep, err);
}

abut_status abut_direction_newton(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    if (d->method != ABUT_SOLVE_NEWTON) abut_direction_insist(d);
    return abut_direction_find(d, p, x, y, pairs, g, dir, rep, err);
}
