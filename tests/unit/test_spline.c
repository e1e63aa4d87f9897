/* Curves and what densities are made of them. */
#include "base/rng.h"
#include "energy/elastic.h"
#include "energy/material/model_laws.h"

#include "check.h"
#include "fit_one.h"

enum { N = 161 };

/* slopes of a model of the form a(s) + b(ss) + c(sss), at many knots: StVK or neo-Hookean */
static void slopes_of(int model, double mu, double lambda, double *knot, double *slope)
{
    for (int i = 0; i < N; i++) {
        const double x = knot[i] = 0.2 + 0.0125 * i;
        const int nh = model == ABUT_NEO_HOOKEAN;
        slope[3 * i] = nh ? mu * x : (mu + lambda / 2) * (x * x - 1) * x - lambda * x;
        slope[3 * i + 1] = nh ? 0 : lambda * x / 2;
        slope[3 * i + 2] = nh ? -mu / x + lambda * log(x) / x : 0;
    }
}

TEST(a_spline_through_the_slopes_of_a_material_is_that_material)
{
    static const int model[2] = { ABUT_STVK, ABUT_NEO_HOOKEAN };
    abut_rng r = { 5 };
    for (int c = 0; c < 2; c++) {
        double knot[N], slope[3 * N];
        abut_spline s;
        slopes_of(model[c], 3, 7, knot, slope);
        CHECK(!abut_spline_init(&s, N, knot, slope, NULL));
        for (int round = 0; round < 200; round++) {
            const double t[3] = { abut_rng_real(&r, 1, 1.3), abut_rng_real(&r, 0.9, 1), abut_rng_real(&r, 0.6, 0.9) };
            abut_principal p, q;
            abut_spline_principal(&s, t, &p);
            abut_density_principal(model[c], 3, 7, t, &q);
            CHECK_NEAR(p.psi, q.psi, 2e-3);
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(p.d[i], q.d[i], 2e-2);
                CHECK_NEAR(p.flip[i], q.flip[i], 0.2);
                CHECK_NEAR(p.twist[i], q.twist[i], 2e-2);
            }
            for (int i = 0; i < 9; i++) CHECK_NEAR(p.A[i], q.A[i], 0.4);
        }
        CHECK_NEAR(fit_one(ABUT_SPLINE, &s, 1, 0, 0.5, 1.5), fit_lame(model[c], 3, 7, 0.5, 1.5), 2e-3);
        abut_spline_clear(&s);
    }
}

TEST(curves_are_monotone_between_knots_straight_beyond_and_once_differentiable)
{
    static const double knot[6] = { 0.4, 0.7, 1, 1.1, 1.6, 2 },
                        slope[18] = { -9, 0, 0, -2, 0, 0, 0, 0, 0, 0.1, 0, 0, 5, 0, 0, 5.5, 0, 0 };
    abut_spline s;
    CHECK(!abut_spline_init(&s, 6, knot, slope, NULL));
    double last = -INFINITY, d;
    for (int i = 0; i <= 3000; i++) {
        const double x = 0.3 + 1.8 * i / 3000, y = abut_curve_at(&s.a, x, &d, NULL);
        CHECK(y >= last - 1e-12 && d >= -1e-12);
        last = y;
        double up, down;
        const double h = 1e-6, rise = (abut_curve_at(&s.a, x + h, &up, NULL) - abut_curve_at(&s.a, x - h, &down, NULL)) / (2 * h);
        CHECK_NEAR(rise, d, 1e-3);
        CHECK_NEAR(up, down, 1e-3);
    }
    double at0, at1;
    abut_curve_at(&s.a, -3, &at0, NULL);
    abut_curve_at(&s.a, 0.4, &at1, NULL);
    CHECK(at0 == at1);
    abut_spline_clear(&s);
}

TEST(steep_and_uneven_data_make_no_curve_swing)
{
    abut_rng r = { 7 };
    for (int round = 0; round < 100; round++) {
        double knot[7], slope[21] = { 0 }, d;
        for (int i = 0; i < 7; i++) {
            knot[i] = i ? knot[i - 1] + abut_rng_real(&r, 0.02, 0.4) : 0.3;
            slope[3 * i] = i ? slope[3 * i - 3] + exp(abut_rng_real(&r, -6, 6)) : 0;
        }
        abut_spline s;
        CHECK(!abut_spline_init(&s, 7, knot, slope, NULL));
        const double shift = abut_curve_at(&s.a, knot[0], NULL, NULL) - slope[0];      /* rest is free of stress */
        for (int i = 0; i < 7; i++) {
            CHECK_NEAR(abut_curve_at(&s.a, knot[i], NULL, NULL) - shift, slope[3 * i], 1e-11 * slope[18]);
            for (int k = 0; k <= 20 && i < 6; k++) {
                (void)abut_curve_at(&s.a, knot[i] + (knot[i + 1] - knot[i]) * k / 20, &d, NULL);
                CHECK(d >= -1e-9 * slope[18]);
            }
        }
        abut_spline_clear(&s);
    }
}

TEST(integral_and_chord_agree_with_sums_and_differences)
{
    abut_rng r = { 6 };
    double knot[9], slope[27];
    for (int i = 0; i < 9; i++) {
        knot[i] = 0.3 + 0.2 * i + abut_rng_real(&r, 0, 0.1);
        for (int k = 0; k < 3; k++) slope[3 * i + k] = abut_rng_real(&r, -2, 2);
    }
    abut_spline s;
    CHECK(!abut_spline_init(&s, 9, knot, slope, NULL));
    for (int round = 0; round < 50; round++) {
        const double u = abut_rng_real(&r, -1, 3), v = abut_rng_real(&r, -1, 3);
        double area, sum = 0;
        abut_curve_at(&s.b, u, NULL, &area);
        for (int i = 0; i < 20000; i++) sum += abut_curve_at(&s.b, 1 + (u - 1) * (i + 0.5) / 20000, NULL, NULL) * (u - 1) / 20000;
        CHECK_NEAR(area, sum, 1e-6);
        CHECK_NEAR(abut_curve_chord(&s.b, u, v) * (u - v),
                   abut_curve_at(&s.b, u, NULL, NULL) - abut_curve_at(&s.b, v, NULL, NULL), 1e-12);
        double d;
        abut_curve_at(&s.b, u, &d, NULL);
        CHECK_NEAR(abut_curve_chord(&s.b, u, u), d, 1e-12);
        CHECK_NEAR(abut_curve_chord(&s.b, u, u + 1e-9), d, 1e-6);
    }
    abut_spline_clear(&s);
}
