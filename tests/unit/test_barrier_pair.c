#include "base/rng.h"
#include "energy/barrier_pair.h"
#include "geom/mollify.h"
#include "linalg/spd.h"

#include "check.h"

static const double DHAT = 0.1, DHAT2 = 0.01;
static abut_barrier_law law = { 0.01, ABUT_C2 };    /* of the case that a test is at */

static void unpack(const double *H, double D[144])
{
    int k = 0;
    for (int a = 0; a < 4; a++)
        for (int c = a; c < 4; c++, k++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    D[12 * (3 * a + i) + 3 * c + j] = D[12 * (3 * c + j) + 3 * a + i] = H[9 * k + 3 * i + j];
}

/* one contact: plain when eps_x is 0 */
static void hess(abut_stencil kind, const double x[12], double eps_x, double scale, double *H)
{
    if (eps_x > 0) abut_pair_mollified_hess(law, x, eps_x, scale, H);
    else abut_pair_barrier_hess(law, kind, 1, (const double (*)[12])x, &scale, H);
}

/* a stencil of unit size, its own active feature, at distance d */
static void random_stencil(abut_rng *r, abut_stencil kind, double d, double *x)
{
    const int k = abut_stencil_size(kind);
    for (;;) {
        double w[4], g[12], d2;
        for (int i = 0; i < 3 * k; i++) x[i] = abut_rng_real(r, -1, 1);
        const abut_feature f = abut_nearest(kind, x, &d2);
        if (f.kind != kind || !(d2 > 0.01)) continue;
        /* pull the two sides together along the separation until d is left */
        abut_dist2_all(kind, x, w, g, NULL);
        const double pull = 1 - d / sqrt(d2);
        const int first = kind == ABUT_EE ? 2 : 1, at = kind == ABUT_EE && w[1] > w[0];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < first; i++) x[3 * i + c] -= pull * g[3 * at + c] / (2 * w[at]);
        if (abut_nearest(kind, x, &d2).kind == kind && fabs(sqrt(d2) / d - 1) < 1e-6) return;
    }
}

TEST(barrier_has_the_values_of_its_definition)
{
    static const double f[] = { 0.9, 0.5, 0.2, 0.1, 0.01, 1e-3 };
    /* b, db/df, d2b/df2 of -(f^2 - 1)^2 ln f^2, 12 digits after rounding (113-bit arithmetic) */
    static const double want[][3] = { { 7.607029230495e-3, -2.243554076421e-1, 4.334460101595e0 },
                                      { 7.797905781299e-1, -4.329441541680e0, 1.511370563888e1 },
                                      { 2.966515960199e0, -1.168809663350e1, 5.010955709646e1 },
                                      { 4.513527299287e0, -2.142564739365e1, 1.939919396784e2 },
                                      { 9.208498396005e0, -2.003283787735e2, 1.997516829092e4 },
                                      { 1.381548292696e1, -2.000051261989e3, 1.999956738110e6 } };
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        double db, ddb;
        const double b = abut_barrier((abut_barrier_law){ 1, ABUT_C2 }, f[i] * f[i], &db, &ddb);
        CHECK_NEAR(b, want[i][0], 2e-12 * fabs(want[i][0]));
        CHECK_NEAR(2 * f[i] * db, want[i][1], 2e-12 * fabs(want[i][1]));
        CHECK_NEAR(4 * f[i] * f[i] * ddb + 2 * db, want[i][2], 2e-12 * fabs(want[i][2]));
    }
}

/* The lower orders are the published one with fewer factors (Dhat - D)/Dhat: by another road than the code's. */
TEST(the_three_barriers_differ_by_powers_of_the_relative_gap)
{
    for (double q = 1e-9; q < 1; q *= 1.3) {
        const double b2 = abut_barrier((abut_barrier_law){ DHAT2, ABUT_C2 }, q * DHAT2, NULL, NULL);
        CHECK_NEAR(abut_barrier((abut_barrier_law){ DHAT2, ABUT_C1 }, q * DHAT2, NULL, NULL) * (1 - q) / b2, 1, 1e-13);
        CHECK_NEAR(abut_barrier((abut_barrier_law){ DHAT2, ABUT_C0 }, q * DHAT2, NULL, NULL) * (1 - q) * (1 - q) / b2, 1, 1e-13);
    }
}

