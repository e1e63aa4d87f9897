/* Which frames of a stream are wanted, by their place in it: --frames.
 *
 *     7          one frame; the first is 0, -1 is the last
 *     A:B:C      from A up to but without B, every C-th, each may be left out: as in Python, C > 0
 *     0,10,40:   several of these; frames come in stream order, each once
 *
 * A stream's length is known only at its end, so frames named from the end are decided late: a reader holds back the
 * last `hold` frames, and asks about the frame that leaves with the number of frames seen until then. */
#ifndef ABUT_FORMATS_STREAM_FRAME_PICK_H
#define ABUT_FORMATS_STREAM_FRAME_PICK_H

#include "base/err.h"

#include <stdint.h>

enum { ABUT_PICK_MAX = 64 };

typedef struct abut_pick {
    int n;                      /* 0: every frame */
    int32_t hold;               /* frames to hold back */
    struct abut_pick_range {
        int single;             /* just `from` */
        int open;               /* no `to` */
        int32_t from, to, by;
    } range[ABUT_PICK_MAX];
} abut_pick;

/** Fails  ABUT_E_ARG naming the part that is no frame, range or positive stride */
ABUT_MUST_USE abut_status abut_pick_parse(const char *text, abut_pick *p, abut_err *err);

/** True when frame i is wanted, `total` frames having been seen: all of them, or at least i + hold + 1. */
int abut_pick_takes(const abut_pick *p, int32_t i, int32_t total);

/** Checks, at the end of the stream, that every frame named alone exists and that a frame was chosen.
 * Fails  ABUT_E_ARG; ABUT_E_FORMAT there are no frames at all */
ABUT_MUST_USE abut_status abut_pick_check(const abut_pick *p, int32_t total, abut_err *err);

#endif
