/* adjoint: derivatives of a loss of a finished run by what the run was made of, backwards through its steps. */
#include "adjoint/adjoint.h"
#include "base/words.h"
#include "formats/result/gradient.h"
#include "formats/result/out_file.h"
#include "formats/stream/pass.h"
#include "solve/options.h"
#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


typedef struct request {
    const char *target, *given, *csv, *json, *report, *lag, *error, *lags;
    int refine;
    abut_opt_list by;
    double tolerance;
    int from, to;
    abut_adjoint_options opt;
} request;

/* A backward sweep: the run, its loss, bars of the present frame, and in the end bars of parameters. */
typedef struct sweep {
    abut_backward run;
    abut_loss loss;
    abut_adjoint *adjoint;
    abut_state_bar bar;
    abut_parameter_bar parameters;
    abut_arrays start, end;
    abut_out_file report;
    double L, correction, residual, unreached, kappa, growth, first_size, solve_error;
    int64_t indefinite;
    int64_t lo, hi;         /* frames of the window, by their place */
} sweep;

static abut_status check(request *r, abut_err *err)
{
    if (!r->target == !r->given)
        return abut_fail(err, ABUT_E_ARG, r->target ? "--target and --dl: expected one of them"
                                                    : "--target FILE or --dl FILE must be given");
    if (r->lag && strcmp(r->lag, "exact") && strcmp(r->lag, "constant"))
        return abut_fail(err, ABUT_E_ARG, "--lag %s: expected exact or constant", r->lag);
    if (r->error && strcmp(r->error, "residual") && strcmp(r->error, "none"))
        return abut_fail(err, ABUT_E_ARG, "--error %s: expected residual or none", r->error);
    if (r->refine && r->error && !strcmp(r->error, "none"))
        return abut_fail(err, ABUT_E_ARG, "--refine and --error none: expected one of them");
    r->opt.lag_constant = r->lag && !strcmp(r->lag, "constant");
    if (r->tolerance <= 0) return abut_fail(err, ABUT_E_ARG, "--tolerance %g: expected more than 0 m/s", r->tolerance);
    r->opt.tolerance = isnan(r->tolerance) ? 0 : r->tolerance;
    if (r->by.n && !r->csv && !r->json)
        return abut_fail(err, ABUT_E_ARG, "--by: belongs to --csv and --json; the stream has the derivatives by all arrays");
    if (r->csv && r->json && !strcmp(r->csv, "-") && !strcmp(r->json, "-"))
        return abut_fail(err, ABUT_E_ARG, "only one of --csv - and --json - can go to standard output");
    return abut_lags_parse("--lags", r->lags, &r->opt.lags, err);
}

/* the frames from step --from to --to */
static abut_status window(const request *r, sweep *s, abut_err *err)
{
    const int64_t first = s->run.frame[0].head.step, last = s->run.frame[s->run.n - 1].head.step;
    const int64_t from = r->from != ABUT_NOT_GIVEN ? r->from : first, to = r->to != ABUT_NOT_GIVEN ? r->to : last;
    if (from < first || to > last || from > to)
        return abut_fail(err, ABUT_E_ARG, "--from %lld --to %lld: expected steps from %lld to %lld in their order",
                         (long long)from, (long long)to, (long long)first, (long long)last);
    s->lo = from - first, s->hi = to - first;
    return ABUT_OK;
}

static void add_loss(sweep *s, int64_t i, const abut_arrays *set)
{
    const abut_frame_head *h = &s->run.frame[i].head;
    abut_loss_frame(&s->loss, &s->run.model, h->step, h->time, abut_arrays_find(set, "node/x")->data, &s->L, s->bar.x, s->bar.v);
}

static double size_of(const abut_state_bar *b, const abut_model *m)
{
    double most = 0;
    for (int32_t k = 0; k < 3 * m->nv; k++) most = fmax(most, fabs(b->x[k]));
    return most;
}

/* a line of the report */
static void tell(sweep *s, const abut_frame_head *h, const abut_adjoint_report *rep)
{
    s->correction += rep->correction;
    s->kappa += fabs(rep->kappa);
    s->residual = fmax(s->residual, rep->residual);
    s->solve_error = fmax(s->solve_error, rep->solve_error);
    s->unreached += rep->unreached;
    s->indefinite += rep->indefinite;
    const double size = size_of(&s->bar, &s->run.model);
    if (s->first_size == 0) s->first_size = size;
    else s->growth = fmax(s->growth, size / s->first_size);
    if (!s->report.f) return;
    fprintf(s->report.f, "{\"step\": %lld, \"seconds\": %.6g, \"residual\": %.6g, \"correction\": %.17g, \"kappa\": %.17g, "
            "\"unreached\": %.6g, \"solve_error\": %.3g, \"indefinite\": %d, \"iterations\": %d, \"passes\": %d, \"rounds\": %d, "
            "\"contacts\": %d, \"frozen\": %d, \"size\": %.9g}\n",
            (long long)h->step, rep->seconds, rep->residual, rep->correction, rep->kappa, rep->unreached, rep->solve_error,
            rep->indefinite, rep->iterations, rep->passes, rep->rounds, rep->contacts, rep->frozen, size);
}

