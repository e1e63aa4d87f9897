#include "base/par.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

size_t abut_blocks(size_t n)
{
    return (n + ABUT_BLOCK - 1) / ABUT_BLOCK;
}

abut_range abut_block(size_t n, size_t b)
{
    const size_t lo = b * ABUT_BLOCK, hi = lo + ABUT_BLOCK;
    return (abut_range){ lo, hi < n ? hi : n };
}

double abut_sum(const double *v, size_t n)
{
    abut_acc s = { 0, 0 };
    for (size_t i = 0; i < n; i++) abut_acc_add(&s, v[i]);
    return s.hi + s.lo;
}

static double largest(const double *v, size_t n)
{
    /* four chains: an operation need not wait for the one before; nothing: 0, or NaN once a number is not finite */
    double big[4] = { 0, 0, 0, 0 }, nothing[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) {
            big[k] = fabs(v[i + k]) > big[k] ? fabs(v[i + k]) : big[k];
            nothing[k] += 0 * v[i + k];
        }
    for (; i < n; i++) {
        big[0] = fabs(v[i]) > big[0] ? fabs(v[i]) : big[0];
        nothing[0] += 0 * v[i];
    }
    const int is_finite = nothing[0] + nothing[1] + (nothing[2] + nothing[3]) == 0;
    return is_finite ? fmax(fmax(big[0], big[1]), fmax(big[2], big[3])) : INFINITY;
}

double abut_largest(const double *v, size_t n)
{
    double big = 0;
    #pragma omp parallel for schedule(static) reduction(max : big) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t b = 0; b < abut_blocks(n); b++) {
        const abut_range r = abut_block(n, b);
        big = fmax(big, largest(v + r.lo, r.hi - r.lo));
    }
    return big;
}

int abut_threads(void)
{
    return omp_get_max_threads();
}

void abut_threads_set(int n)
{
    omp_set_num_threads(n);
}

/* ---- ranks ---- */

abut_range abut_ranks_part_of(const abut_ranks *r, size_t n, int rank)
{
    assert(r && rank >= 0 && rank < r->size);
    const size_t size = (size_t)r->size, k = (size_t)rank, each = n / size, more = n % size;
    const size_t lo = k * each + (k < more ? k : more);
    return (abut_range){ lo, lo + each + (k < more) };
}

abut_status abut_ranks_join_list(const abut_ranks *r, void **list, size_t *n, size_t bytes, abut_err *err)
{
    void *all;
    size_t n_all;
    if (!r) return ABUT_OK;
    const abut_status rc = r->join_lists(r->self, *list, *n, bytes, &all, &n_all, err);
    if (rc) return rc;
    free(*list);
    *list = all;
    *n = n_all;
    return ABUT_OK;
}

abut_status abut_ranks_each(const abut_ranks *r, const void *own, size_t bytes, void **all, abut_err *err)
{
    size_t n;
    return r->join_lists(r->self, own, 1, bytes, all, &n, err);
}

abut_status abut_ranks_count(const abut_ranks *r, size_t own, size_t *sum, abut_err *err)
{
    void *all;
    *sum = own;
    if (!r) return ABUT_OK;
    const abut_status rc = abut_ranks_each(r, &own, sizeof own, &all, err);
    if (rc) return rc;
    *sum = 0;
    for (int i = 0; i < r->size; i++) *sum += ((const size_t *)all)[i];
    free(all);
    return ABUT_OK;
}

uint64_t abut_ranks_mark(uint64_t mark, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (; size; size -= size < 8 ? size : 8, b += 8) {
        uint64_t word = 0;
        memcpy(&word, b, size < 8 ? size : 8);
        mark = (mark ^ word) * UINT64_C(0x100000001b3);
        mark ^= mark >> 29;
    }
    return mark;
}

abut_status abut_ranks_agree(const abut_ranks *r, uint64_t mark, const char *what, abut_err *err)
{
    void *all;
    if (!r) return ABUT_OK;
    abut_status rc = abut_ranks_each(r, &mark, sizeof mark, &all, err);
    if (rc) return rc;
    const uint64_t *marks = all;
    for (int i = 1; i < r->size && !rc; i++)
        if (marks[i] != marks[0])
            rc = abut_fail(err, ABUT_E_NUMERIC, "ranks 0 and %d no longer have the same bits of %s: expected the same program on "
                           "the same kind of processor on all", i, what);
    free(all);
    return rc;
}
