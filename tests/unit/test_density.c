#include "base/rng.h"
#include "energy/material/density_inline.h"
#include "energy/elastic.h"
#include "energy/material/model_laws.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "math/spd_inline.h"

#include "check.h"

#include <stdlib.h>

/* The table; a spline in place of ABUT_SPLINE; then what adds to a material. */
enum { VOLUME = 1000, STRETCH, MODELS };
#define EACH(model) (int model = 0; model < MODELS; model = abut_density_known(model + 1) || model >= VOLUME ? model + 1 : VOLUME)
static const double MU = 3.0, LAMBDA = 7.0, LOW = 0.9, HIGH = 1.15;
static abut_spline spline;

/* C = A^T B */
static void mul_tn(double C[9], const double A[9], const double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

static int in_table(int model) { return abut_density_known(model) && model != ABUT_SPLINE; }
static int injective(int model) { return abut_density_known(model) && abut_material_injective(model); }
/* linear elasticity at rest */
static int has_moduli(int model) { return in_table(model) && model != ABUT_POLYNOMIAL; }

/* psi of corotated linear elasticity is a(s) = mu (s - 1)^2 + lambda/2 (s^2 - 6 s), b(x) = lambda x: knots of its slopes, bent */
static void make_spline(void)
{
    enum { N = 13 };
    double knot[N], slope[3 * N];
    abut_rng r = { 17 };
    for (int i = 0; i < N; i++) {
        const double x = knot[i] = 0.17 + 0.21 * i;
        slope[3 * i] = 2 * MU * (x - 1) + LAMBDA * (x - 3) + abut_rng_real(&r, -0.5, 0.5);
        slope[3 * i + 1] = LAMBDA + 0.3 * x * x + abut_rng_real(&r, -0.1, 0.1);
        slope[3 * i + 2] = 2 * (x - 1) + abut_rng_real(&r, -0.1, 0.1);
    }
    if (abut_spline_init(&spline, N, knot, slope, NULL)) abort();
}

static void principal_of(int model, double mu, double lambda, const double s[3], abut_principal *p)
{
    *p = (abut_principal){ 0 };
    if (model == ABUT_SPLINE) abut_spline_principal(&spline, s, p);
    else if (model == VOLUME) abut_volume_principal(MU, s, p);
    else if (model == STRETCH) abut_strain_principal(MU, LOW, HIGH, s, p);
    else abut_density_principal(model, mu, lambda, s, p);
}

static double psi_of(int model, double mu, double lambda, const double F[9], double *P)
{
    double U[9], s[3], V[9];
    abut_principal p;
    if (in_table(model)) return abut_psi(model, mu, lambda, F, P);
    abut_svd3(F, U, s, V);
    principal_of(model, mu, lambda, s, &p);
    if (P) abut_stress_principal(&p, U, V, P);
    return p.psi;
}

static void psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project)
{
    double U[9], s[3], V[9];
    abut_principal p;
    if (in_table(model)) {
        abut_psi_hess(model, mu, lambda, F, H, project);
        return;
    }
    abut_svd3(F, U, s, V);
    principal_of(model, mu, lambda, s, &p);
    if (project) abut_principal_project_one(&p);
    abut_principal_hess(&p, U, V, H);
}

static void random_matrix(abut_rng *r, double size, double F[9])
{
    for (int i = 0; i < 9; i++) F[i] = (i % 4 == 0) + abut_rng_real(r, -size, size);
}

/* near rest, with J > 0.1 where the material asks for it */
static void random_state(abut_rng *r, int model, double F[9])
{
    do random_matrix(r, 0.8, F);
    while (abut_m3_det(F) < 0.1 && injective(model));
}

static double size_of(int n, const double *A)
{
    double s = 0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(A[i]));
    return s;
}