static abut_status go_back(abut_cli *cli, sweep *s, const abut_adjoint_options *opt, abut_err *err)
{
    abut_status rc = abut_adjoint_open(&s->adjoint, &s->run.model, opt, err);
    if (!rc) rc = abut_state_bar_init(&s->bar, &s->run.model, err);
    if (!rc) rc = abut_backward_read(&s->run, s->hi, &s->end, err);
    if (!rc) add_loss(s, s->hi, &s->end);
    for (int64_t i = s->hi; i > s->lo && !rc; i--) {
        const abut_frame_head *h = &s->run.frame[i - 1].head;
        abut_adjoint_report rep;
        rc = abut_backward_read(&s->run, i - 1, &s->start, err);
        if (!rc) rc = abut_adjoint_step(s->adjoint, &s->start, (abut_instant){ h->step, h->time }, &s->end, &s->bar, &rep, err);
        if (rc) break;
        tell(s, &s->run.frame[i].head, &rep);
        add_loss(s, i - 1, &s->start);
        abut_cli_progress(cli, "step %lld  %.3g s  L %.6g", (long long)h->step + 1, rep.seconds, s->L);
        const abut_arrays swap = s->start;
        s->start = s->end;
        s->end = swap;
    }
    if (rc) return rc;
    const abut_frame_head *h = &s->run.frame[s->lo].head;
    rc = abut_adjoint_finish(s->adjoint, &s->end, (abut_instant){ h->step, h->time }, &s->bar, err);
    if (!rc) abut_adjoint_take(&s->adjoint, &s->parameters);
    return rc;
}

/* Writes the run with refined ends of steps, as a stream, to `file`. */
static abut_status refine(abut_cli *cli, sweep *s, const abut_adjoint_options *opt, FILE *file, abut_err *err)
{
    abut_writer *w = NULL;
    abut_arrays start = { 0 }, recorded = { 0 }, end = { 0 };
    int n;
    const abut_prov *prov = abut_reader_prov(s->run.reader, &n);
    abut_status rc = abut_adjoint_open(&s->adjoint, &s->run.model, opt, err);
    if (!rc) rc = abut_writer_open(file, 0, &w, err);
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(w, prov[i].tool, prov[i].version, prov[i].options, err);
    if (!rc) rc = abut_writer_model(w, &s->run.model_set, err);
    if (!rc) rc = abut_backward_read(&s->run, s->lo, &start, err);
    if (!rc) rc = abut_writer_frame(w, &s->run.frame[s->lo].head, &start, err);
    for (int64_t i = s->lo; i < s->hi && !rc; i++) {
        const abut_frame_head *h = &s->run.frame[i].head;
        rc = abut_backward_read(&s->run, i + 1, &recorded, err);
        if (!rc) rc = abut_adjoint_refine(s->adjoint, &start, (abut_instant){ h->step, h->time }, &recorded, &end, err);
        if (!rc) rc = abut_writer_frame(w, &s->run.frame[i + 1].head, &end, err);
        const abut_arrays swap = start;
        start = end, end = swap;
        abut_cli_progress(cli, "step %lld refined", (long long)h->step + 1);
    }
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    abut_arrays_clear(&start);
    abut_arrays_clear(&recorded);
    abut_arrays_clear(&end);
    abut_adjoint_free(&s->adjoint);
    return rc;
}

/* t: the sweep of the refined run; *known 0: there is none */
static abut_status estimate(abut_cli *cli, const request *r, sweep *s, sweep *t, FILE **file, int *known, abut_err *err)
{
    abut_adjoint_options opt = r->opt;
    opt.refined = 1;
    *file = tmpfile();
    if (!*file) return abut_fail(err, ABUT_E_IO, "no temporary file for the refined run");
    t->loss = s->loss;
    abut_status rc = refine(cli, s, &opt, *file, err);
    if (rc == ABUT_E_NUMERIC || rc == ABUT_E_GEOM) {
        abut_cli_say(cli, "warning: no estimate of errors: %s", err->msg);
        *err = (abut_err){ 0 };
        return ABUT_OK;
    }
    if (rc) return rc;
    rewind(*file);
    rc = abut_backward_open(&t->run, *file, "the refined run", err);
    t->hi = t->run.n - 1;
    if (!rc) rc = go_back(cli, t, &opt, err);
    *known = !rc;
    return rc;
}

