/* The tables of laws: properties of every row, examples included. */
#include "base/rng.h"
#include "energy/contact_laws.h"
#include "energy/barrier_pair.h"
#include "energy/friction.h"
#include "energy/material/materials.h"
#include "energy/material/principal_inline.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static int are_distinct(const char *const *names)
{
    int same = 0;
    for (int i = 0; names[i]; i++)
        for (int j = 0; j < i; j++) same += !strcmp(names[i], names[j]);
    return !same;
}

TEST(every_row_has_a_name_of_its_own_a_formula_and_functions)
{
    CHECK(are_distinct(abut_barrier_names) && are_distinct(abut_friction_names) && are_distinct(abut_material_names));
    CHECK(abut_names_count(abut_barrier_names) >= ABUT_BARRIER_FORMS);
    CHECK(abut_names_count(abut_friction_names) >= ABUT_FRICTION_FORMS);
    CHECK(abut_names_count(abut_material_names) > ABUT_SPLINE);
    for (int i = 0; abut_barrier_names[i]; i++) CHECK(abut_barrier_laws[i]->help && abut_barrier_laws[i]->value);
    for (int i = 0; abut_friction_names[i]; i++) CHECK(abut_friction_laws[i]->help && abut_friction_laws[i]->f0);
    for (int i = 0; abut_material_names[i]; i++)
        CHECK(abut_materials[i]->help && !abut_materials[i]->principal == (i < ABUT_MATERIAL_FORMS || i == ABUT_SPLINE));
    CHECK(!strcmp(abut_barrier_names[ABUT_BARRIER_IPC], "ipc") && !strcmp(abut_friction_names[ABUT_FRICTION_C1], "c1"));
    CHECK(!strcmp(abut_material_names[ABUT_STVK], "stvk") && !strcmp(abut_material_names[ABUT_SPLINE], "spline"));
}

TEST(traits_of_materials_with_forms_are_those_that_kernels_know)
{
    for (int i = 0; i < ABUT_MATERIAL_FORMS; i++) CHECK(abut_form_injective(i) == abut_material_injective(i));
    char text[200], few[12];
    CHECK(!strcmp(abut_materials_with(ABUT_MATERIAL_PLANE, text, sizeof text), "neo-hookean, fixed-corotated or stvk"));
    CHECK(strlen(abut_materials_with(ABUT_MATERIAL_PLANE, few, sizeof few)) < sizeof few);
}

/* Falling, convex, 0 at its end, and of the size of Dhat^2 between: so that one stiffness fits any unit of length. */
TEST(every_barrier_falls_is_convex_ends_at_dhat_and_scales_with_its_square)
{
    for (int n = 0; abut_barrier_names[n]; n++)
        for (double q = 1e-9; q < 0.999; q = q < 0.5 ? q * 1.7 : q + 0.0173) {
            double db, ddb, up, down, big[2], none;
            const double Dhat = 1e-3, D = q * Dhat, h = 1e-5 * fmin(D, Dhat - D);
            const abut_barrier_law law = { Dhat, n, 0, 0, 0 }, grown = { 8 * Dhat, n, 0, 0, 0 };
            const double b = abut_barrier(law, D, &db, &ddb);
            CHECK(b > 0 && db < 0 && ddb > 0);
            const double vu = abut_barrier(law, D + h, &up, NULL), vd = abut_barrier(law, D - h, &down, NULL);
            CHECK_NEAR((vu - vd) / (2 * h), db, 1e-7 * fabs(db));
            CHECK_NEAR((up - down) / (2 * h), ddb, 1e-7 * ddb);
            CHECK_NEAR(abut_barrier(grown, 8 * D, &big[0], &big[1]), 64 * b, 1e-12 * 64 * b);
            CHECK_NEAR(big[0], 8 * db, 1e-12 * 8 * fabs(db));
            CHECK_NEAR(big[1], ddb, 1e-12 * ddb);
            CHECK_NEAR(abut_barrier(law, Dhat * (1 - 1e-9), &none, NULL), 0, 1e-8 * Dhat * Dhat);
        }
}

TEST(every_barrier_has_a_stiffness_by_its_own_curvature)
{
    for (int n = 0; abut_barrier_names[n]; n++) {
        double ddb;
        const double l = 3, d = 1e-8 * l, mass = 0.2, kappa = abut_kappa_min(l, abut_barrier_law_of(1e-3 * l, n, 0), mass);
        (void)abut_barrier(abut_barrier_law_of(1e-3 * l, n, 0), d * d, NULL, &ddb);
        CHECK_NEAR(kappa * 4 * d * d * ddb, 1e11 * mass, 1e-3 * 1e11 * mass);
    }
}

