/* Certified Jacobians against dense sampling, against integers of 128 bits, and against themselves on parts of a tet. */
#include "geom/lagrange.h"
#include "geom/jacobian.h"
#include "check.h"

#include <stdint.h>

__extension__ typedef __int128 whole;

static uint64_t state = 1;
static double random_unit(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

enum { N = ABUT_TET_NODES_MAX };
typedef double nodes[N][3];
#define C(x) ((const double(*)[3])(x))

/* A reference tet of edge `size` with its nodes moved by up to `by`; whole numbers if asked for. */
static void tet(int order, double size, double by, int integers, nodes x)
{
    const signed char(*a)[4] = abut_tet_lattice(order);
    for (int i = 0; i < abut_tet_nodes(order); i++)
        for (int d = 0; d < 3; d++) {
            x[i][d] = size * a[i][d + 1] / order + by * random_unit();
            if (integers) x[i][d] = nearbyint(x[i][d]);
        }
}

static void random_point(double L[4])
{
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += L[k] = -log(0.5 + 0.4999999 * random_unit());
    for (int k = 0; k < 4; k++) L[k] /= sum;
}

static void add(int order, nodes x, nodes p, double alpha, nodes out)
{
    for (int i = 0; i < abut_tet_nodes(order); i++)
        for (int d = 0; d < 3; d++) out[i][d] = x[i][d] + alpha * p[i][d];
}

/* order!^3 m^(3 order) det dx/dxi at L = j/m for nodes that are whole numbers */
static whole exact_det(int order, nodes x, const int j[4], int m)
{
    const signed char(*a)[4] = abut_tet_lattice(order);
    static const int factorial[] = { 1, 1, 2, 6, 24 };
    whole J[3][3] = { { 0 } };
    for (int i = 0; i < abut_tet_nodes(order); i++) {
        whole v[4], dv[4], grad[4];
        whole w = factorial[order];
        for (int c = 0; c < 4; c++) {
            v[c] = 1, dv[c] = 0;
            for (int k = 0; k < a[i][c]; k++) {
                const whole f = (whole)order * j[c] - (whole)k * m;
                dv[c] = dv[c] * f + v[c] * order * m;
                v[c] *= f;
            }
            w /= factorial[a[i][c]];
        }
        for (int c = 0; c < 4; c++) {
            grad[c] = w * dv[c];
            for (int k = 0; k < 4; k++)
                if (k != c) grad[c] *= v[k];
        }
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) J[d][c] += (whole)x[i][d] * (grad[c + 1] - grad[0]);
    }
    return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
           J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

/* The least exact value on the lattice of m parts, in m^3. */
static double exact_least(int order, nodes x, int m, int *positive)
{
    static const double factorial[] = { 1, 1, 2, 6, 24 };
    double least = INFINITY;
    *positive = 1;
    for (int j1 = 0; j1 <= m; j1++)
        for (int j2 = 0; j1 + j2 <= m; j2++)
            for (int j3 = 0; j1 + j2 + j3 <= m; j3++) {
                const whole v = exact_det(order, x, (int[]){ m - j1 - j2 - j3, j1, j2, j3 }, m);
                *positive &= v > 0;
                least = fmin(least, (double)v / pow(factorial[order] * pow(m, order), 3));
            }
    return least;
}

static double bernstein_value(int d, const double *c, const double L[4])
{
    double power[4][ABUT_BERNSTEIN_DEGREE + 1], sum = 0;
    for (int k = 0; k < 4; k++) {
        power[k][0] = 1;
        for (int i = 0; i < d; i++) power[k][i + 1] = power[k][i] * L[k];
    }
    int a[4] = { d, 0, 0, 0 };
    do sum += *c++ * abut_bernstein_weight(a) * power[0][a[0]] * power[1][a[1]] * power[2][a[2]] * power[3][a[3]];
    while (abut_bernstein_next(d, a));
    return sum;
}

TEST(bernstein_coefficients_of_nodes_have_the_values_of_lagrange_polynomials)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        nodes x, b;
        double bound[3];
        tet(order, 1, 0.3, 0, x);
        abut_bernstein_of_nodes(order, C(x), b, bound);
        for (int k = 0; k < 50; k++) {
            double L[4], y[3], c[N];
            random_point(L);
            abut_tet_point(order, C(x), L, y, NULL);
            for (int d = 0; d < 3; d++) {
                for (int i = 0; i < abut_tet_nodes(order); i++) c[i] = b[i][d] + x[0][d];
                CHECK_NEAR(bernstein_value(order, c, L), y[d], 4 * bound[d]);
            }
        }
        CHECK(bound[0] > 0 && bound[0] < 1e-12);
    }
}

