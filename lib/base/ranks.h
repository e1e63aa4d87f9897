/* Processes that compute the same thing side by side, "ranks" as MPI calls them (base/mpi/ranks_mpi.h starts them).
 *
 * Every rank has the whole state.  The work on it is cut: each rank does a part, then all learn of all parts, joined in an order
 * that the parts have by themselves.  So all ranks hold the same bits, take the same branches and come to the same joins one
 * after the other; a rank that fails alone keeps the others waiting there, until whoever started them ends them.
 *
 * NULL in the place of ranks is one process alone, whose part is the whole. */
#ifndef ABUT_BASE_RANKS_H
#define ABUT_BASE_RANKS_H

#include "base/err.h"
#include "base/range.h"

#include <stdint.h>

typedef struct abut_ranks {
    int rank, size;     /* this one, of so many */
    /** all[n] items of so many bytes, of which each rank has made abut_ranks_part: all are known afterwards. */
    void (*join_parts)(void *self, void *all, size_t n, size_t bytes);
    /** *all: the lists of all ranks one after the other, *n items; its owner frees it.  Fails  ABUT_E_NOMEM */
    abut_status (*join_lists)(void *self, const void *own, size_t n_own, size_t bytes, void **all, size_t *n, abut_err *err);
    void *self;
} abut_ranks;

/** The items of n that a rank does: neighbours, as many for each as the division allows. */
abut_range abut_ranks_part_of(const abut_ranks *r, size_t n, int rank);
static inline abut_range abut_ranks_part(const abut_ranks *r, size_t n)
{
    return r ? abut_ranks_part_of(r, n, r->rank) : (abut_range){ 0, n };
}

static inline void abut_ranks_join(const abut_ranks *r, void *all, size_t n, size_t bytes)
{
    if (r) r->join_parts(r->self, all, n, bytes);
}

/** The lists of all: *list, *n items, which may come as NULL and 0, and is freed and replaced. */
ABUT_MUST_USE abut_status abut_ranks_join_list(const abut_ranks *r, void **list, size_t *n, size_t bytes, abut_err *err);

/** *all: what each rank has of one item, by ranks; its owner frees it. */
ABUT_MUST_USE abut_status abut_ranks_each(const abut_ranks *r, const void *own, size_t bytes, void **all, abut_err *err);

/** *sum of what the ranks have. */
ABUT_MUST_USE abut_status abut_ranks_count(const abut_ranks *r, size_t own, size_t *sum, abut_err *err);

/** A number that depends on every bit of so many bytes (Fowler, Noll and Vo: FNV-1a, eight bytes at a time). */
uint64_t abut_ranks_mark(uint64_t mark, const void *bytes, size_t size);
/** That all ranks have the same number.  Fails  ABUT_E_NUMERIC they have not: `what` has come to differ */
ABUT_MUST_USE abut_status abut_ranks_agree(const abut_ranks *r, uint64_t mark, const char *what, abut_err *err);

#endif
