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

double abut_search_ceiling(const abut_search *s, double alpha)
{
    const double part = s->opt.line.armijo, slope = part > 0 ? s->ops->aim.slope(s) : 0;
    return abut_rule_ceiling(s->here.e.sum, s->here.e.noise, part, alpha, slope);
}

/* From the bound, halved until the objective falls enough, or does not grow beyond rounding where that is enough. */
abut_status abut_move_backtrack(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    const double bound = m->lim.alpha;
    if (m->searched) return ABUT_OK;
    m->searched = 1;
    for (double alpha = bound; alpha > bound * SHORTEST && !m->moved; alpha /= 2) {
        const abut_status rc = abut_search_try(s, alpha, m->it, rep, err);
        if (rc) return rc;
        m->moved = s->trial.e.sum <= abut_search_ceiling(s, alpha);
        if (m->moved) m->it->alpha = alpha;
    }
    return ABUT_OK;
}