/* sums of functions of stretches, of their products by two, and of all three */
TEST(mooney_rivlin_is_its_sum_of_functions_of_stretches_and_goes_to_infinity_as_volume_does_to_zero)
{
    abut_rng r = { 5 };
    const double a = 0.4 * MU, b = 0.1 * MU, c = LAMBDA / 4 - b;
    for (int k = 0; k < 200; k++) {
        abut_principal p;
        double t[3], s[3], psi = 0;
        for (int i = 0; i < 3; i++) t[i] = abut_rng_real(&r, 0.3, 2);
        s[0] = fmax(t[0], fmax(t[1], t[2])), s[2] = fmin(t[0], fmin(t[1], t[2])), s[1] = t[0] + t[1] + t[2] - s[0] - s[2];
        const double J = s[0] * s[1] * s[2];
        for (int i = 0; i < 3; i++) psi += a * (s[i] * s[i] - 1) + b * (pow(s[i] * s[(i + 1) % 3], 2) - 1);
        psi += c * (J * J - 1) - 2 * (a + 2 * b + c) * log(J);
        abut_density_principal(ABUT_SPLINE + 1, MU, LAMBDA, s, &p);
        CHECK_NEAR(p.psi, psi, 1e-12 * fmax(1, psi));
        for (int i = 0; i < 3; i++) {
            const double u = s[(i + 1) % 3], v = s[(i + 2) % 3];
            const double d = 2 * a * s[i] + 2 * b * s[i] * (u * u + v * v) + (2 * c * J - 2 * (a + 2 * b + c) / J) * u * v;
            CHECK_NEAR(p.d[i], d, 1e-12 * fmax(1, fabs(d)));
        }
    }
    CHECK(!strcmp(abut_material_names[ABUT_SPLINE + 1], "mooney-rivlin"));
    for (double s = 1e-3; s > 1e-60; s *= 1e-3) {
        const double flat[9] = { s, 0, 0, 0, 1, 0, 0, 0, 1 }, flatter[9] = { 1e-3 * s, 0, 0, 0, 1, 0, 0, 0, 1 };
        CHECK(abut_psi(ABUT_SPLINE + 1, MU, LAMBDA, flatter, NULL) > 3 + abut_psi(ABUT_SPLINE + 1, MU, LAMBDA, flat, NULL));
    }
    const double inverted[9] = { -0.1, 0, 0, 0, 1, 0, 0, 0, 1 };
    CHECK(abut_psi(ABUT_SPLINE + 1, MU, LAMBDA, inverted, NULL) == INFINITY);
}

/* K |F^T F - 1|^2 with K = mu/4: its value by F, and the nine eigenvalues of its second derivative in closed form (Lan 2022). */
TEST(the_orthogonality_energy_has_nine_eigenvalues_in_closed_form)
{
    abut_rng r = { 8 };
    for (int k = 0; k < 200; k++) {
        double F[9], U[9], s[3], V[9], H[81], w[9], Q[81], want[9], C[9], psi = 0;
        random_state(&r, ABUT_ORTHOGONAL, F);
        abut_svd3(F, U, s, V);
        mul_tn(C, F, F);
        for (int i = 0; i < 9; i++) psi += MU / 4 * (C[i] - (i % 4 == 0)) * (C[i] - (i % 4 == 0));
        CHECK_NEAR(abut_psi(ABUT_ORTHOGONAL, MU, LAMBDA, F, NULL), psi, 1e-13 * fmax(1, psi));
        for (int i = 0; i < 3; i++) {
            const double a = s[i], b = s[(i + 1) % 3];
            want[3 * i] = MU * (3 * a * a - 1);
            want[3 * i + 1] = MU * (a * a + a * b + b * b - 1), want[3 * i + 2] = MU * (a * a - a * b + b * b - 1);
        }
        for (int project = 0; project < 2; project++) {
            abut_psi_hess(ABUT_ORTHOGONAL, MU, LAMBDA, F, H, project);
            abut_sym_eigen(9, H, w, Q);
            for (int i = 0; i < 9; i++) {
                double nearest = INFINITY;
                for (int j = 0; j < 9; j++) nearest = fmin(nearest, fabs(w[i] - (project ? fmax(0, want[j]) : want[j])));
                CHECK(nearest < 1e-12 * size_of(81, H));
            }
        }
    }
}

TEST(stress_is_the_derivative_of_the_density)
{
    abut_rng r = { 1 };
    for EACH(model)
        for (int k = 0; k < 200; k++) {
            double F[9], P[9];
            const double h = 1e-6;
            random_state(&r, model, F);
            psi_of(model, MU, LAMBDA, F, P);
            for (int i = 0; i < 9; i++) {
                const double f = F[i];
                F[i] = f + h;
                const double up = psi_of(model, MU, LAMBDA, F, NULL);
                F[i] = f - h;
                const double down = psi_of(model, MU, LAMBDA, F, NULL);
                F[i] = f;
                CHECK_NEAR((up - down) / (2 * h), P[i], 3e-8 * fmax(1, size_of(9, P)));
            }
        }
}

/* the twist of the corotated models is singular where two stretches sum to zero, a range of stretches has a kink of the second
 * derivative at both ends, and far from rest the closest point of volume 1 jumps: stay away from there */
