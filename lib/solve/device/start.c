/* How a step starts (solve/search/warm_start.c, solve/search/scripted.c), on a device. */
#include "solve/device/parts.h"

#include "solve/search/search_parts.h"

#include <math.h>

static double *at(abut_buffer b) { return ABUT_AT(b, double); }
static double *pulse(abut_device *d, int k) { return at(d->pulse) + k; }

static size_t numbers(const abut_solver *s) { return 3 * (size_t)s->prob.model->nv; }

static abut_status candidates(abut_solver *s, const double *x, const double *p, abut_report *rep, abut_err *err)
{
    abut_device *d = s->device;
    abut_status rc = d->q.on->stamp(&d->q, ABUT_STAGE_CANDIDATES, err);
    if (!rc) rc = abut_gpu_touch_candidates(&d->touch, x, p, 1, s->prob.model->dhat[0], err);
    rep->candidates = abut_gpu_candidates_count(&d->touch);
    return rc;
}

abut_status abut_device_contacts_find(abut_solver *s, int along, abut_report *rep, abut_err *err)
{
    abut_device *d = s->device;
    abut_status rc = abut_device_late(d, err);
    if (!rc) rc = candidates(s, at(d->x), along ? at(d->p) : NULL, rep, err);
    return rc ? rc : abut_device_find(d, at(d->x), &d->at, err);
}

void abut_device_coast(abut_solver *s, double share)
{
    abut_device *d = s->device;
    abut_err err = { 0 };
    const abut_coast_args a = { at(d->x), at(d->v), at(d->target), ABUT_AT(d->held, uint8_t), at(d->xt),
                                share * s->prob.model->h[0] };
    if (d->forces_of == d->xt.at) d->forces_of = NULL;
    abut_device_note(d, ABUT_RUN(&d->q, coast, &a, numbers(s), &err), &err);
}

void abut_device_aim_at_trial(abut_solver *s)
{
    abut_device *d = s->device;
    abut_err err = { 0 };
    const abut_axpy_args a = { at(d->xt), at(d->x), at(d->p), -1, NULL };
    abut_device_note(d, ABUT_RUN(&d->q, axpy, &a, numbers(s), &err), &err);
    abut_device_point(s, 1);
}

abut_status abut_device_staying(abut_solver *s, int at_least, double *sum, abut_report *rep, abut_err *err)
{
    abut_device *d = s->device;
    const abut_gpu_contacts none = { .n = 0 };
    abut_energy e = { 0 };
    if (!d->scripted) {
        const abut_status rc = abut_device_terms(s, at(d->x), &d->at, &e, err);
        *sum = abut_energy_sum(&e);
        return rc;
    }
    abut_device_coast(s, 0);
    if (at_least) {
        const abut_status rc = abut_device_terms(s, at(d->xt), &none, &e, err);
        *sum = abut_energy_sum(&e);
        return rc;
    }
    abut_status rc = candidates(s, at(d->xt), NULL, rep, err);
    if (!rc) rc = abut_search_energy(s, &e, sum, rep, err);
    return rc ? rc : candidates(s, at(d->x), at(d->p), rep, err);   /* of the way, again */
}

abut_status abut_device_carry(abut_solver *s, double *alpha, abut_report *rep, abut_err *err)
{
    abut_device *d = s->device;
    abut_limit lim;
    abut_carry_args a = { at(d->target), ABUT_AT(d->held, uint8_t), at(d->x), at(d->p), 1 };
    *alpha = 1;
    if (!d->scripted) return ABUT_OK;
    abut_status rc = ABUT_RUN(&d->q, carry_way, &a, numbers(s), err);
    if (!rc) rc = abut_solver_bound(s, 1, &lim, rep, err);
    if (rc) return rc;
    *alpha = a.alpha = lim.alpha;
    d->forces_of = NULL;
    rc = ABUT_RUN(&d->q, carry_move, &a, numbers(s), err);
    if (!rc) rc = d->q.on->get(&d->q, s->x, d->x.at, numbers(s) * sizeof *s->x, err);
    return rc ? rc : abut_device_record(s, err);
}

abut_status abut_device_kappa(abut_solver *s, abut_err *err)
{
    abut_device *d = s->device;
    abut_queue *q = &d->q;
    const abut_model *m = s->prob.model;
    const uint8_t *held = ABUT_AT(d->held, uint8_t);
    double *const smooth = at(d->g), *const barrier = at(d->kept_x), got[2];
    double *const balance = pulse(d, 0);
    double *kappa = &abut_barrier_state_of(&s->prob.terms)->kappa;
    *kappa = m->kappa_min[0];
    if (!abut_device_count(s)) return ABUT_OK;
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
