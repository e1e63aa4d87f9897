#include "base/par.h"

#include <omp.h>

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

int abut_threads(void)
{
    return omp_get_max_threads();
}

void abut_threads_set(int n)
{
    omp_set_num_threads(n);
}