TEST(halves_of_a_tet_have_the_values_of_the_whole)
{
    for (int degree = 0; degree <= ABUT_BERNSTEIN_DEGREE; degree++)
        for (int edge = 0; edge < 12; edge++) {
            const int i = edge / 3, j = (i + 1 + edge % 3) % 4;
            double all[ABUT_BERNSTEIN_MOST], c[ABUT_BERNSTEIN_MOST], other[ABUT_BERNSTEIN_MOST], L[4], P[4];
            for (int k = 0; k < abut_bernstein_count(degree); k++) c[k] = all[k] = random_unit();
            abut_bernstein_halve(degree, c, i, j, other);
            random_point(L);
            memcpy(P, L, sizeof P);
            P[i] = L[i] + 0.5 * L[j], P[j] = 0.5 * L[j];
            CHECK_NEAR(bernstein_value(degree, c, L), bernstein_value(degree, all, P), 1e-13);
            P[i] = 0.5 * L[i], P[j] = L[j] + 0.5 * L[i];
            CHECK_NEAR(bernstein_value(degree, other, L), bernstein_value(degree, all, P), 1e-13);
        }
}

TEST(coefficients_are_counted_in_the_order_of_their_index)
{
    for (int degree = 0; degree <= ABUT_BERNSTEIN_DEGREE; degree++) {
        int a[4] = { degree, 0, 0, 0 }, n = 0;
        double sum = 0;
        do {
            CHECK(a[0] >= 0 && a[0] + a[1] + a[2] + a[3] == degree);
            CHECK(abut_bernstein_index(a[1], a[2], a[3]) == n++);
            sum += abut_bernstein_weight(a);
        } while (abut_bernstein_next(degree, a));
        CHECK(n == abut_bernstein_count(degree));
        CHECK_NEAR(sum, pow(4, degree), 1e-9 * sum);
    }
}

TEST(answers_agree_with_dense_sampling)
{
    int answers[3] = { 0 };
    for (int order = 1; order <= ABUT_ORDER_MAX; order++)
        for (int k = 0; k < 150; k++) {
            nodes x;
            abut_jacobian_at at = { .det = NAN };
            tet(order, 1, 0.2 * fabs(random_unit()), 0, x);
            const abut_jacobian_sign sign = abut_jacobian_check(order, C(x), &at);
            double least = INFINITY, attained, L[4], J[9];
            for (int i = 0; i < 300; i++) {
                random_point(L);
                least = fmin(least, abut_tet_point(order, C(x), L, NULL, J));
            }
            const double bound = abut_jacobian_least(order, C(x), &attained);
            CHECK(bound <= least && bound <= attained);
            CHECK(!(attained > 0.01) || bound > 0.97 * attained);
            CHECK((sign == ABUT_JACOBIAN_POSITIVE) == (bound > 0));
            if (sign == ABUT_JACOBIAN_NOT_POSITIVE) {
                CHECK_NEAR(abut_tet_point(order, C(x), at.L, NULL, J), at.det, 1e-11);
                CHECK(at.det <= 0);
            }
            answers[sign]++;
        }
    CHECK(answers[ABUT_JACOBIAN_POSITIVE] > 100 && answers[ABUT_JACOBIAN_NOT_POSITIVE] > 100);
    CHECK(answers[ABUT_JACOBIAN_UNDECIDED] == 0);
}

TEST(answers_agree_with_whole_numbers_of_128_bits)
{
    int answers[3] = { 0 };
    for (int order = 2; order <= ABUT_ORDER_MAX; order++)
        for (int k = 0; k < 60; k++) {
            nodes x;
            int positive;
            double attained;
            tet(order, 240, 40 * fabs(random_unit()), 1, x);
            const double least = exact_least(order, x, 6 * order - 5, &positive);
            const double bound = abut_jacobian_least(order, C(x), &attained);
            const abut_jacobian_sign sign = abut_jacobian_check(order, C(x), NULL);
            CHECK(bound <= least);
            CHECK(positive || sign != ABUT_JACOBIAN_POSITIVE);
            answers[sign]++;
        }
    CHECK(answers[ABUT_JACOBIAN_POSITIVE] > 20 && answers[ABUT_JACOBIAN_NOT_POSITIVE] > 20);
}

/* Along edge 01 the map becomes a power of the coordinate: its slope at corner 0, and with it the determinant, is 0 in whole
 * numbers. */
static void flatten(int order, nodes x)
{
    for (int i = 0; i < abut_tet_nodes(order); i++) {
        const signed char *a = abut_tet_lattice(order)[i];
        if (a[2] == 0 && a[3] == 0) x[i][0] = order == 2 ? 60. * a[1] * a[1] : 9. * a[1] * a[1] * a[1], x[i][1] = x[i][2] = 0;
    }
}

