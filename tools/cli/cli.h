/* Common parts of all programs: options, help, input and output, messages, exit codes.
 *
 *     double dt = 0.01;
 *     const abut_opt opts[] = { { 'd', "dt", ABUT_OPT_REAL, &dt, "s", "length of the motion (default 0.01)" }, { 0 } };
 *     abut_cli cli;  abut_err err = { 0 };
 *     abut_cli_begin(&cli, argc, argv, "One sentence.", "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
 *     ... cli.in, cli.out ...
 *     return abut_cli_end(&cli, answer_is_no, &err);
 *
 * -o FILE, -j N, -q, --help, --version belong to every program (-o to those with an output, --compress to those whose
 * output is a stream).  Output to a file goes to FILE.part and is renamed by abut_cli_end when all is done and on disk
 * (--no-sync: without waiting for the disk), so a file without .part is always whole.  FILE.part of an unfinished earlier run
 * becomes FILE.part.old if it is a stream.  A link, a folder or a fifo of that name is refused; FILE.part is always a new file.
 * Devices, fifos and everything under /dev and /proc are written directly.  --no-clobber, of every program that writes files,
 * refuses outputs that exist, and a file that appears later stays (out_file.h).  It fails with ABUT_E_IO, as other outputs that
 * cannot be made: the command line is valid, the state of the disk is not.
 *
 * Descriptor 1 leads to stderr after abut_cli_begin: what a library prints cannot damage a stream.  stderr is buffered by
 * lines: each line is one write, so that lines of the programs of a pipeline do not mix. */
#ifndef ABUT_TOOLS_CLI_CLI_H
#define ABUT_TOOLS_CLI_CLI_H

#include "formats/stream/pass.h"
#include "tools/cli/options.h"

#include <signal.h>
#include <stdio.h>

/* Files that are there before the run.  Zero-filled is empty. */
typedef struct abut_existing {
    struct abut_existing_file *file;
    int n;
    size_t room;
} abut_existing;

typedef struct abut_cli {
    const char *called, *tool;  /* as it was called; the name without its folder, the end of that */
    const char *summary, *args_help;
    FILE *in;           /* first positional argument, or standard input; "-" names it too */
    FILE *out;          /* -o FILE, or standard output; NULL when the program has none */
    const char *in_name;
    const char *const *args;  /* positional arguments, NULL-terminated */
    int nargs;
    int threads;        /* -j, already set for OpenMP; default: all cores */
    int compress;       /* --compress: level for abut_writer_open, 0..9 */
    int quiet;          /* -q: no progress, no remarks */
    int no_sync;        /* --no-sync */
    int no_clobber;     /* --no-clobber: every writer leaves files that appear during the run */
    abut_existing existing;
    int is_stream;      /* out is a state stream */
    volatile sig_atomic_t frames;   /* whole frames written to it */
    const char *out_path;     /* -o; NULL: standard output */
    char *part_path, *final_path;  /* while writing, and after the rename; NULL when written directly */
    int progress_on;    /* a progress line is on the terminal */
    double progress_every;      /* s: --progress-every; 0: none but on a terminal */
    double began, progressed;   /* s, wall clock: the start, the last line of progress */
    char sum[200];      /* the text given to abut_cli_sum */
} abut_cli;

/* Which streams a program needs. */
enum { ABUT_CLI_IN = 1 /* opens cli.in; a terminal is refused */,
       ABUT_CLI_OUT = 2 /* opens cli.out for a binary stream; a terminal is refused */,
       ABUT_CLI_OUT_TEXT = 4 /* opens cli.out for text */,
       ABUT_CLI_OUT_MAY = 8 /* as OUT, but without -o a terminal gets nothing: cli.out is NULL.  For judges at the
                               end of a pipe, whose answer is the exit code */,
       ABUT_CLI_OUT_NOWHERE = 16 /* beside one of these: what -o names is left alone, and cli.out is /dev/null */ };

/** Parses; prints help or version and exits 0; on a usage error says so and exits 2; opens in and out (a missing
 * file exits 3, an output that cannot be made 5).
 *
 * args_help  describes the positional arguments and limits their number: "[FILE]" none or one, "FILE" one, "" none,
 *            "FILE ..." one or more, "[FILE ...]" any
 * opts       ends with { 0 }; values and strings of argv are borrowed until abut_cli_end */
