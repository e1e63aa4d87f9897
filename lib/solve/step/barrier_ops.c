/* The barrier stepper as a table of operations (solve/stepper.h), and steps of it that project onto strain limits. */
#include "solve/step/barrier_stepper.h"

#include "energy/barrier.h"
#include "solve/step/step_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The stepper comes first: an instance is one. */
typedef struct barrier {
    abut_stepper stepper;
    abut_model model;       /* as the options change it */
    struct barrier_parts {  /* a step whose friction passes do not converge is taken in equal halves, halved again */
        const abut_arrays *frame;   /* COMMITTED, the start of the step, borrowed until it ends; NULL: it was PENDING */
        abut_instant at;            /* of that frame */
        double whole;               /* s: the length of the step */
        double h;                   /* s: length of a part, to which every view of the model points */
        int halved, left;           /* number of halvings; parts to come, with the present one */
        int passes;                 /* of the parts before, finished or given up */
        int unwritten;              /* s->end_unwritten of the step */
        double least;               /* N: the least change of the normal forces after a pass of the part */
        int since;                  /* passes since */
        abut_arrays start;          /* of the present part; empty: the frame */
    } parts;
} barrier;

/* Passes after which a whole step is halved; passes in a row without progress, after which a part is halved; most halvings. */
enum { PASSES_OF_WHOLE = 24, IDLE_PASSES = 4, HALVED_MOST = 4 };

static void free_it(void *self)
{
    abut_arrays_clear(&((barrier *)self)->parts.start);
    abut_stepper_clear(self);
    free(self);
}

static abut_status make(void **self, const abut_model *m, const abut_solver_row *row, const abut_solve_options *o, abut_err *err)
{
    barrier *b = calloc(1, sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "step: a stepper");
    abut_solve_view(&b->model, m, o);
    b->parts.h = b->parts.whole = m->h[0];
    b->model.h = &b->parts.h;
    abut_status rc = abut_stepper_init(&b->stepper, &b->model, row, o, err);
    if (rc) return free(b), rc;
    rc = abut_barrier_choose(abut_barrier_state_of(&b->stepper.solver.prob.terms), o->linear.hessian, err);
    if (rc) free_it(b);
    else *self = b;
    return rc;
}

/* Notes whether the end of the step is written; else the path to the next frame continues from it. */
static void note_written(abut_stepper *s, int *written)
{
    *written |= abut_path_is_full(&s->solver.path);
    s->end_unwritten = !*written;
}

/* Makes the next step a whole one again. */
static void join(barrier *b, const abut_arrays *frame, abut_instant at)
{
    const double whole = b->parts.whole;
    abut_arrays_clear(&b->parts.start);
    b->parts = (struct barrier_parts){ .frame = frame, .at = at, .whole = whole, .h = whole, .left = 1,
                                        .least = INFINITY };
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    note_written(self, written);
    return abut_step_begin(self, frame, at, rep, err);
}

static abut_status begin_whole(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep,
                               abut_err *err)
{
    barrier *b = self;
    join(b, frame, at);
    const abut_status rc = begin(self, frame, at, written, rep, err);
    b->parts.unwritten = b->stepper.end_unwritten;
    return rc;
}

static abut_status resume(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    note_written(self, written);
    return abut_step_resume(self, frame, at, rep, err);
}

static abut_status resume_whole(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep,
                                abut_err *err)
{
    join(self, NULL, at);
    return resume(self, frame, at, written, rep, err);
}

/* Reports the state of a step that has not converged. */
static abut_status reported(abut_stepper *s, abut_status rc, abut_report *rep)
{
    if (rc == ABUT_E_NUMERIC) abut_step_report_failed(s, rep);
    return rc;
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    return reported(self, abut_step_solve(self, rep, err), rep);
}

/* Returns 1 if a step can be halved: implicit Euler, whose past is the frame alone, on the processor. */
static int can_halve(const barrier *b)
{
    const abut_model *m = &b->model;
    return m->lags[0] == 0 && b->parts.frame && b->parts.halved < HALVED_MOST && b->stepper.solver.prob.w.inertia &&
           abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_PLAIN) && !b->stepper.solver.opt->device.place.ops;
}

/* Begins the present part, at parts.start or at the frame. */
static abut_status begin_part(barrier *b, abut_report *rep, abut_err *err)
{
    struct barrier_parts *p = &b->parts;
    abut_stepper *s = &b->stepper;
    const int done = (1 << p->halved) - p->left;
    const abut_instant at = { p->at.step, p->at.time + done * p->h };
    p->least = INFINITY, p->since = 0;
    s->end_unwritten = p->left > 1 || p->unwritten;
    return abut_step_begin(s, done ? &p->start : p->frame, at, rep, err);
}

/* Gives up the present part: the rest of the step is taken in parts half as long. */
static abut_status halve(barrier *b, abut_report *rep, abut_err *err)
{
    struct barrier_parts *p = &b->parts;
    p->passes += b->stepper.pass;
    p->halved++, p->left *= 2, p->h *= 0.5;
    rep->lags.parts = 1 << p->halved;
    abut_path_back(&b->stepper.solver.path);    /* drops the path of this part */
    b->stepper.path_continues = 2;
    return begin_part(b, rep, err);
}

