#include "solve/search/search_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/codim_bound.h"

#include <math.h>
#include <string.h>

/* A direction is swept first to this many times the share that the one before it was bounded at, then again so many times
 * further: impacts bound many in a row, and the pairs that a long sweep meets grow with its square.  One that is so much longer
 * than the last, as L-BFGS makes them of a step into a contact, is swept first so many times as far as that. */
#define MORE_THAN_LAST 4
#define LONGEST 8           /* times a direction that turns out too short; a power of 2, so that scaling is exact */
#define STILL_FALLS 0.65    /* of the decrease that its slope alone promises: a parabola falls at the end of a step from 0.5 on */
#define MUCH_LONGER 4       /* times its length, what a direction below the tolerance has to ask for */
#define CLEAR_OF_NOISE 1e3  /* a decrease that says something about curvature is that many times the rounding of the objective */

abut_status abut_search_contacts(abut_solver *s, const double *y1, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    double t0 = abut_time_wall();
    abut_collmesh_positions(&p->cm, s->x, s->y);
    abut_status rc = abut_candidates_again(&p->cm, s->y, y1, p->model->dhat[0], p->obstacle, &s->near, &s->cand, err);
    double t1 = abut_time_wall();
    rep->seconds.candidates += t1 - t0;
    if (!rc) rc = abut_pairs_find(&p->cm, &s->cand, s->y, p->obstacle, &s->pairs, err);
    rep->seconds.pairs += abut_time_wall() - t1;
    return rc;
}

abut_status abut_solver_contacts(abut_solver *s, abut_report *rep, abut_err *err)
{
    if (abut_device_serves(s)) return abut_device_contacts_find(s, 0, rep, err);
    return abut_search_contacts(s, NULL, rep, err);
}

void abut_search_point(abut_solver *s, double alpha)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    if (abut_device_serves(s)) {
        abut_device_point(s, alpha);
        return;
    }
    #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) s->xt[i] = s->x[i] + alpha * s->p[i];
}

abut_status abut_search_candidates(abut_solver *s, double alpha, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const double clock = abut_time_wall();
    abut_search_point(s, alpha);
    abut_collmesh_positions(&p->cm, s->xt, s->yt);
    const abut_status rc = abut_candidates_again(&p->cm, s->y, s->yt, p->model->dhat[0], p->obstacle, &s->near, &s->cand, err);
    rep->seconds.candidates += abut_time_wall() - clock;
    return rc;
}

/* The largest collision-free share of s->p up to `share`; candidates of that sweep in s->cand. */
static abut_status sweep(abut_solver *s, double share, abut_limit *swept, abut_report *rep, abut_err *err)
{
    *swept = (abut_limit){ .alpha = 1, .node = { -1, -1, -1, -1 }, .tet = -1 };
    if (abut_device_serves(s)) return abut_device_sweep(s, share, swept, rep, err);
    abut_status rc = abut_search_candidates(s, share, rep, err);
    rep->candidates = abut_candidates_count(&s->cand);
    if (rc) return rc;
    const double clock = abut_time_wall();
    rc = abut_limit_ccd(&s->prob.cm, &s->cand, s->y, s->yt, s->opt.slack_ccd, swept, err);
    rep->seconds.ccd += abut_time_wall() - clock;
    return rc;
}

/* Half-spaces, inversions, stretches. */
static abut_status limits(abut_solver *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const double clock = abut_time_wall();
    if (abut_device_serves(s)) return abut_device_limits(s, lim, err);
    abut_search_point(s, 1);
    abut_collmesh_positions(&p->cm, s->xt, s->yt);
    abut_limit_planes(&p->cm, s->y, s->yt, p->obstacle, s->opt.slack_plane, lim);
    abut_objective_limit(p, &(abut_at){ s->x, s->x, s->y, &s->pairs, &p->step }, s->p, lim);
    rep->seconds.ccd += abut_time_wall() - clock;
    return ABUT_OK;
}

abut_status abut_search_bound(abut_solver *s, double first, double most, abut_limit *lim, double *reached, abut_report *rep,
                              abut_err *err)
{
    *lim = (abut_limit){ .alpha = most, .node = { -1, -1, -1, -1 }, .tet = -1 };
    if (most < 1) lim->kind = ABUT_LIMIT_LENGTH;
    abut_status rc = limits(s, lim, rep, err);
    if (rc) return rc;

    /* the sweep need not go beyond the bounds found so far, nor beyond the first collision */
    abut_limit swept;
    double share = fmin(first, lim->alpha);
    rc = sweep(s, share, &swept, rep, err);
    while (!rc && swept.alpha == 1 && share < lim->alpha) {
        share = fmin(MORE_THAN_LAST * share, lim->alpha);
        rc = sweep(s, share, &swept, rep, err);
    }
    if (rc) return rc;
    if (reached) *reached = share;
    if (swept.alpha < 1) {
        swept.alpha *= share;
        *lim = swept;
    }
    return ABUT_OK;
}

double abut_search_first(const abut_solver *s, double speed)
{
    const double longer = speed > MORE_THAN_LAST * s->last_speed ? speed / s->last_speed : 1;
    return MORE_THAN_LAST * s->last_bound / longer;
}

double abut_search_further(const abut_limit *lim)
{
    return MORE_THAN_LAST * lim->alpha;
}

abut_status abut_solver_bound(abut_solver *s, double most, abut_limit *lim, abut_report *rep, abut_err *err)
{
    return abut_search_bound(s, most, most, lim, NULL, rep, err);
}