TEST(a_determinant_that_is_zero_at_a_corner_is_not_proven_positive)
{
    for (int order = 2; order <= ABUT_ORDER_MAX; order++) {
        nodes x;
        abut_jacobian_at at;
        tet(order, 240, 0, 1, x);
        flatten(order, x);
        CHECK(exact_det(order, x, (int[]){ 1, 0, 0, 0 }, 1) == 0);
        CHECK(abut_jacobian_check(order, C(x), &at) != ABUT_JACOBIAN_POSITIVE);
        CHECK(abut_jacobian_least(order, C(x), NULL) <= 0);
        nodes y;
        for (int i = 0; i < abut_tet_nodes(order); i++)
            for (int d = 0; d < 3; d++) y[i][d] = x[i][d] * 0.1 + 1e3;     /* no whole numbers, far from the origin */
        CHECK(abut_jacobian_check(order, C(y), &at) != ABUT_JACOBIAN_POSITIVE);
    }
}

TEST(a_tet_that_is_positive_at_the_corners_and_nodes_may_invert_in_between)
{
    /* a sharp wave on one edge of a cubic tet: negative between nodes */
    int found = 0;
    for (int k = 0; k < 400; k++) {
        nodes x;
        double L[4], J[9];
        int nodes_positive = 1;
        tet(3, 1, 0.12, 0, x);
        for (int i = 0; i < 20; i++) {
            for (int c = 0; c < 4; c++) L[c] = abut_tet_lattice(3)[i][c] / 3.;
            nodes_positive &= abut_tet_point(3, C(x), L, NULL, J) > 0;
        }
        found += nodes_positive && abut_jacobian_check(3, C(x), NULL) == ABUT_JACOBIAN_NOT_POSITIVE;
    }
    CHECK(found > 5);
}

TEST(a_motion_is_proven_where_every_moment_of_it_is)
{
    int answers[3] = { 0 };
    for (int order = 1; order <= ABUT_ORDER_MAX; order++)
        for (int k = 0; k < 100; k++) {
            nodes x, y, z;
            abut_jacobian_at at = { .det = NAN };
            tet(order, 1, 0.1 / (order * order), 0, x);
            tet(order, 1, 0.4 * fabs(random_unit()) / order, 0, y);
            const abut_jacobian_sign sign = abut_jacobian_check_motion(order, C(x), C(y), &at);
            double J[9], L[4];
            for (int i = 0; i < 40 && sign == ABUT_JACOBIAN_POSITIVE; i++) {
                random_point(L);
                for (int n = 0; n < N; n++)
                    for (int d = 0; d < 3; d++) z[n][d] = x[n][d] + i / 39. * (y[n][d] - x[n][d]);
                CHECK(abut_tet_point(order, C(z), L, NULL, J) > 0);
            }
            if (sign == ABUT_JACOBIAN_NOT_POSITIVE) {
                for (int n = 0; n < N; n++)
                    for (int d = 0; d < 3; d++) z[n][d] = x[n][d] + at.t * (y[n][d] - x[n][d]);
                CHECK_NEAR(abut_tet_point(order, C(z), at.L, NULL, J), at.det, 1e-11);
                CHECK(at.det <= 0);
            }
            answers[sign]++;
        }
    CHECK(answers[ABUT_JACOBIAN_POSITIVE] > 50 && answers[ABUT_JACOBIAN_NOT_POSITIVE] > 50);
    CHECK(answers[ABUT_JACOBIAN_UNDECIDED] == 0);
}

TEST(a_motion_through_a_turned_tet_is_found_though_both_ends_are_positive)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        nodes x, y;
        tet(order, 1, 0, 0, x);
        for (int i = 0; i < abut_tet_nodes(order); i++) y[i][0] = -x[i][0], y[i][1] = -x[i][1], y[i][2] = x[i][2];
        CHECK(abut_jacobian_check(order, C(y), NULL) == ABUT_JACOBIAN_POSITIVE);
        CHECK(abut_jacobian_check_motion(order, C(x), C(y), NULL) != ABUT_JACOBIAN_POSITIVE);
    }
}

