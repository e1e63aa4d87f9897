#include "solve/direction/newton.h"

#include "energy/barrier.h"
#include "energy/joint.h"
#include "model/motion.h"
#include "solve/direction/lbfgs.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 8         /* steps kept in slow ends */

typedef struct newton {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    double *ahead;              /* [6 nv] the gradient with bounds ahead, the direction without; or Newton's; NULL until needed */
    abut_joints *joints;        /* NULL: none */
    double *push, *found;       /* [3 nv] of passes for joints; [2 njr] their multipliers, kg, what is open, m */
    abut_quasi tail;            /* steps of a slow end */
    double last;                /* m: largest entry of the last direction */
    int slow;                   /* slow directions in a row */
} newton;

/* Returns 1 if dir[3 nv] descends along the gradient g[3 nv]. */
static int descends(const abut_objective *p, const double *g, const double *dir)
{
    double slope = 0;
    for (size_t i = 0; i < 3 * (size_t)p->model->nv; i++) slope += g[i] * dir[i];
    return slope < 0;
}

static void release(void *self)
{
    newton *n = self;
    abut_newton_solve_clear(&n->solve);
    abut_newton_matrix_clear(&n->matrix);
    abut_quasi_clear(&n->tail);
    ABUT_FREE(n->ahead, n->push, n->found, n);
}

static abut_status joints_new(newton *n, abut_err *err)
{
    return ABUT_ARRAYS(ABUT_ITEMS(n->push, 3 * (size_t)n->p->model->nv), ABUT_ITEMS(n->found, 2 * (size_t)n->p->model->njr))
        ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "joints of %d nodes", n->p->model->nv);
}

static abut_status make(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err)
{
    newton *n = calloc(1, sizeof *n);
    if (!n) return abut_fail(err, ABUT_E_NOMEM, "Newton direction");
    n->p = p;
    n->joints = abut_joints_of(&p->terms);
    const int straight = !p->model->nsh && !p->model->nrd;      /* steps of shells and rods are corrected: rotate.c */
    n->tail.history = straight && !n->joints && !(opt->user->search.without & ABUT_WITHOUT_PAIRS) ? PAIRS : 0;
    abut_status rc = abut_newton_matrix_init(&n->matrix, p, opt->user->search.without, err);
    if (!rc) rc = abut_newton_solve_init(&n->solve, p, opt, 1, err);
    if (!rc && n->joints) rc = joints_new(n, err);
    if (!rc && opt->instead && !n->joints && !p->step.ranks && !(opt->user->search.without & ABUT_WITHOUT_REUSE))
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
    abut_quasi_begin(&n->tail);
    n->slow = 0;
    n->last = 0;
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
static void name_node(const newton *n, abut_direction_info *info)
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

/* ---- joints: directions that keep or close them (energy/joint.h) ---- */

enum { PASSES_MOST = 30 };

/* Row r of C, of joint j, times dir[3 nv]. */
static double times(const abut_joints *t, int32_t j, int32_t r, const double *dir)
{
    const int32_t *node = t->model->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *C = t->C + ABUT_JOINT_WIDTH * (size_t)r;
    double sum = 0;
    for (int k = 0; k < ABUT_JOINT_WIDTH; k++)
        sum += node[k / 3] < 0 ? 0 : C[k] * dir[3 * (size_t)node[k / 3] + (size_t)(k % 3)];
    return sum;
}

/* to[3 nv] += by row r of C. */
static void add_times(const abut_joints *t, int32_t j, int32_t r, double by, double *to)
{
    const int32_t *node = t->model->joint_node + ABUT_JOINT_NODES * (size_t)j;
    const double *C = t->C + ABUT_JOINT_WIDTH * (size_t)r;
    for (int k = 0; k < ABUT_JOINT_WIDTH; k++)
        if (node[k / 3] >= 0) to[3 * (size_t)node[k / 3] + (size_t)(k % 3)] += by * C[k];
}

/* rest[3 nv] = -g - H dir - C^T (found + rho e), e[njr] = C dir + gap (NULL: 0).  H: the matrix without joints. */
static void find_rest(newton *n, const double *g, const double *gap, const double *dir, double *e, double *rest)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    abut_bsr H = n->matrix.A;
    H.val = n->matrix.apart;
    abut_rows_gather(p, dir, 1, n->solve.rhs);
    abut_bsr_multiply(&H, n->solve.rhs, n->solve.sol);
    abut_rows_scatter(p, n->solve.sol, -1, rest);
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++) rest[i] -= g[i];
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
            e[r] = times(n->joints, j, r, dir) + (gap ? gap[r] : 0);
            add_times(n->joints, j, r, -(n->found[r] + n->joints->rho[j] * e[r]), rest);
        }
}

/* Changes dir = -M^-1 g, M = H + rho C^T C, until H dir + C^T found = -g and C dir = -gap[njr] (NULL: 0), both to rounding, for
 * rho is far above much of H: passes with the factor of M. */
