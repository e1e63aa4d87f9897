/* Frames of a step: its state, its records, and the state of a step that failed. */
#include "solve/step/measures.h"

#include "base/par.h"
#include "contact/candidates.h"
#include "energy/codim.h"
#include "energy/joint.h"
#include "energy/mass.h"
#include "energy/pressure.h"
#include "solve/step/step_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *const abut_with_names[] = { "forces", "energies", "contacts", NULL };

/* ---- the state ---- */

static abut_status put_nodes(abut_arrays *out, const char *name, const double *value, int32_t nv, abut_err *err)
{
    double *to = abut_frame_put(out, name, nv, err);
    if (!to) return err->code;
    memcpy(to, value, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

/* Returns how many states before its start the next step reads, in BDF. */
static int next_past(const abut_objective *p)
{
    const int most = abut_schemes[abut_scheme_of(p->model)].past;
    const int known = abut_schemes[p->w.scheme].past + 1;
    return known < most ? known : most;
}

double abut_step_end_weight(const abut_objective *p)
{
    const int next = next_past(p), starts = next > abut_schemes[p->w.scheme].past;
    const double here = abut_integrator_step_weight(p->model, p->w.scheme);
    const double weight = abut_integrator_step_weight(p->model, abut_integrator_bdf(next)) / here;
    return starts ? weight : abut_step_kappa_weight(p);
}

/* Writes the past that the step after a COMMITTED frame needs, or (pending) the continued step. */
static abut_status put_past(const abut_stepper *s, int pending, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    if (abut_integrator_rebounds(p->model)) {
        abut_status rc = abut_step_put_damping(s, out, err);
        if (!rc && abut_scheme_is(abut_scheme_of(p->model), ABUT_SCHEME_ACCELERATION))
            rc = put_nodes(out, "node/a", pending ? s->a : s->a_end, nv, err);
        return rc;
    }
    /* the start of this step is one step before its end, and so on */
    const int known = abut_schemes[p->w.scheme].past, n = pending ? known : next_past(p);
    abut_status rc = ABUT_OK;
    for (int k = 0; k < n && !rc; k++) {
        char name[24];
        snprintf(name, sizeof name, "node/x%d", k + 1);
        rc = put_nodes(out, name, pending ? s->past.x[k] : k ? s->past.x[k - 1] : p->xn, nv, err);
        snprintf(name, sizeof name, "node/v%d", k + 1);
        if (!rc) rc = put_nodes(out, name, pending ? s->past.v[k] : k ? s->past.v[k - 1] : s->v, nv, err);
    }
    return rc;
}

abut_status abut_step_put_waypoints(const abut_path *path, int32_t nv, abut_arrays *out, abut_err *err)
{
    const int first = path->step + 1, points = path->n - 1 - first;
    if (points <= 0) return ABUT_OK;
    double *to = abut_frame_put(out, "step/waypoints", (int64_t)points * nv, err);
    if (!to) return err->code;
    for (int i = 0; i < points; i++) memcpy(to + (size_t)i * path->n3, path->point[first + i], path->n3 * sizeof *to);
    return ABUT_OK;
}

abut_status abut_step_put_state(const abut_stepper *s, const double *v, int pending, abut_arrays *out, abut_err *err)
{
    assert(s);
    const abut_objective *p = &s->solver.prob;
    const int32_t nv = p->model->nv;
    abut_status rc = put_nodes(out, "node/x", s->solver.here.x, nv, err);
    if (!rc) rc = put_nodes(out, "node/v", v, nv, err);
    if (!rc) rc = put_past(s, pending, out, err);
    if (rc) return rc;
    const abut_term_frame as = { 0, pending ? abut_step_kappa_weight(p) : abut_step_end_weight(p), NULL };
    const int first = out->n;
    rc = abut_objective_store(p, &as, out, err);
    if (!rc) rc = abut_step_put_waypoints(&s->solver.path, nv, out, err);
    if (!rc) abut_frame_sort(out, first);
    return rc;
}

/* ---- forces ---- */

static abut_status forces_new(const abut_solved *s, abut_forces *f, abut_arena *scratch, abut_err *err)
{
    const size_t n = 3 * (size_t)s->objective->model->nv;
    f->contact = ABUT_NEW(scratch, double, n);
    f->friction = ABUT_NEW(scratch, double, n);
    f->damping = ABUT_NEW(scratch, double, n);
    f->elastic = ABUT_NEW(scratch, double, n);
    if (f->contact && f->friction && f->damping && f->elastic) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "forces on %zu nodes", n / 3);
}

static abut_status forces_find(const abut_solved *s, abut_forces *f, abut_arena *scratch, abut_err *err)
{
    abut_status rc = forces_new(s, f, scratch, err);
    if (!rc) rc = abut_force(s, ABUT_TERM_CONTACT, f->contact, scratch, err);
    if (!rc) rc = abut_force(s, ABUT_TERM_FRICTION, f->friction, scratch, err);
    if (!rc) rc = abut_force(s, ABUT_TERM_DAMPING, f->damping, scratch, err);
    if (!rc) rc = abut_force_elastic(s, s->x, f->elastic, scratch, err);
    return rc;
}

/* Forces one step before: those in that frame, and elasticity, which depends on positions alone. */
static abut_status forces_last(const abut_solved *s, const abut_frame *before, const abut_forces *now, abut_forces *last,
                               abut_arena *scratch, abut_err *err)
{
    *last = *now;
    if (!abut_scheme_is(s->objective->w.scheme, ABUT_SCHEME_ACCELERATION)) return ABUT_OK;
    const size_t n = 3 * (size_t)s->objective->model->nv;
    abut_status rc = forces_new(s, last, scratch, err);
    if (rc) return rc;
    const struct {
        double *to;
        const double *there, *here;
    } known[] = { { last->contact, before->f_contact, now->contact }, { last->friction, before->f_friction, now->friction },
                  { last->damping, before->f_damping, now->damping } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].there || !s->first) memcpy(known[i].to, known[i].there ? known[i].there : known[i].here, n * sizeof(double));
    if (s->first && !before->f_damping && (rc = abut_force_damping_start(s, last->damping, scratch, err))) return rc;
    /* under the pressures of the start, where the step before has ended */
    abut_air *air = abut_air_of(&s->objective->terms);
    if (air) abut_air_press(air, s->objective->step.load_time - s->objective->model->h[0]);
    rc = abut_force_elastic(s, s->objective->xn, last->elastic, scratch, err);
    if (air) abut_air_press(air, s->objective->step.load_time);
    return rc;
}

