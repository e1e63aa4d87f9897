#include "tools/step/stuck_file.h"

#include "formats/result/out_file.h"

abut_status abut_stuck_file_try(const char *path, abut_err *err)
{
    abut_out_file f;
    const abut_status rc = abut_out_open(&f, path, 0, err);
    if (rc) return abut_wrap(err, "--dump-stuck"), rc;
    abut_out_drop(&f);
    return ABUT_OK;
}

/* A step that started from a PENDING frame: the COMMITTED one before it comes first. */
static abut_status put_frames(abut_writer *w, const abut_last *start, const abut_arrays *stuck, abut_err *err)
{
    abut_frame_head head = start->head;
    abut_status rc = ABUT_OK;
    if (head.phase == ABUT_COMMITTED) rc = abut_writer_frame(w, &head, &start->set, err);
    else if (start->before.n) rc = abut_writer_frame(w, &start->before_head, &start->before, err);
    head.phase = ABUT_PENDING;
    return rc ? rc : abut_writer_frame(w, &head, stuck, err);
}

abut_status abut_stuck_file_write(const char *path, const abut_stream *s, const char *history, const abut_last *start,
                                  const abut_arrays *stuck, abut_err *err)
{
    abut_out_file f;
    abut_writer *w = NULL;
    int n;
    const abut_prov *prov = abut_reader_prov(s->reader, &n);
    abut_status rc = abut_out_open(&f, path, abut_stream_cli(s)->no_clobber, err);
    if (rc) return rc;
    f.synced = !abut_stream_cli(s)->no_sync;
    rc = abut_writer_open(f.f, s->io.compress, &w, err);
    for (int i = 0; i < n && !rc; i++) rc = abut_writer_prov(w, prov[i].tool, prov[i].version, prov[i].options, err);
    if (!rc) rc = abut_writer_prov(w, s->io.tool, s->io.version, history, err);
    if (!rc) rc = abut_writer_model(w, &s->model_set, err);
    if (!rc) rc = put_frames(w, start, stuck, err);
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    if (rc) abut_wrap(err, "%s", path);
    return abut_out_close(&f, err);
}
