/* Quasi-Newton directions: p = -B g, B the limited-memory BFGS operator (sparse/lbfgs.h) of the last iterations on an initial
 * matrix (solve/direction/initial.h) of the first iterate of the minimisation (Li 2020, 3.4; Liu 2018, 7.2).  The matrix is
 * renewed if its directions bring little progress, and contacts have changed, or the curvature along the last step differed from
 * the one that it has.
 *
 * If the objective changes (barrier stiffness, augmented Lagrangian), the pairs are forgotten and the initial matrix is renewed.
 * All state ends with the minimisation, so a restart from a frame gives the same bytes.
 *
 * A short quasi-Newton direction does not prove that a minimum is near.  If the stopping rule reads Newton directions and p is
 * short, Newton's direction is computed by conjugate gradients with the initial matrix as preconditioner.  It replaces p, and it
 * alone can end the minimisation.  The threshold for "short" adapts to comparisons with Newton's directions that were long. */
#include "solve/direction/lbfgs.h"

#include "base/timer.h"
#include "energy/friction.h"
#include "sparse/pcg.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state of a minimisation ---- */

/* as contacts change the initial matrix becomes stale: it is replaced when this many iterations have not reduced the decrement
 * by this factor; */
#define PATIENCE 5
#define PROGRESS 0.1
/* or this many, if the curvature of the last step is BENT times larger or smaller than that of the matrix: strong deformation in
 * one step makes the Hessian of its start obsolete */
#define PATIENCE_BENT 3
#define BENT 2
#define SAME_GAP 1.25       /* barriers whose smallest gap has changed by less are as stiff as they were */

void abut_quasi_begin(abut_quasi *q)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = q->has_last = q->required = 0;
    q->trust = 1;
}

void abut_quasi_clear(abut_quasi *q)
{
    abut_lbfgs_clear(&q->pairs);
    ABUT_FREE(q->x0, q->g0, q->x1, q->g1);
}

static abut_status reserve(abut_quasi *q, int32_t nrow, abut_err *err)
{
    const size_t n = 3 * (size_t)nrow;
    if (n > q->cap) {
        double **const field[] = { &q->x0, &q->g0, &q->x1, &q->g1 };
        q->cap = 0;
        for (int i = 0; i < 4; i++) {
            free(*field[i]);
            *field[i] = malloc(n * sizeof(double));
            if (!*field[i]) return abut_fail(err, ABUT_E_NOMEM, "quasi-Newton direction: %d nodes", nrow);
        }
        q->cap = n;
    }
    return abut_lbfgs_size(&q->pairs, n, q->history, err);
}

/* Curvature along the youngest pair, over the squared length. */
static double curvature_met(const abut_lbfgs *l)
{
    const double *s = l->s + (size_t)l->newest * l->size;
    return l->ys[l->newest] / abut_dot(s, s, l->size, l->part);
}

abut_status abut_quasi_learn(abut_quasi *q, const abut_objective *p, const abut_point *at, abut_report *rep, abut_err *err)
{
    assert(q && p);
    if (!q->started || q->nrow != p->nrow || q->changes != p->changes) {
        const abut_status rc = reserve(q, p->nrow, err);
        if (rc) return rc;
        q->started = q->has_last = 0;
        q->nrow = p->nrow;
        q->changes = p->changes;
    }
    abut_rows_gather(p, at->x, 1, q->x1);
    abut_rows_gather(p, at->g, 1, q->g1);
    q->bend = 1;
    if (q->has_last) {
        const int kept = abut_lbfgs_push(&q->pairs, q->x0, q->x1, q->g0, q->g1);
        if (kept && q->curvature > 0) q->bend = curvature_met(&q->pairs) / q->curvature;
        rep->pairs_skipped += !kept && q->history;
    }
    q->curvature = 0;
    double *const x0 = q->x0, *const g0 = q->g0;
    q->x0 = q->x1;
    q->g0 = q->g1;
    q->x1 = x0;
    q->g1 = g0;
    q->has_last = 1;
    return ABUT_OK;
}

static uint64_t mix(uint64_t key, int32_t value)
{
    return (key ^ (uint32_t)value) * 0x100000001b3;     /* FNV-1a, by numbers */
}

static struct abut_contacts_seen contacts_at(const abut_objective *p, const abut_pairs *pairs)
{
    uint64_t key = 0xcbf29ce484222325;
    for (size_t i = 0; i < pairs->n; i++)
        for (int k = 0; k < 4; k++) key = mix(key, pairs->vert[i][k]);
    for (size_t i = 0; i < pairs->n_plane; i++) key = mix(key, pairs->plane_vert[i]);
    return (struct abut_contacts_seen){ key, abut_pairs_smallest_gap(&p->cm, pairs, NULL) };
}

