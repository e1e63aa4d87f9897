#include "energy/elastic.h"

#include "check.h"
#include "fit_one.h"
#include "kuhn.h"

/* Simpson's rule for the integral form of the fit, on the stress by a difference of the density itself. */
static double integral_fit(int model, double mu, double lambda, double lo, double hi)
{
    enum { N = 2000 };
    double stress = 0, square = 0;
    for (int i = 0; i <= N; i++) {
        const double x = lo + (hi - lo) * i / N, w = i == 0 || i == N ? 1 : i % 2 ? 4 : 2, h = 1e-5;
        const double up[9] = { x + h, 0, 0, 0, 1, 0, 0, 0, 1 }, down[9] = { x - h, 0, 0, 0, 1, 0, 0, 0, 1 };
        const double f = (abut_psi(model, mu, lambda, up, NULL) - abut_psi(model, mu, lambda, down, NULL)) / (2 * h);
        stress += w * f * (x - 1);
        square += w * (x - 1) * (x - 1);
    }
    return stress / square;
}

/* Regression of f over the samples, worked out from the formulas of f: corotated (2 mu + lambda)(x - 1); StVK (mu + lambda/2)
 * (x^3 - x); neo-Hookean mu (x - 1/x) + lambda ln(x)/x; polynomial 4 mu (x - 1)^3.  That of neo-Hookean over 0.8 .. 1.2 is
 * printed in Liu 2018, 8.1. */
TEST(fitted_stiffness_has_the_values_of_the_regression)
{
    static const struct {
        int model;
        double lo, hi, mu, lambda, digits;
    } row[] = {
        { ABUT_LINEAR_COROTATED, 0.5, 1.5, 2, 1, 1e-13 },           { ABUT_LINEAR_COROTATED, 0.8, 1.2, 2, 1, 1e-13 },
        { ABUT_FIXED_COROTATED, 0.5, 1.5, 2, 1, 1e-13 },            { ABUT_ARAP, 0.5, 1.5, 2, 0, 1e-13 },
        { ABUT_STVK, 0.8, 1.2, 2.02518, 1.01259, 6e-6 },            { ABUT_STVK, 0.5, 1.5, 2.15298, 1.07649, 6e-6 },
        { ABUT_NEO_HOOKEAN, 0.8, 1.2, 2.02596, 1.04795, 6e-6 },     { ABUT_NEO_HOOKEAN, 0.5, 1.5, 2.18783, 1.36263, 6e-6 },
        { ABUT_POLYNOMIAL, 0.8, 1.2, 0.10072, 0, 6e-6 },            { ABUT_POLYNOMIAL, 0.5, 1.5, 0.61192, 0, 6e-6 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const double mu = fit_lame(row[i].model, 1, 0, row[i].lo, row[i].hi);
        CHECK_NEAR(mu, row[i].mu, row[i].digits);
        CHECK_NEAR(fit_lame(row[i].model, 1, 1, row[i].lo, row[i].hi) - mu, row[i].lambda, row[i].digits);
    }
}

TEST(fitted_stiffness_is_near_the_integral_fit_of_the_density_for_every_material)
{
    for (int model = 0; abut_material_names[model]; model++) {
        if (model == ABUT_SPLINE) continue;     /* of user's curves: below */
        const double want = integral_fit(model, 3, 7, 0.5, 1.5), k = fit_lame(model, 3, 7, 0.5, 1.5);
        CHECK_NEAR(k, want, 0.025 * want);
    }
}

TEST(stretches_that_are_closer_than_the_samples_are_fitted)
{
    CHECK_NEAR(fit_lame(ABUT_LINEAR_COROTATED, 2, 1, 0.999, 1.002), 5, 1e-12);
}

TEST(materials_of_a_model_are_fitted_by_their_own_moduli)
{
    kuhn_box b;
    abut_elastic e;
    abut_err err = { 0 };
    double k[6];
    kuhn_build(&b, 1, 1, 0, 6);
    b.young[3] = 2e5;
    CHECK(!abut_elastic_init(&e, &b.model, &err));
    CHECK(!abut_stiffness_fit_materials(&e, ABUT_FIT_LOW, ABUT_FIT_HIGH, k, &err));
    for (int i = 0; i < 6; i++) {
        CHECK(k[i] == fit_one(b.mat_model[i], NULL, b.young[i], b.poisson[i], ABUT_FIT_LOW, ABUT_FIT_HIGH));
    }
    CHECK(abut_stiffness_fit_materials(&e, 1.1, 1.5, k, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "1.1 .. 1.5"));
    b.poisson[5] = -0.9;  
    CHECK(!abut_stiffness_fit_materials(&e, 0.5, 1.5, k, &err));
    b.mat_model[0] = ABUT_NEO_HOOKEAN, b.poisson[0] = -0.999;   /* lambda is nearly -mu, and its logarithm outweighs mu */
    CHECK(abut_stiffness_fit_materials(&e, 0.01, 1.01, k, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "material 0"));
    abut_elastic_clear(&e);
    kuhn_free(&b);
}
