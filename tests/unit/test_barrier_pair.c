#include "base/rng.h"
#include "energy/barrier_pair.h"
#include "geom/dist.h"
#include "math/spd_inline.h"

#include "check.h"

static const double DHAT = 0.1, DHAT2 = 0.01;
static abut_barrier_law law = { 0.01, ABUT_BARRIER_IPC, 0, 0, 0 };    /* of the case that a test is at */

static int laws_known(void) { return abut_names_count(abut_barrier_names); }

/* the law of the case k: every one, each with several thicknesses */
static void take_case(int k)
{
    static const double xi[] = { 0, 0.3, 0.02, 0 };
    law = abut_barrier_law_of(DHAT, (k + k / 4) % laws_known(), xi[k % 4]);
}

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
    memset(H, 0, ABUT_PACKED * sizeof *H);
    if (eps_x > 0) abut_pair_mollified_hess(&law, 1, (const double (*)[12])x, &eps_x, &scale, H);
    else abut_pair_barrier_hess(&law, kind, 1, (const double (*)[12])x, &scale, H);
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

/* e(c) b(D), m^4; dist2 the squared distance of x */
static double pair_barrier(abut_barrier_law of, const double *x, double dist2, double eps_x)
{
    const double b = abut_barrier(of, abut_beyond2(dist2, of.xi), NULL, NULL);
    if (!(eps_x > 0) || b == 0 || isinf(b)) return b;
    return b * abut_mollify(abut_cross2(x, NULL, NULL), eps_x, NULL, NULL);
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
        const double b = abut_barrier((abut_barrier_law){ 1, ABUT_BARRIER_IPC, 0, 0, 0 }, f[i] * f[i], &db, &ddb);
        CHECK_NEAR(b, want[i][0], 2e-12 * fabs(want[i][0]));
        CHECK_NEAR(2 * f[i] * db, want[i][1], 2e-12 * fabs(want[i][1]));
        CHECK_NEAR(4 * f[i] * f[i] * ddb + 2 * db, want[i][2], 2e-12 * fabs(want[i][2]));
    }
}

TEST(squared_logarithm_has_the_values_of_its_definition)
{
    static const double f[] = { 0.9, 0.5, 0.2, 0.1, 0.01, 1e-3 };
    static const double want[][3] = { { 1.602961044698e-3, -6.418091228069e-2, 1.929279836104e0 },
                                      { 1.081019281316e0, -9.121042708549e0, 6.182590186128e1 },
                                      { 9.548846508369e0, -6.728769129428e1, 5.433841726126e2 },
                                      { 2.078556135232e1, -1.889392985785e2, 2.653097252532e3 },
                                      { 8.481340454200e1, -3.686792233871e3, 4.482794183764e5 },
                                      { 1.908679502407e2, -5.526269518039e4, 6.326159433269e7 } };
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        double db, ddb;
        const double b = abut_barrier((abut_barrier_law){ 1, ABUT_BARRIER_LOG2, 0, 0, 0 }, f[i] * f[i], &db, &ddb);
        CHECK_NEAR(b, want[i][0], 2e-12 * fabs(want[i][0]));
        CHECK_NEAR(2 * f[i] * db, want[i][1], 2e-12 * fabs(want[i][1]));
        CHECK_NEAR(4 * f[i] * f[i] * ddb + 2 * db, want[i][2], 2e-12 * fabs(want[i][2]));
    }
}

/* The lower orders are the published one with fewer factors (Dhat - D)/Dhat: by another road than the code's. */
TEST(the_three_barriers_differ_by_powers_of_the_relative_gap)
{
    for (double q = 1e-9; q < 1; q *= 1.3) {
        const double b2 = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC, 0, 0, 0 }, q * DHAT2, NULL, NULL);
        const double b1 = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC_C1, 0, 0, 0 }, q * DHAT2, NULL, NULL);
        const double b0 = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC_C0, 0, 0, 0 }, q * DHAT2, NULL, NULL);
        CHECK_NEAR(b1 * (1 - q) / b2, 1, 1e-13);
        CHECK_NEAR(b0 * (1 - q) * (1 - q) / b2, 1, 1e-13);
    }
}

