/* The objective of a step, its points and its directions, on a device. */
#include "solve/device/parts.h"

#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/stretch.h"
#include "energy/friction.h"
#include "energy/mass.h"

#include <math.h>
#include <string.h>

#define FAR 1e-3            /* relative residual while the direction is long */
#define FAR_PENALTY 1e-6     /* with the penalty of scripted nodes, which dominates the right-hand side */
#define CLOSE 1e-8          /* for directions that the convergence test reads */

static double *at(abut_buffer b) { return ABUT_AT(b, double); }
static double *pulse(abut_device *d, int k) { return at(d->pulse) + k; }

/* ---- elements: tets, thin elements, springs, attachments, and their damping ---- */

/* *z: positions at which elasticity is evaluated for an iterate x; valid until the next call. */
static abut_status elastic_at(abut_search *s, const double *x, const double **z, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_between_args a = { at(d->xn), x, at(d->z), s->prob.w.share };
    *z = a.share == 1 ? x : a.out;
    return a.share == 1 ? ABUT_OK : ABUT_RUN(&d->q, between, &a, 3 * (size_t)s->prob.model->nv, err);
}

/* Adds energies at x to the scalars; the next two add gradients to g, and Hessians to A and its diagonal. */
static abut_status elements_energy(abut_search *s, const double *x, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double *z = x;
    d->forces_of = x;
    abut_status rc = elastic_at(s, x, &z, err);
    if (!rc) rc = abut_gpu_tets_energy(&d->tets, z, pulse(d, ABUT_PULSE_ELASTIC), err);
    if (!rc) rc = abut_gpu_codim_energy(&d->codim, z, pulse(d, ABUT_PULSE_CODIM), err);
    if (!rc) rc = abut_gpu_ties_energy(&d->ties, z, pulse(d, ABUT_PULSE_TIES), err);
    return rc ? rc : abut_gpu_damping_energy(&d->damping, x, pulse(d, ABUT_PULSE_DAMPED), err);
}

static abut_status elements_gradient(abut_search *s, const double *x, double *g, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double scale = s->prob.w.psi * s->prob.w.share, *z = NULL;    /* the forces that the elements have */
    abut_status rc = d->forces_of == x ? ABUT_OK : elastic_at(s, x, &z, err);
    if (!rc) rc = abut_gpu_tets_gradient(&d->tets, z, scale, g, err);
    if (!rc) rc = abut_gpu_codim_gradient(&d->codim, z, scale, g, err);
    if (!rc) rc = abut_gpu_ties_gradient(&d->ties, z, scale, g, err);
    d->forces_of = x;
    return rc ? rc : abut_gpu_damping_gradient(&d->damping, x, g, err);
}

/* Sets of elements beside the tets, in the order of the operator's. */
enum { CODIM, SPRINGS, ATTACHMENTS, SETS };

abut_status abut_device_elements_number(abut_search *s, const int32_t *row, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_model *m = s->prob.model;
    const abut_codim *t = d->codim.codim;
    const abut_gpu_lasting more[SETS] = { [CODIM] = { d->codim.n, t ? t->node : NULL, 4 },
                                          [SPRINGS] = { d->ties.set[ABUT_GPU_SPRINGS].n, m->spring, 2 },
                                          [ATTACHMENTS] = { d->ties.set[ABUT_GPU_ATTACHMENTS].n, m->attach_node, 5 } };
    return abut_gpu_operator_init_with(&d->A, &d->q, &d->tets, row, more, SETS, 0, err);
}

/* Adds the damping of tets and thin elements to d->A. */
static abut_status add_damping(abut_device *d, abut_err *err)
{
    const abut_gpu_damping *p = &d->damping;
    abut_status rc = p->K.at ? abut_gpu_operator_add_tets(&d->A, at(p->K), err) : ABUT_OK;
    return rc || !p->codim_K.at ? rc : abut_gpu_operator_add(&d->A, CODIM, at(p->codim_K), err);
}

static abut_status elements_hessian(abut_search *s, const double *x, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const struct abut_gpu_tie_set *tie = d->ties.set;
    const double *z, scale = s->prob.w.psi * s->prob.w.share * s->prob.w.share;
    abut_status rc = elastic_at(s, x, &z, err);
    if (!rc) rc = abut_gpu_operator_tets(&d->A, z, scale, at(d->diag), err);
    if (!rc) rc = abut_gpu_codim_hessian(&d->codim, z, scale, 1, err);
    if (!rc && d->codim.n) rc = abut_gpu_operator_add(&d->A, CODIM, at(d->codim.H), err);
    if (!rc) rc = abut_gpu_ties_hessian(&d->ties, z, scale, err);
    for (int k = 0; k < ABUT_GPU_TIES && !rc; k++)
        if (tie[k].n) rc = abut_gpu_operator_add(&d->A, SPRINGS + k, at(tie[k].H), err);
    return rc ? rc : add_damping(d, err);
}

