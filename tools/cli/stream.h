/* A program that reads a state stream and passes it on: formats/stream/pass.h between cli.in and cli.out.
 *
 *     abut_stream s = { 0 };
 *     if (!abut_stream_open(&s, &cli, "{}", &err)) ... the loop of formats/stream/pass.h ...
 *     abut_stream_clear(&s);
 *     return abut_cli_end(&cli, answer_is_no, &err); */
#ifndef ABUT_TOOLS_CLI_STREAM_H
#define ABUT_TOOLS_CLI_STREAM_H

#include "formats/stream/pass.h"
#include "tools/cli/cli.h"

/** Opens cli->in and, if there is one, cli->out; copies the history and adds this program to it.  The program says what the
 * reader leaves out, and how the frames of a stream without an end mark are saved.
 * options  JSON object with the options that shape the result; NULL for a program that changes nothing: no record */
ABUT_MUST_USE abut_status abut_stream_open(abut_stream *s, abut_cli *cli, const char *options, abut_err *err);

/** Opens as abut_stream_open, with options that depend on the MODEL: abut_stream_ask. */
ABUT_MUST_USE abut_status abut_stream_open_asking(abut_stream *s, abut_cli *cli,
                                                  abut_status (*options)(void *ctx, const abut_model *m, const char **options,
                                                                         abut_err *err), void *ctx, abut_err *err);

/** The program of a stream that abut_stream_open has opened. */
static inline abut_cli *abut_stream_cli(const abut_stream *s)
{
    return (abut_cli *)s->io.who;
}

#endif
