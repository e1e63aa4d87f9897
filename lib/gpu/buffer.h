/* Arrays of a machine that grow. */
#ifndef ABUT_GPU_BUFFER_H
#define ABUT_GPU_BUFFER_H

#include "gpu/machine.h"

/* Zero-filled is empty. */
typedef struct abut_buffer {
    void *at;
    size_t bytes;
} abut_buffer;

/** Makes room for n items of `size` bytes.  A buffer that is too small grows to 1.5 times its size or the need, if that is more,
 * and loses its contents.  name: for messages.
 * Fails  ABUT_E_NOMEM with name and sizes; the buffer is unchanged */
ABUT_MUST_USE abut_status abut_buffer_need(abut_queue *q, abut_buffer *b, const char *name, size_t n, size_t size,
                                           abut_err *err);
/** Makes room by abut_buffer_need and copies n items of the host into it. */
ABUT_MUST_USE abut_status abut_buffer_put(abut_queue *q, abut_buffer *b, const char *name, const void *host, size_t n,
                                          size_t size, abut_err *err);
void abut_buffer_clear(abut_queue *q, abut_buffer *b);

#define ABUT_AT(buffer, type) ((type *)(buffer).at)

#endif
