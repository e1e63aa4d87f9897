/* The report of a step: balance, contacts, stretches, energies and momenta, and the error of its contact forces. */
#include "solve/step/step_parts.h"

#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/stretch.h"
#include "solve/search/equilibrium.h"
#include "solve/search/search_ops.h"
#include "solve/search/search_parts.h"
#include "solve/step/measures.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void abut_step_report_gap(const abut_collmesh *cm, const abut_pairs *q, abut_report *rep)
{
    size_t i;
    const double gap = abut_pairs_smallest_gap(cm, q, &i);
    rep->min_gap = -1;
    if (!isfinite(gap)) return;
    rep->min_gap = gap;
    for (int k = 0; k < 4; k++) rep->gap_node[k] = i >= q->n || q->vert[i][k] < 0 ? -1 : abut_collmesh_node(cm, q->vert[i][k]);
    if (i < q->n) return;
    rep->gap_node[0] = abut_collmesh_node(cm, q->plane_vert[i - q->n]);
    rep->gap_node[3] = q->plane[i - q->n];
}

static void report_contacts(const abut_search *so, abut_report *rep)
{
    const abut_pairs *q = &so->here.pairs;
    const abut_collmesh *cm = &so->prob.cm;
    const int32_t *meet = so->prob.model->bodies_meet;
    rep->contact = !cm->nc ? ABUT_CONTACT_OFF : meet && !meet[0] ? ABUT_CONTACT_NOT_BODIES : ABUT_CONTACT_BARRIER;
    rep->contacts = (int32_t)q->n;
    rep->mollified = (int32_t)(q->n - q->n_plain);
    rep->planes = (int32_t)q->n_plane;
    abut_step_report_gap(cm, q, rep);
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
    rep->rigid_strain = abut_rigid_strain(abut_elastic_of(&p->terms), s->solver.here.x, NULL, NULL);
    return ABUT_OK;
}

static abut_status report_physics(abut_stepper *s, abut_report *rep, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const double *x = s->solver.here.x;
    abut_lag_exchange(&p->terms, &s->solved_lag);
    const abut_creep creep = abut_creep_find(p, x);
    abut_lag_exchange(&p->terms, &s->solved_lag);
    abut_report_motion(p, x, s->v_end, rep);
    rep->sticking = creep.sticking;
    rep->sliding = creep.sliding;
    rep->creep_max = creep.max;
    rep->creep_mean = creep.mean;
    const int plain = abut_scheme_is(abut_scheme_of(p->model), ABUT_SCHEME_PLAIN);
    const abut_status rc = !plain || abut_search_count(&s->solver) ? ABUT_OK :
                           abut_spin_taken(p, s->v, s->v_end, abut_step_least_motion(p->model), &rep->spin_taken,
                                           &s->solver.scratch, err);
    return rc ? rc : abut_objective_potential(p, x, &rep->elastic, &s->solver.scratch, err);
}

/* Returns 1 if forces worse balanced than ten times the tolerance fail the step.  A stage that has not minimised does not know
 * the stopping rule of its candidate. */