TEST(barrier_derivatives_match_finite_differences_from_1e_minus_6_to_the_edge)
{
    for (law.number = ABUT_BARRIER_IPC_C0; law.number < laws_known(); law.number++)
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
        double b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC, 0, 0, 0 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * gap * q), 1, t + 1e-14);
        CHECK_NEAR(db / (-3 * gap * q), 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb / (6 * q), 1, 3 * t + 1e-14);
        b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC_C1, 0, 0, 0 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * gap), 1, t + 1e-14);
        CHECK_NEAR(db / (-2 * gap), 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb / 2, 1, 3 * t + 1e-14);
        b = abut_barrier((abut_barrier_law){ DHAT2, ABUT_BARRIER_IPC_C0, 0, 0, 0 }, d2, &db, &ddb);
        CHECK_NEAR(b / (gap * DHAT2), 1, t + 1e-14);
        CHECK_NEAR(db / -DHAT2, 1, 2 * t + 1e-14);
        CHECK_NEAR(ddb, 1, 3 * t + 1e-14);
    }
    for (law.number = ABUT_BARRIER_IPC_C0; law.number < laws_known(); law.number++) {
        double db = 1, ddb = 1;
        CHECK(abut_barrier(law, DHAT2, &db, &ddb) == 0 && db == 0 && ddb == 0);
        CHECK(abut_barrier(law, 7, &db, &ddb) == 0 && db == 0 && ddb == 0);
        CHECK(abut_barrier(law, 0, &db, &ddb) == INFINITY && db == -INFINITY && ddb == INFINITY);
        CHECK(abut_barrier(law, -1, NULL, NULL) == INFINITY && abut_barrier(law, NAN, NULL, NULL) == INFINITY);
    }
}

TEST(four_barriers_at_a_time_are_those_of_one)
{
    abut_rng r = { 9 };
    for (int k = 0; k < 20000; k++) {
        abut_barrier_law laws[ABUT_LANES];
        double D[ABUT_LANES], b[ABUT_LANES];
        for (int l = 0; l < ABUT_LANES; l++) {      /* small, any, close to the end, beyond it; every 16th time none at all */
            const double small = pow(10, abut_rng_real(&r, -30, 0));
            laws[l] = abut_barrier_law_of(pow(10, abut_rng_real(&r, -6, 0)), k % laws_known(), abut_rng_real(&r, 0, 0.1));
            const double Dhat = laws[l].dhat2;
            const double share[ABUT_LANES] = { small, abut_rng_real(&r, 0, 1.1), 1 - small, 1 + small };
            D[l] = Dhat * share[l];
            if (k % 16 == l) D[l] = k % 3 == 0 ? 0 : k % 3 == 1 ? -D[l] : (double)NAN;
        }
        abut_barrier_four(laws, D, b);
        for (int l = 0; l < ABUT_LANES; l++) {
            const double want = abut_barrier(laws[l], D[l], NULL, NULL);
            if (isinf(want)) CHECK(b[l] == want);
            else CHECK_NEAR(b[l], want, 4 * 0x1p-52 * want);
        }
    }
}

TEST(kappa_min_has_its_tabulated_values)
{
    for (int k = 3; k <= 6; k++) {   /* kappa_min l^2 / mass = 2.5 (l / dhat)^4 10^-6 for dhat >> 1e-8 l */
        const double l = 2, mass = 0.3, dhat = l * pow(10, -k), want = 2.5 * pow(10, 4 * k - 6);
        const double kappa = abut_kappa_min(l, (abut_barrier_law){ dhat * dhat, ABUT_BARRIER_IPC, 0, 0, 0 }, mass);
        CHECK_NEAR(kappa * l * l / mass, want, 2e-3 * want);
    }
}

