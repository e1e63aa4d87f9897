/* SQP and QP as steppers: every step is judged, and the hits are reported. */
#include "base/timer.h"
#include "solve/nodal/failsafe.h"
#include "solve/solvers.h"
#include "solve/sqp/sqp.h"

#include <stdlib.h>

/* An instance. */
typedef struct sqp {
    abut_sqp solver;
    abut_model model;   /* as the options change it */
    abut_guard guard;
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

static abut_status make(void **self, const abut_model *m, const abut_solve_options *o, int fixed, abut_err *err)
{
    sqp *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_solve_view(&s->model, m, o);
    abut_status rc = abut_sqp_init(&s->solver, &s->model, fixed, o, err);
    if (!rc) rc = abut_guard_init(&s->guard, &s->model, &s->solver.objective.cm, err);
    if (rc) free_it(s);
    else *self = s;
    return rc;
}

static abut_status make_sqp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                            abut_err *err)
{
    (void)row;
    return make(self, m, o, 0, err);
}

static abut_status make_qp(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
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
    if (rc || clean || !s->solver.user->hard.strict) return rc;
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
    *at = abut_instant_next(s->solver.from, s->model.h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

#define OPERATIONS .begin = begin, .solve = solve, .commit = commit, .free = free_it
const abut_stepper_ops abut_sqp_stepper_ops = { .make = make_sqp, OPERATIONS };
const abut_stepper_ops abut_qp_stepper_ops = { .make = make_qp, OPERATIONS };
