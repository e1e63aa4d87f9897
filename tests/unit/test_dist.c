/* Distances against brute-force minimisation, finite differences and degenerate input. */
#include "check.h"

#include "base/rng.h"
#include "geom/dist.h"
#include "geom/dist_lanes.h"

static double rnd(abut_rng *r) { return abut_rng_real(r, -1, 1); }

static void random_points(abut_rng *r, double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = rnd(r);
}

/* Points of a stencil picked from x by a feature. */
static void pick(const abut_feature *f, const double *x, double *y)
{
    for (int i = 0; i < abut_stencil_size(f->kind); i++) memcpy(y + 3 * i, x + 3 * f->idx[i], 3 * sizeof *y);
}

/* |sum_i w_i x_i|^2 */
static double combine2(const double *x, const double *w, int k)
{
    double s = 0;
    for (int c = 0; c < 3; c++) {
        double r = 0;
        for (int i = 0; i < k; i++) r += w[i] * (x[3 * i + c] - x[c]);
        s += r * r;
    }
    return s;
}

/* Squared distance between the points with parameters u, v; a triangle is reached by v in [0, 1 - u]. */
static double at(abut_stencil s, const double *x, double u, double v)
{
    double w[4] = { 1, -1, 0, 0 };
    if (s == ABUT_PE) w[1] = u - 1, w[2] = -u;
    else if (s == ABUT_PT) w[1] = u + v - 1, w[2] = -u, w[3] = -v;
    else if (s == ABUT_EE) w[0] = 1 - u, w[1] = u, w[2] = v - 1, w[3] = -v;
    return combine2(x, w, abut_stencil_size(s));
}

static double least_in_v(abut_stencil s, const double *x, double u)
{
    double lo = 0, hi = s == ABUT_PT ? 1 - u : 1;
    for (int k = 0; k < 60; k++) {
        const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        if (at(s, x, u, a) < at(s, x, u, b)) hi = b;
        else lo = a;
    }
    return fmin(at(s, x, u, 0), fmin(at(s, x, u, s == ABUT_PT ? 1 - u : 1), at(s, x, u, 0.5 * (lo + hi))));
}

/* Smallest squared distance by ternary search in u of the ternary search in v: the function is convex, and its minimum
 * over v is convex in u.  Knows nothing of features or normals. */
static double brute2(abut_stencil s, const double *x)
{
    double lo = 0, hi = 1;
    if (s == ABUT_PP) return at(s, x, 0, 0);
    for (int k = 0; k < 60; k++) {
        const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        if (least_in_v(s, x, a) < least_in_v(s, x, b)) hi = b;
        else lo = a;
    }
    return fmin(least_in_v(s, x, 0), fmin(least_in_v(s, x, 1), least_in_v(s, x, 0.5 * (lo + hi))));
}

TEST(nearest_is_the_minimum_over_all_points_of_both_primitives)
{
    abut_rng r = { 1 };
    int seen[4][4] = { { 0 } };
    for (int s = 0; s < 4; s++)
        for (int n = 0; n < 400; n++) {
            double x[12], d2;
            random_points(&r, x, 12);
            const abut_feature f = abut_nearest((abut_stencil)s, x, &d2);
            seen[s][f.kind]++;
            CHECK_NEAR(sqrt(d2), sqrt(brute2((abut_stencil)s, x)), 1e-6);
        }
    CHECK(seen[1][0] && seen[1][1] && seen[2][0] && seen[2][1] && seen[2][2] && seen[3][0] && seen[3][1] && seen[3][3]);
}

TEST(nearest_returns_the_bits_of_dist2_of_its_feature)
{
    abut_rng r = { 2 };
    for (int n = 0; n < 20000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double x[12], y[12], d2, w[4];
        random_points(&r, x, 12);
        if (n % 3 == 0) for (int i = 0; i < 12; i++) x[i] = (double)abut_rng_below(&r, 3);   /* degenerate often */
        const abut_feature f = abut_nearest(s, x, &d2);
        pick(&f, x, y);
        CHECK(abut_dist2(f.kind, y, w) == d2);
        CHECK_NEAR(w[0] + w[1] + w[2] + w[3], 0, 1e-13);
        CHECK_NEAR(combine2(y, w, abut_stencil_size(f.kind)), d2, 1e-12);
        for (int i = 0; i < abut_stencil_size(f.kind); i++) CHECK(fabs(w[i]) <= 1 + 1e-12);
    }
}

