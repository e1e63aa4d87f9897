#include "solve/direction/newton_parts.h"

#include "base/timer.h"
#include "math/mat3.h"

#include <math.h>

#define FAR 1e-3            /* relative residual of iterations while the direction is long */
#define CLOSE 1e-8          /* and when the convergence test looks at it */

/* The Newton matrix, and where its rows are. */
static abut_operator newton_matrix(const abut_direction *d)
{
    return (abut_operator){ .matrix = &d->A, .where = d->where };
}

/* Newton's equation is solved by iterations. */
static int iterates(const abut_direction *d)
{
    return d->method == ABUT_SOLVE_NEWTON && abut_linear_can(&d->linear, ABUT_IS_ITERATIVE);
}

static int may_reuse(const abut_direction *d)
{
    return !(d->without & ABUT_WITHOUT_REUSE);
}

static abut_status factor_once(abut_direction *d, abut_err *err)
{
    const abut_operator A = newton_matrix(d);
    return abut_linear_factor(&d->linear, &A, ABUT_DOUBLE, err);
}

/* Projection leaves the matrix positive definite up to rounding; a shift of the diagonal mends the rounding. */
static abut_status factor(abut_direction *d, abut_report *rep, abut_err *err)
{
    abut_status rc = factor_once(d, err);
    double *whole = d->sol;     /* the diagonal without a shift */
    for (int32_t j = 0; j < d->A.n && rc == ABUT_E_NUMERIC; j++)
        for (int k = 0; k < 3; k++) whole[3 * j + k] = d->A.val[9 * d->A.ptr[j] + 4 * (size_t)k];
    for (double shift = 1e-10; rc == ABUT_E_NUMERIC && shift < 1; shift *= 100) {
        rep->shifts++;
        for (int32_t j = 0; j < d->A.n; j++)
            for (int k = 0; k < 3; k++) d->A.val[9 * d->A.ptr[j] + 4 * (size_t)k] = (1 + shift) * whole[3 * j + k];
        rc = factor_once(d, err);
    }
    return rc;
}

static int32_t node_of_row(const abut_problem *p, int32_t row)
{
    for (int32_t i = 0; i < p->model->nv && row >= 0; i++)
        if (p->row[i] == row) return i;
    return -1;
}

/* det of a symmetric 3x3 block over the product of its diagonal: at most 1 (Hadamard), 0 or less when not positive definite */
static double roundness(const double *a)
{
    const double det = abut_m3_det(a);
    const double ratio = a[0] > 0 && a[4] > 0 && a[8] > 0 ? det / (a[0] * a[4] * a[8]) : -1;
    return ratio <= 1 ? ratio : -1;     /* not finite */
}

int32_t abut_direction_worst_node(const abut_direction *d, const abut_problem *p)
{
    double least = INFINITY;
    int32_t row = -1;
    for (int32_t j = 0; j < d->A.n && d->A.n == p->nrow && d->A.val; j++) {
        const double r = roundness(d->A.val + 9 * d->A.ptr[j]);
        if (r < least) least = r, row = j;
    }
    return node_of_row(p, row);
}

/* What conjugate gradients leave unsolved must not be seen by the convergence test, which allows h tolerance. */
static double near_the_end(const abut_problem *p)
{
    return 2 * p->model->h[0] * p->model->tolerance[0];
}

void abut_direction_report_factor(const abut_direction *d, abut_report *rep)
{
    const abut_linear_stats s = abut_linear_get_stats(&d->linear);
    rep->factor_nnz = s.nnz;
    rep->factor_flops = s.flops;
    rep->factor_bytes = (double)s.bytes;
}

abut_status abut_direction_factor(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    abut_status rc = iterates(d) ? ABUT_OK : abut_direction_analyse_to_factor(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc) rc = factor(d, rep, err);
    rep->seconds.factor += abut_time_lap(&clock);
    rep->factorisations += abut_direction_is_whole(d);
    rep->factorisations_double += abut_direction_is_whole(d);
    if (rc == ABUT_E_NUMERIC) d->bad_node = node_of_row(p, abut_linear_bad_row(&d->linear));
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

abut_status abut_direction_factor_coarse(abut_direction *d, const abut_problem *p, int *coarse, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    *coarse = 0;
    abut_status rc = d->analysed ? ABUT_OK : abut_direction_symbolic(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    if (may_reuse(d) && abut_factor_reuse_is_coarse(&d->reuse, &d->linear)) {
        const abut_operator A = newton_matrix(d);
        rc = abut_linear_factor(&d->linear, &A, ABUT_SINGLE, err);
        rep->seconds.factor += abut_time_lap(&clock);
        rep->factorisations++;
        *coarse = !rc;
        d->reuse.coarse = rc != ABUT_OK;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    return abut_direction_factor(d, p, rep, err);
}

static abut_status iterate(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    const abut_operator A = newton_matrix(d);
    const abut_solve_goal goal = { FAR, CLOSE, near_the_end(p) };
    const abut_status rc = abut_linear_solve(&d->linear, &A, d->rhs, &goal, d->sol, err);
    rep->cg_iterations += abut_linear_get_stats(&d->linear).iterations;
    return rc;
}

/* d->sol = A^-1 rhs by iterations on a preconditioner of A. */
static abut_status solve_by_iterations(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_status rc = abut_direction_factor(d, p, rep, err);
    if (rc) return rc;
    double clock = abut_time_wall();
    rc = iterate(d, p, rep, err);
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

static abut_status solve_by_factor(abut_direction *d, abut_err *err)
{
    const abut_operator A = newton_matrix(d);
    return abut_linear_solve(&d->linear, &A, d->rhs, NULL, d->sol, err);
}

/* The same by the factor that there is, by one in single precision, or in double: the first that is good enough. */
static abut_status solve_whole(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double near = near_the_end(p);
    int solved = 0;
    abut_status rc = ABUT_OK;
    double clock = abut_time_wall();
    if (may_reuse(d) && abut_factor_reuse_is_due(u, &d->linear))
        rc = abut_factor_reuse_old(u, &d->linear, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    u->old = solved;
    rep->seconds.solve += abut_time_lap(&clock);
    if (!rc && !solved && !d->analysed) rc = abut_direction_symbolic(d, err);
    const int coarse = !rc && !solved && may_reuse(d) && abut_factor_reuse_is_coarse(u, &d->linear);
    if (coarse) rc = abut_direction_analyse_to_factor(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc && coarse)
        rc = abut_factor_reuse_single(u, &d->linear, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    rep->seconds.factor += abut_time_lap(&clock);
    if (!rc && !solved) rc = abut_direction_factor(d, p, rep, err);
    clock = abut_time_wall();
    if (rc || solved) return rc;
    u->held = 1;
    u->insist = u->approximate = 0;
    rc = solve_by_factor(d, err);
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

abut_status abut_direction_solve(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    return iterates(d) ? solve_by_iterations(d, p, rep, err) : solve_whole(d, p, rep, err);
}

abut_status abut_direction_solve_again(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double clock = abut_time_wall(), near = near_the_end(p);
    int solved = 1;
    abut_status rc;
    if (iterates(d)) rc = iterate(d, p, rep, err);
    else if (!u->old) rc = solve_by_factor(d, err);
    else rc = abut_factor_reuse_old(u, &d->linear, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || solved) return rc;
    u->insist = 1;
    return solve_whole(d, p, rep, err);
}
