/* Going on from where a stream ends: the stream passes through and its last frame stays. */
#ifndef ABUT_FORMATS_STREAM_LAST_H
#define ABUT_FORMATS_STREAM_LAST_H

#include "formats/stream/pass.h"

/* The state to go on from; owns its sets. */
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

#endif
