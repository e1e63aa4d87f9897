/* The option --with of the programs that commit steps. */
#ifndef ABUT_TOOLS_CLI_WITH_H
#define ABUT_TOOLS_CLI_WITH_H

#include "solve/step/record.h"

#define ABUT_WITH_HELP "add to new frames, comma separated: forces and their estimated error, which takes time; energies; " \
                       "contacts, with --solver nodal (formats/STATE.md)"

/** "forces,energies,contacts", any alone, in any order; NULL: nothing.  *with: ABUT_WITH_*.
 * Fails  ABUT_E_ARG naming the word that is unknown */
ABUT_MUST_USE abut_status abut_with_parse(const char *text, int *with, abut_err *err);

#endif