static abut_status close_joints(newton *n, const double *g, const double *gap, double *dir, abut_report *rep, abut_err *err)
{
    const abut_objective *p = n->p;
    const abut_model *m = p->model;
    const abut_joints *t = n->joints;
    const size_t n3 = 3 * (size_t)m->nv;
    double *e = n->found + m->njr, last = INFINITY, left = INFINITY;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) n->found[r] = t->rho[j] * times(t, j, r, dir);
    for (int pass = 0; pass < PASSES_MOST && left > 4 * DBL_EPSILON * abut_largest(dir, n3); pass++) {
        find_rest(n, g, gap, dir, e, n->push);
        abut_rows_gather(p, n->push, 1, n->solve.rhs);
        n->solve.exact = 1;
        const abut_status rc = abut_newton_solve_again(&n->solve, &n->matrix, p, rep, err);
        if (rc) return rc;
        abut_rows_scatter(p, n->solve.sol, 1, n->push);
        const double now = abut_largest(n->push, n3);
        if (!(now <= 0.5 * last)) break;
        left = isfinite(last) ? now * (now / last) : now;   /* passes shrink by about one factor */
        last = now;
        for (size_t i = 0; i < n3; i++) dir[i] += n->push[i];
        for (int32_t j = 0; j < m->njo; j++)
            for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
                n->found[r] += t->rho[j] * (e[r] + times(t, j, r, n->push));
    }
    return ABUT_OK;
}

/* The objective gets the multipliers of the direction, and the weight of open rows in it. */
static void keep_multipliers(newton *n)
{
    abut_joints *t = n->joints;
    const abut_model *m = t->model;
    const double weight = n->p->step.h_force * n->p->step.h_force;
    for (int32_t j = 0; j < m->njo; j++) {
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++)
            t->newtons[r] += (n->found[r] + t->sigma[j] * t->g[r]) / weight;
        t->sigma[j] = t->rho[j] / ABUT_JOINT_RHO;
    }
}

/* ---- slow ends of minimisations ----
 *
 * The projected matrix is stiffer than the objective where bodies roll, twist or fold: there each direction is a small part of
 * what is left, for hundreds of iterations.  Once directions shrink slowly, they are those of L-BFGS (sparse/lbfgs.h) with the
 * matrix at hand as initial matrix: pairs of the last steps have the curvature of the objective. */

#define SHRINKS 0.5     /* slow directions have at least this part of the length before, */
#define GROWS 2         /* and at most so many times that: others leave a saddle */
#define WHOLE 0.5       /* of a direction: shorter steps say little about the end */
#define LEARN 3         /* slow directions in a row after which steps are kept, */
#define SLOW 6          /* and after which they are used */

/* m: largest entry of the last step that q knows */
static double last_step(const abut_quasi *q)
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)q->nrow; i++) most = fmax(most, fabs(q->x0[i] - q->x1[i]));
    return most;
}

/* Learns from the step to `at`; *pairs 1: the direction from there is by pairs of steps. */
static abut_status learn(newton *n, const abut_point *at, int *pairs, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &n->tail;
    const int skipped = rep->pairs_skipped;
    *pairs = 0;
    if (!q->history) return ABUT_OK;
    if (n->slow < LEARN) return abut_quasi_begin(q), ABUT_OK;
    const int had = q->has_last;
    const abut_status rc = abut_quasi_learn(q, n->p, at, rep, err);
    rep->pairs_skipped = skipped;       /* a figure of other solvers */
    if (rc) return rc;
    if (had && (!q->started || last_step(q) < WHOLE * n->last)) {
        abut_lbfgs_forget(&q->pairs);
        n->slow = 0;
    }
    q->started = 1;
    *pairs = q->pairs.n && n->slow >= SLOW && !n->solve.exact;
    return ABUT_OK;
}

typedef struct inverse {
    newton *n;
    abut_report *rep;
} inverse;

/* sol = A^-1 rhs, [3 nrow], by a first solution with A */
static abut_status apply_inverse(void *of, const double *rhs, double *sol, abut_err *err)
{
    const inverse *f = of;
    abut_newton_solve *s = &f->n->solve;
    const size_t bytes = 3 * (size_t)f->n->p->nrow * sizeof *sol;
    memcpy(s->rhs, rhs, bytes);
    const abut_status rc = abut_newton_solve_first(s, &f->n->matrix, f->n->p, f->rep, err);
    memcpy(sol, s->sol, bytes);
    return rc;
}

/* n->solve.sol = B n->solve.rhs, B of the pairs */
static abut_status solve_by_pairs(newton *n, abut_report *rep, abut_err *err)
{
    abut_quasi *q = &n->tail;
    const size_t bytes = 3 * (size_t)n->p->nrow * sizeof *q->x1;
    inverse of = { n, rep };
    const abut_precond D = { apply_inverse, &of, n->p->nrow, NULL };
    memcpy(q->x1, n->solve.rhs, bytes);
    const abut_status rc = abut_lbfgs_apply(&q->pairs, &D, q->x1, q->g1, err);
    memcpy(n->solve.sol, q->g1, bytes);
    return rc;
}

