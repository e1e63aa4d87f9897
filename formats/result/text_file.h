/* A FILE that writes into memory, for texts that must be complete before use.  It reports a failure to grow; open_memstream of
 * glibc loses such a write without an error. */
#ifndef ABUT_FORMATS_RESULT_TEXT_FILE_H
#define ABUT_FORMATS_RESULT_TEXT_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* Zero-filled is closed and empty. */
typedef struct abut_text_file {
    FILE *f;            /* to write to, until the end */
    char *text;         /* after the end: the text, 0-terminated */
    size_t size, room;
} abut_text_file;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_text_file_open(abut_text_file *t, abut_err *err);
/** Closes f.  Fails  ABUT_E_NOMEM any byte was lost; text is NULL then. what: for the message */
ABUT_MUST_USE abut_status abut_text_file_end(abut_text_file *t, const char *what, abut_err *err);
void abut_text_file_clear(abut_text_file *t);

#endif
