/* A stream that is read and passed on, as a loop:
 *
 *     abut_stream s = { 0 };
 *     if (!abut_stream_start(&s, &io, "{}", &err))
 *         while (!abut_stream_next(&s, &err) && s.item != ABUT_ITEM_END) {
 *             if (s.item == ABUT_ITEM_MODEL) { ... s.model ... } else { ... s.frame, s.head ... }
 *             if (abut_stream_write(&s, &err)) break;
 *         }
 *     if (!err.code && !abut_stream_close(&s, &err)) ...
 *     abut_stream_clear(&s);
 *
 * Arrays may be added to s.model_set and s.frame_set before they are written; all others pass through unchanged, unknown ones
 * included.  tools/cli/cli.h opens one for a program. */
#ifndef ABUT_FORMATS_STREAM_PASS_H
#define ABUT_FORMATS_STREAM_PASS_H

#include "formats/stream/state_io.h"
#include "model/model.h"

#include <signal.h>

/* Source and destination of a stream, and the program that passes it on.  Everything is borrowed. */
typedef struct abut_stream_io {
    FILE *in, *out;             /* out NULL: writes do nothing */
    const char *in_name;        /* in messages */
    const char *tool, *version; /* in the history */
    int compress;               /* level for abut_writer_open */
    volatile sig_atomic_t *frames;  /* counts the whole frames written; NULL: not counted */
    void (*note)(void *who, const char *text);  /* receives what the reader leaves out; NULL: none */
    void (*cut)(void *who, abut_err *err);      /* adds to the message of a stream that has no end mark; NULL: none */
    void *who;
} abut_stream_io;

/* Zero-filled is a valid empty value.  Views point into the sets: after a change of a set they may dangle. */
typedef struct abut_stream {
    abut_stream_io io;
    abut_reader *reader;
    abut_writer *writer;        /* NULL when io.out is NULL */
    abut_item item;             /* kind of the item that abut_stream_next read */
    abut_arrays model_set;
    abut_model model;
    abut_arrays frame_set;      /* of the last FRAME read */
    abut_frame frame;
    abut_frame_head head;
    int has_before;             /* a frame of the same MODEL came before this one: */
    abut_arrays before_set;     /* ... it, as it was when abut_stream_next replaced it */
    abut_frame before;
    abut_frame_head before_head;
    int64_t nframes;            /* read so far */
    struct abut_stream_asks {   /* where the options depend on the MODEL */
        abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err);
        void *ctx;
        int sent;
    } asks;
} abut_stream;

/** Reads the head of io->in and, if there is an output, writes one; copies the history and adds a record to it.
 * options  JSON object with the options that shape the result; NULL: nothing is changed, and no record added */
ABUT_MUST_USE abut_status abut_stream_start(abut_stream *s, const abut_stream_io *io, const char *options, abut_err *err);

/** Sets a function that returns the options for each MODEL; those for the first are the record.  To be called after
 * abut_stream_start without options.  abut_stream_next fails as `options` fails. */
void abut_stream_ask(abut_stream *s, abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err),
                     void *ctx);

/** Reads the next item, checks it and fills model or frame (and before). */
ABUT_MUST_USE abut_status abut_stream_next(abut_stream *s, abut_err *err);

/** Writes model_set or frame_set, whichever was read last, in the state it is in. */
ABUT_MUST_USE abut_status abut_stream_write(abut_stream *s, abut_err *err);

/** Writes one more frame. */
ABUT_MUST_USE abut_status abut_stream_write_frame(abut_stream *s, const abut_frame_head *head, const abut_arrays *set,
                                                  abut_err *err);

/** Writes the end mark; after ABUT_ITEM_END and all writes succeeded. */
ABUT_MUST_USE abut_status abut_stream_close(abut_stream *s, abut_err *err);

/** Frees everything; the files stay open. */
void abut_stream_clear(abut_stream *s);

/* Going on from where a stream ends: the stream passes through and its last frame, the state to go on from, stays.  Owns its
 * sets. */
typedef struct abut_last {
    abut_arrays set;
    abut_frame_head head;
    abut_arrays before;         /* if the last frame is PENDING: the COMMITTED frame before it, if any */
    abut_frame_head before_head;
} abut_last;

/** Reads s to its end and writes everything on, except a PENDING frame, which the caller will replace.  Keeps the last frame
 * of the last MODEL.  from >= 0: frames of a later step are dropped.
 * Fails  ABUT_E_FORMAT no MODEL, or no FRAME;  ABUT_E_ARG no frame of step `from` */
ABUT_MUST_USE abut_status abut_last_read(abut_last *last, abut_stream *s, int64_t from, abut_err *err);

void abut_last_clear(abut_last *last);

/* A whole run, read from its end to its start: every frame once forwards, which checks the stream, and then in any order.  A
 * stream that is no file (a pipe) is copied to an unnamed temporary one first. */
typedef struct abut_backward {
    FILE *copy;             /* of a pipe; NULL: the stream is a file */
    abut_reader *reader;
    abut_arrays model_set;
    abut_model model;
    struct abut_backward_frame {
        abut_frame_head head;
        abut_stream_place at;
    } *frame;
    int64_t n;
    size_t cap;
} abut_backward;

/** Reads the stream to its end.
 * Fails  ABUT_E_FORMAT it is no run of one MODEL whose COMMITTED frames are a step each after the one before: which frame is not;
 *        as abut_reader_next; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_backward_open(abut_backward *b, FILE *f, const char *name, abut_err *err);
/** Frame i of n into set (cleared first). */
ABUT_MUST_USE abut_status abut_backward_read(abut_backward *b, int64_t i, abut_arrays *set, abut_err *err);
void abut_backward_clear(abut_backward *b);

#endif