/* Says how accurate L and its derivatives are. */
static void say(abut_cli *cli, const sweep *s)
{
    abut_cli_say(cli, "L %.9g, at exact ends of the steps %.3g more; residual up to %.3g m/s, %.2g |dL/d ln kappa| of steps",
                 s->L, s->correction, s->residual, s->kappa);
    if (fabs(s->correction) > 1e-3 * fabs(s->L) && !s->loss.given)
        abut_cli_say(cli, "warning: the tolerance of the run leaves %.2g of L, more of derivatives: a smaller --tolerance helps",
                     fabs(s->correction / s->L));
    if (s->unreached > 0) abut_cli_say(cli, "warning: prescribed nodes stopped short of their targets: up to %.3g of L",
                                       s->unreached);
    if (s->indefinite)
        abut_cli_say(cli, "%lld %s where the second derivative is indefinite; MINRES solved them",
                     (long long)s->indefinite, abut_plural(s->indefinite, "step ends", "steps end"));
    if (s->growth > 1e8) abut_cli_say(cli, "warning: derivatives by positions grow by %.2g backwards: the run is chaotic",
                                      s->growth);
}

static abut_status write_text(const abut_gradient_table *t, const char *path, void (*write)(const abut_gradient_table *, FILE *),
                              const abut_cli *cli, abut_err *err)
{
    abut_out_file o = { 0 };
    if (!path) return ABUT_OK;
    abut_status rc = ABUT_OK;
    if (!strcmp(path, "-")) abut_out_lend(&o, cli->out ? cli->out : stdout);     /* a terminal, which gets no stream */
    else rc = abut_out_open(&o, path, cli->no_clobber, err);
    if (rc) return rc;
    write(t, o.f);
    return abut_out_close(&o, err);
}

static abut_status write_stream(abut_cli *cli, sweep *s, const abut_gradient_table *t, const char *history, abut_err *err)
{
    abut_writer *w = NULL;
    int n;
    const abut_prov *prov = abut_reader_prov(s->run.reader, &n);
    abut_status rc = abut_gradient_arrays(t, &s->run.model_set, &s->end, err);
    if (!rc) rc = abut_writer_open(cli->out, cli->compress, &w, err);
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(w, prov[i].tool, prov[i].version, prov[i].options, err);
    if (!rc) rc = abut_writer_prov(w, "adjoint", ABUT_VERSION, history, err);
    if (!rc) rc = abut_writer_model(w, &s->run.model_set, err);
    if (!rc) rc = abut_writer_frame(w, &s->run.frame[s->lo].head, &s->end, err);
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    return rc;
}

static abut_status write_all(abut_cli *cli, const request *r, sweep *s, abut_gradient_table *t, abut_err *err)
{
    char history[80];
    const int text = (r->csv && !strcmp(r->csv, "-")) || (r->json && !strcmp(r->json, "-"));
    snprintf(history, sizeof history, "{\"lag\":\"%s\"}", r->opt.lag_constant ? "constant" : "exact");
    abut_status rc = write_text(t, r->csv, abut_gradient_csv, cli, err);
    if (!rc) rc = write_text(t, r->json, abut_gradient_json, cli, err);
    return rc || text || !cli->out ? rc : write_stream(cli, s, t, history, err);
}

static abut_gradient_table table_of(const request *r, sweep *s)
{
    return (abut_gradient_table){ .model_set = &s->run.model_set, .first = &s->end, .model = &s->run.model, .state = &s->bar,
                                  .parameters = &s->parameters, .loss = s->L, .correction = s->correction, .by = r->by.item,
                                  .n = r->by.n };
}

static abut_status run(abut_cli *cli, request *r, sweep *s, sweep *refined, FILE **file, abut_err *err)
{
    abut_status rc = abut_backward_open(&s->run, cli->in, cli->in_name, err);
    if (rc) {
        if (s->run.reader && abut_reader_cut(s->run.reader, NULL)) abut_unfinished_advise(cli, err);
        return rc;
    }
    const abut_model *m = &s->run.model;
    r->opt.threads = cli->threads;
    rc = window(r, s, err);
    if (!rc) rc = abut_loss_read(&s->loss, r->target ? r->target : r->given, r->given != NULL, m, err);
    const abut_frame_head *first = &s->run.frame[s->lo].head;
    if (!rc) rc = abut_loss_check(&s->loss, first->step, first->time, s->run.frame[s->hi].head.step, m->h[0], err);
    if (rc) return rc;
    abut_gradient_table t = table_of(r, s), of_refined;
    rc = abut_gradient_check(&t, err);
    if (!rc && r->report) rc = abut_out_open(&s->report, r->report, cli->no_clobber, err);
    if (!rc) rc = go_back(cli, s, &r->opt, err);
    if (s->report.f && abut_out_close(&s->report, err)) rc = err->code;
    if (rc) return rc;
    say(cli, s);
    int known = 0;
    const int wanted = !r->error || strcmp(r->error, "none");
    if (wanted && s->hi > s->lo) rc = estimate(cli, r, s, refined, file, &known, err);
    if (rc) return rc;
    if (r->refine && !known) return abut_fail(err, ABUT_E_NUMERIC, "--refine: the run could not be refined");
    t = table_of(r, s), of_refined = table_of(r, refined);
    if (known) t.other = &of_refined, of_refined.other = &t;
    return write_all(cli, r, r->refine ? refined : s, r->refine ? &of_refined : &t, err);
}

