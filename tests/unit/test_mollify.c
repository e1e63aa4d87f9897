/* The edge-edge mollifier and the sliding plane. */
#include "check.h"

#include "base/rng.h"
#include "geom/dist.h"

static void random_points(abut_rng *r, double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = abut_rng_real(r, -1, 1);
}

TEST(cross2_derivatives_match_finite_differences)
{
    abut_rng r = { 1 };
    const double h = 1e-5;
    for (int n = 0; n < 100; n++) {
        double x[12], g[12], H[144];
        random_points(&r, x, 12);
        const double c = abut_cross2(x, g, H);
        double uu = 0, vv = 0, uv = 0;
        for (int k = 0; k < 3; k++) {
            const double u = x[3 + k] - x[k], v = x[9 + k] - x[6 + k];
            uu += u * u, vv += v * v, uv += u * v;
        }
        CHECK_NEAR(c, uu * vv - uv * uv, 1e-13);
        for (int i = 0; i < 12; i++) {
            double p[12], q[12], gp[12], gq[12];
            memcpy(p, x, sizeof p), memcpy(q, x, sizeof q);
            p[i] += h, q[i] -= h;
            CHECK_NEAR(g[i], (abut_cross2(p, gp, NULL) - abut_cross2(q, gq, NULL)) / (2 * h), 1e-7);
            for (int j = 0; j < 12; j++) {
                CHECK_NEAR(H[12 * i + j], (gp[j] - gq[j]) / (2 * h), 1e-7);
                CHECK(H[12 * i + j] == H[12 * j + i]);
            }
        }
    }
}

TEST(cross2_of_parallel_or_empty_edges_is_zero_with_zero_gradient)
{
    const double par[12] = { 0, 0, 0, 1, 2, 3, 5, 5, 5, 7, 9, 11 }, empty[12] = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0 };
    double g[12];
    CHECK(abut_cross2(par, g, NULL) == 0);
    for (int i = 0; i < 12; i++) CHECK(g[i] == 0);
    CHECK(abut_cross2(empty, g, NULL) == 0);
}

TEST(mollifier_rises_from_0_to_1_and_is_c1)
{
    const double eps = abut_mollify_eps(4, 0.25);
    CHECK(eps == 1e-3);
    double d1, d2, e1, e2;
    CHECK(abut_mollify(0, eps, &d1, &d2) == 0 && d1 == 2 / eps);
    CHECK(abut_mollify(eps, eps, &d1, &d2) == 1 && d1 == 0 && d2 == 0);
    CHECK(abut_mollify(5, 0, &d1, &d2) == 1);                       /* an edge without rest length has no threshold */
    CHECK_NEAR(abut_mollify(eps * (1 - 1e-9), eps, &d1, NULL), 1, 1e-15);
    CHECK_NEAR(d1 * eps, 0, 1e-8);
    for (double c = 0.05 * eps; c < 0.95 * eps; c += 0.1 * eps) {
        const double h = 1e-4 * eps, p = abut_mollify(c + h, eps, &e1, NULL), q = abut_mollify(c - h, eps, &e2, NULL);
        abut_mollify(c, eps, &d1, &d2);
        CHECK_NEAR(d1 * eps, (p - q) / (2 * h) * eps, 1e-9);
        CHECK_NEAR(d2 * eps * eps, (e1 - e2) / (2 * h) * eps * eps, 1e-9);
    }
}

static void check_basis(const double P[6])
{
    CHECK_NEAR(P[0] * P[0] + P[1] * P[1] + P[2] * P[2], 1, 1e-14);
    CHECK_NEAR(P[3] * P[3] + P[4] * P[4] + P[5] * P[5], 1, 1e-14);
    CHECK_NEAR(P[0] * P[3] + P[1] * P[4] + P[2] * P[5], 0, 1e-13);
}

TEST(tangents_are_orthonormal_and_normal_to_the_separation)
{
    abut_rng r = { 2 };
    for (int n = 0; n < 4000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double x[12], P[6], w[4];
        random_points(&r, x, 12);
        if (n % 5 == 0) for (int i = 0; i < 12; i++) x[i] = (double)abut_rng_below(&r, 2);   /* degenerate often */
        abut_tangent(s, x, P);
        check_basis(P);
        abut_dist2(s, x, w);
        for (int t = 0; t < 2; t++) {
            double dot = 0;
            for (int i = 0; i < abut_stencil_size(s); i++)
                for (int k = 0; k < 3; k++) dot += w[i] * x[3 * i + k] * P[3 * t + k];
            CHECK_NEAR(dot, 0, 1e-11);
        }
    }
}

TEST(a_plane_has_its_tangents_for_every_normal)
{
    const double axes[7][3] = {
        { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, -3 }, { 1e-8, 1e-8, 1 }, { 1, 1, 1 }, { 0, 0, 0 }
    };
    for (int i = 0; i < 7; i++) {
        double P[6];
        abut_tangent_plane(axes[i], P);
        check_basis(P);
        for (int t = 0; t < 2; t++)
            CHECK_NEAR(axes[i][0] * P[3 * t] + axes[i][1] * P[3 * t + 1] + axes[i][2] * P[3 * t + 2], 0, 1e-14);
    }
}

TEST(tangents_follow_the_first_edge)
{
    const double pt[12] = { 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0 };
    double P[6];
    abut_tangent(ABUT_PT, pt, P);
    CHECK(P[0] == 1 && P[4] == 1);
    const double ee[12] = { 0, -1, 0, 0, 1, 0, -1, 0, 1, 1, 0, 1 };     /* n = Y x X = -Z, n x Y = X */
    abut_tangent(ABUT_EE, ee, P);
    CHECK(P[1] == 1 && P[3] == 1);
    const double pe[9] = { 0, 0, 2, -1, 0, 0, 1, 0, 0 };                /* X x (p - e0) = -Y */
    abut_tangent(ABUT_PE, pe, P);
    CHECK(P[0] == 1 && P[4] == -1);
}
