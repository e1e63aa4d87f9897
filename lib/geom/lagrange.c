#include "geom/lagrange.h"

#include "geom/bernstein_table.h"
#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const signed char tet1[][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } };
static const signed char tet2[][4] = {
    { 2, 0, 0, 0 }, { 0, 2, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 2 }, { 1, 1, 0, 0 },
    { 0, 1, 1, 0 }, { 1, 0, 1, 0 }, { 1, 0, 0, 1 }, { 0, 0, 1, 1 }, { 0, 1, 0, 1 },
};
static const signed char tet3[][4] = {
    { 3, 0, 0, 0 }, { 0, 3, 0, 0 }, { 0, 0, 3, 0 }, { 0, 0, 0, 3 }, { 2, 1, 0, 0 }, { 1, 2, 0, 0 }, { 0, 2, 1, 0 },
    { 0, 1, 2, 0 }, { 1, 0, 2, 0 }, { 2, 0, 1, 0 }, { 1, 0, 0, 2 }, { 2, 0, 0, 1 }, { 0, 0, 1, 2 }, { 0, 0, 2, 1 },
    { 0, 1, 0, 2 }, { 0, 2, 0, 1 }, { 1, 1, 1, 0 }, { 1, 1, 0, 1 }, { 1, 0, 1, 1 }, { 0, 1, 1, 1 },
};
static const signed char tet4[][4] = {
    { 4, 0, 0, 0 }, { 0, 4, 0, 0 }, { 0, 0, 4, 0 }, { 0, 0, 0, 4 }, { 3, 1, 0, 0 }, { 2, 2, 0, 0 }, { 1, 3, 0, 0 },
    { 0, 3, 1, 0 }, { 0, 2, 2, 0 }, { 0, 1, 3, 0 }, { 1, 0, 3, 0 }, { 2, 0, 2, 0 }, { 3, 0, 1, 0 }, { 1, 0, 0, 3 },
    { 2, 0, 0, 2 }, { 3, 0, 0, 1 }, { 0, 0, 1, 3 }, { 0, 0, 2, 2 }, { 0, 0, 3, 1 }, { 0, 1, 0, 3 }, { 0, 2, 0, 2 },
    { 0, 3, 0, 1 }, { 2, 1, 1, 0 }, { 1, 1, 2, 0 }, { 1, 2, 1, 0 }, { 2, 1, 0, 1 }, { 1, 2, 0, 1 }, { 1, 1, 0, 2 },
    { 2, 0, 1, 1 }, { 1, 0, 1, 2 }, { 1, 0, 2, 1 }, { 0, 1, 1, 2 }, { 0, 2, 1, 1 }, { 0, 1, 2, 1 }, { 1, 1, 1, 1 },
};
static const signed char triangle1[][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const signed char triangle2[][3] = { { 2, 0, 0 }, { 0, 2, 0 }, { 0, 0, 2 }, { 1, 1, 0 }, { 0, 1, 1 }, { 1, 0, 1 } };
static const signed char triangle3[][3] = {
    { 3, 0, 0 }, { 0, 3, 0 }, { 0, 0, 3 }, { 2, 1, 0 }, { 1, 2, 0 }, { 0, 2, 1 }, { 0, 1, 2 }, { 1, 0, 2 }, { 2, 0, 1 },
    { 1, 1, 1 },
};
static const signed char triangle4[][3] = {
    { 4, 0, 0 }, { 0, 4, 0 }, { 0, 0, 4 }, { 3, 1, 0 }, { 2, 2, 0 }, { 1, 3, 0 }, { 0, 3, 1 }, { 0, 2, 2 },
    { 0, 1, 3 }, { 1, 0, 3 }, { 2, 0, 2 }, { 3, 0, 1 }, { 2, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 },
};

const signed char abut_tet_face[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };

const signed char (*abut_tet_lattice(int order))[4]
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    return order == 1 ? tet1 : order == 2 ? tet2 : order == 3 ? tet3 : tet4;
}

const signed char (*abut_triangle_lattice(int order))[3]
{
    assert(order >= 1 && order <= ABUT_ORDER_MAX);
    return order == 1 ? triangle1 : order == 2 ? triangle2 : order == 3 ? triangle3 : triangle4;
}

