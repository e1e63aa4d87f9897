#include "geom/exact/predicates.h"

#include "geom/exact/zpoly.h"

#include <math.h>
#include <string.h>

/* -- expansions ---------------------------------------------------------------------------------------------------- */

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

/* Negates in place. */
static void expansion_negate(double *e, int n)
{
    for (int i = 0; i < n; i++) e[i] = -e[i];
}

int abut_expansion_sign(const double *e, int n)
{
    return n == 0 ? 0 : e[n - 1] > 0 ? 1 : -1;
}

/* -- orientation --------------------------------------------------------------------------------------------------- */
/* Orientation signs: a plain evaluation with a bound on its error, then expansions, then big integers where the exponents
 * leave the range in which expansions are exact (Shewchuk 1997, sections 4.2-4.3). */

#define EPS 0x1p-53
/* Errors of the plain evaluations, relative to the permanent; products that underflow err by 2^-1075 each instead. */
static const double bound2 = (3 + 16 * EPS) * EPS, bound3 = (7 + 56 * EPS) * EPS;
static const double tiny = 0x1p-1070;

/* Coordinates zero or in this range: a product of three differences has no bit below 2^(3 (-250 - 52)) and none above 2^906 */
static int expansions_are_exact(const double *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] != 0 && !(fabs(v[i]) >= 0x1p-250 && fabs(v[i]) <= 0x1p300)) return 0;
    return 1;
}

/* h[16] = x0 y1 - x1 y0, each factor a difference of two coordinates */
static int cross2(const double *x0, int nx0, const double *y1, int ny1, const double *x1, int nx1, const double *y0,
                  int ny0, double *h)
{
    double p[8], q[8], scratch[8];
    const int np = abut_expansion_times2(x0, nx0, y1, ny1, p, scratch);
    const int nq = abut_expansion_times2(x1, nx1, y0, ny0, q, scratch);
    expansion_negate(q, nq);
    return abut_expansion_sum(p, np, q, nq, h);
}

static int orient2d_expansion(const double *v)
{
    double ax[2], ay[2], bx[2], by[2], h[16];
    const int nax = abut_expansion_diff(v[0], v[4], ax), nay = abut_expansion_diff(v[1], v[5], ay);
    const int nbx = abut_expansion_diff(v[2], v[4], bx), nby = abut_expansion_diff(v[3], v[5], by);
    return abut_expansion_sign(h, cross2(ax, nax, by, nby, bx, nbx, ay, nay, h));
}

/* v[(n + 1) n]: rows of points in n dimensions; D[n][n] the differences to the last row, scaled per axis to integers,
 * which multiplies the determinant by a power of two */
static void big_differences(const double *v, int n, mpz_t D[3][3])
{
    mpz_t last;
    mpz_init(last);
    for (int k = 0; k < n; k++) {
        double axis[4];
        for (int i = 0; i <= n; i++) axis[i] = v[i * n + k];
        const int e = abut_big_exponent(axis, n + 1);
        abut_big_set(last, axis[n], e);
        for (int i = 0; i < n; i++) {
            mpz_init(D[i][k]);
            abut_big_set(D[i][k], axis[i], e);
            mpz_sub(D[i][k], D[i][k], last);
        }
    }
    mpz_clear(last);
}

static int orient2d_big(const double *v)
{
    mpz_t D[3][3], det;
    mpz_init(det);
    big_differences(v, 2, D);
    mpz_mul(det, D[0][0], D[1][1]);
    mpz_submul(det, D[0][1], D[1][0]);
    const int sign = mpz_sgn(det);
    for (int i = 0; i < 4; i++) mpz_clear(D[i / 2][i % 2]);
    mpz_clear(det);
    return sign;
}

static int orient2d_exact(const double *v)
{
    if (expansions_are_exact(v, 6)) return orient2d_expansion(v);
    return abut_all_finite(v, 6) ? orient2d_big(v) : 0;
}

int abut_orient2d(const double a[2], const double b[2], const double c[2])
{
    const double l = (a[0] - c[0]) * (b[1] - c[1]), r = (a[1] - c[1]) * (b[0] - c[0]);
    const double det = l - r;
    if (fabs(det) > bound2 * (fabs(l) + fabs(r)) + tiny) return det > 0 ? 1 : -1;
    return orient2d_exact((const double[6]){ a[0], a[1], b[0], b[1], c[0], c[1] });
}

