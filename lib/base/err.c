#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

abut_status abut_fail(abut_err *err, abut_status code, const char *fmt, ...)
{
    if (!err) return code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    err->code = code;
    return code;
}

abut_status abut_wrap(abut_err *err, const char *fmt, ...)
{
    if (!err) return ABUT_OK;
    char head[sizeof err->msg], tail[sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(head, sizeof head, fmt, ap);
    va_end(ap);
    memcpy(tail, err->msg, sizeof tail);
    const size_t used = (size_t)snprintf(err->msg, sizeof err->msg, "%s: ", head);
    if (used < sizeof err->msg) {
        strncpy(err->msg + used, tail, sizeof err->msg - used - 1);
        err->msg[sizeof err->msg - 1] = 0;
    }
    return err->code;
}

abut_status abut_no_memory(const char *what, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "%s: out of memory", what);
}

abut_status abut_open_status(int number)
{
    return number == ENOMEM || number == EMFILE || number == ENFILE || number == EIO ? ABUT_E_IO : ABUT_E_FORMAT;
}