TEST(barrier_derivatives_match_finite_differences_from_1e_minus_6_to_the_edge)
{
    for (law.continuity = ABUT_C0; law.continuity < ABUT_CONTINUITIES; law.continuity++)
        for (double f = 1e-6; f < 0.9995; f = f < 0.5 ? f * 1.7 : f + 0.0173) {
            double db, ddb, up, down;
            const double d2 = f * DHAT2, h = 1e-5 * fmin(d2, DHAT2 - d2);
            (void)abut_barrier(law, d2, &db, &ddb);
            const double vu = abut_barrier(law, d2 + h, &up, NULL), vd = abut_barrier(law, d2 - h, &down, NULL);
            CHECK_NEAR((vu - vd) / (2 * h), db, 1e-8 * fabs(db));
            CHECK_NEAR((up - down) / (2 * h), ddb, 1e-8 * fabs(ddb));
            CHECK(db < 0 && ddb > 0);
        }
}

TEST(barrier_vanishes_at_dhat_as_smoothly_as_its_name_says_and_is_infinite_at_contact)
{
    for (double t = 1e-3; t > 1e-15; t *= 0.1) {   /* b ~ (dhat2 - d2)^3 / dhat2, relatively exact to the last digits */
        double db, ddb;
        const double d2 = DHAT2 * (1 - t), gap = DHAT2 - d2, q = gap / DHAT2;
        double b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_C2 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * gap * q), 1, t + 1e-14);
        CHECK_NEAR(db / (-3 * gap * q), 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb / (6 * q), 1, 3 * t + 1e-14);
        b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_C1 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * gap), 1, t + 1e-14);
        CHECK_NEAR(db / (-2 * gap), 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb / 2, 1, 3 * t + 1e-14);
        b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_C0 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * DHAT2), 1, t + 1e-14);
        CHECK_NEAR(db / -DHAT2, 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb, 1, 3 * t + 1e-14);
    }
    for (law.continuity = ABUT_C0; law.continuity < ABUT_CONTINUITIES; law.continuity++) {
        double db = 1, ddb = 1;
        CHECK(abut_barrier(law, DHAT2, &db, &ddb) == 0 && db == 0 && ddb == 0);
        CHECK(abut_barrier(law, 7, &db, &ddb) == 0 && db == 0 && ddb == 0);
        CHECK(abut_barrier(law, 0, &db, &ddb) == INFINITY && db == -INFINITY && ddb == INFINITY);
        CHECK(abut_barrier(law, -1, NULL, NULL) == INFINITY && abut_barrier(law, NAN, NULL, NULL) == INFINITY);
    }
}

TEST(kappa_min_has_its_tabulated_values)
{
    for (int k = 3; k <= 6; k++) {   /* kappa_min l^2 / mass = 2.5 (l / dhat)^4 10^-6 for dhat >> 1e-8 l */
        const double l = 2, mass = 0.3, dhat = l * pow(10, -k), want = 2.5 * pow(10, 4 * k - 6);
        CHECK_NEAR(abut_kappa_min(l, (abut_barrier_law){ dhat * dhat, ABUT_C2 }, mass) * l * l / mass, want, 2e-3 * want);
    }
}

/* D, the energy of a mollified pair, from scratch */
static double energy(abut_stencil kind, const double *x, double eps_x)
{
    double d2;
    if (eps_x > 0) (void)abut_nearest(ABUT_EE, x, &d2);
    else d2 = abut_dist2(kind, x, NULL);
    return abut_pair_barrier(law, x, d2, eps_x);
}

TEST(gradient_of_plain_pairs_is_the_derivative_of_the_energy)
{
    abut_rng r = { 1 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++)
        for (int k = 0; k < 100; k++) {
            double x[12], g[12];
            const double d = DHAT * abut_rng_real(&r, 0.05, 0.99), h = 1e-6 * d;
            law.continuity = k % 3;
            random_stencil(&r, kind, d, x);
            abut_pair_barrier_grad(law, kind, x, 0, g);
            double big = 0;
            for (int i = 0; i < 3 * abut_stencil_size(kind); i++) big = fmax(big, fabs(g[i]));
            for (int i = 0; i < 3 * abut_stencil_size(kind); i++) {
                const double was = x[i];
                x[i] = was + h;
                const double up = energy(kind, x, 0);
                x[i] = was - h;
                const double down = energy(kind, x, 0);
                x[i] = was;
                CHECK_NEAR((up - down) / (2 * h), g[i], 1e-6 * big);
            }
        }
}

/* nearly parallel edges of about unit length, 0.05 apart: side by side, or crossing at a small angle */
static void parallel_edges(abut_rng *r, int cross, double *x)
{
    const double turn = abut_rng_real(r, -0.03, 0.03), shift = abut_rng_real(r, -1.3, 1.3), jitter = cross ? 0.002 : 0.005;
    const double side[12] = { 0, 0, 0, 1, 0, 0, shift, 0.05, 0, shift + 1, 0.05 + turn, 0.02 * turn };
    const double over[12] = { 0, 0, 0, 1, 0, 0, 0.02, -0.012, 0.05, 0.98, 0.012, 0.05 };
    for (int i = 0; i < 12; i++) x[i] = (cross ? over[i] : side[i]) + abut_rng_real(r, -jitter, jitter);
}

