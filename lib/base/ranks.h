/* Processes that compute the same thing side by side, "ranks" as MPI calls them (base/mpi/ranks_mpi.h starts them).
 *
 * Every rank has the whole state.  The work is divided: each rank does a part, then all ranks receive all parts, joined in an
 * order that does not depend on timing.  So all ranks have the same bits, take the same branches and come to the same joins in
 * the same order.  If one rank alone fails, the others wait in a join until the launcher ends them.
 *
 * NULL in the place of ranks is one process alone, whose part is the whole. */
#ifndef ABUT_BASE_RANKS_H
#define ABUT_BASE_RANKS_H

#include "base/err.h"
#include "base/par.h"

#include <stdint.h>

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

#endif
