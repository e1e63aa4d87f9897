/* A number of friction passes on a command line, and in the history of a stream. */
#ifndef ABUT_TOOLS_CLI_LAGS_H
#define ABUT_TOOLS_CLI_LAGS_H

#include "base/err.h"

/** A number of friction passes as an option says it: -1 for NULL (the scene's), 0 for "converged", else the number.
 * Fails  ABUT_E_ARG naming the option */
ABUT_MUST_USE abut_status abut_lags_parse(const char *option, const char *text, int *lags, abut_err *err);
/** Writes lags for the provenance: 0 for the scene's, "converged" in quotes, or the number.  buf[16]; returns buf */
const char *abut_lags_json(int lags, char *buf);

#endif
