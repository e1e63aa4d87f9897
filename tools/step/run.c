#include "tools/step/run.h"

#include "base/timer.h"
#include "formats/result/out_file.h"
#include "formats/result/step_report.h"
#include "model/motion.h"
#include "tools/step/stuck_file.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

enum { SLOW_ENOUGH = 10 };  /* steps in a row at whose end all is slow: nothing rests at the top of a throw for so long */

void abut_step_keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

/* goal: the last step; it may be far away where a run is to go on until rest. */
static void progress(abut_cli *cli, const abut_report *rep, int64_t goal, int64_t done, double t0)
{
    const double left = (abut_time_wall() - t0) / (double)done * (double)(goal - rep->step);
    char gap[32] = "-", last[64] = "";
    const int is_known = goal < ABUT_STEP_MOST;
    if (rep->min_gap >= 0) snprintf(gap, sizeof gap, "%.2g m", rep->min_gap);
    if (is_known) snprintf(last, sizeof last, "/%lld", (long long)goal);
    abut_cli_progress(cli, is_known ? "frame %lld%s  t %.4g s  newton %d  contacts %d  gap %s  left %.0f s" :
                      "frame %lld%s  t %.4g s  newton %d  contacts %d  gap %s", (long long)rep->step, last, rep->time,
                      rep->newton, rep->contacts + rep->planes, gap, left);
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
        rc = abut_stepper_advance(r->ops, r->stepper, &r->now.set, pending, &at, written, (int)c->record, &r->next, rep, err);
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

/* *n: number of steps to make; 0 if the time of --until has passed. */
static abut_status count_steps(const abut_step_run *r, const abut_step_command *c, int64_t *n, abut_err *err)
{
    const abut_frame_head *now = &r->now.head;
    const double left = ceil((c->until - now->time) / r->s.model.h[0] - 1e-9);
    *n = c->one_pass ? 1 : c->steps >= 0 ? c->steps : c->rest > 0 ? ABUT_STEP_MOST - now->step : 1;
    if (isfinite(c->until) && left > (double)(ABUT_STEP_MOST - now->step))
        return abut_fail(err, ABUT_E_ARG, "--until %g s is %.3g steps of %g s from step %lld at %g s: expected a time before "
                         "step 2^53", c->until, left, r->s.model.h[0], (long long)now->step, now->time);
    if (isfinite(c->until) && (c->steps < 0 || left < (double)*n)) *n = left > 0 ? (int64_t)left : 0;
    if (*n <= ABUT_STEP_MOST - now->step) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: no %lld steps can follow step %lld: the largest number is 2^53", r->s.io.in_name,
                     (long long)*n, (long long)now->step);
}

/* --checkpoint-every: what was written is on the disk. */
static abut_status keep_checkpoint(abut_step_run *r, const abut_step_command *c, const abut_cli *cli, abut_err *err)
{
    const double now = abut_time_wall();
    if (!(c->checkpoint > 0) || !cli->out || now - r->synced < c->checkpoint) return ABUT_OK;
    r->synced = now;
    return abut_out_sync(cli->out, cli->out_path ? cli->out_path : "output", err);
}

/* --until-rest: whether this step ends slowly enough, after all that the script has to begin or to change, and so many did. */
static void look_for_rest(abut_step_run *r, const abut_step_command *c)
{
    const abut_model *m = &r->s.model;
    const abut_array *v = abut_array_named(&r->now.set, "node/v");
    double fastest = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        const double *u = (const double *)v->data + 3 * (size_t)i;
        if (m->role[i] == ABUT_NODE_FREE) fastest = fmax(fastest, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    const int is_over = r->now.head.time - 0.5 * m->h[0] >= abut_motion_last_event(m);
    r->slow = is_over && sqrt(fastest) <= c->rest ? r->slow + 1 : 0;
    r->rests = r->slow >= SLOW_ENOUGH;
}

static abut_status make_step(abut_step_run *r, const abut_step_command *c, int due, abut_report *rep, abut_cli *cli,
                             abut_err *err)
{
    int written = due;
    abut_status rc = advance_one(r, c, &written, rep, err);
    r->tally.more_frames += written && !due;
    if (rc == ABUT_E_NUMERIC) dump_stuck(r, c, rep, cli, err);
    rc = write_report(r, rep, rc, err);
    if (!rc) abut_step_tally_add(&r->tally, c, &r->model, rep);
    if (!rc && c->rest > 0) look_for_rest(r, c);
    if (rc || !written) return rc;
    rc = abut_stream_write_frame(&r->s, &r->now.head, &r->now.set, err);
    r->tally.frames += !rc && r->s.io.out;
    return rc ? rc : keep_checkpoint(r, c, cli, err);
}

static abut_status simulate(abut_step_run *r, const abut_step_command *c, abut_cli *cli, abut_err *err)
{
    const double t0 = r->synced = abut_time_wall();
    int64_t n;
    abut_status rc = count_steps(r, c, &n, err);
    if (rc) return rc;
    if (n < 1 && isfinite(c->until) && c->steps)
        abut_cli_say(cli, "--until %g s: the stream is at %g s already, no step was made", c->until, r->now.head.time);
    const int64_t goal = r->now.head.step + n;
    for (int64_t k = 1; k <= n && !rc && !r->rests && !(c->dry && k > 1); k++) {
        abut_report rep = { .step = r->now.head.step + 1, .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1,
                            .max_stretch_shell = -1, .promises = abut_solver_promises(c->solver, &c->o) };
        /* the step that may be the last of --until-rest is written, too */
        const int due = c->one_pass || (r->now.head.step + 1) % c->every == 0 || k == n || r->slow >= SLOW_ENOUGH - 1;
        rc = make_step(r, c, due, &rep, cli, err);
        if (!rc && !c->one_pass) progress(cli, &rep, goal, k, t0);
        if (!rc && c->dry) {
            abut_step_dry_say(r, c, &rep, n, cli);
            rc = abut_cli_said("--dry-run", err);
        }
        abut_report_clear(&rep);
    }
    abut_step_tally_say(&r->tally, c, &r->model, cli);
    if (!c->dry && !c->one_pass) abut_step_tally_sum(r, c, cli, rc);
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
    abut_status rc = abut_stream_open_asking(&r->s, cli, options_of, c, err);
    if (!rc) rc = abut_last_read(&r->now, &r->s, c->from, err);
    if (rc == ABUT_E_ARG && r->s.item == ABUT_ITEM_END) abut_wrap(err, "--from %d", c->from);
    if (rc) return rc;
    c->o.names = &r->s.model_set;
    abut_solve_view(&r->model, &r->s.model, &c->o);
    r->ops = c->solver->stepper;
    rc = abut_solver_make(&r->stepper, &r->s.model, c->solver, &c->o, err);
    if (rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) abut_wrap(err, "%s: MODEL", cli->in_name);
    if (!rc) rc = simulate(r, c, cli, err);
    if ((rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) && !r->tally.steps) abut_cli_keep_nothing(cli);
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
