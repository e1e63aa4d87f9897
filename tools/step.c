/* step: advances the state.  Frames already in the stream pass through; new ones follow. */
#include "base/par.h"
#include "base/timer.h"
#include "formats/step_report.h"
#include "solve/scheme.h"
#include "tools/cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    int steps, every, from, lags, one_pass, blas_threads, max_newton, level;
    double until;
    const char *report, *with;
} options;

/* Everything the run owns. */
typedef struct run {
    abut_reader *in;
    abut_writer *out;
    abut_arrays model_set, frame, next;
    abut_model model;
    abut_stepper stepper;
    abut_frame_head head;   /* of frame */
    int have_model, have_frame;
    FILE *report;
} run;

static abut_status write_prov(run *r, const options *o, abut_err *err)
{
    int n;
    const abut_prov *p = abut_reader_prov(r->in, &n);
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(r->out, p[i].tool, p[i].version, p[i].options, err);
    char text[160];
    snprintf(text, sizeof text, "{\"solver\":\"newton\",\"blas_threads\":%d,\"lags\":%d,\"one_pass\":%s,\"forces\":%s}",
             o->blas_threads, o->lags, o->one_pass ? "true" : "false", o->with ? "true" : "false");
    return rc ? rc : abut_writer_prov(r->out, "step", ABUT_VERSION, text, err);
}

/* Copies the stream up to its end (or to frame --from) and keeps model and last frame.  A PENDING frame is not copied:
 * this stage replaces it. */
static abut_status read_all(run *r, const options *o, abut_err *err)
{
    for (;;) {
        abut_item item;
        abut_frame_head head;
        abut_arrays set = { 0 };
        abut_status rc = abut_reader_next(r->in, &item, &head, &set, err);
        if (rc) return rc;
        if (item == ABUT_ITEM_END) break;
        if (item == ABUT_ITEM_FRAME && o->from >= 0 && head.step > o->from) {
            abut_arrays_clear(&set);
            continue;
        }
        abut_arrays *keep = item == ABUT_ITEM_MODEL ? &r->model_set : &r->frame;
        abut_arrays_clear(keep);
        *keep = set;
        if (item == ABUT_ITEM_MODEL) {
            rc = abut_writer_model(r->out, keep, err);
            r->have_model = 1;
            r->have_frame = 0;
        } else {
            r->head = head;
            r->have_frame = 1;
            if (head.phase == ABUT_COMMITTED) rc = abut_writer_frame(r->out, &head, keep, err);
        }
        if (rc) return rc;
    }
    if (!r->have_model) return abut_fail(err, ABUT_E_FORMAT, "the stream holds no MODEL");
    if (!r->have_frame) return abut_fail(err, ABUT_E_FORMAT, "the stream holds no FRAME to start from");
    if (o->from >= 0 && r->head.step != o->from)
        return abut_fail(err, ABUT_E_ARG, "--from %d: no such frame; the last one before it is %lld", o->from,
                         (long long)r->head.step);
    return ABUT_OK;
}

static void progress(abut_cli *cli, const abut_report *rep, int64_t goal, int done, double t0)
{
    const double left = done ? (abut_time_wall() - t0) / done * (double)(goal - rep->step) : 0;
    char gap[32] = "-";
    if (rep->min_gap >= 0) snprintf(gap, sizeof gap, "%.2g m", rep->min_gap);
    abut_cli_progress(cli, "frame %lld/%lld  t %.4g s  newton %d  contacts %d  gap %s  left %.0f s", (long long)rep->step,
                      (long long)goal, rep->time, rep->newton, rep->contacts + rep->planes, gap, left);
}

static abut_status advance_one(run *r, const options *o, abut_report *rep, abut_err *err)
{
    abut_instant at = { r->head.step, r->head.time };
    const int pending = r->head.phase == ABUT_PENDING;
    abut_status rc;
    if (o->one_pass) {
        rc = pending ? abut_step_resume(&r->stepper, &r->frame, at, rep, err)
                     : abut_step_begin(&r->stepper, &r->frame, at, rep, err);
        if (!rc) rc = abut_step_solve(&r->stepper, rep, err);
        if (!rc) rc = abut_step_suspend(&r->stepper, &r->frame, &r->next, err);
        r->head.phase = ABUT_PENDING;
    } else {
        rc = abut_step_advance(&r->stepper, &r->frame, pending, &at, o->with != NULL, &r->next, rep, err);
        r->head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
    }
    if (rc) return rc;
    const abut_arrays swap = r->frame;
    r->frame = r->next;
    r->next = swap;
    return ABUT_OK;
}

static abut_status simulate(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    const double h = r->model.h[0], t0 = abut_time_wall();
    int64_t n = o->steps;
    if (isfinite(o->until)) n = (int64_t)ceil((o->until - r->head.time) / h - 1e-9);
    if (o->one_pass) n = 1;
    const int64_t goal = r->head.step + n;
    abut_status rc = ABUT_OK;
    for (int k = 1; k <= n && !rc; k++) {
        abut_report rep = { .lag_residual = -1, .min_jacobian_tet = -1, .limit.tet = -1 };
        rc = advance_one(r, o, &rep, err);
        if (r->report) {
            abut_err late = { 0 };   /* the report of a failed step shows why; its own failure comes second */
            if (rc) rep.step = r->head.step + 1;
            const abut_status wrote = abut_report_write(&rep, r->report, &late);
            if (wrote && !rc) {
                *err = late;
                rc = wrote;
            }
        }
        if (!rc && (o->one_pass || r->head.step % o->every == 0 || k == n))
            rc = abut_writer_frame(r->out, &r->head, &r->frame, err);
        if (!rc && !o->one_pass) progress(cli, &rep, goal, k, t0);
        abut_report_clear(&rep);
    }
    return rc;
}