TEST(gradient_and_hessian_match_finite_differences)
{
    abut_rng r = { 3 };
    const double h = 1e-5;
    for (int n = 0; n < 400; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        const int m = 3 * abut_stencil_size(s);
        double x[12], g[12], H[144], w[4];
        random_points(&r, x, 12);
        const double d2 = abut_dist2(s, x, w);
        if (fabs(w[1]) + fabs(w[2]) + fabs(w[3]) > 5) continue;       /* spanning vectors close to parallel: stiff */
        CHECK(abut_dist2_all(s, x, NULL, g, H) == d2);
        double scale = 0;
        for (int i = 0; i < m * m; i++) scale = fmax(scale, fabs(H[i]));
        for (int i = 0; i < m; i++) {
            double p[12], q[12], gp[12], gq[12];
            memcpy(p, x, sizeof p), memcpy(q, x, sizeof q);
            p[i] += h, q[i] -= h;
            CHECK_NEAR(g[i], (abut_dist2(s, p, NULL) - abut_dist2(s, q, NULL)) / (2 * h), 1e-7 * (1 + scale));
            abut_dist2_all(s, p, NULL, gp, NULL), abut_dist2_all(s, q, NULL, gq, NULL);
            for (int j = 0; j < m; j++) {
                CHECK_NEAR(H[m * i + j], (gp[j] - gq[j]) / (2 * h), 1e-6 * (1 + scale * scale));
                CHECK(H[m * i + j] == H[m * j + i]);
            }
        }
    }
}

TEST(derivatives_of_separate_calls_have_the_same_bits)
{
    abut_rng r = { 4 };
    for (int s = 0; s < 4; s++) {
        double x[12], g[12], H[144], g1[12], H1[144];
        const size_t m = 3 * (size_t)abut_stencil_size((abut_stencil)s);
        random_points(&r, x, 12);
        abut_dist2_all((abut_stencil)s, x, NULL, g, H);
        abut_dist2_all((abut_stencil)s, x, NULL, g1, NULL), abut_dist2_all((abut_stencil)s, x, NULL, NULL, H1);
        CHECK(!memcmp(g, g1, m * sizeof *g) && !memcmp(H, H1, m * m * sizeof *H));
    }
}

/* Every pattern of points on a tiny grid: coincident, collinear, coplanar, parallel, touching. */
TEST(degenerate_input_is_right_and_finite)
{
    abut_rng r = { 5 };
    for (int n = 0; n < 2000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double x[12], y[12], d2, w[4], g[12], H[144];
        const uint32_t grid = 1 + abut_rng_below(&r, 3);
        for (int i = 0; i < 12; i++) x[i] = (double)abut_rng_below(&r, grid);
        const abut_feature f = abut_nearest(s, x, &d2);
        CHECK_NEAR(sqrt(d2), sqrt(brute2(s, x)), 3e-6);
        for (int own = 0; own < 2; own++) {                 /* the outer stencil as its own feature, too */
            const abut_stencil k = own ? s : f.kind;
            const int m = 3 * abut_stencil_size(k);
            if (own) memcpy(y, x, sizeof y);
            else pick(&f, x, y);
            const double e2 = abut_dist2_all(k, y, w, g, H);
            CHECK(e2 >= 0 && isfinite(e2));
            CHECK_NEAR(combine2(y, w, abut_stencil_size(k)), e2, 1e-9);
            for (int i = 0; i < m; i++) CHECK(isfinite(g[i]));
            for (int i = 0; i < m * m; i++) CHECK(isfinite(H[i]));
        }
    }
}