TEST(the_largest_step_keeps_its_part_of_the_determinant_everywhere_and_is_not_much_too_short)
{
    const double slack = 0.2;
    int bound = 0;
    for (int order = 1; order <= ABUT_ORDER_MAX; order++)
        for (int k = 0; k < 60; k++) {
            nodes x, p, y;
            tet(order, 1, 0.1 / (order * order), 0, x);
            for (int i = 0; i < N; i++)
                for (int d = 0; d < 3; d++) p[i][d] = 0.5 * random_unit();
            const double alpha = abut_jacobian_max_step(order, C(x), C(p), slack);
            CHECK(alpha > 0 && alpha <= 1);
            add(order, x, p, alpha, y);
            CHECK(abut_jacobian_check_motion(order, C(x), C(y), NULL) == ABUT_JACOBIAN_POSITIVE);
            /* the first time at which a sampled point has less than its part is no earlier, and not much later */
            double first = 1, L[4], J[9];
            for (int i = 0; i < 400; i++) {
                random_point(L);
                if (i < abut_tet_nodes(order))
                    for (int c = 0; c < 4; c++) L[c] = (double)abut_tet_lattice(order)[i][c] / order;
                const double before = abut_tet_point(order, C(x), L, NULL, J);
                for (int s = 1; s <= 200 && s / 200. < first; s++) {
                    add(order, x, p, s / 200., y);
                    if (abut_tet_point(order, C(y), L, NULL, J) < slack * before) first = s / 200.;
                }
            }
            CHECK(alpha <= first + 1e-9);
            CHECK(alpha > 0.6 * first - 0.01);
            bound += alpha < 1;
        }
    CHECK(bound > 100);
}

TEST(the_point_of_the_least_ratio_has_it_and_no_point_of_a_lattice_has_less)
{
    enum { CELLS = 14 };
    int positive = 0, spared = 0;
    for (int order = 1; order <= ABUT_ORDER_MAX; order++)
        for (int k = 0; k < 40; k++) {
            nodes x, X;
            double J[9], least = INFINITY;
            abut_jacobian_at at = { .det = NAN };
            tet(order, 1, 0.25 * fabs(random_unit()) / order, 0, x);
            tet(order, 1, 0.03 / order, 0, X);
            const double bound = abut_jacobian_least_ratio(order, C(x), C(X), INFINITY, &at);
            for (int i = 0; i <= CELLS; i++)
                for (int j = 0; i + j <= CELLS; j++)
                    for (int l = 0; i + j + l <= CELLS; l++) {
                        const double L[4] = { i / (double)CELLS, j / (double)CELLS, l / (double)CELLS,
                                              (CELLS - i - j - l) / (double)CELLS };
                        least = fmin(least, abut_tet_point(order, C(x), L, NULL, J) / abut_tet_point(order, C(X), L, NULL, J));
                    }
            const double there = abut_tet_point(order, C(x), at.L, NULL, J) / abut_tet_point(order, C(X), at.L, NULL, J);
            CHECK_NEAR(there, at.det, 1e-11);
            CHECK_NEAR(at.L[0] + at.L[1] + at.L[2] + at.L[3], 1, 1e-15);
            CHECK(bound <= least && bound <= at.det);
            if (at.det > 0.01) CHECK(bound >= 0.99 * at.det && at.det <= least / 0.99);
            positive += at.det > 0.01;
            /* a bound that is enough is one, and what is below it is found as ever */
            abut_jacobian_at some;
            const double enough = abut_jacobian_least_ratio(order, C(x), C(X), 0.4, &some);
            CHECK(enough <= bound || enough >= 0.4);
            CHECK(enough <= least && (enough >= 0.4 || at.det <= 0.01 || some.det <= least / 0.99));
            spared += enough < bound;
        }
    CHECK(positive > 80 && spared > 10);
}

TEST(a_tet_without_positive_determinant_has_no_step)
{
    nodes x, p = { { 0 } };
    tet(2, 1, 0, 0, x);
    for (int i = 0; i < 10; i++) x[i][0] = -x[i][0];
    CHECK(abut_jacobian_max_step(2, C(x), C(p), 0.2) <= 0);
}

TEST(six_volumes_of_a_tet_are_its_determinant_in_whole_numbers_whatever_the_order_of_its_corners)
{
    static const int32_t even[12][4] = { { 0, 1, 2, 3 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 1, 0, 3, 2 }, { 1, 3, 2, 0 },
                                         { 1, 2, 0, 3 }, { 2, 3, 0, 1 }, { 2, 0, 1, 3 }, { 2, 1, 3, 0 }, { 3, 2, 1, 0 },
                                         { 3, 1, 0, 2 }, { 3, 0, 2, 1 } };
    for (int round = 0; round < 2000; round++) {
        double x[12];
        int64_t e[3][3];
        for (int i = 0; i < 12; i++) x[i] = nearbyint(1000 * random_unit());
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) e[k][d] = (int64_t)(x[3 * (k + 1) + d] - x[d]);
        int64_t sum = 0;
        for (int k = 0; k < 3; k++) {   /* the rule of Sarrus */
            const int64_t *a = e[k], *b = e[(k + 1) % 3], *c = e[(k + 2) % 3];
            sum += a[0] * b[1] * c[2] - a[2] * b[1] * c[0];
        }
        for (int p = 0; p < 12; p++) {
            const int32_t *v = even[p], odd[4] = { v[1], v[0], v[2], v[3] };
            CHECK(abut_tet_volume6(x, v) == (double)sum && abut_tet_volume6(x, odd) == (double)-sum);
        }
    }
}
