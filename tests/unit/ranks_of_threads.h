/* Ranks (base/par.h) that are threads of one process: what a loop over them calls `body` with sees them as processes. */
#ifndef ABUT_TESTS_RANKS_OF_THREADS_H
#define ABUT_TESTS_RANKS_OF_THREADS_H

#include "base/par.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 8 };

typedef struct thread_ranks {
    int size;
    pthread_barrier_t meet;
    const void *shown[RANKS_MOST];
    size_t n[RANKS_MOST];
    int joins[RANKS_MOST];
} thread_ranks;

typedef struct thread_rank {
    abut_ranks r;           /* first */
    thread_ranks *all;
    void (*body)(const abut_ranks *r, void *ctx);
    void *ctx;
} thread_rank;

static inline void thread_join_parts(void *self, void *all, size_t n, size_t bytes)
{
    thread_rank *me = self;
    thread_ranks *t = me->all;
    t->shown[me->r.rank] = all;
    pthread_barrier_wait(&t->meet);
    for (int k = 0; k < t->size; k++) {
        const abut_range p = abut_ranks_part_of(&me->r, n, k);
        if (k != me->r.rank && p.hi > p.lo)
            memcpy((char *)all + p.lo * bytes, (const char *)t->shown[k] + p.lo * bytes, (p.hi - p.lo) * bytes);
    }
    t->joins[me->r.rank]++;
    pthread_barrier_wait(&t->meet);
}

static inline abut_status thread_join_lists(void *self, const void *own, size_t n_own, size_t bytes, void **all, size_t *n,
                                            abut_err *err)
{
    thread_rank *me = self;
    thread_ranks *t = me->all;
    (void)err;
    t->shown[me->r.rank] = own;
    t->n[me->r.rank] = n_own;
    pthread_barrier_wait(&t->meet);
    *n = 0;
    for (int k = 0; k < t->size; k++) *n += t->n[k];
    char *to = *all = malloc(*n * bytes + 1);
    for (int k = 0; k < t->size; k++) {
        if (t->n[k]) memcpy(to, t->shown[k], t->n[k] * bytes);
        to += t->n[k] * bytes;
    }
    t->joins[me->r.rank]++;
    pthread_barrier_wait(&t->meet);
    return ABUT_OK;
}

static inline void *thread_rank_runs(void *self)
{
    thread_rank *me = self;
    abut_threads_set(1);
    me->body(&me->r, me->ctx);
    return NULL;
}

/* body on each of `size` ranks at once, ctx of each; returns how often they joined. */
static inline int on_ranks(int size, void (*body)(const abut_ranks *r, void *ctx), void *const ctx[])
{
    thread_ranks t = { .size = size };
    thread_rank rank[RANKS_MOST];
    pthread_t thread[RANKS_MOST];
    pthread_barrier_init(&t.meet, NULL, (unsigned)size);
    for (int k = 0; k < size; k++) {
        rank[k] = (thread_rank){ { k, size, thread_join_parts, thread_join_lists, &rank[k] }, &t, body, ctx[k] };
        pthread_create(&thread[k], NULL, thread_rank_runs, &rank[k]);
    }
    for (int k = 0; k < size; k++) pthread_join(thread[k], NULL);
    pthread_barrier_destroy(&t.meet);
    for (int k = 1; k < size; k++)
        if (t.joins[k] != t.joins[0]) abort();
    return t.joins[0];
}

#endif
