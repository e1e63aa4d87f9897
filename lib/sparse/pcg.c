#include "sparse/pcg.h"

#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define A_DECADE 2      /* iterations that a preconditioner worth having needs for a tenth of the error */

double abut_dot(const double *a, const double *b, size_t n, double *part)
{
    const size_t nb = abut_blocks(n);
    #pragma omp parallel for schedule(static) if (nb > 4)
    for (size_t k = 0; k < nb; k++) {
        const abut_range r = abut_block(n, k);
        double s[4] = { 0, 0, 0, 0 };       /* four chains: an addition need not wait for the one before */
        size_t i = r.lo;
        for (; i + 4 <= r.hi; i += 4)
            for (size_t j = 0; j < 4; j++) s[j] += a[i + j] * b[i + j];
        for (; i < r.hi; i++) s[0] += a[i] * b[i];
        part[k] = (s[0] + s[1]) + (s[2] + s[3]);
    }
    return abut_sum(part, nb);
}

typedef struct pcg {
    const abut_operator *A;
    const abut_precond *M;
    size_t n;           /* scalar rows */
    double *r, *z, *p, *q;
    double *inverse;    /* [n * 3] inverted diagonal blocks; NULL with M */
    double *part;
    double *alpha, *beta;   /* [iterations] steps, and parts of the directions before in each; NULL: not kept */
} pcg;

/* Positive leading minors (Sylvester), false for a NaN. */
static int is_definite(const double D[9], double det)
{
    return D[0] > 0 && D[0] * D[4] - D[1] * D[3] > 0 && det > 0;
}

static abut_status invert_diagonal(pcg *s, abut_err *err)
{
    abut_operator_diagonal(s->A, s->inverse);
    for (int32_t c = 0; 3 * (size_t)c < s->n; c++) {
        double D[9];
        memcpy(D, s->inverse + 9 * (size_t)c, sizeof D);
        if (!is_definite(D, abut_m3_inverse(s->inverse + 9 * (size_t)c, D)))
            return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients: diagonal block %d is not positive definite", c);
    }
    return ABUT_OK;
}

/* z = M^-1 r */
static abut_status precondition(pcg *s, abut_err *err)
{
    if (s->M) return s->M->apply(s->M->of, s->r, s->z, err);
    #pragma omp parallel for schedule(static) if (s->n >= 3 * ABUT_PAR_MIN)
    for (size_t c = 0; c < s->n / 3; c++) {
        const double *I = s->inverse + 9 * c, *r = s->r + 3 * c;
        for (int i = 0; i < 3; i++) s->z[3 * c + (size_t)i] = I[3 * i] * r[0] + I[3 * i + 1] * r[1] + I[3 * i + 2] * r[2];
    }
    return ABUT_OK;
}

/* y += a x */
static void axpy(size_t n, double a, const double *x, double *y)
{
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static double norm(const pcg *s, const double *v)
{
    return sqrt(abut_dot(v, v, s->n, s->part));
}

/* z = M^-1 r in iteration k, and *now = r . z. */
static abut_status measure(pcg *s, int k, double *now, abut_err *err)
{
    const abut_status rc = precondition(s, err);
    if (rc) return abut_wrap(err, "conjugate gradients, iteration %d", k), rc;
    *now = abut_dot(s->r, s->z, s->n, s->part);
    if (*now > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients, iteration %d: the preconditioner is not positive definite"
                     " (r . z = %g)", k, *now);
}

/* Advances x in iteration k along the direction of z = M^-1 r, conjugate to those before; now = r . z; *rz: r . z of the last
 * iteration, on return of this one. */
static abut_status advance(pcg *s, int k, double now, double *rz, double *x, abut_err *err)
{
    const double before = *rz;
    const double beta = k ? now / before : 0;
    #pragma omp parallel for schedule(static) if (s->n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < s->n; i++) s->p[i] = s->z[i] + beta * s->p[i];
    abut_operator_multiply(s->A, s->p, s->q);
    const double pq = abut_dot(s->p, s->q, s->n, s->part);
    if (!(pq > 0))
        return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients, iteration %d: the matrix is not positive definite"
                         " (p . A p = %g)", k, pq);
    axpy(s->n, now / pq, s->p, x);
    axpy(s->n, -now / pq, s->q, s->r);
    if (s->alpha) s->alpha[k] = now / pq, s->beta[k] = beta;
    *rz = now;
    return ABUT_OK;
}