/* ---- forecasts of tensions ---- */

abut_status abut_device_forecast_start(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double *z;
    if (!d->codim.tension.at) return ABUT_OK;
    const abut_status rc = elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_start(&d->codim, z, err);
}

abut_status abut_device_forecast_step(abut_search *s, const double *led, double alpha, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double *z;
    (void)led;
    if (!d->codim.tension.at) return ABUT_OK;
    const abut_status rc = elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_step(&d->codim, z, at(d->x), at(d->xt), s->prob.w.share, fmin(alpha, 1), err);
}

static abut_status forecast_is_fair(abut_search *s, int *fair, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_term_step *step = &s->prob.step;
    const double *z;
    *fair = 1;
    if (!d->codim.tension.at) return ABUT_OK;
    const abut_status rc = elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_is_fair(&d->codim, z, at(d->mass), step->inertia, step->weight_z2, fair, err);
}

/* ---- points ---- */

void abut_device_note(abut_device *d, abut_status rc, const abut_err *err)
{
    if (rc && !d->late.code) d->late = *err;
}

void abut_device_try_at(abut_search *s, double alpha)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    const abut_axpy_args a = { at(d->x), at(d->p), at(d->xt), alpha, NULL };
    if (d->forces_of == d->xt.at) d->forces_of = NULL;
    s->trial.has = 0;
    abut_device_note(d, ABUT_RUN(&d->q, axpy, &a, 3 * (size_t)s->prob.model->nv, &err), &err);
}

void abut_device_scale(abut_search *s, double by)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    const abut_scale_args a = { at(d->p), by };
    abut_device_note(d, ABUT_RUN(&d->q, scale, &a, 3 * (size_t)s->prob.model->nv, &err), &err);
}

void abut_device_exchange(abut_search *s, const abut_point *with)
{
    abut_device *d = abut_device_of(s);
    const int here = with == &s->here;
    abut_buffer *x = here ? &d->x : &d->kept_x;
    abut_gpu_contacts *set = here ? &d->at : &d->kept;
    const abut_buffer positions = *x;
    const abut_gpu_contacts contacts = *set;
    *x = d->xt;
    *set = d->trial;
    d->xt = positions;
    d->trial = contacts;
}

abut_status abut_device_accepted(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = abut_device_late(d, err);
    if (rc || !abut_lagrangian_of(&s->prob.terms)->on) return rc;
    rc = d->q.on->stamp(&d->q, ABUT_STAGE_TRANSFER, err);
    return rc ? rc : d->q.on->get(&d->q, s->here.x, d->x.at, 3 * (size_t)s->prob.model->nv * sizeof *s->here.x, err);
}

/* ---- numbers ---- */

/* *slope: -g . p. */
static abut_status slope_of(const abut_search *s, const double *g, double *slope, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = d->q.on->dot(&d->q, g, at(d->p), 3 * (size_t)s->prob.model->nv, pulse(d, ABUT_PULSE_OTHER), err);
    if (!rc) rc = d->q.on->get(&d->q, slope, pulse(d, ABUT_PULSE_OTHER), sizeof *slope, err);
    *slope = -*slope;
    return rc;
}

double abut_device_slope(const abut_search *s)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    double slope = NAN;
    abut_device_note(d, slope_of(s, at(d->g), &slope, &err), &err);
    return slope;
}

size_t abut_device_count(const abut_search *s)
{
    const abut_gpu_contacts *at = &abut_device_of(s)->at;
    return at->n + at->n_plane;
}

abut_status abut_device_stiffen(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_codim_state *thin = abut_codim_state_of(&s->prob.terms);
    double room = 1;
    s->prob.changes += abut_barrier_stiffen(abut_barrier_state_of(&s->prob.terms), d->trial.smallest_gap, d->at.smallest_gap);
    if (!thin->t.bounded) return ABUT_OK;
    const abut_status rc = abut_gpu_codim_room(&d->codim, at(d->x), &room, err);
    if (!rc) s->prob.changes += abut_codim_stiffen(thin, room);
    return rc;
}

