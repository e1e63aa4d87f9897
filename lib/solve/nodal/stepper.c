/* Hard contact as a stepper, without a judge. */
#include "solve/nodal/nodal.h"
#include "solve/step/options.h"

#include <stdlib.h>

static abut_status make(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_step_options *o,
                        abut_err *err)
{
    const abut_nodal_options n = abut_nodal_options_for(m, o);
    abut_nodal *s = malloc(sizeof *s);
    (void)row;
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "solver nodal");
    const abut_status rc = abut_nodal_init(s, m, &n, err);
    if (rc) free(s);
    else *self = s;
    return rc;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    (void)written;
    (void)rep;
    return abut_nodal_begin(self, frame, at, err);
}

static abut_status solve(void *self, abut_report *rep, abut_err *err) { return abut_nodal_solve(self, rep, err); }

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    abut_nodal *s = self;
    (void)record;
    const abut_status rc = abut_nodal_put_frame(s, carry, out, rep, err);
    if (rc) return rc;
    *at = abut_instant_next(s->from, s->objective.model->h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

static void free_it(void *self)
{
    abut_nodal_clear(self);
    free(self);
}

const abut_stepper_ops abut_nodal_stepper_ops = { .make = make, .begin = begin, .solve = solve, .commit = commit, .free = free_it };
