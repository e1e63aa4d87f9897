/* The model and the frames of a state stream, for the programs here. */
#ifndef ABUT_TESTS_GPU_STREAM_LAST_H
#define ABUT_TESTS_GPU_STREAM_LAST_H

#include "formats/stream/state_io.h"
#include "model/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A reader with the model and the frame read last. */
typedef struct stream_last {
    FILE *file;
    abut_reader *reader;
    abut_arrays model_set, frame;
    abut_model model;
    abut_frame_head head;
    abut_item item;
} stream_last;

static inline abut_status stream_last_open(stream_last *s, const char *path, abut_err *err)
{
    s->file = fopen(path, "rb");
    if (!s->file) return abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(errno));
    return abut_reader_open(s->file, path, &s->reader, err);
}

/** The next item; a frame replaces the one before. */
static inline abut_status stream_last_next(stream_last *s, abut_err *err)
{
    abut_arrays set = { 0 };
    abut_status rc = abut_reader_next(s->reader, &s->item, &s->head, &set, err);
    if (rc || s->item == ABUT_ITEM_END) return rc;
    abut_arrays *to = s->item == ABUT_ITEM_MODEL ? &s->model_set : &s->frame;
    abut_arrays_clear(to);
    *to = set;
    return s->item == ABUT_ITEM_MODEL ? abut_model_view(&s->model_set, &s->model, err) : ABUT_OK;
}

/** To the end. */
static inline abut_status stream_last_read(stream_last *s, const char *path, abut_err *err)
{
    abut_status rc = stream_last_open(s, path, err);
    while (!rc) {
        rc = stream_last_next(s, err);
        if (s->item == ABUT_ITEM_END) break;
    }
    return rc;
}

static inline void stream_last_clear(stream_last *s)
{
    abut_reader_free(&s->reader);
    if (s->file) fclose(s->file);
    abut_arrays_clear(&s->model_set);
    abut_arrays_clear(&s->frame);
}

#endif
