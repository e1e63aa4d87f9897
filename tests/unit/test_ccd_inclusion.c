/* Inclusion and additive CCD against the exact decision: never a contact missed, never a time too late. */
#include "check.h"
#include "exact_distance.h"
#include "query_files.h"

#include "base/rng.h"
#include "geom/ccd/ccd.h"

/* pure: bisection alone */
static abut_ccd_answer inclusion(int pure, abut_stencil s, const double *x0, const double *x1, double xi, double delta,
                                 long boxes, double *toi)
{
    abut_arena scratch = { 0 };
    const abut_ccd_answer a = pure ? abut_ccd_bisect(s, x0, x1, xi, delta, 1, boxes, toi, &scratch)
                                   : abut_ccd_inclusion(s, x0, x1, xi, delta, 1, boxes, toi, &scratch);
    abut_arena_clear(&scratch);
    return a;
}

/* Contact known, time known (none: < 0): both forms of the method agree, and the time is near. */
static void check_known(abut_stencil s, const double *x0, const double *x1, double time)
{
    for (int pure = 0; pure < 2; pure++) {
        double toi;
        const abut_ccd_answer a = inclusion(pure, s, x0, x1, 0, 1e-6, 1000000, &toi);
        if (time < 0) CHECK(a == ABUT_CCD_CLEAR && toi == 1);
        else {
            CHECK(a != ABUT_CCD_CLEAR && toi <= time);
            CHECK_NEAR(toi, time, 1e-5);
        }
    }
}

TEST(reference_cases_have_their_known_answers)
{
    const double up = 0x1p-20;
    double a[12] = { .25, .25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, b[12] = { .25, .25, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    check_known(ABUT_PT, a, b, 0.5);
    a[0] = a[1] = b[0] = b[1] = 0.5;                /* on the hypotenuse, then beyond it by more than delta */
    check_known(ABUT_PT, a, b, 0.5);
    a[0] = b[0] = 0.5 + 4 * up;
    check_known(ABUT_PT, a, b, -1);
    const double e0[12] = { 0, 0, 0, 1, 0, 0, 1, -1, 1, 1, 1, 1 }, e1[12] = { 0, 0, 0, 1, 0, 0, 1, -1, -1, 1, 1, -1 };
    check_known(ABUT_EE, e0, e1, 0.5);
    const double c0[12] = { 0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0 }, c1[12] = { 0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 0 };
    check_known(ABUT_EE, c0, c1, 1);
    const double p0[9] = { 0.5, 1, 0, 0, 0, 0, 1, 0, 0 }, p1[9] = { 0.5, -1, 0, 0, 0, 0, 1, 0, 0 };
    check_known(ABUT_PE, p0, p1, 0.5);
    const double q0[6] = { 0, 0, 0, 1, 0, 0 }, q1[6] = { 1, 0, 0, 0, 0, 0 };
    check_known(ABUT_PP, q0, q1, 0.5);
    check_known(ABUT_PT, e0, e0, -1);
}

/* Two edges that graze with a double root at t = 1/2: c = 0 touches, a shift by c along z does not when c < 0. */
TEST(a_graze_without_crossing_is_contact)
{
    for (int i = 0; i < 2; i++) {
        const double c = i ? -0x1p-12 : 0;
        double x0[12], x1[12], toi;
        for (int e = 0; e < 2; e++) {
            const double s = e - 0.5, x[12] = { s, -1, -s, s, 1, s, s - 1, s, c, s + 1, s, c };
            memcpy(e ? x1 : x0, x, sizeof x);
        }
        const abut_ccd_answer a = inclusion(1, ABUT_EE, x0, x1, 0, 1e-6, 1000000, &toi);
        CHECK((a != ABUT_CCD_CLEAR) == !i);
        if (!i) CHECK(toi <= 0.5 && toi > 0.49);
    }
}

static void random_motion(abut_rng *r, abut_stencil s, double *x0, double *x1)
{
    const int n = 3 * abut_stencil_size(s);
    const uint32_t mode = abut_rng_below(r, 4);
    const double far = abut_rng_below(r, 3) ? 0 : pow(10, abut_rng_real(r, 0, 6)), scale = pow(10, abut_rng_real(r, -3, 1));
    for (int i = 0; i < n; i++) {
        if (mode == 0) {                            /* small integers: planar, collinear, repeated, motionless */
            x0[i] = (double)abut_rng_below(r, 5) - 2;
            x1[i] = (double)abut_rng_below(r, 5) - 2;
        } else {
            x0[i] = abut_rng_real(r, -1, 1);
            x1[i] = mode == 1 ? x0[i] + 0.1 * abut_rng_real(r, -1, 1) : abut_rng_real(r, -1, 1);
        }
        x0[i] = scale * x0[i] + far, x1[i] = scale * x1[i] + far;
    }
    if (mode == 3 && s == ABUT_EE)                  /* nearly parallel, sliding along each other at a small gap */
        for (int c = 0; c < 3; c++) {
            const double gap = pow(10, abut_rng_real(r, -9, -3)) * scale, slide = abut_rng_real(r, -1, 1);
            x0[6 + c] = x0[c] + gap * abut_rng_real(r, -1, 1), x0[9 + c] = x0[3 + c] + gap * abut_rng_real(r, -1, 1);
            x1[c] = x0[c], x1[3 + c] = x0[3 + c];
            x1[6 + c] = x0[6 + c] + slide * (x0[3 + c] - x0[c]), x1[9 + c] = x0[9 + c] + slide * (x0[3 + c] - x0[c]);
        }
}

TEST(no_contact_is_missed_and_no_time_is_later_than_the_first)
{
    abut_rng r = { 11 };
    const int n = check_runs(20000, 10000000), pure = check_runs(20, 500);
    int contacts = 0, clear[2] = { 0, 0 };
    abut_arena scratch = { 0 };
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 8 < 6 ? 2 + i % 2 : i % 2);
        double x0[12], x1[12], lo = 0, hi = 0, toi;
        random_motion(&r, s, x0, x1);
        const int yes = abut_ccd_exact(s, x0, x1, &lo, &hi);
        contacts += yes;
        abut_ccd_answer a = abut_ccd_additive(s, x0, x1, 0, 0.1, 1, &toi);
        clear[0] += a == ABUT_CCD_CLEAR;
        CHECK(!yes || (a != ABUT_CCD_CLEAR && toi <= hi));
        a = abut_ccd_inclusion(s, x0, x1, 0, 1e-6, 1, 1000000, &toi, &scratch);
        clear[1] += a == ABUT_CCD_CLEAR;
        CHECK(!yes || (a != ABUT_CCD_CLEAR && toi <= hi));
        if (i % pure) continue;
        a = abut_ccd_bisect(s, x0, x1, 0, 1e-6, 1, 20000, &toi, &scratch);
        CHECK(!yes || (a != ABUT_CCD_CLEAR && toi <= hi));
    }
    abut_arena_clear(&scratch);
    CHECK(contacts > n / 20 && clear[0] > n / 20 && clear[1] > n / 20 && clear[1] + contacts > n - n / 100);
}

