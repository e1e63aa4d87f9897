/* Pieces of the texts of results: strings and numbers of JSON, cells of CSV (RFC 4180), bytes as base64 (RFC 4648); and a FILE
 * that writes into memory. */
#ifndef ABUT_FORMATS_RESULT_TEXT_H
#define ABUT_FORMATS_RESULT_TEXT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Writes text as a JSON string with its quotes; bytes below 0x20, '"' and '\' are escaped. */
void abut_json_string(FILE *f, const char *text);
/** Writes v with as few digits as read back to the same double; null when it is not finite, as JSON has no name for that. */
void abut_json_number(FILE *f, double v);

/** Writes a text as a cell of CSV, in quotes when it holds a comma, a quote or a line end. */
void abut_csv_text(FILE *f, const char *s);
/** Writes a number as a cell that reads back to the same double; nothing for NaN: not known. */
void abut_csv_number(FILE *f, double v);

/** Writes bytes as base64; write errors stay with f. */
void abut_base64(FILE *f, const uint8_t *p, size_t n);

/* A FILE that writes into memory, for texts that must be complete before use.  It reports a failure to grow; open_memstream of
 * glibc loses such a write without an error.  Zero-filled is closed and empty. */
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