int32_t abut_device_fastest(const abut_search *s)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    int32_t far = 0;
    abut_device_note(d, d->q.on->get(&d->q, s->p, d->p.at, n3 * sizeof *s->p, &err), &err);
    for (int32_t i = 1; i < (int32_t)n3; i++)
        if (fabs(s->p[i]) > fabs(s->p[far])) far = i;
    return far / 3;
}

/* ---- bounds ---- */

abut_status abut_device_find(abut_device *d, const double *x, abut_gpu_contacts *set, abut_err *err)
{
    const abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_CONTACTS, err);
    return rc ? rc : abut_gpu_touch_find(&d->touch, x, set, err);
}

abut_status abut_device_limits(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    (void)rep;
    abut_device *d = abut_device_of(s);
    abut_status rc = abut_device_late(d, err);
    if (!rc) rc = d->q.on->stamp(&d->q, ABUT_STAGE_BOUND, err);
    if (!rc) rc = abut_gpu_touch_planes(&d->touch, at(d->x), at(d->p), ABUT_SLACK_PLANE, lim, err);
    if (!rc) rc = abut_gpu_tets_bound(&d->tets, at(d->x), at(d->p), ABUT_VOLUME_LEFT, lim, err);
    if (!rc) rc = abut_gpu_codim_bound(&d->codim, at(d->x), at(d->p), ABUT_STRETCH_LEFT, lim, err);
    lim->term = lim->kind == ABUT_LIMIT_TET ? "elastic" : lim->kind == ABUT_LIMIT_STRETCH ? "codim" : NULL;
    return rc;
}

abut_status abut_device_candidates(abut_search *s, double fraction, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_CANDIDATES, err);
    (void)rep;
    return rc ? rc : abut_gpu_touch_candidates(&d->touch, at(d->x), at(d->p), fraction, s->prob.model->dhat[0], err);
}

abut_status abut_device_ccd(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    rep->candidates = abut_gpu_candidates_count(&d->touch);
    const abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_BOUND, err);
    return rc ? rc : abut_gpu_touch_ccd(&d->touch, ABUT_SLACK_CCD, lim, err);
}

/* ---- the objective ---- */

/* Returns the inertia term of the step: the arrays of mass, held, xn and xhat on the device. */
static abut_gpu_inertia inertia_of(const abut_search *s)
{
    const abut_device *d = abut_device_of(s);
    return (abut_gpu_inertia){ .mass = at(d->mass), .held = ABUT_AT(d->held, uint8_t), .xn = at(d->xn), .xhat = at(d->xhat),
                               .inertia = s->prob.w.inertia, .nv = (size_t)s->prob.model->nv };
}

static abut_lagrangian_args lagrangian_of(const abut_search *s, const double *x, double *out)
{
    const abut_device *d = abut_device_of(s);
    return (abut_lagrangian_args){ x, at(d->target), at(d->lam), at(d->mass), ABUT_AT(d->held, uint8_t), out,
                                   abut_lagrangian_of(&s->prob.terms)->kap };
}

/* Augmented Lagrangian of prescribed nodes, into its pulse; nothing if it is off. */
static abut_status lagrangian_energy(abut_search *s, const double *x, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t nv = (size_t)s->prob.model->nv;
    const abut_lagrangian_args a = lagrangian_of(s, x, at(d->part));
    if (!abut_lagrangian_of(&s->prob.terms)->on) return ABUT_OK;
    const abut_status rc = ABUT_RUN(&d->q, lagrangian, &a, nv, err);
    return rc ? rc : d->q.on->sum(&d->q, at(d->part), nv, pulse(d, ABUT_PULSE_LAGRANGIAN), err);
}

