/* Certified separation and additive CCD against exact rational distances and motions whose contact is known. */
#include "check.h"
#include "exact_distance.h"

#include "base/rng.h"
#include "geom/ccd/ccd.h"
#include "geom/ccd/slab.h"
#include "geom/ccd/slab_inline.h"
#include "math/lanes.h"

static double power(abut_rng *r, double lo, double hi) { return pow(10, abut_rng_real(r, lo, hi)); }

/* A stencil built to be hard: slivers, nearly parallel edges, tiny gaps, far from the origin. */
static void hard_stencil(abut_rng *r, abut_stencil s, double *x)
{
    const int k = 3 * abut_stencil_size(s);
    for (int i = 0; i < k; i++) x[i] = abut_rng_real(r, -1, 1);
    const double gap = power(r, -12, 0), tilt = power(r, -16, -2);
    const uint32_t mode = abut_rng_below(r, 4);
    if (s == ABUT_EE && mode > 0)
        for (int c = 0; c < 3; c++) {
            x[6 + c] = x[c] + 0.3 * (x[3 + c] - x[c]) + gap * abut_rng_real(r, -1, 1);
            x[9 + c] = mode == 1 ? x[6 + c] + (x[3 + c] - x[c]) + tilt * abut_rng_real(r, -1, 1) : abut_rng_real(r, -1, 1);
        }
    if (s == ABUT_PT && mode > 0) {
        const double b = abut_rng_real(r, -0.1, 1), d = abut_rng_real(r, -0.1, 1 - b);
        for (int c = 0; c < 3; c++) {
            if (mode == 1) x[9 + c] = x[3 + c] + 0.6 * (x[6 + c] - x[3 + c]) + tilt * abut_rng_real(r, -1, 1);
            x[c] = x[3 + c] + b * (x[6 + c] - x[3 + c]) + d * (x[9 + c] - x[3 + c]) + gap * abut_rng_real(r, -1, 1);
        }
    }
    if (abut_rng_below(r, 3) == 0) {
        const double far = power(r, 0, 6);
        for (int i = 0; i < k; i++) x[i] += far * (1 + i % 3);
    }
}

TEST(separation_is_never_above_the_exact_distance)
{
    abut_rng r = { 1 };
    const int n = check_runs(4000, 1000000);
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        double x[12];
        hard_stencil(&r, s, x);
        const double d = abut_separation(s, x);
        CHECK(d >= 0 && exact_compare(s, x, x, 0, d) >= 0);
    }
}

static double centroids2(abut_stencil s, const double *x)
{
    static const int32_t v[4] = { 0, 1, 2, 3 };
    switch (s) {
    case ABUT_EE: return abut_slab_centroids2(x, v, 2, v + 2, 2);
    case ABUT_PT: return abut_slab_centroids2(x, v, 1, v + 1, 3);
    case ABUT_PE: return abut_slab_centroids2(x, v, 1, v + 1, 2);
    default: return abut_slab_centroids2(x, v, 1, v + 1, 1);
    }
}

TEST(the_slab_between_centroids_is_below_the_exact_distance_and_tells_most_apart)
{
    abut_rng r = { 3 };
    int told = 0;
    const int n = check_runs(4000, 1000000);
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        double x[12], d2;
        hard_stencil(&r, s, x);
        const double d = sqrt(centroids2(s, x));
        CHECK(d >= 0 && exact_compare(s, x, x, 0, d) >= 0);
        for (int k = 0; k < 12; k++) x[k] = abut_rng_real(&r, -1, 1);
        abut_nearest(s, x, &d2);
        const double most = centroids2(s, x);
        CHECK(most <= d2);
        if (s == ABUT_PP) CHECK_NEAR(most, d2, 1e-13 * d2);
        told += most > 0;
    }
    CHECK(told > n / 2);
    const double apart[12] = { -1, 0, 2, 1, 0, 2, 0, -1, 0, 0, 1, 0 };
    CHECK_NEAR(centroids2(ABUT_EE, apart), 4, 1e-13);
    const double big[6] = { 1e300, 0, 0, -1e300, 0, 0 }, same[6] = { 1, 2, 3, 1, 2, 3 }, bad[6] = { NAN, 0, 0, 1, 0, 0 };
    CHECK(centroids2(ABUT_PP, big) == 0 && centroids2(ABUT_PP, same) == 0 && centroids2(ABUT_PP, bad) == 0);
}

