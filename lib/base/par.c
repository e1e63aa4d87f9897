#include "base/par.h"

#include <math.h>
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
