#include "geom/exact/expansion.h"

#include <math.h>
#include <string.h>

/* s + *lo = a + b exactly (Knuth) */
static double two_sum(double a, double b, double *lo)
{
    const double s = a + b, bv = s - a;
    *lo = (a - (s - bv)) + (b - bv);
    return s;
}

/* s + *lo = a + b exactly, if |a| >= |b| (Dekker) */
static double fast_two_sum(double a, double b, double *lo)
{
    const double s = a + b;
    *lo = b - (s - a);
    return s;
}

static double two_product(double a, double b, double *lo)
{
    const double p = a * b;
    *lo = fma(a, b, -p);
    return p;
}

int abut_expansion_diff(double a, double b, double e[2])
{
    int n = 0;
    double lo;
    const double hi = two_sum(a, -b, &lo);
    if (lo != 0) e[n++] = lo;
    if (hi != 0) e[n++] = hi;
    return n;
}

/* Merges by magnitude and carries upwards (Shewchuk's FAST-EXPANSION-SUM with zero elimination) */
int abut_expansion_sum(const double *e, int m, const double *f, int n, double *h)
{
    if (m == 0 || n == 0) {
        if (m + n) memcpy(h, m ? e : f, (size_t)(m + n) * sizeof *h);
        return m + n;
    }
    int i = 0, j = 0, k = 0;
    double q = fabs(e[0]) < fabs(f[0]) ? e[i++] : f[j++], lo;
    while (i < m || j < n) {
        const double next = j == n || (i < m && fabs(e[i]) < fabs(f[j])) ? e[i++] : f[j++];
        q = two_sum(q, next, &lo);
        if (lo != 0) h[k++] = lo;
    }
    if (q != 0) h[k++] = q;
    return k;
}

/* h = s e; h[2 n].  Returns its length. */
static int scale(const double *e, int n, double s, double *h)
{
    if (n == 0) return 0;
    int k = 0;
    double lo, q = two_product(e[0], s, &lo);
    if (lo != 0) h[k++] = lo;
    for (int i = 1; i < n; i++) {
        double low;
        const double high = two_product(e[i], s, &low);
        const double sum = two_sum(q, low, &lo);
        if (lo != 0) h[k++] = lo;
        q = fast_two_sum(high, sum, &lo);
        if (lo != 0) h[k++] = lo;
    }
    if (q != 0) h[k++] = q;
    return k;
}

int abut_expansion_times2(const double *e, int m, const double *f, int n, double *h, double *scratch)
{
    if (n == 0) return 0;
    if (n == 1) return scale(e, m, f[0], h);
    double *const high = scratch + 2 * m;
    const int a = scale(e, m, f[0], scratch), b = scale(e, m, f[1], high);
    return abut_expansion_sum(scratch, a, high, b, h);
}

void abut_expansion_negate(double *e, int n)
{
    for (int i = 0; i < n; i++) e[i] = -e[i];
}

int abut_expansion_sign(const double *e, int n)
{
    return n == 0 ? 0 : e[n - 1] > 0 ? 1 : -1;
}
