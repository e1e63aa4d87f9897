#include "solve/device/parts.h"

#include "base/words.h"
#include "energy/barrier.h"
#include "energy/codim.h"
#include "energy/friction.h"
#include "energy/mass.h"
#include "energy/pressure.h"
#include "model/tets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models that a device does not support ---- */

static abut_status refuse(const char *what, const abut_arrays *names, int32_t object, abut_err *err)
{
    char name[64] = "?";
    if (names && object >= 0) abut_text_row(names, "object/name", object, name, sizeof name);
    if (object < 0) return abut_fail(err, ABUT_E_FORMAT, "--device: %s; --device cpu takes it", what);
    if (strcmp(name, "?")) return abut_fail(err, ABUT_E_FORMAT, "--device: object '%s' %s; --device cpu takes it", name, what);
    return abut_fail(err, ABUT_E_FORMAT, "--device: object %d %s; --device cpu takes it", object, what);
}

/* Refuses terms without kernels, by name. */
static abut_status check_terms(const abut_objective *p, abut_err *err)
{
    static const char *const known[] = { "inertia", "lagrangian", "elastic", "spring", "attachment", "codim", "codim bounds",
                                         "friction", "damping", "codim damping", "barrier" };
    for (int i = 0; i < p->terms.n; i++) {
        const char *name = p->terms.term[i].ops->name;
        int found = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) found |= !strcmp(name, known[k]);
        if (!found) return abut_fail(err, ABUT_E_FORMAT, "--device: the scene has %s; --device cpu takes it", name);
    }
    return ABUT_OK;
}

/* Refuses a law without a kernel: its number is not below `forms`. */
static abut_status check_law(const int32_t *number, int forms, const char *what, const char *const *names, abut_err *err)
{
    char text[100];
    if (!number || *number < forms) return ABUT_OK;
    snprintf(text, sizeof text, "%s '%s' has no kernel", what, names[*number]);
    return refuse(text, NULL, -1, err);
}

static abut_status check_model(const abut_objective *p, const abut_arrays *names, abut_err *err)
{
    const abut_model *m = p->model;
    const abut_air *air = abut_air_of(&p->terms);
    if (abut_model_order(m) > 1) return refuse("the scene has tets of order 2 and more", names, -1, err);
    if (!abut_collmesh_selects(&p->cm))
        return refuse("the contact surface is a map of nodes (array 'contact/map-first')", names, -1, err);
    if (p->cm.area) return refuse("contact is weighed by area (contact.formulation)", NULL, -1, err);
    if (m->rod_curvature) return refuse("has rods that are curved at rest", names, m->body[m->rod[0]], err);
    if (air && air->presses) return refuse("the scene has pressures", names, -1, err);
    if (abut_air_acts(air)) return refuse("the scene has wind or drag", names, -1, err);
    abut_status rc = check_law(m->continuity, ABUT_BARRIER_FORMS, "barrier", abut_barrier_names, err);
    if (!rc) rc = check_law(m->smoothing, ABUT_FRICTION_FORMS, "friction law", abut_friction_names, err);
    return rc ? rc : check_terms(p, err);
}

static abut_status check_step(const abut_objective *p, abut_err *err)
{
    if (p->w.share == 1 || !abut_codim_of(&p->terms)->bounded) return ABUT_OK;
    char what[80];
    snprintf(what, sizeof what, "bounds of stretch or strain in a step of %s", abut_scheme_names[p->w.scheme]);
    return refuse(what, NULL, -1, err);
}

/* ---- start and end ---- */

static void free_device(abut_device *d)
{
    abut_queue *q = &d->q;
    if (q->on) {
        abut_buffer *const all[] = { &d->x, &d->xt, &d->kept_x, &d->p, &d->g, &d->v, &d->target, &d->xn, &d->xhat, &d->still,
                                     &d->z, &d->mass, &d->held, &d->lam, &d->rests, &d->diag, &d->part, &d->pulse };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(q, all[i]);
        for (size_t i = 0; i < sizeof d->pinned / sizeof *d->pinned && d->pinned[i]; i++) q->on->unpin(q, d->pinned[i]);
        for (int i = 0; i < ABUT_DEVICE_TRAIL; i++) abut_buffer_clear(q, &d->trail[i]);
        abut_gpu_contacts_clear(q, &d->at);
        abut_gpu_contacts_clear(q, &d->trial);
        abut_gpu_contacts_clear(q, &d->kept);
        abut_gpu_cg_clear(&d->cg, q);
        abut_gpu_operator_clear(&d->A);
        abut_gpu_tets_clear(&d->tets);
        abut_gpu_codim_clear(&d->codim);
        abut_gpu_ties_clear(&d->ties);
        abut_gpu_damping_clear(&d->damping);
        abut_gpu_touch_clear(&d->touch);
        abut_queue_close(q);
    }
    ABUT_FREE(d->row, d);
}

