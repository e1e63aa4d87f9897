#include "solve/newton.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/characteristic.h"
#include "energy/stretch_limit.h"
#include "energy/thin_limit.h"
#include "linalg/pcg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* constants of the augmented Lagrangian and of the stiffness adaptation (Li 2020, App. E, F) */
#define AL_START 1e6
#define AL_CAP 1e8
#define AL_DONE 0.999
#define AL_NEAR 0.99
#define AL_SETTLED 1e-2 /* of the scripted speed: slower than this the others follow */
#define SOFT_GAP 0.1 /* of dhat: below it the barrier is stiffened */
/* A direction is swept first to this many times the share that the one before it was bounded at, then again so many times
 * further: impacts bound many in a row, and the pairs that a long sweep meets grow with its square. */
#define MORE_THAN_LAST 4
#define LONGEST 8           /* times a direction that turns out too short; a power of 2, so that scaling is exact */
#define CLEAR_OF_NOISE 1e3  /* a decrease that says something about curvature is that many times the rounding of the objective */
/* scripted motion is blocked when this many updates in a row bring no more than this share of its way */
#define BLOCKED_UPDATES 200
#define BLOCKED_GAIN 1e-6
/* a body has gone so many lengths of the scene, and nothing was in its way: nothing holds it */
#define ADRIFT 100
/* a leap has so many iterates at most, and lands at a bound on its last direction or so many halves of it */
#define LEAP_LONGEST 2
#define LEAP_TRIALS 3
#define LEAP_SHARE 0.9      /* of a rise of the objective that rods have when it is one to leap over */

abut_solver_opts abut_solver_defaults(void)
{
    return (abut_solver_opts){ .slack_ccd = 0.2, .slack_plane = 0.1, .slack_volume = 0.2, .slack_stretch = 0.5,
                               .max_newton = 10000, .history = 5, .threads = 1 };
}

abut_status abut_solver_init(abut_solver *s, const abut_model *model, const abut_solver_opts *opt, abut_err *err)
{
    *s = (abut_solver){ .opt = *opt };
    abut_status rc = abut_problem_init(&s->prob, model, err);
    if (rc) return rc;
    rc = abut_direction_init(&s->dir, &s->prob, opt->method, opt->threads, err);
    s->dir.quasi.history = opt->history;
    s->dir.initial.given = opt->cut;
    s->dir.initial.parts = opt->parts;
    s->dir.quasi.proves = !(opt->norm > 0);
    const size_t nv3 = 3 * (size_t)model->nv, nc3 = 3 * (size_t)model->nc + 1;
    double **field[] = { &s->x, &s->xt, &s->p, &s->g, &s->y, &s->yt };
    for (int i = 0; i < 6 && !rc; i++) {
        *field[i] = calloc(i < 4 ? nv3 : nc3, sizeof(double));
        if (!*field[i]) rc = abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    }
    struct abut_leap *leap = &s->leap;
    if (!rc && model->nrd) {
        leap->x = malloc(nv3 * sizeof(double));
        leap->p = malloc(nv3 * sizeof(double));
        leap->tension = malloc((size_t)model->nrd * sizeof(double));
        if (!leap->x || !leap->p || !leap->tension) rc = abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    }
    if (rc) abut_solver_clear(s);
    return rc;
}

void abut_solver_clear(abut_solver *s)
{
    abut_problem_clear(&s->prob);
    abut_direction_clear(&s->dir);
    abut_candidates_clear(&s->cand);
    abut_nearby_clear(&s->near);
    abut_path_clear(&s->path);
    abut_pairs_clear(&s->pairs);
    abut_pairs_clear(&s->trial);
    abut_arena_clear(&s->scratch);
    free(s->leap.x);
    free(s->leap.p);
    free(s->leap.tension);
    free(s->x);
    free(s->xt);
    free(s->p);
    free(s->g);
    free(s->y);
    free(s->yt);
    *s = (abut_solver){ 0 };
}

/* Contacts at s->x, among the candidates of the way from there to y1 (NULL: of s->x alone). */
static abut_status contacts_among(abut_solver *s, const double *y1, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    double t0 = abut_time_wall();
    abut_collmesh_gather(&p->cm, s->x, s->y);
    abut_status rc = abut_candidates_near(&p->cm, s->path.from, s->y, y1, p->model->dhat[0], p->obstacle, &s->near, &s->cand,
                                          err);
    double t1 = abut_time_wall();
    rep->seconds.candidates += t1 - t0;
    if (!rc) rc = abut_pairs_find(&p->cm, &s->cand, s->y, p->obstacle, &s->pairs, err);
    rep->seconds.pairs += abut_time_wall() - t1;
    return rc;
}