static int orient3d_expansion(const double *v)
{
    double d[3][3][2];
    int n[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) n[i][k] = abut_expansion_diff(v[3 * i + k], v[9 + k], d[i][k]);

    double sum[192], next[192], term[64], minor[16], scratch[64];
    int ns = 0;
    for (int i = 0; i < 3; i++) {   /* along the z column: z_i (x_j y_k - x_k y_j), (i, j, k) cyclic */
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const int nm = cross2(d[j][0], n[j][0], d[k][1], n[k][1], d[k][0], n[k][0], d[j][1], n[j][1], minor);
        const int nt = abut_expansion_times2(minor, nm, d[i][2], n[i][2], term, scratch);
        const int nn = abut_expansion_sum(sum, ns, term, nt, next);
        for (int q = 0; q < nn; q++) sum[q] = next[q];
        ns = nn;
    }
    return abut_expansion_sign(sum, ns);
}

static int orient3d_big(const double *v)
{
    mpz_t D[3][3], minor, det;
    mpz_inits(minor, det, NULL);
    big_differences(v, 3, D);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        mpz_mul(minor, D[j][0], D[k][1]);
        mpz_submul(minor, D[k][0], D[j][1]);
        mpz_addmul(det, minor, D[i][2]);
    }
    const int sign = mpz_sgn(det);
    for (int i = 0; i < 9; i++) mpz_clear(D[i / 3][i % 3]);
    mpz_clears(minor, det, NULL);
    return sign;
}

static int orient3d_exact(const double *v)
{
    if (expansions_are_exact(v, 12)) return orient3d_expansion(v);
    return abut_all_finite(v, 12) ? orient3d_big(v) : 0;
}

int abut_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    const double ax = a[0] - d[0], ay = a[1] - d[1], az = a[2] - d[2];
    const double bx = b[0] - d[0], by = b[1] - d[1], bz = b[2] - d[2];
    const double cx = c[0] - d[0], cy = c[1] - d[1], cz = c[2] - d[2];
    const double bxcy = bx * cy, cxby = cx * by, cxay = cx * ay, axcy = ax * cy, axby = ax * by, bxay = bx * ay;

    const double det = az * (bxcy - cxby) + bz * (cxay - axcy) + cz * (axby - bxay);
    const double permanent = (fabs(bxcy) + fabs(cxby)) * fabs(az) + (fabs(cxay) + fabs(axcy)) * fabs(bz)
                           + (fabs(axby) + fabs(bxay)) * fabs(cz);
    /* overflow makes the bound infinite or NaN, and the comparison false */
    const double bound = bound3 * permanent + tiny * (1 + fabs(az) + fabs(bz) + fabs(cz));
    if (fabs(det) > bound) return det > 0 ? 1 : -1;
    return orient3d_exact((const double[12]){ a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2] });
}

static int plane_side_big(const double n[3], const double p[3], const double x[3])
{
    mpz_t a, b, sum;
    mpz_inits(a, b, sum, NULL);
    /* one exponent for the normal, one for the points: the axes must stay comparable */
    const int en = abut_big_exponent(n, 3);
    const double px[6] = { p[0], p[1], p[2], x[0], x[1], x[2] };
    const int ex = abut_big_exponent(px, 6);
    for (int k = 0; k < 3; k++) {
        abut_big_set(a, x[k], ex);
        abut_big_set(b, p[k], ex);
        mpz_sub(a, a, b);
        abut_big_set(b, n[k], en);
        mpz_addmul(sum, a, b);
    }
    const int sign = mpz_sgn(sum);
    mpz_clears(a, b, sum, NULL);
    return sign;
}

int abut_plane_side(const double n[3], const double p[3], const double x[3])
{
    const double t0 = n[0] * (x[0] - p[0]), t1 = n[1] * (x[1] - p[1]), t2 = n[2] * (x[2] - p[2]);
    const double dot = t0 + t1 + t2;
    /* each term: difference 1, product 1, two additions 2; doubled for the rounding of the bound itself */
    if (fabs(dot) > 8 * EPS * (fabs(t0) + fabs(t1) + fabs(t2)) + tiny) return dot > 0 ? 1 : -1;
    const double v[9] = { n[0], n[1], n[2], p[0], p[1], p[2], x[0], x[1], x[2] };
    return abut_all_finite(v, 9) ? plane_side_big(n, p, x) : 0;
}

/* -- touching ------------------------------------------------------------------------------------------------------ */
/* Touching, decided by orientation signs alone.  A plane or a line is projected along an axis in which it keeps its
 * dimension; that axis is found exactly, never by the size of a floating-point normal. */

/* the two coordinates left when axis k is dropped */
static void drop(const double p[3], int k, double q[2])
{
    q[0] = p[(k + 1) % 3];
    q[1] = p[(k + 2) % 3];
}

