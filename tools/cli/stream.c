#include "tools/cli/stream.h"

#include "tools/cli/unfinished.h"

static void say_note(void *who, const char *text)
{
    abut_cli_say(who, "%s", text);
}

static void advise(void *who, abut_err *err)
{
    abut_unfinished_advise(who, err);
}

abut_status abut_stream_open(abut_stream *s, abut_cli *cli, const char *options, abut_err *err)
{
    const abut_stream_io io = { .in = cli->in, .out = cli->out, .in_name = cli->in_name, .tool = cli->tool,
                                .version = ABUT_VERSION, .compress = cli->compress, .frames = &cli->frames, .note = say_note,
                                .cut = advise, .who = cli };
    return abut_stream_start(s, &io, options, err);
}

abut_status abut_stream_open_asking(abut_stream *s, abut_cli *cli,
                                    abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err),
                                    void *ctx, abut_err *err)
{
    const abut_status rc = abut_stream_open(s, cli, NULL, err);
    abut_stream_ask(s, options, ctx);
    return rc;
}
