/* Start of a step (solve/search/start.c), on a device. */
#include "energy/barrier.h"
#include "solve/device/parts.h"

#include <math.h>

static double *at(abut_buffer b) { return ABUT_AT(b, double); }
static double *pulse(abut_device *d, int k) { return at(d->pulse) + k; }

static size_t numbers(const abut_search *s) { return 3 * (size_t)s->prob.model->nv; }

static abut_status candidates(abut_search *s, const double *x, const double *p, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_CANDIDATES, err);
    if (!rc) rc = abut_gpu_touch_candidates(&d->touch, x, p, 1, s->prob.model->dhat[0], err);
    rep->candidates = abut_gpu_candidates_count(&d->touch);
    return rc;
}

abut_status abut_device_contacts(abut_search *s, int along, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_status rc = abut_device_late(d, err);
    if (!rc) rc = candidates(s, at(d->x), along ? at(d->p) : NULL, rep, err);
    if (!rc) rc = abut_device_find(d, at(d->x), &d->at, err);
    s->here.has = rc ? 0 : ABUT_HAS_CONTACTS;
    return rc;
}

void abut_device_warm(abut_search *s, const double *v, double fraction)
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

void abut_device_aim_at_trial(abut_search *s)
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

abut_status abut_device_staying(abut_search *s, const double *v, int at_least, double *sum, abut_report *rep, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_point *const of = d->scripted ? &s->trial : &s->here;
    if (d->scripted) abut_device_warm(s, v, 0);
    if (d->scripted && at_least) return smooth_energy(s, sum, err);
    abut_status rc = d->scripted ? candidates(s, at(d->xt), NULL, rep, err) : ABUT_OK;
    if (!rc) rc = abut_device_evaluate(s, of, ABUT_HAS_ENERGY, rep, err);
    *sum = of->e.sum;
    return rc || !d->scripted ? rc : candidates(s, at(d->x), at(d->p), rep, err);   /* along p again */
}

abut_status abut_device_aim_at_targets(abut_search *s, int *moves, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_carry_args a = { at(d->target), ABUT_AT(d->held, uint8_t), at(d->x), at(d->p), 1 };
    *moves = d->scripted;
    return *moves ? ABUT_RUN(&d->q, carry_direction, &a, numbers(s), err) : ABUT_OK;
}

abut_status abut_device_move_held(abut_search *s, double alpha, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_carry_args a = { at(d->target), ABUT_AT(d->held, uint8_t), at(d->x), at(d->p), alpha };
    d->forces_of = NULL;
    s->here.has = 0;
    const abut_status rc = ABUT_RUN(&d->q, carry_move, &a, numbers(s), err);
    return rc ? rc : d->q.on->get(&d->q, s->here.x, d->x.at, numbers(s) * sizeof *s->here.x, err);
}

abut_status abut_device_kappa(abut_search *s, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    abut_queue *q = &d->q;
    const abut_model *m = s->prob.model;
    const uint8_t *held = ABUT_AT(d->held, uint8_t);
    double *const smooth = at(d->g), *const barrier = at(d->kept_x), got[2];
    double *const balance = pulse(d, 0);
    double *kappa = &abut_barrier_state_of(&s->prob.terms)->kappa;
    *kappa = m->kappa_min[0];
    if (!d->at.n && !d->at.n_plane) return ABUT_OK;
    abut_status rc = abut_device_smooth(s, at(d->x), smooth, err);
    if (!rc) rc = q->on->fill(q, barrier, 0, numbers(s) * sizeof(double), err);
    if (!rc) rc = abut_gpu_barrier_gradient(&d->touch, at(d->x), &d->at, 1, barrier, err);
    if (!rc) rc = abut_gpu_nodes_hold(q, held, barrier, (size_t)m->nv, err);
    if (!rc) rc = q->on->dot(q, barrier, smooth, numbers(s), balance, err);
    if (!rc) rc = q->on->dot(q, barrier, barrier, numbers(s), balance + 1, err);
    if (!rc) rc = q->on->get(q, got, balance, sizeof got, err);
    if (rc) return rc;
    *kappa = fmin(m->kappa_max[0], fmax(m->kappa_min[0], got[1] > 0 ? -got[0] / got[1] : 0));
    return ABUT_OK;
}
