/* ccd-check: the judge.  Is every straight motion from one frame to the next free of collisions and inversions? */
#include "formats/mesh/mesh_io.h"
#include "tools/ccd-check/verdict.h"

#include <math.h>
#include <string.h>

typedef struct options {
    const char *method, *motion, *kind, *json, *obj;
    double min_sep, delta;
    int all, queries, single, no_output, gap, motion_only;
    int curved;
} options;

#define OWN_SEPARATION -HUGE_VAL    /* the option is not given */

static abut_status parse_path(const char *text, abut_judged_path *path, abut_err *err)
{
    static const char *const names[] = { [ABUT_PATH_RECORDED] = "path", [ABUT_PATH_STRAIGHT] = "straight",
                                         [ABUT_PATH_NONE] = "none" };
    *path = ABUT_PATH_RECORDED;
    for (int i = 0; text && i < 3; i++)
        if (!strcmp(text, names[i])) {
            *path = (abut_judged_path)i;
            return ABUT_OK;
        }
    return text ? abut_fail(err, ABUT_E_ARG, "--motion %s: expected path, straight or none", text) : ABUT_OK;
}

static int all_meshes(const abut_cli *cli)
{
    for (int i = 0; i < cli->nargs; i++)
        if (!abut_mesh_is_file(cli->args[i])) return 0;
    return cli->nargs > 0;
}

static abut_status check_options(options *o, const abut_cli *cli, abut_judge_opts *j, int *kind, abut_err *err)
{
    *j = abut_judge_defaults();
    j->min_sep = o->min_sep;
    if (!isnan(o->delta)) j->delta = o->delta;
    *kind = -1;
    if (o->method && !abut_method_parse(o->method, &j->method))
        return abut_fail(err, ABUT_E_ARG, "--method %s: expected exact, tight or additive", o->method);
    if (!(o->min_sep >= 0 || o->min_sep == OWN_SEPARATION))
        return abut_fail(err, ABUT_E_ARG, "--min-separation %g: expected 0 or more", o->min_sep);
    if (o->delta <= 0) return abut_fail(err, ABUT_E_ARG, "--delta %g: expected more than 0", o->delta);
    if (o->kind && strcmp(o->kind, "vf") && strcmp(o->kind, "ee"))
        return abut_fail(err, ABUT_E_ARG, "--kind %s: expected vf or ee", o->kind);
    if (o->kind) *kind = o->kind[0] == 'v' ? ABUT_PT : ABUT_EE;
    if (o->single && o->queries) return abut_fail(err, ABUT_E_ARG, "--static and --csv-queries exclude each other");
    if (o->queries && (o->obj || o->motion || o->motion_only || o->all))
        return abut_fail(err, ABUT_E_ARG, "--%s: a query of --csv-queries is one pair alone",
                         o->obj ? "write-hits" : o->motion ? "motion" : o->motion_only ? "motion-only" : "all");
    if (!isnan(o->delta) && (o->method ? strcmp(o->method, "tight") != 0 : !o->queries))
        return abut_fail(err, ABUT_E_ARG, "--delta: belongs to --method tight, not to %s", abut_method_name(j->method));
    if (o->kind && !o->queries) return abut_fail(err, ABUT_E_ARG, "--kind: belongs to --csv-queries");
    if (o->single && o->motion) return abut_fail(err, ABUT_E_ARG, "--motion: --static judges no motion");
    if (cli->out_path && !o->queries && (o->single || all_meshes(cli)))
        return abut_fail(err, ABUT_E_ARG, "-o %s: nothing goes there; it takes a stream, or the table of --csv-queries",
                         cli->out_path);
    if (o->motion_only && (o->single || (o->motion && !strcmp(o->motion, "none"))))
        return abut_fail(err, ABUT_E_ARG, "--motion-only: --%s judges no motion", o->single ? "static" : "motion none");
    if (o->motion_only && all_meshes(cli) && cli->nargs < 2)
        return abut_fail(err, ABUT_E_ARG, "--motion-only: expected two mesh files or more");
    if (o->curved == ABUT_NOT_GIVEN) o->curved = 0;
    else if (o->curved < 1 || o->curved > 64)
        return abut_fail(err, ABUT_E_ARG, "--curved %d: expected 1 to 64 segments", o->curved);
    if (o->curved && (o->queries || o->single || all_meshes(cli)))
        return abut_fail(err, ABUT_E_ARG, "--curved: expected a stream");
    if (o->gap && (o->queries || o->single || all_meshes(cli))) return abut_fail(err, ABUT_E_ARG, "--gap: expected a stream");
    if ((o->queries || o->single) && cli->nargs == 0)
        return abut_fail(err, ABUT_E_ARG, "--%s: name the files", o->queries ? "csv-queries" : "static");
    if (o->no_output && cli->out_path) return abut_fail(err, ABUT_E_ARG, "--no-output and -o exclude each other");
    return ABUT_OK;
}