/* Returns 1 with friction, or if the contacts differ from those that the initial matrix was found with. */
static int contacts_changed(const abut_quasi *q, const abut_objective *p, const abut_pairs *pairs)
{
    if (abut_lag_of(&p->terms)->n) return 1;
    if (pairs->n + pairs->n_plane == 0) return 0;
    const struct abut_contacts_seen now = contacts_at(p, pairs);
    return now.key != q->contacts.key || now.gap > SAME_GAP * q->contacts.gap || q->contacts.gap > SAME_GAP * now.gap;
}

/* Notes a new initial matrix, of the iterate with these contacts. */
static void quasi_renew(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs)
{
    abut_lbfgs_forget(&q->pairs);
    q->started = 1;
    q->contacts = contacts_at(p, pairs);
    q->age = q->mark_age = 0;
    q->mark_slope = INFINITY;
}

/* Returns 1 if contacts or curvature have changed too much for the initial matrix, judged by the progress of its directions.
 * slope = g B g, kg m^2, is twice the decrease that they promise.  Call once for each iterate. */
static int quasi_is_stale(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs, double slope)
{
    q->age++;
    if (!(slope > PROGRESS * q->mark_slope)) {
        q->mark_slope = slope;
        q->mark_age = q->age;
    }
    const int idle = q->age - q->mark_age, bent = !(q->bend * BENT >= 1 && q->bend <= BENT);
    return (bent && idle >= PATIENCE_BENT) || (idle >= PATIENCE && contacts_changed(q, p, pairs));
}

/* ---- the Newton matrix as an initial matrix ---- */

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

static abut_status hessian_settle(void *self, abut_err *err)
{
    return iterates(self) ? make_factor(self, err) : ABUT_OK;
}

static abut_precond hessian_precond(void *self, int symmetric)
{
    hessian *h = self;
    (void)symmetric;
    return iterates(h) ? (abut_precond){ hessian_apply, h, h->matrix->A.n, NULL } : abut_linear_precond(&h->solve->linear);
}

static int hessian_is_exact(const void *self)
{
    return !((const hessian *)self)->single;
}

static abut_status hessian_refine(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
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

const abut_initial_ops abut_initial_hessian = { .needs = ABUT_NEEDS_MATRIX | ABUT_NEEDS_FACTOR, .size = sizeof(hessian),
                                                .factor = hessian_factor, .settle = hessian_settle, .precond = hessian_precond,
                                                .is_exact = hessian_is_exact, .refine = hessian_refine,
                                                .stats = hessian_stats };

/* ---- directions ---- */

#define SHORTEST_TRIAL 0.1  /* first trial of the search: Li 2020, eq. 3.14 */
/* factor by which the next direction has to be shorter before a comparison, after one that was short while Newton's was not; and
 * its least value */
#define DISTRUST 0.5
#define LEAST_TRUST 0.05
/* Newton directions by conjugate gradients: relative residual for long directions, and for those that the convergence test reads;
 * iterations before the initial matrix is renewed; most iterations */
#define FAR 1e-3
#define CLOSE 1e-8
#define BEFORE_RENEWAL 200
#define MOST 5000

typedef struct lbfgs {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    const abut_initial_ops *ops;
    void *initial;
    abut_quasi quasi;
    int exact;              /* the direction is Newton's */
    abut_arena scratch;
} lbfgs;

/* Tells the initial matrix the newest pair. */
static void teach(const lbfgs *d)
{
    const abut_lbfgs *l = &d->quasi.pairs;
    const double *y = l->n ? l->y + (size_t)l->newest * l->size : NULL;
    if (d->ops->learn) d->ops->learn(d->initial, y ? l->ys[l->newest] : 0, y ? abut_dot(y, y, l->size, l->part) : 0);
}

/* D times a number. */
typedef struct scaled {
    abut_precond D;
    double by;
} scaled;

static abut_status scaled_apply(void *of, const double *r, double *z, abut_err *err)
{
    const scaled *s = of;
    const abut_status rc = s->D.apply(s->D.of, r, z, err);
    for (size_t i = 0; i < 3 * (size_t)s->D.rows; i++) z[i] *= s->by;
    return rc;
}

/* (s . y)/(y . D y) of the newest pair: factor with which D is right on y in the mean (Nocedal and Wright 2006, eq.
 * 7.20 with D in place of the identity); 1 without one.  d->solve.rhs and sol are lost. */
static abut_status scale_of(lbfgs *d, const abut_precond *D, double *by, abut_err *err)
{
    const abut_lbfgs *l = &d->quasi.pairs;
    *by = 1;
    if (!l->n) return ABUT_OK;
    const double *y = l->y + (size_t)l->newest * l->size;
    memcpy(d->solve.rhs, y, l->size * sizeof *y);
    const abut_status rc = D->apply(D->of, d->solve.rhs, d->solve.sol, err);
    const double yDy = rc ? 0 : abut_dot(y, d->solve.sol, l->size, l->part);
    if (yDy > 0) *by = l->ys[l->newest] / yDy;
    return rc;
}

/* d->solve.sol = B g; *slope = g B g, minus the slope along -d->solve.sol. */
static abut_status apply(lbfgs *d, int symmetric, double *slope, abut_err *err)
{
    const abut_quasi *q = &d->quasi;
    teach(d);
    abut_precond D = d->ops->precond(d->initial, symmetric);
    scaled fitted = { D, 1 };
    if (d->ops->scaled && !(d->solve.user->search.without & ABUT_WITHOUT_SCALE)) {
        const abut_status rc = scale_of(d, &D, &fitted.by, err);
        if (rc) return rc;
        D = (abut_precond){ scaled_apply, &fitted, D.rows, NULL };
    }
    memcpy(d->solve.rhs, q->g0, 3 * (size_t)q->nrow * sizeof *d->solve.rhs);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, d->solve.rhs, d->solve.sol, err);
    if (!rc) *slope = abut_dot(q->g0, d->solve.sol, 3 * (size_t)q->nrow, q->pairs.part);
    return rc;
}