void abut_cli_begin(abut_cli *cli, int argc, char **argv, const char *summary, const char *args_help,
                    const abut_opt *opts, int streams);

/** Fails with ABUT_E_ARG: a terminal would show the binary stream. */
ABUT_MUST_USE abut_status abut_cli_refuse_terminal(abut_err *err);
/** Opens a file for text; with --no-clobber a new one.  Returns NULL, with ABUT_E_IO in err, if that fails. */
FILE *abut_cli_create(const abut_cli *cli, const char *path, abut_err *err);
/** Closes cli->out, to which nothing was written: the program writes no stream after all. */
void abut_cli_drop_output(abut_cli *cli);
/** Notes that the output so far only copies the input: if the input is a file and the program fails, FILE.part is removed. */
void abut_cli_keep_nothing(abut_cli *cli);
/** Whether cli->out is a character device, as /dev/null. */
int abut_cli_output_is_device(const abut_cli *cli);

/** A remark on stderr: "tool: text"; nothing with -q. */
void abut_cli_say(abut_cli *cli, const char *fmt, ...) ABUT_PRINTF(2, 3);
/** Checks that all output of this option to stderr was written.  Fails  ABUT_E_IO a write failed there */
ABUT_MUST_USE abut_status abut_cli_said(const char *option, abut_err *err);
/** Replaces the progress line; silent with -q.  If stderr is no terminal, writes a new line every --progress-every. */
void abut_cli_progress(abut_cli *cli, const char *fmt, ...) ABUT_PRINTF(2, 3);
/** Erases the progress line; to be called before another line is written. */
void abut_cli_progress_clear(abut_cli *cli);
/** Sets the last line of abut_cli_end, which adds the time that the program took: "tool: text, 3.41 s".  Not said with -q. */
void abut_cli_sum(abut_cli *cli, const char *fmt, ...) ABUT_PRINTF(2, 3);

/** Closes everything, checks every write, and renames FILE.part unless err holds an error.  Says err's message if there is one,
 * the contents of FILE.part of an unfinished output, and how its frames are saved.  A usage error (ABUT_E_ARG) leaves no
 * FILE.part, and neither does a stream without a whole frame.
 * If the reader of standard output has gone, the program ends by SIGPIPE without a message, as filters do (141 in a shell).
 * Returns the exit code: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up, 5 system. */
int abut_cli_end(abut_cli *cli, int answer_is_no, const abut_err *err);

/** Adds to the message of a stream without an end mark how its frames are saved, where the input is a file. */
void abut_unfinished_advise(const abut_cli *cli, abut_err *err);

/* A program that reads a state stream and passes it on: formats/stream/pass.h between cli.in and cli.out.
 *
 *     abut_stream s = { 0 };
 *     if (!abut_stream_open(&s, &cli, "{}", &err)) ... the loop of formats/stream/pass.h ...
 *     abut_stream_clear(&s);
 *     return abut_cli_end(&cli, answer_is_no, &err); */

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

/* ---- of cli.c: the output of a program (output.c) ---- */

/** Says that writing has failed for `number`, an errno.  Returns  ABUT_E_IO */
abut_status abut_cli_write_error(const char *what, int number, abut_err *err);

/** Whether the program has an option that names an output. */
int abut_output_may_replace(const abut_opt *own);
/** Lists in cli->existing the files that the outputs of the command line may replace: -o, those of the program, all files in its
 * folders.  Devices and fifos are none.  With --no-clobber it fails with ABUT_E_IO at the first of them. */
ABUT_MUST_USE abut_status abut_output_find_existing(abut_cli *cli, const abut_opt *own, abut_err *err);
/** Says in a line which of them are other files now. */
void abut_output_say_replaced(abut_cli *cli);

/** Opens cli->out.  From then on signals that end the program say what a stream keeps.  Fails  ABUT_E_ARG, ABUT_E_IO, ... */
ABUT_MUST_USE abut_status abut_output_open(abut_cli *cli, int streams, abut_err *err);
/** Whether writing failed because the reader of standard output has gone. */
int abut_output_reader_is_gone(const abut_cli *cli);
/** Flushes and closes; a failure goes into err unless it already holds one.  *is_gone becomes 1 if the reader has caused the
 * failure. */
void abut_output_close(abut_cli *cli, int *is_gone, abut_err *err);
/** Frees the names of files. */
void abut_output_clear(abut_cli *cli);

#endif
