#include "solve/step/stuck.h"

#include <assert.h>
#include <string.h>

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