/* In one plane far from the origin the heights that are computed of a box are off by a rounding, most of them to one side: only
 * the bound on that keeps the box. */
TEST(rounding_of_large_coordinates_hides_no_contact)
{
    abut_rng r = { 14 };
    int contacts = 0, clear = 0;
    for (int i = 0, n = check_runs(400, 40000); i < n; i++) {
        const abut_stencil s = i % 2 ? ABUT_EE : ABUT_PT;
        const double height = abut_rng_real(&r, 900, 1100);
        double x0[12], x1[12], toi;
        for (int k = 0; k < 12; k++) {
            x0[k] = k % 3 == i % 3 ? height : abut_rng_real(&r, -1, 1);
            x1[k] = k % 3 == i % 3 ? height : abut_rng_real(&r, -1, 1);
        }
        const int yes = abut_ccd_exact(s, x0, x1, NULL, NULL);
        const abut_ccd_answer a = inclusion(1, s, x0, x1, 0, 1e-3, 3000, &toi);
        CHECK(!yes || a != ABUT_CCD_CLEAR);
        contacts += yes, clear += a == ABUT_CCD_CLEAR;
    }
    CHECK(contacts > 100 && clear > 50);
}

TEST(a_minimum_separation_is_kept_up_to_the_time_returned)
{
    abut_rng r = { 12 };
    const int n = check_runs(3000, 300000);
    int clear[3] = { 0 }, hit[3] = { 0 }, within = 0;
    for (int i = 0; i < n; i++) {
        const abut_stencil s = (abut_stencil)(i % 4);
        const double xi = pow(10, abut_rng_real(&r, -4, -1));
        double x0[12], x1[12], toi, lo = 0, hi = 1;
        random_motion(&r, s, x0, x1);
        const int yes = abut_ccd_exact_within(s, x0, x1, xi, &lo, &hi);
        within += yes;
        for (int method = 0; method < 3; method++) {
            const abut_ccd_answer a = method < 2 ? inclusion(method, s, x0, x1, xi, 1e-4, 2000, &toi)
                                                 : abut_ccd_additive(s, x0, x1, xi, 0.1, 1, &toi);
            clear[method] += a == ABUT_CCD_CLEAR, hit[method] += a == ABUT_CCD_HIT;
            CHECK(!yes || (a != ABUT_CCD_CLEAR && toi <= hi));
            if (i % 4 == 0 && a != ABUT_CCD_BAD) CHECK(exact_compare(s, x0, x1, toi, xi) > 0);
        }
    }
    for (int method = 0; method < 3; method++) CHECK(clear[method] > n / 10 && hit[method] > n / 30);
    CHECK(within > n / 10);
}

