/* strain-limit: the largest and smallest principal stretch of every frame, judged against limits; the stream passes
 * through unchanged. */
#include "energy/stretch.h"
#include "tools/cli.h"
#include "tools/cli_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_REMARKS = 20 };

typedef struct audit {
    int wanted;
    double upper, lower;        /* limits, NAN: none */
    const char *json_name;
    FILE *json;
    abut_elastic elastic;       /* of the model in the stream */
    abut_arena scratch;
    abut_stretch worst;         /* over all frames, and when */
    int64_t min_step, max_step;
    int64_t frames, outside;    /* frames seen, frames that exceed a limit */
} audit;

static abut_status check_request(const audit *a, abut_err *err)
{
    if (!a->wanted) return abut_fail(err, ABUT_E_ARG, "nothing to do: give --audit");
    if (a->upper <= 1) return abut_fail(err, ABUT_E_ARG, "--upper %g: a largest stretch is more than 1", a->upper);
    if (a->lower >= 1 || a->lower < 0)
        return abut_fail(err, ABUT_E_ARG, "--lower %g: a smallest stretch is at least 0 and less than 1", a->lower);
    return ABUT_OK;
}

/* "tet 7 (object 'ball', nodes 1 2 3 4)" */
static const char *describe(const abut_stream *s, int32_t tet, char *buf, size_t size)
{
    char object[64];
    const int32_t *n = s->model.tet + 4 * (size_t)tet;
    abut_text_row(&s->model_set, "object/name", s->model.body[n[0]], object, sizeof object);
    snprintf(buf, size, "tet %d (object '%s', nodes %d %d %d %d)", tet, object, n[0], n[1], n[2], n[3]);
    return buf;
}

static void remark(audit *a, const abut_stream *s, double stretch, int32_t tet, const char *side, double limit)
{
    char element[160];
    if (a->outside > MOST_REMARKS) return;
    abut_cli_say(s->cli, "step %" PRId64 ", %g s: stretch %.6g of %s is %s the limit %g", s->head.step, s->head.time,
                 stretch, describe(s, tet, element, sizeof element), side, limit);
    if (a->outside == MOST_REMARKS) abut_cli_say(s->cli, "further frames outside the limits are only counted");
}

/* One JSON object per frame, one line each. */
static abut_status write_json(const audit *a, const abut_stream *s, const abut_stretch *now, int outside, abut_err *err)
{
    if (!a->json) return ABUT_OK;
    const int n = fprintf(a->json, "{\"step\": %" PRId64 ", \"time\": %.17g, \"max\": %.17g, \"max_tet\": %d, "
                          "\"min\": %.17g, \"min_tet\": %d, \"outside\": %s}\n", s->head.step, s->head.time, now->max,
                          now->max_tet, now->min, now->min_tet, outside ? "true" : "false");
    return n < 0 ? abut_fail(err, ABUT_E_IO, "%s: %s", a->json_name, strerror(errno)) : ABUT_OK;
}

static abut_status audit_frame(audit *a, const abut_stream *s, abut_err *err)
{
    abut_stretch now;
    const abut_status rc = abut_stretch_find(&a->elastic, s->frame.x, &now, &a->scratch, err);
    if (rc) return rc;
    const int above = now.max > a->upper, below = now.min < a->lower;   /* false for a limit that is NAN */
    a->outside += above || below;
    if (above) remark(a, s, now.max, now.max_tet, "above", a->upper);
    if (below) remark(a, s, now.min, now.min_tet, "below", a->lower);
    if (a->frames == 0 || now.max > a->worst.max) a->worst.max = now.max, a->max_step = s->head.step;
    if (a->frames == 0 || now.min < a->worst.min) a->worst.min = now.min, a->min_step = s->head.step;
    a->frames++;
    abut_cli_progress(s->cli, "step %" PRId64 ": stretch %.4g to %.4g", s->head.step, now.min, now.max);
    return write_json(a, s, &now, above || below, err);
}

static abut_status audit_model(audit *a, const abut_stream *s, abut_err *err)
{
    abut_elastic_clear(&a->elastic);
    if (s->model.nt == 0) abut_cli_say(s->cli, "this model has no tetrahedra: nothing in it has a stretch");
    return abut_elastic_init(&a->elastic, &s->model, err);
}

static abut_status run(audit *a, abut_stream *s, abut_cli *cli, abut_err *err)
{
    abut_status rc = abut_stream_open(s, cli, NULL, err);
    while (!rc) {
        rc = abut_stream_next(s, err);
        if (rc || s->item == ABUT_ITEM_END) break;
        rc = s->item == ABUT_ITEM_MODEL ? audit_model(a, s, err) : audit_frame(a, s, err);
        if (!rc) rc = abut_stream_write(s, err);
    }
    return rc ? rc : abut_stream_close(s, err);
}

static void summarise(const audit *a, abut_cli *cli)
{
    if (a->frames == 0) abut_cli_say(cli, "the stream has no frames");
    else
        abut_cli_say(cli, "%" PRId64 " frames: stretch %.6g (step %" PRId64 ") to %.6g (step %" PRId64 "); %" PRId64
                     " outside the limits", a->frames, a->worst.min, a->min_step, a->worst.max, a->max_step, a->outside);
}

int main(int argc, char **argv)
{
    audit a = { .upper = NAN, .lower = NAN };
    const abut_opt opts[] = {
        { 0, "audit", ABUT_OPT_FLAG, &a.wanted, NULL, "judge every frame; exit 1 when a stretch is outside a limit" },
        { 0, "upper", ABUT_OPT_REAL, &a.upper, "S", "largest stretch allowed, above 1: 1.06 is 6 % longer (default: none)" },
        { 0, "lower", ABUT_OPT_REAL, &a.lower, "S", "smallest stretch allowed, below 1 (default: none)" },
        { 0, "json", ABUT_OPT_TEXT, &a.json_name, "FILE", "write the extremes of each frame as one JSON object a line" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Find how far the elements of every frame are stretched.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_stream s = { 0 };
    abut_status rc = check_request(&a, &err);
    if (!rc && a.json_name && !(a.json = fopen(a.json_name, "w")))
        rc = abut_fail(&err, ABUT_E_IO, "%s: %s", a.json_name, strerror(errno));
    if (!rc) rc = run(&a, &s, &cli, &err);
    if (a.json && fclose(a.json) && !rc) rc = abut_fail(&err, ABUT_E_IO, "%s: %s", a.json_name, strerror(errno));
    if (!rc) summarise(&a, &cli);
    abut_elastic_clear(&a.elastic);
    abut_arena_clear(&a.scratch);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, a.outside > 0, &err);
}
