/* Command lines: parsing by a table of options, and the help text and the manual page made from the same table. */
#ifndef ABUT_TOOLS_CLI_OPTIONS_H
#define ABUT_TOOLS_CLI_OPTIONS_H

#include "base/err.h"

#include <limits.h>
#include <stdio.h>

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

#endif