abut_status abut_search_energy(abut_solver *s, abut_energy *e, double *sum, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    if (abut_device_serves(s)) return abut_device_energy(s, e, sum, err);
    abut_collmesh_positions(&p->cm, s->xt, s->yt);
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

abut_status abut_search_accept(abut_solver *s, abut_err *err)
{
    if (abut_device_serves(s)) return abut_device_accept(s, err);
    double *x = s->x, *y = s->y;
    const abut_pairs pairs = s->pairs;
    s->x = s->xt;
    s->y = s->yt;
    s->pairs = s->trial;
    s->xt = x;
    s->yt = y;
    s->trial = pairs;
    return ABUT_OK;
}

abut_status abut_search_record(abut_solver *s, abut_err *err)
{
    if (abut_device_serves(s)) return abut_device_record(s, err);
    return abut_path_add(&s->path, &s->prob.cm, s->prob.obstacle, s->x, &s->near, err);
}

abut_status abut_search_try(abut_solver *s, double alpha, abut_energy *e, double *sum, abut_iteration *it, abut_report *rep,
                            abut_err *err)
{
    abut_search_point(s, alpha);
    it->alpha = alpha;
    it->trials++;
    rep->trials++;
    return abut_search_energy(s, e, sum, rep, err);
}

abut_status abut_search_backtrack(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved,
                                  abut_report *rep, abut_err *err)
{
    const double start = abut_energy_sum(now), noise = abut_energy_noise(&s->prob, now);
    *moved = 0;
    for (double alpha = bound; alpha > bound * 0x1p-60; alpha /= 2) {
        abut_energy e;
        double sum;
        abut_search_point(s, alpha);
        abut_status rc = abut_search_energy(s, &e, &sum, rep, err);
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

void abut_search_keep(abut_solver *s)
{
    struct abut_kept *k = &s->kept;
    if (abut_device_serves(s)) {
        abut_device_keep(s);
        return;
    }
    const struct abut_kept trial = { s->xt, s->yt, s->trial };
    s->xt = k->x;
    s->yt = k->y;
    s->trial = k->pairs;
    *k = trial;
}

double abut_search_slope(const abut_solver *s)
{
    double slope = 0;
    if (abut_device_serves(s)) return abut_device_slope(s);
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) slope -= s->g[i] * s->p[i];
    return slope;
}

abut_status abut_search_draw_back(abut_solver *s, double start, abut_energy *now, abut_iteration *it, abut_report *rep,
                                  abut_err *err)
{
    if (start - abut_energy_sum(now) > STILL_FALLS * it->alpha * abut_search_slope(s)) return ABUT_OK;
    for (;;) {
        abut_energy e;
        double sum;
        abut_search_keep(s);
        abut_search_point(s, it->alpha / 2);
        const abut_status rc = abut_search_energy(s, &e, &sum, rep, err);
        it->trials++;
        rep->trials++;
        if (rc || !(sum < abut_energy_sum(now))) {
            abut_search_keep(s);
            return rc;
        }
        it->alpha /= 2;
        *now = e;
    }
}

double abut_search_longest(const abut_solver *s, double speed)
{
    const abut_model *m = s->prob.model;
    const double way = speed * m->h[0];
    return !s->prob.w.inertia && way > m->length[0] ? m->length[0] / way : 1;
}

static void scale_direction(abut_solver *s, double by)
{
    if (abut_device_serves(s)) {
        abut_device_scale(s, by);
        return;
    }
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) s->p[i] *= by;
}

double abut_search_curvature(const abut_solver *s, double slope, double start, const abut_energy *reached)
{
    const double curvature = 2 * (abut_energy_sum(reached) - start + slope);
    return slope > CLEAR_OF_NOISE * abut_energy_noise(&s->prob, reached) ? curvature / slope : 1;
}

/* How many times longer s->p should have been, going by its curvature as the full step has shown it: a power of 2.  The
 * projected Hessian is stiffer than the true one, which may even be indefinite: near a buckling point many directions in a
 * row are the same and much too short. */
static double better_length(const abut_solver *s, double start, const abut_energy *reached)
{
    double length = 1;
    const double curvature = abut_search_curvature(s, abut_search_slope(s), start, reached);
    while (length < LONGEST && 2 * length * curvature <= 1) length *= 2;
    return length;
}

/* Tries the better length, but of a bound on the way only half; whichever of the two points is lower becomes the trial point,
 * with *now.  A direction below the tolerance may be short because the matrix is too stiff, and then it does not end the step:
 * where its curvature asks for much more it is lengthened, too. */
abut_status abut_search_lengthen(abut_solver *s, double start, abut_energy *now, abut_iteration *it, abut_report *rep,
                                 abut_err *err)
{
    const double length = better_length(s, start, now), reached = abut_energy_sum(now);
    if (length == 1 || (length < MUCH_LONGER && it->residual <= s->prob.model->tolerance[0])) return ABUT_OK;
    abut_limit lim;
    abut_energy e;
    double sum;
    abut_search_keep(s);
    scale_direction(s, length);
    abut_status rc = abut_search_bound(s, 1, abut_search_longest(s, length * it->residual), &lim, NULL, rep, err);
    const double alpha = lim.alpha < 1 ? 0.5 * lim.alpha : 1;
    if (!rc && alpha * length > 1) {
        abut_search_point(s, alpha);
        rc = abut_search_energy(s, &e, &sum, rep, err);
        it->trials++;
        rep->trials++;
        if (!rc && sum < reached) {
            it->alpha = alpha * length;
            *now = e;
            return ABUT_OK;
        }
    }
    scale_direction(s, 1 / length);
    abut_search_keep(s);
    return rc;
}
