#include "solve/step/step_parts.h"

#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/barrier_term.h"
#include "energy/codim_bound.h"
#include "energy/codim_term.h"
#include "solve/search/equilibrium.h"
#include "solve/search/search_ops.h"

#include <assert.h>
#include <math.h>

static void report_contacts(const abut_search *so, abut_report *rep)
{
    const abut_pairs *q = &so->here.pairs;
    const abut_collmesh *cm = &so->prob.cm;
    const int32_t *meet = so->prob.model->bodies_meet;
    rep->contact = !cm->nc ? ABUT_CONTACT_OFF : meet && !meet[0] ? ABUT_CONTACT_NOT_BODIES : ABUT_CONTACT_BARRIER;
    rep->contacts = (int32_t)q->n;
    rep->mollified = (int32_t)(q->n - q->n_plain);
    rep->planes = (int32_t)q->n_plane;
    rep->min_gap = -1;
    size_t i;
    const double gap = abut_pairs_smallest_gap(cm, q, &i);
    if (!isfinite(gap)) return;
    rep->min_gap = gap;
    for (int k = 0; k < 4; k++) rep->gap_node[k] = i >= q->n || q->vert[i][k] < 0 ? -1 : abut_collmesh_node(cm, q->vert[i][k]);
    if (i < q->n) return;
    rep->gap_node[0] = abut_collmesh_node(cm, q->plane_vert[i - q->n]);
    rep->gap_node[3] = q->plane[i - q->n];
}

static abut_status report_stretch(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    abut_codim_stretch now;
    const abut_status rc = abut_codim_stretch_find(abut_codim_of(&p->terms), s->solver.here.x, &now, &s->solver.scratch, err);
    if (rc) return rc;
    rep->min_stretch = now.min;
    rep->max_stretch = now.max;
    rep->max_stretch_shell = now.max_shell;
    rep->stretch_room = now.room;
    rep->strain_kappa = abut_codim_state_of(&p->terms)->strain_kappa;
    return ABUT_OK;
}

static abut_status report_physics(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const double *x = s->solver.here.x;
    abut_lag_exchange(&p->terms, &s->solved_lag);
    const abut_creep creep = abut_creep_find(p, x);
    abut_lag_exchange(&p->terms, &s->solved_lag);
    rep->kinetic = abut_kinetic_energy(abut_mass_of(&p->terms), s->v_end);
    rep->gravity = abut_gravity_energy(abut_mass_of(&p->terms), x);
    abut_linear_momentum(abut_mass_of(&p->terms), s->v_end, rep->momentum);
    abut_angular_momentum(abut_mass_of(&p->terms), x, s->v_end, rep->angular);
    rep->sticking = creep.sticking;
    rep->sliding = creep.sliding;
    rep->creep_max = creep.max;
    rep->creep_mean = creep.mean;
    return abut_objective_potential(p, x, &rep->elastic, &s->solver.scratch, err);
}

abut_status abut_step_equilibrium(abut_stepper *s, abut_report *rep, abut_err *err)
{
    assert(s);
    abut_search *so = &s->solver;
    const double clock = abut_time_wall();
    abut_equilibrium e;
    abut_point *at = &so->here;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);      /* not that of the next pass */
    at->has &= ABUT_HAS_CONTACTS;
    abut_status rc = abut_point_evaluate(at, &so->prob, ABUT_HAS_GRADIENT, NULL, &so->scratch, err);
    if (!rc) rc = abut_equilibrium_find(&so->prob, at, &e, &so->scratch, err);
    at->has &= ABUT_HAS_CONTACTS;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    rep->force_residual = e.left > 0 ? e.left / e.largest : 0;
    rep->force_largest = e.of_all;
    return ABUT_OK;
}

/* Elements, contacts and what is scripted, at the iterate. */
static abut_status report_iterate(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const abut_path *path = &s->solver.path;
    int32_t flattest;
    const abut_status rc = report_stretch(s, rep, err);
    if (rc) return rc;
    rep->min_jacobian = abut_smallest_jacobian(p->model, s->solver.here.x, &flattest);
    rep->min_jacobian_tet = abut_objective_tet(p, flattest);
    rep->kappa = abut_barrier_state_of(&p->terms)->kappa;
    rep->waypoints = path->n - path->step > 2 ? path->n - path->step - 2 : 0;
    rep->eta = abut_search_progress(&s->solver);
    rep->memory_peak = abut_memory_peak();
    report_contacts(&s->solver, rep);
    return ABUT_OK;
}

abut_status abut_step_report(abut_stepper *s, abut_report *rep, abut_err *err)
{
    abut_status rc = report_physics(s, rep, err);
    if (!rc) rc = abut_step_watch_energy(s, rep, err);
    return rc ? rc : report_iterate(s, rep, err);
}

void abut_step_report_failed(abut_stepper *s, abut_report *rep)
{
    abut_err late = { 0 };  /* why the step failed is said already */
    if (s->solver.ops != &abut_search_processor) return;    /* the iterate is on a device that has failed */
    rep->time = abut_instant_next(s->at, s->solver.prob.model->h[0]).time;
    (void)report_iterate(s, rep, &late);
}
