/* A machine: where the arrays of a simulation live and kernels run over them.  There are two: a GPU, and its twin, which runs
 * the same kernels as loops on the processor, over the same lists, with the same trees of sums, to the same bytes.
 *
 * Kernels (gpu/kernel.h) and the functions below are put into the one queue of a machine and run in their order.  Host code
 * sees numbers by `get` alone, which waits; all else returns at once.  Arrays that a kernel or a function below reads or writes
 * are the machine's, unless its comment says host.  After a failure of the machine its queue refuses further calls. */
#ifndef ABUT_GPU_MACHINE_H
#define ABUT_GPU_MACHINE_H

#include "base/err.h"
#include "gpu/kernels.h"

#include <stddef.h>
#include <stdint.h>

/* All kernels: each is written once, in a k_*.c by ABUT_KERNEL, and is an entry of a list: a prototype per machine and a pointer
 * in its table. */
#define ABUT_KERNELS(K) ABUT_KERNELS_ELEMENTS(K) ABUT_KERNELS_CONTACT(K) ABUT_KERNELS_LINEAR(K)

/* The smallest of some values and its number: of equal ones the lowest. */
typedef struct abut_least {
    double value;       /* +inf when there was none; -inf when one was not a number */
    uint64_t number;    /* UINT64_MAX when there was none */
} abut_least;

/* Stages that are timed separately. */
typedef enum abut_stage {
    ABUT_STAGE_OTHER, ABUT_STAGE_CANDIDATES, ABUT_STAGE_CONTACTS, ABUT_STAGE_BOUND, ABUT_STAGE_ENERGY, ABUT_STAGE_GRADIENT,
    ABUT_STAGE_HESSIAN, ABUT_STAGE_PRECONDITION, ABUT_STAGE_SOLVE, ABUT_STAGE_TRANSFER, ABUT_STAGES
} abut_stage;

struct abut_machine;
struct abut_queue;

/* Tests compare machines by looking at all buffers after every kernel and function: a watch, set before any buffer is made. */
typedef struct abut_watch {
    void (*look)(struct abut_queue *q, const char *name, void *of);    /* NULL: no observer */
    void *of;
    struct abut_live {
        const void *at;
        size_t bytes;
    } *live;                /* the buffers there are, oldest first */
    size_t n, cap;
} abut_watch;

/* A machine that is open.  Its counters are for reports. */
typedef struct abut_queue {
    const struct abut_machine *on;
    void *own;              /* the machine's */
    const char *last;       /* kernel or function that was put in last */
    char name[96];          /* "twin", or the chip: "NVIDIA H100 80GB HBM3 (sm_90)" */
    size_t waits, launches, bytes, bytes_peak;
    size_t limit;           /* bytes at most; 0: what the machine has */
    int64_t faults_after;   /* after that many kernels one writes where there is no memory; 0: none does */
    uint64_t shuffle;       /* twin: not 0, items of a kernel come in an order that depends on it */
    int64_t fails_after;    /* twin: that many more allocations succeed; below 0: all */
    int broken;
    abut_stage stage;
    double seconds[ABUT_STAGES];    /* added up by times */
    abut_watch watch;
} abut_queue;

typedef struct abut_machine {
#define ABUT_K(name, args) abut_status (*name)(abut_queue *, const args *, size_t, abut_err *);
    ABUT_KERNELS(ABUT_K)
#undef ABUT_K
    abut_status (*alloc)(abut_queue *, size_t bytes, void **at, abut_err *);    /* what = q->last; not filled */
    void (*release)(abut_queue *, void *at, size_t bytes);                      /* NULL is fine */
    /* put: the host may change its array on return, a pinned one after the next wait */
    abut_status (*put)(abut_queue *, void *to, const void *host, size_t bytes, abut_err *);
    abut_status (*get)(abut_queue *, void *host, const void *from, size_t bytes, abut_err *);   /* waits */
    abut_status (*copy)(abut_queue *, void *to, const void *from, size_t bytes, abut_err *);
    abut_status (*fill)(abut_queue *, void *at, int byte, size_t bytes, abut_err *);
    abut_status (*wait)(abut_queue *, abut_err *);
    /* The host's array will be put and got often: that is faster then, if the system lets it; unpin before it is freed. */
    void (*pin)(abut_queue *, void *host, size_t bytes);
    void (*unpin)(abut_queue *, void *host);

    /* *out = sum of v[n], of a[n] b[n].  Blocks of 512 numbers: lane l of 32 adds numbers l, l + 32, ... to 0 in order, then
     * lanes are added by halves, l + 16, l + 8, .. to l; the sums of the blocks are summed in the same manner until one is left.
     * Products are rounded; those of singles are products of doubles. */
    abut_status (*sum)(abut_queue *, const double *v, size_t n, double *out, abut_err *);
    abut_status (*dot)(abut_queue *, const double *a, const double *b, size_t n, double *out, abut_err *);
    /* out[0] = sum of r[n] z[n], out[1] = of q[n] z[n], out[2] = of r[n] r[n] */
    abut_status (*dots_single)(abut_queue *, const float *r, const float *z, const float *q, size_t n, double *out, abut_err *);
    abut_status (*least)(abut_queue *, const double *v, size_t n, abut_least *out, abut_err *);
    /* *out = largest |v|, 0 for none, +inf when one is not finite */
    abut_status (*largest)(abut_queue *, const double *v, size_t n, double *out, abut_err *);
    /* first[i] = count[0] + .. + count[i - 1], i <= n, modulo 2^32; total: all of them (host; NULL: nothing waits) */
    abut_status (*scan)(abut_queue *, const uint32_t *count, size_t n, uint32_t *first, uint64_t *total, abut_err *);
    /* Sorts by bits [0, bits) of key, ascending and stable; val goes along (NULL: none).  n < 2^31. */
    abut_status (*sort)(abut_queue *, uint64_t *key, uint32_t *val, size_t n, int bits, abut_err *);

    /* Calls between record and recorded run as one launch, at `recorded` and at every replay until the next record; single
     * launches cost more than their work.  Only kernels, sums and products whose scratch exists already may be recorded.
     * kept: out, 0 if the machine cannot record: calls then run at once, recorded does nothing, replay must not be called. */
    abut_status (*record)(abut_queue *, int *kept, abut_err *);
    abut_status (*recorded)(abut_queue *, int kept, abut_err *);
    abut_status (*replay)(abut_queue *, abut_err *);

    abut_status (*stamp)(abut_queue *, abut_stage, abut_err *);  /* begins that stage */
    abut_status (*times)(abut_queue *, abut_err *);              /* waits, and adds up the stages since the last call */
    void (*close)(abut_queue *);
} abut_machine;