abut_status abut_solver_contacts(abut_solver *s, abut_report *rep, abut_err *err)
{
    return contacts_among(s, NULL, rep, err);
}

/* Where the scripts lead, and the others at share * h v from here. */
static void coasting_point(const abut_solver *s, const double *v, double share, double *xt)
{
    const abut_problem *p = &s->prob;
    const double h = share * p->model->h[0];
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        xt[i] = p->held[i / 3] ? p->target[i] : p->row[i / 3] >= 0 ? s->x[i] + h * v[i] : s->x[i];
}

abut_status abut_solver_contacts_before(abut_solver *s, const double *v, abut_report *rep, abut_err *err)
{
    coasting_point(s, v, 1, s->xt);
    abut_collmesh_gather(&s->prob.cm, s->xt, s->yt);
    return contacts_among(s, s->yt, rep, err);
}

static void point_at(const abut_solver *s, double alpha, double *xt)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    for (size_t i = 0; i < n3; i++) xt[i] = s->x[i] + alpha * s->p[i];
}

/* The largest collision-free share of s->p up to `share`; candidates of that sweep in s->cand. */
static abut_status sweep(abut_solver *s, double share, abut_limit *swept, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    double clock = abut_time_wall();
    *swept = (abut_limit){ .alpha = 1, .node = { -1, -1, -1, -1 }, .tet = -1 };
    point_at(s, share, s->xt);
    abut_collmesh_gather(&p->cm, s->xt, s->yt);
    abut_status rc = abut_candidates_near(&p->cm, s->path.from, s->y, s->yt, p->model->dhat[0], p->obstacle, &s->near, &s->cand, err);
    rep->candidates = abut_candidates_count(&s->cand);
    rep->seconds.candidates += abut_time_wall() - clock;
    if (rc) return rc;
    clock = abut_time_wall();
    rc = abut_limit_ccd(&p->cm, &s->cand, s->y, s->yt, s->opt.slack_ccd, swept, err);
    rep->seconds.ccd += abut_time_wall() - clock;
    return rc;
}

/* As abut_solver_bound; the share of s->p that is swept first may save sweeping it all. */
static abut_status bound_from(abut_solver *s, double first, double most, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const double clock = abut_time_wall();
    *lim = (abut_limit){ .alpha = most, .node = { -1, -1, -1, -1 }, .tet = -1 };
    if (most < 1) lim->kind = ABUT_LIMIT_LENGTH;
    point_at(s, 1, s->xt);
    abut_collmesh_gather(&p->cm, s->xt, s->yt);
    abut_limit_planes(&p->cm, s->y, s->yt, p->obstacle, s->opt.slack_plane, lim);
    abut_limit_inversion(p->model, s->x, s->p, s->opt.slack_volume, lim);
    abut_limit_stretch(&p->thin, s->x, s->p, s->opt.slack_stretch, lim);
    rep->seconds.ccd += abut_time_wall() - clock;

    /* the sweep need not go beyond the bounds found so far, nor beyond the first collision */
    abut_limit swept;
    double share = fmin(first, lim->alpha);
    abut_status rc = sweep(s, share, &swept, rep, err);
    while (!rc && swept.alpha == 1 && share < lim->alpha) {
        share = fmin(MORE_THAN_LAST * share, lim->alpha);
        rc = sweep(s, share, &swept, rep, err);
    }
    if (rc) return rc;
    if (swept.alpha < 1) {
        swept.alpha *= share;
        *lim = swept;
    }
    return ABUT_OK;
}

abut_status abut_solver_bound(abut_solver *s, double most, abut_limit *lim, abut_report *rep, abut_err *err)
{
    return bound_from(s, most, most, lim, rep, err);
}

double abut_solver_progress(const abut_solver *s)
{
    const abut_problem *p = &s->prob;
    double left = 0, way = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        if (!p->held[i / 3]) continue;
        left += (p->target[i] - s->x[i]) * (p->target[i] - s->x[i]);
        way += (p->target[i] - p->xn[i]) * (p->target[i] - p->xn[i]);
    }
    return way > 0 ? 1 - sqrt(left / way) : 1;
}

