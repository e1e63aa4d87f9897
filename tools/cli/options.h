/* Command lines: parsing by a table of options, and the help text made from the same table.  For tools/cli/cli.c. */
#ifndef ABUT_TOOLS_CLI_OPTIONS_H
#define ABUT_TOOLS_CLI_OPTIONS_H

#include "tools/cli/cli.h"

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

/** Whether both names lead to one regular file, which need not exist; devices may be named twice. */
int abut_options_same_file(const char *a, const char *b);

/** Fails with ABUT_E_ARG unless the number of arguments agrees with what args_help describes (see abut_cli_begin). */
ABUT_MUST_USE abut_status abut_options_count(const char *args_help, const char *const *args, int nargs, abut_err *err);

/** Returns the placeholder of an option's value in the help: its unit, or a word for its kind; "" for flags. */
const char *abut_option_value(const abut_opt *o);

/** Writes the options before the next topic as lines of the help text, at most 96 columns wide.  Returns the row of the topic, or
 * the end of the table (NULL if opts is). */
const abut_opt *abut_options_help(FILE *f, const abut_opt *opts);
/** Writes lines of cells, each ended by a tab but the last, from column `at` on. */
void abut_options_table(FILE *f, int at, const char *text);

#endif