/* apply, until the direction descends: with the pairs, without them, then with a symmetric initial matrix. */
static abut_status apply_down(lbfgs *d, double *slope, abut_report *rep, abut_err *err)
{
    abut_status rc = apply(d, 0, slope, err);
    for (int symmetric = 0; !rc && !(*slope > 0) && symmetric < 2; symmetric++) {
        abut_lbfgs_forget(&d->quasi.pairs);
        rep->not_descending++;
        rc = apply(d, symmetric, slope, err);
    }
    return rc;
}

static abut_status renew(lbfgs *d, const abut_point *at, abut_report *rep, abut_err *err)
{
    const abut_initial_at where = { d->p, at, &d->matrix, &d->solve };
    abut_status rc = ABUT_OK;
    rep->initial_matrices++;
    if (d->ops->needs & ABUT_NEEDS_MATRIX) rc = abut_newton_matrix_sum(&d->matrix, &d->solve.order, d->p, at, rep, err);
    const double clock = abut_time_wall();
    if (!rc) rc = d->ops->factor(d->initial, &where, rep, err);
    if (!(d->ops->needs & ABUT_NEEDS_FACTOR)) rep->seconds.factor += abut_time_wall() - clock;
    if (rc) return rc;
    quasi_renew(&d->quasi, d->p, &at->pairs);
    return ABUT_OK;
}

/* Largest residual of A sol = g, relative to g, with which a new factor is good enough. */
#define FAIR 0.1

static int is_fair(lbfgs *d)
{
    const size_t n = 3 * (size_t)d->matrix.A.n;
    const double *g = d->quasi.g0;
    abut_bsr_multiply(&d->matrix.A, d->solve.sol, d->solve.rhs);
    for (size_t i = 0; i < n; i++) d->solve.rhs[i] -= g[i];
    double *part = d->quasi.pairs.part;
    const double left2 = abut_dot(d->solve.rhs, d->solve.rhs, n, part), all2 = abut_dot(g, g, n, part);
    return left2 <= FAIR * FAIR * all2;
}

/* Returns the first step length: the minimum of the quadratic model with the last Newton matrix (Li 2020, eq. 3.14); 1 if the
 * initial matrix needs no Newton matrix (Liu 2018, 4.2). */
static double first_trial(lbfgs *d, double slope)
{
    if (!(d->ops->needs & ABUT_NEEDS_MATRIX)) return 1;
    abut_bsr_multiply(&d->matrix.A, d->solve.sol, d->solve.rhs);
    const size_t n = 3 * (size_t)d->matrix.A.n;
    const double curvature = abut_dot(d->solve.sol, d->solve.rhs, n, d->quasi.pairs.part);
    if (!(curvature > 0)) return 1;
    d->quasi.curvature = curvature / abut_dot(d->solve.sol, d->solve.sol, n, d->quasi.pairs.part);
    return fmin(1, fmax(SHORTEST_TRIAL, slope / curvature));
}