/* all but the loss, which two may have */
static void clear(sweep *s)
{
    abut_adjoint_free(&s->adjoint);
    abut_state_bar_clear(&s->bar);
    abut_parameter_bar_clear(&s->parameters);
    abut_arrays_clear(&s->start);
    abut_arrays_clear(&s->end);
    abut_backward_clear(&s->run);
}

int main(int argc, char **argv)
{
    request r = { .from = ABUT_NOT_GIVEN, .to = ABUT_NOT_GIVEN, .tolerance = NAN, .opt = { .lags = -1 } };
    const abut_opt opts[] = {
        { 't', "target", ABUT_OPT_TEXT, &r.target, "FILE",
          "targets that define the loss L: CSV with columns step or time, node or object, x, y, z, weight; the position of an "
          "object is the plain mean of its nodes, not the centre of mass" },
        { 0, "dl", ABUT_OPT_TEXT, &r.given, "FILE",
          "derivatives of another loss L: CSV with columns step or time, node, dx, dy, dz, dvx, dvy, dvz" },
        { 0, "by", ABUT_OPT_LIST, &r.by, "PATTERN",
          "--csv, --json: arrays whose derivatives are written, as 'material/*' or node/x (may be given again; default: all with "
          "a row for an object, a material, a motion, the scene)" },
        { 0, "csv", ABUT_OPT_OUTPUT_TEXT, &r.csv, "FILE",
          "table with a row for every number: array, row, column, name, value, derivative; FILE -: standard output" },
        { 0, "json", ABUT_OPT_OUTPUT_TEXT, &r.json, "FILE", "the table of --csv as JSON" },
        { 0, "report", ABUT_OPT_OUTPUT, &r.report, "FILE", "a line of JSON for every step: seconds, residual, what is left out" },
        { 0, "from", ABUT_OPT_INT, &r.from, "N", "frame at which the run begins (default: the first)" },
        { 0, "to", ABUT_OPT_INT, &r.to, "N", "frame at which the run ends (default: the last)" },
        { 0, "lags", ABUT_OPT_TEXT, &r.lags, "N|converged",
          "friction passes of the run, if step had the option --lags" },
        { 0, "tolerance", ABUT_OPT_REAL, &r.tolerance, "m/s",
          "tolerance of the run, if step had the option --tolerance; steps of several friction passes without --keep-passes are "
          "solved again with it" },
        { 0, "error", ABUT_OPT_TEXT, &r.error, "HOW",
          "residual (default): estimate the error of each derivative that the tolerance of the run causes, from a refined run "
          "whose steps end where forces balance; none: no estimate, a third of the time" },
        { 0, "refine", ABUT_OPT_FLAG, &r.refine, NULL, "write the derivatives of the refined run of --error residual" },
        { 0, "lag", ABUT_OPT_TEXT, &r.lag, "HOW",
          "exact (default), or constant: lagged friction contacts count as constants, for comparison" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    sweep s = { .L = 0 }, refined = { .L = 0 };
    FILE *file = NULL;
    abut_cli_begin(&cli, argc, argv,
                   "Derivatives of a loss of a finished run by materials, masses, friction, loads, motions and start:\n"
                   "goes backwards through every step, contact and friction included.\n"
                   "The stiffness of the barrier counts as constant, although the scene derives it from masses and dhat\n"
                   "(unless it has contact.barrier.fixed-kappa).  The derivative by material/young excludes the bending\n"
                   "of shells and rods, which hinge/stiffness and bend/stiffness have.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_status rc = check(&r, &err);
    if (!rc) rc = run(&cli, &r, &s, &refined, &file, &err);
    abut_loss_clear(&s.loss);
    clear(&s);
    clear(&refined);
    if (file) fclose(file);
    return abut_cli_end(&cli, 0, rc ? &err : NULL);
}