/* ---- arrays ---- */

static abut_status put_real(abut_arrays *out, const char *name, double value, abut_err *err)
{
    double *to = abut_frame_put(out, name, 1, err);
    if (!to) return err->code;
    *to = value;
    return ABUT_OK;
}

static abut_status put_count(abut_arrays *out, const char *name, int32_t value, abut_err *err)
{
    int32_t *to = abut_frame_put(out, name, 1, err);
    if (!to) return err->code;
    *to = value;
    return ABUT_OK;
}

static abut_status put_vector(abut_arrays *out, const char *name, const double value[3], abut_err *err)
{
    double *to = abut_frame_put(out, name, 3, err);
    if (!to) return err->code;
    memcpy(to, value, 3 * sizeof *to);
    return ABUT_OK;
}

static abut_status put_on_half_spaces(const abut_solved *s, abut_arrays *out, abut_err *err)
{
    double *to = abut_frame_put(out, "half-space/friction-force", s->objective->model->nh, err);
    if (!to) return err->code;
    abut_force_friction_half_spaces(s, to);
    return ABUT_OK;
}

static abut_status put_forces(const abut_solved *s, const abut_forces *f, const double *balance, abut_arrays *out, abut_err *err)
{
    const abut_objective *p = s->objective;
    const int32_t nv = p->model->nv;
    abut_status rc = put_nodes(out, "node/contact-force", f->contact, nv, err);
    if (!rc) rc = put_nodes(out, "node/friction-force", f->friction, nv, err);
    if (!rc && p->model->nh) rc = put_on_half_spaces(s, out, err);
    if (!rc && abut_objective_has(p, ABUT_TERM_DAMPING)) rc = put_nodes(out, "node/damping-force", f->damping, nv, err);
    if (!rc && s->air) rc = put_nodes(out, "node/air-force", s->air, nv, err);
    if (!rc) rc = put_nodes(out, "node/reaction-force", balance, nv, err);
    if (rc) return rc;
    double *reaction = abut_arrays_find(out, "node/reaction-force")->data;
    for (int32_t i = 0; i < nv; i++)
        if (!p->held[i]) reaction[3 * i] = reaction[3 * i + 1] = reaction[3 * i + 2] = 0;
    return ABUT_OK;
}

static abut_status put_creep(const abut_solved *s, abut_arrays *out, abut_err *err)
{
    const abut_creep c = abut_creep_find(s->objective, s->x);
    abut_status rc = put_count(out, "contact/sticking", c.sticking, err);
    if (!rc) rc = put_count(out, "contact/sliding", c.sliding, err);
    if (!rc) rc = put_real(out, "contact/creep-max", c.max, err);
    if (!rc) rc = put_real(out, "contact/creep-mean", c.mean, err);
    return rc;
}

