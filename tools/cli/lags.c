#include "tools/cli/lags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_lags_parse(const char *option, const char *text, int *lags, abut_err *err)
{
    char *end = NULL;
    *lags = text ? 0 : -1;
    if (!text || !strcmp(text, "converged")) return ABUT_OK;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 1 || n > 1000000)
        return abut_fail(err, ABUT_E_ARG, "%s %s: want a number of passes, 1 or more, or 'converged'", option, text);
    *lags = (int)n;
    return ABUT_OK;
}

const char *abut_lags_json(int lags, char *buf)
{
    snprintf(buf, 16, lags ? "%d" : "\"converged\"", lags < 0 ? 0 : lags);
    return buf;
}