void abut_tet_face_nodes(int order, int f, int node[ABUT_FACE_NODES_MAX])
{
    const signed char (*tri)[3] = abut_triangle_lattice(order), (*tet)[4] = abut_tet_lattice(order);
    const signed char *corner = abut_tet_face[f];
    for (int i = 0; i < abut_triangle_nodes(order); i++) {
        int n = 0;
        while (tet[n][corner[0]] != tri[i][0] || tet[n][corner[1]] != tri[i][1] || tet[n][corner[2]] != tri[i][2]) n++;
        node[i] = n;
    }
}

/* P(m,t) and its derivative for m = 0 .. order. */
static void silvester(int order, double t, double P[ABUT_ORDER_MAX + 1], double D[ABUT_ORDER_MAX + 1])
{
    P[0] = 1, D[0] = 0;
    for (int j = 0; j < order; j++) {
        const double f = order * t - j;
        D[j + 1] = (D[j] * f + P[j] * order) / (j + 1);
        P[j + 1] = P[j] * f / (j + 1);
    }
}

/* Bases of a simplex of `corners` corners; the tuples lie one after another in `a`. */
static void simplex_basis(int corners, int order, int nodes, const signed char *a, const double *L, double *phi, double *dphi)
{
    double P[4][ABUT_ORDER_MAX + 1], D[4][ABUT_ORDER_MAX + 1];
    for (int c = 0; c < corners; c++) silvester(order, L[c], P[c], D[c]);
    for (int i = 0; i < nodes; i++, a += corners) {
        if (phi) {
            phi[i] = P[0][a[0]];
            for (int c = 1; c < corners; c++) phi[i] *= P[c][a[c]];
        }
        if (!dphi) continue;
        double by[4];
        for (int c = 0; c < corners; c++) {
            by[c] = D[c][a[c]];
            for (int o = 0; o < corners; o++)
                if (o != c) by[c] *= P[o][a[o]];
        }
        for (int c = 1; c < corners; c++) *dphi++ = by[c] - by[0];
    }
}

void abut_tet_basis(int order, const double L[4], double *phi, double (*dphi)[3])
{
    simplex_basis(4, order, abut_tet_nodes(order), abut_tet_lattice(order)[0], L, phi, dphi ? dphi[0] : NULL);
}

void abut_triangle_basis(int order, const double L[3], double *phi, double (*dphi)[2])
{
    simplex_basis(3, order, abut_triangle_nodes(order), abut_triangle_lattice(order)[0], L, phi, dphi ? dphi[0] : NULL);
}

double abut_tet_point(int order, const double (*X)[3], const double L[4], double x[3], double J[9])
{
    double phi[ABUT_TET_NODES_MAX], dphi[ABUT_TET_NODES_MAX][3];
    abut_tet_basis(order, L, x ? phi : NULL, J ? dphi : NULL);
    if (x) x[0] = x[1] = x[2] = 0;
    if (J)
        for (int k = 0; k < 9; k++) J[k] = 0;
    for (int i = 0; i < abut_tet_nodes(order); i++)
        for (int d = 0; d < 3; d++) {
            if (x) x[d] += X[i][d] * phi[i];
            for (int c = 0; J && c < 3; c++) J[3 * d + c] += X[i][d] * dphi[i][c];
        }
    return J ? abut_m3_det(J) : 0;
}

/* Largest coordinate of x - y. */
static double apart(const double *x, const double *y)
{
    return fmax(fabs(x[0] - y[0]), fmax(fabs(x[1] - y[1]), fabs(x[2] - y[2])));
}

int abut_tet_least_order(int order, const double (*X)[3])
{
    const signed char (*node)[4] = abut_tet_lattice(order);
    double size = 0;
    for (int i = 1; i < 4; i++) size = fmax(size, apart(X[i], X[0]));
    for (int low = 1; low < order; low++) {
        const signed char (*lattice)[4] = abut_tet_lattice(low);
        double Y[ABUT_TET_NODES_MAX][3], L[4], x[3], most = 0;
        for (int i = 0; i < abut_tet_nodes(low); i++) {
            for (int c = 0; c < 4; c++) L[c] = lattice[i][c] / (double)low;
            abut_tet_point(order, X, L, Y[i], NULL);
        }
        for (int i = 0; i < abut_tet_nodes(order); i++) {
            for (int c = 0; c < 4; c++) L[c] = node[i][c] / (double)order;
            abut_tet_point(low, (const double (*)[3])Y, L, x, NULL);
            most = fmax(most, apart(x, X[i]));
        }
        if (most <= 1e-12 * size) return low;
    }
    return order;
}

/* ---- Bernstein coefficients ---- */

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