TEST(gradient_and_hessian_of_mollified_pairs_match_finite_differences)
{
    abut_rng r = { 2 };
    int seen[4] = { 0 }, projected = 0;
    for (int k = 0; k < 1200; k++) {
        double x[12], g[12], H[ABUT_PACKED], D[144], N[144], w[12], Q[144], d2, big = 0, bigH = 0;
        const double eps_x = 1e-3, h = 1e-6;
        law.continuity = k / 3 % 3;
        parallel_edges(&r, k % 3 == 0, x);
        const abut_feature f = abut_nearest(ABUT_EE, x, &d2);
        if (!(d2 < 0.9 * DHAT2 && d2 > 1e-6) || !(abut_cross2(x, NULL, NULL) < 0.9 * eps_x)) continue;
        seen[f.kind]++;
        abut_pair_barrier_grad(law, ABUT_EE, x, eps_x, g);
        hess(ABUT_EE, x, eps_x, 1, H);
        for (int i = 0; i < 12; i++) big = fmax(big, fabs(g[i]));
        int crossed = 0;   /* a change of the nearest feature inside the stencil of differences bends the gradient */
        for (int i = 0; i < 12; i++) {
            double up[12], down[12];
            const double was = x[i];
            x[i] = was + h;
            const double eu = energy(ABUT_EE, x, eps_x);
            crossed |= abut_nearest(ABUT_EE, x, NULL).kind != f.kind;
            abut_pair_barrier_grad(law, ABUT_EE, x, eps_x, up);
            x[i] = was - h;
            const double ed = energy(ABUT_EE, x, eps_x);
            crossed |= abut_nearest(ABUT_EE, x, NULL).kind != f.kind;
            abut_pair_barrier_grad(law, ABUT_EE, x, eps_x, down);
            x[i] = was;
            if (!crossed) CHECK_NEAR((eu - ed) / (2 * h), g[i], 1e-6 * big);
            for (int j = 0; j < 12; j++) N[12 * j + i] = (up[j] - down[j]) / (2 * h), bigH = fmax(bigH, fabs(N[12 * j + i]));
        }
        if (crossed) continue;
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < i; j++) N[12 * i + j] = N[12 * j + i] = 0.5 * (N[12 * i + j] + N[12 * j + i]);
        projected += abut_psd_project(12, N) > 0;
        unpack(H, D);
        for (int i = 0; i < 144; i++) CHECK_NEAR(D[i], N[i], 1e-5 * bigH);
        abut_sym_eigen(12, D, w, Q);
        for (int i = 0; i < 12; i++) CHECK(w[i] >= -1e-13 * bigH);
    }
    CHECK(seen[ABUT_PP] > 5 && seen[ABUT_PE] > 20 && seen[ABUT_EE] > 20 && projected > 20);
}

/* f'' gD gD^T + f' Hess D as a dense matrix, not projected */
static void full_hessian(abut_stencil kind, const double *x, double db, double ddb, double *H)
{
    const int n = 3 * abut_stencil_size(kind);
    double g[12];
    abut_dist2_all(kind, x, NULL, g, H);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) H[n * i + j] = ddb * (g[i] * g[j]) + db * H[n * i + j];
}

TEST(closed_form_projection_equals_the_dense_eigen_projection)
{
    abut_rng r = { 3 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++) {
        double worst = 0;
        for (int k = 0; k < 1000; k++) {
            const int n = 3 * abut_stencil_size(kind);
            double x[12], dense[144], H[ABUT_PACKED], D[144], db, ddb, big = 0;
            const double d = DHAT * pow(10, abut_rng_real(&r, -4, -0.001));
            law.continuity = k % 3;
            random_stencil(&r, kind, d, x);
            (void)abut_barrier(law, abut_dist2(kind, x, NULL), &db, &ddb);
            full_hessian(kind, x, db, ddb, dense);
            for (int i = 0; i < n * n; i++) big = fmax(big, fabs(dense[i]));
            abut_psd_project(n, dense);
            hess(kind, x, 0, 1, H);
            unpack(H, D);
            for (int i = 0; i < 12; i++)
                for (int j = 0; j < 12; j++)
                    worst = fmax(worst, fabs(D[12 * i + j] - (i < n && j < n ? dense[n * i + j] : 0)) / big);
        }
        CHECK_NEAR(worst, 0, 1e-13);
    }
}