static int is_smooth(int model, const double F[9])
{
    double U[9], s[3], V[9];
    abut_svd3(F, U, s, V);
    for (int i = 0; i < 3 && model == STRETCH; i++)
        if (fabs(s[i] - LOW) < 1e-3 || fabs(s[i] - HIGH) < 1e-3) return 0;
    return s[1] + s[2] > 0.2 && !(model == VOLUME && (s[1] > 1.6 || s[2] < 0.05));
}

TEST(second_derivative_is_the_derivative_of_the_stress)
{
    abut_rng r = { 2 };
    for EACH(model)
        for (int k = 0; k < 200; k++) {
            double F[9], H[81], up[9], down[9];
            const double h = 1e-6;
            random_state(&r, model, F);
            if (!is_smooth(model, F)) continue;
            psi_hess(model, MU, LAMBDA, F, H, 0);
            for (int i = 0; i < 9; i++) {
                const double f = F[i];
                F[i] = f + h;
                psi_of(model, MU, LAMBDA, F, up);
                F[i] = f - h;
                psi_of(model, MU, LAMBDA, F, down);
                F[i] = f;
                for (int j = 0; j < 9; j++) {
                    CHECK_NEAR((up[j] - down[j]) / (2 * h), H[9 * j + i], 2e-7 * size_of(81, H));
                    CHECK_NEAR(H[9 * j + i], H[9 * i + j], 1e-13 * size_of(81, H));
                }
            }
        }
}

TEST(second_derivative_stays_exact_at_equal_stretches)
{
    static const double states[][9] = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                                        { 1.5, 0, 0, 0, 1.5, 0, 0, 0, 1.5 },
                                        { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 1.2 },
                                        { 0, -0.7, 0, 0.7, 0, 0, 0, 0, 0.7 } };
    for EACH(model)
        for (size_t c = 0; c < sizeof states / sizeof *states; c++) {
            double F[9], H[81], up[9], down[9];
            memcpy(F, states[c], sizeof F);
            psi_hess(model, MU, LAMBDA, F, H, 0);
            for (int i = 0; i < 9; i++) {
                const double f = F[i], h = 1e-5;
                F[i] = f + h;
                psi_of(model, MU, LAMBDA, F, up);
                F[i] = f - h;
                psi_of(model, MU, LAMBDA, F, down);
                F[i] = f;
                for (int j = 0; j < 9; j++)
                    CHECK_NEAR((up[j] - down[j]) / (2 * h), H[9 * j + i], 1e-8 * fmax(MU, size_of(81, H)));
            }
        }
}

TEST(rest_is_free_of_energy_and_stress_and_has_the_linear_elastic_eigenvalues)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for EACH(model) {
        double P[9], H[81], w[9], Q[81];
        CHECK_NEAR(psi_of(model, MU, LAMBDA, I, P), 0, 1e-15);
        for (int i = 0; i < 9; i++) CHECK_NEAR(P[i], 0, 1e-14);
        psi_hess(model, MU, LAMBDA, I, H, 0);
        abut_sym_eigen(9, H, w, Q);
        int zero = 0, shear = 0, bulk = 0;
        for (int i = 0; i < 9; i++) {
            zero += fabs(w[i]) < 1e-13;
            shear += fabs(w[i] - 2 * MU) < 1e-13;
            bulk += fabs(w[i] - 2 * MU - 3 * LAMBDA) < 1e-13;
        }
        CHECK(zero == (model == ABUT_POLYNOMIAL || model == STRETCH ? 9 : model == VOLUME ? 8 : 3));
        if (model == ABUT_POLYNOMIAL || model == STRETCH) CHECK(size_of(81, H) < 1e-13);
        else if (!has_moduli(model)) continue;
        else CHECK(model == ABUT_ARAP || model == ABUT_ORTHOGONAL ? shear == 6 : shear == 5 && bulk == 1);
    }
}

TEST(rotation_changes_no_energy_and_turns_the_stress)
{
    abut_rng r = { 3 };
    for EACH(model)
        for (int k = 0; k < 100; k++) {
            double F[9], A[9], R[9], s[3], V[9], RF[9], P[9], PR[9], RP[9];
            random_state(&r, model, F);
            random_matrix(&r, 3, A);
            abut_svd3(A, R, s, V);
            abut_m3_mul(RF, R, F);
            const double psi = psi_of(model, MU, LAMBDA, F, P);
            CHECK_NEAR(psi_of(model, MU, LAMBDA, RF, PR), psi, 1e-13 * fmax(1, fabs(psi)));
            abut_m3_mul(RP, R, P);
            for (int i = 0; i < 9; i++) CHECK_NEAR(PR[i], RP[i], 1e-12 * fmax(1, size_of(9, P)));
            abut_m3_mul_nt(RF, F, R);   /* isotropy: psi(F R^T) = psi(F) */
            CHECK_NEAR(psi_of(model, MU, LAMBDA, RF, NULL), psi, 1e-13 * fmax(1, fabs(psi)));
        }
}

