/* Exact minimum separation against sampled distances (geom/dist.h, another method), and where the distance is exactly it. */
#include "base/rng.h"
#include "check.h"
#include "geom/ccd/ccd.h"

#include <float.h>

typedef struct query {
    abut_stencil s;
    double x0[12], x1[12];
} query;

static double distance_at(const query *q, double t)
{
    double x[12], d2;
    for (int i = 0; i < 12; i++) x[i] = (1 - t) * q->x0[i] + t * q->x1[i];
    abut_nearest(q->s, x, &d2);
    return sqrt(d2);
}

static query random_query(abut_rng *r, int it)
{
    query q = { (abut_stencil)(it % 4), { 0 }, { 0 } };
    for (int i = 0; i < 12; i++) {
        q.x0[i] = it % 3 ? (int)abut_rng_below(r, 7) - 3 : abut_rng_real(r, -3, 3);
        q.x1[i] = it % 3 ? (int)abut_rng_below(r, 7) - 3 : abut_rng_real(r, -3, 3);
    }
    for (int i = 0; i < 4 && it % 5 == 0; i++) q.x0[3 * i + 2] = q.x1[3 * i + 2] = 0;
    for (int i = 0; i < 3 && it % 7 == 0; i++) q.x1[9 + i] = q.x1[6 + i], q.x0[9 + i] = q.x0[6 + i];
    return q;
}

TEST(separation_agrees_with_sampled_distances_before_and_at_the_first_time)
{
    enum { N = 400 };
    abut_rng r = { 31 };
    int yes = 0, no = 0, later = 0;
    for (int it = 0, runs = check_runs(900, 45000); it < runs; it++) {
        const query q = random_query(&r, it);
        const double sep = it % 2 ? 0.5 : abut_rng_real(&r, 0.01, 1.5);
        double lo = 1, hi = 1;
        const int got = abut_ccd_exact_within(q.s, q.x0, q.x1, sep, &lo, &hi);
        for (int i = 0; i <= N; i++) {
            const double t = i / (double)N;
            if (!got || t < lo) CHECK(distance_at(&q, t) >= sep - 1e-9);
        }
        if (got) {
            CHECK(lo <= hi && hi - lo <= 4 * DBL_EPSILON);
            CHECK(distance_at(&q, lo) <= sep + 1e-9);
            if (lo > 0) CHECK_NEAR(distance_at(&q, lo), sep, 1e-9);
        }
        yes += got, no += !got, later += got && lo > 0;
    }
    CHECK(yes > 200 && no > 200 && later > 100);
}

TEST(contact_implies_any_separation_and_small_separations_imply_little)
{
    abut_rng r = { 32 };
    int both = 0;
    for (int it = 0, runs = check_runs(400, 20000); it < runs; it++) {
        const query q = random_query(&r, it);
        const int touch = abut_ccd_exact(q.s, q.x0, q.x1, NULL, NULL);
        /* coordinates up to 3: apart by less than 1e-30 means touching */
        if (it % 3) CHECK(abut_ccd_exact_within(q.s, q.x0, q.x1, 1e-30, NULL, NULL) == touch);
        if (touch) CHECK(abut_ccd_exact_within(q.s, q.x0, q.x1, DBL_TRUE_MIN, NULL, NULL));
        both += touch;
    }
    CHECK(both > 30);
}

/* falls to a height above the face, slides along at a height, crosses above an edge */
TEST(distance_equal_to_the_separation_counts_and_one_ulp_more_does_not)
{
    const double sep = 0.5, more = nextafter(0.5, 1);
    for (int k = 0; k < 2; k++) {
        const double z = k ? more : sep;
        const query land = { ABUT_PT, { .25, .25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { .25, .25, z, 0, 0, 0, 1, 0, 0, 0, 1, 0 } };
        double lo, hi;
        CHECK(abut_ccd_exact_within(land.s, land.x0, land.x1, sep, &lo, &hi) == !k);
        if (!k) CHECK(lo == 1 && hi == 1);
        /* at height z all the way: above the face from t = 1/4 on, so the distance polynomial of the plane is zero for all t */
        const query slide = { ABUT_PT, { -1, .25, z, 0, 0, 0, 3, 0, 0, 0, 3, 0 }, { 3, .25, z, 0, 0, 0, 3, 0, 0, 0, 3, 0 } };
        CHECK(abut_ccd_exact_within(slide.s, slide.x0, slide.x1, sep, &lo, &hi) == !k);
        if (!k) CHECK(lo == .25 && hi == .25);
        const query cross = { ABUT_EE, { 0, 0, 0, 4, 0, 0, -2, -1, z, -2, 1, z }, { 0, 0, 0, 4, 0, 0, 6, -1, z, 6, 1, z } };
        CHECK(abut_ccd_exact_within(cross.s, cross.x0, cross.x1, sep, &lo, &hi) == !k);
        if (!k) CHECK(lo == .25 && hi == .25);
        const query pass = { ABUT_PP, { 0, 0, 0, -1, z, 0 }, { 0, 0, 0, 1, z, 0 } };
        CHECK(abut_ccd_exact_within(pass.s, pass.x0, pass.x1, sep, &lo, &hi) == !k);
        if (!k) CHECK(lo == .5 && hi == .5);
    }
}

TEST(not_finite_is_near)
{
    const query q = { ABUT_PP, { 0, 0, 0, 9, 0, 0 }, { 0, 0, NAN, 9, 0, 0 } };
    CHECK(abut_ccd_exact_within(q.s, q.x0, q.x1, 1, NULL, NULL));
}
