#include "solve/step/step_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/barrier_term.h"
#include "energy/codim_bound.h"
#include "energy/codim_term.h"
#include "solve/search/equilibrium.h"
#include "solve/search/search_parts.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

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
    const int euler = p->w.scheme == ABUT_IMPLICIT_EULER && (!p->model->scheme || p->model->scheme[0] == p->w.scheme);
    const abut_status rc = !euler || abut_search_count(&s->solver) ? ABUT_OK :
                           abut_spin_taken(p, s->v, s->v_end, abut_step_least_motion(p->model), &rep->spin_taken,
                                           &s->solver.scratch, err);
    return rc ? rc : abut_objective_potential(p, x, &rep->elastic, &s->solver.scratch, err);
}

/* Returns 1 if forces worse balanced than ten times the tolerance fail the step.  A stage that has not minimised does not know
 * the stopping rule of its candidate. */
static int gives_up(const abut_search *so, const abut_equilibrium *e, const abut_report *rep)
{
    const double *want = so->prob.model->force_tolerance;
    return so->failed.iterations && so->opt.stop.rule == ABUT_STOP_NEWTON && !rep->fixed_iterations && want &&
           !abut_rule_balanced(e->left, e->largest, ABUT_UNBALANCED * *want);
}

/* Evaluates the gradient at so->trial: every coordinate of the iterate, moved up or down by the rounding of the largest of its
 * node. */
static abut_status gradient_beside(abut_search *so, abut_err *err)
{
    const abut_objective *p = &so->prob;
    abut_point *to = &so->trial;
    memcpy(to->x, so->here.x, 3 * (size_t)p->model->nv * sizeof *to->x);
    for (uint32_t i = 0; i < (uint32_t)p->model->nv; i++) {
        const double by = DBL_EPSILON * abut_largest(so->here.x + 3 * (size_t)i, 3);
        for (uint32_t k = 0; k < 3; k++) to->x[3 * (size_t)i + k] += (3 * i + k) * 2654435769u >> 31 ? by : -by;  /* Knuth 6.4 */
    }
    abut_point_set(to, p, to->x, 0, NULL);
    const abut_status rc = abut_candidates_again(&p->cm, so->here.y, NULL, p->model->dhat[0], p->cm.obstacle, &so->near,
                                                 &so->cand, err);
    return rc ? rc : abut_point_evaluate(to, p, ABUT_HAS_CONTACTS | ABUT_HAS_GRADIENT, &so->cand, &so->scratch, err);
}

/* Refuses forces that are too far from balance, unless rounding of positions explains it. */
static abut_status judge_forces(abut_search *so, const abut_report *rep, int *refused, abut_err *err)
{
    abut_equilibrium e;
    abut_status rc = gradient_beside(so, err);
    const abut_point *near = so->trial.has & ABUT_HAS_GRADIENT ? &so->trial : NULL;
    if (!rc) rc = abut_equilibrium_find(&so->prob, &so->here, near, &e, NULL, &so->scratch, err);
    *refused = !rc && gives_up(so, &e, rep);
    if (!*refused) return rc;
    so->failed.unbalanced = e.left / e.largest;
    for (so->failed.node = 0; so->prob.model->body[so->failed.node] != e.object;) so->failed.node++;
    return ABUT_OK;
}

abut_status abut_step_equilibrium(abut_stepper *s, abut_report *rep, abut_err *err)
{
    assert(s);
    abut_search *so = &s->solver;
    const double clock = abut_time_wall();
    int refused = 0;
    abut_equilibrium e;
    abut_point *at = &so->here;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);      /* the friction that acted, not that for the next pass */
    at->has &= ABUT_HAS_CONTACTS;
    abut_status rc = abut_point_evaluate(at, &so->prob, ABUT_HAS_GRADIENT, NULL, &so->scratch, err);
    if (!rc) rc = abut_equilibrium_find(&so->prob, at, NULL, &e, NULL, &so->scratch, err);
    if (!rc && gives_up(so, &e, rep)) rc = judge_forces(so, rep, &refused, err);
    at->has &= ABUT_HAS_CONTACTS;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    rep->force_residual = e.left > 0 ? e.left / e.largest : 0;
    rep->force_largest = e.of_all;
    if (!refused) return ABUT_OK;
    rc = abut_search_fail(so, ABUT_FAILED_UNBALANCED, err);
    return abut_wrap(err, "step %lld (t = %g s)", (long long)s->at.step + 1, s->at.time), rc;
}

/* Reports elements, contacts and scripted motion, at the iterate. */
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
    abut_err late = { 0 };  /* the step has its error already */
    if (s->solver.ops != &abut_search_processor) return;    /* the iterate is on a device that has failed */
    rep->time = abut_instant_next(s->at, s->solver.prob.model->h[0]).time;
    (void)report_iterate(s, rep, &late);
}
