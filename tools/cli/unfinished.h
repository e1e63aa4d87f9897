/* A stream that was not finished: the command that saves its frames, said by errors and by the signals that end a program. */
#ifndef ABUT_TOOLS_CLI_UNFINISHED_H
#define ABUT_TOOLS_CLI_UNFINISHED_H

#include "tools/cli/cli.h"

/** Size of the command; longer names are cut. */
enum { ABUT_COMMAND_MAX = 3072 };

/** "bin/salvage cut.part -o cut" for a program that was called as bin/step, the names quoted as a shell wants them; NULL for a
 * name that only the caller knows: a word in capitals takes its place. */
void abut_unfinished_command(const abut_cli *cli, const char *cut, const char *whole, char text[ABUT_COMMAND_MAX]);

/** Adds to the message of a stream without an end mark how its frames are saved, where the input is a file. */
void abut_unfinished_advise(const abut_cli *cli, abut_err *err);

/** From here on SIGINT, SIGTERM, SIGHUP and SIGXCPU, unless ignored, say what cli->out keeps before they end the program as
 * usual; a FILE.part without a whole frame is removed.  One cli at a time; it must not move in memory. */
void abut_unfinished_watch(abut_cli *cli);
/** Ends this watch, when the output is closed. */
void abut_unfinished_unwatch(void);

/** Says what remains of an unfinished output of size bytes: in FILE.part, or in a file that is standard output. */
void abut_unfinished_say(const abut_cli *cli, long long size);

#endif
