/* The manual page of a program as mdoc source, from its table of options.  docs/man/page adds the written text. */
#ifndef ABUT_TOOLS_CLI_MANUAL_H
#define ABUT_TOOLS_CLI_MANUAL_H

#include "tools/cli/cli.h"

/** Writes n characters of a pipeline with "abut " before each program, as users of an installation type it.  line has no
 * backslash. */
void abut_manual_command(FILE *f, const char *line, int n);
/** Writes the page from the line of the name in section NAME to the end of section EXIT STATUS. */
void abut_manual_write(FILE *f, const abut_cli *cli, const abut_opt *own, const abut_opt *common);

#endif