TEST(hessian_of_plain_pairs_is_the_derivative_of_the_gradient)
{
    abut_rng r = { 4 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++)
        for (int k = 0; k < 50; k++) {
            const int n = 3 * abut_stencil_size(kind);
            double x[12], N[144], H[ABUT_PACKED], D[144], big = 0;
            const double d = DHAT * abut_rng_real(&r, 0.1, 0.9), h = 1e-6 * d;
            law.continuity = k % 3;
            random_stencil(&r, kind, d, x);
            for (int i = 0; i < n; i++) {
                double up[12], down[12];
                const double was = x[i];
                x[i] = was + h;
                abut_pair_barrier_grad(law, kind, x, 0, up);
                x[i] = was - h;
                abut_pair_barrier_grad(law, kind, x, 0, down);
                x[i] = was;
                for (int j = 0; j < n; j++) N[n * j + i] = (up[j] - down[j]) / (2 * h), big = fmax(big, fabs(N[n * j + i]));
            }
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) N[n * i + j] = N[n * j + i] = 0.5 * (N[n * i + j] + N[n * j + i]);
            abut_psd_project(n, N);
            hess(kind, x, 0, 1, H);
            unpack(H, D);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) CHECK_NEAR(D[12 * i + j], N[n * i + j], 1e-6 * big);
        }
}

TEST(projected_hessian_is_semidefinite_and_blind_to_translation_for_slivers_too)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 500; k++) {   /* a point over a triangle of aspect 1 : 1e-4, edges crossing at 2 degrees */
        const double thin = 1e-4, d = DHAT * abut_rng_real(&r, 1e-3, 0.99);
        const double pt[12] = { 0.4, 0.3 * thin, d, 0, 0, 0, 1, 0, 0, 0.5, thin, 0 };
        const double ee[12] = { -1, 0, d, 1, 0, d, -1, -0.033, 0, 1, 0.033, 0 };
        const double *x = k % 2 ? pt : ee;
        law.continuity = k / 2 % 3;
        double H[ABUT_PACKED], D[144], w[12], Q[144], big = 0;
        hess(k % 2 ? ABUT_PT : ABUT_EE, x, 0, 3, H);
        unpack(H, D);
        for (int i = 0; i < 144; i++) big = fmax(big, fabs(D[i]));
        abut_sym_eigen(12, D, w, Q);
        for (int i = 0; i < 12; i++) CHECK(w[i] >= -1e-13 * big);
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 12; i++)
                CHECK_NEAR(D[12 * i + c] + D[12 * i + 3 + c] + D[12 * i + 6 + c] + D[12 * i + 9 + c], 0, 1e-11 * big);
    }
}

TEST(contacts_projected_together_have_the_bits_of_single_ones)
{
    abut_rng r = { 6 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++)
        for (int k = 0; k < 50; k++) {
            double x[ABUT_LANES][12] = { { 0 } }, scale[ABUT_LANES], H[ABUT_LANES * ABUT_PACKED], one[ABUT_PACKED];
            const size_t n = 1 + (size_t)k % ABUT_LANES;
            law.continuity = k % 3;
            for (size_t i = 0; i < n; i++) {
                random_stencil(&r, kind, DHAT * pow(10, abut_rng_real(&r, -4, -0.001)), x[i]);
                scale[i] = pow(10, abut_rng_real(&r, -3, 6));
            }
            abut_pair_barrier_hess(law, kind, n, (const double (*)[12])x, scale, H);
            for (size_t i = 0; i < n; i++) {
                hess(kind, x[i], 0, scale[i], one);
                CHECK(!memcmp(one, H + ABUT_PACKED * i, sizeof one));
            }
        }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(barrier_has_the_values_of_its_definition);
    RUN(barrier_derivatives_match_finite_differences_from_1e_minus_6_to_the_edge);
    RUN(the_three_barriers_differ_by_powers_of_the_relative_gap);
    RUN(barrier_vanishes_at_dhat_as_smoothly_as_its_name_says_and_is_infinite_at_contact);
    RUN(kappa_min_has_its_tabulated_values);
    RUN(gradient_of_plain_pairs_is_the_derivative_of_the_energy);
    RUN(gradient_and_hessian_of_mollified_pairs_match_finite_differences);
    RUN(closed_form_projection_equals_the_dense_eigen_projection);
    RUN(hessian_of_plain_pairs_is_the_derivative_of_the_gradient);
    RUN(projected_hessian_is_semidefinite_and_blind_to_translation_for_slivers_too);
    RUN(contacts_projected_together_have_the_bits_of_single_ones);
    return check_done();
}