static abut_status work(run *r, options *o, abut_cli *cli, abut_err *err)
{
    abut_status rc = abut_reader_open(cli->in, cli->in_name, &r->in, err);
    if (!rc) rc = abut_writer_open(cli->out, o->level, &r->out, err);
    if (!rc) rc = write_prov(r, o, err);
    if (!rc) rc = read_all(r, o, err);
    if (!rc && o->lags > 0) {
        int32_t *lags = abut_model_put(&r->model_set, "contact/lags", 1, err);
        if (!lags) return err->code;
        *lags = o->lags;
    }
    if (!rc) rc = abut_model_view(&r->model_set, &r->model, err);
    if (rc) return abut_wrap(err, "%s", cli->in_name), rc;

    abut_solver_opts so = abut_solver_defaults();
    so.blas_threads = o->blas_threads;
    so.max_newton = o->max_newton;
    rc = abut_stepper_init(&r->stepper, &r->model, &so, err);
    if (!rc) rc = simulate(r, o, cli, err);
    if (!rc) rc = abut_writer_close(r->out, err);
    return rc;
}

static abut_status check_options(options *o, const abut_cli *cli, abut_err *err)
{
    if (o->steps < 0) return abut_fail(err, ABUT_E_ARG, "-n %d: want 0 or more steps", o->steps);
    if (o->every < 1) return abut_fail(err, ABUT_E_ARG, "--every %d: want 1 or more", o->every);
    if (o->max_newton < 1) return abut_fail(err, ABUT_E_ARG, "--max-newton %d: want 1 or more", o->max_newton);
    if (o->level < 0 || o->level > 9) return abut_fail(err, ABUT_E_ARG, "--compress %d: want 0 to 9", o->level);
    if (o->blas_threads < 0) return abut_fail(err, ABUT_E_ARG, "--blas-threads %d: want 1 or more", o->blas_threads);
    if (o->lags < 0) return abut_fail(err, ABUT_E_ARG, "--lags %d: want 1 or more", o->lags);
    if (o->with && strcmp(o->with, "forces")) return abut_fail(err, ABUT_E_ARG, "--with %s: know only 'forces'", o->with);
    if (!o->blas_threads) o->blas_threads = cli->threads;
    return ABUT_OK;
}

int main(int argc, char **argv)
{
    options o = { .steps = 1, .every = 1, .from = -1, .max_newton = 10000, .until = INFINITY };
    const abut_opt opts[] = {
        { 'n', "steps", ABUT_OPT_INT, &o.steps, "N", "time steps to make (default 1)" },
        { 0, "until", ABUT_OPT_REAL, &o.until, "s", "go on to this time instead" },
        { 0, "from", ABUT_OPT_INT, &o.from, "STEP", "start again from this frame; later ones are dropped" },
        { 0, "every", ABUT_OPT_INT, &o.every, "N", "write every N-th frame, and the last" },
        { 0, "with", ABUT_OPT_TEXT, &o.with, "forces", "add node/contact-force to the new frames" },
        { 0, "lags", ABUT_OPT_INT, &o.lags, "N", "friction lag iterations per step at most (default: the scene's)" },
        { 0, "one-pass", ABUT_OPT_FLAG, &o.one_pass, NULL, "solve once and leave the step PENDING for friction-lag" },
        { 0, "report", ABUT_OPT_TEXT, &o.report, "FILE", "one line of JSON for every step" },
        { 0, "max-newton", ABUT_OPT_INT, &o.max_newton, "N", "Newton iterations before giving up (default 10000)" },
        { 0, "blas-threads", ABUT_OPT_INT, &o.blas_threads, "N", "threads of the factorisation (default: -j); 1: same "
          "bytes for every -j" },
        { 'z', "compress", ABUT_OPT_INT, &o.level, "0-9", "zlib level of the stream (default 0: none)" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Advances the state by implicit time steps without intersections.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT);
    run r = { 0 };
    abut_err err = { 0 };
    if (!check_options(&o, &cli, &err)) {
        if (o.report && !(r.report = fopen(o.report, "w")))
            abut_fail(&err, ABUT_E_IO, "%s: %s", o.report, strerror(errno));
        else if (work(&r, &o, &cli, &err) == ABUT_OK)
            err = (abut_err){ 0 };
    }
    if (r.report && fclose(r.report) && !err.code) abut_fail(&err, ABUT_E_IO, "%s: %s", o.report, strerror(errno));
    abut_stepper_clear(&r.stepper);
    abut_arrays_clear(&r.model_set);
    abut_arrays_clear(&r.frame);
    abut_arrays_clear(&r.next);
    abut_reader_free(&r.in);
    abut_writer_free(&r.out);
    return abut_cli_end(&cli, 0, &err);
}
