#include "solve/search/search_parts.h"

#include "base/par.h"
#include "base/timer.h"

#include <string.h>

/* Where the scripts lead, and the others at share * h v from here. */
static void coasting_point(const abut_solver *s, const double *v, double share, double *xt)
{
    const abut_problem *p = &s->prob;
    const double h = share * p->model->h[0];
    #pragma omp parallel for schedule(static) if ((size_t)p->model->nv >= 2 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        xt[i] = p->held[i / 3] ? p->target[i] : p->row[i / 3] >= 0 ? s->x[i] + h * v[i] : s->x[i];
}

/* s->p to there, and the end of s->p, which rounding may make another point. */
static void coasting_way(abut_solver *s, const double *v)
{
    if (abut_device_serves(s)) {
        abut_device_coast(s, 1);
        abut_device_aim_at_trial(s);
        return;
    }
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    coasting_point(s, v, 1, s->xt);
    #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n3; i++) s->p[i] = s->xt[i] - s->x[i];
    abut_search_point(s, 1);
}

abut_status abut_solver_contacts_before(abut_solver *s, const double *v, abut_report *rep, abut_err *err)
{
    coasting_way(s, v);     /* its candidates will be asked for again */
    if (abut_device_serves(s)) return abut_device_contacts_find(s, 1, rep, err);
    abut_collmesh_positions(&s->prob.cm, s->xt, s->yt);
    return abut_search_contacts(s, s->yt, rep, err);
}

/* The objective where prescribed nodes have arrived and the others have not moved: s->x, or a point beside the way there, which
 * has candidates of its own.  at_least: there without the barriers, none of which is negative. */
static abut_status energy_of_staying(abut_solver *s, const double *v, int at_least, double *sum, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const abut_candidates cand = s->cand;
    const double clock = abut_time_wall();
    abut_energy e;
    abut_status rc = ABUT_OK;
    if (abut_device_serves(s)) return abut_device_staying(s, at_least, sum, rep, err);
    coasting_point(s, v, 0, s->xt);
    if (!memcmp(s->xt, s->x, 3 * (size_t)p->model->nv * sizeof *s->x)) {
        rc = abut_problem_energy(p, s->x, s->y, &s->pairs, &e, &s->scratch, err);
        *sum = abut_energy_sum(&e);
        return rc;
    }
    s->cand = (abut_candidates){ .of = { .y = NULL } };
    if (!at_least) {
        abut_collmesh_positions(&p->cm, s->xt, s->yt);
        rc = abut_candidates_again(&p->cm, s->yt, NULL, p->model->dhat[0], p->obstacle, &s->near, &s->cand, err);
        rep->seconds.candidates += abut_time_wall() - clock;
    }
    if (!rc) rc = abut_search_energy(s, &e, sum, rep, err);
    abut_candidates_clear(&s->cand);
    s->cand = cand;
    return rc;
}

/* The objective where the motion ends. */
static abut_status energy_of_coasting(abut_solver *s, const double *v, double *sum, abut_report *rep, abut_err *err)
{
    abut_energy e;
    if (abut_device_serves(s)) abut_device_coast(s, 1);
    else coasting_point(s, v, 1, s->xt);
    return abut_search_energy(s, &e, sum, rep, err);
}

abut_status abut_solver_coast(abut_solver *s, const double *v, int *coasts, abut_report *rep, abut_err *err)
{
    abut_limit lim;
    double stay = 0, coast = 0;
    *coasts = 0;
    abut_script_stop(s);
    coasting_way(s, v);
    abut_status rc = abut_solver_bound(s, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return ABUT_OK;   /* a gap too small to move at all: the minimiser tells which */
    if (rc || lim.alpha < 1) return rc;

    rc = energy_of_staying(s, v, 1, &stay, rep, err);
    if (!rc) rc = energy_of_coasting(s, v, &coast, rep, err);
    if (!rc && !(coast < stay)) {
        rc = energy_of_staying(s, v, 0, &stay, rep, err);
        if (!rc && coast < stay) rc = energy_of_coasting(s, v, &coast, rep, err);   /* its contacts again */
    }
    if (rc || !(coast < stay)) return rc;
    *coasts = 1;
    rc = abut_search_accept(s, err);
    return rc ? rc : abut_search_record(s, err);
}
