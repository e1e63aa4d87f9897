/* The output of a program (output.c), for cli.c. */
#ifndef ABUT_TOOLS_CLI_CLI_PARTS_H
#define ABUT_TOOLS_CLI_CLI_PARTS_H

#include "tools/cli/cli.h"

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