abut_status abut_device_terms(abut_search *s, const double *x, const abut_gpu_contacts *set, abut_energy *e, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    const abut_gpu_inertia inertia = inertia_of(s);
    double got[ABUT_PULSE];
    abut_status rc = abut_device_renew(s, err);
    if (!rc) rc = q->on->stamp(q, ABUT_STAGE_ENERGY, err);
    if (!rc) rc = q->on->fill(q, d->pulse.at, 0, ABUT_PULSE * sizeof(double), err);
    if (!rc) rc = abut_gpu_nodes_energy(q, &inertia, x, at(d->part), pulse(d, ABUT_PULSE_INERTIA), err);
    if (!rc) rc = elements_energy(s, x, err);
    const double kappa = abut_barrier_state_of(&s->prob.terms)->kappa;
    if (!rc) rc = abut_gpu_barrier_energy(&d->touch, x, set, kappa, pulse(d, ABUT_PULSE_BARRIER), err);
    if (!rc) rc = abut_gpu_friction_energy(&d->touch, x, pulse(d, ABUT_PULSE_FRICTION), err);
    if (!rc) rc = lagrangian_energy(s, x, err);
    if (!rc) rc = q->on->get(q, got, d->pulse.at, sizeof got, err);
    if (rc) return rc;
    const double psi = s->prob.w.psi, *tie = got + ABUT_PULSE_TIES, *damped = got + ABUT_PULSE_DAMPED;
    const struct { const char *term; double value; } known[] = {
        { "inertia", got[ABUT_PULSE_INERTIA] }, { "lagrangian", got[ABUT_PULSE_LAGRANGIAN] },
        { "elastic", psi * got[ABUT_PULSE_ELASTIC] }, { "codim", psi * got[ABUT_PULSE_CODIM] },
        { "spring", psi * tie[ABUT_GPU_SPRINGS] }, { "attachment", psi * tie[ABUT_GPU_ATTACHMENTS] },
        { "damping", damped[ABUT_GPU_DAMP_MASS] + damped[ABUT_GPU_DAMP_TETS] }, { "codim damping", damped[ABUT_GPU_DAMP_CODIM] },
        { "friction", got[ABUT_PULSE_FRICTION] }, { "barrier", got[ABUT_PULSE_BARRIER] } };
    *e = (abut_energy){ .sum = 0 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (abut_terms_number(&s->prob.terms, known[i].term) >= 0) abut_objective_put(&s->prob, e, known[i].term, known[i].value);
    abut_objective_sum(&s->prob, e);
    return ABUT_OK;
}

abut_status abut_device_smooth(abut_search *s, const double *x, double *g, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_gpu_inertia inertia = inertia_of(s);
    abut_status rc = abut_device_renew(s, err);
    if (!rc) rc = d->q.on->stamp(&d->q, ABUT_STAGE_GRADIENT, err);
    if (!rc) rc = abut_gpu_nodes_gradient(&d->q, &inertia, x, g, err);
    if (!rc) rc = elements_gradient(s, x, g, err);
    const abut_lagrangian_args push = lagrangian_of(s, x, g);
    if (!rc && abut_lagrangian_of(&s->prob.terms)->on) rc = ABUT_RUN(&d->q, lagrangian_push, &push, inertia.nv, err);
    return rc ? rc : abut_gpu_friction_gradient(&d->touch, x, g, err);
}

static abut_status gradient(abut_search *s, const double *x, const abut_gpu_contacts *set, double *g, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = abut_device_smooth(s, x, g, err);
    if (!rc) rc = abut_gpu_barrier_gradient(&d->touch, x, set, abut_barrier_state_of(&s->prob.terms)->kappa, g, err);
    return rc ? rc : abut_gpu_nodes_hold(&d->q, ABUT_AT(d->rests, uint8_t), g, (size_t)s->prob.model->nv, err);
}

/* The gradient at trial is written into kept_x: no point is kept during a line search. */
abut_status abut_device_slopes(abut_search *s, double *here, double *trial, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    (void)rep;
    abut_status rc = slope_of(s, at(d->g), here, err);
    if (!rc) rc = gradient(s, at(d->xt), &d->trial, at(d->kept_x), err);
    return rc ? rc : slope_of(s, at(d->kept_x), trial, err);
}

/* Finds the contacts of the point too.  Only here has a gradient. */
abut_status abut_device_evaluate(abut_search *s, abut_point *point, unsigned what, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const int here = point == &s->here;
    const unsigned missing = abut_point_missing(point, &s->prob, what | ABUT_HAS_CONTACTS);
    abut_energy e;
    (void)rep;
    abut_status rc = abut_device_late(d, err);
    if (!rc && missing & ABUT_HAS_CONTACTS) {
        rc = abut_device_find(d, at(here ? d->x : d->xt), here ? &d->at : &d->trial, err);
        if (rc == ABUT_E_GEOM) return abut_point_put_energy(point, NULL), ABUT_OK;
        point->has |= rc ? 0 : ABUT_HAS_CONTACTS;
    }
    if (!rc && missing & ABUT_HAS_ENERGY) {
        rc = abut_device_terms(s, at(here ? d->x : d->xt), here ? &d->at : &d->trial, &e, err);
        if (!rc) abut_point_put_energy(point, &e);
    }
    if (!rc && missing & ABUT_HAS_GRADIENT) {
        rc = gradient(s, at(d->x), &d->at, at(d->g), err);
        point->has |= rc ? 0 : ABUT_HAS_GRADIENT;
    }
    return rc;
}

/* ---- direction ---- */

static abut_status matrix(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_objective *p = &s->prob;
    abut_gpu_blocks blocks;
    abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_HESSIAN, err);
    if (!rc) rc = elements_hessian(s, at(d->x), err);
    if (!rc) rc = abut_gpu_barrier_hessian(&d->touch, at(d->x), &d->at, abut_barrier_state_of(&p->terms)->kappa, &blocks, err);
    if (!rc) abut_gpu_operator_blocks(&d->A, ABUT_GPU_BARRIER, blocks);
    if (!rc) rc = abut_gpu_friction_hessian(&d->touch, at(d->x), &blocks, err);
    if (!rc) abut_gpu_operator_blocks(&d->A, ABUT_GPU_FRICTION, blocks);
    if (!rc) rc = d->q.on->stamp(&d->q, ABUT_STAGE_PRECONDITION, err);
    return rc ? rc : abut_gpu_operator_ready(&d->A, err);
}

