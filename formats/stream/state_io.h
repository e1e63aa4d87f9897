/* The state stream: reading and writing without seeking.  formats/STATE.md is the specification.
 *
 * Writing:  open; prov (as many as there are); model; frame ...; close.  Without close there is no end mark and
 *           every reader refuses the stream.
 * Reading:  open; next -> ABUT_ITEM_MODEL, ABUT_ITEM_FRAME ..., ABUT_ITEM_END.
 * tools/cli/cli.h does both for a program that passes a stream on. */
#ifndef ABUT_FORMATS_STREAM_STATE_IO_H
#define ABUT_FORMATS_STREAM_STATE_IO_H

#include "base/array.h"

#include <stdio.h>

ABUT_PUBLIC_BEGIN

enum { ABUT_STATE_MAJOR = 1, ABUT_STATE_MINOR = 2 };
#define ABUT_STEP_MOST ((int64_t)1 << 53)   /* largest step number: a double holds every one up to there */

typedef enum abut_phase { ABUT_COMMITTED = 0, ABUT_PENDING = 1 } abut_phase;

/* One FRAME: its place in time and its arrays. */
typedef struct abut_frame_head {
    int64_t step;       /* time steps since the start of the simulation */
    double time;        /* s */
    abut_phase phase;   /* PENDING: x is a candidate of a step still being solved */
} abut_frame_head;

/* One stage in the history of a stream.  Text only: "step", "0.1.0", {"solver": "newton", ...} */
typedef struct abut_prov {
    char tool[32], version[32];
    char *options;      /* JSON object with the options that shape the result; malloc'ed */
} abut_prov;

typedef enum abut_item { ABUT_ITEM_MODEL, ABUT_ITEM_FRAME, ABUT_ITEM_END } abut_item;

typedef struct abut_reader abut_reader;
typedef struct abut_writer abut_writer;

/** Starts reading: head and provenance.  name is used in messages ("standard input", a path).
 * Fails  ABUT_E_FORMAT not a state stream, a newer major version, damaged; ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_reader_open(FILE *f, const char *name, abut_reader **r, abut_err *err);
/** History of the stream so far, n records, borrowed; complete after open. */
const abut_prov *abut_reader_prov(const abut_reader *r, int *n);
/** Reads the next MODEL or FRAME into set (cleared first; filled only when all of it arrived undamaged).
 * head is filled for a FRAME.  ABUT_ITEM_END comes only after a valid end mark.
 * Fails  ABUT_E_FORMAT with the byte offset and what was expected */
ABUT_MUST_USE abut_status abut_reader_next(abut_reader *r, abut_item *item, abut_frame_head *head, abut_arrays *set,
                                           abut_err *err);
/** Returns a note on what the reader left out since the last call (optional sections of newer versions), or NULL; borrowed. */
const char *abut_reader_note(abut_reader *r);

/* Why a stream could not be read to its end mark; the items before are complete. */
typedef enum abut_cut {
    ABUT_CUT_NOT = 0,   /* it was read, or failed for another reason: no memory, an unknown section */
    ABUT_CUT_ENDS,      /* it ends before its end mark */
    ABUT_CUT_DAMAGED    /* its bytes are not those that were written */
} abut_cut;

/** Returns why abut_reader_next failed.  at: bytes read until then; NULL to skip. */
abut_cut abut_reader_cut(const abut_reader *r, uint64_t *at);
/* A place between two items, to go back to. */
typedef struct abut_stream_place {
    uint64_t at;        /* bytes before it */
    uint32_t crc;       /* of them */
} abut_stream_place;
/** Returns the place before the next item, after abut_reader_next, which does not read ahead. */
abut_stream_place abut_reader_place(const abut_reader *r);
/** Goes to a place of this reader: the next item is read there; also possible after the end mark.
 * Fails  ABUT_E_IO the file cannot be positioned */
ABUT_MUST_USE abut_status abut_reader_go(abut_reader *r, abut_stream_place to, abut_err *err);
void abut_reader_free(abut_reader **r);

/** Starts writing: the head.  level 0..9 is zlib's, 0 = store; an array is compressed only if that makes it smaller. */
ABUT_MUST_USE abut_status abut_writer_open(FILE *f, int level, abut_writer **w, abut_err *err);
/** Adds a provenance record; before the first model.  A record equal to the last one written adds nothing, so
 * `step | step` writes what one `step` would. */
ABUT_MUST_USE abut_status abut_writer_prov(abut_writer *w, const char *tool, const char *version, const char *options,
                                           abut_err *err);
ABUT_MUST_USE abut_status abut_writer_model(abut_writer *w, const abut_arrays *set, abut_err *err);
/** Writes a frame and flushes, so that a reader at the other end of a pipe can start on it. */
ABUT_MUST_USE abut_status abut_writer_frame(abut_writer *w, const abut_frame_head *head, const abut_arrays *set, abut_err *err);
/** Copies the sections of unknown kind with the flag to be kept that r has read since the last call.  A program that passes
 * a stream on calls it before it writes each item of abut_reader_next, and before close. */
ABUT_MUST_USE abut_status abut_writer_kept(abut_writer *w, abut_reader *r, abut_err *err);
/** Writes the end mark and flushes.  The FILE stays open.  Fails ABUT_E_ARG after a failed write or without a model. */
ABUT_MUST_USE abut_status abut_writer_close(abut_writer *w, abut_err *err);
void abut_writer_free(abut_writer **w);

ABUT_PUBLIC_END

#endif
