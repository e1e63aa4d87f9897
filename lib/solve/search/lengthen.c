#include "solve/search/search_parts.h"

#define OF_BOUND 0.5        /* of a bound that a longer direction meets */

/* Returns 1 if s->p may be lengthened.  A direction below the tolerance may be short because the matrix is too stiff; then it
 * does not end the step.  But it ends it by the published rule, and corrected steps keep the length by which they are judged. */
int abut_move_may_lengthen(const abut_search *s, const abut_move *m)
{
    const int published = s->opt.stop.rule == ABUT_STOP_PUBLISHED;
    const int ends = abut_rule_is_short(m->it->residual, s->prob.model->tolerance[0]) && (published || s->second_order.p);
    return s->pass.lengthens && m->moved && m->it->alpha == 1 && !ends;
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
    abut_status rc = abut_search_bound(s, 1, abut_search_longest(s, length * m->it->residual), &lim, NULL, rep, err);
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
