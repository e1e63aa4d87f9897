/* Elements in the objective of a step, on a device: tets, thin elements, springs, attachments, and their damping. */
#include "solve/device/parts.h"

#include "energy/damping.h"

#include <math.h>

static double *at(abut_buffer b) { return ABUT_AT(b, double); }
static double *pulse(abut_device *d, int k) { return at(d->pulse) + k; }

abut_status abut_device_elastic_at(abut_search *s, const double *x, const double **z, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_between_args a = { at(d->xn), x, at(d->z), s->prob.w.share };
    *z = a.share == 1 ? x : a.out;
    return a.share == 1 ? ABUT_OK : ABUT_RUN(&d->q, between, &a, 3 * (size_t)s->prob.model->nv, err);
}

abut_status abut_device_elements_energy(abut_search *s, const double *x, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double *z = x;
    d->forces_of = x;
    abut_status rc = abut_device_elastic_at(s, x, &z, err);
    if (!rc) rc = abut_gpu_tets_energy(&d->tets, z, pulse(d, ABUT_PULSE_ELASTIC), err);
    if (!rc) rc = abut_gpu_codim_energy(&d->codim, z, pulse(d, ABUT_PULSE_CODIM), err);
    if (!rc) rc = abut_gpu_ties_energy(&d->ties, z, pulse(d, ABUT_PULSE_TIES), err);
    return rc ? rc : abut_gpu_damping_energy(&d->damping, x, pulse(d, ABUT_PULSE_DAMPED), err);
}

abut_status abut_device_elements_gradient(abut_search *s, const double *x, double *g, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double scale = s->prob.w.psi * s->prob.w.share, *z = NULL;    /* the forces that the elements have */
    abut_status rc = d->forces_of == x ? ABUT_OK : abut_device_elastic_at(s, x, &z, err);
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

abut_status abut_device_elements_hessian(abut_search *s, const double *x, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const struct abut_gpu_tie_set *tie = d->ties.set;
    const double *z, scale = s->prob.w.psi * s->prob.w.share * s->prob.w.share;
    abut_status rc = abut_device_elastic_at(s, x, &z, err);
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
    const abut_status rc = abut_device_elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_start(&d->codim, z, err);
}

abut_status abut_device_forecast_step(abut_search *s, const double *led, double alpha, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const double *z;
    (void)led;
    if (!d->codim.tension.at) return ABUT_OK;
    const abut_status rc = abut_device_elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_step(&d->codim, z, at(d->x), at(d->xt), s->prob.w.share, fmin(alpha, 1), err);
}

abut_status abut_device_forecast_is_fair(abut_search *s, int *fair, abut_err *err)
{
    abut_device *d = abut_device_of(s);
    const abut_term_step *step = &s->prob.step;
    const double *z;
    *fair = 1;
    if (!d->codim.tension.at) return ABUT_OK;
    const abut_status rc = abut_device_elastic_at(s, at(d->x), &z, err);
    return rc ? rc : abut_gpu_codim_forecast_is_fair(&d->codim, z, at(d->mass), step->inertia, step->weight_z2, fair, err);
}
