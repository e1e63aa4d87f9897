/* The barrier stepper as a table of operations (solve/stepper.h). */
#include "solve/step/barrier_stepper.h"

#include "solve/device/device.h"
#include "energy/barrier_term.h"
#include "sparse/linear_solvers.h"
#include "solve/solvers.h"
#include "solve/step/options.h"
#include "solve/step/step_parts.h"
#include "solve/step/stuck.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The stepper comes first: an instance is one. */
typedef struct barrier {
    abut_stepper stepper;
    abut_step_model model;
} barrier;

static abut_status solver_options(const abut_solver_row *row, const abut_step_options *o, const abut_model *m,
                                  abut_search_opts *so, abut_err *err)
{
    *so = abut_search_defaults();
    so->direction = row->direction;
    so->linear = o->linear;
    so->cg_tolerance = o->cg_tolerance;
    so->threads = o->threads;
    so->max_newton = o->max_newton;
    so->stop = (struct abut_stop_opts){ o->stop, abut_step_norm(o), o->iterations > 0 ? o->iterations : 0 };
    so->line = (struct abut_line_opts){ o->line.armijo, o->line.ccd == ABUT_CCD_CFL, o->line.guess };
    if (o->quasi.history >= 0) so->history = o->quasi.history;
    memcpy(so->fit, o->quasi.fit, sizeof so->fit);
    so->parts = o->quasi.parts;
    so->one_level = o->quasi.levels == 1;
    so->without = o->without;
    so->terms = o->terms;
    abut_device_choose(so, (abut_device_kind)o->device.kind, o->device.number);
    so->device.precond = o->device.precond;
    so->device.ranks = o->device.ranks;
    so->names = o->names;
    const abut_status rc = row->linear ? abut_linear_solver_find(row->linear, &so->linear, err) : ABUT_OK;
    return rc || !o->names || o->quasi.parts ? rc : abut_partition_view(o->names, m->nt, &so->cut, err);
}

static void free_it(void *self)
{
    abut_stepper_clear(self);
    free(self);
}

static abut_status make(void **self, const abut_model *m, const abut_solver_row *row, const abut_step_options *o, abut_err *err)
{
    abut_search_opts so;
    barrier *b = calloc(1, sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_step_model_view(&b->model, m, o);
    abut_status rc = solver_options(row, o, m, &so, err);
    if (!rc) rc = abut_stepper_init(&b->stepper, &b->model.view, &so, err);
    if (rc) return free(b), rc;
    b->stepper.kept.on = o->passes.keep;
    rc = abut_barrier_choose(abut_barrier_state_of(&b->stepper.solver.prob.terms), o->hessian, err);
    if (rc) free_it(b);
    else *self = b;
    return rc;
}

/* Where the end of a step is not written, the path to the next frame continues from it. */
static void note_written(abut_stepper *s, int *written)
{
    *written |= abut_path_is_full(&s->solver.path);
    s->end_unwritten = !*written;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    note_written(self, written);
    return abut_step_begin(self, frame, at, rep, err);
}

static abut_status resume(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    note_written(self, written);
    return abut_step_resume(self, frame, at, rep, err);
}

/* The report of a step that has not converged says what it had. */
static abut_status reported(abut_stepper *s, abut_status rc, abut_report *rep)
{
    if (rc == ABUT_E_NUMERIC) abut_step_report_failed(s, rep);
    return rc;
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    return reported(self, abut_step_solve(self, rep, err), rep);
}

/* The passes that the model allows; where that is one, its residual is not measured. */
static abut_status settle(void *self, int *again, abut_report *rep, abut_err *err)
{
    abut_stepper *s = self;
    const abut_model *m = s->solver.prob.model;
    const int only = m->lags[0] == 1;
    int settled = 1;
    abut_status rc = abut_step_refresh(s, !only, rep, err);
    if (!rc && !only) rc = abut_step_settled(s, rep, m->lags[0], m->tolerance[0], &settled, err);
    *again = !settled;
    return rc || settled ? reported(s, rc, rep) : abut_step_again(s, err);
}

static abut_status suspend(void *self, const abut_arrays *carry, abut_arrays *out, abut_err *err)
{
    return abut_step_suspend(self, carry, out, err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    return reported(self, abut_step_commit(self, carry, record, out, at, rep, err), rep);
}

static abut_status stuck(void *self, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                         int *kept, abut_err *err)
{
    abut_stepper *s = self;
    *kept = s->solver.failed.kind != ABUT_FAILED_NOT;
    return *kept ? abut_step_stuck(s, carry, rep, why, out, err) : ABUT_OK;
}

const abut_stepper_ops abut_barrier_stepper_ops = {
    .make = make, .begin = begin, .resume = resume, .solve = solve, .settle = settle, .suspend = suspend, .commit = commit,
    .stuck = stuck, .free = free_it,
};

abut_status abut_step_advance(abut_stepper *s, const abut_arrays *frame, int pending, abut_instant *at, int with,
                              abut_arrays *out, abut_report *rep, abut_err *err)
{
    assert(s);
    int written = !s->end_unwritten;
    return abut_stepper_advance(&abut_barrier_stepper_ops, s, frame, pending, at, &written, with, out, rep, err);
}