/* Iterates from x, with its residual in r, to the tolerance or the last iteration. */
static abut_status iterate(pcg *s, double *x, double b_norm, abut_pcg_opts opts, abut_pcg_report *rep, abut_err *err)
{
    double rz = 0;
    for (int k = 0;; k++) {
        rep->iterations = k;
        rep->residual = norm(s, s->r) / b_norm;
        rep->converged = rep->residual <= opts.tolerance;
        if (rep->converged || k == opts.max_iterations) return ABUT_OK;
        double now;
        abut_status rc = measure(s, k, &now, err);
        if (!rc) rc = advance(s, k, now, &rz, x, err);
        if (rc) return rc;
    }
}

/* Ratio of the error of x to the goal. */
static double excess(const pcg *s, const double *x, double residual, abut_pcg_goal goal)
{
    const double length = abut_largest(x, s->n), share = goal.share * length;
    const double allowed = length <= goal.near ? fmin(share, goal.within) : share;
    return fmax(residual / goal.force, abut_largest(s->z, s->n) / allowed);
}

/* Whether an error that is too large by a factor of `now` before iteration k may be small enough in `most`. */
static int is_hopeful(int k, double now, int most)
{
    return k + A_DECADE * log10(now) < most;
}

/* Iterates from x = 0 and r = b to the goal, or gives up if the iterations left will not suffice. */
static abut_status approach(pcg *s, double *x, double b_norm, abut_pcg_goal goal, abut_pcg_report *rep, abut_err *err)
{
    double rz = 0;
    for (int k = 0; !rep->converged && k < goal.max_iterations; k++) {
        rep->residual = norm(s, s->r) / b_norm;
        rep->iterations = k + 1;
        double now;
        abut_status rc = measure(s, k, &now, err);
        if (rc) return rc;
        if (k) {
            const double beyond = excess(s, x, rep->residual, goal);
            rep->converged = beyond <= 1;
            if (!rep->converged && !is_hopeful(k, beyond, goal.max_iterations)) return ABUT_OK;
        }
        rc = advance(s, k, now, &rz, x, err);
        if (rc) return rc;
    }
    rep->residual = norm(s, s->r) / b_norm;
    return ABUT_OK;
}

/* Diagonal of the tridiagonal Lanczos matrix T, from step lengths and directions of the iterations (Golub and Van Loan 2013,
 * 11.3.3). */
static double lanczos_diagonal(const pcg *s, int i)
{
    return 1 / s->alpha[i] + (i ? s->beta[i] / s->alpha[i - 1] : 0);
}

/* Whether T has an eigenvalue below t: a pivot of T - t I that is not positive. */
static int has_below(const pcg *s, int k, double t)
{
    double pivot = 1;
    for (int i = 0; i < k; i++) {
        const double off2 = i ? s->beta[i] / (s->alpha[i - 1] * s->alpha[i - 1]) : 0;
        pivot = lanczos_diagonal(s, i) - t - off2 / pivot;
        if (!(pivot > 0)) return 1;
    }
    return 0;
}

