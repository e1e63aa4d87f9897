/* Outputs that are there before the run: refused with --no-clobber, otherwise named at the end if the run has replaced them. */
#ifndef ABUT_TOOLS_CLI_EXISTING_H
#define ABUT_TOOLS_CLI_EXISTING_H

#include "tools/cli/cli.h"

/** Does the program have an option that names an output? */
int abut_existing_may(const abut_opt *own);

/** Lists the files that the outputs of the command line may replace: -o, those of the program, all files in its folders.
 * Devices and fifos are none.
 * refuse  fails with ABUT_E_IO at the first of them
 * Fails   ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_existing_find(abut_existing *e, const abut_cli *cli, const abut_opt *own, int refuse,
                                             abut_err *err);

/** Says in a line which of them are other files now. */
void abut_existing_say(abut_cli *cli, const abut_existing *e);
void abut_existing_clear(abut_existing *e);

#endif
