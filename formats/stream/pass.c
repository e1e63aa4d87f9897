#include "formats/stream/pass.h"

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