TEST(closed_form_projection_equals_the_dense_eigen_projection)
{
    abut_rng r = { 4 };
    for EACH(model)
        for (int k = 0; k < 300; k++) {
            double F[9], H[81], full[81];
            random_state(&r, model, F);
            psi_hess(model, MU, LAMBDA, F, full, 0);
            psi_hess(model, MU, LAMBDA, F, H, 1);
            abut_psd_project(9, full);
            for (int i = 0; i < 81; i++) CHECK_NEAR(H[i], full[i], 1e-12 * size_of(81, full));
        }
}

TEST(value_from_stretches_equals_the_value_from_the_deformation)
{
    abut_rng r = { 5 };
    for EACH(model)
        for (int k = 0; k < 100; k++) {
            double F[9], U[9], s[3], V[9], P[9], UP[9], D[9];
            abut_principal p;
            random_state(&r, model, F);
            abut_svd3(F, U, s, V);
            principal_of(model, MU, LAMBDA, s, &p);
            const double psi = psi_of(model, MU, LAMBDA, F, P);
            CHECK_NEAR(p.psi, psi, 1e-13 * fmax(1, fabs(psi)));
            mul_tn(UP, U, P);
            abut_m3_mul(D, UP, V);
            for (int i = 0; i < 9; i++) CHECK_NEAR(D[i], i % 4 ? 0 : p.d[i / 4], 2e-12 * fmax(1, size_of(9, P)));
        }
}

TEST(value_and_stress_from_the_rotation_equal_those_from_the_stretches)
{
    abut_rng r = { 21 };
    int models = 0;
    for (int model = 0; abut_material_names[model]; model++) {
        if (abut_density_need(model) != ABUT_NEEDS_ROTATION) continue;
        models++;
        for (int k = 0; k < 500; k++) {
            abut_lanes F[9], R[9], P[9], psi, mu, lambda;
            double f[ABUT_LANES][9], p[9];
            for (int l = 0; l < ABUT_LANES; l++) {      /* inverted ones too */
                random_matrix(&r, k % 2 ? 0.3 : 1.5, f[l]);
                for (int i = 0; i < 9; i++) F[i][l] = f[l][i];
                mu[l] = MU + l;
                lambda[l] = LAMBDA - l;
            }
            abut_polar3_lanes(F, R);
            abut_density_rotated(model, &mu, &lambda, F, R, &psi, P);
            for (int l = 0; l < ABUT_LANES; l++) {
                double U[9], s[3], V[9];
                abut_svd3(f[l], U, s, V);
                if (s[1] + s[2] < 1e-3) continue;
                CHECK_NEAR(psi[l], abut_psi(model, mu[l], lambda[l], f[l], p), 1e-12 * fmax(1, psi[l]));
                for (int i = 0; i < 9; i++) CHECK_NEAR(P[i][l], p[i], 1e-13 * fmax(1, size_of(9, p)) / (s[1] + s[2]));
            }
        }
    }
    CHECK(models == 3);
}