TEST(slivers_and_nearly_parallel_edges_stay_close_to_the_truth)
{
    abut_rng r = { 6 };
    for (int n = 0; n < 1000; n++) {
        const abut_stencil s = n % 2 ? ABUT_PT : ABUT_EE;
        const double tilt = pow(10, abut_rng_real(&r, -16, -2)), gap = pow(10, abut_rng_real(&r, -3, 0));
        double x[12], d2;
        random_points(&r, x, 12);
        if (s == ABUT_PT)                                   /* third corner next to the line of the other two */
            for (int c = 0; c < 3; c++) x[9 + c] = x[3 + c] + 0.7 * (x[6 + c] - x[3 + c]) + tilt * rnd(&r);
        else                                                /* b parallel to a but for the tilt, at the gap */
            for (int c = 0; c < 3; c++) {
                x[6 + c] = x[c] + 0.2 * (x[3 + c] - x[c]) + gap * rnd(&r);
                x[9 + c] = x[6 + c] + (x[3 + c] - x[c]) + tilt * rnd(&r);
            }
        abut_nearest(s, x, &d2);
        CHECK_NEAR(sqrt(d2), sqrt(brute2(s, x)), 1e-5 * sqrt(d2) + 1e-8);
    }
}

TEST(edges_parallel_to_a_sine_of_1e10_are_never_edge_edge)
{
    for (double tilt = 1e-18; tilt < 2e-11; tilt *= 3) {
        const double x[12] = { -1, 0, 0, 1, 0, 0, -1, -tilt, 0.1, 1, tilt, 0.1 };
        double d2;
        CHECK(abut_nearest(ABUT_EE, x, &d2).kind != ABUT_EE);
        CHECK_NEAR(d2, 0.01, 1e-15);
    }
    const double x[12] = { -1, 0, 0, 1, 0, 0, -1, -1e-8, 0.1, 1, 1e-8, 0.1 };
    CHECK(abut_nearest(ABUT_EE, x, NULL).kind == ABUT_EE);
}

TEST(distance_is_invariant_under_rotation_and_order_of_points)
{
    abut_rng r = { 7 };
    static const int perm_pt[6][4] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 0, 3, 2, 1 },
                                       { 0, 1, 3, 2 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 } };
    static const int perm_ee[6][4] = { { 0, 1, 2, 3 }, { 1, 0, 2, 3 }, { 0, 1, 3, 2 },
                                       { 2, 3, 0, 1 }, { 3, 2, 1, 0 }, { 3, 2, 0, 1 } };
    for (int n = 0; n < 2000; n++) {
        double x[12], y[12], d2, e2;
        random_points(&r, x, 12);
        for (int s = 2; s < 4; s++) {
            abut_nearest((abut_stencil)s, x, &d2);
            const int *p = s == 2 ? perm_pt[n % 6] : perm_ee[n % 6];
            const double a = rnd(&r) * 3, c = cos(a), sn = sin(a);
            for (int i = 0; i < 4; i++) {
                const double *q = x + 3 * p[i];
                y[3 * i] = c * q[1] - sn * q[2], y[3 * i + 1] = sn * q[1] + c * q[2], y[3 * i + 2] = q[0];
            }
            abut_nearest((abut_stencil)s, y, &e2);
            CHECK_NEAR(sqrt(e2), sqrt(d2), 1e-12);
        }
    }
}

/* A dyadic shift of dyadic points is exact: the same differences, so the same bits. */
TEST(an_exact_translation_to_1e6_changes_no_bit)
{
    abut_rng r = { 8 };
    for (int n = 0; n < 2000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double x[12], y[12], gx[12], gy[12], Hx[144], Hy[144], dx, dy;
        for (int i = 0; i < 12; i++)
            x[i] = ((double)abut_rng_below(&r, 1u << 21) - (1 << 20)) * 0x1p-20, y[i] = x[i] + 1048576.0 * (1 + i % 3);
        const abut_feature fx = abut_nearest(s, x, &dx), fy = abut_nearest(s, y, &dy);
        CHECK(!memcmp(&fx, &fy, sizeof fx) && dx == dy);
        const size_t m = 3 * (size_t)abut_stencil_size(s);
        abut_dist2_all(s, x, NULL, gx, Hx), abut_dist2_all(s, y, NULL, gy, Hy);
        CHECK(!memcmp(gx, gy, m * sizeof *gx) && !memcmp(Hx, Hy, m * m * sizeof *Hx));
    }
}