/* Sliding at a gap below delta needs area / delta^2 boxes: the cap, a full arena and a shorter motion all stay safe. */
TEST(a_search_cut_short_is_a_contact_not_an_all_clear)
{
    const double x0[12] = { -1, 0, 0, 1, 0, 0, -1, 0.25, 0x1p-60, 0.5, 0, 0x1p-60 };
    double x1[12], toi;
    memcpy(x1, x0, sizeof x1);
    for (int i = 6; i < 12; i += 3) x1[i] += 1e-2, x1[i + 2] -= 0x1p-55;
    CHECK(inclusion(1, ABUT_EE, x0, x1, 0, 1e-9, 100, &toi) != ABUT_CCD_CLEAR);
    abut_arena tiny = { .limit = 4096 };
    CHECK(abut_ccd_bisect(ABUT_EE, x0, x1, 0, 1e-9, 1, 0, &toi, &tiny) != ABUT_CCD_CLEAR);
    abut_arena_clear(&tiny);
    abut_arena scratch = { 0 };
    const double a[12] = { .25, .25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, b[12] = { .25, .25, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    CHECK(abut_ccd_bisect(ABUT_PT, a, b, 0, 1e-6, 0.4, 0, &toi, &scratch) == ABUT_CCD_CLEAR && toi == 0.4);
    CHECK(abut_ccd_inclusion(ABUT_PT, a, b, 0, 1e-6, 0.5, 0, &toi, &scratch) == ABUT_CCD_HIT && toi <= 0.5);
    abut_arena_clear(&scratch);
}

TEST(bad_numbers_are_never_clear)
{
    const double base[12] = { .25, .25, .1, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, bad[3] = { NAN, INFINITY, -INFINITY };
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 6 * abut_stencil_size((abut_stencil)s); i++)
            for (int b = 0; b < 3; b++) {
                double x0[12], x1[12], toi;
                memcpy(x0, base, sizeof x0), memcpy(x1, base, sizeof x1);
                (i % 2 ? x1 : x0)[i / 2] = bad[b];
                CHECK(inclusion(i % 2, (abut_stencil)s, x0, x1, 0, 1e-6, 0, &toi) == ABUT_CCD_BAD && toi == 0);
            }
}

/* The published queries with their exact truth; ABUT_DATA names the folder that has them. */
TEST(public_queries_have_no_false_negative_by_any_method)
{
    const char *data = getenv("ABUT_DATA");
    char folder[1000];
    query_set set = { 0 };
    abut_arena scratch = { 0 };
    snprintf(folder, sizeof folder, "%s/ccd-queries", data ? data : "../shared/data");
    query_set_load(&set, folder, 4);
    CHECK(!set.err.code);
    if (!set.n) SKIP("no queries under %s", folder);
    for (size_t i = 0; i < set.n; i++) {
        const abut_ccd_query *q = &set.q[i];
        double add, inc, hi = 1;
        const int a = abut_ccd_additive(set.kind[i], q->x0, q->x1, 0, 0.1, 1, &add) != ABUT_CCD_CLEAR;
        const int b = abut_ccd_inclusion(set.kind[i], q->x0, q->x1, 0, 1e-6, 1, 1000000, &inc, &scratch) != ABUT_CCD_CLEAR;
        CHECK(abut_ccd_exact(set.kind[i], q->x0, q->x1, NULL, &hi) == q->truth);
        if (q->truth) CHECK(a && b && add <= hi && inc <= hi);
    }
    abut_arena_clear(&scratch);
    query_set_clear(&set);
}