/* The fastest a prescribed node is asked to move in this step, m/s. */
static double scripted_speed(const abut_problem *p)
{
    double big = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) big = fmax(big, fabs(p->target[i] - p->xn[i]));
    return big / p->model->h[0];
}

static void al_stop(abut_solver *s)
{
    s->prob.al.on = 0;
    abut_problem_number(&s->prob);
}

static void al_start(abut_solver *s)
{
    abut_lagrangian *al = &s->prob.al;
    al->on = 1;
    al->kap = AL_START;
    memset(al->lam, 0, 3 * (size_t)s->prob.model->nv * sizeof *al->lam);
    abut_problem_number(&s->prob);
}

/* Prescribed nodes straight towards their targets, as far as the bound allows: alpha of what is left. */
static abut_status carry_held(abut_solver *s, double *alpha, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const int32_t n3 = 3 * p->model->nv;
    int moves = 0;
    *alpha = 1;
    for (int32_t i = 0; i < n3; i++) {
        s->p[i] = p->held[i / 3] ? p->target[i] - s->x[i] : 0;
        moves |= s->p[i] != 0;
    }
    if (!moves) return ABUT_OK;

    abut_limit lim;
    abut_status rc = abut_solver_bound(s, 1, &lim, rep, err);
    if (rc) return rc;
    for (int32_t i = 0; i < n3; i++)
        if (p->held[i / 3]) s->x[i] = lim.alpha == 1 ? p->target[i] : s->x[i] + lim.alpha * s->p[i];
    *alpha = lim.alpha;
    return abut_path_add(&s->path, &s->prob.cm, s->prob.obstacle, s->x, &s->near, err);
}

abut_status abut_solver_move_held(abut_solver *s, abut_report *rep, abut_err *err)
{
    double alpha;
    al_stop(s);
    const abut_status rc = carry_held(s, &alpha, rep, err);
    if (!rc && alpha < AL_DONE) al_start(s);
    return rc;
}

/* The augmented Lagrangian has done its part.  An equilibrium is one of the scripted positions, not of 0.999 of the way. */
static abut_status al_finish(abut_solver *s, abut_report *rep, abut_err *err)
{
    double alpha;
    al_stop(s);
    if (s->prob.w.inertia) return ABUT_OK;
    const abut_status rc = carry_held(s, &alpha, rep, err);
    return rc ? rc : abut_solver_contacts(s, rep, err);
}

/* |p|_inf / h, m/s; infinite when p is not finite */
static double newton_speed(const abut_solver *s)
{
    double big = 0;
    for (int32_t i = 0; i < 3 * s->prob.model->nv; i++) big = fabs(s->p[i]) < INFINITY ? fmax(big, fabs(s->p[i])) : INFINITY;
    return big / s->prob.model->h[0];
}

/* Energy at the trial point s->xt, on the way of the last sweep; infeasible ones count as +inf. */
static abut_status trial_energy(abut_solver *s, abut_energy *e, double *sum, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    abut_collmesh_gather(&p->cm, s->xt, s->yt);
    double clock = abut_time_wall();
    abut_status rc = abut_pairs_find(&p->cm, &s->cand, s->yt, p->obstacle, &s->trial, err);
    rep->seconds.pairs += abut_time_wall() - clock;
    *sum = INFINITY;
    if (rc == ABUT_E_GEOM) return ABUT_OK;
    if (rc) return rc;
    clock = abut_time_wall();
    rc = abut_problem_energy(p, s->xt, s->yt, &s->trial, e, &s->scratch, err);
    rep->seconds.line_search += abut_time_wall() - clock;
    if (!rc) *sum = abut_energy_sum(e);
    if (isnan(*sum)) *sum = INFINITY;
    return rc;
}

static void accept_trial(abut_solver *s)
{
    double *x = s->x, *y = s->y;
    const abut_pairs pairs = s->pairs;
    s->x = s->xt;
    s->y = s->yt;
    s->pairs = s->trial;
    s->xt = x;
    s->yt = y;
    s->trial = pairs;
}

/* Backtracking from the bound until the objective does not grow beyond rounding; *now: its terms here, then there.
 * *moved 0: no such step. */
