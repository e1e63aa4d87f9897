#include "geom/exact/big.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

/* v = m 2^e with m odd; v finite and not zero */
static int64_t odd_mantissa(double v, int *e)
{
    int64_t m = (int64_t)ldexp(frexp(v, e), 53);
    *e -= 53;
    while (!(m & 1)) {
        m /= 2;
        ++*e;
    }
    return m;
}

int abut_big_exponent(const double *v, int n)
{
    int low = INT_MAX;
    for (int i = 0; i < n; i++) {
        int e;
        if (v[i] == 0) continue;
        odd_mantissa(v[i], &e);
        if (e < low) low = e;
    }
    return low == INT_MAX ? 0 : low;
}

void abut_big_set(mpz_t z, double v, int e)
{
    if (v == 0) {
        mpz_set_ui(z, 0);
        return;
    }
    int own;
    const int64_t m = odd_mantissa(v, &own);
    assert(own >= e);
    mpz_set_si(z, m);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(own - e));
}