/* Smallest eigenvalue of T after k iterations, to a tenth; it decreases to that of M^-1 A. */
static double smallest_ritz(const pcg *s, int k)
{
    double hi = lanczos_diagonal(s, 0), lo;
    for (int i = 1; i < k; i++) hi = fmin(hi, lanczos_diagonal(s, i));
    for (lo = hi; lo > 0 && has_below(s, k, lo); lo /= 2) hi = lo;
    for (; hi - lo > 0.1 * lo && lo > 0;) {
        const double mid = 0.5 * (lo + hi);
        if (has_below(s, k, mid)) hi = mid;
        else lo = mid;
    }
    return lo;
}

enum { FIRST_LOOK = 3 };    /* iterations */

/* Iteration of the next test after iteration k. */
static int next_look(int k) { return k + FIRST_LOOK + k / 8; }

/* Whether x is near enough; s->z must hold M^-1 r. */
static int is_near(const pcg *s, const double *x, int k, double residual, const abut_pcg_reach *reach)
{
    if (residual > reach->far) return 0;
    const double length = abut_largest(x, s->n), fraction = reach->fraction * length;
    const double allowed = length <= reach->near ? fmin(fraction, reach->within) : fraction;
    const double last = abut_largest(s->z, s->n);
    return last <= allowed && last <= allowed * smallest_ritz(s, k);
}

/* Iterates from x, with its residual in r, until x is close enough, or to the last iteration. */
static abut_status reach_for(pcg *s, double *x, double b_norm, const abut_pcg_reach *reach, abut_pcg_report *rep, abut_err *err)
{
    double rz = 0, first = 0, now;
    for (int k = 0, look = FIRST_LOOK;; k++) {
        rep->iterations = k;
        rep->residual = norm(s, s->r) / b_norm;
        rep->converged = rep->residual <= (reach->drop > 0 ? 0 : reach->close);
        if (rep->converged || k == reach->max_iterations) return ABUT_OK;
        abut_status rc = measure(s, k, &now, err);
        if (rc) return rc;
        if (k == 0) first = now;
        if (reach->drop > 0) {
            rep->converged = now <= reach->drop * first;
        } else if (k == look) {
            rep->converged = is_near(s, x, k, rep->residual, reach);
            look = next_look(k);
        }
        if (rep->converged) return ABUT_OK;
        rc = advance(s, k, now, &rz, x, err);
        if (rc) return rc;
    }
}

/* Stopping criterion of a solve: the tolerance, or one of the goals. */
typedef struct request {
    abut_pcg_opts opts;
    const abut_pcg_goal *goal;
    const abut_pcg_reach *reach;
} request;

/* x: the multiple of M's guess that is nearest to A^-1 b in the norm of A, 0 without one; r = b - A x. */
static abut_status start(pcg *s, const double *b, double *x, abut_err *err)
{
    memcpy(s->r, b, s->n * sizeof *b);
    const abut_status rc = s->M && s->M->guess ? s->M->guess(s->M->of, b, x, err) : ABUT_OK;
    if (rc || !s->M || !s->M->guess) return rc;
    abut_operator_multiply(s->A, x, s->q);
    const double xq = abut_dot(x, s->q, s->n, s->part), length = xq > 0 ? abut_dot(x, b, s->n, s->part) / xq : 0;
    for (size_t i = 0; i < s->n; i++) x[i] *= length;
    axpy(s->n, -length, s->q, s->r);
    return ABUT_OK;
}

static abut_status solve(pcg *s, const double *b, double *x, request want, abut_pcg_report *rep, abut_err *err)
{
    const double b_norm = norm(s, b);
    if (b_norm == 0 || want.goal || want.reach) memset(x, 0, s->n * sizeof *x);
    *rep = (abut_pcg_report){ b_norm == 0, 0, 0 };
    if (b_norm == 0) return ABUT_OK;
    if (!isfinite(b_norm)) return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients: |b| is %g", b_norm);
    abut_status rc = s->inverse ? invert_diagonal(s, err) : ABUT_OK;
    if (rc) return rc;
    if (want.goal || want.reach) {
        if (want.reach && !(want.reach->drop > 0)) rc = start(s, b, x, err);
        else memcpy(s->r, b, s->n * sizeof *b);
        if (rc) return rc;
        return want.goal ? approach(s, x, b_norm, *want.goal, rep, err) : reach_for(s, x, b_norm, want.reach, rep, err);
    }
    abut_operator_multiply(s->A, x, s->r);
    for (size_t i = 0; i < s->n; i++) s->r[i] = b[i] - s->r[i];
    return iterate(s, x, b_norm, want.opts, rep, err);
}

