/* A whole run, read from its end to its start: every frame once forwards, which checks the stream, and then in any order.  A
 * stream that is no file (a pipe) is copied to an unnamed temporary one first. */
#ifndef ABUT_FORMATS_STREAM_BACKWARD_H
#define ABUT_FORMATS_STREAM_BACKWARD_H

#include "formats/stream/state_io.h"
#include "model/model.h"

typedef struct abut_backward {
    FILE *copy;             /* of a pipe; NULL: the stream is a file */
    abut_reader *reader;
    abut_arrays model_set;
    abut_model model;
    struct abut_backward_frame {
        abut_frame_head head;
        abut_stream_place at;
    } *frame;
    int64_t n, cap;
} abut_backward;

/** Reads the stream to its end.
 * Fails  ABUT_E_FORMAT it is no run of one MODEL whose COMMITTED frames are a step each after the one before: which frame is not;
 *        as abut_reader_next; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_backward_open(abut_backward *b, FILE *f, const char *name, abut_err *err);
/** Frame i of n into set (cleared first). */
ABUT_MUST_USE abut_status abut_backward_read(abut_backward *b, int64_t i, abut_arrays *set, abut_err *err);
void abut_backward_clear(abut_backward *b);

#endif
