#include "tools/step/run.h"

#include "base/timer.h"
#include "formats/result/step_report.h"
#include "tools/step/stuck_file.h"

#include <math.h>
#include <string.h>

static void progress(abut_cli *cli, const abut_report *rep, int64_t goal, int64_t done, double t0)
{
    const double left = done ? (abut_time_wall() - t0) / (double)done * (double)(goal - rep->step) : 0;
    char gap[32] = "-";
    if (rep->min_gap >= 0) snprintf(gap, sizeof gap, "%.2g m", rep->min_gap);
    abut_cli_progress(cli, "frame %lld/%lld  t %.4g s  newton %d  contacts %d  gap %s  left %.0f s", (long long)rep->step,
                      (long long)goal, rep->time, rep->newton, rep->contacts + rep->planes, gap, left);
}

/* The next frame, or with --one-pass the PENDING one, in the place of r->now. */
static abut_status advance_one(abut_step_run *r, const abut_step_command *c, int *written, abut_report *rep, abut_err *err)
{
    const int pending = r->now.head.phase == ABUT_PENDING;
    abut_instant at = { r->now.head.step, r->now.head.time };
    abut_status rc;
    if (c->one_pass) {
        rc = abut_stepper_pass(r->ops, r->stepper, &r->now.set, pending, at, written, rep, err);
        if (!rc) rc = r->ops->suspend(r->stepper, &r->now.set, &r->next, err);
    } else {
        rc = abut_stepper_advance(r->ops, r->stepper, &r->now.set, pending, &at, written, c->record, &r->next, rep, err);
    }
    if (rc) return rc;
    const abut_arrays swap = r->now.set;
    r->now.set = r->next;
    r->now.head = (abut_frame_head){ at.step, at.time, c->one_pass ? ABUT_PENDING : ABUT_COMMITTED };
    r->next = swap;
    return ABUT_OK;
}

/* The report of a failed step shows why; a failure to write it comes second. */
static abut_status write_report(const abut_step_run *r, const abut_report *rep, abut_status rc, abut_err *err)
{
    if (!r->report) return rc;
    abut_err late = { 0 };
    const abut_status wrote = abut_report_write(rep, &r->s.model, r->report, &late);
    if (rc || !wrote) return rc;
    *err = late;
    return wrote;
}

/* The state of a step that was given up.  That it could not be written is said after why the step was given up. */
static void dump_stuck(abut_step_run *r, const abut_step_command *c, const abut_report *rep, abut_cli *cli, abut_err *err)
{
    abut_err late = { 0 };
    int kept = 0;
    if (!c->dump_stuck || !r->ops->stuck) return;
    abut_status rc = r->ops->stuck(r->stepper, &r->now.set, rep, err->msg, &r->next, &kept, &late);
    if (!rc && !kept) return;
    if (!rc) rc = abut_stuck_file_write(c->dump_stuck, &r->s, c->history, &r->now, &r->next, &late);
    if (!rc) {
        abut_cli_say(cli, "%s keeps the stuck state; step goes on from it", c->dump_stuck);
        return;
    }
    const size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, "; the stuck state is not kept: %.300s", late.msg);
}

/* How many steps to make: *n, 0 or less when the time of --until has passed. */
static abut_status count_steps(const abut_step_run *r, const abut_step_command *c, int64_t *n, abut_err *err)
{
    const abut_frame_head *now = &r->now.head;
    const double left = ceil((c->until - now->time) / r->s.model.h[0] - 1e-9);
    *n = c->one_pass ? 1 : c->steps;
    if (isfinite(c->until) && left > (double)(ABUT_STEP_MOST - now->step))
        return abut_fail(err, ABUT_E_ARG, "--until %g s is %.3g steps of %g s from step %lld at %g s: expected a time before "
                         "step 2^53", c->until, left, r->s.model.h[0], (long long)now->step, now->time);
    if (isfinite(c->until)) *n = left > 0 ? (int64_t)left : 0;
    if (*n <= ABUT_STEP_MOST - now->step) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: no %lld steps can follow step %lld: the largest number is 2^53", r->s.io.in_name,
                     (long long)*n, (long long)now->step);
}

static abut_status make_step(abut_step_run *r, const abut_step_command *c, int due, abut_report *rep, abut_cli *cli,
                             abut_err *err)
{
    int written = due;
    abut_status rc = advance_one(r, c, &written, rep, err);
    r->tally.more_frames += written && !due;
    if (rc == ABUT_E_NUMERIC) dump_stuck(r, c, rep, cli, err);
    rc = write_report(r, rep, rc, err);
    if (!rc) abut_step_tally_add(&r->tally, c, &r->model.view, rep);
    return rc || !written ? rc : abut_stream_write_frame(&r->s, &r->now.head, &r->now.set, err);
}

static abut_status simulate(abut_step_run *r, const abut_step_command *c, abut_cli *cli, abut_err *err)
{
    const double t0 = abut_time_wall();
    int64_t n;
    abut_status rc = count_steps(r, c, &n, err);
    if (rc) return rc;
    if (n < 1 && isfinite(c->until))
        abut_cli_say(cli, "--until %g s: the stream is at %g s already, no step was made", c->until, r->now.head.time);
    const int64_t goal = r->now.head.step + n;
    for (int64_t k = 1; k <= n && !rc; k++) {
        abut_report rep = { .step = r->now.head.step + 1, .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1,
                            .max_stretch_shell = -1, .promises = c->solver->promises };
        const int due = c->one_pass || (r->now.head.step + 1) % c->every == 0 || k == n;
        rc = make_step(r, c, due, &rep, cli, err);
        if (!rc && !c->one_pass) progress(cli, &rep, goal, k, t0);
        abut_report_clear(&rep);
    }
    abut_step_tally_say(&r->tally, c, &r->model.view, cli);
    return rc;
}

/* The solver, once the scene is known. */
static abut_status options_of(void *ctx, const abut_model *m, const char **options, abut_err *err)
{
    abut_step_command *c = ctx;
    const abut_status rc = abut_step_choose_solver(c, m, err);
    *options = c->history;
    return rc;
}

abut_status abut_step_run_all(abut_step_run *r, abut_step_command *c, abut_cli *cli, abut_err *err)
{
    abut_step_options o = c->o;
    abut_status rc = abut_stream_open_asking(&r->s, cli, options_of, c, err);
    if (!rc) rc = abut_last_read(&r->now, &r->s, c->from, err);
    if (rc == ABUT_E_ARG && r->s.item == ABUT_ITEM_END) abut_wrap(err, "--from %d", c->from);
    if (rc) return rc;
    o.names = &r->s.model_set;
    abut_step_model_view(&r->model, &r->s.model, &o);
    r->ops = c->solver->stepper;
    rc = r->ops->make(&r->stepper, &r->s.model, c->solver, &o, err);
    if (rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) abut_wrap(err, "%s: MODEL", cli->in_name);
    if (!rc) rc = simulate(r, c, cli, err);
    return rc ? rc : abut_stream_close(&r->s, err);
}

void abut_step_run_clear(abut_step_run *r)
{
    if (r->stepper) r->ops->free(r->stepper);
    abut_last_clear(&r->now);
    abut_arrays_clear(&r->next);
    abut_stream_clear(&r->s);
    *r = (abut_step_run){ 0 };
}
