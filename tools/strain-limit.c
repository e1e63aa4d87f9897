/* strain-limit: puts limits on the stretch of shells into a stream, judges every frame against limits, or projects the
 * last frame onto them. */
#include "tools/strain-limit/audit.h"
#include "base/words.h"
#include "tools/strain-limit/split.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef struct request {
    int audit, project;
    abut_opt_list objects;
    abut_strain_audit judge;
    abut_strain_split split;
} request;

static abut_status check_limits(const abut_strain_limits *l, abut_err *err)
{
    if (l->upper <= 1) return abut_fail(err, ABUT_E_ARG, "--upper %g: a largest stretch is more than 1", l->upper);
    if (l->lower >= 1 || l->lower < 0)
        return abut_fail(err, ABUT_E_ARG, "--lower %g: a smallest stretch is at least 0 and less than 1", l->lower);
    if (!(l->upper_begins >= 1) || l->upper_begins >= l->upper)
        return abut_fail(err, ABUT_E_ARG, "--upper-threshold %g: expected at least 1 and less than the limit", l->upper_begins);
    if (!(l->lower_begins <= 1) || l->lower_begins <= l->lower)
        return abut_fail(err, ABUT_E_ARG, "--lower-threshold %g: expected at most 1 and more than the limit", l->lower_begins);
    return ABUT_OK;
}

static abut_status check_request(request *r, const abut_cli *cli, abut_err *err)
{
    abut_strain_limits *l = &r->judge.limits;
    const char *of = isnan(l->upper) && !isnan(l->upper_begins) ? "upper" :
                     isnan(l->lower) && !isnan(l->lower_begins) ? "lower" : NULL;
    if (of) return abut_fail(err, ABUT_E_ARG, "--%s-threshold: expected --%s, whose barrier begins there", of, of);
    if (r->audit && !(isnan(l->upper_begins) && isnan(l->lower_begins)))
        return abut_fail(err, ABUT_E_ARG, "--audit and --%s-threshold: an audit has limits, and no barrier before them",
                         isnan(l->upper_begins) ? "lower" : "upper");
    if (isnan(l->upper_begins)) l->upper_begins = 1;
    if (isnan(l->lower_begins)) l->lower_begins = 1;
    if (!r->audit && isnan(l->upper) && isnan(l->lower) && !r->project)
        return abut_fail(err, ABUT_E_ARG, "nothing to do: give --audit, or limits to set (--upper, --lower)");
    if (r->audit && r->project) return abut_fail(err, ABUT_E_ARG, "--audit and --project: expected one of them");
    if (!r->audit && !cli->out)
        return abut_fail(err, ABUT_E_ARG, "limits change the stream: expected -o FILE or a pipe, or --audit");
    return check_limits(l, err);
}

/* The limits of the request become the model's. */
static abut_status set_limits(const request *r, abut_stream *s, abut_err *err)
{
    if (s->model.nsh == 0)
        return abut_fail(err, ABUT_E_FORMAT, "the model has no shells: expected some, for only shells have limits");
    const size_t bytes = 4 * (size_t)s->model.nsh * sizeof(double);
    double *rows = abut_model_put(&s->model_set, "shell/stretch-limit", s->model.nsh, err);
    if (!rows) return err->code;
    memcpy(rows, r->judge.rows, bytes);
    abut_arrays_find(&s->model_set, "shell/stretch-limit")->flags |= ABUT_A_REQUIRED;
    return abut_model_view(&s->model_set, &s->model, err);
}

/* Whether a shell of the model has a limit, of its own or of its fabric. */
static int has_limits(const abut_model *m)
{
    for (size_t k = 0; m->shell_limit && k < 4 * (size_t)m->nsh; k++)
        if (m->shell_limit[k] > 0) return 1;
    return m->mat_strain != NULL;
}

static abut_status take_model(request *r, abut_stream *s, abut_err *err)
{
    abut_status rc = abut_strain_split_release(&r->split, s, err);
    if (!rc) rc = abut_strain_audit_model(&r->judge, s, err);
    if (rc || r->audit) return rc;
    rc = set_limits(r, s, err);
    if (!rc) rc = abut_strain_audit_model(&r->judge, s, err);    /* of the new arrays */
    if (!rc && r->project && !has_limits(&s->model))
        rc = abut_fail(err, ABUT_E_ARG, "--project: no shell of the stream has a limit: expected --upper or --lower");
    return rc || !r->project ? rc : abut_strain_split_model(&r->split, s, err);
}

/* Judged, or held against the limits that the stream has from now on. */
static abut_status look(request *r, abut_stream *s, abut_err *err)
{
    const int64_t outside = r->judge.outside;
    const abut_status rc = abut_strain_audit_frame(&r->judge, s, err);
    if (rc || r->audit || r->judge.outside == outside) return rc;
    return abut_fail(err, ABUT_E_GEOM, "step %lld is beyond the limits: no simulation goes on from there",
                     (long long)s->head.step);
}