/* Four different states at once against one at a time, to the bit. */
TEST(lanes_do_not_see_each_other)
{
    abut_rng r = { 31 };
    int projected = 0;
    for (int model = 0; abut_material_names[model]; model++) {
        if (!in_table(model)) continue;
        for (int k = 0; k < 300; k++) {
            abut_lanes F[9], P[9] = { { 0 } }, s[3], psi = { 0 }, mu, lambda;
            double f[ABUT_LANES][9], stretch[ABUT_LANES][3], U[9], V[9];
            abut_principals raw, all;
            for (size_t l = 0; l < ABUT_LANES; l++) {
                random_state(&r, model, f[l]);
                abut_svd3(f[l], U, stretch[l], V);
                for (int i = 0; i < 9; i++) F[i][l] = f[l][i];
                for (int i = 0; i < 3; i++) s[i][l] = stretch[l][i];
                mu[l] = MU + (double)l;
                lambda[l] = LAMBDA - (double)l;
            }
            if (abut_density_need(model) == ABUT_NEEDS_F) abut_density_direct(model, &mu, &lambda, F, &psi, P);
            abut_density_principals(model, &mu, &lambda, s, &raw);
            all = raw;
            abut_principals_project(&all);
            for (size_t l = 0; l < ABUT_LANES; l++) {
                abut_principal one;
                abut_principals same = all, whole = raw;
                double p[9] = { 0 };
                abut_density_principal(model, mu[l], lambda[l], stretch[l], &one);
                abut_principals_set(&whole, l, &one);
                CHECK(!memcmp(&whole, &raw, sizeof raw));
                abut_principal_project_one(&one);
                abut_principals_set(&same, l, &one);
                CHECK(!memcmp(&same, &all, sizeof all));
                projected += memcmp(&same.A, &whole.A, sizeof same.A) != 0;
                if (abut_density_need(model) != ABUT_NEEDS_F) continue;
                CHECK(abut_psi(model, mu[l], lambda[l], f[l], p) == psi[l]);
                for (int i = 0; i < 9; i++) CHECK(p[i] == P[i][l]);
            }
        }
    }
    CHECK(projected > 100);
}

TEST(injective_materials_are_infinite_when_flat_or_inverted_and_the_others_are_not)
{
    static const double flat[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 0 }, inverted[9] = { 1, 0, 0, 0, 1, 0, 0, 0, -0.5 };
    for EACH(model) {
        const int never = injective(model);
        CHECK(isinf(psi_of(model, MU, LAMBDA, flat, NULL)) == never);
        CHECK(isinf(psi_of(model, MU, LAMBDA, inverted, NULL)) == never);
    }
    CHECK(abut_material_injective(ABUT_NEO_HOOKEAN));
}

/* The traits of the row are what is true of the density (model/laws_table.h). */
TEST(injective_materials_grow_without_bound_as_they_collapse_and_energies_have_the_lower_bound_of_their_row)
{
    for EACH(model)
        for (double s = 1e-3; s > 1e-60 && injective(model) && model != ABUT_ORTHOGONAL; s *= 1e-3) {
            const double flat[9] = { s, 0, 0, 0, 1, 0, 0, 0, 1 }, flatter[9] = { 1e-3 * s, 0, 0, 0, 1, 0, 0, 0, 1 };
            CHECK(psi_of(model, MU, LAMBDA, flatter, NULL) > 0.5 * MU + psi_of(model, MU, LAMBDA, flat, NULL));
        }
    for EACH(model)
        for (double e = -60; e <= 60 && has_moduli(model); e += 3) {
            const double least = fmax(abut_material_least_poisson(model) + 1e-3, -0.9), s = pow(10, e);
            const double F[3][9] = { { s, 0, 0, 0, s, 0, 0, 0, s }, { s, 0, 0, 0, s, 0, 0, 0, 1 },
                                     { s, 0, 0, 0, 1, 0, 0, 0, 1 } };
            for (int k = 0; k < 6; k++) {
                const double poisson = k % 2 ? 0.3 : least, lambda = 2 * MU * poisson / (1 - 2 * poisson);
                const double psi = psi_of(model, MU, lambda, F[k / 2], NULL);
                CHECK(psi > -100 * MU);
                if (!(psi > -100 * MU)) printf("# %s at %g, Poisson's ratio %g\n", abut_material_names[model], s, poisson);
            }
        }
}

TEST(second_derivative_is_finite_through_collapse_and_inversion)
{
    static const double s[][3] = { { 1, 1, 0 }, { 1, 0, 0 }, { 0, 0, 0 }, { 1, 0.5, -0.5 }, { 1, 1, -1 }, { 2, 1, -1e-7 } };
    for EACH(model)
        for (size_t c = 0; !injective(model) && c < sizeof s / sizeof *s; c++) {
            const double F[9] = { s[c][0], 0, 0, 0, s[c][1], 0, 0, 0, s[c][2] };
            double H[81], w[9], Q[81];
            psi_hess(model, MU, LAMBDA, F, H, 0);
            for (int i = 0; i < 81; i++) CHECK(isfinite(H[i]));
            psi_hess(model, MU, LAMBDA, F, H, 1);
            abut_sym_eigen(9, H, w, Q);
            for (int i = 0; i < 9; i++) CHECK(isfinite(w[i]) && w[i] >= -1e-13 * size_of(81, H));
        }
}

SETUP
{
    make_spline();
}

TEARDOWN
{
    abut_spline_clear(&spline);
}