static int orient_axis(int k, const double a[3], const double b[3], const double c[3])
{
    double p[2], q[2], r[2];
    drop(a, k, p);
    drop(b, k, q);
    drop(c, k, r);
    return abut_orient2d(p, q, r);
}

/* an axis along which a, b, c do not project onto a line; -1 when they are on one line in space */
static int valid_axis(const double a[3], const double b[3], const double c[3])
{
    for (int k = 0; k < 3; k++)
        if (orient_axis(k, a, b, c)) return k;
    return -1;
}

/* p in the box of a, b; a NaN is in every box */
static int in_box(const double p[3], const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if ((p[k] < a[k] && p[k] < b[k]) || (p[k] > a[k] && p[k] > b[k])) return 0;
    return 1;
}

static int one_sign(int s, int t, int u)
{
    return (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
}

/* p in the plane of a triangle that keeps its area along axis k */
static int in_triangle_along(int k, const double p[3], const double a[3], const double b[3], const double c[3])
{
    return one_sign(orient_axis(k, a, b, p), orient_axis(k, b, c, p), orient_axis(k, c, a, p));
}

/* coplanar segments, not all on one line, along an axis that keeps their plane */
static int cross_along(int k, const double p[3], const double q[3], const double a[3], const double b[3])
{
    return orient_axis(k, p, q, a) * orient_axis(k, p, q, b) <= 0 && orient_axis(k, a, b, p) * orient_axis(k, a, b, q) <= 0;
}

int abut_touch_point_edge(const double p[3], const double a[3], const double b[3])
{
    return in_box(p, a, b) && valid_axis(p, a, b) < 0;
}

int abut_touch_edge_edge(const double p[3], const double q[3], const double a[3], const double b[3])
{
    if (abut_orient3d(p, q, a, b)) return 0;
    const double *const triple[4][3] = { { p, q, a }, { p, q, b }, { a, b, p }, { a, b, q } };
    for (int i = 0; i < 4; i++) {
        const int k = valid_axis(triple[i][0], triple[i][1], triple[i][2]);
        if (k >= 0) return cross_along(k, p, q, a, b);
    }
    /* one line: an end of one lies between the ends of the other */
    return in_box(p, a, b) || in_box(q, a, b) || in_box(a, p, q);
}

int abut_touch_point_tri(const double p[3], const double a[3], const double b[3], const double c[3])
{
    if (abut_orient3d(a, b, c, p)) return 0;
    const int k = valid_axis(a, b, c);
    if (k >= 0) return in_triangle_along(k, p, a, b, c);
    return abut_touch_point_edge(p, a, b) || abut_touch_point_edge(p, b, c) || abut_touch_point_edge(p, c, a);
}

static int touch_any_side(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
    return abut_touch_edge_edge(p, q, a, b) || abut_touch_edge_edge(p, q, b, c) || abut_touch_edge_edge(p, q, c, a);
}

int abut_touch_edge_tri(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
    const int sp = abut_orient3d(a, b, c, p), sq = abut_orient3d(a, b, c, q);
    if (sp * sq > 0) return 0;
    if (sp || sq) return one_sign(abut_orient3d(p, q, a, b), abut_orient3d(p, q, b, c), abut_orient3d(p, q, c, a));

    /* both in the plane, or the triangle has no plane and is the union of its sides */
    const int k = valid_axis(a, b, c);
    if (k >= 0 && in_triangle_along(k, p, a, b, c)) return 1;
    return touch_any_side(p, q, a, b, c);
}

int abut_touch_point_tet(const double p[3], const double a[3], const double b[3], const double c[3], const double d[3])
{
    const int v = abut_orient3d(a, b, c, d);
    if (v)
        return v * abut_orient3d(p, b, c, d) >= 0 && v * abut_orient3d(a, p, c, d) >= 0
            && v * abut_orient3d(a, b, p, d) >= 0 && v * abut_orient3d(a, b, c, p) >= 0;
    /* flat: the union of its faces (Caratheodory) */
    return abut_touch_point_tri(p, a, b, c) || abut_touch_point_tri(p, a, b, d) || abut_touch_point_tri(p, a, c, d)
        || abut_touch_point_tri(p, b, c, d);
}

int abut_fold_over(const double a[3], const double b[3], const double c[3], const double d[3])
{
    if (abut_orient3d(a, b, c, d)) return 0;
    const int k = valid_axis(a, b, c);
    return k >= 0 && orient_axis(k, a, b, c) * orient_axis(k, a, b, d) > 0;
}