/* ---- energy ---- */

/* Returns the work of forces on held nodes and of moments on clamps of rods. */
static abut_status reaction_work(const abut_solved *s, const double *balance, double *work, abut_err *err)
{
    const abut_objective *p = s->objective;
    abut_acc sum = { 0, 0 };
    double clamps;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3]) abut_acc_add(&sum, balance[i] * (s->x[i] - p->xn[i]));
    const abut_status rc = abut_work_clamps(p, s->x, &clamps, err);
    abut_acc_add(&sum, clamps);
    *work = sum.hi + sum.lo;
    return rc;
}

abut_status abut_start_potentials(const abut_objective *p, double *elastic, double *barrier, abut_arena *scratch, abut_err *err)
{
    const abut_solved s = { .objective = p };
    const abut_mark mark = abut_arena_mark(scratch);
    abut_candidates cand = { 0 };
    abut_pairs pairs = { 0 };
    double *y = ABUT_NEW(scratch, double, 3 * (size_t)p->model->nc);
    abut_status rc = y ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "energies: %d collision vertices", p->model->nc);
    if (!rc) {
        abut_collmesh_positions(&p->cm, p->xn, y);
        cand.search.by_area = 1;
        rc = abut_candidates_find(&p->cm, y, NULL, p->model->dhat[0], p->cm.obstacle, &cand, err);
    }
    if (!rc) rc = abut_pairs_find(&p->cm, &cand, y, p->cm.obstacle, &pairs, err);
    if (!rc) rc = abut_potentials(&s, p->xn, y, &pairs, elastic, barrier, scratch, err);
    abut_pairs_clear(&pairs);
    abut_candidates_clear(&cand);
    abut_arena_release(scratch, mark);
    return rc;
}

/* Writes work/NAME and its sum over all steps. */
static abut_status put_work(abut_arrays *out, const char *name, double work, const char *total, const double *before,
                            abut_err *err)
{
    const abut_status rc = put_real(out, name, work, err);
    return rc ? rc : put_real(out, total, before ? *before + work : work, err);
}

/* psi: Psi at both ends of the step, under the pressures at these instants, if pressures change in time. */
static abut_status potentials_of_pressures(const abut_solved *s, double psi[2], abut_arena *scratch, abut_err *err)
{
    const abut_objective *p = s->objective;
    abut_air *air = abut_air_of(&p->terms);
    const double share = abut_schemes[abut_scheme_of(p->model)].share, h = p->model->h[0];
    if (!air || !air->pressure) return ABUT_OK;
    abut_air_press(air, p->step.load_time - share * h);
    abut_status rc = abut_objective_potential(p, p->xn, &psi[0], scratch, err);
    abut_air_press(air, p->step.load_time + (1 - share) * h);
    if (!rc) rc = abut_objective_potential(p, s->x, &psi[1], scratch, err);
    abut_air_press(air, p->step.load_time);
    return rc;
}