/* dir = -H^-1 g, H summed at `at` with the present state of the terms; pairs: -B g. */
static abut_status solve(newton *n, const abut_point *at, const double *g, int pairs, double *dir, abut_direction_info *info,
                         abut_report *rep, abut_err *err)
{
    const abut_objective *p = n->p;
    abut_status rc = abut_newton_solve_sum(&n->solve, &n->matrix, p, at, rep, err);
    if (rc) return rc;
    abut_rows_gather(p, g, -1, n->solve.rhs);
    n->solve.exact |= n->joints != NULL;
    rc = pairs ? solve_by_pairs(n, rep, err) : abut_newton_solve_first(&n->solve, &n->matrix, p, rep, err);
    if (rc == ABUT_E_NUMERIC) name_node(n, info);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * p->nrow), rc;
    abut_rows_scatter(p, n->solve.sol, 1, dir);
    return n->joints ? close_joints(n, g, n->joints->g, dir, rep, err) : ABUT_OK;
}

static abut_status reserve(newton *n, abut_err *err)
{
    const int32_t nv = n->p->model->nv;
    if (!n->ahead) n->ahead = malloc(6 * (size_t)nv * sizeof *n->ahead);
    return n->ahead ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "direction of %d nodes", nv);
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
    const abut_status no_room = reserve(n, err);
    if (no_room) return no_room;
    double *g = n->ahead, *plain = n->ahead + n3;
    memcpy(g, at->g, n3 * sizeof *g);
    memcpy(plain, dir, n3 * sizeof *plain);
    abut_objective_ahead_gradient(p, &here, g);
    const abut_status rc = solve(n, at, g, 0, dir, info, rep, err);
    info->exact = 0, info->ahead = 1;
    if (rc || descends(p, at->g, dir)) return rc;
    abut_objective_ahead_forget(p);
    memcpy(dir, plain, n3 * sizeof *dir);
    info->ahead = 0;
    return ABUT_OK;
}

static abut_status resolve(void *self, const double *g, double *dir, abut_report *rep, abut_err *err)
{
    newton *n = self;
    abut_rows_gather(n->p, g, -1, n->solve.rhs);
    n->solve.exact |= n->joints != NULL;
    const abut_status rc = abut_newton_solve_again(&n->solve, &n->matrix, n->p, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * n->p->nrow), rc;
    abut_rows_scatter(n->p, n->solve.sol, 1, dir);
    return n->joints ? close_joints(n, g, NULL, dir, rep, err) : ABUT_OK;
}

/* Takes Newton's direction in place of one by pairs that does not descend, or that is short while Newton's is not. */
static abut_status check_pairs(newton *n, const abut_point *at, double *dir, abut_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)n->p->model->nv;
    const double length = abut_largest(dir, n3), enough = n->p->model->tolerance[0] * n->p->model->h[0];
    const int descending = descends(n->p, at->g, dir);
    if (descending && length > enough) return ABUT_OK;
    abut_status rc = reserve(n, err);
    if (!rc) rc = resolve(n, at->g, n->ahead, rep, err);
    if (rc || (descending && abut_largest(n->ahead, n3) <= enough)) return rc;
    memcpy(dir, n->ahead, n3 * sizeof *dir);
    abut_lbfgs_forget(&n->tail.pairs);
    n->slow = 0;
    return ABUT_OK;
}

static abut_status find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep, abut_err *err)
{
    newton *n = self;
    const int exact = n->solve.exact;
    *info = (abut_direction_info){ .bad_node = -1 };
    n->solve.bad_node = -1;
    abut_objective_ahead_forget(n->p);
    int pairs = 0;
    abut_status rc = agree(n->p, at, err);
    if (!rc) rc = learn(n, at, &pairs, rep, err);
    if (!rc) rc = solve(n, at, at->g, pairs, dir, info, rep, err);
    if (!rc && pairs) rc = check_pairs(n, at, dir, rep, err);
    const double length = abut_largest(dir, 3 * (size_t)n->p->model->nv);
    if (!pairs) n->slow = length > SHRINKS * n->last && length <= GROWS * n->last ? n->slow + 1 : 0;
    n->last = length;
    info->exact = n->matrix.exact && !n->solve.shifted;
    if (!rc && !exact) rc = look_at_bounds(n, at, dir, info, rep, err);
    if (rc) return rc;
    if (n->joints) keep_multipliers(n);
    info->approximate = abut_newton_solve_is_approximate(&n->solve);
    abut_newton_matrix_majorise(&n->matrix, n->p, at, dir);
    abut_newton_solve_stats(&n->solve, rep);
    return ABUT_OK;
}

const abut_direction_ops abut_direction_newton = {
    .name = "newton", .make = make, .begin_step = begin_step, .find = find, .require_exact = require_exact,
    .resolve = resolve, .free = release,
};