TEST(barrier_of_a_thick_pair_has_its_tabulated_values)
{
    /* xi, dhat, gap; b, b', b'', force -b' 2 d, 15 digits (113-bit arithmetic) */
    static const double row[][7] = {
        { 1e-3, 5e-4, 2e-4, 6.85049824230269e-13, -3.18261741111851e-6, 12.8408308513962, 7.63828178668442e-9 },
        { 3e-4, 1e-3, 1e-6, 2.01753480125039e-11, -4.28159665021881e-3, 7092803.76832634, 2.57752118343172e-6 },
        { 1.5e-3, 5e-4, 1e-8, 3.36064949885056e-11, -0.102117901167960, 3402871777.93165, 3.06355745861904e-4 },
        { 0, 1e-3, 5e-4, 7.79790578129938e-13, -4.32944154167984e-6, 23.7725887222398, 4.32944154167984e-9 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const double *w = row[i], xi = w[0], gap = w[2];
        const abut_barrier_law thick = abut_barrier_law_of(w[1], ABUT_BARRIER_IPC, xi);
        double db, ddb, b = abut_barrier(thick, (2 * xi + gap) * gap, &db, &ddb);
        CHECK_NEAR(b / w[3], 1, 1e-12);
        CHECK_NEAR(db / w[4], 1, 1e-12);
        CHECK_NEAR(ddb / w[5], 1, 1e-12);
        CHECK_NEAR(-db * 2 * (xi + gap) / w[6], 1, 1e-12);

        /* the same from two points: only the rounding of xi + gap is left */
        const double x[12] = { 1, 2, 3 + xi + gap, 1, 2, 3 }, y[12] = { xi + gap, 0, 0, 0, 0, 0 },
                     tol = gap < 1e-7 ? 1e-9 : 1e-12;
        const double here = pair_barrier(thick, y, abut_dist2(ABUT_PP, y, NULL), 0);
        double g[6], H[ABUT_PACKED], one = 1, apart = x[2] - 3 - xi;
        CHECK_NEAR(here / w[3], 1, tol);
        abut_pair_barrier_grad(thick, ABUT_PP, y, 0, g);
        CHECK_NEAR(-g[0] / w[6], 1, tol);
        CHECK_NEAR(g[3] / w[6], 1, tol);
        abut_pair_barrier_hess(&thick, ABUT_PP, 1, (const double (*)[12])y, &one, H);
        CHECK_NEAR(H[0] / (4 * (xi + gap) * (xi + gap) * w[5] + 2 * w[4]), 1, tol);
        /* far from the origin, the gap that the stored points have */
        b = abut_barrier(thick, (2 * xi + apart) * apart, NULL, NULL);
        CHECK_NEAR(pair_barrier(thick, x, abut_dist2(ABUT_PP, x, NULL), 0) / b, 1, tol);
    }
}

TEST(a_thick_pair_touches_at_its_thickness_and_is_free_beyond_dhat_more)
{
    const abut_barrier_law thick = abut_barrier_law_of(1e-3, ABUT_BARRIER_IPC, 2e-3);
    CHECK(pair_barrier(thick, NULL, 2e-3 * 2e-3, 0) == INFINITY);
    CHECK(pair_barrier(thick, NULL, 1.9e-3 * 1.9e-3, 0) == INFINITY);
    CHECK(isfinite(pair_barrier(thick, NULL, 2.0000001e-3 * 2.0000001e-3, 0)));
    CHECK(pair_barrier(thick, NULL, 2.9999e-3 * 2.9999e-3, 0) > 0);
    CHECK(pair_barrier(thick, NULL, 3.0000001e-3 * 3.0000001e-3, 0) == 0);
    /* a gap of one rounding error of d is resolved */
    const double d = 2e-3 + 0x1p-60, D = abut_beyond2(d * d, 2e-3);
    CHECK_NEAR(D / (4e-3 * 0x1p-60), 1, 0.2);
    CHECK(abut_beyond2(4e-6, 2e-3) <= 1e-21 && abut_beyond2(0.25, 0) == 0.25 && abut_beyond(0.25, 0) == 0.5);
    CHECK_NEAR(abut_beyond(0.25, 0.4), 0.1, 1e-16);
}

TEST(kappa_min_of_thick_pairs_has_its_tabulated_values_and_the_largest_counts)
{
    static const double row[][3] = {
        { 0, 1e-3, 2.500e6 }, { 3e-4, 1e-3, 3.906e6 }, { 1.5e-3, 5e-4, 3.265e6 }, { 2e-3, 1e-3, 4.000e5 }
    };
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(abut_kappa_min(1, abut_barrier_law_of(row[i][1], ABUT_BARRIER_IPC, row[i][0]), 1) / row[i][2], 1, 3e-4);
    double kappa = 0, most = 0;
    const double xi[] = { 2e-3, 3e-4, 2e-3, 3e-4 }, pair[] = { 2e-3, 3e-4, 1.15e-3 }, plane[] = { 1e-3, 1.5e-4 };
    for (int i = 0; i < 3; i++) most = fmax(most, abut_kappa_min(1, abut_barrier_law_of(1e-3, ABUT_BARRIER_IPC, pair[i]), 1));
    CHECK(!abut_kappa_min_of(1, 1e-3, ABUT_BARRIER_IPC, 1, xi, 4, 0, &kappa, NULL) && kappa == most);
    for (int i = 0; i < 2; i++) most = fmax(most, abut_kappa_min(1, abut_barrier_law_of(1e-3, ABUT_BARRIER_IPC, plane[i]), 1));
    most = fmax(most, abut_kappa_min(1, abut_barrier_law_of(1e-3, ABUT_BARRIER_IPC, 0), 1));
    CHECK(!abut_kappa_min_of(1, 1e-3, ABUT_BARRIER_IPC, 1, xi, 4, 1, &kappa, NULL) && kappa == most);
    CHECK(!abut_kappa_min_of(1, 1e-3, ABUT_BARRIER_IPC, 1, NULL, 4, 1, &kappa, NULL));
    CHECK(kappa == abut_kappa_min(1, (abut_barrier_law){ 1e-3 * 1e-3, ABUT_BARRIER_IPC, 0, 0, 0 }, 1));
}

/* the energy of a plain or a mollified pair, from scratch */
static double energy(abut_stencil kind, const double *x, double eps_x)
{
    double d2;
    if (eps_x > 0) (void)abut_nearest(ABUT_EE, x, &d2);
    else d2 = abut_dist2(kind, x, NULL);
    return pair_barrier(law, x, d2, eps_x);
}

TEST(gradient_of_plain_pairs_is_the_derivative_of_the_energy)
{
    abut_rng r = { 1 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++)
        for (int k = 0; k < 100; k++) {
            double x[12], g[12];
            take_case(k);
            const double gap = DHAT * abut_rng_real(&r, 0.05, 0.99), h = 1e-6 * gap;
            random_stencil(&r, kind, law.xi + gap, x);
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
    int seen[4] = { 0 }, projected = 0, thick = 0;
    for (int k = 0; k < 1200; k++) {
        double x[12], g[12], H[ABUT_PACKED], D[144], N[144], w[12], Q[144], d2, big = 0, bigH = 0;
        const double eps_x = 1e-3, h = 1e-6;
        take_case(k / 3);
        if (law.xi > 0.05) law = abut_barrier_law_of(DHAT, law.number, 0.04);   /* the edges are 0.05 apart */
        parallel_edges(&r, k % 3 == 0, x);
        const abut_feature f = abut_nearest(ABUT_EE, x, &d2);
        const double gap = sqrt(d2) - law.xi;
        thick += law.xi > 0 && gap > 1e-3;
        if (!(gap < 0.9 * DHAT && gap > 1e-3) || !(abut_cross2(x, NULL, NULL) < 0.9 * eps_x)) continue;
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
    CHECK(seen[ABUT_PP] > 5 && seen[ABUT_PE] > 20 && seen[ABUT_EE] > 20 && projected > 20 && thick > 200);
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
            take_case(k);
            random_stencil(&r, kind, law.xi + DHAT * pow(10, abut_rng_real(&r, -4, -0.001)), x);
            (void)abut_barrier(law, abut_beyond2(abut_dist2(kind, x, NULL), law.xi), &db, &ddb);
            full_hessian(kind, x, db, ddb, dense);
            const double scale = k / 4 % 2 ? -1 : 1;
            for (int i = 0; i < n * n; i++) dense[i] *= scale;
            for (int i = 0; i < n * n; i++) big = fmax(big, fabs(dense[i]));
            abut_psd_project(n, dense);
            hess(kind, x, 0, scale, H);
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
            take_case(k);
            const double gap = DHAT * abut_rng_real(&r, 0.1, 0.9), h = 1e-6 * gap;
            random_stencil(&r, kind, law.xi + gap, x);
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
        take_case(k / 2);
        const double thin = 1e-4, d = law.xi + DHAT * abut_rng_real(&r, 1e-3, 0.99);
        const double pt[12] = { 0.4, 0.3 * thin, d, 0, 0, 0, 1, 0, 0, 0.5, thin, 0 };
        const double ee[12] = { -1, 0, d, 1, 0, d, -1, -0.033, 0, 1, 0.033, 0 };
        const double *x = k % 2 ? pt : ee;
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
            abut_barrier_law laws[ABUT_LANES];
            for (size_t i = 0; i < n; i++) {
                take_case(k);
                law = laws[i] = abut_barrier_law_of(DHAT, law.number, law.xi * (double)(1 + i));
                random_stencil(&r, kind, law.xi + DHAT * pow(10, abut_rng_real(&r, -4, -0.001)), x[i]);
                scale[i] = (r.state & 64 ? -1 : 1) * pow(10, abut_rng_real(&r, -3, 6));
            }
            double g[ABUT_LANES][12], alone[12], g1[1][12];
            abut_pair_barrier_grads(laws, kind, n, (const double (*)[12])x, g);
            for (size_t i = 0; i < n; i++) {
                double big = 0;
                abut_pair_barrier_grad(laws[i], kind, x[i], 0, alone);
                abut_pair_barrier_grads(&laws[i], kind, 1, (const double (*)[12])x + i, g1);
                for (int c = 0; c < 3 * abut_stencil_size(kind); c++) big = fmax(big, fabs(alone[c]));
                for (int c = 0; c < 3 * abut_stencil_size(kind); c++) CHECK_NEAR(g[i][c], alone[c], 1e-11 * big);
                CHECK(!memcmp(g1[0], g[i], 3 * (size_t)abut_stencil_size(kind) * sizeof(double)));
            }
            memset(H, 0, sizeof H);
            abut_pair_barrier_hess(laws, kind, n, (const double (*)[12])x, scale, H);
            for (size_t i = 0; i < n; i++) {
                law = laws[i];
                hess(kind, x[i], 0, scale[i], one);
                CHECK(!memcmp(one, H + ABUT_PACKED * i, sizeof one));
            }
        }
}