static int gives_up(const abut_search *so, const abut_equilibrium *e, const abut_report *rep)
{
    const double *want = so->prob.model->force_tolerance;
    return so->failed.iterations && so->opt->search.stop == ABUT_STOP_NEWTON && !rep->fixed_iterations && want &&
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
    return abut_search_fail(so, ABUT_FAILED_UNBALANCED, err);
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

/* ---- error of contact forces ---- */

/* Estimates how far the contact forces of a step are from those of a step that is solved exactly, with converged friction.
 *
 * F is the sum of contact and friction forces on an object, with the friction that acted; F' has the friction refreshed at the
 * end of the step.  d and d' are the Newton directions of the two objectives at the end.
 *
 *     balance = |DF d|                change by the residual forces
 *     newton  = balance q / (1 - q)   change by the directions after d.  They shrink by q (Deuflhard 2004, 2.1): the largest
 *                                     displacement of d over the smallest gap, by which stiffnesses of barriers change; at most
 *                                     1/2
 *     passes  = |G - F - DF d|        change by another friction pass
 *
 * G is F' + DF' d'.  If d' is longer than the tolerance, G is F' at the end of a pass, because a linear model does not contain
 * transitions between stick and slip. */

#define APART 1e-5      /* of the smallest gap: step of differences */
#define HALF 0.5        /* q at most */
enum { MOST = 30 };     /* iterations of the pass */

/* Writes to f[no], N, the sums of contact and friction forces at a point with contacts. */
static abut_status sums(abut_search *so, const abut_point *at, double (*f)[3], abut_err *err)
{
    const abut_objective *o = &so->prob;
    const abut_model *m = o->model;
    const double scale = o->w.h_force * o->w.h_force;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double *g = ABUT_NEW(&so->scratch, double, 3 * (size_t)m->nv);
    if (!g) return abut_fail(err, ABUT_E_NOMEM, "error of contact forces: %d nodes", m->nv);
    const abut_at here = abut_point_at(at, o);
    const int kinds = 1 << ABUT_TERM_CONTACT | 1 << ABUT_TERM_FRICTION;
    const abut_status rc = abut_objective_gradient_add(o, &here, kinds, g, &so->scratch, err);
    memset(f, 0, (size_t)m->no * sizeof *f);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++) f[m->body[i / 3]][i % 3] -= g[i] / scale;
    abut_arena_release(&so->scratch, mark);
    return rc;
}

static double smallest_gap(const abut_search *so)
{
    return fmin(abut_pairs_smallest_gap(&so->prob.cm, &so->here.pairs, NULL), abut_least_dhat(so->prob.model));
}

/* Finds the Newton direction so->p at the iterate, and f[no] = F, to[no] = F + DF p. */
static abut_status forecast(abut_search *so, double *speed, double (*f)[3], double (*to)[3], abut_err *err)
{
    const abut_objective *o = &so->prob;
    abut_report unread = { 0 };
    abut_search_forget(so);
    abut_objective_majorant_forget(o);
    abut_status rc = abut_search_residual(so, speed, &unread, err);
    if (!rc) rc = sums(so, &so->here, f, err);
    if (!rc) memcpy(to, f, (size_t)o->model->no * sizeof *f);
    const double far = abut_largest(so->p, 3 * (size_t)o->model->nv), step = APART * smallest_gap(so) / far;
    if (rc || !(far > 0)) return rc;
    abut_point_set(&so->trial, o, so->here.x, step, so->p);
    rc = abut_candidates_again(&o->cm, so->here.y, NULL, o->model->dhat[0], o->cm.obstacle, &so->near, &so->cand, err);
    if (!rc) rc = abut_point_evaluate(&so->trial, o, ABUT_HAS_CONTACTS, &so->cand, &so->scratch, err);
    if (!rc) rc = sums(so, &so->trial, to, err);
    for (double *a = *f, *b = *to; b < *to + 3 * o->model->no && !rc; a++, b++) *b = *a + (*b - *a) / step;
    return rc;
}

/* Writes F' at the end of a pass, or after MOST iterations of it, to f[no]; the iterate stays. */
static abut_status pass(abut_search *so, double (*f)[3], abut_err *err)
{
    const abut_solve_options *opt = so->opt;
    abut_solve_options published = *opt;
    const abut_path path = so->path;
    const abut_failure failed = so->failed;
    abut_report unread = { 0 };
    abut_err late = { 0 };
    abut_point end = { 0 };
    abut_status rc = abut_point_init(&end, &so->prob, ABUT_POINTS - 1, err);
    if (rc) return rc;
    abut_point_swap(&end, &so->here);
    so->path = (abut_path){ 0 };
    published.search.stop = ABUT_STOP_PUBLISHED;
    published.search.max_newton = MOST;
    published.real_time.iterations = 0;
    so->opt = &published;
    abut_search_place(so, end.x);
    rc = abut_path_start(&so->path, &so->prob.cm, end.x, &late);
    if (!rc) rc = abut_search_minimise(so, &unread, &late);
    if (rc == ABUT_E_NUMERIC) rc = ABUT_OK;
    if (rc && err) *err = late;
    if (!rc) rc = sums(so, &so->here, f, err);
    abut_path_clear(&so->path);
    abut_report_clear(&unread);
    so->opt = opt, so->path = path, so->failed = failed;
    abut_point_swap(&end, &so->here);
    abut_point_clear(&end);
    return rc;
}