static abut_status backtrack(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved,
                             abut_report *rep, abut_err *err)
{
    const double start = abut_energy_sum(now), noise = abut_energy_noise(&s->prob, now);
    *moved = 0;
    for (double alpha = bound; alpha > bound * 0x1p-60; alpha /= 2) {
        abut_energy e;
        double sum;
        point_at(s, alpha, s->xt);
        abut_status rc = trial_energy(s, &e, &sum, rep, err);
        if (rc) return rc;
        it->trials++;
        rep->trials++;
        if (sum <= start + noise) {
            it->alpha = alpha;
            *moved = 1;
            *now = e;
            return ABUT_OK;
        }
    }
    return ABUT_OK;
}

/* After a step as far as a bound of a shell allows, trial point s->xt: halves it while that lowers the objective.  Barriers
 * there are so soft that near a bound, where they have long turned the slope, the objective is still below its start; steps
 * that stop at the bound again and again would end in it. */
static abut_status draw_back(abut_solver *s, abut_energy *now, abut_iteration *it, abut_report *rep, abut_err *err)
{
    for (;;) {
        abut_energy e;
        double sum;
        point_at(s, it->alpha / 2, s->xt);
        abut_status rc = trial_energy(s, &e, &sum, rep, err);
        it->trials++;
        rep->trials++;
        if (rc || !(sum < abut_energy_sum(now))) {
            point_at(s, it->alpha, s->xt);
            return rc ? rc : trial_energy(s, now, &sum, rep, err);
        }
        it->alpha /= 2;
        *now = e;
    }
}

