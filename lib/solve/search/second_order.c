/* A direction that rotates codimensional elements, stiff rods above all, stretches them by the square of the angle, so a search
 * that must not raise the objective would take a small part of every rotation.  A second solution with the same factor removes
 * that stretch: its right-hand side has the excess after the step and the elements before it (a second-order correction: Nocedal
 * and Wright 2006, 18.3).  The step is then the straight line from here to the corrected point, bounded and judged like any
 * other.
 *
 * Bounds of shells also stop a direction by the stretch of its rotations, not by its first order: a swinging sheet would move a
 * third of its path, overstretched, and relax for the rest of the step.  If a bound of a shell stops the straight step, a longer
 * step is tried first, corrected until its stretch is that of first order.  It is taken only if shells do not bound it at all:
 * after a step that ends halfway to a limit, directions are bounded at a hundredth.
 *
 * The matrix overestimates what holds a body that tips over.  After a full step that was too short, the corrected step of the
 * length that fits its curvature is tried. */

#include "solve/search/search_parts.h"

#include "energy/codim.h"
#include "energy/stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_CORRECTING 0.1    /* least energy of rotations, over the decrease of the quadratic model */
#define CORRECTIONS 3           /* of one step, at most; each corrects the rest of the one before */
#define MOST_LONGER 4.          /* times a full step that was too short */
#define OF_BOUND 0.5            /* of a bound on a step that is tried because a full one was too short */

/* steps beyond the bounds of shells */
#define FIRST_ORDER 1e-3           /* of the promised decrease that rotations may cost in the end */
#define HOPELESS 1.             /* of it that they may cost before the first correction */
#define CONVERGES 0.5           /* largest rest after a correction */
#define LONG_CORRECTIONS 4
#define SHORTER 0.7             /* the next length to be tried */
#define WORTH_TRYING 1.5        /* times the straight step, or the full one */
#define LONGEST_WAIT 27         /* directions between such steps that failed */

abut_status abut_second_order_init(abut_second_order *so, const abut_model *model, abut_err *err)
{
    const size_t bytes = 3 * (size_t)model->nv * sizeof(double);
    double **field[] = { &so->linear_step, &so->p, &so->full_linear, &so->full, &so->q, &so->g };
    if (!model->nrd && !model->nsh) return ABUT_OK;
    for (int i = 0; i < 6; i++)
        if (!(*field[i] = malloc(bytes))) return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    return ABUT_OK;
}

void abut_second_order_clear(abut_second_order *so)
{
    ABUT_FREE(so->linear_step, so->p, so->full_linear, so->full, so->q, so->g);
    *so = (abut_second_order){ 0 };
}

int abut_second_order_applies(const abut_search *s)
{
    const int wanted = s->second_order.p && !(s->opt->search.without & ABUT_WITHOUT_SECOND_ORDER);
    return wanted && s->ops->correct.can && s->ops->correct.can(s);
}

static size_t numbers(const abut_search *s) { return 3 * (size_t)s->prob.model->nv; }

/* Energy that the rotations of the step so->p store, and its gradient in so->g. */
static abut_status cost(abut_search *s, double *costs, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    memset(so->g, 0, numbers(s) * sizeof *so->g);
    return s->ops->correct.excess(s, so->p, so->linear_step, so->g, costs, err);
}

/* so->p: length times s->p, not corrected yet; *costs: of its rotations. */
static abut_status straight(abut_search *s, double length, double *costs, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    for (size_t i = 0; i < numbers(s); i++) so->p[i] = so->linear_step[i] = length * s->p[i];
    return cost(s, costs, err);
}

/* One correction of so->p; *costs: the remaining energy of its rotations. */
static abut_status correct_once(abut_search *s, double *costs, abut_report *rep, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    const abut_status rc = s->ops->correct.resolve(s, so->g, so->q, rep, err);
    if (rc) return rc;
    for (size_t i = 0; i < numbers(s); i++) so->p[i] += so->q[i];
    return cost(s, costs, err);
}

/* Corrects so->p until its rotations cost less than `enough`, *costs. */
static abut_status correct(abut_search *s, double enough, double *costs, abut_report *rep, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < CORRECTIONS && *costs > enough && !rc; k++)
        rc = correct_once(s, costs, rep, err);
    return rc;
}

/* Takes that fraction of the step of length alpha. */
static void arrive(abut_search *s, abut_move *m, double alpha, double fraction, int corrected)
{
    double *led = s->second_order.linear_step;
    m->it->alpha = alpha * fraction;
    for (size_t i = 0; i < numbers(s); i++) led[i] = s->here.x[i] + fraction * led[i];
    m->moved = 1;
    m->corrected = corrected;
}

/* Makes so->p the step of length alpha, corrected until it is stretched as to first order; *clear: it is, and shells do not bound
 * it. */
static abut_status correct_all(abut_search *s, double alpha, double promised, double noise, int *clear, abut_report *rep,
                               abut_err *err)
{
    const double enough = fmax(FIRST_ORDER * promised, noise);
    double costs, before = HOPELESS * promised / CONVERGES;
    abut_limit lim = { .alpha = 1 };
    *clear = 0;
    abut_status rc = straight(s, alpha, &costs, err);
    for (int k = 0; k < LONG_CORRECTIONS && !rc && costs > enough && costs < CONVERGES * before; k++) {
        before = costs;
        rc = correct_once(s, &costs, rep, err);
    }
    if (rc || costs > enough) return rc;
    abut_limit_stretch(abut_codim_of(&s->prob.terms), s->here.x, s->second_order.p, ABUT_STRETCH_LEFT, &lim);
    *clear = lim.alpha == 1;
    return ABUT_OK;
}

