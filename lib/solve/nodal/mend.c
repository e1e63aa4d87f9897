#include "solve/nodal/mend.h"

#include "geom/dist.h"
#include "geom/tangent.h"
#include "solve/solvers.h"
#include "solve/step/barrier_stepper.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_mend_init(abut_mend *r, const abut_model *m, const abut_step_options *o)
{
    *r = (abut_mend){ .model = m, .o = abut_step_defaults() };
    r->o.threads = o->threads;
    r->o.names = o->names;
    r->o.force_tolerance = o->force_tolerance;
    r->o.max_newton = o->max_newton;
    r->o.terms = o->terms;
    r->o.passes.lags = 1;
}

void abut_mend_clear(abut_mend *r)
{
    if (r->barrier) abut_barrier_stepper_ops.free(r->barrier);
    abut_arrays_clear(&r->start);
    abut_lag_clear(&r->lag);
    *r = (abut_mend){ 0 };
}

static abut_status make(abut_mend *r, abut_err *err)
{
    if (r->barrier) return ABUT_OK;
    const abut_solver_row *newton = abut_solver_find("newton", 0, err);
    return newton ? abut_barrier_stepper_ops.make(&r->barrier, r->model, newton, &r->o, err) : err->code;
}

/* ---- friction from impulses ---- */

static abut_status lag_reserve(abut_lag *l, size_t n, abut_err *err)
{
    abut_lag_clear(l);
    l->node = malloc((n + 1) * sizeof *l->node);
    l->weight = malloc((n + 1) * sizeof *l->weight);
    l->basis = malloc((n + 1) * sizeof *l->basis);
    l->force = malloc((n + 1) * sizeof *l->force);
    l->mu = malloc((n + 1) * sizeof *l->mu);
    l->cap = n + 1;
    if (l->node && l->weight && l->basis && l->force && l->mu) return ABUT_OK;
    abut_lag_clear(l);
    return abut_fail(err, ABUT_E_NOMEM, "friction of %zu contacts", n);
}

/* Contacts with normal force and friction: weights of their nearest features at the start, planes of their normals. */
static abut_status freeze(abut_mend *r, const abut_touching *t, const abut_collmesh *cm, const double *y, double h, abut_err *err)
{
    abut_lag *l = &r->lag;
    const abut_status rc = lag_reserve(l, t->n, err);
    if (rc) return rc;
    l->map = abut_collmesh_selects(cm) ? NULL : &cm->W;
    for (size_t c = 0; c < t->n; c++) {
        const abut_touch_key *key = &t->key[c];
        const double *n = t->normal + 3 * c, *rbar = t->rbar + 3 * c;
        const double normal = (n[0] * rbar[0] + n[1] * rbar[1] + n[2] * rbar[2]) / t->s[c];
        double x[12], *w = l->weight[l->n];
        if (!(normal > 0 && t->mu[c] > 0)) continue;
        for (int k = 0; k < 4; k++) l->node[l->n][k] = abut_collmesh_slot(cm, key->vert[k]);
        memset(w, 0, 4 * sizeof *w);
        for (int k = 0; k < 4 && key->vert[k] >= 0; k++) memcpy(x + 3 * k, y + 3 * (size_t)key->vert[k], 3 * sizeof *x);
        if (key->plane >= 0) w[0] = 1;
        else (void)abut_closest((abut_stencil)key->kind, x, w);
        abut_tangent_plane(n, l->basis[l->n]);
        l->force[l->n] = normal / h;
        l->mu[l->n++] = t->mu[c];
    }
    return ABUT_OK;
}

/* Copies the frame for the barrier: with that friction, or with none, so that the barrier freezes its own. */
static abut_status start_from(abut_mend *r, const abut_arrays *frame, int frozen, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(&r->start);
    for (int i = 0; i < frame->n && !rc; i++)
        if (strncmp(frame->a[i].name, "lag/", 4)) rc = abut_arrays_copy(&r->start, &frame->a[i], err);
    return rc || !frozen ? rc : abut_lag_to_frame(&r->lag, &r->start, err);
}

/* ---- the step ---- */

abut_status abut_mend_step(abut_mend *r, const abut_arrays *frame, abut_instant at, const abut_touching *t,
                           const abut_collmesh *cm, const double *y, double h, int *written, abut_report *rep, abut_err *err)
{
    assert(r->model && frame);
    int again = 0;
    abut_status rc = make(r, err);
    if (!rc && t) rc = freeze(r, t, cm, y, h, err);
    if (!rc) rc = start_from(r, frame, t != NULL, err);
    if (!rc) rc = abut_barrier_stepper_ops.begin(r->barrier, &r->start, at, written, rep, err);
    if (!rc) rc = abut_barrier_stepper_ops.solve(r->barrier, rep, err);
    return rc ? rc : abut_barrier_stepper_ops.settle(r->barrier, &again, rep, err);
}

const abut_path *abut_mend_path(const abut_mend *r)
{
    return &((const abut_stepper *)r->barrier)->solver.path;    /* an instance is one, with more behind it */
}

abut_status abut_mend_commit(abut_mend *r, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at,
                             abut_report *rep, abut_err *err)
{
    assert(r->barrier);
    return abut_barrier_stepper_ops.commit(r->barrier, carry, record, out, at, rep, err);
}

abut_status abut_mend_stuck(abut_mend *r, const abut_arrays *frame, abut_instant at, const double *x, const char *why,
                            abut_arrays *out, abut_err *err)
{
    abut_report rep = { 0 };
    int written = 1;
    abut_status rc = make(r, err);
    if (!rc) rc = start_from(r, frame, 0, err);
    if (!rc) rc = abut_barrier_stepper_ops.begin(r->barrier, &r->start, at, &written, &rep, err);
    if (!rc) rc = abut_barrier_stepper_ops.suspend(r->barrier, frame, out, err);
    if (!rc) rc = abut_arrays_put_text(out, "stuck/why", why, err);
    double *to = rc ? NULL : abut_arrays_put_rows(out, "stuck/x", ABUT_F64, r->model->nv, 3, "m", err);
    if (to) memcpy(to, x, 3 * (size_t)r->model->nv * sizeof *to);
    abut_report_clear(&rep);
    return rc ? rc : to ? ABUT_OK : err->code;
}
