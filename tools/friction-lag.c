/* friction-lag: freezes friction anew at a PENDING candidate, measures the lag residual, commits or asks for a pass. */
#include "formats/state_io.h"
#include "solve/scheme.h"
#include "tools/cli.h"

#include <stdio.h>
#include <string.h>

typedef struct options {
    int lags, commit, ask;
    double tolerance;
    const char *with;
} options;

typedef struct run {
    abut_reader *in;
    abut_writer *out;
    abut_arrays model_set, frame, pending, next;
    abut_model model;
    abut_stepper stepper;
    abut_frame_head head;
    int have_model, have_pending, again;
} run;

static abut_status write_prov(run *r, const options *o, abut_err *err)
{
    int n;
    const abut_prov *p = abut_reader_prov(r->in, &n);
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(r->out, p[i].tool, p[i].version, p[i].options, err);
    char text[120];
    snprintf(text, sizeof text, "{\"max_lags\":%d,\"tolerance\":%.17g,\"commit\":%s}", o->lags, o->tolerance,
             o->commit ? "true" : "false");
    return rc ? rc : abut_writer_prov(r->out, "friction-lag", ABUT_VERSION, text, err);
}

/* Copies committed frames; keeps the pending one. */
static abut_status read_all(run *r, abut_err *err)
{
    for (;;) {
        abut_item item;
        abut_frame_head head;
        abut_status rc = abut_reader_next(r->in, &item, &head, &r->frame, err);
        if (rc || item == ABUT_ITEM_END) return rc;
        if (item == ABUT_ITEM_MODEL) {
            abut_arrays_clear(&r->model_set);
            r->model_set = r->frame;
            r->frame = (abut_arrays){ 0 };
            r->have_model = 1;
            r->have_pending = 0;
            rc = abut_writer_model(r->out, &r->model_set, err);
        } else if (head.phase == ABUT_PENDING) {
            abut_arrays_clear(&r->pending);
            r->pending = r->frame;
            r->frame = (abut_arrays){ 0 };
            r->head = head;
            r->have_pending = 1;
        } else {
            r->have_pending = 0;
            rc = abut_writer_frame(r->out, &head, &r->frame, err);
        }
        if (rc) return rc;
    }
}

/* The decision: commit when the passes are spent or another one would move nothing. */
static abut_status decide(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    abut_solver_opts so = abut_solver_defaults();
    abut_report rep = { .lag_residual = -1, .min_jacobian_tet = -1 };
    abut_instant at = { r->head.step, r->head.time };
    abut_status rc = abut_model_view(&r->model_set, &r->model, err);
    if (!rc) rc = abut_stepper_init(&r->stepper, &r->model, &so, err);
    if (!rc) rc = abut_step_resume(&r->stepper, &r->pending, at, &rep, err);
    const int limit = o->lags > 0 ? o->lags : r->model_set.n && !rc ? r->model.lags[0] : 1;
    const int last = o->commit || (!rc && r->stepper.pass >= limit);
    if (!rc) rc = abut_step_refresh(&r->stepper, 1, &rep, err);
    if (rc) return rc;
    const double tol = o->tolerance > 0 ? o->tolerance : r->model.tolerance[0];
    const int settled = rep.lag_residual <= tol;
    r->again = !settled && !last;
    abut_cli_say(cli, "step %lld, pass %d of at most %d: lag residual %.3g m/s (want %.3g), %zu friction contacts: %s",
                 (long long)at.step + 1, r->stepper.pass, limit, rep.lag_residual, tol, r->stepper.solver.prob.lag.n,
                 r->again ? "another pass" : "committed");
    if (r->again) {
        rc = abut_step_suspend(&r->stepper, &r->pending, &r->next, err);
    } else {
        rc = abut_step_commit(&r->stepper, &r->pending, o->with != NULL, &r->next, &at, &rep, err);
        r->head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
    }
    abut_report_clear(&rep);
    return rc ? rc : abut_writer_frame(r->out, &r->head, &r->next, err);
}

static abut_status work(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    abut_status rc = abut_reader_open(cli->in, cli->in_name, &r->in, err);
    if (!rc) rc = abut_writer_open(cli->out, 0, &r->out, err);
    if (!rc) rc = write_prov(r, o, err);
    if (!rc) rc = read_all(r, err);
    if (!rc && !r->have_model) rc = abut_fail(err, ABUT_E_FORMAT, "the stream holds no MODEL");
    if (rc) return abut_wrap(err, "%s", cli->in_name), rc;
    if (r->have_pending)
        rc = decide(r, o, cli, err);
    else
        abut_cli_say(cli, "no step is pending; nothing to refresh");
    return rc ? rc : abut_writer_close(r->out, err);
}

int main(int argc, char **argv)
{
    options o = { 0 };
    const abut_opt opts[] = {
        { 't', "tolerance", ABUT_OPT_REAL, &o.tolerance, "m/s", "lag residual that ends the passes (default: the scene's)" },
        { 0, "max-lags", ABUT_OPT_INT, &o.lags, "N", "commit after this many passes (default: the scene's)" },
        { 0, "commit", ABUT_OPT_FLAG, &o.commit, NULL, "commit the candidate whatever the residual" },
        { 0, "ask", ABUT_OPT_FLAG, &o.ask, NULL, "exit 1 when another pass is wanted" },
        { 0, "with", ABUT_OPT_TEXT, &o.with, "forces", "add node/contact-force to a committed frame" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Refreshes lagged friction at a PENDING candidate and commits it or asks for another pass.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    run r = { 0 };
    abut_err err = { 0 };
    if (o.lags < 0 || o.tolerance < 0)
        abut_fail(&err, ABUT_E_ARG, "--max-lags and --tolerance want positive numbers");
    else if (o.with && strcmp(o.with, "forces"))
        abut_fail(&err, ABUT_E_ARG, "--with %s: know only 'forces'", o.with);
    else if (work(&r, &o, &cli, &err) == ABUT_OK)
        err = (abut_err){ 0 };
    abut_stepper_clear(&r.stepper);
    abut_arrays_clear(&r.model_set);
    abut_arrays_clear(&r.frame);
    abut_arrays_clear(&r.pending);
    abut_arrays_clear(&r.next);
    abut_reader_free(&r.in);
    abut_writer_free(&r.out);
    return abut_cli_end(&cli, o.ask && r.again, &err);
}