/* Whether to try steps beyond the bounds of shells: while something touches, where other bounds follow, only along a direction
 * that has seen these. */
static int is_due(abut_search *s, const abut_move *m)
{
    if ((s->opt->search.without & ABUT_WITHOUT_BEYOND) || (abut_search_count(s) && !s->aim.ahead)) return 0;
    if (m->lim.kind != ABUT_LIMIT_STRETCH || WORTH_TRYING * m->lim.alpha > 1) return 0;
    return abut_rule_is_due(&s->second_order.beyond);
}

/* Decrease by a step of length alpha in a quadratic model with this slope. */
static double promise(double alpha, double slope) { return alpha * (1 - 0.5 * alpha) * slope; }

/* Searches the longest corrected step that shells do not bound, if one is worth it and lowers the objective. */
static abut_status search_beyond(abut_search *s, abut_move *m, double slope, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    for (double alpha = abut_search_longest(s, m->it->residual); alpha >= WORTH_TRYING * bound && !m->moved; alpha *= SHORTER) {
        double fraction = 0;
        int clear;
        abut_status rc = correct_all(s, alpha, promise(alpha, slope), s->here.e.noise, &clear, rep, err);
        if (!rc && clear) rc = abut_search_try_along(s, &s->second_order.p, 1, 1, &fraction, m->it, rep, err);
        int falls = 0;
        if (!rc && fraction * alpha > bound) rc = abut_search_falls(s, fraction * alpha, &falls, rep, err);
        if (rc) return rc;
        if (falls) arrive(s, m, alpha, fraction, 1);
    }
    abut_rule_tried(&s->second_order.beyond, m->moved, LONGEST_WAIT);
    return ABUT_OK;
}

/* Backtracks, with steps corrected if their rotations stretch. */
static abut_status search_corrected(abut_search *s, abut_move *m, double slope, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    for (double alpha = bound; alpha > bound * 0x1p-60 && !m->moved; alpha /= 2) {
        const double promised = promise(alpha, slope), enough = fmax(WORTH_CORRECTING * promised, s->here.e.noise);
        double costs, fraction = 1;
        abut_status rc = straight(s, alpha, &costs, err);
        const int corrects = costs > enough;
        if (!rc && corrects) rc = correct(s, enough, &costs, rep, err);
        if (!rc && corrects && !(costs < promised)) continue;   /* rotated too far to be taken back */
        if (!rc && (corrects || alpha < bound)) {
            rc = abut_search_try_along(s, &s->second_order.p, 1, 1, &fraction, m->it, rep, err);
        } else if (!rc) {
            rc = abut_search_try(s, alpha, m->it, rep, err);
        }
        int falls = 0;
        if (!rc) rc = abut_search_falls(s, fraction * alpha, &falls, rep, err);
        if (rc) return rc;
        if (falls) arrive(s, m, alpha, fraction, corrects);
    }
    return ABUT_OK;
}

abut_status abut_move_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    if (m->searched || !abut_second_order_applies(s)) return ABUT_OK;
    const double slope = s->ops->aim.slope(s);
    m->searched = 1;
    if (is_due(s, m)) {
        abut_status rc = search_beyond(s, m, slope, rep, err);
        if (!rc && !m->moved) rc = s->ops->bound.candidates(s, m->lim.alpha, rep, err);     /* another line was the last one */
        if (rc || m->moved) return rc;
    }
    return search_corrected(s, m, slope, rep, err);
}

/* Tries the corrected step of `length` times s->p in place of the full one, which is kept.  It is taken, *longer 1, if the
 * objective is lower there. */
static abut_status try_longer(abut_search *s, abut_move *m, double length, double slope, int *longer, abut_report *rep,
                              abut_err *err)
{
    const double promised = 0.5 * length * slope, enough = fmax(WORTH_CORRECTING * promised, s->kept.e.noise);
    double costs, fraction = 0;
    *longer = 0;
    abut_status rc = straight(s, length, &costs, err);
    if (!rc) rc = correct(s, enough, &costs, rep, err);
    if (!rc && costs < promised)
        rc = abut_search_try_along(s, &s->second_order.p, abut_search_longest(s, length * m->it->residual), OF_BOUND, &fraction,
                                   m->it, rep, err);
    if (rc || fraction * length <= 1 || !(s->trial.e.sum < s->kept.e.sum)) return rc;
    arrive(s, m, length, fraction, 1);
    *longer = 1;
    return ABUT_OK;
}

abut_status abut_move_lengthen_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    abut_second_order *so = &s->second_order;
    if (!abut_move_may_lengthen(s, m) || !abut_second_order_applies(s)) return ABUT_OK;
    const double slope = s->ops->aim.slope(s);
    const double curvature = abut_rule_curvature(slope, s->here.e.sum, s->trial.e.sum, s->trial.e.noise);
    const double length = curvature * MOST_LONGER > 1 ? 1 / curvature : MOST_LONGER;
    int longer;
    if (length < WORTH_TRYING) return ABUT_OK;
    abut_search_exchange(s, &s->kept);
    abut_search_swap(&so->p, &so->full);
    abut_search_swap(&so->linear_step, &so->full_linear);
    const abut_status rc = try_longer(s, m, length, slope, &longer, rep, err);
    if (longer) return ABUT_OK;
    abut_search_swap(&so->p, &so->full);
    abut_search_swap(&so->linear_step, &so->full_linear);
    abut_search_exchange(s, &s->kept);
    return rc;
}