TEST(known_distances_and_features)
{
    const double pt[12] = { .25, .25, .1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    double d2, w[4];
    CHECK(abut_nearest(ABUT_PT, pt, &d2).kind == ABUT_PT);
    CHECK_NEAR(d2, 0.01, 1e-16);
    abut_dist2(ABUT_PT, pt, w);
    CHECK(w[0] == 1 && w[1] == -0.5 && w[2] == -0.25 && w[3] == -0.25);

    const double pe[9] = { 0.25, 3, 4, 0, 0, 0, 1, 0, 0 };
    CHECK(abut_nearest(ABUT_PE, pe, &d2).kind == ABUT_PE && d2 == 25);
    const double pp[9] = { -3, 4, 0, 0, 0, 0, 1, 0, 0 };
    abut_feature f = abut_nearest(ABUT_PE, pp, &d2);
    CHECK(f.kind == ABUT_PP && f.idx[0] == 0 && f.idx[1] == 1 && d2 == 25);

    const double ee[12] = { -1, 0, 0, 1, 0, 0, 0, -1, .2, 0, 1, .2 };
    CHECK(abut_nearest(ABUT_EE, ee, &d2).kind == ABUT_EE);
    CHECK_NEAR(d2, 0.04, 1e-16);
    /* corner against corner: the first of the equal candidates, points in ascending order */
    const double corner[12] = { -2, 0, 0, -1, 0, 0, 1, 1, 0, 1, 2, 0 };
    f = abut_nearest(ABUT_EE, corner, &d2);
    CHECK(f.kind == ABUT_PP && f.idx[0] == 1 && f.idx[1] == 2 && d2 == 5);
}

TEST(closest_weights_reach_the_nearest_points_of_the_outer_stencil)
{
    abut_rng r = { 9 };
    for (int n = 0; n < 4000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double x[12], d2, w[4];
        for (int i = 0; i < 12; i++) x[i] = n % 3 ? rnd(&r) : (double)abut_rng_below(&r, 3);
        abut_nearest(s, x, &d2);
        CHECK(abut_closest(s, x, w) == d2);
        CHECK_NEAR(combine2(x, w, abut_stencil_size(s)), d2, 1e-12);
        /* r points to the first primitive: its weights are a convex combination, those of the second minus one */
        const int na = s == ABUT_EE ? 2 : 1;
        double first = 0;
        for (int i = 0; i < 4; i++) {
            CHECK((i < na ? w[i] : -w[i]) >= 0);
            if (i < na) first += w[i];
        }
        CHECK_NEAR(first, 1, 1e-15);
    }
}

/* Four stencils in one array: anywhere, on a small grid (parallel, flat, touching), two points in one, not a number. */
static void four_stencils(abut_rng *r, int mode, double *y)
{
    for (int i = 0; i < 12 * ABUT_LANES; i++) y[i] = mode % 2 ? (double)abut_rng_below(r, 3) : rnd(r);
    for (int l = 0; mode == 2 && l < ABUT_LANES; l++) memcpy(y + 12 * l + 3, y + 12 * l + 6, 3 * sizeof *y);
    if (mode == 4) y[24 + abut_rng_below(r, 6)] = NAN;
}

TEST(four_at_a_time_have_the_features_and_bits_of_one)
{
    abut_rng r = { 12 };
    int of_kind[4] = { 0 };
    for (int n = 0; n < 20000; n++) {
        const abut_stencil s = (abut_stencil)(n % 4);
        double y[12 * ABUT_LANES], d2;
        int32_t v[ABUT_LANES][4];
        abut_nearest_four four;
        for (int k = 0; k < 4 * ABUT_LANES; k++) v[k / 4][k % 4] = k;
        four_stencils(&r, n / 4 % 5, y);
        abut_nearest_lanes(s, y, (const int32_t (*)[4])v, &four);
        for (int l = 0; l < ABUT_LANES; l++) {
            const double *x = y + 12 * l;
            const abut_feature f = abut_nearest(s, x, &d2);
            CHECK(four.dist2[l] == d2 || (d2 != d2 && four.dist2[l] != four.dist2[l]));
            CHECK(four.feature[l]->kind == f.kind && !memcmp(four.feature[l]->idx, f.idx, sizeof f.idx));
            of_kind[f.kind]++;
            if (n / 4 % 5 == 4) continue;
            if (s == ABUT_EE) CHECK(four.cross2[l] == abut_cross2(x, NULL, NULL));
            if (n % 144 < 4) CHECK_NEAR(four.dist2[l], brute2(s, x), 1e-9 * (four.dist2[l] + 1));
        }
    }
    for (int k = 0; k < 4; k++) CHECK(of_kind[k] > 1000);
}
