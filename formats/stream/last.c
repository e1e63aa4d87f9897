#include "formats/stream/last.h"

static abut_status keep_frame(abut_last *last, abut_stream *s, abut_err *err)
{
    abut_arrays_clear(&last->before);
    if (s->head.phase == ABUT_PENDING && last->head.phase == ABUT_COMMITTED) {
        last->before = last->set;
        last->before_head = last->head;
    } else {
        abut_arrays_clear(&last->set);
    }
    last->head = s->head;
    const abut_status rc = s->head.phase == ABUT_COMMITTED ? abut_stream_write(s, err) : ABUT_OK;
    last->set = s->frame_set;
    s->frame_set = (abut_arrays){ 0 };
    return rc;
}

void abut_last_clear(abut_last *last)
{
    abut_arrays_clear(&last->set);
    abut_arrays_clear(&last->before);
    *last = (abut_last){ 0 };
}

abut_status abut_last_read(abut_last *last, abut_stream *s, int64_t from, abut_err *err)
{
    abut_status rc;
    int models = 0, is_past = 0;    /* a frame of a later step than `from` has come */
    while (!(rc = abut_stream_next(s, err)) && s->item != ABUT_ITEM_END) {
        is_past |= s->item == ABUT_ITEM_FRAME && from >= 0 && s->head.step > from;
        if (s->item == ABUT_ITEM_MODEL) {
            if (is_past && last->set.n)
                return abut_fail(err, ABUT_E_ARG, "%s: another MODEL comes after the frame of step %lld: only frames of the last "
                                 "MODEL can be gone on from", s->io.in_name, (long long)from);
            models++;
            abut_last_clear(last);
            rc = abut_stream_write(s, err);
        } else if (from < 0 || s->head.step <= from) {
            rc = keep_frame(last, s, err);
        }
        if (rc) break;
    }
    if (rc) return rc;
    if (!models) return abut_fail(err, ABUT_E_FORMAT, "%s: the stream holds no MODEL", s->io.in_name);
    if (!last->set.n) return abut_fail(err, ABUT_E_FORMAT, "%s: the stream holds no FRAME to go on from", s->io.in_name);
    if (from >= 0 && last->head.step != from)
        return abut_fail(err, ABUT_E_ARG, "%s has no frame of step %lld; the last one before it is %lld", s->io.in_name,
                         (long long)from, (long long)last->head.step);
    return ABUT_OK;
}
