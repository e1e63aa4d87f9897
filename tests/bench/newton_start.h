/* The first iterate of the step after the first frame of a stream, for programs that time Newton's equation there. */
#ifndef ABUT_BENCH_NEWTON_START_H
#define ABUT_BENCH_NEWTON_START_H

#include "energy/prescribed.h"
#include "formats/stream/state_io.h"
#include "solve/step/barrier_stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail_on(abut_status rc, const abut_err *err)
{
    if (!rc) return;
    fprintf(stderr, "bench: %s\n", err->msg);
    exit(1);
}

static inline abut_status read_start(const char *path, abut_arrays *model, abut_arrays *frame, abut_instant *at, abut_err *err)
{
    abut_frame_head head = { 0 };
    abut_item item = ABUT_ITEM_END;
    abut_reader *r = NULL;
    FILE *f = fopen(path, "rb");
    if (!f) return abut_fail(err, ABUT_E_IO, "cannot read %s", path);
    abut_status rc = abut_reader_open(f, path, &r, err);
    if (!rc) rc = abut_reader_next(r, &item, &head, model, err);
    if (!rc && item == ABUT_ITEM_MODEL) rc = abut_reader_next(r, &item, &head, frame, err);
    if (!rc && (item != ABUT_ITEM_FRAME || head.phase != ABUT_COMMITTED))
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: expected a MODEL and a COMMITTED frame", path);
    *at = (abut_instant){ head.step, head.time };
    abut_reader_free(&r);
    fclose(f);
    return rc;
}

/* The stepper borrows the model: it must stay where it is. */
typedef struct newton_start {
    const char *name;       /* of the file */
    abut_arrays model_set, frame;
    abut_model model;
    abut_stepper stepper;
} newton_start;

static inline void newton_start_open(newton_start *b, const char *path, int threads, abut_report *rep)
{
    *b = (newton_start){ .name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
    abut_search_opts opt = abut_search_defaults();
    abut_instant at;
    abut_err err = { 0 };
    opt.threads = threads;
    abut_status rc = read_start(path, &b->model_set, &b->frame, &at, &err);
    if (!rc) rc = abut_model_view(&b->model_set, &b->model, &err);
    if (!rc) rc = abut_stepper_init(&b->stepper, &b->model, &opt, &err);
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