static abut_status solve_to(lbfgs *d, const double *g, double tolerance, int most, int *done, abut_report *rep, abut_err *err)
{
    const abut_precond M = d->ops->precond(d->initial, 1);
    const abut_operator A = { .matrix = &d->matrix.A };
    abut_pcg_report pcg = { 0 };
    const abut_status rc = abut_pcg_solve(&A, &M, g, d->solve.sol, (abut_pcg_opts){ tolerance, most }, &pcg, &d->scratch, err);
    rep->cg_iterations += pcg.iterations;
    *done = pcg.converged;
    if (rc || *done || most < MOST) return rc;
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g",
                     pcg.residual, pcg.iterations, tolerance);
}

/* d->solve.sol = A^-1 g with the Newton matrix of the iterate, by conjugate gradients on the initial matrix. */
static abut_status newton(lbfgs *d, const abut_point *at, abut_report *rep, abut_err *err)
{
    const abut_objective *p = d->p;
    const double close = p->model->tolerance[0] * p->model->h[0];
    const size_t n = 3 * (size_t)p->nrow;
    int done = 0, most = BEFORE_RENEWAL;
    rep->newton_solves++;
    abut_objective_majorant_forget(p);      /* friction by its second derivative */
    d->quasi.required = d->solve.exact = 0;
    abut_status rc = abut_newton_matrix_sum(&d->matrix, &d->solve.order, p, at, rep, err);
    if (!rc && d->ops->settle) rc = d->ops->settle(d->initial, err);
    while (!rc && !done) {
        const double clock = abut_time_wall();
        rc = solve_to(d, d->quasi.g0, FAR, most, &done, rep, err);
        if (!rc && done && abut_largest(d->solve.sol, n) <= 2 * close)
            rc = solve_to(d, d->quasi.g0, CLOSE, most, &done, rep, err);
        rep->seconds.solve += abut_time_wall() - clock;
        if (rc || done) break;
        rc = renew(d, at, rep, err);
        most = MOST;
    }
    return rc ? (void)abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc : ABUT_OK;
}

/* d->solve.sol = B g for the iterate; *fresh 1: without pairs, the initial matrix is of this iterate. */
static abut_status direct(lbfgs *d, const abut_point *at, double *slope, int *fresh, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    *fresh = !q->started;
    abut_status rc = *fresh ? renew(d, at, rep, err) : ABUT_OK;
    const double clock = abut_time_wall();
    if (!rc) rc = apply_down(d, slope, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc || *fresh || !quasi_is_stale(q, d->p, &at->pairs, *slope)) return rc;
    *fresh = 1;
    rc = renew(d, at, rep, err);
    return rc ? rc : apply_down(d, slope, rep, err);
}

static int is_exact(const lbfgs *d)
{
    return d->ops->is_exact && d->ops->is_exact(d->initial);
}

/* Refines the factor of a new initial matrix that is not fair, if it has a better one. */
static abut_status refine(lbfgs *d, const abut_point *at, double *slope, abut_report *rep, abut_err *err)
{
    const abut_initial_at where = { d->p, at, &d->matrix, &d->solve };
    if (!d->ops->refine || is_exact(d) || is_fair(d)) return ABUT_OK;
    const abut_status rc = d->ops->refine(d->initial, &where, rep, err);
    return rc ? rc : apply_down(d, slope, rep, err);
}

/* Returns 1 if Newton's direction has to replace this one (first trial `length`): it is short, or does not descend. */
static int wants_proof(const lbfgs *d, double slope, double length, double close)
{
    const abut_quasi *q = &d->quasi;
    return q->required || !(slope > 0) || (q->proves && length <= q->trust * close);
}

/* -sol / *trial is the direction at the iterate. */
static abut_status direction(lbfgs *d, const abut_point *at, double *trial, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &d->quasi;
    const double close = d->p->model->tolerance[0] * d->p->model->h[0];
    double slope = 0;
    int fresh = 0;
    abut_status rc = abut_quasi_learn(q, d->p, at, rep, err);
    if (!rc) rc = direct(d, at, &slope, &fresh, rep, err);
    if (!rc && fresh) rc = refine(d, at, &slope, rep, err);
    if (rc) return rc;

    /* a factor of the whole Newton matrix gives Newton's direction, unless it has the majorant of friction */
    d->exact = fresh && is_exact(d) && abut_objective_majorant_is_exact(d->p);
    *trial = d->exact ? 1 : first_trial(d, slope);
    const double length = *trial * abut_largest(d->solve.sol, 3 * (size_t)q->nrow);
    if (d->exact) {
        rep->newton_solves++;
        q->required = 0;
    } else if (wants_proof(d, slope, length, close)) {
        rc = newton(d, at, rep, err);
        if (rc) return rc;
        const double longer = abut_largest(d->solve.sol, 3 * (size_t)q->nrow);
        if (longer > close && length <= q->trust * close) q->trust = fmax(LEAST_TRUST, DISTRUST * length / longer);
        d->exact = 1;
        q->curvature = 0;
        *trial = 1;
    }
    return ABUT_OK;
}

