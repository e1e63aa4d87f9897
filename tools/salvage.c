/* salvage: writes the intact, checksummed frames of an interrupted stream as a whole stream, and says how many. */
#include "base/words.h"
#include "tools/cli/cli.h"

/* A MODEL waits for its first FRAME: one without would hide the frames before it from a program that continues from there. */
typedef struct salvage {
    abut_stream s;
    int model_waits;
    long long frames;
    abut_frame_head last;
} salvage;

static abut_status pass_item(salvage *v, abut_err *err)
{
    abut_stream *const s = &v->s;
    abut_status rc = ABUT_OK;
    if (s->item == ABUT_ITEM_MODEL) {
        v->model_waits = 1;
        return abut_writer_kept(s->writer, s->reader, err);
    }
    if (v->model_waits) rc = abut_writer_model(s->writer, &s->model_set, err);
    if (!rc) rc = abut_stream_write(s, err);
    v->model_waits = 0;
    v->last = s->head;
    v->frames++;
    return rc;
}

/* Says what was saved; with -q only if something is missing. */
static void say(const salvage *v, abut_cut cut, unsigned long long at, const char *why)
{
    const abut_cli *const cli = abut_stream_cli(&v->s);
    if (!cut && cli->quiet) return;
    if (cut == ABUT_CUT_ENDS)
        fprintf(stderr, "%s: %s ends after %llu byte%s without an end mark", cli->tool, cli->in_name, at, abut_s(at));
    else if (cut == ABUT_CUT_DAMAGED) fprintf(stderr, "%s: %s", cli->tool, why);
    else fprintf(stderr, "%s: %s is whole", cli->tool, cli->in_name);
    fprintf(stderr, ": %lld whole frame%s, the last one step %lld (%.9g s)%s\n", v->frames, v->frames == 1 ? "" : "s",
            (long long)v->last.step, v->last.time, v->last.phase == ABUT_PENDING ? ", PENDING" : "");
}

static abut_status run(salvage *v, abut_cli *cli, abut_err *err)
{
    abut_stream *const s = &v->s;
    abut_cut cut = ABUT_CUT_NOT;
    uint64_t at = 0;
    abut_err why = { 0 };
    abut_status rc = abut_stream_open(s, cli, NULL, err);
    s->io.cut = NULL;       /* it would advise to call this program */
    while (!rc) {
        rc = abut_stream_next(s, &why);
        if (rc) cut = abut_reader_cut(s->reader, &at);
        if (rc || s->item == ABUT_ITEM_END) break;
        rc = pass_item(v, err);
    }
    if (rc && !err->code && !cut) *err = why;
    if (err->code) return err->code;
    if (!v->frames) return abut_fail(err, ABUT_E_FORMAT, "%s: no frame is whole: there is nothing to save", cli->in_name);
    rc = abut_stream_close(s, err);
    if (!rc) say(v, cut, (unsigned long long)at, why.msg);
    return rc;
}

int main(int argc, char **argv)
{
    const abut_opt opts[] = { { 0 } };
    abut_cli cli;
    abut_err err = { 0 };
    salvage v = { .model_waits = 0 };
    abut_cli_begin(&cli, argc, argv,
                   "Writes the intact, checksummed frames of an interrupted stream as a whole stream, and says how many.\n"
                   "A run that continues from there has the bytes of an uninterrupted one.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    const abut_status rc = run(&v, &cli, &err);
    abut_stream_clear(&v.s);
    return abut_cli_end(&cli, 0, rc ? &err : NULL);
}
