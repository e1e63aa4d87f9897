/* Quadrature rules against integrals of monomials: the integral of L1^a L2^b L3^c over a simplex of dimension d is
 * a! b! c! d! / (a+b+c+d)! times its volume. */
#include "check.h"

#include "geom/quadrature.h"

static abut_quadrature made(int corners, int degree)
{
    abut_quadrature q;
    abut_err err = { 0 };
    CHECK(!(corners == 4 ? abut_quadrature_tet : abut_quadrature_triangle)(degree, &q, &err));
    CHECK(q.corners == corners && q.degree >= degree);
    return q;
}

/* The largest relative error of the monomials of a degree. */
static double worst(const abut_quadrature *q, int degree)
{
    const int d = q->corners - 1;
    double most = 0;
    for (int a = 0; a <= degree; a++)
        for (int b = 0; b <= degree - a; b++) {
            const int c = degree - a - b;
            if (d == 2 && c) continue;
            double exact = 0, sum = 0;
            exact = exp(lgamma(a + 1) + lgamma(b + 1) + lgamma(c + 1) + lgamma(d + 1) - lgamma(degree + d + 1));
            for (int i = 0; i < q->n; i++) {
                const double *L = q->L + q->corners * i;
                sum += q->w[i] * pow(L[1], a) * pow(L[2], b) * (d == 3 ? pow(L[3], c) : 1);
            }
            most = fmax(most, fabs(sum - exact) / exact);
        }
    return most;
}

TEST(every_rule_is_exact_to_its_degree_and_not_one_above)
{
    for (int corners = 3; corners <= 4; corners++)
        for (int degree = 0; degree <= 24; degree++) {
            abut_quadrature q = made(corners, degree);
            for (int k = 0; k <= q.degree; k++) CHECK_NEAR(worst(&q, k), 0, k < 9 ? 1e-14 : 2e-13);
            CHECK(worst(&q, q.degree + 1) > 1e-14 * q.n && (q.degree > 8 || worst(&q, q.degree + 1) > 1e-5));
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
    const int tet[9] = { 1, 1, 4, 8, 14, 14, 24, 35, 46 }, tri[9] = { 1, 1, 3, 6, 6, 7, 12, 16, 16 };
    for (int degree = 0; degree < 9; degree++) {
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
