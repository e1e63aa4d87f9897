/* friction-lag: freezes friction again at a PENDING candidate, measures the lag residual, commits or asks for a pass. */
#include "base/words.h"
#include "energy/friction.h"
#include "formats/stream/pass.h"
#include "solve/step/barrier_stepper.h"
#include "solve/step/measures.h"
#include "tools/cli/cli.h"

#include <math.h>
#include <stdio.h>

typedef struct options {
    int commit, ask;
    unsigned with;
    int lags;           /* -1 the scene's, 0 until they converge */
    double tolerance;   /* NAN: the scene's */
    const char *max_lags;
    abut_opt_list with_words;
} options;

typedef struct run {
    abut_stream s;
    abut_last now;
    abut_arrays next;
    abut_stepper stepper;
    int again;          /* another pass is wanted */
} run;

/* The decision: commit when the passes are spent or another one would move nothing. */
static abut_status decide(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    const abut_model *m = &r->s.model;
    const double tol = o->tolerance > 0 ? o->tolerance : m->tolerance[0];
    const int limit = o->lags >= 0 ? o->lags : m->lags[0];
    int settled = 1;
    abut_report rep = { .lag_residual = -1, .min_jacobian_tet = -1, .max_stretch_shell = -1 };
    abut_instant at = { r->now.head.step, r->now.head.time };
    abut_frame_head head = r->now.head;

    if (abut_arrays_find(&r->now.set, "stuck/why"))
        return abut_fail(err, ABUT_E_FORMAT, "%s: step %lld was given up before it converged; let step go on with it first",
                         cli->in_name, (long long)at.step + 1);
    abut_status rc = abut_stepper_init(&r->stepper, m, NULL, &abut_solve_defaults, err);
    if (!rc) rc = abut_step_resume(&r->stepper, &r->now.set, at, &rep, err);
    if (!rc) rc = abut_step_refresh(&r->stepper, 1, &rep, err);
    if (!rc && !o->commit) rc = abut_step_settled(&r->stepper, &rep, limit, tol, &settled, err);
    if (rc) return rc;
    r->again = !settled;
    abut_cli_say(
        cli,
        "step %lld, pass %d of at most %d: lag residual %.3g m/s (want %.3g), %zu friction contact%s, %d about to let go: %s",
        (long long)at.step + 1, r->stepper.pass, limit ? limit : ABUT_LAGS_MAX, rep.lag_residual, tol,
        abut_lag_of(&r->stepper.solver.prob.terms)->n, abut_s(abut_lag_of(&r->stepper.solver.prob.terms)->n),
        r->stepper.about_to_slide, r->again ? "another pass" : "committed");
    if (r->again) {
        rc = abut_step_again(&r->stepper, limit, &rep, err);
        if (!rc) rc = abut_step_suspend(&r->stepper, &r->now.set, &r->next, err);
    } else {
        rc = abut_step_commit(&r->stepper, &r->now.set, (int)o->with, &r->next, &at, &rep, err);
        head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
    }
    abut_report_clear(&rep);
    return rc ? rc : abut_stream_write_frame(&r->s, &head, &r->next, err);
}

static abut_status work(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    char prov[120], lags[16];
    snprintf(prov, sizeof prov, "{\"max_lags\":%s,\"tolerance\":%.17g,\"commit\":%s}", abut_lags_json(o->lags, lags),
             isnan(o->tolerance) ? 0 : o->tolerance, o->commit ? "true" : "false");
    abut_status rc = abut_stream_open(&r->s, cli, prov, err);
    if (!rc) rc = abut_last_read(&r->now, &r->s, -1, err);
    if (rc) return rc;
    if (r->now.head.phase == ABUT_PENDING) rc = decide(r, o, cli, err);
    else abut_cli_say(cli, "no step is pending; nothing to refresh");
    return rc ? rc : abut_stream_close(&r->s, err);
}

static abut_status check(options *o, abut_err *err)
{
    const char *asks = !isnan(o->tolerance) ? "tolerance" : o->max_lags ? "max-lags" : o->ask ? "ask" : NULL;
    if (o->tolerance <= 0) return abut_fail(err, ABUT_E_ARG, "--tolerance %g: want more than 0", o->tolerance);
    if (o->commit && asks) return abut_fail(err, ABUT_E_ARG, "--commit and --%s: it commits whatever the residual", asks);
    abut_status rc = abut_lags_parse("--max-lags", o->max_lags, &o->lags, err);
    for (int i = 0; i < o->with_words.n && !rc; i++)
        rc = abut_set_read("--with", o->with_words.item[i], abut_with_names, &o->with, NULL, err);
    if (!rc && o->with & ABUT_WITH_CONTACTS)
        rc = abut_fail(err, ABUT_E_ARG, "--with contacts: for step --solver nodal, whose steps have no friction passes");
    return rc;
}

int main(int argc, char **argv)
{
    options o = { .tolerance = NAN };
    const abut_opt opts[] = { { 't', "tolerance", ABUT_OPT_REAL, &o.tolerance, "m/s",
                                "lag residual that ends the passes (default: the scene's)" },
                              { 0, "max-lags", ABUT_OPT_TEXT, &o.max_lags, "N",
                                "commit after this many passes, or only when 'converged' (default: the scene's)" },
                              { 0, "commit", ABUT_OPT_FLAG, &o.commit, NULL, "commit the candidate whatever the residual" },
                              { 0, "ask", ABUT_OPT_FLAG, &o.ask, NULL, "exit 1 when another pass is wanted" },
                              { 0, "with", ABUT_OPT_LIST, &o.with_words, "WHAT",
                                "add to new frames, comma separated: forces, energies (formats/STATE.md)" },
                              { 0 } };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Refreshes lagged friction at a PENDING candidate and commits it or asks for another pass.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    run r = { 0 };
    abut_err err = { 0 };
    if (!check(&o, &err) && work(&r, &o, &cli, &err) == ABUT_OK) err = (abut_err){ 0 };
    abut_stepper_clear(&r.stepper);
    abut_last_clear(&r.now);
    abut_arrays_clear(&r.next);
    abut_stream_clear(&r.s);
    return abut_cli_end(&cli, o.ask && r.again, &err);
}
