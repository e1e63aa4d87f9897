/* SQP and QP as steppers: every step is judged, and the hits are reported. */
#include "base/timer.h"
#include "solve/nodal/failsafe.h"
#include "solve/solvers.h"
#include "solve/sqp/sqp.h"
#include "solve/step/options.h"

#include <stdlib.h>

/* An instance. */
typedef struct sqp {
    abut_sqp solver;
    abut_step_model model;
    abut_guard guard;
    int strict;
    int unwritten;      /* no frame shows the end of the present step */
    size_t hits;        /* of the steps since the last frame that was written */
} sqp;

static void free_it(void *self)
{
    sqp *s = self;
    abut_sqp_clear(&s->solver);
    abut_guard_clear(&s->guard);
    free(s);
}

/* Options by the command line, else by the scene. */
static abut_sqp_options options_of(const abut_model *m, const abut_step_options *o, int fixed)
{
    static const int by[ABUT_ACTIVE_SETS] = { ABUT_SET_IMPACTS | ABUT_SET_NEAR, ABUT_SET_IMPACTS, ABUT_SET_NEAR };
    const struct abut_step_inequalities *q = &o->inequalities;
    const int set = q->active_set >= 0 ? q->active_set : m->sqp_active_set ? m->sqp_active_set[0] : 0;
    abut_sqp_options to = { .fixed = fixed, .full_steps = q->line_search == ABUT_SEARCH_NONE, .most = o->max_newton,
                            .linear = o->linear, .threads = o->threads, .terms = o->terms };
    to.constraints.form = q->form >= 0 ? q->form : m->sqp_constraints ? m->sqp_constraints[0] : ABUT_CONSTRAINT_GAP;
    to.constraints.by = by[set];
    to.constraints.offset = q->offset >= 0 ? q->offset : m->sqp_offset ? m->sqp_offset[0] : abut_least_dhat(m);
    return to;
}

static abut_status make(void **self, const abut_model *m, const abut_step_options *o, int fixed, abut_err *err)
{
    sqp *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_step_model_view(&s->model, m, o);
    s->strict = o->hard.strict;
    const abut_sqp_options to = options_of(m, o, fixed);
    abut_status rc = abut_sqp_init(&s->solver, &s->model.view, &to, err);
    if (!rc) rc = abut_guard_init(&s->guard, &s->model.view, &s->solver.objective.cm, err);
    if (rc) free_it(s);
    else *self = s;
    return rc;
}

static abut_status make_sqp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_step_options *o,
                            abut_err *err)
{
    (void)row;
    return make(self, m, o, 0, err);
}

static abut_status make_qp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_step_options *o,
                           abut_err *err)
{
    (void)row;
    return make(self, m, o, 1, err);
}

static abut_status name_step(const sqp *s, abut_status rc, abut_err *err)
{
    const abut_instant *at = &s->solver.from;
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)at->step + 1, at->time), rc : ABUT_OK;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    sqp *s = self;
    const double clock = abut_time_wall();
    s->unwritten = !*written;
    const abut_status rc = abut_sqp_begin(&s->solver, frame, at, err);
    rep->seconds.predict += abut_time_wall() - clock;
    return name_step(s, rc, err);
}

/* Reports pairs that meet and elements that invert on the motion of the step; with --strict they are an error. */
static abut_status judge(sqp *s, abut_report *rep, abut_err *err)
{
    const double clock = abut_time_wall();
    char words[ABUT_GUARD_WORDS];
    int clean;
    const abut_status rc = abut_guard_motion(&s->guard, s->solver.objective.xn, s->solver.of.x, &clean, err);
    rep->seconds.check += abut_time_wall() - clock;
    rep->sqp.hits = rc ? 0 : s->guard.hits.n;
    if (rc || clean || !s->strict) return rc;
    return abut_fail(err, ABUT_E_NUMERIC, "%s (--strict)", abut_guard_words(&s->guard, words));
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    sqp *s = self;
    rep->contact = !s->solver.objective.cm.nc ? ABUT_CONTACT_OFF : ABUT_CONTACT_LINEARISED;
    abut_status rc = abut_sqp_solve(&s->solver, rep, err);
    if (!rc) rc = judge(s, rep, err);
    return name_step(s, rc, err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    sqp *s = self;
    (void)record;
    s->hits += rep->sqp.hits;
    const abut_status rc = abut_sqp_put_frame(&s->solver, carry, s->hits, out, rep, err);
    if (rc) return name_step(s, rc, err);
    if (!s->unwritten) s->hits = 0;
    *at = abut_instant_next(s->solver.from, s->model.view.h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

#define OPERATIONS .begin = begin, .solve = solve, .commit = commit, .free = free_it
const abut_stepper_ops abut_sqp_stepper_ops = { .make = make_sqp, OPERATIONS };
const abut_stepper_ops abut_qp_stepper_ops = { .make = make_qp, OPERATIONS };
