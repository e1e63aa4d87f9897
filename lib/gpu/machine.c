#include "base/arena.h"
#include "gpu/machine.h"

#include <stdlib.h>

static void drop_live(abut_watch *w, const void *at)
{
    size_t k = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->live[i].at != at) w->live[k++] = w->live[i];
    w->n = k;
}

static abut_status add_live(abut_watch *w, const void *at, size_t bytes, abut_err *err)
{
    if (!ABUT_GROW(w->live, w->n + 1, w->cap)) return abut_fail(err, ABUT_E_NOMEM, "watch of %zu buffers", w->n + 1);
    w->live[w->n++] = (struct abut_live){ at, bytes };
    return ABUT_OK;
}

abut_status abut_buffer_need(abut_queue *q, abut_buffer *b, const char *name, size_t n, size_t size, abut_err *err)
{
    if (n > SIZE_MAX / 2 / size) return abut_fail(err, ABUT_E_NOMEM, "gpu memory: %s want %zu items of %zu bytes", name, n, size);
    const size_t want = n * size, more = b->bytes + b->bytes / 2, bytes = want > more ? want : more;
    if (b->at && want <= b->bytes) return ABUT_OK;
    void *at;
    q->last = name;
    abut_status rc = q->on->alloc(q, bytes ? bytes : size, &at, err);
    if (rc) return rc;
    q->on->release(q, b->at, b->bytes);
    if (q->watch.look) {
        drop_live(&q->watch, b->at);
        rc = add_live(&q->watch, at, bytes ? bytes : size, err);
    }
    *b = (abut_buffer){ at, bytes ? bytes : size };
    return rc;
}

abut_status abut_buffer_put(abut_queue *q, abut_buffer *b, const char *name, const void *host, size_t n, size_t size,
                            abut_err *err)
{
    const abut_status rc = abut_buffer_need(q, b, name, n, size, err);
    return rc || !n ? rc : q->on->put(q, b->at, host, n * size, err);
}

abut_status abut_buffers_make(abut_queue *q, const char *name, const abut_buffer_row *row, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (; row->to && !rc; row++)
        rc = row->from ? abut_buffer_put(q, row->to, name, row->from, row->n, row->size, err)
                       : abut_buffer_need(q, row->to, name, row->n, row->size, err);
    return rc;
}

void abut_buffer_clear(abut_queue *q, abut_buffer *b)
{
    if (q->watch.look) drop_live(&q->watch, b->at);
    if (b->at) q->on->release(q, b->at, b->bytes);
    *b = (abut_buffer){ 0 };
}

void abut_buffers_clear(abut_queue *q, abut_buffer *const *b)
{
    for (; q && *b; b++) abut_buffer_clear(q, *b);
}

abut_status abut_least_get(abut_queue *q, const double *v, size_t n, void *scratch, abut_least *least, abut_err *err)
{
    const abut_status rc = q->on->least(q, v, n, scratch, err);
    return rc ? rc : q->on->get(q, least, scratch, sizeof *least, err);
}

/* ---- queues ---- */

void abut_queue_trials(abut_queue *q)
{
    const char *limit = getenv("ABUT_DEVICE_LIMIT"), *fault = getenv("ABUT_DEVICE_FAULT");
    if (limit && *limit) q->limit = (size_t)strtoull(limit, NULL, 10);
    if (fault && *fault) q->faults_after = strtoll(fault, NULL, 10);
}

void abut_queue_close(abut_queue *q)
{
    if (q->on && q->own) q->on->close(q);
    free(q->watch.live);
    *q = (abut_queue){ 0 };
}
