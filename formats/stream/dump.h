/* A state stream as text: exact, in stream order, one row of an array per line, so that diff shows what changed.
 *
 *     abut-state
 *     prov mesh-prep 0.1.0 {"scene": "two"}
 *     model
 *     array node/X f64 [2, 3] m
 *      0 1 0
 *      1 1 0
 *     array object/name text [11]
 *      "ball\n"
 *      "floor\n"
 *     frame step 5 time 0.05 committed
 *     ...
 *     end */
#ifndef ABUT_FORMATS_STREAM_DUMP_H
#define ABUT_FORMATS_STREAM_DUMP_H

#include "formats/stream/state_io.h"

typedef struct abut_dump_opts {
    const char *const *arrays;  /* show only arrays whose name matches one of these shell patterns; '*' matches '/' too */
    int narrays;                /* 0: show all */
    int no_data;                /* only the line that describes an array */
} abut_dump_opts;

/** Writes all remaining items of r to out; the caller that closes out checks its errors.
 * opts  NULL: everything
 * Fails as abut_reader_next; ABUT_E_ARG no array of the stream has a name like a pattern, after the text without its end */
ABUT_MUST_USE abut_status abut_dump(abut_reader *r, FILE *out, const abut_dump_opts *opts, abut_err *err);

enum { ABUT_NUMBER_MAX = 32 };
/** The shortest of %.15g, %.16g, %.17g that strtod reads back as the same bits; NaN as nan(0x...), all 64 bits.
 * buf[ABUT_NUMBER_MAX] out; returns buf */
char *abut_print_f64(char *buf, double v);
/** Writes a text of a stream within a line: control characters as \x1b, so that none forges a line or drives a terminal. */
void abut_print_line(FILE *out, const char *text);

#endif
