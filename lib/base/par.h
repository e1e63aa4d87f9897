/* Threads and ranks.  Results of parallel loops do not depend on the number of threads.
 *
 * Work is cut into blocks of a fixed size; each block writes its own slot; slots are joined in block order.
 *     #pragma omp parallel for schedule(dynamic)
 *     for (size_t b = 0; b < abut_blocks(n); b++) { abut_range r = abut_block(n, b); ... part[b] = sum; }
 *     total = abut_sum(part, abut_blocks(n)); */
#ifndef ABUT_BASE_PAR_H
#define ABUT_BASE_PAR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Items lo .. hi - 1 of a list. */
typedef struct abut_range {
    size_t lo, hi;
} abut_range;

#define ABUT_BLOCK ((size_t)512)

/* A loop over fewer cheap items than this is faster on one thread: every parallel loop has
 *     #pragma omp parallel for ... if (n >= ABUT_PAR_MIN)
 * or a similar condition.  Results do not depend on it. */
#define ABUT_PAR_MIN ((size_t)2048)

/** Number of blocks that n items make, and the items [lo, hi) of block b. */
size_t abut_blocks(size_t n);
abut_range abut_block(size_t n, size_t b);

/** Sum of v[n] in index order with Neumaier's compensation: the rounding error does not grow with n. */
double abut_sum(const double *v, size_t n);

/** The largest absolute value of v[n], 0 for none; INFINITY when one of them is infinite or not a number. */
double abut_largest(const double *v, size_t n);

/** The two parts of a compensated running sum; zero-filled is 0, the value is hi + lo. */
typedef struct abut_acc {
    double hi, lo;
} abut_acc;
static inline void abut_acc_add(abut_acc *s, double v)
{
    const double t = s->hi + v;
    const double big = s->hi < 0 ? -s->hi : s->hi, small = v < 0 ? -v : v;
    s->lo += big >= small ? (s->hi - t) + v : (v - t) + s->hi;
    s->hi = t;
}

/** Threads that the next parallel region will use, and how to set it (n >= 1). */
int abut_threads(void);
void abut_threads_set(int n);

/* ---- ranks ----
 *
 * Processes that compute the same thing side by side, "ranks" as MPI calls them.
 *
 * Every rank has the whole state.  The work is divided: each rank does a part, then all ranks receive all parts, joined in an
 * order that does not depend on timing.  So all ranks have the same bits, take the same branches and come to the same joins in
 * the same order.  If one rank alone fails, the others wait in a join until the launcher ends them.
 *
 * NULL in the place of ranks is one process alone, whose part is the whole. */

typedef struct abut_ranks {
    int rank, size;     /* number of this rank; how many there are */
    /** Completes all[n], items of `bytes` each, on every rank; each rank has computed its abut_ranks_part. */
    void (*join_parts)(void *self, void *all, size_t n, size_t bytes);
    /** *all: the lists of all ranks one after the other, *n items; the caller frees it.  Fails  ABUT_E_NOMEM */
    abut_status (*join_lists)(void *self, const void *own, size_t n_own, size_t bytes, void **all, size_t *n, abut_err *err);
    void *self;
} abut_ranks;

/** Returns the range of n items that a rank computes; ranges differ in length by at most one. */
abut_range abut_ranks_part_of(const abut_ranks *r, size_t n, int rank);
static inline abut_range abut_ranks_part(const abut_ranks *r, size_t n)
{
    return r ? abut_ranks_part_of(r, n, r->rank) : (abut_range){ 0, n };
}

static inline void abut_ranks_join(const abut_ranks *r, void *all, size_t n, size_t bytes)
{
    if (r) r->join_parts(r->self, all, n, bytes);
}

/** Replaces *list, *n items, by the lists of all ranks one after the other; frees the old list, which may be NULL with *n = 0. */
ABUT_MUST_USE abut_status abut_ranks_join_list(const abut_ranks *r, void **list, size_t *n, size_t bytes, abut_err *err);

/** *all: the item of each rank, by ranks; the caller frees it. */
ABUT_MUST_USE abut_status abut_ranks_each(const abut_ranks *r, const void *own, size_t bytes, void **all, abut_err *err);

/** *sum: the sum of `own` over the ranks. */
ABUT_MUST_USE abut_status abut_ranks_count(const abut_ranks *r, size_t own, size_t *sum, abut_err *err);

/** Returns a hash of `size` bytes and of mark (Fowler, Noll and Vo: FNV-1a, eight bytes at a time). */
uint64_t abut_ranks_mark(uint64_t mark, const void *bytes, size_t size);
/** Checks that all ranks have the same mark.  Fails  ABUT_E_NUMERIC they have not: `what` differs */
ABUT_MUST_USE abut_status abut_ranks_agree(const abut_ranks *r, uint64_t mark, const char *what, abut_err *err);

/* Ranks that MPI has started, in builds with MPI=1 (base/mpi/ranks_mpi.c).  A failure of MPI itself ends all processes. */

/** MPI begins in this process: its ranks.  Fails  ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_begin(abut_ranks **r, abut_err *err);

/** Collective: copies the rest of the file `from` of rank 0 to *to of every rank, a file without a name, rewound.
 * from     of rank 0; other ranks do not read it
 * Fails    ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_spread(const abut_ranks *r, FILE *from, FILE **to, abut_err *err);

/** Call before a process ends with an exit code: waits for the other ranks to call it.  With a code other than 0 it waits
 * `patience` seconds.  If other ranks have not called by then, because this rank alone has failed and they wait for its part, it
 * calls last_words and ends all ranks with the code.  A second call does nothing. */
void abut_mpi_part(abut_ranks *r, int code, double patience, void (*last_words)(void));
/** MPI ends, on all ranks. */
void abut_mpi_end(abut_ranks *r);

#endif
