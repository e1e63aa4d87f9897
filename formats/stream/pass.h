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
 * included.  tools/cli/stream.h opens one for a program. */
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

#endif
