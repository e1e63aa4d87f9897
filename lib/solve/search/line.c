/* The search along a direction: its bound, the first step that lowers the objective, and longer ones. */
#include "solve/search/search_parts.h"

#include "energy/joint.h"

#include <math.h>

/* ---- bounds ---- */

/* A direction is swept first to this many times the fraction at which the last one was bounded, then again to as many times that.
 * Impacts bound many directions in a row, and the number of pairs of a long sweep grows with its square.  A direction longer than
 * the last one by more than this factor, as L-BFGS makes them at impacts, is swept first to as long a displacement. */
#define MORE_THAN_LAST 4

/* Finds the largest collision-free part of that fraction of s->p; candidates of that sweep in s->cand. */
static abut_status sweep(abut_search *s, double fraction, abut_limit *swept, abut_report *rep, abut_err *err)
{
    *swept = (abut_limit){ .alpha = 1, .node = { -1, -1, -1, -1 }, .tet = -1 };
    const abut_status rc = s->ops->bound.candidates(s, fraction, rep, err);
    return rc ? rc : s->ops->bound.ccd(s, swept, rep, err);
}

abut_status abut_search_bound(abut_search *s, double first, double most, abut_limit *lim, abut_report *rep, abut_err *err)
{
    *lim = (abut_limit){ .alpha = most, .node = { -1, -1, -1, -1 }, .tet = -1 };
    if (most < 1) lim->kind = ABUT_LIMIT_LENGTH;
    abut_status rc = s->ops->bound.limits(s, lim, rep, err);
    if (rc) return rc;

    /* the sweep need not go beyond the bounds found so far, nor beyond the first collision */
    abut_limit swept;
    double fraction = first > 0 ? fmin(first, lim->alpha) : lim->alpha;
    rc = sweep(s, fraction, &swept, rep, err);
    while (!rc && swept.alpha == 1 && fraction < lim->alpha) {
        fraction = fmin(MORE_THAN_LAST * fraction, lim->alpha);
        rc = sweep(s, fraction, &swept, rep, err);
    }
    if (rc) return rc;
    if (swept.alpha < 1) {
        swept.alpha *= fraction;
        *lim = swept;
    }
    return ABUT_OK;
}

/* Bound by the CFL rule (Huang et al. 2024, and their code): only pairs nearer than dhat are tested: others cannot meet while no
 * point moves further than dhat/2.  A direction that may lead much further is bounded by all pairs, but not below the CFL
 * bound. */
static abut_status bound_by_cfl(abut_search *s, double most, abut_limit *lim, abut_report *rep, abut_err *err)
{
    *lim = (abut_limit){ .alpha = most, .kind = most < 1 ? ABUT_LIMIT_LENGTH : ABUT_LIMIT_NONE, .node = { -1, -1, -1, -1 },
                         .tet = -1 };
    abut_status rc = s->ops->bound.limits(s, lim, rep, err);
    if (!rc) rc = s->ops->bound.candidates(s, 0, rep, err);
    if (rc) return rc;
    abut_limit swept = { .alpha = 1, .node = { -1, -1, -1, -1 }, .tet = -1 };
    s->ops->points.try_at(s, lim->alpha);
    rc = s->ops->bound.ccd(s, &swept, rep, err);
    if (rc) return rc;
    const double safe = abut_rule_cfl(abut_least_dhat(s->prob.model), lim->alpha, s->ops->bound.motion(s));
    if (swept.alpha < 1) {
        swept.alpha *= lim->alpha;
        *lim = swept;
    }
    const int all = lim->alpha > 2 * safe;
    if (all) {
        const double reached = lim->alpha;
        rc = sweep(s, reached, &swept, rep, err);
        if (!rc && swept.alpha < 1) {
            swept.alpha *= reached;
            *lim = swept;
        }
    } else {
        rc = s->ops->bound.candidates(s, fmin(lim->alpha, safe), rep, err);
    }
    if (all ? lim->alpha < safe : lim->alpha > safe)
        *lim = (abut_limit){ .alpha = safe, .kind = ABUT_LIMIT_CFL, .node = { -1, -1, -1, -1 }, .tet = -1 };
    return rc;
}

double abut_search_longest(const abut_search *s, double speed)
{
    const abut_model *m = s->prob.model;
    const double length = speed * m->h[0];
    return !s->prob.w.inertia && length > m->length[0] ? m->length[0] / length : 1;
}

abut_status abut_search_bound_direction(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const double speed = s->aim.speed, last = s->progress.speed, longer = speed > MORE_THAN_LAST * last ? speed / last : 1;
    const double first = MORE_THAN_LAST * s->progress.bound / longer, most = abut_search_longest(s, speed);
    const abut_status rc = s->opt->search.ccd == ABUT_CCD_CFL ? bound_by_cfl(s, most, lim, rep, err)
                                                              : abut_search_bound(s, first, most, lim, rep, err);
    s->progress.bound = lim->alpha;
    s->progress.speed = speed;
    return rc || !s->ops->bound.block ? rc : s->ops->bound.block(s, lim, err);
}