/* Ends a part that is not the last, and begins the next one. */
static abut_status go_on(barrier *b, abut_report *rep, abut_err *err)
{
    struct barrier_parts *p = &b->parts;
    abut_arrays next = { 0 };
    abut_instant at;
    p->passes += b->stepper.pass;
    abut_status rc = abut_step_commit(&b->stepper, p->start.n ? &p->start : p->frame, 0, &next, &at, rep, err);
    rc = reported(&b->stepper, rc, rep);
    abut_arrays_clear(&p->start);
    p->start = next;
    p->left--;
    return rc ? rc : begin_part(b, rep, err);
}

/* Judges whether the passes end; with one pass allowed, its residual is not measured. */
static abut_status judge(abut_stepper *s, int *settled, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->solver.prob.model;
    *settled = 1;
    abut_status rc = abut_step_refresh(s, m->lags[0] != 1, rep, err);
    if (!rc) rc = abut_step_settled(s, rep, m->lags[0], m->tolerance[0], settled, err);
    return reported(s, rc, rep);
}

static abut_status settle(void *self, int *again, abut_report *rep, abut_err *err)
{
    abut_stepper *s = self;
    int settled;
    const abut_status rc = judge(s, &settled, rep, err);
    *again = !settled;
    return rc || settled ? rc : abut_step_again(s, s->solver.prob.model->lags[0], rep, err);
}

static abut_status settle_part(void *self, int *again, abut_report *rep, abut_err *err)
{
    barrier *b = self;
    abut_stepper *s = self;
    int settled;
    const abut_status rc = judge(s, &settled, rep, err);
    *again = !settled || b->parts.left > 1;
    if (rc) return rc;
    if (settled && b->parts.left > 1) return go_on(b, rep, err);
    if (settled) rep->passes = b->parts.passes + s->pass;
    if (settled) return ABUT_OK;
    struct barrier_parts *p = &b->parts;
    p->since = rep->lags.change < p->least ? 0 : p->since + 1;
    p->least = fmin(p->least, rep->lags.change);
    const int diverges = p->halved ? s->pass >= ABUT_LAGS_FOLLOWED || p->since >= IDLE_PASSES : s->pass >= PASSES_OF_WHOLE;
    return diverges && can_halve(b) ? halve(b, rep, err) : abut_step_again(s, b->model.lags[0], rep, err);
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

static abut_status commit_whole(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at,
                                abut_report *rep, abut_err *err)
{
    barrier *b = self;
    const abut_instant end = abut_instant_next(b->parts.at, b->parts.whole);
    const abut_status rc = commit(self, carry, record, out, at, rep, err);
    if (!rc) *at = end, rep->step = end.step, rep->time = end.time;
    join(b, NULL, end);
    return rc;
}

static abut_status stuck(void *self, const abut_arrays *carry, const abut_report *rep, const char *why, abut_arrays *out,
                         int *kept, abut_err *err)
{
    abut_stepper *s = self;
    *kept = s->solver.failed.kind != ABUT_FAILED_NOT;
    return *kept ? abut_step_stuck(s, carry, rep, why, out, err) : ABUT_OK;
}

static const abut_path *path(const void *self) { return &((const abut_stepper *)self)->solver.path; }

const abut_stepper_ops abut_barrier_stepper_ops = {
    .make = make, .begin = begin_whole, .resume = resume_whole, .solve = solve, .settle = settle_part, .suspend = suspend,
    .commit = commit_whole, .stuck = stuck, .path = path, .free = free_it,
};

/* Operations of a stepper alone, whose caller owns the model: its steps are not divided. */
static const abut_stepper_ops alone = { .begin = begin, .resume = resume, .solve = solve, .settle = settle, .suspend = suspend,
                                        .commit = commit };

abut_status abut_step_advance(abut_stepper *s, const abut_arrays *frame, int pending, abut_instant *at, int with,
                              abut_arrays *out, abut_report *rep, abut_err *err)
{
    assert(s);
    int written = !s->end_unwritten;
    return abut_stepper_advance(&alone, s, frame, pending, at, &written, with, out, rep, err);
}

/* ---- the projection onto strain limits ---- */

/* Arrays of forces, which the copy does not have. */
static const char *const forces[] = {
    "hinge/node", "hinge/angle", "hinge/stiffness", "rod/node", "rod/material", "rod/radius", "rod/length", "rod/curvature",
    "rod/twist", "bend/node", "bend/stiffness", "spring/node", "spring/length", "spring/stiffness", "attachment/node",
    "attachment/weight", "attachment/offset", "attachment/stiffness", "object/pressure", "object/pressure-key", "object/drag",
    "world/wind", "damping/mass", "damping/stiffness", "tet/fibre", "material/fibre", "material/volume", "material/stretch"
};

static void fill(abut_arrays *set, const char *name, double value)
{
    abut_array *a = abut_arrays_find(set, name);
    for (int64_t i = 0; a && i < abut_array_count(a); i++) ((double *)a->data)[i] = value;
}

/* Makes materials so soft that their forces vanish in any sum; cloth stays, because its energy is its limit. */
static void soften(abut_arrays *set)
{
    abut_array *model = abut_arrays_find(set, "material/model"), *membrane = abut_arrays_find(set, "material/membrane");
    fill(set, "material/young", 1e-20);
    for (int64_t i = 0; model && i < abut_array_count(model); i++) ((int32_t *)model->data)[i] = ABUT_NEO_HOOKEAN;
    for (int64_t i = 0; membrane && i < abut_array_count(membrane); i++) {
        int32_t *kind = (int32_t *)membrane->data + i;
        if (*kind != ABUT_MEMBRANE_CLOTH) *kind = ABUT_MEMBRANE_ISOTROPIC;
    }
}

/* Scripted forces, which stay as motions that do nothing. */
static void drop_forces(abut_arrays *set)
{
    const abut_array *kind = abut_arrays_find(set, "motion/kind");
    abut_array *linear = abut_arrays_find(set, "motion/linear");
    fill(set, "motion/torque", 0);
    for (int64_t i = 0; kind && linear && i < abut_array_count(kind); i++)
        if (((const int32_t *)kind->data)[i] == ABUT_MOTION_FORCE) memset((double *)linear->data + 3 * i, 0, 3 * sizeof(double));
}

static abut_status copy_all(const abut_arrays *from, abut_arrays *to, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(to);
    for (int i = 0; i < from->n && !rc; i++) rc = abut_arrays_copy(to, &from->a[i], err);
    return rc;
}

abut_status abut_split_model(const abut_arrays *model, abut_arrays *out, abut_err *err)
{
    const abut_array *scheme = abut_arrays_find(model, "time/scheme");
    if (scheme && *(const int32_t *)scheme->data != ABUT_FIRST_SCHEME)
        return abut_fail(err, ABUT_E_FORMAT, "time/scheme is %d: the projection knows implicit Euler (%d)",
                         *(const int32_t *)scheme->data, ABUT_FIRST_SCHEME);
    const abut_status rc = copy_all(model, out, err);
    if (rc) return rc;
    for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) abut_arrays_remove(out, forces[i]);
    soften(out);
    drop_forces(out);
    fill(out, "world/gravity", 0);
    fill(out, "contact/mu", 0);
    return ABUT_OK;
}

