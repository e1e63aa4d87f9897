/* The MODEL and one frame of a stream, for programs that measure; they end where something fails. */
#ifndef ABUT_BENCH_READ_FRAME_H
#define ABUT_BENCH_READ_FRAME_H

#include "formats/stream/state_io.h"
#include "solve/stepper.h"

#include <stdio.h>
#include <stdlib.h>

static inline void fail_on(abut_status rc, const abut_err *err)
{
    if (!rc) return;
    fprintf(stderr, "bench: %s\n", err->msg);
    exit(1);
}

enum { FIRST_FRAME = -2, LAST_FRAME = -1 };

/* The frame of that step, which is COMMITTED; or the first or the last one. */
static inline abut_status read_frame(const char *path, long step, abut_arrays *model, abut_arrays *frame, abut_instant *at,
                                     abut_err *err)
{
    abut_frame_head head = { 0 };
    abut_item item = ABUT_ITEM_END;
    abut_reader *r = NULL;
    FILE *f = fopen(path, "rb");
    if (!f) return abut_fail(err, ABUT_E_IO, "cannot read %s", path);
    abut_status rc = abut_reader_open(f, path, &r, err);
    if (!rc) rc = abut_reader_next(r, &item, &head, model, err);
    int found = 0;
    while (!rc && !(found && (step == FIRST_FRAME || at->step == step))) {
        abut_arrays next = { 0 };
        rc = abut_reader_next(r, &item, &head, &next, err);
        if (rc || item != ABUT_ITEM_FRAME) {
            abut_arrays_clear(&next);
            break;
        }
        abut_arrays_clear(frame);
        *frame = next;
        *at = (abut_instant){ head.step, head.time };
        found = 1;
    }
    if (!rc && (!found || head.phase != ABUT_COMMITTED || (step >= 0 && at->step != step)))
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: expected a MODEL and a COMMITTED frame%s", path,
                       step >= 0 ? " of that step" : "");
    abut_reader_free(&r);
    fclose(f);
    return rc;
}

#endif
