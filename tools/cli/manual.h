/* The manual page of a program as mdoc source, from the table that its help is made of.  docs/man/page adds what is written. */
#ifndef ABUT_TOOLS_CLI_MANUAL_H
#define ABUT_TOOLS_CLI_MANUAL_H

#include "tools/cli/cli.h"

/** Writes n characters of a pipeline of programs as a user of the installed ones types it: "abut " before each.  line has no
 * backslash. */
void abut_manual_command(FILE *f, const char *line, int n);
/** From the line of the name in section NAME to the end of section EXIT STATUS. */
void abut_manual_write(FILE *f, const abut_cli *cli, const abut_opt *own, const abut_opt *common);

#endif
