#include "gpu/buffer.h"

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
    *b = (abut_buffer){ at, bytes ? bytes : size };
    return ABUT_OK;
}

abut_status abut_buffer_put(abut_queue *q, abut_buffer *b, const char *name, const void *host, size_t n, size_t size,
                            abut_err *err)
{
    const abut_status rc = abut_buffer_need(q, b, name, n, size, err);
    return rc || !n ? rc : q->on->put(q, b->at, host, n * size, err);
}

void abut_buffer_clear(abut_queue *q, abut_buffer *b)
{
    if (b->at) q->on->release(q, b->at, b->bytes);
    *b = (abut_buffer){ 0 };
}
