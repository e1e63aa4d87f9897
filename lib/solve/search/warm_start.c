#include "solve/search/search_parts.h"

/* s->p: prescribed nodes to their targets, the others by v. */
static void aim_at_warm_start(abut_search *s, const double *v)
{
    s->ops->start.warm(s, v, 1);
    s->ops->start.aim_at_trial(s);
}

abut_status abut_search_contacts_before(abut_search *s, const double *v, abut_report *rep, abut_err *err)
{
    aim_at_warm_start(s, v);    /* the warm start uses its candidates too */
    return s->ops->points.contacts(s, 1, rep, err);
}

/* Objective at the end of the motion. */
static abut_status energy_of_moving(abut_search *s, const double *v, double *sum, abut_report *rep, abut_err *err)
{
    s->ops->start.warm(s, v, 1);
    const abut_status rc = s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, rep, err);
    *sum = s->trial.e.sum;
    return rc;
}

abut_status abut_search_warm_start(abut_search *s, const double *v, int *taken, abut_report *rep, abut_err *err)
{
    abut_limit lim;
    double stay = 0, move = 0;
    *taken = 0;
    abut_script_stop(s);
    aim_at_warm_start(s, v);
    abut_status rc = abut_search_bound(s, 1, 1, &lim, NULL, rep, err);
    if (rc == ABUT_E_GEOM) return ABUT_OK;   /* a gap too small to move at all: the minimiser names it */
    if (rc || lim.alpha < 1) return rc;

    rc = s->ops->start.staying(s, v, 1, &stay, rep, err);
    if (!rc) rc = energy_of_moving(s, v, &move, rep, err);
    if (!rc && !(move < stay)) {
        rc = s->ops->start.staying(s, v, 0, &stay, rep, err);
        if (!rc && move < stay) rc = energy_of_moving(s, v, &move, rep, err);   /* its contacts again */
    }
    if (rc || !(move < stay)) return rc;
    *taken = 1;
    return abut_search_accept(s, err);
}