static abut_status begin(const abut_operator *A, const abut_precond *M, const double *b, double *x, request want,
                         abut_pcg_report *report, abut_arena *scratch, abut_err *err)
{
    const int32_t rows = abut_operator_rows(A);
    if (M && M->rows != rows)
        return abut_fail(err, ABUT_E_ARG, "conjugate gradients: matrix of %d block rows, preconditioner of %d", rows, M->rows);
    const abut_mark mark = abut_arena_mark(scratch);
    const size_t n = 3 * (size_t)rows;
    pcg s = { .A = A, .M = M, .n = n };
    double **const vec[] = { &s.r, &s.z, &s.q };
    int ok = (s.p = ABUT_NEW(scratch, double, n + 1)) != NULL;     /* the first direction adds 0 times it */
    for (int k = 0; k < 3; k++) ok &= (*vec[k] = ABUT_ROOM(scratch, double, n + 1)) != NULL;
    s.part = ABUT_ROOM(scratch, double, abut_blocks(n) + 1);
    if (!M) s.inverse = ABUT_ROOM(scratch, double, 3 * n + 1);
    if (want.reach) s.alpha = ABUT_ROOM(scratch, double, (size_t)want.reach->max_iterations + 1);
    if (want.reach) s.beta = ABUT_ROOM(scratch, double, (size_t)want.reach->max_iterations + 1);
    ok &= s.part && (M || s.inverse) && (!want.reach || (s.alpha && s.beta));
    const abut_status rc = ok ? solve(&s, b, x, want, report, err)
                              : abut_fail(err, ABUT_E_NOMEM, "conjugate gradients: scratch for %zu rows", n);
    abut_arena_release(scratch, mark);
    return rc;
}

abut_status abut_pcg_solve(const abut_operator *A, const abut_precond *M, const double *b, double *x, abut_pcg_opts opts,
                           abut_pcg_report *report, abut_arena *scratch, abut_err *err)
{
    if (!(opts.tolerance > 0) || opts.max_iterations < 0)
        return abut_fail(err, ABUT_E_ARG, "conjugate gradients: tolerance %g, %d iterations", opts.tolerance,
                         opts.max_iterations);
    return begin(A, M, b, x, (request){ .opts = opts }, report, scratch, err);
}

abut_status abut_pcg_approach(const abut_operator *A, const abut_precond *M, const double *b, double *x, abut_pcg_goal goal,
                              abut_pcg_report *report, abut_arena *scratch, abut_err *err)
{
    if (!(goal.force > 0 && goal.share > 0 && goal.within > 0) || goal.max_iterations < 1)
        return abut_fail(err, ABUT_E_ARG, "conjugate gradients: force %g, share %g, within %g, %d iterations", goal.force,
                         goal.share, goal.within, goal.max_iterations);
    return begin(A, M, b, x, (request){ .goal = &goal }, report, scratch, err);
}

abut_status abut_pcg_solve_near(const abut_operator *A, const abut_precond *M, const double *b, double *x, abut_pcg_reach reach,
                                abut_pcg_report *report, abut_arena *scratch, abut_err *err)
{
    if (!(reach.far > 0 && reach.close > 0 && reach.drop >= 0) || reach.max_iterations < 0)
        return abut_fail(err, ABUT_E_ARG, "conjugate gradients: far %g, close %g, drop %g, %d iterations", reach.far, reach.close,
                         reach.drop, reach.max_iterations);
    return begin(A, M, b, x, (request){ .reach = &reach }, report, scratch, err);
}

