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

#include "base/err.h"
#include "formats/stream/pass.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>

/* ---- options.c: a table of options parses the command line, and makes the help text and the manual page ---- */

typedef enum abut_opt_kind {
    ABUT_OPT_FLAG = 1,  /* int *: 1 when given                        */
    ABUT_OPT_MAY,       /* const char **: the next word if that is no option, else "" */
    ABUT_OPT_INT,       /* int *: decimal                             */
    ABUT_OPT_REAL,      /* double *: finite, in the SI unit `unit`; other units of the quantity may be given (base/words.h) */
    ABUT_OPT_TEXT,      /* const char **                              */
    ABUT_OPT_OUTPUT,    /* const char **: a file that is written, no other one of the command line */
    ABUT_OPT_OUTPUT_TEXT,   /* the same; "-" is standard output */
    ABUT_OPT_OUTPUT_AFTER,  /* the same, written after all input is read: it may be the input */
    ABUT_OPT_FOLDER,    /* const char **: a folder into which files are written */
    ABUT_OPT_LIST,      /* abut_opt_list *: may be given again        */
    ABUT_OPT_ELSEWHERE, /* of another program: `unit` is its name, `help` what it does; refused with these, and not in the help */
    ABUT_OPT_TOPIC      /* no option: `--help name` prints `help`.  Options after the first topic are in --help all alone */
} abut_opt_kind;

#define ABUT_OPT_LIST_MAX 64
#define ABUT_NOT_GIVEN INT_MIN  /* initial value of an INT for which every number is valid */

typedef struct abut_opt_list {
    const char *item[ABUT_OPT_LIST_MAX];
    int n;
} abut_opt_list;

typedef struct abut_opt {
    char letter;        /* 0: long name only */
    const char *name;   /* NULL ends a table */
    abut_opt_kind kind;
    void *value;        /* holds the default, for FILE and DIR NULL.  Given twice, the last one counts; a list collects, and two
                         * of FILE or DIR are refused */
    const char *unit;   /* placeholder of the value in the help: "s", "FILE"; NULL for flags */
    const char *help;   /* lines after the first are a table, tabs end cells.  NULL: not in the help: a former name, --manual */
} abut_opt;

/** Parses argv[1..] by two tables (the program's first, then the common one).
 *
 * Accepts --name value, --name=value, -n value, -nvalue; "--" ends the options; "-" is an argument.
 * args  out: room for argc pointers; the positional arguments, NULL-terminated;  nargs  out: their number
 * Fails ABUT_E_ARG naming the option, the given and the expected value, or the nearest known name */
ABUT_MUST_USE abut_status abut_options_parse(int argc, char **argv, const abut_opt *own, const abut_opt *common,
                                             const char **args, int *nargs, abut_err *err);

/** Fails with ABUT_E_ARG if an output of the program is another file of the command line: an argument, or a file that another
 * option reads or writes. */
ABUT_MUST_USE abut_status abut_options_files(const abut_opt *own, const abut_opt *common, const char *const *args, abut_err *err);

/** Fails with ABUT_E_ARG unless the number of arguments agrees with what args_help describes (see abut_cli_begin). */
ABUT_MUST_USE abut_status abut_options_count(const char *args_help, const char *const *args, int nargs, abut_err *err);

/** Writes the options before the next topic as lines of the help text, at most 96 columns wide.  Returns the row of the topic, or
 * the end of the table (NULL if opts is). */
const abut_opt *abut_options_help(FILE *f, const abut_opt *opts);
/** Writes lines of cells, each ended by a tab but the last, from column `at` on. */
void abut_options_table(FILE *f, int at, const char *text);

/** Writes n characters of a pipeline with "abut " before each program, as users type it; line has no backslash.
 * f  NULL: writes nothing
 * Returns  the number of characters written */
int abut_manual_command(FILE *f, const char *line, int n);
/** Writes the manual page as mdoc source, to which docs/man/page adds the written text: from the line of the name in section NAME
 * to the end of section EXIT STATUS. */
void abut_manual_write(FILE *f, const char *tool, const char *summary, const char *args_help, const abut_opt *own,
                       const abut_opt *common);

/* ---- a program ---- */

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