/* The loss is of the order of the rounding of differences, except for edges with a tiny gap and a tiny angle. */
TEST(separation_is_tight)
{
    abut_rng r = { 2 };
    for (int i = 0; i < 4000; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        double x[12], d2;
        for (int k = 0; k < 12; k++) x[k] = abut_rng_real(&r, -1, 1);
        abut_nearest(s, x, &d2);
        const double d = abut_separation(s, x);
        CHECK(d >= sqrt(d2) * (1 - 1e-12) - 64 * 0x1p-53);
    }
    /* a point at 1e-12 over a sliver of height 1e-6, 1e6 away from the origin in exact coordinates */
    const double o = 1048576, h = 0x1p-20, g = 0x1p-32;
    const double pt[12] = { o + .5, o + h / 4, o + g, o, o, o, o + 1, o, o, o + .5, o + h, o };
    CHECK_NEAR(abut_separation(ABUT_PT, pt), g, 1e-6 * g);
    const double ee[12] = { -1, 0, 0, 1, 0, 0, -1, -1e-9, 1e-9, 1, 1e-9, 1e-9 };
    CHECK_NEAR(abut_separation(ABUT_EE, ee), 1e-9, 1e-12);
}

TEST(separation_of_touching_primitives_is_zero)
{
    const double pt[12] = { .25, .5, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, ee[12] = { -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0 };
    const double same[12] = { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 };
    CHECK(abut_separation(ABUT_PT, pt) == 0);
    CHECK(abut_separation(ABUT_EE, ee) == 0);
    for (int s = 0; s < 4; s++) CHECK(abut_separation((abut_stencil)s, same) == 0);
}

static double toi_of(abut_stencil s, const double *x0, const double *x1, double xi, double slack, abut_ccd_answer want)
{
    double toi = -1;
    CHECK(abut_ccd_additive(s, x0, x1, xi, slack, 1, &toi) == want);
    return toi;
}

/* Closed cases of Li 2020, algorithm 4: the first step is exact when the approach is head-on. */
TEST(head_on_motions_stop_where_the_slack_of_the_gap_is_left)
{
    const double pt0[12] = { .25, .25, .1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, pt1[12] = { .25, .25, -.1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const double xi[4] = { 0, 1e-3, 1e-2, 5e-2 }, tenth[4] = { .45, .4455, .405, .225 }, fifth[4] = { .4, .396, .36, .2 };
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(toi_of(ABUT_PT, pt0, pt1, xi[i], 0.1, ABUT_CCD_HIT), tenth[i], 1e-13);
        CHECK_NEAR(toi_of(ABUT_PT, pt0, pt1, xi[i], 0.2, ABUT_CCD_HIT), fifth[i], 1e-13);
    }
    const double ee0[12] = { -1, 0, 0, 1, 0, 0, 0, -1, .2, 0, 1, .2 }, ee1[12] = { -1, 0, .15, 1, 0, .15, 0, -1, .05, 0, 1, .05 };
    CHECK_NEAR(toi_of(ABUT_EE, ee0, ee1, 0, 0.1, ABUT_CCD_HIT), 0.6, 1e-13);
    CHECK_NEAR(toi_of(ABUT_EE, ee0, ee1, 1e-3, 0.1, ABUT_CCD_HIT), 0.597, 1e-13);
    CHECK_NEAR(toi_of(ABUT_EE, ee0, ee1, 0.1, 0.1, ABUT_CCD_HIT), 0.3, 1e-13);
    /* a gap of 1e-8 above an offset of 3e-4 */
    double a0[12], a1[12];
    memcpy(a0, pt0, sizeof a0), memcpy(a1, pt0, sizeof a1);
    a0[2] = 3e-4 + 1e-8, a1[2] = a0[2] - 0.1;
    CHECK_NEAR(toi_of(ABUT_PT, a0, a1, 3e-4, 0.1, ABUT_CCD_HIT), 9e-8, 1e-14);
}

/* Algorithm 4 needs 38 and 351 distances here; a separating plane sees at once that sliding does not approach. */
TEST(sliding_motions_go_further_than_the_published_steps)
{
    const double e0[12] = { -1, 0, 0, 1, 0, 0, -1, 0, .01, 1, 0, .01 },
                 e1[12] = { -1, 0, 0, 1, 0, 0, -.7, 0, -.01, 1.3, 0, -.01 };
    const double toi = toi_of(ABUT_EE, e0, e1, 1e-3, 0.1, ABUT_CCD_HIT);
    CHECK(toi >= 0.404163162828904 && toi < 0.45);
    const double s0[12] = { 0.3, 0.1, 2e-3, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, s1[12] = { 0.6, 0.2, 2e-3, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    CHECK(toi_of(ABUT_PT, s0, s1, 1e-3, 0.1, ABUT_CCD_CLEAR) == 1);
}

TEST(a_start_in_contact_or_below_resolution_is_bad)
{
    double x0[12] = { .25, .25, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, x1[12] = { .25, .25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    CHECK(toi_of(ABUT_PT, x0, x1, 0, 0.1, ABUT_CCD_BAD) == 0);
    x0[2] = 1e-3;
    CHECK(toi_of(ABUT_PT, x0, x1, 1e-3, 0.1, ABUT_CCD_BAD) == 0);
    x0[2] = 1e-15;
    CHECK(toi_of(ABUT_PT, x0, x1, 0, 0.1, ABUT_CCD_BAD) == 0);
    /* without motion there is no rounding: any gap suffices */
    CHECK(toi_of(ABUT_PT, x0, x0, 0, 0.1, ABUT_CCD_CLEAR) == 1);
}

TEST(bad_numbers_are_never_clear)
{
    const double base[12] = { .25, .25, .1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, bad[3] = { NAN, INFINITY, -INFINITY };
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 3 * abut_stencil_size((abut_stencil)s); i++)
            for (int b = 0; b < 3; b++)
                for (int end = 0; end < 2; end++) {
                    double x0[12], x1[12], toi;
                    memcpy(x0, base, sizeof x0), memcpy(x1, base, sizeof x1);
                    (end ? x1 : x0)[i] = bad[b];
                    CHECK(abut_ccd_additive((abut_stencil)s, x0, x1, 0, 0.1, 1, &toi) != ABUT_CCD_CLEAR);
                    CHECK(toi >= 0 && toi < 1);
                }
}

/* Larger of the two largest displacements of the primitives, mean motion taken out (Li 2020, 5.12). */
static double approach_bound(abut_stencil s, const double *x0, const double *x1)
{
    const int k = abut_stencil_size(s), na = s == ABUT_EE ? 2 : 1;
    double mean[3] = { 0, 0, 0 }, most[2] = { 0, 0 };
    for (int i = 0; i < 3 * k; i++) mean[i % 3] += (x1[i] - x0[i]) / k;
    for (int i = 0; i < k; i++) {
        double p2 = 0;
        for (int c = 0; c < 3; c++) p2 += pow(x1[3 * i + c] - x0[3 * i + c] - mean[c], 2);
        most[i >= na] = fmax(most[i >= na], sqrt(p2));
    }
    return most[0] + most[1];
}

/* Every answer on a motion: safe at sampled times, safe where the caller would store it, not shorter than the bound. */
static void check_motion(abut_stencil s, const double *x0, const double *x1, double xi, double slack, int counts[3])
{
    double toi, stored[12];
    const abut_ccd_answer a = abut_ccd_additive(s, x0, x1, xi, slack, 1, &toi);
    counts[a]++;
    CHECK(toi >= 0 && toi <= 1 && (a == ABUT_CCD_CLEAR) == (toi == 1) && (a == ABUT_CCD_BAD) == (toi == 0));
    if (a == ABUT_CCD_BAD) return;
    const double d0 = abut_separation(s, x0), keep = xi + slack * (d0 - xi) * (1 - 1e-5);
    for (int i = 0; i <= 4; i++) CHECK(exact_compare(s, x0, x1, toi * i / 4, keep) >= 0);
    for (int i = 0; i < 3 * abut_stencil_size(s); i++) stored[i] = x0[i] + toi * (x1[i] - x0[i]);
    CHECK(exact_compare(s, stored, stored, 0, xi) > 0);
    const double lp = approach_bound(s, x0, x1);
    if (a == ABUT_CCD_HIT) CHECK(toi >= (1 - slack) * (d0 - xi) / lp * (1 - 1e-5));
}

TEST(additive_keeps_the_slack_of_the_gap_on_hard_motions)
{
    abut_rng r = { 3 };
    const int n = check_runs(6000, 300000);
    const double xis[3] = { 0, 1e-4, 1e-3 };
    int counts[3] = { 0, 0, 0 };
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        double x0[12], x1[12];
        hard_stencil(&r, s, x0);
        const double speed = power(&r, -9, 1);
        for (int k = 0; k < 3 * abut_stencil_size(s); k++) x1[k] = x0[k] + speed * abut_rng_real(&r, -1, 1);
        if (i % 8 < 4)                                      /* the first primitive goes through the last point */
            for (int k = 0; k < (s == ABUT_EE ? 6 : 3); k++)
                x1[k] += 2 * (x0[3 * abut_stencil_size(s) - 3 + k % 3] - x0[k % 3]);
        check_motion(s, x0, x1, xis[i % 3], i % 2 ? 0.1 : 0.2, counts);
    }
    CHECK(counts[0] > n / 10 && counts[1] > n / 10 && counts[2] > n / 100);
}

/* Sliding along each other at a gap of 1e-9 .. 1e-16, where root finders miss and additive steps crawl. */
TEST(additive_is_safe_for_sliding_pairs)
{
    abut_rng r = { 4 };
    const int n = check_runs(2000, 200000);
    int counts[3] = { 0, 0, 0 };
    for (int i = 0; i < n; i++) {
        const double gap = power(&r, -16, -6), way = power(&r, -3, 0), fall = abut_rng_below(&r, 2) ? power(&r, -3, 3) * gap : 0;
        double x0[12] = { .3, .2, gap, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, x1[12];
        const double ee[12] = { -1, 0, gap, 1, 0.1, gap, -1, -0.1, 0, 1, 0.2, 0 };
        if (i % 2) memcpy(x0, ee, sizeof x0);
        memcpy(x1, x0, sizeof x1);
        for (int k = 0; k < (i % 2 ? 2 : 1); k++) x1[3 * k] += way, x1[3 * k + 1] -= 0.3 * way, x1[3 * k + 2] -= fall;
        check_motion(i % 2 ? ABUT_EE : ABUT_PT, x0, x1, 0, 0.1, counts);
    }
    CHECK(counts[0] > n / 10 && counts[1] > n / 10);
}

/* x0 turned about an axis through the origin by `angle`, moved along, and each point by at most `off`. */
static void turn(abut_rng *r, double angle, double off, const double *x0, double *x1)
{
    double n[3];
    for (int c = 0; c < 3; c++) n[c] = abut_rng_real(r, -1, 1);
    const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 4; i++) {
        const double *a = x0 + 3 * i;
        const double across[3] = { n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2], n[0] * a[1] - n[1] * a[0] };
        const double along = n[0] * a[0] + n[1] * a[1] + n[2] * a[2];
        for (int c = 0; c < 3; c++) {
            const double out = a[c] - along / (len * len) * n[c];
            const double turned = (cos(angle) - 1) * out + sin(angle) * across[c] / len;
            x1[3 * i + c] = a[c] + turned + 0.3 * (c + 1) + off * abut_rng_real(r, -1, 1);
        }
    }
}

static void neighbours(abut_stencil s, double gap, double *x)
{
    const double pt[12] = { .3, .2, gap, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, ee[12] = { -1, 0, gap, 1, .1, gap, -1, -.1, 0, 1, .2, 0 };
    memcpy(x, s == ABUT_EE ? ee : pt, sizeof pt);
}

/* Neighbours `gap` apart, and then. */
static void rotated_pair(abut_rng *r, abut_stencil s, double gap, double angle, double off, double *x0, double *x1)
{
    neighbours(s, gap, x0);
    turn(r, angle, off, x0, x1);
}

TEST(directions_that_move_prove_distances_that_are_there)
{
    abut_rng r = { 8 };
    const int n = check_runs(6000, 300000);
    int proved = 0, refused = 0, fixed = 0;
    for (int i = 0; i < n; i++) {
        const abut_stencil s = i % 2 ? ABUT_EE : ABUT_PT;
        const double gap = power(&r, -9, -1), t = abut_rng_below(&r, 2) ? 0 : abut_rng_real(&r, 0, 0.9);
        const double u = abut_rng_below(&r, 2) ? 1 : abut_rng_real(&r, t, 1), off = i % 3 ? gap * power(&r, -2, 2) : 0;
        double x0[12], x1[12], at[12], to[12];
        abut_slab a, b;
        rotated_pair(&r, s, gap, power(&r, -4, 0), off, x0, x1);
        for (int k = 0; k < 12; k++) at[k] = x0[k] + t * (x1[k] - x0[k]), to[k] = x0[k] + u * (x1[k] - x0[k]);
        const double d = fmin(abut_slab_quick(s, at, x0, x1, &a), abut_slab_quick(s, to, x0, x1, &b));
        const double target = d * abut_rng_real(&r, 0.2, 1);
        const int is = abut_slab_between_fn(&a, &b, t, u, target);
        for (int k = 0; k <= 8 && is; k++) CHECK(exact_compare(s, x0, x1, k < 8 ? t + (u - t) * k / 8 : u, target) >= 0);
        proved += is;
        refused += !is;
        fixed += abut_slab_advance(&a, t, target) >= u;
    }
    CHECK(proved > 2 * fixed && proved > n / 10 && refused > n / 10);
}

/* A fixed direction is left after gap / size radians: 10000 steps would not do. */
SLOW_TEST(neighbours_that_rotate_together_are_clear)
{
    abut_rng r = { 9 };
    for (int i = 0; i < 400; i++) {
        double x0[12], x1[12];
        rotated_pair(&r, i % 2 ? ABUT_EE : ABUT_PT, power(&r, -7, -6), power(&r, -1.5, -0.5), 0, x0, x1);
        toi_of(i % 2 ? ABUT_EE : ABUT_PT, x0, x1, 0, 0.2, ABUT_CCD_CLEAR);
    }
    int counts[3] = { 0, 0, 0 };
    for (int i = 0; i < check_runs(2000, 100000); i++) {
        const double gap = power(&r, -10, -3);
        double x0[12], x1[12];
        rotated_pair(&r, i % 2 ? ABUT_EE : ABUT_PT, gap, power(&r, -4, 0), gap * power(&r, -1, 2), x0, x1);
        check_motion(i % 2 ? ABUT_EE : ABUT_PT, x0, x1, 0, 0.2, counts);
    }
    CHECK(counts[0] > 200 && counts[1] > 200);
}

/* Rounding tilts the line between nearest points by size / gap, more than gap / size here; normals of faces it does not. */
TEST(neighbours_that_rotate_together_at_tiny_gaps_are_clear)
{
    abut_rng r = { 10 };
    for (int i = 0; i < check_runs(1000, 100000); i++) {
        const abut_stencil s = i % 2 ? ABUT_EE : ABUT_PT;
        double start[12], x0[12], x1[12];
        neighbours(s, power(&r, -9.5, -8.5), start);
        turn(&r, power(&r, -1, 0.5), 0, start, x0);
        turn(&r, power(&r, -4.5, -3.5), 0, x0, x1);
        toi_of(s, x0, x1, 0, 0.2, ABUT_CCD_CLEAR);
    }
}

/* Points that meet exactly at time T = m / 8: positions and speeds on a dyadic grid, so that nothing is rounded. */
TEST(additive_never_passes_an_exact_contact)
{
    abut_rng r = { 5 };
    const int n = check_runs(20000, 10000000);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        const int k = abut_stencil_size(s), m = 1 + (int)abut_rng_below(&r, 8);
        const double unit = ldexp(1, -(int)abut_rng_below(&r, 30)), T = m / 8.0;
        double xt[12], x0[12], x1[12], toi;
        for (int c = 0; c < 12; c++) xt[c] = 4 * ((double)abut_rng_below(&r, 2049) - 1024);
        /* quarter weights: the first point lands on the other primitive, or the edges cross */
        const int u = (int)abut_rng_below(&r, 5), v = (int)abut_rng_below(&r, s == ABUT_PT ? (uint32_t)(5 - u) : 5);
        for (int c = 0; c < 3; c++) {
            const double *b = xt + 3;
            if (s == ABUT_PP) xt[c] = b[c];
            else if (s == ABUT_PE) xt[c] = b[c] + u * (b[3 + c] - b[c]) / 4;
            else if (s == ABUT_PT) xt[c] = b[c] + u * (b[3 + c] - b[c]) / 4 + v * (b[6 + c] - b[c]) / 4;
            else {
                /* shift the second edge so that its point v/4 meets the point u/4 of the first */
                const double shift = xt[c] + u * (xt[3 + c] - xt[c]) / 4 - (xt[6 + c] + v * (xt[9 + c] - xt[6 + c]) / 4);
                xt[6 + c] += shift, xt[9 + c] += shift;
            }
        }
        for (int c = 0; c < 3 * k; c++) {
            const double p = 8 * unit * ((double)abut_rng_below(&r, 4097) - 2048);
            x0[c] = xt[c] - T * p, x1[c] = xt[c] + (1 - T) * p;
        }
        const abut_ccd_answer a = abut_ccd_additive(s, x0, x1, 0, 0.1, 1, &toi);
        CHECK(a != ABUT_CCD_CLEAR && toi < T);
        bad += a == ABUT_CCD_BAD;
    }
    CHECK(bad < n / 4);
}

TEST(a_shorter_motion_is_clear_when_its_end_is_before_the_hit)
{
    const double x0[12] = { .25, .25, .1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, x1[12] = { .25, .25, -.1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    double toi;
    CHECK(abut_ccd_additive(ABUT_PT, x0, x1, 0, 0.1, 0.44, &toi) == ABUT_CCD_CLEAR && toi == 0.44);
    CHECK(abut_ccd_additive(ABUT_PT, x0, x1, 0, 0.1, 0.46, &toi) == ABUT_CCD_HIT && toi < 0.46);
}

/* Reference of abut_slab_clear_lanes, one pair at a time. */
static int clear_plainly(abut_stencil s, const double *x0, const double *x1, double xi, double slack, double tiny, double t_max)
{
    abut_slab l;
    const double d = abut_slab_quick(s, x0, x0, x1, &l), gap = l.least0 - xi, goal = slack * gap;
    return l.least0 >= d * (1 - 1e-8) && d - l.least0 <= 1e-6 * gap && goal >= tiny &&
           abut_slab_advance(&l, 0, (xi + goal) * (1 + 4 * ABUT_SLAB_EPS)) >= t_max;
}

/* Four motions, the vertices of the four in one array; the last may be bad. */
static void four_motions(abut_rng *r, abut_stencil s, int bad, double *y0, double *y1)
{
    const int n3 = 3 * abut_stencil_size(s);
    for (int l = 0; l < ABUT_LANES; l++) {
        const double speed = power(r, -6, 1);
        hard_stencil(r, s, y0 + 12 * l);
        for (int k = 0; k < n3; k++) y1[12 * l + k] = y0[12 * l + k] + speed * abut_rng_real(r, -1, 1);
    }
    if (bad == 1) y1[36 + (int)abut_rng_below(r, (uint32_t)n3)] = NAN;
    if (bad == 2) y0[36 + (int)abut_rng_below(r, (uint32_t)n3)] = NAN;
    if (bad == 3) for (int k = 0; k < n3; k++) y0[36 + k] = k % 3;
}

TEST(four_slabs_at_a_time_clear_what_one_clears_and_nothing_that_comes_near)
{
    abut_rng r = { 6 };
    const int n = check_runs(4000, 400000);
    const double slack = 0.2;
    int told = 0, additive = 0;
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        double y0[48], y1[48], toi, xi[ABUT_LANES];
        int32_t v[ABUT_LANES][4];
        for (int k = 0; k < 4 * ABUT_LANES; k++) v[k / 4][k % 4] = k;
        const int bad = i / 4 % 8;
        const double tiny = i % 3 ? 0x1p-43 * 1e7 : 1e-3, t_max = i % 5 ? abut_rng_real(&r, 0.01, 1) : 1;
        four_motions(&r, s, bad, y0, y1);
        for (int l = 0; l < ABUT_LANES; l++) xi[l] = i / 4 % 2 ? power(&r, -6, -1) : 0;
        const int clear = abut_slab_clear_lanes(s, y0, y1, (const int32_t (*)[4])v, xi, slack, tiny, t_max);
        for (int l = 0; l < ABUT_LANES; l++) {
            const double *x0 = y0 + 12 * l, *x1 = y1 + 12 * l;
            const int yes = clear >> l & 1;
            CHECK(yes == clear_plainly(s, x0, x1, xi[l], slack, tiny, t_max));
            const int would = abut_ccd_additive(s, x0, x1, xi[l], slack, t_max, &toi) == ABUT_CCD_CLEAR;
            CHECK(would || !yes);
            additive += would;
            told += yes;
            const double keep = xi[l] + slack * (abut_separation(s, x0) - xi[l]) * (1 - 1e-5);
            for (int k = 0; yes && k <= 4; k++) CHECK(exact_compare(s, x0, x1, t_max * k / 4, keep) >= 0);
            CHECK(l < 3 || bad < 1 || bad > 3 || !yes);
        }
        CHECK(clear < 1 << ABUT_LANES);
    }
    CHECK(told > additive / 2 && additive > n);
}