/* a table, one line a method; the answer is no when a contact is missed, or the exact method errs at all */
static abut_status run_queries(abut_cli *cli, const options *o, const abut_judge_opts *asked, int kind, int *no, abut_err *err)
{
    FILE *const f = cli->out ? cli->out : stdout;
    abut_score all[3];
    int n_all = 0;
    fprintf(f, "method\tqueries\ttrue_positive\ttrue_negative\tfalse_positive\tfalse_negative\tus_per_query\n");
    for (int m = 0; m < 3; m++) {
        abut_judge_opts j = *asked;
        abut_score s = { .method = (abut_judge_method)m };
        if (o->method && (abut_judge_method)m != asked->method) continue;
        j.method = (abut_judge_method)m;
        const abut_status rc = abut_judge_queries(&j, cli->args, cli->nargs, kind, &s, err);
        if (rc) return rc;
        const size_t n = s.hits + s.clears + s.false_hits + s.false_clears;
        fprintf(f, "%s\t%zu\t%zu\t%zu\t%zu\t%zu\t%.3f\n", abut_method_name(j.method), n, s.hits, s.clears, s.false_hits,
                s.false_clears, n ? 1e6 * s.seconds / (double)n : 0);
        all[n_all++] = s;
        *no |= s.false_clears > 0 || (m == ABUT_JUDGE_EXACT && s.false_hits > 0);
    }
    return o->json ? abut_scores_json(cli, all, n_all, cli->args, cli->nargs, o->json, err) : ABUT_OK;
}

static abut_status run_stream(abut_verdict *v, const options *o, abut_err *err)
{
    char history[200];
    if (v->cli->nargs > 1) return abut_fail(err, ABUT_E_ARG, "%s: not a mesh file; a stream is one file alone", v->cli->args[1]);
    if (o->no_output) abut_cli_drop_output(v->cli);
    char sep[40];
    snprintf(history, sizeof history, "{\"method\":\"%s\",\"min_separation\":%s,\"motion\":\"%s\"%s}",
             abut_method_name(v->opts.method), abut_separation_json(v->opts.min_sep, sep, sizeof sep),
             o->motion ? o->motion : "path", o->motion_only ? ",\"motion_only\":true" : "");
    return abut_judge_stream(v, history, err);
}

int main(int argc, char **argv)
{
    options o = { .curved = ABUT_NOT_GIVEN, .delta = NAN, .min_sep = OWN_SEPARATION };
    const abut_opt opts[] = {
        { 'm', "method", ABUT_OPT_TEXT, &o.method, "NAME",
          "collision test: exact (default), tight (inclusion-based) or additive" },
        { 0, "motion", ABUT_OPT_TEXT, &o.motion, "NAME",
          "motion between frames: path (default): through the positions in step/waypoints, straight if a frame has none; "
          "straight; none: each frame alone" },
        { 0, "motion-only", ABUT_OPT_FLAG, &o.motion_only, NULL,
          "judge motions, not configurations: what touches or is folded at the start is reported at its next contact" },
        { 's', "min-separation", ABUT_OPT_REAL, &o.min_sep, "m",
          "distance at which primitives collide; 0: they touch (default: the contact thickness of the two objects, array "
          "object/thickness; 0 without a thickness)" },
        { 0, "gap", ABUT_OPT_FLAG, &o.gap, NULL, "print the smallest gap of all frames: distance less --min-separation" },
        { 0, "curved", ABUT_OPT_INT, &o.curved, "N",
          "print how deep the true boundary of curved tets penetrates other bodies, sampled with N segments on a side; the "
          "answer does not depend on it" },
        { 0, "delta", ABUT_OPT_REAL, &o.delta, "m", "--method tight: resolution (default 1e-6)" },
        { 'a', "all", ABUT_OPT_FLAG, &o.all, NULL, "report every collision, not only the first" },
        { 0, "json", ABUT_OPT_OUTPUT, &o.json, "FILE", "write a report; with --csv-queries the scores" },
        { 0, "write-hits", ABUT_OPT_OUTPUT, &o.obj, "FILE.obj", "write the colliding primitives as a mesh" },
        { 0, "static", ABUT_OPT_FLAG, &o.single, NULL,
          "check each mesh file alone: crossings, touches, folds, "
          "flat and inverted elements" },
        { 0, "no-output", ABUT_OPT_FLAG, &o.no_output, NULL, "judge only: do not pass the stream on" },
        { 0, "csv-queries", ABUT_OPT_FLAG, &o.queries, NULL,
          "the files are public CCD queries: score the methods "
          "(all, or --method)" },
        { 0, "kind", ABUT_OPT_TEXT, &o.kind, "vf|ee", "--csv-queries: kind of the queries, if the path does not name it" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv,
                   "Judges every pair of consecutive frames of a state stream, or of a sequence of mesh files: the motion\n"
                   "between them must be free of collisions, and tets must keep a positive volume on it (in a stream: if\n"
                   "their material forbids inversion).  A PENDING candidate is judged from the frame before it.  A stream\n"
                   "passes through unchanged.",
                   "[FILE ...]", opts, ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_err err = { 0 };
    abut_verdict v = { .cli = &cli, .motion_only = o.motion_only, .all = o.all, .json = o.json, .obj = o.obj, .want_gap = o.gap,
                       .gap = { .gap = INFINITY } };
    int kind, no = 0;
    abut_status rc = check_options(&o, &cli, &v.opts, &kind, &err);
    if (!rc) rc = parse_path(o.motion, &v.path, &err);
    v.curved = o.curved;
    if (!rc && o.queries) {
        rc = run_queries(&cli, &o, &v.opts, kind, &no, &err);
    } else if (!rc) {
        if (o.single || all_meshes(&cli))
            rc = abut_judge_meshes(&v, cli.args, cli.nargs, o.single || v.path == ABUT_PATH_NONE, &err);
        else rc = run_stream(&v, &o, &err);
        if (!rc) rc = abut_verdict_end(&v, &err);
        no = v.collisions > 0;
    }
    abut_verdict_clear(&v);
    return abut_cli_end(&cli, no, rc ? &err : NULL);
}