TEST(every_friction_law_is_convex_pulls_at_most_as_coulomb_does_and_slides_far_from_rest)
{
    const double w = 0.01;
    for (int n = 0; abut_friction_names[n]; n++) {
        double a, b, before = 0;
        for (double y = 1e-5; y < 5 * w; y += 1.37e-4) {
            double up, down, none;
            const double h = 1e-7, f0 = abut_friction_f0(n, y, w, &a, &b);
            const double vu = abut_friction_f0(n, y + h, w, &up, &none), vd = abut_friction_f0(n, y - h, w, &down, &none);
            CHECK(f0 >= before && a * y <= 1 + 1e-15 && b >= 0);
            before = f0;
            if (fabs(y - w) < 2 * h) continue;
            CHECK_NEAR((vu - vd) / (2 * h), a * y, 1e-7);
            CHECK_NEAR((up * (y + h) - down * (y - h)) / (2 * h), b, 1e-5 / w);
        }
        (void)abut_friction_f0(n, 0, w, &a, &b);
        CHECK(isfinite(a) && a > 0 && fabs(b - a) < 1e-9 * a);     /* as stiff in every direction at rest */
        (void)abut_friction_f0(n, 100 * w, w, &a, NULL);
        CHECK_NEAR(100 * w * a, 1, 1e-3);
    }
}

/* ---- what makes principal forms of fewer derivatives ---- */

static void neo_hookean(double mu, double lambda, const double s[3], abut_principal *out)
{
    double I[3];
    abut_invariants(s, I);
    const double J = I[2], L = log(J);
    const abut_invariant_form w = { mu / 2 * (I[0] - 3) - mu * L + lambda / 2 * L * L, { mu / 2, 0, (lambda * L - mu) / J },
                                    { [8] = (lambda * (1 - L) + mu) / (J * J) } };
    abut_principal_of_invariants(s, &w, out);
}

/* lambda/2 tr(E)^2 + mu E:E by invariants: E:E = (I^2 - 2 II - 2 I + 3)/4 */
static void stvk(double mu, double lambda, const double s[3], abut_principal *out)
{
    double I[3];
    abut_invariants(s, I);
    const double tr = (I[0] - 3) / 2;
    const abut_invariant_form w = { lambda / 2 * tr * tr + mu / 4 * (I[0] * I[0] - 2 * I[1] - 2 * I[0] + 3),
                                    { lambda / 2 * tr + mu / 2 * (I[0] - 1), -mu / 2, 0 }, { lambda / 4 + mu / 2 } };
    abut_principal_of_invariants(s, &w, out);
}

static void polynomial(double mu, double lambda, const double s[3], double *psi, double d[3], double A[9])
{
    (void)lambda;
    *psi = 0;
    memset(A, 0, 9 * sizeof *A);
    for (int i = 0; i < 3; i++) {
        *psi += mu * pow(s[i] - 1, 4);
        d[i] = 4 * mu * pow(s[i] - 1, 3);
        A[4 * i] = 12 * mu * pow(s[i] - 1, 2);
    }
}

static void corotated(double mu, double lambda, const double s[3], double *psi, double d[3], double A[9])
{
    const double J = s[0] * s[1] * s[2];
    *psi = lambda / 2 * (J - 1) * (J - 1);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        *psi += mu * (s[i] - 1) * (s[i] - 1);
        d[i] = 2 * mu * (s[i] - 1) + lambda * (J - 1) * s[j] * s[k];
        A[4 * i] = 2 * mu + lambda * s[j] * s[j] * s[k] * s[k];
        A[3 * j + k] = A[3 * k + j] = lambda * (2 * J - 1) * s[i];
    }
}

static void compare(int model, const double s[3], const abut_principal *got)
{
    abut_principal want;
    const double size = 3 + 7, tol = 2e-11;
    abut_density_principal(model, 3, 7, s, &want);
    CHECK_NEAR(got->psi, want.psi, tol * size);
    for (int i = 0; i < 9; i++) CHECK_NEAR(got->A[i], want.A[i], tol * size);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(got->d[i], want.d[i], tol * size);
        CHECK_NEAR(got->flip[i], want.flip[i], tol * size);
        CHECK_NEAR(got->twist[i], want.twist[i], tol * size);
    }
}

TEST(principal_forms_of_invariants_and_of_stretches_are_those_written_out)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 2000; k++) {
        const double c = abut_rng_real(&r, 0.6, 1.5), near = k % 4 ? 0.3 * pow(10, -(k % 12)) : 0;   /* equal ones, too */
        const double s[3] = { c + near * abut_rng_real(&r, 0, 1), c, c - (k % 3 ? near : 0.2) * abut_rng_real(&r, 0, 1) };
        abut_principal p;
        neo_hookean(3, 7, s, &p);
        compare(ABUT_NEO_HOOKEAN, s, &p);
        stvk(3, 7, s, &p);
        compare(ABUT_STVK, s, &p);
        abut_principal_of_stretches(polynomial, 3, 7, s, &p);
        compare(ABUT_POLYNOMIAL, s, &p);
        abut_principal_of_stretches(corotated, 3, 7, s, &p);
        compare(ABUT_FIXED_COROTATED, s, &p);
    }
}