/* Returns 1 if a contact begins or ceases to slide along the direction at the iterate. */
static int turns(abut_search *so)
{
    const abut_objective *o = &so->prob;
    abut_point_set(&so->trial, o, so->here.x, 1, so->p);
    return abut_friction_turns(abut_lag_of(&o->terms), o->w.eps_v * o->w.h_force, o->still, so->here.x, so->trial.x);
}

static double norm(const double *a, const double *b) { return abut_v3_norm(abut_v3_diff(a, b)); }

void abut_step_report_error(const double (*error)[3], const double *largest, int32_t no, abut_report *rep)
{
    double worst = 0;
    for (int32_t i = 0; i < no; i++) {
        const double now = abut_error_sum(error[i]) / largest[i];
        if (!(now > worst)) continue;
        worst = now;
        for (int k = 0; k < ABUT_ERRORS; k++) rep->contact_error[k] = error[i][k] / largest[i];
    }
}

abut_status abut_step_force_error(abut_stepper *s, double (*error)[3], abut_report *rep, abut_err *err)
{
    assert(s);
    abut_search *so = &s->solver;
    const abut_terms *terms = &so->prob.terms;
    const int32_t no = so->prob.model->no;
    const abut_solve_options *opt = so->opt;
    abut_solve_options here = *opt;
    const double clock = abut_time_wall();
    memset(error, 0, (size_t)no * sizeof *error);
    if (!abut_search_count(so) && !s->solved_lag.n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(&so->scratch);
    double (*f)[3] = (double (*)[3])ABUT_NEW(&so->scratch, double, 10 * (size_t)no + 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "error of contact forces: %d objects", no);
    double (*to)[3] = f + no, (*next)[3] = f + 2 * no, *largest = f[3 * no], speed;
    abut_equilibrium e;
    here.device.place.ops = NULL;   /* everything is on the processor */
    so->opt = &here;
    abut_lag_exchange(terms, &s->solved_lag);
    abut_status rc = forecast(so, &speed, f, to, err);
    if (!rc) rc = abut_equilibrium_find(&so->prob, &so->here, NULL, &e, largest, &so->scratch, err);
    abut_lag_exchange(terms, &s->solved_lag);
    const double q = fmin(abut_largest(so->p, 3 * (size_t)so->prob.model->nv) / smallest_gap(so), HALF);
    const int lags = abut_lag_of(terms)->n || s->solved_lag.n;
    for (int32_t i = 0; i < no && !rc; i++) {
        error[i][ABUT_ERROR_BALANCE] = norm(to[i], f[i]);
        error[i][ABUT_ERROR_NEWTON] = error[i][ABUT_ERROR_BALANCE] * q / (1 - q);
    }
    if (!rc && lags) rc = forecast(so, &speed, f, next, err);
    if (!rc && lags && (speed > so->prob.model->tolerance[0] || turns(so))) rc = pass(so, next, err);
    for (int32_t i = 0; i < no && !rc && lags; i++) error[i][ABUT_ERROR_PASSES] = norm(next[i], to[i]);
    if (!rc) abut_step_report_error((const double (*)[3])error, largest, no, rep);
    so->opt = opt;
    so->here.has &= ABUT_HAS_CONTACTS;
    abut_arena_release(&so->scratch, mark);
    rep->seconds.friction += abut_time_wall() - clock;
    return rc;
}
