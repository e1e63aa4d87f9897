/* A program that reads a state stream and passes it on, as a loop:
 *
 *     abut_stream s = { 0 };
 *     if (!abut_stream_open(&s, &cli, "{}", &err))
 *         while (!abut_stream_next(&s, &err) && s.item != ABUT_ITEM_END) {
 *             if (s.item == ABUT_ITEM_MODEL) { ... s.model ... } else { ... s.frame, s.head ... }
 *             if (abut_stream_write(&s, &err)) break;
 *         }
 *     if (!err.code && !abut_stream_close(&s, &err)) ...
 *     abut_stream_clear(&s);
 *     return abut_cli_end(&cli, answer_is_no, &err);
 *
 * A program may add arrays to s.model_set and s.frame_set before it writes them; what it does not touch passes
 * through, arrays that it does not know included. */
#ifndef ABUT_TOOLS_CLI_STREAM_H
#define ABUT_TOOLS_CLI_STREAM_H

#include "formats/stream/state_io.h"
#include "model/model.h"
#include "tools/cli/cli.h"

/* Zero-filled is a valid empty value.  Views point into the sets: after a change of a set they may dangle. */
typedef struct abut_stream {
    abut_cli *cli;
    abut_reader *reader;
    abut_writer *writer;        /* NULL when cli->out is NULL: writes do nothing */
    abut_item item;             /* what abut_stream_next read */
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
    struct abut_stream_asks {   /* of a program whose options depend on the MODEL */
        abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err);
        void *ctx;
        int told;
    } asks;
} abut_stream;

/** Opens cli->in and, if there is one, cli->out; copies the history and adds this program to it.
 * options  JSON object with the options that shape the result; NULL for a program that changes nothing: no record */
ABUT_MUST_USE abut_status abut_stream_open(abut_stream *s, abut_cli *cli, const char *options, abut_err *err);

/** The same where the options depend on the MODEL: `options` is asked for each, and what it says of the first is the record.
 * Its failures are those of abut_stream_next. */
ABUT_MUST_USE abut_status abut_stream_open_asking(abut_stream *s, abut_cli *cli,
                                                  abut_status (*options)(void *ctx, const abut_model *m, const char **options,
                                                                         abut_err *err), void *ctx, abut_err *err);

/** Reads the next item, checks it and fills model or frame (and before).  Says what the reader left out. */
ABUT_MUST_USE abut_status abut_stream_next(abut_stream *s, abut_err *err);

/** Writes model_set or frame_set, whichever was read last, in the state it is in. */
ABUT_MUST_USE abut_status abut_stream_write(abut_stream *s, abut_err *err);

/** Writes one more frame. */
ABUT_MUST_USE abut_status abut_stream_write_frame(abut_stream *s, const abut_frame_head *head, const abut_arrays *set,
                                                  abut_err *err);

/** Writes the end mark; after ABUT_ITEM_END and all writes succeeded. */
ABUT_MUST_USE abut_status abut_stream_close(abut_stream *s, abut_err *err);

/** Frees everything; cli keeps its files.  NULL reader and writer are fine. */
void abut_stream_clear(abut_stream *s);

#endif
