/* Reading text and binary files that may be hostile: a bounded cursor that knows its line, and words, numbers and raw
 * values taken from it with every check made. */
#ifndef ABUT_FORMATS_MESH_SCAN_H
#define ABUT_FORMATS_MESH_SCAN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* A whole file in memory.  data[size] is an additional NUL, so that strtod ends. */
typedef struct abut_bytes {
    char *data;
    size_t size;
    char name[256];     /* for messages: the path as given, shortened from the left when it is long */
} abut_bytes;

/** Reads a file; path "-" is standard input.
 * Fails  ABUT_E_FORMAT the file is not there, is a folder, or is larger than 4 GiB (1 GiB where its size cannot be known before:
 *        a pipe, a device); ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bytes_load(const char *path, abut_bytes *out, abut_err *err);
void abut_bytes_clear(abut_bytes *b);

typedef struct abut_scan {
    const char *name, *start, *p, *end;
    long line;          /* of p, from 1 */
} abut_scan;

typedef struct abut_word {
    const char *s;      /* not NUL-terminated; n = 0: none left */
    size_t n;
} abut_word;

void abut_scan_init(abut_scan *s, const abut_bytes *in);
/** Fails with ABUT_E_FORMAT and "name:line: " before the message. */
abut_status abut_scan_fail(const abut_scan *s, abut_err *err, const char *fmt, ...) ABUT_PRINTF(3, 4);

/** Moves to the start of the next line; 0 at the end of the file. */
int abut_scan_next_line(abut_scan *s);
/** The next word on this line; n = 0 when the line has no more. */
abut_word abut_scan_word(abut_scan *s);
/** The next word, on this line or a later one; n = 0 at the end of the file. */
abut_word abut_scan_token(abut_scan *s);
/** The rest of the line without the spaces around it. */
abut_word abut_scan_rest(abut_scan *s);
int abut_word_is(abut_word w, const char *text);
/** Fails with "WHAT'WORD': expected EXPECTED"; what: "" or words that end in a space.  Returns  ABUT_E_FORMAT */
abut_status abut_scan_expected(const abut_scan *s, const char *what, abut_word w, const char *expected, abut_err *err);

/** Converts a word to a finite number, or to an integer in [lo, hi].  `what` names it in messages.
 * Fails  ABUT_E_FORMAT with line, the word found and what was expected */
ABUT_MUST_USE abut_status abut_scan_real(const abut_scan *s, abut_word w, const char *what, double *out, abut_err *err);
ABUT_MUST_USE abut_status abut_scan_int(const abut_scan *s, abut_word w, const char *what, int64_t lo, int64_t hi,
                                        int64_t *out, abut_err *err);

/** Fails unless n items of `each` bytes can still be in the file: before memory is asked for, or a loop begun. */
ABUT_MUST_USE abut_status abut_scan_left(const abut_scan *s, int64_t n, size_t each, const char *what, abut_err *err);

/** Copies n bytes of binary data to out, byte order reversed per `unit` bytes when swap is set.
 * Fails  ABUT_E_FORMAT at the end of the file, with the byte offset */
ABUT_MUST_USE abut_status abut_scan_raw(abut_scan *s, void *out, size_t n, size_t unit, int swap, const char *what,
                                        abut_err *err);

/* Types of numbers in binary files. */
typedef enum abut_number {
    ABUT_INT8, ABUT_UINT8, ABUT_INT16, ABUT_UINT16, ABUT_INT32, ABUT_UINT32, ABUT_INT64, ABUT_UINT64, ABUT_FLOAT32, ABUT_FLOAT64,
    ABUT_NO_NUMBER
} abut_number;
size_t abut_number_size(abut_number type);
/** One number of that type, as abut_scan_raw. */
ABUT_MUST_USE abut_status abut_scan_number(abut_scan *s, abut_number type, int swap, const char *what, double *out,
                                           abut_err *err);

#endif
