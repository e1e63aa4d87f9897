#include "base/arena.h"
#include "formats/stream/pass.h"

#include <math.h>
#include <stdlib.h>

abut_status abut_stream_start(abut_stream *s, const abut_stream_io *io, const char *options, abut_err *err)
{
    *s = (abut_stream){ .io = *io };
    abut_status rc = abut_reader_open(io->in, io->in_name, &s->reader, err);
    if (rc || !io->out) return rc;
    if ((rc = abut_writer_open(io->out, io->compress, &s->writer, err))) return rc;
    int n;
    const abut_prov *prov = abut_reader_prov(s->reader, &n);
    for (int i = 0; i < n; i++)
        if ((rc = abut_writer_prov(s->writer, prov[i].tool, prov[i].version, prov[i].options, err))) return rc;
    return options ? abut_writer_prov(s->writer, io->tool, io->version, options, err) : ABUT_OK;
}

void abut_stream_ask(abut_stream *s, abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err),
                     void *ctx)
{
    s->asks.options = options;
    s->asks.ctx = ctx;
}

static abut_status ask_options(abut_stream *s, abut_err *err)
{
    const char *options = NULL;
    if (!s->asks.options) return ABUT_OK;
    const abut_status rc = s->asks.options(s->asks.ctx, &s->model, &options, err);
    if (rc || s->asks.sent || !s->writer) return rc;
    s->asks.sent = 1;
    return abut_writer_prov(s->writer, s->io.tool, s->io.version, options, err);
}

static abut_status accept_model(abut_stream *s, abut_arrays *fresh, abut_err *err)
{
    abut_arrays_clear(&s->model_set);
    abut_model_forget(&s->model);
    s->model_set = *fresh;
    *fresh = (abut_arrays){ 0 };
    s->has_before = 0;
    abut_arrays_clear(&s->frame_set);   /* frames of another model cannot be compared with the next ones */
    abut_arrays_clear(&s->before_set);
    s->frame = s->before = (abut_frame){ 0 };
    if (abut_model_view(&s->model_set, &s->model, err)) return abut_wrap(err, "%s", s->io.in_name);
    return ask_options(s, err);
}

static abut_status accept_frame(abut_stream *s, const abut_frame_head *head, abut_arrays *fresh, abut_err *err)
{
    abut_arrays_clear(&s->before_set);
    s->has_before = s->frame_set.n > 0;
    s->before_set = s->frame_set;
    s->before = s->frame;
    s->before_head = s->head;
    s->frame_set = *fresh;
    s->head = *head;
    *fresh = (abut_arrays){ 0 };
    s->nframes++;
    if (abut_frame_view(&s->frame_set, &s->model, &s->frame, err))
        return abut_wrap(err, "%s: step %lld", s->io.in_name, (long long)head->step);
    return ABUT_OK;
}

abut_status abut_stream_next(abut_stream *s, abut_err *err)
{
    abut_arrays fresh = { 0 };
    abut_frame_head head = { 0 };
    abut_status rc = abut_reader_next(s->reader, &s->item, &head, &fresh, err);
    if (rc && s->io.cut && abut_reader_cut(s->reader, NULL)) s->io.cut(s->io.who, err);
    if (rc) return rc;
    const char *note = abut_reader_note(s->reader);
    if (note && s->io.note) s->io.note(s->io.who, note);
    if (s->item == ABUT_ITEM_MODEL) rc = accept_model(s, &fresh, err);
    if (s->item == ABUT_ITEM_FRAME) rc = accept_frame(s, &head, &fresh, err);
    abut_arrays_clear(&fresh);
    return rc;
}

abut_status abut_stream_write(abut_stream *s, abut_err *err)
{
    if (!s->writer) return ABUT_OK;
    if (s->item == ABUT_ITEM_FRAME) return abut_stream_write_frame(s, &s->head, &s->frame_set, err);
    const abut_status rc = abut_writer_kept(s->writer, s->reader, err);
    return rc ? rc : abut_writer_model(s->writer, &s->model_set, err);
}

abut_status abut_stream_write_frame(abut_stream *s, const abut_frame_head *head, const abut_arrays *set, abut_err *err)
{
    if (!s->writer) return ABUT_OK;
    abut_status rc = abut_writer_kept(s->writer, s->reader, err);
    if (!rc) rc = abut_writer_frame(s->writer, head, set, err);
    if (!rc && s->io.frames) ++*s->io.frames;
    return rc;
}

abut_status abut_stream_close(abut_stream *s, abut_err *err)
{
    if (!s->writer) return ABUT_OK;
    const abut_status rc = abut_writer_kept(s->writer, s->reader, err);
    return rc ? rc : abut_writer_close(s->writer, err);
}

void abut_stream_clear(abut_stream *s)
{
    abut_reader_free(&s->reader);
    abut_writer_free(&s->writer);
    abut_arrays_clear(&s->model_set);
    abut_arrays_clear(&s->frame_set);
    abut_arrays_clear(&s->before_set);
    *s = (abut_stream){ 0 };
    abut_model_forget(&s->model);
}

/* ---- the last frame ---- */

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

/* ---- a whole run, from its end to its start ---- */

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
    if (!ABUT_GROW(b->frame, b->n + 1, b->cap)) return abut_fail(err, ABUT_E_NOMEM, "%s: %lld frames", name, (long long)b->n + 1);
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