/* Finds the friction contacts whose kinks the direction crosses: flags on the device, and n of the term, 0 if there are none. */
static abut_status find_kinks(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t n = d->touch.lag.n;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    uint8_t *above = ABUT_ROOM(&s->scratch, uint8_t, n + 1);
    abut_friction_state *f = abut_friction_state_of(&s->prob.terms);
    f->n = 0;
    if (!n || (s->opt->search.without & ABUT_WITHOUT_MAJORANT)) return ABUT_OK;
    if (!above) return abut_fail(err, ABUT_E_NOMEM, "device: %zu friction contacts", n);
    abut_status rc = abut_gpu_friction_kinks(&d->touch, at(d->x), at(d->p), err);
    if (!rc) rc = d->q.on->get(&d->q, above, d->touch.lag.above.at, n, err);
    if (!rc && memchr(above, 1, n)) f->n = n;
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static abut_status solve_to(abut_search *s, double tolerance, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_gpu_solve_report r = { 0 };
    abut_status rc = abut_gpu_solve(&d->cg, &d->A, at(d->g), at(d->p), tolerance, &r, err);
    rep->cg_iterations += r.iterations;
    rep->device.corrections += r.corrections;
    rep->device.cg_double += r.in_double;
    if (!rc) rc = d->q.on->largest(&d->q, at(d->p), 3 * (size_t)s->prob.model->nv, pulse(d, ABUT_PULSE_OTHER), err);
    return rc ? rc : d->q.on->get(&d->q, &d->speed, pulse(d, ABUT_PULSE_OTHER), sizeof d->speed, err);
}

abut_status abut_device_next_speed(abut_search *s, double *speed, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_gpu_solve_report r = { 0 };
    abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_SOLVE, err);
    if (!rc) rc = abut_gpu_solve(&d->cg, &d->A, at(d->g), at(d->kept_x), FAR, &r, err);
    rep->cg_iterations += r.iterations;
    if (!rc) rc = d->q.on->largest(&d->q, at(d->kept_x), 3 * (size_t)s->prob.model->nv, pulse(d, ABUT_PULSE_OTHER), err);
    if (!rc) rc = d->q.on->get(&d->q, speed, pulse(d, ABUT_PULSE_OTHER), sizeof *speed, err);
    *speed /= s->prob.model->h[0];
    return rc;
}

abut_status abut_device_find_direction(abut_search *s, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    /* m: twice the direction that ends a minimisation; directions below it are solved more exactly */
    const double near = 2 * s->prob.model->h[0] * s->prob.model->tolerance[0];
    const int exact = !abut_friction_state_of(&s->prob.terms)->n;
    if (exact) d->touch.lag.kinks = 0;
    abut_status rc = matrix(s, err);
    if (!rc) rc = d->q.on->stamp(&d->q, ABUT_STAGE_SOLVE, err);
    if (!rc) rc = d->q.on->fill(&d->q, d->p.at, 0, 3 * (size_t)s->prob.model->nv * sizeof(double), err);
    if (!rc) rc = solve_to(s, abut_lagrangian_of(&s->prob.terms)->on ? FAR_PENALTY : FAR, rep, err);
    if (!rc && d->speed <= near) rc = solve_to(s, CLOSE, rep, err);
    if (rc) return abut_wrap(err, "Newton matrix of %d unknowns", 3 * s->prob.nrow), rc;
    int fair;
    rc = forecast_is_fair(s, &fair, err);
    s->aim = (struct abut_aim){ .speed = d->speed / s->prob.model->h[0], .exact = exact, .fair = fair };
    return rc ? rc : find_kinks(s, err);
}