/* Replaces a direction that does not descend: by one without history, then with a symmetric initial matrix, then by Newton's; rep
 * counts them. */
abut_status abut_lbfgs_find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                            abut_err *err)
{
    lbfgs *d = self;
    double trial = 1;
    *info = (abut_direction_info){ .bad_node = -1 };
    d->solve.bad_node = -1;
    const abut_status rc = direction(d, at, &trial, rep, err);
    if (rc == ABUT_E_NUMERIC) {
        info->guessed = d->solve.bad_node < 0;
        info->bad_node = info->guessed ? abut_newton_matrix_worst_node(&d->matrix, d->p) : d->solve.bad_node;
    }
    if (rc) return rc;
    info->exact = d->exact;
    abut_rows_scatter(d->p, d->solve.sol, -trial, dir);
    abut_newton_matrix_majorise(&d->matrix, d->p, at, dir);
    d->ops->stats(d->initial, rep);
    return ABUT_OK;
}

abut_status abut_lbfgs_resolve_exact(void *self, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    lbfgs *d = self;
    int done;
    abut_rows_gather(d->p, g, 1, d->solve.rhs);
    memset(d->solve.sol, 0, 3 * (size_t)d->p->nrow * sizeof *d->solve.sol);
    const double clock = abut_time_wall();
    const abut_status rc = solve_to(d, d->solve.rhs, FAR, MOST, &done, rep, err);
    rep->seconds.solve += abut_time_wall() - clock;
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * d->p->nrow), rc;
    abut_rows_scatter(d->p, d->solve.sol, -1, dir);
    return ABUT_OK;
}

void abut_lbfgs_begin_step(void *self)
{
    lbfgs *d = self;
    abut_newton_solve_begin_step(&d->solve, &d->matrix);
    abut_objective_majorant_forget(d->p);
    abut_quasi_begin(&d->quasi);
}

void abut_lbfgs_require_exact(void *self)
{
    lbfgs *d = self;
    abut_objective_majorant_forget(d->p);
    d->quasi.required = d->solve.exact = 1;
}

void abut_lbfgs_free(void *self)
{
    lbfgs *d = self;
    if (d->initial && d->ops->clear) d->ops->clear(d->initial);
    free(d->initial);
    abut_quasi_clear(&d->quasi);
    abut_newton_solve_clear(&d->solve);
    abut_newton_matrix_clear(&d->matrix);
    abut_arena_clear(&d->scratch);
    free(d);
}

abut_status abut_lbfgs_make(void **self, const abut_initial_ops *ops, const abut_objective *p, const abut_direction_options *opt,
                            abut_err *err)
{
    const abut_solve_options *o = opt->user;
    const int history = o->quasi.history >= 0 ? o->quasi.history : ABUT_LBFGS_PAIRS;
    lbfgs *d = calloc(1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "quasi-Newton direction");
    *d = (lbfgs){ .p = p, .ops = ops, .quasi = { .history = history, .proves = opt->proves, .trust = 1 } };
    abut_status rc = abut_newton_matrix_init(&d->matrix, p, o->search.without, err);
    if (!rc) rc = abut_newton_solve_init(&d->solve, p, opt, (ops->needs & ABUT_NEEDS_FACTOR) != 0, err);
    if (!rc && ops->needs & ABUT_NEEDS_FACTOR && opt->instead && !opt->proves && !(o->search.without & ABUT_WITHOUT_REUSE))
        rc = abut_newton_solve_iterate_instead(&d->solve, p, opt->instead, err);
    if (!rc && !(d->initial = calloc(1, ops->size))) rc = abut_no_memory("initial matrix", err);
    if (rc) return abut_lbfgs_free(d), rc;
    if (ops->make) ops->make(d->initial, opt);
    *self = d;
    return ABUT_OK;
}

ABUT_LBFGS_DIRECTION(lbfgs_h, "lbfgs-h", abut_initial_hessian);
ABUT_LBFGS_DIRECTION(lbfgs_pd, "lbfgs-pd", abut_initial_laplacian);
ABUT_LBFGS_DIRECTION(dot, "dot", abut_initial_subdomains);