/** Opens the twin.  ABUT_DEVICE_LIMIT and ABUT_DEVICE_FAULT in the environment set limit and faults_after of every machine
 * opened, for tests of programs. */
abut_status abut_queue_twin(abut_queue *q, abut_err *err);
/** Opens device number `which`.
 * Fails  ABUT_E_ARG this build has no CUDA; ABUT_E_IO there is no such device, or it is unusable (says why) */
abut_status abut_queue_cuda(abut_queue *q, int which, abut_err *err);
/** Closes the queue and frees its memory.  Zero-filled is closed. */
void abut_queue_close(abut_queue *q);

/** Sets limit and faults_after of an open queue from these variables. */
void abut_queue_trials(abut_queue *q);

/** Returns the number of bits of n, for keys up to n. */
static inline int abut_bits_of(uint64_t n)
{
    int bits = 0;
    for (; n; n >>= 1) bits++;
    return bits;
}

/** Runs a kernel over n items. */
#define ABUT_RUN(q, kernel, args, n, err) ((q)->on->kernel((q), (args), (n), (err)))

/* ---- arrays of a machine that grow ---- */

/* Zero-filled is empty. */
typedef struct abut_buffer {
    void *at;
    size_t bytes;
} abut_buffer;

#define ABUT_AT(buffer, type) ((type *)(buffer).at)

/** Makes room for n items of `size` bytes.  A buffer that is too small grows to 1.5 times its size or the need, if that is more,
 * and loses its contents.  name: for messages.
 * Fails  ABUT_E_NOMEM with name and sizes; the buffer is unchanged */
ABUT_MUST_USE abut_status abut_buffer_need(abut_queue *q, abut_buffer *b, const char *name, size_t n, size_t size, abut_err *err);
/** Makes room by abut_buffer_need and copies n items of the host into it. */
ABUT_MUST_USE abut_status abut_buffer_put(abut_queue *q, abut_buffer *b, const char *name, const void *host, size_t n,
                                          size_t size, abut_err *err);

/** *least = the smallest of v[n] (the machine's), by way of `scratch` (the machine's); waits. */
ABUT_MUST_USE abut_status abut_least_get(abut_queue *q, const double *v, size_t n, void *scratch, abut_least *least,
                                         abut_err *err);

/* Room for n items of `size` bytes in buffer `to`, copied from the host unless `from` is NULL. */
typedef struct abut_buffer_row {
    abut_buffer *to;
    const void *from;
    size_t n, size;
} abut_buffer_row;

/** Makes room for the rows { to, from, n, size }, .. in their order, and fills them.  Fails  as abut_buffer_need */
#define ABUT_BUFFERS(q, name, err, ...) \
    abut_buffers_make(q, name, (const abut_buffer_row[]){ __VA_ARGS__, { NULL, NULL, 0, 0 } }, err)
ABUT_MUST_USE abut_status abut_buffers_make(abut_queue *q, const char *name, const abut_buffer_row *row, abut_err *err);

void abut_buffer_clear(abut_queue *q, abut_buffer *b);
/** Frees buffers &a, &b, ..; q NULL: there are none. */
#define ABUT_BUFFERS_CLEAR(q, ...) abut_buffers_clear(q, (abut_buffer *const[]){ __VA_ARGS__, NULL })
void abut_buffers_clear(abut_queue *q, abut_buffer *const *b);

#endif