static abut_status take_frame(request *r, abut_stream *s, abut_err *err)
{
    if (r->project) return abut_strain_split_frame(&r->split, s, err);
    const abut_status rc = look(r, s, err);
    return rc ? rc : abut_stream_write(s, err);
}

static abut_status finish(request *r, abut_stream *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->project) {
        rc = abut_strain_split_finish(&r->split, s, err);
        if (!rc) rc = look(r, s, err);
        if (!rc) rc = abut_stream_write_frame(s, &s->head, &s->frame_set, err);
    }
    return rc ? rc : abut_stream_close(s, err);
}

/* Writes the options that shape the result, as JSON; NULL for an audit, which changes nothing. */
static const char *options_json(const request *r, char *buf, size_t size)
{
    const abut_strain_limits *l = &r->judge.limits;
    if (r->audit) return NULL;
    int n = snprintf(buf, size, "{\"project\": %s", r->project ? "true" : "false");
    if (!isnan(l->upper)) n += snprintf(buf + n, size - (size_t)n, ", \"upper\": [%.17g, %.17g]", l->upper_begins, l->upper);
    if (!isnan(l->lower)) n += snprintf(buf + n, size - (size_t)n, ", \"lower\": [%.17g, %.17g]", l->lower, l->lower_begins);
    snprintf(buf + n, size - (size_t)n, ", \"objects\": %d}", r->objects.n);
    return buf;
}

static abut_status run(request *r, abut_stream *s, abut_cli *cli, abut_err *err)
{
    char options[256];
    abut_status rc = abut_stream_open(s, cli, options_json(r, options, sizeof options), err);
    while (!rc) {
        rc = abut_stream_next(s, err);
        if (rc || s->item == ABUT_ITEM_END) break;
        rc = s->item == ABUT_ITEM_MODEL ? take_model(r, s, err) : take_frame(r, s, err);
        if (!rc && s->item == ABUT_ITEM_MODEL) rc = abut_stream_write(s, err);
    }
    return rc ? rc : finish(r, s, err);
}

static void summarise(const request *r, abut_cli *cli)
{
    abut_strain_audit_say(&r->judge, cli);
    if (r->project)
        abut_cli_say(cli, "projected in %d Newton iteration%s; a node was moved by up to %.3g m", r->split.iterations,
                     abut_s(r->split.iterations), r->split.moved);
}

int main(int argc, char **argv)
{
    static request r = { .judge = { .limits = { NAN, NAN, NAN, NAN } } };
    abut_strain_limits *l = &r.judge.limits;
    const abut_opt opts[] = {
        { 0, "audit", ABUT_OPT_FLAG, &r.audit, NULL, "judge every frame; exit 1 when a stretch is outside a limit, of the "
          "stream or of this command line" },
        { 0, "project", ABUT_OPT_FLAG, &r.project, NULL, "for comparison: the last frame is the predictor of a step without "
          "limits; project it onto them, from the frame before" },
        { 0, "upper", ABUT_OPT_REAL, &l->upper, "S", "largest stretch, above 1: 1.06 is 6 % longer. Without --audit the limits "
          "become those of the stream, which step keeps" },
        { 0, "lower", ABUT_OPT_REAL, &l->lower, "S", "smallest stretch, below 1" },
        { 0, "upper-threshold", ABUT_OPT_REAL, &l->upper_begins, "S",
          "--upper: where its barrier begins (default 1)" },
        { 0, "lower-threshold", ABUT_OPT_REAL, &l->lower_begins, "S", "--lower: where its barrier begins (default 1)" },
        { 0, "object", ABUT_OPT_LIST, &r.objects, "NAME", "only the shells of this object (may be given again)" },
        { 0, "json", ABUT_OPT_OUTPUT, &r.judge.json_name, "FILE", "write the extremes of each frame, and a histogram of the "
          "stretches of shells, as one JSON object a line" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Limits how far shells are stretched, or finds how far elements are.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_stream s = { 0 };
    r.judge.objects = &r.objects;
    abut_status rc = check_request(&r, &cli, &err);
    if (!rc && r.judge.json_name && !(r.judge.json = abut_cli_create(&cli, r.judge.json_name, &err))) rc = err.code;
    if (!rc) rc = run(&r, &s, &cli, &err);
    if (r.judge.json && fclose(r.judge.json) && !rc)
        rc = abut_fail(&err, ABUT_E_IO, "%s: %s", r.judge.json_name, strerror(errno));
    if (!rc) summarise(&r, &cli);
    abut_strain_audit_clear(&r.judge);
    abut_strain_split_clear(&r.split);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, r.audit && r.judge.outside > 0, rc ? &err : NULL);
}