static abut_status put_energies(const abut_solved *s, const abut_forces *now, const abut_forces *last, const double *balance,
                                const abut_frame *before, abut_arrays *out, abut_arena *scratch, abut_err *err)
{
    const abut_mass *M = abut_mass_of(&s->objective->terms);
    double elastic[2], barrier[2], load = 0, reaction;
    abut_status rc = abut_start_potentials(s->objective, &elastic[0], &barrier[0], scratch, err);
    if (!rc) rc = abut_potentials(s, s->x, s->y, s->pairs, &elastic[1], &barrier[1], scratch, err);
    if (!rc) rc = abut_work_load(s, &load, scratch, err);
    if (!rc) rc = reaction_work(s, balance, &reaction, err);
    if (rc) return rc;
    const double kinetic = abut_kinetic_energy(M, s->v), gravity = abut_gravity_energy(M, s->x);
    const abut_at at = abut_objective_at(s->objective, s->x, s->y, s->pairs);
    const abut_joints_book joints = abut_joints_energies(abut_joints_of(&s->objective->terms), &at);
    const double friction = abut_work(s, s->objective->w.late_contact, now->friction, last->friction) + joints.friction;
    const double damping = abut_work(s, s->objective->w.late, now->damping, last->damping) + joints.damping;
    load += joints.load;
    const double strain_kappa = abut_codim_state_of(&s->objective->terms)->strain_kappa;
    const double *strain_kappa0 = before->strain_kappa0 ? before->strain_kappa0 : before->strain_kappa;
    const int strain = before->elastic && strain_kappa0 && *strain_kappa0 != strain_kappa;
    double pressed[2] = { elastic[0], elastic[1] };
    if ((rc = potentials_of_pressures(s, pressed, scratch, err))) return rc;
    const double stiffness = (before->barrier ? barrier[0] - *before->barrier : 0) +
                             (strain ? elastic[0] + joints.start - *before->elastic : elastic[0] - pressed[0]) +
                             (pressed[1] - elastic[1]);
    const double gain[] = { kinetic, -abut_kinetic_energy(M, s->v0), gravity, -abut_gravity_energy(M, s->objective->xn),
                            elastic[1], -elastic[0], barrier[1], -barrier[0], -friction, -damping, -reaction, -load,
                            joints.end, -joints.start };
    const double numerical = abut_sum(gain, sizeof gain / sizeof *gain);

    rc = put_real(out, "energy/kinetic", kinetic, err);
    if (!rc) rc = put_real(out, "energy/elastic", pressed[1] + joints.end, err);
    if (!rc) rc = put_real(out, "energy/gravity", gravity, err);
    if (!rc) rc = put_real(out, "energy/barrier", barrier[1], err);
    if (!rc) rc = put_work(out, "work/friction", friction, "work/friction-total", before->t_friction, err);
    if (!rc) rc = put_work(out, "work/damping", damping, "work/damping-total", before->t_damping, err);
    if (!rc) rc = put_work(out, "work/reaction", reaction, "work/reaction-total", before->t_reaction, err);
    if (!rc) rc = put_work(out, "work/load", load, "work/load-total", before->t_load, err);
    if (!rc) rc = put_work(out, "work/stiffness", stiffness, "work/stiffness-total", before->t_stiffness, err);
    if (!rc) rc = put_work(out, "work/numerical", numerical, "work/numerical-total", before->t_numerical, err);
    return rc;
}

static abut_status put_momenta(const abut_solved *s, abut_arrays *out, abut_err *err)
{
    const abut_mass *M = abut_mass_of(&s->objective->terms);
    double linear[3], angular[3], center[3];
    abut_linear_momentum(M, s->v, linear);
    abut_angular_momentum(M, s->x, s->v, angular);
    abut_mass_center(M, s->x, center);
    abut_status rc = put_vector(out, "momentum/linear", linear, err);
    if (!rc) rc = put_vector(out, "momentum/angular", angular, err);
    if (!rc) rc = put_vector(out, "mass/center", center, err);
    return rc;
}

/* Adds the records `with` to the frame `out` of a solved step.  before: the frame before, or the PENDING one of this step;
 * iterations: of Newton.  In Newmark, ENERGIES include FORCES, for the next step. */
static abut_status record_put(const abut_solved *s, int with, int iterations, const abut_arrays *before, abut_arrays *out,
                              abut_arena *scratch, abut_err *err)
{
    assert(s);
    if (!with) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    const abut_model *m = s->objective->model;
    const int forces = with & ABUT_WITH_FORCES, accelerates = abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_ACCELERATION);
    abut_frame was;
    abut_forces now, last;
    abut_status rc = abut_frame_view(before, m, &was, err);
    if (!rc) rc = forces_find(s, &now, scratch, err);
    if (!rc) rc = forces_last(s, &was, &now, &last, scratch, err);
    double *balance = ABUT_NEW(scratch, double, 3 * (size_t)m->nv);
    if (!rc && !balance) rc = abut_fail(err, ABUT_E_NOMEM, "forces on %d nodes", m->nv);
    if (!rc) rc = abut_balance(s, &now, &last, balance, scratch, err);
    if (!rc && (forces || accelerates)) rc = put_forces(s, &now, balance, out, err);
    if (!rc && forces) rc = put_creep(s, out, err);
    if (!rc && forces) rc = put_real(out, "step/force-residual", s->force_residual, err);
    if (!rc && (with & ABUT_WITH_ENERGIES)) rc = put_energies(s, &now, &last, balance, &was, out, scratch, err);
    if (!rc && (with & ABUT_WITH_ENERGIES)) rc = put_momenta(s, out, err);
    if (!rc) rc = put_count(out, "step/iterations", iterations, err);
    abut_arena_release(scratch, mark);
    return rc;
}

