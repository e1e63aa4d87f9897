/* Parallel loops whose results do not depend on the number of threads.
 *
 * Work is cut into blocks of a fixed size; each block writes its own slot; slots are joined in block order.
 *     #pragma omp parallel for schedule(dynamic)
 *     for (size_t b = 0; b < abut_blocks(n); b++) { abut_range r = abut_block(n, b); ... part[b] = sum; }
 *     total = abut_sum(part, abut_blocks(n)); */
#ifndef ABUT_BASE_PAR_H
#define ABUT_BASE_PAR_H

#include <stddef.h>

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

#endif
