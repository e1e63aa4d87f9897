/* Which kernel is the first whose outcome two machines see differently: trace DEVICE STEPS STREAM prints a line for every kernel
 * and function that the device (twin, gpu, gpu:N) runs, with a sum of all of its buffers, oldest first.  diff does the rest. */
#include "gpu/machine.h"
#include "solve/step/barrier_stepper.h"
#include "stream_last.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tracer {
    unsigned char *host;
    size_t cap;
    long n;
} tracer;

/* FNV-1a over words: fast enough, and no proof against anybody */
static uint64_t sum_of(const unsigned char *v, size_t n)
{
    uint64_t h = 14695981039346656037u, w;
    for (size_t i = 0; i < n; i += sizeof w) {
        w = 0;
        memcpy(&w, v + i, n - i < sizeof w ? n - i : sizeof w);
        h = (h ^ w) * 1099511628211u;
        h ^= h >> 29;
    }
    return h;
}

static void look(abut_queue *q, const char *name, void *of)
{
    tracer *t = of;
    abut_err err = { 0 };
    uint64_t all = 0;
    printf("%ld %s", t->n++, name);
    for (size_t i = 0; i < q->watch.n; i++) {
        const struct abut_live *b = &q->watch.live[i];
        if (b->bytes > t->cap) {
            t->cap = 2 * b->bytes;
            t->host = realloc(t->host, t->cap);
            if (!t->host) exit(5);
        }
        if (q->on->get(q, t->host, b->at, b->bytes, &err)) {
            printf(" %s\n", err.msg);
            exit(5);
        }
        all = all * 31 + sum_of(t->host, b->bytes);
    }
    printf(" %zu %016llx\n", q->watch.n, (unsigned long long)all);
}

static abut_status trace(const char *device, int steps, const char *path, abut_err *err)
{
    tracer t = { .n = 0 };
    const abut_watch watch = { .look = look, .of = &t };
    abut_solve_options o = abut_solve_defaults;
    stream_last in = { .head = { 0 } };
    abut_stepper s = { .pass = 0 };
    abut_arrays next = { 0 };
    abut_status rc = abut_device_parse(device, &o.device.place, err);
    o.device.watch = &watch;
    if (!rc) rc = stream_last_read(&in, path, err);
    if (!rc) rc = abut_stepper_init(&s, &in.model, NULL, &o, err);
    abut_instant at = { in.head.step, in.head.time };
    for (int k = 0; k < steps && !rc; k++) {
        abut_report rep = { .lag_residual = -1 };
        rc = abut_step_advance(&s, &in.frame, 0, &at, 0, &next, &rep, err);
        const abut_arrays swap = in.frame;
        in.frame = next;
        next = swap;
        abut_report_clear(&rep);
    }
    abut_stepper_clear(&s);
    abut_arrays_clear(&next);
    stream_last_clear(&in);
    free(t.host);
    return rc;
}

int main(int argc, char **argv)
{
    abut_err err = { 0 };
    if (argc != 4) return fprintf(stderr, "usage: trace DEVICE STEPS STREAM\n"), 2;
    const abut_status rc = trace(argv[1], atoi(argv[2]), argv[3], &err);
    if (rc) fprintf(stderr, "trace: %s\n", err.msg);
    return rc != ABUT_OK;
}