abut_status abut_record_keep(const abut_arrays *before, abut_arrays *out, abut_err *err)
{
    static const char *const state[] = { "node/contact-force",   "node/friction-force", "half-space/friction-force",
                                         "node/damping-force",   "node/air-force",      "energy/barrier",
                                         "energy/elastic",       "step/strain-kappa",
                                         "work/friction-total",  "work/damping-total",  "work/reaction-total",
                                         "work/load-total",      "work/stiffness-total", "work/numerical-total" };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof state / sizeof *state && !rc; i++) {
        const abut_array *a = abut_arrays_find(before, state[i]);
        if (a) rc = abut_arrays_copy(out, a, err);
    }
    const abut_array *kappa = abut_arrays_find(before, "strain/kappa");
    if (rc || !kappa || !abut_arrays_find(before, "energy/elastic") || abut_arrays_find(before, "step/x0")) return rc;
    return put_real(out, "step/strain-kappa", *(const double *)kappa->data, err);   /* before is COMMITTED */
}

abut_status abut_step_put_record(abut_stepper *s, int with, const abut_report *rep, const abut_arrays *before,
                                   abut_arrays *out, abut_err *err)
{
    abut_search *so = &s->solver;
    const abut_point *at = &so->here;
    const abut_solved done = { .objective = &so->prob, .pairs = &at->pairs, .x = at->x, .y = at->y, .v0 = s->v, .v = s->v_end,
                               .past_v = s->past.v, .acc0 = s->acc0, .acc = s->acc, .air = s->air,
                               .force_residual = rep->force_residual, .first = s->at.step == 0 };
    const double last = s->at.time - (done.first ? 0 : so->prob.model->h[0]);
    abut_status rc = with ? abut_step_accelerate(s, last, s->at.time, s->acc0, err) : ABUT_OK;
    if (!rc && with && s->air) rc = abut_step_finish_drag(s, before, err);
    if (rc) return rc;
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    rc = record_put(&done, with, s->newton, before, out, &so->scratch, err);
    abut_lag_exchange(&so->prob.terms, &s->solved_lag);
    return rc;
}

/* ---- failed steps ---- */

static abut_status put_vectors(const abut_search *so, const char *name, const double *v, const char *unit, abut_arrays *out,
                               abut_err *err)
{
    const int32_t nv = so->prob.model->nv;
    double *to = abut_arrays_put_rows(out, name, ABUT_F64, nv, 3, unit, err);
    if (!to) return err->code;
    memcpy(to, v, 3 * (size_t)nv * sizeof *to);
    return ABUT_OK;
}

static abut_status put_gradient(abut_search *so, abut_arrays *out, abut_err *err)
{
    abut_status rc = abut_point_evaluate(&so->here, &so->prob, ABUT_HAS_GRADIENT, NULL, &so->scratch, err);
    if (!rc) rc = put_vectors(so, "stuck/gradient", so->here.g, "kg m", out, err);
    return rc ? rc : put_vectors(so, "stuck/direction", so->p, "m", out, err);
}

static abut_status put_history(const abut_report *rep, abut_arrays *out, abut_err *err)
{
    const int n = abut_report_rows(rep);
    double *alpha = abut_arrays_put_rows(out, "stuck/alpha", ABUT_F64, n, 0, "", err);
    if (!alpha) return err->code;
    for (int i = 0; i < n; i++) alpha[i] = abut_report_row(rep, i)->alpha;
    double *residual = abut_arrays_put_rows(out, "stuck/residual", ABUT_F64, n, 0, "m/s", err);
    if (!residual) return err->code;
    for (int i = 0; i < n; i++) residual[i] = abut_report_row(rep, i)->residual;
    return ABUT_OK;
}

static abut_status put_limit(const abut_objective *p, const abut_limit *l, abut_arrays *out, abut_err *err)
{
    int32_t *to = abut_arrays_put_rows(out, "stuck/limit", ABUT_I32, 6, 0, "", err);
    if (!to) return err->code;
    const int names = l->kind != ABUT_LIMIT_NONE && l->kind != ABUT_LIMIT_LENGTH && l->kind != ABUT_LIMIT_CFL;
    to[0] = (int32_t)l->kind;
    for (int k = 0; k < 4; k++) to[1 + k] = names ? l->node[k] : -1;
    to[5] = l->kind == ABUT_LIMIT_TET ? abut_objective_tet(p, l->tet) : l->term ? l->tet : -1;
    return ABUT_OK;
}

abut_status abut_step_stuck(abut_stepper *s, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                            abut_err *err)
{
    assert(s);
    abut_search *so = &s->solver;
    abut_status rc = abut_path_shorten(&so->path, &so->prob.cm, so->prob.cm.obstacle, &so->near, err);
    if (!rc) rc = abut_step_suspend(s, carry, out, err);
    if (!rc) rc = abut_arrays_put_text(out, "stuck/why", why, err);
    if (!rc) rc = put_gradient(so, out, err);
    if (!rc) rc = put_history(rep, out, err);
    return rc ? rc : put_limit(&so->prob, &so->failed.limit, out, err);
}
