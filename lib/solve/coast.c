#include "solve/newton_parts.h"

#include <string.h>

/* Where the scripts lead, and the others at share * h v from here. */
static void coasting_point(const abut_solver *s, const double *v, double share, double *xt)
{
    const abut_problem *p = &s->prob;
    const double h = share * p->model->h[0];
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        xt[i] = p->held[i / 3] ? p->target[i] : p->row[i / 3] >= 0 ? s->x[i] + h * v[i] : s->x[i];
}

/* s->p to there, and the end of s->p, which rounding may make another point. */
static void coasting_way(abut_solver *s, const double *v)
{
    coasting_point(s, v, 1, s->xt);
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) s->p[i] = s->xt[i] - s->x[i];
    abut_search_point(s, 1);
}

abut_status abut_solver_contacts_before(abut_solver *s, const double *v, abut_report *rep, abut_err *err)
{
    coasting_way(s, v);     /* its candidates will be asked for again */
    abut_collmesh_gather(&s->prob.cm, s->xt, s->yt);
    return abut_search_contacts(s, s->yt, rep, err);
}

abut_status abut_solver_coast(abut_solver *s, const double *v, int *coasts, abut_report *rep, abut_err *err)
{
    const abut_problem *p = &s->prob;
    const size_t n3 = 3 * (size_t)p->model->nv;
    abut_limit lim;
    abut_energy e;
    double stay = 0, coast = 0;
    *coasts = 0;
    abut_script_stop(s);
    coasting_way(s, v);
    abut_status rc = abut_solver_bound(s, 1, &lim, rep, err);
    if (rc == ABUT_E_GEOM) return ABUT_OK;   /* a gap too small to move at all: the minimiser tells which */
    if (rc || lim.alpha < 1) return rc;

    coasting_point(s, v, 0, s->xt);
    if (memcmp(s->xt, s->x, n3 * sizeof *s->x)) {
        rc = abut_search_energy(s, &e, &stay, rep, err);
    } else {
        rc = abut_problem_energy(p, s->x, s->y, &s->pairs, &e, &s->scratch, err);
        stay = abut_energy_sum(&e);
    }
    if (rc) return rc;
    coasting_point(s, v, 1, s->xt);
    rc = abut_search_energy(s, &e, &coast, rep, err);
    if (rc || !(coast < stay)) return rc;
    *coasts = 1;
    abut_search_accept(s);
    return abut_path_add(&s->path, &s->prob.cm, s->prob.obstacle, s->x, &s->near, err);
}
