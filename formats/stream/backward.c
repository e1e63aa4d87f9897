#include "formats/stream/backward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status copy_pipe(abut_backward *b, FILE *f, const char *name, abut_err *err)
{
    char piece[1 << 16];
    size_t got;
    b->copy = tmpfile();
    if (!b->copy) return abut_fail(err, ABUT_E_IO, "%s: no temporary file for its copy", name);
    while ((got = fread(piece, 1, sizeof piece, f)) > 0)
        if (fwrite(piece, 1, got, b->copy) < got) return abut_fail(err, ABUT_E_IO, "%s: the temporary file of its copy is full",
                                                                   name);
    if (ferror(f)) return abut_fail(err, ABUT_E_IO, "%s: it cannot be read", name);
    rewind(b->copy);
    return ABUT_OK;
}

static abut_status take_model(abut_backward *b, abut_arrays *set, const char *name, abut_err *err)
{
    if (b->n)
        return abut_fail(err, ABUT_E_FORMAT, "%s: the MODEL changes after frame %lld: such a run is not differentiated", name,
                         (long long)b->frame[b->n - 1].head.step);
    abut_arrays_clear(&b->model_set);       /* of no frame */
    abut_model_forget(&b->model);
    b->model_set = *set;
    *set = (abut_arrays){ 0 };
    return abut_model_view(&b->model_set, &b->model, err);
}

static abut_status take_frame(abut_backward *b, const abut_frame_head *head, abut_stream_place at, const char *name,
                              abut_err *err)
{
    const abut_frame_head *last = b->n ? &b->frame[b->n - 1].head : NULL;
    if (head->phase != ABUT_COMMITTED)
        return abut_fail(err, ABUT_E_FORMAT, "%s: frame %lld is PENDING, expected steps that are done", name,
                         (long long)head->step);
    if (last && head->step != last->step + 1)
        return abut_fail(err, ABUT_E_FORMAT, "%s: after frame %lld comes frame %lld: the steps between are missing, "
                         "expected every one (step without --every)", name, (long long)last->step, (long long)head->step);
    if (last && fabs(head->time - last->time - b->model.h[0]) > 1e-6 * b->model.h[0])
        return abut_fail(err, ABUT_E_FORMAT, "%s: frame %lld is %.9g s after the one before, expected the time step %.9g s", name,
                         (long long)head->step, head->time - last->time, b->model.h[0]);
    if (b->n == b->cap) {
        const int64_t cap = 2 * b->cap + 64;
        struct abut_backward_frame *grown = realloc(b->frame, (size_t)cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "%s: %lld frames", name, (long long)cap);
        b->frame = grown, b->cap = cap;
    }
    b->frame[b->n].head = *head;
    b->frame[b->n++].at = at;
    return ABUT_OK;
}

abut_status abut_backward_open(abut_backward *b, FILE *f, const char *name, abut_err *err)
{
    abut_arrays set = { 0 };
    abut_frame_head head;
    abut_item item = ABUT_ITEM_MODEL;
    *b = (abut_backward){ 0 };
    abut_status rc = fseeko(f, 0, SEEK_CUR) ? copy_pipe(b, f, name, err) : ABUT_OK;
    if (!rc) rc = abut_reader_open(b->copy ? b->copy : f, name, &b->reader, err);
    while (!rc) {
        const abut_stream_place at = abut_reader_place(b->reader);
        rc = abut_reader_next(b->reader, &item, &head, &set, err);
        if (rc || item == ABUT_ITEM_END) break;
        if (item == ABUT_ITEM_MODEL) rc = take_model(b, &set, name, err);
        else rc = take_frame(b, &head, at, name, err);
    }
    abut_arrays_clear(&set);
    if (!rc && !b->n) rc = abut_fail(err, ABUT_E_FORMAT, "%s: it has no frame", name);
    return rc;
}

abut_status abut_backward_read(abut_backward *b, int64_t i, abut_arrays *set, abut_err *err)
{
    abut_item item;
    abut_frame_head head;
    const abut_status rc = abut_reader_go(b->reader, b->frame[i].at, err);
    return rc ? rc : abut_reader_next(b->reader, &item, &head, set, err);
}

void abut_backward_clear(abut_backward *b)
{
    abut_reader_free(&b->reader);
    if (b->copy) fclose(b->copy);
    abut_arrays_clear(&b->model_set);
    abut_model_forget(&b->model);
    free(b->frame);
    *b = (abut_backward){ 0 };
}
