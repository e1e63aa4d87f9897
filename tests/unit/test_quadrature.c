/* Quadrature rules against integrals of monomials in rational numbers: that of L1^a L2^b L3^c over a simplex of dimension d is
 * a! b! c! d! / (a+b+c+d)! times its volume, one over a product of binomials. */
#include "check.h"

#include "geom/quadrature.h"

#include <stdint.h>

static abut_quadrature made(int corners, int degree)
{
    abut_quadrature q;
    abut_err err = { 0 };
    CHECK(!(corners == 4 ? abut_quadrature_tet : abut_quadrature_triangle)(degree, &q, &err));
    CHECK(q.corners == corners && q.degree >= degree);
    return q;
}

/* n over k, exactly. */
static uint64_t choose(int n, int k)
{
    uint64_t c = 1;
    for (int i = 1; i <= k; i++) c = c * (uint64_t)(n - k + i) / (uint64_t)i;
    return c;
}

enum { TOP = 26 };     /* of monomials: one above a rule of degree 24, which has 25 */
typedef long double powers[4][TOP + 1];

/* The largest relative error of the monomials of a degree, summed in extended precision; power[i] those of the coordinates. */
static double worst(const abut_quadrature *q, powers *power, int degree)
{
    const int d = q->corners - 1;
    long double most = 0;
    for (int a = 0; a <= degree; a++)
        for (int b = 0; b <= degree - a; b++) {
            const int c = degree - a - b;
            if (d == 2 && c) continue;
            const uint64_t one_over = choose(degree + d, d) * choose(degree, a) * choose(degree - a, b);
            long double sum = 0;
            for (int i = 0; i < q->n; i++) sum += q->w[i] * power[i][1][a] * power[i][2][b] * (d == 3 ? power[i][3][c] : 1);
            most = fmaxl(most, fabsl(sum * (long double)one_over - 1));
        }
    return (double)most;
}

TEST(t3_every_rule_is_exact_to_its_degree_and_not_one_above)
{
    for (int corners = 3; corners <= 4; corners++)
        for (int degree = 0; degree < TOP - 1; degree++) {
            abut_quadrature q = made(corners, degree);
            powers *power = malloc(sizeof *power * (size_t)q.n);
            for (int i = 0; i < q.n; i++)
                for (int c = 0; c < corners; c++) {
                    power[i][c][0] = 1;
                    for (int k = 1; k <= TOP; k++) power[i][c][k] = power[i][c][k - 1] * q.L[corners * i + c];
                }
            for (int k = 0; k <= q.degree; k++) CHECK_NEAR(worst(&q, power, k), 0, 8e-15);
            const double above = worst(&q, power, q.degree + 1);
            CHECK(above > 1e-14 * q.n && (q.degree > 9 || above > 1e-5));
            free(power);
            abut_quadrature_clear(&q);
        }
}

TEST(points_are_inside_and_weights_positive)
{
    for (int corners = 3; corners <= 4; corners++)
        for (int degree = 0; degree <= ABUT_QUADRATURE_MAX; degree++) {
            abut_quadrature q = made(corners, degree);
            double sum = 0;
            for (int i = 0; i < q.n; i++) {
                double L = 0;
                for (int c = 0; c < corners; c++) {
                    CHECK(q.L[corners * i + c] > 0);
                    L += q.L[corners * i + c];
                }
                CHECK(q.w[i] > 0);
                CHECK_NEAR(L, 1, 3e-16);
                sum += q.w[i];
            }
            CHECK_NEAR(sum, 1, 1e-14);
            abut_quadrature_clear(&q);
            CHECK(!q.n && !q.L);
        }
}

TEST(rules_have_the_published_numbers_of_points)
{
    const int tet[10] = { 1, 1, 4, 8, 14, 14, 24, 35, 46, 62 }, tri[10] = { 1, 1, 3, 6, 6, 7, 12, 16, 16, 25 };
    for (int degree = 0; degree < 10; degree++) {
        abut_quadrature a = made(4, degree), b = made(3, degree);
        CHECK(a.n == tet[degree]);
        CHECK(b.n == tri[degree]);
        abut_quadrature_clear(&a), abut_quadrature_clear(&b);
    }
    const int elastic[4] = { 1, 4, 14, 24 }, mass[4] = { 4, 14, 24, 46 };
    for (int k = 1; k <= 4; k++) {
        abut_quadrature a = made(4, abut_degree_elastic(k, 1)), b = made(4, abut_degree_mass(k, 1));
        CHECK(a.n == elastic[k - 1]);
        CHECK(b.n == mass[k - 1]);
        CHECK(6 * a.n >= 3 * (k + 1) * (k + 2) * (k + 3) / 6 - 6);      /* enough for the rank of an element */
        abut_quadrature_clear(&a), abut_quadrature_clear(&b);
    }
}
