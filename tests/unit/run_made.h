/* A scene made of its text and stepped: what the tests of hard contact and of linearised inequalities share. */
#ifndef ABUT_TESTS_RUN_MADE_H
#define ABUT_TESTS_RUN_MADE_H

#include "scene_made.h"

#include "solve/solvers.h"
#include "solve/options.h"
#include "solve/step/measures.h"

typedef struct run {
    made scene;
    const abut_stepper_ops *ops;
    void *stepper;
    abut_arrays now, next;
    abut_instant at;
    abut_report rep;
    abut_frame f;
} run;

/* The scene with a solver; o: its options.  What the solver says of it. */
static inline abut_status open_solver(run *r, const char *text, const char *solver, const abut_solve_options *o)
{
    memset(r, 0, sizeof *r);
    if (make(&r->scene, text)) {
        printf("# %s\n", r->scene.err.msg);
        abort();
    }
    const abut_solver_row *row = abut_solver_find(solver, NULL, &r->scene.err);
    r->ops = row->stepper;
    const abut_status rc = r->ops->make(&r->stepper, &r->scene.m, row, o, &r->scene.err);
    r->now = r->scene.frame_set;
    memset(&r->scene.frame_set, 0, sizeof r->scene.frame_set);
    return rc;
}

static inline void open_run_of(run *r, const char *text, const char *solver, const abut_solve_options *o)
{
    CHECK(!open_solver(r, text, solver, o));
    CHECK(!abut_frame_view(&r->now, &r->scene.m, &r->f, &r->scene.err));
}

/* With hard contact, none of whose steps the barrier may take. */
static inline void open_run_with(run *r, const char *text, const abut_linear_solver_ops *linear)
{
    abut_solve_options o = abut_solve_defaults;
    o.hard.repair = ABUT_REPAIR_NONE;
    o.linear.solver = linear;
    open_run_of(r, text, "nodal", &o);
}

static inline void open_run(run *r, const char *text)
{
    open_run_with(r, text, NULL);
}

/* One step with ABUT_WITH_* in its frame: r->next is its end. */
static inline abut_status advance_run_with(run *r, int with)
{
    int written = 1;
    abut_report_clear(&r->rep);
    r->rep = (abut_report){ 0 };
    return abut_stepper_advance(r->ops, r->stepper, &r->now, 0, &r->at, &written, with, &r->next, &r->rep, &r->scene.err);
}

static inline abut_status advance_run(run *r)
{
    return advance_run_with(r, 0);
}

/* The frame that a step has made is the last one, r->next the one before. */
static inline abut_status pass_on(run *r)
{
    const abut_arrays swap = r->now;
    r->now = r->next;
    r->next = swap;
    return abut_frame_view(&r->now, &r->scene.m, &r->f, &r->scene.err);
}

/* Takes n steps; r->f is the last frame, r->next the one before. */
static inline void steps_with(run *r, int n, int with)
{
    for (int k = 0; k < n; k++) {
        const abut_status rc = advance_run_with(r, with);
        CHECK(!rc);
        if (rc) printf("# %s\n", r->scene.err.msg);
        CHECK(!pass_on(r));
    }
}

static inline void steps(run *r, int n)
{
    steps_with(r, n, 0);
}

static inline void close_run(run *r)
{
    if (r->stepper) r->ops->free(r->stepper);
    abut_report_clear(&r->rep);
    abut_arrays_clear(&r->now);
    abut_arrays_clear(&r->next);
    drop(&r->scene);
}

#endif
