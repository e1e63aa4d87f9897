/* The first iterate of the step after the first frame of a stream, for programs that time Newton's equation there. */
#ifndef ABUT_BENCH_NEWTON_START_H
#define ABUT_BENCH_NEWTON_START_H

#include "energy/mass.h"
#include "read_frame.h"
#include "solve/step/barrier_stepper.h"

#include <string.h>

/* The stepper borrows the model, which must not move in memory. */
typedef struct newton_start {
    const char *name;       /* of the file */
    abut_arrays model_set, frame;
    abut_model model;
    abut_solve_options user;
    abut_stepper stepper;
} newton_start;

static inline void newton_start_open(newton_start *b, const char *path, int threads, abut_report *rep)
{
    *b = (newton_start){ .name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
    abut_instant at;
    abut_err err = { 0 };
    b->user = abut_solve_defaults;
    b->user.linear.threads = threads;
    abut_status rc = read_frame(path, FIRST_FRAME, &b->model_set, &b->frame, &at, &err);
    if (!rc) rc = abut_model_view(&b->model_set, &b->model, &err);
    if (!rc) rc = abut_stepper_init(&b->stepper, &b->model, NULL, &b->user, &err);
    if (!rc) rc = abut_step_begin(&b->stepper, &b->frame, at, rep, &err);
    fail_on(rc, &err);
    abut_search *so = &b->stepper.solver;
    abut_lagrangian_of(&so->prob.terms)->on = 0;
    abut_objective_number(&so->prob);
    const abut_at here = abut_objective_at(&so->prob, so->here.x, so->here.y, &so->here.pairs);
    abut_objective_forecast_start(&so->prob, &here);
}

static inline void newton_start_close(newton_start *b)
{
    abut_stepper_clear(&b->stepper);
    abut_arrays_clear(&b->model_set);
    abut_arrays_clear(&b->frame);
}

#endif
