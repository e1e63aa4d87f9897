/* The start of a step: prescribed nodes on the way to their targets, and the motion of the others with them. */
#include "solve/search/search_parts.h"

#include "energy/mass.h"

#include <math.h>
#include <string.h>

/* ---- prescribed nodes ---- */

/* constants of the augmented Lagrangian (Li 2020, App. E) */
#define AL_START 1e6
#define AL_CAP 1e8
#define AL_DONE 0.999
#define AL_NEAR 0.99
#define AL_SETTLED 1e-2 /* of the scripted speed: slower than this the others follow */

double abut_search_progress(const abut_search *s)
{
    const abut_objective *p = &s->prob;
    double left = 0, whole = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++) {
        if (!p->held[i / 3]) continue;
        left += (p->target[i] - s->here.x[i]) * (p->target[i] - s->here.x[i]);
        whole += (p->target[i] - p->xn[i]) * (p->target[i] - p->xn[i]);
    }
    return whole > 0 ? 1 - sqrt(left / whole) : 1;
}

/* Largest speed of a prescribed node by the script in this step, m/s. */
static double scripted_speed(const abut_objective *p)
{
    double big = 0;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) big = fmax(big, fabs(p->target[i] - p->xn[i]));
    return big / p->model->h[0];
}

/* Stops the augmented Lagrangian: prescribed nodes stay where they are. */
static void stop_script(abut_search *s)
{
    abut_lagrangian_of(&s->prob.terms)->on = 0;
    abut_objective_number(&s->prob);
}

static void al_start(abut_search *s)
{
    abut_lagrangian *al = abut_lagrangian_of(&s->prob.terms);
    al->on = 1;
    al->kap = AL_START;
    memset(al->lam, 0, 3 * (size_t)s->prob.model->nv * sizeof *al->lam);
    abut_objective_number(&s->prob);
}

/* Moves prescribed nodes straight towards their targets, as far as the bound allows: *alpha of the rest. */
static abut_status carry_held(abut_search *s, double *alpha, abut_report *rep, abut_err *err)
{
    int moves;
    abut_limit lim;
    *alpha = 1;
    abut_status rc = s->ops->start.aim_at_targets(s, &moves, err);
    if (rc || !moves) return rc;
    rc = abut_search_bound(s, 1, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) lim.alpha = 0, rc = ABUT_OK;     /* a gap too small to move along this line */
    if (!rc) rc = s->ops->start.move_held(s, lim.alpha, err);
    if (rc) return rc;
    *alpha = lim.alpha;
    return s->ops->points.record(s, err);
}

abut_status abut_search_move_held(abut_search *s, abut_report *rep, abut_err *err)
{
    double alpha;
    stop_script(s);
    const abut_status rc = carry_held(s, &alpha, rep, err);
    if (!rc && alpha < AL_DONE) al_start(s);
    return rc;
}

/* The augmented Lagrangian has done its part.  An equilibrium is one of the scripted positions, not of 0.999 of the motion. */
static abut_status al_finish(abut_search *s, abut_report *rep, abut_err *err)
{
    double alpha;
    stop_script(s);
    if (s->prob.w.inertia) return ABUT_OK;
    const abut_status rc = carry_held(s, &alpha, rep, err);
    return rc ? rc : abut_search_contacts(s, rep, err);
}

abut_status abut_script_update(abut_search *s, double speed, int *script, abut_report *rep, abut_err *err)
{
    abut_objective *p = &s->prob;
    abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    *script = al->on ? ABUT_SCRIPT_WAITS : ABUT_SCRIPT_DONE;
    if (!al->on) return ABUT_OK;
    const double done = abut_search_progress(s);
    if (done >= AL_DONE) return al_finish(s, rep, err);  /* the others have yet to settle */
    if (speed >= fmax(AL_SETTLED * scripted_speed(p), p->model->tolerance[0])) return ABUT_OK;
    if (done < AL_NEAR && al->kap < AL_CAP) {
        al->kap *= 2;
    } else {
        for (int32_t i = 0; i < 3 * p->model->nv; i++)
            if (p->held[i / 3]) al->lam[i] -= al->kap * sqrt(p->model->mass[i / 3]) * (s->here.x[i] - p->target[i]);
    }
    p->changes++;
    return abut_rule_is_blocked(&s->scripted, done) ? abut_search_fail(s, ABUT_FAILED_BLOCKED, err) : ABUT_OK;
}

/* ---- the warm start ---- */

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
    stop_script(s);
    aim_at_warm_start(s, v);
    abut_status rc = abut_search_bound(s, 1, 1, &lim, rep, err);
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