abut_status abut_solver_coast(abut_solver *s, const double *v, int *coasts, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const size_t n3 = 3 * (size_t)p->model->nv;
    abut_limit lim;
    abut_energy e;
    double stay = 0, coast = 0;
    *coasts = 0;
    al_stop(s);
    coasting_point(s, v, 1, s->xt);
    for (size_t i = 0; i < n3; i++) s->p[i] = s->xt[i] - s->x[i];
    abut_status rc = abut_solver_bound(s, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return ABUT_OK;   /* a gap too small to move at all: the minimiser tells which */
    if (rc || lim.alpha < 1) return rc;

    coasting_point(s, v, 0, s->xt);
    if (memcmp(s->xt, s->x, n3 * sizeof *s->x)) {
        rc = trial_energy(s, &e, &stay, rep, err);
    } else {
        rc = abut_problem_energy(p, s->x, s->y, &s->pairs, &e, &s->scratch, err);
        stay = abut_energy_sum(&e);
    }
    if (rc) return rc;
    coasting_point(s, v, 1, s->xt);
    rc = trial_energy(s, &e, &coast, rep, err);
    if (rc || !(coast < stay)) return rc;
    *coasts = 1;
    accept_trial(s);
    return abut_path_add(&s->path, &s->prob.cm, s->prob.obstacle, s->x, &s->near, err);
}

/* Stiffens the barrier, inside its bounds, when the smallest gap is a small part of dhat and still shrinking.  Li 2020,
 * App. F, waits for 1e-9 of the scene length.  But a barrier so soft that it balances an impact only at a hundredth of dhat
 * is as steep as 1/d there: a direction leads far beyond it, the CCD bound cuts that again and again, and gaps grow back by
 * no more than a factor of 2 in an iteration. */
static void adapt_kappa(abut_problem *p, double gap_before, double gap_after)
{
    const double soft = SOFT_GAP * p->model->dhat[0];
    if (gap_before < soft && gap_after < soft && gap_after < gap_before) {
        const double stiffer = fmin(p->model->kappa_max[0], 2 * p->kappa);
        p->changes += stiffer > p->kappa;
        p->kappa = stiffer;
    }
}

/* Stiffens the stretch limits, inside their bounds, when a shell has stayed close to one for two iterations (Li 2020, 5.4.1). */
static abut_status adapt_strain_kappa(abut_solver *s, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_thin_stretch now;
    if (!p->model->shell_limit) return ABUT_OK;
    const abut_status rc = abut_thin_stretch_find(&p->thin, s->x, &now, &s->scratch, err);
    if (rc) return rc;
    s->tight = now.room < ABUT_STRAIN_CLOSE ? s->tight + 1 : 0;
    if (s->tight < 2) return ABUT_OK;
    const double stiffer = fmin(ABUT_STRAIN_KAPPA_MAX, 2 * p->strain_kappa);
    p->changes += stiffer > p->strain_kappa;
    p->strain_kappa = stiffer;
    s->tight = 0;
    return ABUT_OK;
}

/* Whether the scripted motion has stopped getting on, though all else has settled every time it was pushed harder. */
static int push_is_vain(struct abut_push *push, double eta)
{
    if (eta > push->eta + BLOCKED_GAIN) *push = (struct abut_push){ .eta = eta };
    else push->updates++;
    return push->updates >= BLOCKED_UPDATES;
}

/* After an iteration: AL_WAIT while targets are out of reach, AL_BLOCKED when they will stay so. */
enum { AL_IDLE, AL_WAIT, AL_BLOCKED };

/* One update of the augmented Lagrangian after an iteration (App. E; it waits for a residual of 1e-2 l per second, which
 * depends on the unit of time: here the scripted speed is the measure). */
static abut_status al_update(abut_solver *s, double residual, int *script, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    *script = p->al.on ? AL_WAIT : AL_IDLE;
    if (!p->al.on) return ABUT_OK;
    const double eta = abut_solver_progress(s);
    if (eta >= AL_DONE) return al_finish(s, rep, err);  /* the others have yet to settle */
    if (residual >= fmax(AL_SETTLED * scripted_speed(p), p->model->tolerance[0])) return ABUT_OK;
    if (eta < AL_NEAR && p->al.kap < AL_CAP) {
        p->al.kap *= 2;
    } else {
        for (int32_t i = 0; i < 3 * p->model->nv; i++)
            if (p->held[i / 3]) p->al.lam[i] -= p->al.kap * sqrt(p->model->mass[i / 3]) * (s->x[i] - p->target[i]);
    }
    p->changes++;
    if (push_is_vain(&s->push, eta)) *script = AL_BLOCKED;
    return ABUT_OK;
}

static void note_limit(abut_report *rep, const abut_limit *lim)
{
    if (lim->alpha < 1 && (!rep->limit_iteration || lim->alpha < rep->limit.alpha)) {
        rep->limit = *lim;
        rep->limit_iteration = rep->newton;
    }
}

static abut_status give_up(abut_solver *s, abut_failure_kind kind, abut_err *err)
{
    s->failed.kind = kind;
    return abut_failure_say(s, err);
}

/* s->g at s->x, and *e there unless it is known. */
static abut_status look(abut_solver *s, int known, abut_energy *e, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    double clock = abut_time_wall();
    abut_status rc = known ? ABUT_OK : abut_problem_energy(p, s->x, s->y, &s->pairs, e, &s->scratch, err);
    rep->seconds.line_search += abut_time_wall() - clock;
    clock = abut_time_wall();
    if (!rc) rc = abut_problem_gradient(p, s->x, s->y, &s->pairs, ABUT_TERM_ALL, s->g, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    return rc;
}

/* The characteristic norm of the gradient is small enough: the other stopping rule. */
static abut_status norm_is_small(abut_solver *s, int *small, abut_report *rep, abut_err *err)
{
    *small = 0;
    if (!(s->opt.norm > 0)) return ABUT_OK;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *part = ABUT_ROOM(&s->scratch, double, abut_blocks(n3) + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %zu numbers", n3);
    rep->norm = sqrt(abut_dot(s->g, s->g, n3, part)) / s->characteristic;
    abut_arena_release(&s->scratch, mark);
    *small = rep->norm <= s->opt.norm;
    return ABUT_OK;
}

/* s->p at s->x for s->g. */
static abut_status aim(abut_solver *s, abut_report *rep, abut_err *err)
{
    const abut_status rc = abut_direction_find(&s->dir, &s->prob, s->x, s->y, &s->pairs, s->g, s->p, rep, err);
    if (rc != ABUT_E_NUMERIC || s->dir.bad_node < 0) return rc;
    s->failed.node = s->dir.bad_node;
    return give_up(s, ABUT_FAILED_INDEFINITE, err);
}

/* Without inertia a body that nothing holds goes as far as it is let: one length of the scene at a time. */
static double longest_step(const abut_solver *s, double speed)
{
    const abut_model *m = s->prob.model;
    const double way = speed * m->h[0];
    return !s->prob.w.inertia && way > m->length[0] ? m->length[0] / way : 1;
}

/* The node that goes furthest along s->p. */
static int32_t fastest_node(const abut_solver *s)
{
    int32_t far = 0;
    for (int32_t i = 1; i < 3 * s->prob.model->nv; i++)
        if (fabs(s->p[i]) > fabs(s->p[far])) far = i;
    return far / 3;
}

static void scale_direction(abut_solver *s, double by)
{
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) s->p[i] *= by;
}

/* How many times longer s->p should have been, going by its curvature as the full step has shown it: a power of 2.  The
 * projected Hessian is stiffer than the true one, which may even be indefinite: near a buckling point many directions in a
 * row are the same and much too short. */
static double better_length(const abut_solver *s, double start, const abut_energy *reached)
{
    double slope = 0, length = 1;
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) slope -= s->g[i] * s->p[i];
    const double curvature = 2 * (abut_energy_sum(reached) - start + slope);
    if (!(slope > CLEAR_OF_NOISE * abut_energy_noise(&s->prob, reached))) return 1;
    while (length < LONGEST && 2 * length * curvature <= slope) length *= 2;
    return length;
}

/* After a full step from the objective `start`: tries the better length, but of a bound on the way only half; whichever of
 * the two points is lower becomes the trial point, with *now. */
static abut_status lengthen(abut_solver *s, double start, abut_energy *now, abut_iteration *it, abut_report *rep, abut_err *err)
{
    const double length = better_length(s, start, now), reached = abut_energy_sum(now);
    if (length == 1) return ABUT_OK;
    abut_limit lim;
    abut_energy e;
    double sum;
    scale_direction(s, length);
    abut_status rc = bound_from(s, 1, longest_step(s, length * it->residual), &lim, rep, err);
    const double alpha = lim.alpha < 1 ? 0.5 * lim.alpha : 1;
    if (!rc && alpha * length > 1) {
        point_at(s, alpha, s->xt);
        rc = trial_energy(s, &e, &sum, rep, err);
        it->trials++;
        rep->trials++;
        if (!rc && sum < reached) {
            it->alpha = alpha * length;
            *now = e;
            return ABUT_OK;
        }
    }
    scale_direction(s, 1 / length);
    if (rc) return rc;
    point_at(s, 1, s->xt);
    return trial_energy(s, now, &sum, rep, err);
}

/* ---- leaps ----
 *
 * A direction that turns segments of a stiff rod stretches them by the square of the turn, which the next direction takes back.
 * Between the two the objective is higher, and a search that never lets it rise takes an eighth of every turn.  So a rise that
 * is one of the rods is let pass as long as the objective soon is lower than before it (Chamberlain et al. 1982); if it is not,
 * everything is as if nothing had happened, but for the time. */

static void leap_begin(abut_solver *s, const abut_energy *e)
{
    struct abut_leap *leap = &s->leap;
    const size_t bytes = 3 * (size_t)s->prob.model->nv * sizeof(double);
    memcpy(leap->x, s->x, bytes);
    memcpy(leap->p, s->p, bytes);
    memcpy(leap->tension, s->prob.tension, (size_t)s->prob.model->nrd * sizeof(double));
    leap->points = s->path.n;
    leap->e = *e;
}

/* Back to where the leap began, with the direction and the bound from there; *e the energy. */
static abut_status leap_back(abut_solver *s, abut_energy *e, abut_limit *lim, abut_report *rep, abut_err *err)
{
    struct abut_leap *leap = &s->leap;
    const size_t bytes = 3 * (size_t)s->prob.model->nv * sizeof(double);
    memcpy(s->x, leap->x, bytes);
    memcpy(s->p, leap->p, bytes);
    memcpy(s->prob.tension, leap->tension, (size_t)s->prob.model->nrd * sizeof(double));
    abut_path_cut(&s->path, leap->points);
    leap->length = 0;
    leap->vain = 1;
    *e = leap->e;
    const abut_status rc = abut_solver_contacts(s, rep, err);
    return rc ? rc : bound_from(s, 1, longest_step(s, newton_speed(s)), lim, rep, err);
}

/* Energy at x + alpha p, the trial point then. */
static abut_status try_at(abut_solver *s, double alpha, abut_energy *e, double *sum, abut_iteration *it, abut_report *rep,
                          abut_err *err)
{
    point_at(s, alpha, s->xt);
    it->alpha = alpha;
    it->trials++;
    rep->trials++;
    return trial_energy(s, e, sum, rep, err);
}

/* Whether the way to the bound is to be the first of a leap: higher, by what rods have more of. */
static abut_status leap_or_search(abut_solver *s, double bound, abut_energy *e, abut_iteration *it, int *moved, abut_report *rep,
                                  abut_err *err)
{
    const struct abut_leap *leap = &s->leap;
    const double start = abut_energy_sum(e);
    if (!leap->x || leap->vain || !s->dir.exact || s->prob.al.on) return backtrack(s, bound, e, it, moved, rep, err);
    abut_energy there;
    double sum;
    abut_status rc = try_at(s, bound, &there, &sum, it, rep, err);
    if (rc) return rc;
    const double rise = sum - start;
    *moved = 1;
    if (rise <= abut_energy_noise(&s->prob, e)) {
        *e = there;
    } else if (isfinite(sum) && there.thin - e->thin > LEAP_SHARE * rise) {
        leap_begin(s, e);
        s->leap.length = 1;
        *e = there;
    } else {
        rc = backtrack(s, bound / 2, e, it, moved, rep, err);
    }
    return rc;
}

/* The next iterate of a leap: its last if the objective is lower there than at the start, or the start and what backtracking
 * finds from there. */
static abut_status leap_on(abut_solver *s, abut_limit *lim, abut_energy *e, abut_iteration *it, int *moved, abut_report *rep,
                           abut_err *err)
{
    const double start = abut_energy_sum(&s->leap.e);
    abut_energy there;
    double sum = INFINITY, alpha = lim->alpha;
    abut_status rc = ABUT_OK;
    *moved = 1;
    for (int k = 0; k < LEAP_TRIALS && !rc; k++, alpha /= 2) {
        rc = try_at(s, alpha, &there, &sum, it, rep, err);
        if (!rc && sum <= start) {
            s->leap.length = 0;
            *e = there;
            return ABUT_OK;
        }
    }
    if (!rc && s->leap.length < LEAP_LONGEST) {
        rc = try_at(s, lim->alpha, &there, &sum, it, rep, err);
        if (!rc && isfinite(sum)) {
            s->leap.length++;
            *e = there;
            return ABUT_OK;
        }
    }
    if (!rc) rc = leap_back(s, e, lim, rep, err);
    return rc ? rc : backtrack(s, lim->alpha / 2, e, it, moved, rep, err);
}

/* From s->x along s->p as far as the bound and the objective allow; e is the energy here, then there. */
static abut_status go(abut_solver *s, abut_energy *e, abut_iteration *it, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_limit lim;
    abut_status rc = bound_from(s, MORE_THAN_LAST * s->failed.bound, longest_step(s, it->residual), &lim, rep, err);
    if (rc == ABUT_E_GEOM && s->leap.length) rc = leap_back(s, e, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return give_up(s, ABUT_FAILED_TOUCHING, err);
    if (rc) return rc;
    it->bound = lim.alpha;
    it->limit = lim.kind;
    note_limit(rep, &lim);
    s->failed.bound = lim.alpha;
    s->failed.limit = lim;

    int moved = 0;
    const double gap = abut_pairs_smallest_gap(&p->cm, &s->pairs, NULL), before = abut_energy_sum(e);
    rc = s->leap.length ? leap_on(s, &lim, e, it, &moved, rep, err) : leap_or_search(s, lim.alpha, e, it, &moved, rep, err);
    const int alone = moved && !s->leap.length;
    if (!rc && alone && lim.kind == ABUT_LIMIT_STRETCH && it->alpha == lim.alpha) rc = draw_back(s, e, it, rep, err);
    const int full = alone && it->alpha == 1 && it->residual > p->model->tolerance[0];
    if (!rc && s->lengthens && full) rc = lengthen(s, before, e, it, rep, err);
    if (rc) return rc;
    s->failed.alpha = it->alpha;
    if (moved) {
        it->decrease = before - abut_energy_sum(e);
        const int fell = s->leap.length || it->decrease > abut_energy_noise(p, e);
        if (!fell) abut_direction_insist(&s->dir);      /* it may be rounding that leads on */
        abut_problem_tension_forecast(p, s->x, s->xt, it->alpha);
        accept_trial(s);
        rc = abut_path_add(&s->path, &p->cm, p->obstacle, s->x, &s->near, err);
        if (rc) return rc;
        if (!s->leap.length) {      /* a leap is judged by one objective */
            adapt_kappa(p, gap, abut_pairs_smallest_gap(&p->cm, &s->pairs, NULL));
            rc = adapt_strain_kappa(s, err);
            if (rc) return rc;
        }
    } else if (!s->dir.exact) {
        abut_direction_insist(&s->dir);     /* Newton's direction may still lead on */
    } else if (it->residual > p->model->tolerance[0] || s->opt.norm > 0) {
        return give_up(s, ABUT_FAILED_STALLED, err);
    }
    it->contacts = (int32_t)(s->pairs.n + s->pairs.n_plane);
    s->adrift += lim.kind == ABUT_LIMIT_LENGTH && it->alpha == lim.alpha;
    if (s->adrift < ADRIFT) return ABUT_OK;
    s->failed.node = fastest_node(s);
    return give_up(s, ABUT_FAILED_FLOATING, err);
}

/* The scale of the characteristic norm in this step, when it is the stopping rule. */
static abut_status characterise(abut_solver *s, abut_err *err)
{
    const abut_model *m = s->prob.model;
    if (!(s->opt.norm > 0)) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *node = ABUT_ROOM(&s->scratch, double, m->nv + 1);
    if (!node) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %d nodes", m->nv);
    s->characteristic = s->prob.w.psi * abut_characteristic_force(&s->prob.elastic, s->prob.held, node);
    abut_arena_release(&s->scratch, mark);
    if (s->characteristic > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "characteristic norm: the model has no tetrahedra that move to measure forces by");
}

abut_status abut_solver_minimise(abut_solver *s, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_energy e;
    int known = 0;   /* e is the energy at s->x */
    s->failed = (abut_failure){ .residual = NAN, .bound = 1, .node = -1 };
    s->push = (struct abut_push){ .eta = 0 };
    s->adrift = s->tight = 0;
    s->leap.length = s->leap.vain = 0;
    abut_problem_tension(p, s->x);

    abut_status rc = characterise(s, err);
    for (int k = 1; !rc && k <= s->opt.max_newton; k++) {
        int small;
        s->failed.iterations = k;
        rc = look(s, known, &e, rep, err);
        if (!rc) rc = norm_is_small(s, &small, rep, err);
        if (!rc && small && !p->al.on) return ABUT_OK;
        if (!rc) rc = aim(s, rep, err);
        if (rc) return rc;
        abut_iteration *it = abut_report_iteration(rep);
        if (!it) return abut_fail(err, ABUT_E_NOMEM, "step report: iteration %d", k);
        s->failed.residual = rep->residual = it->residual = newton_speed(s);
        if (!isfinite(it->residual)) return give_up(s, ABUT_FAILED_NOT_FINITE, err);

        const double kappa = p->kappa, strain_kappa = p->strain_kappa;
        const int slow = it->residual <= p->model->tolerance[0], fair = !slow || abut_problem_tension_fair(p, s->x);
        rc = go(s, &e, it, rep, err);
        if (rc) return rc;
        int script;
        rc = al_update(s, it->residual, &script, rep, err);
        if (rc) return rc;
        if (script == AL_BLOCKED) return give_up(s, ABUT_FAILED_BLOCKED, err);
        known = script == AL_IDLE && p->kappa == kappa && p->strain_kappa == strain_kappa;
        if (slow && fair && !s->leap.length && s->dir.exact && !(s->opt.norm > 0) && script == AL_IDLE) return ABUT_OK;
        if (slow && !s->dir.exact) s->dir.kinks.n = 0;      /* it may be the matrix that says so */
        if (slow && !fair) abut_problem_tension(p, s->x);
    }
    return rc ? rc : give_up(s, ABUT_FAILED_ITERATIONS, err);
}

abut_status abut_solver_residual(abut_solver *s, double *residual, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_problem_tension(p, s->x);
    abut_status rc = abut_problem_gradient(p, s->x, s->y, &s->pairs, ABUT_TERM_ALL, s->g, &s->scratch, err);
    if (!rc) rc = abut_direction_newton(&s->dir, p, s->x, s->y, &s->pairs, s->g, s->p, rep, err);
    if (!rc) *residual = newton_speed(s);
    return rc;
}
