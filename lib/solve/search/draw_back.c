#include "solve/search/search_parts.h"

#define STILL_FALLS 0.65    /* of the decrease that its slope alone promises: a parabola falls at the end of a step from 0.5 on */

/* After a step as far as a bound of a shell allows: halves it while that lowers the objective.  Barriers there are so soft that
 * near a bound, where they have long reversed the slope, the objective is still below its start; steps that stop at the bound
 * again and again would end in it.  Not tried where the decrease is as large as that of an objective that still falls there. */
abut_status abut_move_draw_back(abut_search *s, abut_move *m, abut_report *rep, abut_err *err)
{
    abut_iteration *it = m->it;
    if (!m->moved || m->corrected || m->lim.kind != ABUT_LIMIT_STRETCH || it->alpha != m->lim.alpha) return ABUT_OK;
    if (s->here.e.sum - s->trial.e.sum > STILL_FALLS * it->alpha * s->ops->aim.slope(s)) return ABUT_OK;
    for (;;) {
        abut_search_exchange(s, &s->kept);
        const abut_status rc = abut_search_try(s, it->alpha / 2, it, rep, err);
        if (rc || !(s->trial.e.sum < s->kept.e.sum)) {
            abut_search_exchange(s, &s->kept);
            return rc;
        }
        it->alpha /= 2;
    }
}
