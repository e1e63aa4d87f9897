/* Arrays of a machine that grow. */
#ifndef ABUT_GPU_BUFFER_H
#define ABUT_GPU_BUFFER_H

#include "gpu/machine.h"

/* Zero-filled is empty. */
typedef struct abut_buffer {
    void *at;
    size_t bytes;
} abut_buffer;

/** Room for n items of `size` bytes.  Where it is short it grows to half more than before or what is wanted, if that is more;
 * what it held is lost then.  name: what a message calls it.
 * Fails  ABUT_E_NOMEM with name and sizes; the buffer is as it was */
ABUT_MUST_USE abut_status abut_buffer_need(abut_queue *q, abut_buffer *b, const char *name, size_t n, size_t size,
                                           abut_err *err);
/** The same, and n items of the host's are put into it. */
ABUT_MUST_USE abut_status abut_buffer_put(abut_queue *q, abut_buffer *b, const char *name, const void *host, size_t n,
                                          size_t size, abut_err *err);
void abut_buffer_clear(abut_queue *q, abut_buffer *b);

#define ABUT_AT(buffer, type) ((type *)(buffer).at)

#endif
