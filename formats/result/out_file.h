/* Result files appear whole or not at all: written as PATH.part, a new file, renamed when the last byte is on its way. */
#ifndef ABUT_FORMATS_RESULT_OUT_FILE_H
#define ABUT_FORMATS_RESULT_OUT_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zero-filled is closed. */
typedef struct abut_out_file {
    FILE *f;
    char *path, *part;  /* part NULL: path is a device or pipe and is written directly */
    int borrowed;       /* f is the caller's: flushed, never closed */
    int keep;           /* a file that has the name by then stays */
    int synced;         /* set by the caller: the name is given when the disk has the bytes, as for what cannot be made again */
} abut_out_file;

/** Makes the folder if it is missing; its parent must exist.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_out_folder(const char *dir, abut_err *err);

/** 1 if path is written directly: a device, a fifo, and everything under /dev and /proc, even if it leads to a file, as
 * /dev/stdout must not be replaced. */
int abut_out_direct(const char *path);
/** Opens and locks the file that a run which was not finished left under the name `part`; *fd is -1 if there is none.
 * Fails  ABUT_E_IO: it is a link, a folder or a fifo, which are not opened; another process is writing it */
ABUT_MUST_USE abut_status abut_out_left(const char *part, int *fd, abut_err *err);
/** Makes a new file of that name for this process alone, locked; what such a run left is removed.  Fails as abut_out_left */
ABUT_MUST_USE abut_status abut_out_new(const char *part, int *fd, abut_err *err);
/** Gives the file `part` its name; keep: unless something has it.  Returns 0, or why not, an errno: EEXIST then. */
int abut_out_rename(const char *part, const char *path, int keep);
/** Says what became of a rename that failed for `why`.  Returns ABUT_E_IO. */
abut_status abut_out_not_renamed(const char *part, const char *path, int why, abut_err *err);
/** Opens path for writing; keep: a file that has this name when this one is closed stays, and PATH.part too.
 * Fails  ABUT_E_IO naming the path and the reason; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_out_open(abut_out_file *o, const char *path, int keep, abut_err *err);
/** Opens dir/stem_0012.suffix by abut_out_open. */
ABUT_MUST_USE abut_status abut_out_open_numbered(abut_out_file *o, const char *dir, const char *stem, int number,
                                                 const char *suffix, int keep, abut_err *err);
/** Lends an open file; close flushes it and leaves it open. */
void abut_out_lend(abut_out_file *o, FILE *f);
/** Ends the file: after ABUT_OK it has its name.  When err already holds an error the part is removed and
 * that error stays.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_out_close(abut_out_file *o, abut_err *err);
/** Waits until the disk has what was flushed to f; path is for messages.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_out_sync(FILE *f, const char *path, abut_err *err);
/** Waits until the disk has the name of a file, that is the folder in which it is.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_out_sync_folder(const char *path, abut_err *err);
/** Removes what was written so far. */
void abut_out_drop(abut_out_file *o);

/* Pieces of the texts of results: strings and numbers of JSON, cells of CSV (RFC 4180), bytes as base64 (RFC 4648); and a FILE
 * that writes into memory. */

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

/* Records of equal length put aside in an unnamed temporary file and read back in any order: what a writer must know
 * of all frames before it can begin (the size of the scene, the length of a file). */

/* Zero-filled is closed. */
typedef struct abut_spool {
    FILE *f;
    size_t width;       /* floats in a record */
    size_t n;           /* records */
} abut_spool;

/** Fails  ABUT_E_IO no temporary file can be made */
ABUT_MUST_USE abut_status abut_spool_open(abut_spool *s, size_t width, abut_err *err);
ABUT_MUST_USE abut_status abut_spool_add(abut_spool *s, const float *record, abut_err *err);
/** Reads record i < n. */
ABUT_MUST_USE abut_status abut_spool_get(abut_spool *s, size_t i, float *record, abut_err *err);
void abut_spool_clear(abut_spool *s);

#endif