/* Copies to the device which vertices are of bodies that pass through each other, if the scene has any. */
static abut_status bring_passes(abut_device *d, const abut_collmesh *cm, abut_err *err)
{
    if (!cm->model->bodies_meet || cm->model->bodies_meet[0]) return ABUT_OK;
    uint8_t *passes = malloc((size_t)cm->nc + 1);
    if (!passes) return abut_fail(err, ABUT_E_NOMEM, "device: %d vertices", cm->nc);
    for (int32_t v = 0; v < cm->nc; v++) passes[v] = (uint8_t)abut_collmesh_is_ghost(cm, v);
    const abut_status rc = abut_gpu_touch_pass(&d->touch, passes, err);
    free(passes);
    return rc;
}

/* The device has the mollifier of nearly parallel edges, and lets all objects meet. */
static abut_status expect_contact(const abut_model *m, abut_err *err)
{
    if (m->nex)
        return abut_fail(err, ABUT_E_FORMAT, "--device: %d %s in groups, which a device does not know: expected no groups",
                         m->nex,
                         abut_plural(m->nex, "pair of objects is", "pairs of objects are"));
    if (!m->mollifier || m->mollifier[0]) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "--device: contact.barrier.mollifier is off, which a device does not know: expected on");
}

static abut_status bring_model(abut_device *d, const abut_objective *p, abut_err *err)
{
    abut_queue *q = &d->q;
    const size_t nv = (size_t)p->model->nv;
    abut_buffer *const field[] = { &d->x, &d->xt, &d->kept_x, &d->p, &d->g, &d->v, &d->target,
                                   &d->xn, &d->xhat, &d->still, &d->z };
    abut_status rc = expect_contact(p->model, err);
    for (size_t i = 0; i < sizeof field / sizeof *field && !rc; i++) rc = abut_buffer_need(q, field[i], "nodes", 3 * nv, 8, err);
    if (!rc) rc = abut_buffer_need(q, &d->part, "parts of sums", nv, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &d->pulse, "scalars", ABUT_PULSE, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(q, &d->mass, "masses", p->model->mass, nv, sizeof(double), err);
    if (!rc) rc = abut_gpu_tets_init(&d->tets, q, abut_elastic_of(&p->terms), err);
    if (!rc) rc = abut_gpu_codim_init(&d->codim, q, abut_codim_of(&p->terms), err);
    if (!rc) rc = abut_gpu_ties_init(&d->ties, q, p->model, err);
    if (!rc) abut_gpu_damping_init(&d->damping, q, abut_damping_of(&p->terms), &d->tets, &d->codim, ABUT_AT(d->mass, double));
    if (!rc) rc = abut_gpu_touch_init(&d->touch, q, &p->cm, p->cm.obstacle, err);
    if (!rc) rc = bring_passes(d, &p->cm, err);
    d->row = malloc((nv + 1) * sizeof *d->row);
    if (!rc && !d->row) rc = abut_fail(err, ABUT_E_NOMEM, "device: %zu nodes", nv);
    return rc;
}

static void pin(abut_device *d, const abut_search *s)
{
    const abut_objective *p = &s->prob;
    double *const all[] = { s->here.x, s->trial.x, s->kept.x, p->xn, p->xhat, p->still, p->target };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        d->q.on->pin(&d->q, all[i], 3 * (size_t)p->model->nv * sizeof(double));
        d->pinned[i] = all[i];
    }
}

static abut_status open_device(abut_search *s, abut_err *err)
{
    const abut_device_options *opt = &s->opt->device;
    const abut_objective *p = &s->prob;
    const int twin = opt->place.kind == ABUT_DEVICE_TWIN;
    abut_device *d = calloc(1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "device");
    abut_status rc = check_model(p, s->opt->names, err);
    if (!rc) rc = twin ? abut_queue_twin(&d->q, err) : abut_queue_cuda(&d->q, opt->place.number, err);
    if (rc && rc != ABUT_E_FORMAT) abut_wrap(err, "--device %s", twin ? "twin" : "gpu");
    if (!rc && opt->watch) d->q.watch = *opt->watch;
    if (!rc) rc = bring_model(d, p, err);
    if (rc) return free_device(d), rc;
    pin(d, s);
    s->device = d;
    return ABUT_OK;
}

