/* Closest points of sets of deformation gradients against brute force, and the fibre term by differences. */
#include "base/rng.h"
#include "energy/material/model_laws.h"
#include "math/spd_inline.h"

#include "check.h"

TEST(closest_stretches_of_volume_one_are_those_of_the_reference)
{
    static const double s[][3] = { { 1.2, 1.1, 1.0 }, { 1.5, 1.5, 1.5 }, { 2, 1, 0.5 } };
    static const double d[][3] = { { -0.0857292104567640, -0.0950555583618799, -0.106967628588393 },
                                   { -0.5, -0.5, -0.5 },
                                   { 0, 0, 0 } };
    for (int c = 0; c < 3; c++) {
        double p[3];
        abut_project_volume(s[c], p);
        for (int i = 0; i < 3; i++) CHECK_NEAR(p[i] - s[c][i], d[c][i], 1e-12);
        CHECK_NEAR(p[0] * p[1] * p[2], 1, 1e-13);
    }
}

static double dist2(const double a[3], const double b[3])
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

/* every point of the surface p0 p1 p2 = 1 with two positive coordinates, on a grid and then refined around the best */
TEST(no_point_of_volume_one_is_closer_than_the_projection)
{
    abut_rng r = { 41 };
    for (int round = 0; round < 60; round++) {
        double s[3] = { abut_rng_real(&r, 0.2, 2.5), abut_rng_real(&r, 0.2, 2.5), abut_rng_real(&r, -0.8, 2.5) }, p[3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++)
                if (s[j] < s[i]) {
                    const double t = s[i];
                    s[i] = s[j], s[j] = t;
                }
        if (s[1] < fabs(s[2])) continue;
        abut_project_volume(s, p);
        CHECK_NEAR(p[0] * p[1] * p[2], 1, 1e-12);
        double best = INFINITY, lo[2] = { 0.02, 0.02 }, hi[2] = { 4, 4 }, at[2] = { 0 };
        for (int level = 0; level < 12; level++) {
            for (int i = 0; i <= 60; i++)
                for (int j = 0; j <= 60; j++) {
                    const double a = lo[0] + (hi[0] - lo[0]) * i / 60, b = lo[1] + (hi[1] - lo[1]) * j / 60,
                                 q[3] = { a, b, 1 / (a * b) };
                    if (a > 0 && b > 0 && dist2(q, s) < best) best = dist2(q, s), at[0] = a, at[1] = b;
                }
            for (int k = 0; k < 2; k++) {
                const double reach = 4 * (hi[k] - lo[k]) / 60;
                lo[k] = at[k] - reach, hi[k] = at[k] + reach;
            }
        }
        CHECK_NEAR(dist2(p, s), best, 1e-9);
    }
}

TEST(projections_are_idempotent)
{
    abut_rng r = { 42 };
    for (int round = 0; round < 200; round++) {
        const double a = abut_rng_real(&r, 1, 1.9), b = abut_rng_real(&r, 0.8, 1), s[3] = { a, b, 1 / (a * b) };
        double p[3];
        if (s[2] > b) continue;
        abut_project_volume(s, p);
        CHECK(dist2(p, s) < 1e-24);
    }
    abut_principal q = { 0 };
    abut_strain_principal(7, 0.9, 1.2, (const double[]){ 1.2, 1, 0.9 }, &q);
    CHECK(q.psi == 0 && q.d[0] == 0 && q.d[2] == 0);
}

/* k/2 |F - P|^2 of the nearest diagonal P with entries in the range: brute force over a grid of P */
TEST(the_strain_term_is_the_squared_distance_to_the_range)
{
    abut_rng r = { 43 };
    for (int round = 0; round < 100; round++) {
        double s[3] = { abut_rng_real(&r, 1, 2), abut_rng_real(&r, 0.8, 1), abut_rng_real(&r, -0.7, 0.8) }, sum = 0;
        abut_principal q = { 0 };
        abut_strain_principal(3, 0.9, 1.15, s, &q);
        for (int i = 0; i < 3; i++) {
            double best = INFINITY;
            for (int k = 0; k <= 10000; k++) best = fmin(best, fabs(s[i] - (0.9 + 0.25 * k / 10000)));
            sum += best * best;
        }
        CHECK_NEAR(q.psi, 1.5 * sum, 1e-4);
    }
}

static void random_fibre(abut_rng *r, double d[3], double F[9])
{
    double n = 0;
    for (int i = 0; i < 3; i++) d[i] = abut_rng_real(r, -1, 1), n += d[i] * d[i];
    for (int i = 0; i < 3; i++) d[i] /= sqrt(n);
    for (int i = 0; i < 9; i++) F[i] = (i % 4 == 0) + abut_rng_real(r, -0.8, 0.8);
}

TEST(fibres_pull_with_the_derivative_of_their_energy)
{
    abut_rng r = { 44 };
    for (int round = 0; round < 100; round++) {
        double d[3], F[9], P[9] = { 0 }, M[9], w[3], Q[9];
        random_fibre(&r, d, F);
        abut_fibre_psi(5, d, F, P);
        for (int i = 0; i < 9; i++) {
            const double f = F[i], h = 1e-6;
            F[i] = f + h;
            const double up = abut_fibre_psi(5, d, F, NULL);
            F[i] = f - h;
            CHECK_NEAR((up - abut_fibre_psi(5, d, F, NULL)) / (2 * h), P[i], 1e-7);
            F[i] = f;
        }
        double l2 = 0;
        for (int i = 0; i < 3; i++) l2 += pow(F[3 * i] * d[0] + F[3 * i + 1] * d[1] + F[3 * i + 2] * d[2], 2);
        abut_fibre_hessian(5, d, F, 1, M);
        abut_sym_eigen(3, M, w, Q);
        for (int i = 0; i < 3; i++) CHECK(w[i] >= -1e-12 && w[i] <= 5 + 1e-12);
        if (l2 < 1.01) continue;    /* stretched: the projection has nothing to do */
        for (int i = 0; i < 9; i++) {
            double up[9] = { 0 }, down[9] = { 0 };
            const double f = F[i], h = 1e-6;
            F[i] = f + h;
            abut_fibre_psi(5, d, F, up);
            F[i] = f - h;
            abut_fibre_psi(5, d, F, down);
            F[i] = f;
            for (int j = 0; j < 9; j++)
                CHECK_NEAR((up[j] - down[j]) / (2 * h), M[3 * (j / 3) + i / 3] * d[j % 3] * d[i % 3], 1e-6);
        }
    }
}
