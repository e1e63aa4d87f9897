/* What every program shares: options, help, input and output, messages, exit codes.
 *
 *     double dt = 0.01;
 *     const abut_opt opts[] = { { 'd', "dt", ABUT_OPT_REAL, &dt, "s", "length of the motion (default 0.01)" }, { 0 } };
 *     abut_cli cli;  abut_err err = { 0 };
 *     abut_cli_begin(&cli, argc, argv, "One sentence.", "[FILE]", opts);
 *     ... cli.in, cli.out ...
 *     return abut_cli_end(&cli, answer_is_no, &err);
 *
 * -o FILE, -j N, -q, --help, --version belong to every program.  Output to a file goes to FILE.part and is renamed by
 * abut_cli_end when all went well, so a name without .part is always whole. */
#ifndef ABUT_TOOLS_CLI_H
#define ABUT_TOOLS_CLI_H

#include "base/err.h"
#include "formats/state_io.h"

#include <stdio.h>

typedef enum abut_opt_kind {
    ABUT_OPT_FLAG = 1,  /* int *: 1 when given                        */
    ABUT_OPT_INT,       /* int *                                      */
    ABUT_OPT_REAL,      /* double *: finite                           */
    ABUT_OPT_TEXT,      /* const char **                              */
    ABUT_OPT_LIST       /* abut_opt_list *: may be given again        */
} abut_opt_kind;

typedef struct abut_opt_list {
    const char *item[64];
    int n;
} abut_opt_list;

typedef struct abut_opt {
    char letter;        /* 0: long name only */
    const char *name;
    abut_opt_kind kind;
    void *value;
    const char *unit;   /* shown in the help: "s", "FILE"; NULL for flags */
    const char *help;
} abut_opt;

typedef struct abut_cli {
    const char *tool;
    FILE *in;           /* first positional argument, or standard input; "-" names it too */
    FILE *out;          /* -o FILE, or standard output */
    const char *in_name;
    const char *const *args;  /* positional arguments, NULL-terminated */
    int nargs;
    int threads;        /* -j; default: all cores */
    int quiet;          /* -q: no progress, no remarks */
    int usage_error;    /* set: call abut_cli_end at once */
    const char *out_path;
    char *part_path;
    int progress_on;    /* a progress line stands on the terminal */
} abut_cli;

/* Which streams a program needs. */
enum { ABUT_CLI_IN = 1 /* opens cli.in */, ABUT_CLI_OUT = 2 /* opens cli.out for a binary stream */,
       ABUT_CLI_OUT_TEXT = 4 /* opens cli.out for text */ };

/** Parses; prints help or version and exits 0; on a usage error says so and exits 2; opens in and out (a missing
 * file exits 3, an output that cannot be made 5).  args_help describes the positional arguments ("[FILE]"). */
void abut_cli_begin(abut_cli *cli, int argc, char **argv, const char *summary, const char *args_help,
                    const abut_opt *opts, int streams);

/** A remark on stderr: "tool: text". */
void abut_cli_say(abut_cli *cli, const char *fmt, ...) ABUT_PRINTF(2, 3);
/** Replaces the progress line; silent when stderr is no terminal or with -q. */
void abut_cli_progress(abut_cli *cli, const char *fmt, ...) ABUT_PRINTF(2, 3);

/** Closes everything, checks every write, renames FILE.part; says err's message if it has one.
 * Returns the exit code: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up, 5 system. */
int abut_cli_end(abut_cli *cli, int answer_is_no, const abut_err *err);

#endif