static void close_device(abut_search *s)
{
    free_device(s->device);
    s->device = NULL;
}

/* ---- the path of a step ---- */

/* Most steps end where one straight line leads from their start, and of these the host needs no point but the last
 * (solve/search/path.h). */

static abut_status go_to(abut_search *s, const double *x, abut_err *err)
{
    return abut_path_add(&s->path, &s->prob.cm, s->prob.cm.obstacle, x, &s->near, err);
}

/* Copies all points of the trail to the path of the host. */
static abut_status fetch_trail(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *x = ABUT_ROOM(&s->scratch, double, n3);
    abut_status rc = x ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "path of a step: %zu numbers", n3);
    for (int i = 0; i < d->n_trail && !rc; i++) {
        rc = d->q.on->get(&d->q, x, d->trail[i].at, n3 * sizeof *x, err);
        if (!rc) rc = go_to(s, x, err);
    }
    d->n_trail = 0;
    abut_arena_release(&s->scratch, mark);
    return rc;
}

static abut_status record(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    abut_status rc = d->n_trail == ABUT_DEVICE_TRAIL ? fetch_trail(s, err) : ABUT_OK;
    if (rc) return rc;
    abut_buffer *to = &d->trail[d->n_trail++];
    rc = abut_buffer_need(&d->q, to, "path of the step", n3, sizeof(double), err);
    return rc ? rc : d->q.on->copy(&d->q, to->at, d->x.at, n3 * sizeof(double), err);
}

/* Ends the trail at s->here.x: the path continues there by one straight line if that is free, else by all points. */
static abut_status end_trail(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    int is_free = 0;
    if (!d->n_trail) return ABUT_OK;
    abut_status rc = abut_path_leap(&s->path, &s->prob.cm, s->prob.cm.obstacle, s->here.x, &s->near, &is_free, err);
    if (!rc && !is_free) rc = fetch_trail(s, err);
    d->n_trail = 0;
    return rc;
}

/* ---- a minimisation ---- */

/* Makes the pattern of the elements for the unknowns of this step. */
static abut_status number(abut_search *s, abut_err *err)
{
    const abut_objective *p = &s->prob;
    abut_device *d = abut_device_of(s);
    const size_t bytes = (size_t)p->model->nv * sizeof *d->row;
    if (d->numbered && !memcmp(d->row, p->row, bytes)) return ABUT_OK;
    abut_gpu_operator_clear(&d->A);
    memcpy(d->row, p->row, bytes);
    abut_status rc = abut_device_elements_number(s, p->row, err);
    if (!rc) rc = abut_gpu_precond_init(&d->A, (abut_gpu_precond_kind)s->opt->device.precond, p->model->X, err);
    d->numbered = !rc;
    return rc;
}

