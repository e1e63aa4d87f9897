#include "geom/bernstein.h"

#include "geom/bernstein_table.h"

#include <assert.h>
#include <math.h>
#include <string.h>

double abut_bernstein_weight(const int a[4])
{
    static const double factorial[ABUT_BERNSTEIN_DEGREE + 1] = { 1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880 };
    return factorial[a[0] + a[1] + a[2] + a[3]] / (factorial[a[0]] * factorial[a[1]] * factorial[a[2]] * factorial[a[3]]);
}

typedef struct table {
    const short (*item)[3];
    int n, denominator, row_sum;
} table;

static table table_of(int order)
{
    static const short one[4][3] = { { 0, 0, 1 }, { 1, 1, 1 }, { 2, 2, 1 }, { 3, 3, 1 } };
    static const table of[ABUT_ORDER_MAX + 1] = {
        [1] = { one, 4, 1, 1 },
#define ROW(r) \
    { BERNSTEIN_##r, sizeof BERNSTEIN_##r / sizeof *BERNSTEIN_##r, BERNSTEIN_##r##_DENOMINATOR, BERNSTEIN_##r##_ROW_SUM }
        [2] = ROW(2), [3] = ROW(3), [4] = ROW(4)
#undef ROW
    };
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    return of[order];
}

void abut_bernstein_of_nodes(int order, const double (*x)[3], double (*b)[3], double bound[3])
{
    const int n = abut_tet_nodes(order);
    const signed char(*a)[4] = abut_tet_lattice(order);
    const table t = table_of(order);
    double d[ABUT_TET_NODES_MAX][3], far[3] = { 0, 0, 0 };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const double v = x[i][k] - x[0][k];
            d[abut_bernstein_index(a[i][1], a[i][2], a[i][3])][k] = v;
            far[k] = fmax(far[k], fabs(v));
        }
    memset(b, 0, (size_t)n * sizeof *b);
    for (int i = 0; i < t.n; i++)
        for (int k = 0; k < 3; k++) b[t.item[i][0]][k] += t.item[i][2] * d[t.item[i][1]][k];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) b[i][k] /= t.denominator;
    /* one rounding for d, one for a product, one for each of at most 35 sums, one for the division */
    for (int k = 0; k < 3 && bound; k++) bound[k] = 40 * 0x1p-53 * t.row_sum * far[k];
}

void abut_bernstein_halve(int d, double *c, int i, int j, double *other)
{
    int rest[2], at[ABUT_BERNSTEIN_DEGREE + 1];
    for (int k = 0, n = 0; k < 4; k++)
        if (k != i && k != j) rest[n++] = k;
    for (int p = 0; p <= d; p++)
        for (int q = 0; p + q <= d; q++) {
            /* de Casteljau on the line of coefficients with a[rest] = p, q */
            const int m = d - p - q;
            double w[ABUT_BERNSTEIN_DEGREE + 1] = { 0 };
            for (int s = 0; s <= m; s++) {
                int a[4];
                a[rest[0]] = p, a[rest[1]] = q, a[i] = m - s, a[j] = s;
                at[s] = abut_bernstein_index(a[1], a[2], a[3]);
                w[s] = c[at[s]];
            }
            other[at[m]] = w[m];
            for (int s = 1; s <= m; s++) {
                for (int k = 0; k <= m - s; k++) w[k] = 0.5 * (w[k] + w[k + 1]);
                c[at[s]] = w[0];
                other[at[m - s]] = w[m - s];
            }
        }
}