/* ---- linear solvers by conjugate gradients ---- */

#define MOST 5000           /* iterations */
#define SERVES 8            /* matrices */
#define SLOWER 1.3          /* times the iterations with new factors: as long as that costs less than these */
#define TOO_SLOW 3          /* times them: the solution is given up */

void abut_cg_forget(abut_cg_state *s)
{
    s->matrices = 0;
    s->fresh = s->last = 0;
}

void abut_cg_clear(abut_cg_state *s)
{
    abut_arena_clear(&s->scratch);
    *s = (abut_cg_state){ 0 };
}

static abut_status make_factors(abut_cg_state *s, const abut_operator *A, abut_cg_renew_fn *renew, void *self, abut_err *err)
{
    abut_cg_forget(s);
    const abut_status rc = renew(self, A, err);
    s->matrices = !rc;
    return rc;
}

abut_status abut_cg_factor(abut_cg_state *s, const abut_operator *A, abut_cg_renew_fn *renew, void *self, abut_err *err)
{
    const int is_due = !s->matrices || s->matrices >= SERVES || s->last > SLOWER * s->fresh;
    if (is_due) return make_factors(s, A, renew, self, err);
    s->matrices++;
    return ABUT_OK;
}

static int most_of(const abut_solve_goal *goal)
{
    return goal->most > 0 ? goal->most : MOST;
}

/* Largest number of iterations on old factors: those of new ones for all digits of the goal, times TOO_SLOW. */
static int patience(const abut_cg_state *s, const abut_solve_goal *goal)
{
    const double least = goal->drop > 0 ? sqrt(goal->drop) : goal->close;
    const double most = TOO_SLOW * s->fresh * -log10(least);
    return most > 0 && most < most_of(goal) ? (int)most + 1 : most_of(goal);
}

static abut_status solve_to_goal(abut_cg_state *s, const abut_operator *A, const abut_precond *M, const double *b,
                         const abut_solve_goal *goal, int most, double *x, abut_pcg_report *rep, abut_err *err)
{
    const abut_pcg_reach reach = { .far = goal->far, .close = goal->close, .fraction = goal->fraction, .near = goal->near,
                                   .within = goal->within, .drop = goal->drop, .max_iterations = most };
    const abut_status rc = abut_pcg_solve_near(A, M, b, x, reach, rep, &s->scratch, err);
    if (rc) return rc;
    s->iterations += rep->iterations;
    s->last = rep->residual > 0 && rep->residual < 1 ? rep->iterations / fmax(-log10(rep->residual), 1) : 0;
    if (!(s->fresh > 0)) s->fresh = s->last;
    return ABUT_OK;
}

abut_status abut_cg_solve(abut_cg_state *s, const abut_operator *A, const abut_precond *M, abut_cg_renew_fn *renew, void *self,
                          const double *b, const abut_solve_goal *goal, double *x, abut_err *err)
{
    const int are_old = M && s->matrices > 1;
    abut_pcg_report rep;
    s->iterations = 0;      /* and if it fails: A is not positive definite */
    abut_status rc = solve_to_goal(s, A, M, b, goal, are_old ? patience(s, goal) : most_of(goal), x, &rep, err);
    if (!rc && !rep.converged && are_old) {
        s->iterations = 0;
        rc = make_factors(s, A, renew, self, err);
        if (!rc) rc = solve_to_goal(s, A, M, b, goal, most_of(goal), x, &rep, err);
    }
    if (rc || rep.converged) return rc;
    if (goal->drop > 0)
        return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients: residual %.3g of the right-hand side after %d iterations, "
                         "want its square in the norm of the preconditioner at %.3g", rep.residual, rep.iterations, goal->drop);
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g", rep.residual,
                     rep.iterations, rep.residual > goal->far ? goal->far : goal->close);
}
