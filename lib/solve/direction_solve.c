#include "solve/direction_parts.h"

#include "base/timer.h"
#include "linalg/mat3.h"

#include <math.h>

static abut_status factor_once(abut_direction *d, abut_err *err)
{
    return d->method == ABUT_SOLVE_CG ? abut_cg_factor(&d->cg, &d->A, err) : abut_chol_factor(d->chol, &d->A, err);
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
    if (d->method == ABUT_SOLVE_CG) {
        const abut_schwarz_stats s = abut_schwarz_get_stats(d->cg.schwarz);
        rep->factor_nnz = s.factor_nnz;
        rep->factor_flops = s.factor_flops;
        rep->factor_bytes = 8 * s.factor_nnz;
    } else {
        const abut_chol_stats s = abut_chol_get_stats(d->chol);
        rep->factor_nnz = s.factor_nnz;
        rep->factor_flops = s.factor_flops;
        rep->factor_bytes = (double)s.bytes;
    }
}

abut_status abut_direction_factor(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    abut_status rc = d->method == ABUT_SOLVE_CG ? ABUT_OK : abut_direction_analyse_to_factor(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc) rc = factor(d, rep, err);
    rep->seconds.factor += abut_time_lap(&clock);
    rep->factorisations += abut_direction_is_whole(d);
    rep->factorisations_double += abut_direction_is_whole(d);
    if (rc == ABUT_E_NUMERIC && d->method != ABUT_SOLVE_CG) d->bad_node = node_of_row(p, abut_chol_bad_row(d->chol));
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

abut_status abut_direction_factor_coarse(abut_direction *d, const abut_problem *p, int *coarse, abut_report *rep, abut_err *err)
{
    double clock = abut_time_wall();
    *coarse = 0;
    abut_status rc = d->analysed ? ABUT_OK : abut_direction_symbolic(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    if (abut_factor_reuse_is_coarse(&d->reuse, d->chol)) {
        rc = abut_chol_factor_single(d->chol, &d->A, err);
        rep->seconds.factor += abut_time_lap(&clock);
        rep->factorisations++;
        *coarse = !rc;
        d->reuse.coarse = rc != ABUT_OK;
        if (rc != ABUT_E_NUMERIC) return rc;
    }
    return abut_direction_factor(d, p, rep, err);
}

/* d->sol = A^-1 rhs by the Schwarz preconditioner. */
static abut_status solve_cg(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_status rc = abut_direction_factor(d, p, rep, err);
    if (rc) return rc;
    double clock = abut_time_wall();
    rc = abut_cg_solve(&d->cg, &d->A, d->rhs, near_the_end(p), d->sol, err);
    rep->cg_iterations += d->cg.iterations;
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

/* The same by the factor that there is, by one in single precision, or in double: the first that is good enough. */
static abut_status solve_whole(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double near = near_the_end(p);
    int solved = 0;
    abut_status rc = ABUT_OK;
    double clock = abut_time_wall();
    if (abut_factor_reuse_is_due(u, d->chol))
        rc = abut_factor_reuse_old(u, d->chol, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    u->old = solved;
    rep->seconds.solve += abut_time_lap(&clock);
    if (!rc && !solved && !d->analysed) rc = abut_direction_symbolic(d, err);
    const int coarse = !rc && !solved && abut_factor_reuse_is_coarse(u, d->chol);
    if (coarse) rc = abut_direction_analyse_to_factor(d, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc && coarse)
        rc = abut_factor_reuse_single(u, d->chol, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    rep->seconds.factor += abut_time_lap(&clock);
    if (!rc && !solved) rc = abut_direction_factor(d, p, rep, err);
    clock = abut_time_wall();
    if (rc || solved) return rc;
    u->held = 1;
    u->insist = u->approximate = 0;
    rc = abut_chol_solve(d->chol, d->rhs, d->sol, err);
    rep->seconds.solve += abut_time_lap(&clock);
    return rc;
}

abut_status abut_direction_solve(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    return d->method == ABUT_SOLVE_CG ? solve_cg(d, p, rep, err) : solve_whole(d, p, rep, err);
}

abut_status abut_direction_solve_again(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    abut_factor_reuse *u = &d->reuse;
    const double clock = abut_time_wall(), near = near_the_end(p);
    int solved = 1;
    abut_status rc;
    if (d->method == ABUT_SOLVE_CG) rc = abut_cg_solve(&d->cg, &d->A, d->rhs, near, d->sol, err);
    else if (!u->old) rc = abut_chol_solve(d->chol, d->rhs, d->sol, err);
    else rc = abut_factor_reuse_old(u, d->chol, d->analysed, &d->A, d->rhs, near, d->sol, &solved, rep, err);
    if (d->method == ABUT_SOLVE_CG) rep->cg_iterations += d->cg.iterations;
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || solved) return rc;
    u->insist = 1;
    return solve_whole(d, p, rep, err);
}