/* Copies to the device the diagonal of the Hessian and the nodes without unknowns, [nv] each. */
static abut_status bring_diagonal(abut_search *s, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const size_t nv = (size_t)p->model->nv;
    abut_device *d = abut_device_of(s);
    const abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    const abut_damping *damping = abut_damping_of(&p->terms);
    const double damped = damping ? p->step.damping * damping->mass : 0;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *diag = ABUT_ROOM(&s->scratch, double, nv + 1);
    uint8_t *rests = ABUT_ROOM(&s->scratch, uint8_t, nv + 1);
    if (!diag || !rests) return abut_fail(err, ABUT_E_NOMEM, "device: %zu nodes", nv);
    for (size_t i = 0; i < nv; i++) {
        rests[i] = p->row[i] < 0;
        diag[i] = p->model->mass[i] * ((p->held[i] ? al->kap : p->w.inertia + p->w.shift) + damped);
    }
    abut_status rc = abut_buffer_put(&d->q, &d->diag, "diagonal", diag, nv, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(&d->q, &d->rests, "nodes at rest", rests, nv, 1, err);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

abut_status abut_device_renew(abut_search *s, abut_err *err)
{
    const abut_objective *p = &s->prob;
    abut_device *d = abut_device_of(s);
    const abut_lagrangian *al = abut_lagrangian_of(&p->terms);
    if (d->numbered && d->changes == p->changes) return ABUT_OK;
    abut_status rc = number(s, err);
    if (!rc) rc = bring_diagonal(s, err);
    const size_t n3 = 3 * (size_t)p->model->nv;
    if (!rc && al->on) rc = abut_buffer_put(&d->q, &d->lam, "multipliers", al->lam, n3, sizeof(double), err);
    const abut_barrier_curvature *curvature = &abut_barrier_state_of(&p->terms)->curvature;
    d->touch.answers = al->on;
    d->touch.hessian = curvature->ops->kernel;
    d->touch.least = curvature->least;
    d->codim.kappa = abut_codim_state_of(&p->terms)->strain_kappa;
    d->changes = p->changes;
    return rc;
}

static abut_status bring_step(abut_search *s, const double *v, abut_err *err)
{
    const abut_objective *p = &s->prob;
    const size_t nv = (size_t)p->model->nv, n3 = 3 * nv;
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    const abut_stiction law = abut_stiction_of(p->model, &p->step);
    d->changes = p->changes - 1;
    abut_status rc = abut_device_renew(s, err);
    d->A.precond.lags = 1;
    d->A.precond.made = 0;      /* a frame is a checkpoint */
    if (!rc) rc = abut_buffer_put(q, &d->x, "nodes", s->here.x, n3, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(q, &d->xn, "nodes", p->xn, n3, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(q, &d->xhat, "nodes", p->xhat, n3, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(q, &d->still, "nodes", p->still, n3, sizeof(double), err);
    if (!rc) rc = abut_buffer_put(q, &d->target, "nodes", p->target, n3, sizeof(double), err);
    if (!rc && v) rc = abut_buffer_put(q, &d->v, "nodes", v, n3, sizeof(double), err);
    if (!rc) rc = abut_gpu_touch_part(&d->touch, err);
    if (!rc) rc = abut_buffer_put(q, &d->held, "held nodes", p->held, nv, 1, err);
    const double *from = ABUT_AT(p->w.share < 1 ? d->xn : d->still, double);    /* as x_damp of the step */
    if (!rc) rc = abut_gpu_damping_freeze(&d->damping, ABUT_AT(d->xn, double), from, p->step.damping, err);
    return rc ? rc : abut_gpu_friction_set(&d->touch, abut_lag_of(&p->terms), &law, ABUT_AT(d->still, double), err);
}

static int scripts_move(const abut_search *s)
{
    const abut_objective *p = &s->prob;
    for (int32_t i = 0; i < 3 * p->model->nv; i++)
        if (p->held[i / 3] && p->target[i] != s->here.x[i]) return 1;
    return 0;
}

static abut_status enter(abut_search *s, const double *v, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    d->late = (abut_err){ 0 };
    d->forces_of = NULL;
    d->n_trail = 0;
    d->scripted = scripts_move(s);
    abut_status rc = check_step(&s->prob, err);
    if (!rc) rc = d->q.on->stamp(&d->q, ABUT_STAGE_TRANSFER, err);
    if (!rc) rc = bring_step(s, v, err);
    return rc ? rc : d->q.on->wait(&d->q, err);     /* the host may write to its arrays again */
}

static void report_times(abut_device *d, abut_report *rep)
{
    double *t = d->q.seconds;
    abut_phase_seconds *to = &rep->seconds;
    to->candidates += t[ABUT_STAGE_CANDIDATES];
    to->pairs += t[ABUT_STAGE_CONTACTS];
    to->ccd += t[ABUT_STAGE_BOUND];
    to->line_search += t[ABUT_STAGE_ENERGY];
    to->gradient += t[ABUT_STAGE_GRADIENT];
    to->hessian += t[ABUT_STAGE_HESSIAN];
    to->factor += t[ABUT_STAGE_PRECONDITION];
    to->solve += t[ABUT_STAGE_SOLVE];
    rep->device.transfer += t[ABUT_STAGE_TRANSFER];
    memset(t, 0, sizeof d->q.seconds);
    rep->device.name = d->q.name;
    rep->device.waits += d->q.waits;
    rep->device.launches += d->q.launches;
    rep->device.bytes = d->q.bytes;
    rep->device.bytes_peak = d->q.bytes_peak;
    d->q.waits = d->q.launches = 0;
}

static abut_status fetch(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    const size_t bytes = 3 * (size_t)s->prob.model->nv * sizeof *s->here.x;
    abut_status rc = abut_device_late(d, err);
    if (!rc) rc = q->on->stamp(q, ABUT_STAGE_TRANSFER, err);
    if (!rc) rc = q->on->get(q, s->here.x, d->x.at, bytes, err);
    if (!rc) rc = q->on->get(q, s->trial.x, d->xt.at, bytes, err);
    if (!rc) rc = q->on->get(q, s->here.g, d->g.at, bytes, err);
    if (!rc) rc = abut_gpu_contacts_get(q, &d->at, &s->here.pairs, err);
    if (!rc) rc = q->on->stamp(q, ABUT_STAGE_OTHER, err);      /* the host computes from here on */
    if (!rc) abut_collmesh_positions(&s->prob.cm, s->here.x, s->here.y);
    return rc;
}

static abut_status leave(abut_search *s, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    abut_status rc = fetch(s, err);
    if (!rc) rc = q->on->stamp(q, ABUT_STAGE_OTHER, err);
    if (!rc) rc = q->on->times(q, err);
    report_times(d, rep);
    return rc ? rc : end_trail(s, err);
}

/* ---- the start of a step (solve/search/minimise.c) ---- */

static double *at(abut_buffer b) { return ABUT_AT(b, double); }

static size_t numbers(const abut_search *s) { return 3 * (size_t)s->prob.model->nv; }

static abut_status candidates(abut_search *s, const double *x, const double *p, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_CANDIDATES, err);
    if (!rc) rc = abut_gpu_touch_candidates(&d->touch, x, p, 1, s->prob.model->dhat[0], err);
    rep->candidates = abut_gpu_candidates_count(&d->touch);
    return rc;
}

static abut_status start_contacts(abut_search *s, int along, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = abut_device_late(d, err);
    if (!rc) rc = candidates(s, at(d->x), along ? at(d->p) : NULL, rep, err);
    if (!rc) rc = abut_device_find(d, at(d->x), &d->at, err);
    s->here.has = rc ? 0 : ABUT_HAS_CONTACTS;
    return rc;
}

static void warm(abut_search *s, const double *v, double fraction)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    const abut_coast_args a = { at(d->x), at(d->v), at(d->target), ABUT_AT(d->held, uint8_t), at(d->xt),
                                fraction * s->prob.model->h[0] };
    (void)v;    /* it is there since enter */
    if (d->forces_of == d->xt.at) d->forces_of = NULL;
    s->trial.has = 0;
    abut_device_note(d, ABUT_RUN(&d->q, coast, &a, numbers(s), &err), &err);
}

static void aim_at_trial(abut_search *s)
{
    abut_device *d = abut_device_of(s);
    abut_err err = { 0 };
    const abut_axpy_args a = { at(d->xt), at(d->x), at(d->p), -1, NULL };
    abut_device_note(d, ABUT_RUN(&d->q, axpy, &a, numbers(s), &err), &err);
    abut_device_try_at(s, 1);
}

/* Computes the energy of the trial point without barriers. */
static abut_status smooth_energy(abut_search *s, double *sum, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_gpu_contacts none = { .n = 0 };
    abut_energy e = { 0 };
    const abut_status rc = abut_device_terms(s, at(d->xt), &none, &e, err);
    *sum = e.sum;
    return rc;
}

static abut_status staying(abut_search *s, const double *v, int at_least, double *sum, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_point *const of = d->scripted ? &s->trial : &s->here;
    if (d->scripted) warm(s, v, 0);
    if (d->scripted && at_least) return smooth_energy(s, sum, err);
    abut_status rc = d->scripted ? candidates(s, at(d->xt), NULL, rep, err) : ABUT_OK;
    if (!rc) rc = abut_device_evaluate(s, of, ABUT_HAS_ENERGY, rep, err);
    *sum = of->e.sum;
    return rc || !d->scripted ? rc : candidates(s, at(d->x), at(d->p), rep, err);   /* along p again */
}

static abut_status aim_at_targets(abut_search *s, int *moves, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_carry_args a = { at(d->target), ABUT_AT(d->held, uint8_t), at(d->x), at(d->p), 1 };
    *moves = d->scripted;
    return *moves ? ABUT_RUN(&d->q, carry_direction, &a, numbers(s), err) : ABUT_OK;
}

static abut_status move_held(abut_search *s, double alpha, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_carry_args a = { at(d->target), ABUT_AT(d->held, uint8_t), at(d->x), at(d->p), alpha };
    d->forces_of = NULL;
    s->here.has = 0;
    const abut_status rc = ABUT_RUN(&d->q, carry_move, &a, numbers(s), err);
    return rc ? rc : d->q.on->get(&d->q, s->here.x, d->x.at, numbers(s) * sizeof *s->here.x, err);
}

/* Finds the contacts at the iterate again, with the present parts of kappa. */
static abut_status weigh(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    d->forces_of = NULL;
    const abut_status rc = abut_gpu_touch_part(&d->touch, err);
    return rc ? rc : abut_device_find(d, at(d->x), &d->at, err);
}

/* Copies the gradients that kappa balances to the host: gc of the barrier at kappa 1, ge of the other terms. */
static abut_status start_gradients(abut_search *s, double *gc, double *ge, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    const size_t bytes = numbers(s) * sizeof *gc;
    abut_status rc = abut_device_smooth(s, at(d->x), at(d->g), err);
    if (!rc) rc = q->on->fill(q, at(d->kept_x), 0, bytes, err);
    if (!rc) rc = abut_gpu_barrier_gradient(&d->touch, at(d->x), &d->at, 1, at(d->kept_x), err);
    if (!rc) rc = q->on->get(q, gc, d->kept_x.at, bytes, err);
    return rc ? rc : q->on->get(q, ge, d->g.at, bytes, err);
}

static abut_status start_kappa(abut_search *s, int keep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_objective *p = &s->prob;
    const int balances = !keep && d->at.n + d->at.n_plane > 0;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *gc = balances ? ABUT_ROOM(&s->scratch, double, 2 * numbers(s)) : NULL, *ge = gc ? gc + numbers(s) : NULL;
    int changed = 0;
    abut_status rc = balances && !gc ? abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: %zu numbers", numbers(s)) : ABUT_OK;
    if (!rc && balances && p->cm.scale.part) {
        rc = abut_objective_part(p, NULL, err);
        if (!rc) rc = weigh(s, err);
    }
    if (!rc) rc = abut_gpu_contacts_get(&d->q, &d->at, &s->here.pairs, err);
    if (!rc && balances) rc = start_gradients(s, gc, ge, err);
    if (!rc) rc = abut_objective_set_kappa(p, &s->here.pairs, gc, ge, &changed, &s->scratch, err);
    if (!rc && changed) rc = weigh(s, err);
    abut_arena_release(&s->scratch, mark);
    return rc;
}

/* ---- operations ---- */

static const abut_search_ops on_device = {
    .place = { .open = open_device, .close = close_device, .enter = enter, .fetch = fetch, .leave = leave },
    .points = { .contacts = start_contacts, .count = abut_device_count, .kappa = start_kappa,
                .evaluate = abut_device_evaluate, .try_at = abut_device_try_at, .exchange = abut_device_exchange,
                .accepted = abut_device_accepted, .record = record, .stiffen = abut_device_stiffen },
    .aim = { .find = abut_device_find_direction, .find_newton = abut_device_find_direction,
             .next_speed = abut_device_next_speed, .slope = abut_device_slope, .slopes = abut_device_slopes,
             .scale = abut_device_scale, .fastest = abut_device_fastest,
             .forecast_start = abut_device_forecast_start, .forecast_step = abut_device_forecast_step },
    .bound = { .limits = abut_device_limits, .candidates = abut_device_candidates, .ccd = abut_device_ccd },
    .start = { .warm = warm, .aim_at_trial = aim_at_trial, .staying = staying,
               .aim_at_targets = aim_at_targets, .move_held = move_held }
};

abut_status abut_device_parse(const char *text, abut_device_place *place, abut_err *err)
{
    char *end;
    *place = (abut_device_place){ .kind = strcmp(text, "twin") ? ABUT_DEVICE_GPU : ABUT_DEVICE_TWIN, .ops = &on_device };
    if (place->kind == ABUT_DEVICE_TWIN || !strcmp(text, "gpu")) return ABUT_OK;
    if (!strncmp(text, "gpu:", 4) && text[4] >= '0' && text[4] <= '9') {
        const long n = strtol(text + 4, &end, 10);
        place->number = n < 1024 ? (int)n : 1024;
        if (!*end) return ABUT_OK;
    }
    return abut_fail(err, ABUT_E_ARG, "--device %s: know cpu, twin, gpu and gpu:N", text);
}
