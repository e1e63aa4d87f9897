#include "gpu/machine.h"

#include "base/arena.h"
#include "base/par.h"
#include "base/timer.h"
#include "gpu/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the twin of a GPU ---- */

/* The twin of a GPU: memory, sums, scans and sorts on the processor, by the definitions of gpu/machine.h. */

enum { LANES_OF_A_WARP = 32 };

typedef struct twin {
    double *part;       /* sums of blocks */
    size_t cap;
    double since;       /* s: start of the present stage */
} twin;

static abut_status twin_alloc(abut_queue *q, size_t bytes, void **at, abut_err *err)
{
    const int refused = q->fails_after == 0 || (q->limit && q->bytes + bytes > q->limit);
    q->fails_after -= q->fails_after > 0;
    *at = refused ? NULL : malloc(bytes);
    if (!*at)
        return abut_fail(err, ABUT_E_NOMEM, "twin memory: %s wants %.3g GB, %.3g GB are in use", q->last,
                         1e-9 * (double)bytes, 1e-9 * (double)q->bytes);
    memset(*at, 0xff, bytes);   /* not a number, until it is written */
    q->bytes += bytes;
    if (q->bytes > q->bytes_peak) q->bytes_peak = q->bytes;
    return ABUT_OK;
}

static void twin_release(abut_queue *q, void *at, size_t bytes)
{
    if (at) q->bytes -= bytes;
    free(at);
}

static abut_status twin_move(abut_queue *q, void *to, const void *from, size_t bytes, abut_err *err)
{
    (void)q, (void)err;
    if (bytes) memmove(to, from, bytes);
    return ABUT_OK;
}

static abut_status twin_get(abut_queue *q, void *to, const void *from, size_t bytes, abut_err *err)
{
    q->waits++;
    return twin_move(q, to, from, bytes, err);
}

static abut_status twin_fill(abut_queue *q, void *at, int byte, size_t bytes, abut_err *err)
{
    (void)q, (void)err;
    if (bytes) memset(at, byte, bytes);
    return ABUT_OK;
}

static abut_status twin_wait(abut_queue *q, abut_err *err)
{
    (void)err;
    q->waits++;
    return ABUT_OK;
}

static abut_status done(abut_queue *q, const char *name)
{
    q->launches++;
    if (q->watch.look) q->watch.look(q, name, q->watch.of);
    return ABUT_OK;
}

static void twin_pin(abut_queue *q, void *host, size_t bytes) { (void)q, (void)host, (void)bytes; }
static void twin_unpin(abut_queue *q, void *host) { (void)q, (void)host; }

/* ---- sums: one of three kinds of terms, the same tree ---- */

typedef struct terms {
    const double *a, *b;        /* b NULL: a alone */
    const float *as, *bs;       /* not NULL: these */
} terms;

static double fold(double lane[LANES_OF_A_WARP])
{
    for (int half = LANES_OF_A_WARP / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

static double block_sum(const terms *t, abut_range r)
{
    double lane[LANES_OF_A_WARP] = { 0 };
    for (size_t i = r.lo; i < r.hi; i += LANES_OF_A_WARP) {
        const size_t stop = r.hi - i < LANES_OF_A_WARP ? r.hi - i : LANES_OF_A_WARP;
        if (t->as)
            for (size_t l = 0; l < stop; l++) lane[l] += (double)t->as[i + l] * (double)t->bs[i + l];
        else if (t->b)
            for (size_t l = 0; l < stop; l++) lane[l] += t->a[i + l] * t->b[i + l];
        else
            for (size_t l = 0; l < stop; l++) lane[l] += t->a[i + l];
    }
    return fold(lane);
}

static abut_status tree(abut_queue *q, terms t, size_t n, double *out, abut_err *err)
{
    twin *tw = q->own;
    size_t nb = abut_blocks(n);
    if (!ABUT_GROW(tw->part, 2 * nb, tw->cap)) return abut_fail(err, ABUT_E_NOMEM, "twin memory: %zu partial sums", nb);
    double *from = tw->part, *to = tw->part + nb;
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) from[b] = block_sum(&t, abut_block(n, b));
    while (nb > 1) {
        const terms parts = { from, NULL, NULL, NULL };
        const size_t n_parts = nb;
        nb = abut_blocks(n_parts);
        for (size_t b = 0; b < nb; b++) to[b] = block_sum(&parts, abut_block(n_parts, b));
        double *swap = from;
        from = to;
        to = swap;
    }
    *out = nb ? from[0] : 0;
    return ABUT_OK;
}

static abut_status twin_sum(abut_queue *q, const double *v, size_t n, double *out, abut_err *err)
{
    const abut_status rc = tree(q, (terms){ v, NULL, NULL, NULL }, n, out, err);
    return rc ? rc : done(q, "sum");
}

static abut_status twin_dot(abut_queue *q, const double *a, const double *b, size_t n, double *out, abut_err *err)
{
    const abut_status rc = tree(q, (terms){ a, b, NULL, NULL }, n, out, err);
    return rc ? rc : done(q, "sum");
}

static abut_status twin_dots_single(abut_queue *on, const float *r, const float *z, const float *q, size_t n, double *out,
                                    abut_err *err)
{
    abut_status rc = tree(on, (terms){ NULL, NULL, r, z }, n, out, err);
    if (!rc) rc = tree(on, (terms){ NULL, NULL, q, z }, n, out + 1, err);
    if (!rc) rc = tree(on, (terms){ NULL, NULL, r, r }, n, out + 2, err);
    return rc ? rc : done(on, "dots");
}

static abut_status twin_least(abut_queue *q, const double *v, size_t n, abut_least *out, abut_err *err)
{
    (void)err;
    abut_least least = { INFINITY, UINT64_MAX };
    for (size_t i = 0; i < n; i++) {
        const double value = isnan(v[i]) ? -INFINITY : v[i];
        if (value < least.value || (value == least.value && i < least.number)) least = (abut_least){ value, i };
    }
    *out = least;
    return done(q, "least");
}

static abut_status twin_largest(abut_queue *q, const double *v, size_t n, double *out, abut_err *err)
{
    (void)err;
    double big = 0;
    for (size_t i = 0; i < n; i++) {
        const double size = isfinite(v[i]) ? fabs(v[i]) : INFINITY;
        big = size > big ? size : big;
    }
    *out = big;
    return done(q, "largest");
}

/* ---- integers ---- */

static abut_status twin_scan(abut_queue *q, const uint32_t *count, size_t n, uint32_t *first, uint64_t *total, abut_err *err)
{
    (void)err;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        first[i] = (uint32_t)sum;
        sum += count[i];
    }
    first[n] = (uint32_t)sum;
    if (total) *total = sum;
    q->waits += total != NULL;
    return done(q, "scan");
}

enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

static abut_status twin_sort(abut_queue *q, uint64_t *key, uint32_t *val, size_t n, int bits, abut_err *err)
{
    uint64_t *k2 = malloc((n + 1) * sizeof *k2);
    uint32_t *v2 = val ? malloc((n + 1) * sizeof *v2) : NULL;
    if (!k2 || (val && !v2)) {
        ABUT_FREE(k2, v2);
        return abut_fail(err, ABUT_E_NOMEM, "twin memory: %zu keys to sort", n);
    }
    for (int shift = 0; shift < bits; shift += DIGIT) {
        const int wide = bits - shift < DIGIT ? bits - shift : DIGIT;
        const uint64_t mask = ((uint64_t)1 << wide) - 1;
        size_t at[BUCKETS] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++) at[key[i] >> shift & mask]++;
        for (int b = 0; b < BUCKETS; b++) {
            const size_t here = at[b];
            at[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) {
            const size_t to = at[key[i] >> shift & mask]++;
            k2[to] = key[i];
            if (val) v2[to] = val[i];
        }
        memcpy(key, k2, n * sizeof *key);
        if (val) memcpy(val, v2, n * sizeof *val);
    }
    ABUT_FREE(k2, v2);
    return done(q, "sort");
}

/* ---- recording, which the twin does not support ---- */

static abut_status twin_record(abut_queue *q, int *kept, abut_err *err)
{
    (void)q, (void)err;
    *kept = 0;
    return ABUT_OK;
}

static abut_status twin_recorded(abut_queue *q, int kept, abut_err *err)
{
    (void)q, (void)kept, (void)err;
    return ABUT_OK;
}

static abut_status twin_replay(abut_queue *q, abut_err *err)
{
    (void)q;
    return abut_fail(err, ABUT_E_ARG, "twin: nothing is recorded");
}

/* ---- times ---- */

static abut_status twin_stamp(abut_queue *q, abut_stage stage, abut_err *err)
{
    (void)err;
    twin *tw = q->own;
    const double now = abut_time_wall();
    q->seconds[q->stage] += now - tw->since;
    q->stage = stage;
    tw->since = now;
    return ABUT_OK;
}

static abut_status twin_times(abut_queue *q, abut_err *err)
{
    return twin_stamp(q, q->stage, err);
}

static void twin_close(abut_queue *q)
{
    twin *tw = q->own;
    ABUT_FREE(tw->part, tw);
}

static const abut_machine twin_machine = {
#define ABUT_K(name, args) .name = abut_twin_##name,
    ABUT_KERNELS(ABUT_K)
#undef ABUT_K
    .alloc = twin_alloc, .release = twin_release, .put = twin_move, .get = twin_get, .copy = twin_move, .fill = twin_fill,
    .wait = twin_wait, .pin = twin_pin, .unpin = twin_unpin, .sum = twin_sum, .dot = twin_dot,
    .dots_single = twin_dots_single, .least = twin_least,
    .largest = twin_largest, .scan = twin_scan, .sort = twin_sort, .record = twin_record,
    .recorded = twin_recorded, .replay = twin_replay, .stamp = twin_stamp, .times = twin_times,
    .close = twin_close,
};

abut_status abut_twin_fault(abut_queue *q, abut_err *err)
{
    q->broken = 1;
    return abut_fail(err, ABUT_E_IO, "%s: %s: an illegal memory access was encountered", q->name, q->last);
}

abut_status abut_queue_twin(abut_queue *q, abut_err *err)
{
    *q = (abut_queue){ .on = &twin_machine, .name = "twin", .fails_after = -1 };
    twin *tw = calloc(1, sizeof *tw);
    if (!tw) return abut_fail(err, ABUT_E_NOMEM, "twin memory");
    tw->since = abut_time_wall();
    q->own = tw;
    abut_queue_trials(q);
    return ABUT_OK;
}

#ifndef ABUT_CUDA
/* In builds with CUDA, cuda.cu has it. */
abut_status abut_queue_cuda(abut_queue *q, int which, abut_err *err)
{
    (void)which;
    *q = (abut_queue){ 0 };
    return abut_fail(err, ABUT_E_ARG, "this build has no CUDA; make GPU=1 wants nvcc 12 or later");
}
#endif
