#include "solve/search/search_parts.h"

#include <math.h>
#include <string.h>

/* constants of the augmented Lagrangian (Li 2020, App. E) */
#define AL_START 1e6
#define AL_CAP 1e8
#define AL_DONE 0.999
#define AL_NEAR 0.99
#define AL_SETTLED 1e-2 /* of the scripted speed: slower than this the others follow */
/* scripted motion is blocked when this many updates in a row bring no more than this share of its way */
#define BLOCKED_UPDATES 200
#define BLOCKED_GAIN 1e-6

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

void abut_script_stop(abut_solver *s)
{
    abut_lagrangian_of(&s->prob.terms)->on = 0;
    abut_problem_number(&s->prob);
}

static void al_start(abut_solver *s)
{
    abut_lagrangian *al = abut_lagrangian_of(&s->prob.terms);
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
    if (abut_device_serves(s)) return abut_device_carry(s, alpha, rep, err);
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
    abut_script_stop(s);
    const abut_status rc = carry_held(s, &alpha, rep, err);
    if (!rc && alpha < AL_DONE) al_start(s);
    return rc;
}

/* The augmented Lagrangian has done its part.  An equilibrium is one of the scripted positions, not of 0.999 of the way. */
static abut_status al_finish(abut_solver *s, abut_report *rep, abut_err *err)
{
    double alpha;
    abut_script_stop(s);
    if (s->prob.w.inertia) return ABUT_OK;
    const abut_status rc = carry_held(s, &alpha, rep, err);
    return rc ? rc : abut_solver_contacts(s, rep, err);
}

/* Whether the scripted motion has stopped getting on, though all else has settled every time it was pushed harder. */
static int push_is_vain(struct abut_push *push, double eta)
{
    if (eta > push->eta + BLOCKED_GAIN) *push = (struct abut_push){ .eta = eta };
    else push->updates++;
    return push->updates >= BLOCKED_UPDATES;
}

abut_status abut_script_update(abut_solver *s, double residual, int *script, abut_report *rep, abut_err *err)
{
    abut_problem *p = &s->prob;
    abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    *script = al->on ? ABUT_SCRIPT_WAITS : ABUT_SCRIPT_DONE;
    if (!al->on) return ABUT_OK;
    const double eta = abut_solver_progress(s);
    if (eta >= AL_DONE) return al_finish(s, rep, err);  /* the others have yet to settle */
    if (residual >= fmax(AL_SETTLED * scripted_speed(p), p->model->tolerance[0])) return ABUT_OK;
    if (eta < AL_NEAR && al->kap < AL_CAP) {
        al->kap *= 2;
    } else {
        for (int32_t i = 0; i < 3 * p->model->nv; i++)
            if (p->held[i / 3]) al->lam[i] -= al->kap * sqrt(p->model->mass[i / 3]) * (s->x[i] - p->target[i]);
    }
    p->changes++;
    if (push_is_vain(&s->push, eta)) *script = ABUT_SCRIPT_BLOCKED;
    return ABUT_OK;
}