/* The frame before, with a velocity to the predictor, x~ = x_n + h v.  Friction is in the predictor, and the model has no rods.
 * */
static abut_status towards_predictor(const abut_arrays *start, const abut_arrays *predictor, double h, abut_arrays *out,
                                     abut_err *err)
{
    const abut_status rc = copy_all(start, out, err);
    const abut_array *x = abut_arrays_find(out, "node/x"), *to = abut_arrays_find(predictor, "node/x");
    abut_array *v = abut_arrays_find(out, "node/v");
    if (rc) return rc;
    for (int64_t i = 0; i < abut_array_count(x); i++)
        ((double *)v->data)[i] = (((const double *)to->data)[i] - ((const double *)x->data)[i]) / h;
    static const char *const gone[] = { "lag/node", "lag/vertex", "lag/weight", "lag/basis", "lag/normal-force", "lag/mu",
                                        "rod/frame" };
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) abut_arrays_remove(out, gone[k]);
    return ABUT_OK;
}

/* The predictor with the arrays that the projection changes. */
static abut_status put_projected(const abut_arrays *predictor, const abut_arrays *projected, abut_arrays *out, abut_err *err)
{
    static const char *const changed[] = { "node/x", "node/v", "step/waypoints", "contact/kappa", "object/kappa-part",
                                           "strain/kappa" };
    abut_status rc = copy_all(predictor, out, err);
    for (size_t i = 0; i < sizeof changed / sizeof *changed && !rc; i++) {
        const abut_array *a = abut_arrays_find(projected, changed[i]);
        const abut_array *before = abut_array_named(out, changed[i]);
        if (before) abut_arrays_remove(out, before->name);
        if (a) rc = abut_arrays_copy(out, a, err);
    }
    return rc;
}

abut_status abut_split_project(abut_stepper *s, const abut_arrays *start, abut_instant at, const abut_arrays *predictor,
                               abut_arrays *out, abut_report *rep, abut_err *err)
{
    assert(s);
    const abut_model *m = s->solver.prob.model;
    abut_arrays from = { 0 }, next = { 0 };
    abut_status rc = towards_predictor(start, predictor, *m->h, &from, err);
    if (!rc) rc = abut_step_advance(s, &from, 0, &at, 0, &next, rep, err);
    if (!rc) rc = put_projected(predictor, &next, out, err);
    abut_arrays_clear(&from);
    abut_arrays_clear(&next);
    return rc;
}