/* ---- trials ---- */

#define SHORTEST 0x1p-60    /* of the bound */

abut_status abut_search_try(abut_search *s, double alpha, abut_iteration *it, abut_report *rep, abut_err *err)
{
    s->ops->points.try_at(s, alpha);
    it->trials++;
    rep->trials++;
    return s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, rep, err);
}

abut_status abut_search_try_along(abut_search *s, double **p, double most, double of_bound, double *fraction, abut_iteration *it,
                                  abut_report *rep, abut_err *err)
{
    abut_limit lim;
    abut_search_swap(&s->p, p);
    abut_status rc = abut_search_bound(s, 0, most, &lim, rep, err);
    if (lim.alpha < 1) lim.alpha *= of_bound;
    *fraction = lim.alpha;
    if (rc == ABUT_E_GEOM) {
        s->trial.e.sum = INFINITY;
        rc = ABUT_OK;   /* a gap too small to move along this one */
    } else if (!rc) {
        rc = abut_search_try(s, lim.alpha, it, rep, err);
    }
    abut_search_swap(&s->p, p);
    return rc;
}

abut_status abut_search_falls(abut_search *s, double alpha, int *falls, abut_report *rep, abut_err *err)
{
    const abut_energy *here = &s->here.e, *trial = &s->trial.e;
    const double part = s->opt->search.armijo, slope = part > 0 ? s->ops->aim.slope(s) : 0;
    double from, to;
    *falls = trial->sum <= abut_rule_ceiling(here->sum, here->noise, part, alpha, slope);
    const int hidden = *falls && here->sum - trial->sum <= here->noise;
    if (!hidden || abut_rule_is_short(s->aim.speed, s->prob.model->tolerance[0])) return ABUT_OK;
    const abut_status rc = s->ops->aim.slopes(s, &from, &to, rep, err);
    *falls = abut_rule_not_beyond(from, to);
    return rc;
}

/* Starts at the bound and halves until the objective falls. */
abut_status abut_move_backtrack(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    if (m->searched) return ABUT_OK;
    m->searched = 1;
    for (double alpha = bound; alpha > bound * SHORTEST && !m->moved; alpha /= 2) {
        abut_status rc = abut_search_try(s, alpha, m->it, rep, err);
        if (!rc) rc = abut_search_falls(s, alpha, &m->moved, rep, err);
        if (rc) return rc;
        if (m->moved) m->it->alpha = alpha;
    }
    return ABUT_OK;
}

/* ---- longer directions ---- */

#define OF_BOUND 0.5        /* of a bound that a longer direction meets */

/* Returns 1 if s->p may be lengthened.  A direction below the tolerance may be short because the matrix is too stiff; then it
 * does not end the step.  But it ends it by the published rule, and corrected steps keep the length by which they are judged. */
int abut_move_may_lengthen(const abut_search *s, const abut_move *m)
{
    const int published = s->opt->search.stop == ABUT_STOP_PUBLISHED;
    const int ends = abut_rule_is_short(m->it->residual, s->prob.model->tolerance[0]) && (published || s->second_order.p);
    return s->pass.lengthens && m->moved && m->it->alpha == 1 && !ends && !abut_joints_bend(&s->prob.terms);
}

/* Lengthens s->p after a full step whose curvature shows that it was too short; the lower of the two points becomes the trial
 * point. */
abut_status abut_move_lengthen(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    if (!abut_move_may_lengthen(s, m) || abut_second_order_applies(s) || m->rotated) return ABUT_OK;
    const double curvature = abut_rule_curvature(s->ops->aim.slope(s), s->here.e.sum, s->trial.e.sum, s->trial.e.noise);
    const double length = abut_rule_length(curvature, abut_rule_is_short(m->it->residual, s->prob.model->tolerance[0]));
    if (length == 1) return ABUT_OK;
    abut_limit lim;
    abut_search_exchange(s, &s->kept);
    s->ops->aim.scale(s, length);
    abut_status rc = abut_search_bound(s, 0, abut_search_longest(s, length * m->it->residual), &lim, rep, err);
    const double alpha = lim.alpha < 1 ? OF_BOUND * lim.alpha : 1;
    if (!rc && alpha * length > 1) {
        rc = abut_search_try(s, alpha, m->it, rep, err);
        if (!rc && s->trial.e.sum < s->kept.e.sum) {
            m->it->alpha = alpha * length;
            return ABUT_OK;
        }
    }
    s->ops->aim.scale(s, 1 / length);
    abut_search_exchange(s, &s->kept);
    return rc == ABUT_E_GEOM ? ABUT_OK : rc;    /* a gap too small to go further: the full step stays */
}
