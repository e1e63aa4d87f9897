#include "solve/search/search_parts.h"

#include <math.h>

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
    s->trial.e.sum = INFINITY;
    abut_search_swap(&s->p, p);
    abut_status rc = abut_search_bound(s, 1, most, &lim, NULL, rep, err);
    if (lim.alpha < 1) lim.alpha *= of_bound;
    *fraction = lim.alpha;
    if (rc == ABUT_E_GEOM) {
        s->trial.e.sum = INFINITY;
        rc = ABUT_OK;   /* a gap too small to move along this one */
    } else if (!rc) {
        it->alpha = lim.alpha;
        rc = abut_search_try(s, lim.alpha, it, rep, err);
    }
    abut_search_swap(&s->p, p);
    return rc;
}

abut_status abut_search_falls(abut_search *s, double alpha, int *falls, abut_report *rep, abut_err *err)
{
    const abut_energy *here = &s->here.e, *trial = &s->trial.e;
    const double part = s->opt.line.armijo, slope = part > 0 ? s->ops->aim.slope(s) : 0;
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
