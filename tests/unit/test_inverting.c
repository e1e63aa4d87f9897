/* Does a tetrahedron lose its positive volume on a straight motion?  Against rational arithmetic, and in closed form. */
#include "base/rng.h"
#include "check.h"
#include "geom/ccd/ccd.h"
#include "geom/ccd/filter.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

static const double unit[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };

/* Sign of the volume at t, in rational arithmetic. */
static int volume_sign(const double x0[12], const double x1[12], double t)
{
    mpq_t e[9], a, b, s, det;
    mpq_inits(a, b, s, det, NULL);
    for (int k = 0; k < 9; k++) mpq_init(e[k]);
    mpq_set_d(s, t);
    for (int k = 0; k < 12; k++) {      /* positions, then edges from the first corner */
        mpq_set_d(a, x0[k]);
        mpq_set_d(b, x1[k]);
        mpq_sub(b, b, a);
        mpq_mul(b, b, s);
        mpq_add(a, a, b);
        for (int j = 0; j < 3 && k < 3; j++) mpq_sub(e[3 * j + k], e[3 * j + k], a);
        if (k >= 3) mpq_add(e[k - 3], e[k - 3], a);
    }
    for (int k = 0; k < 3; k++) {       /* Sarrus */
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        mpq_mul(a, e[k], e[3 + l]);
        mpq_mul(a, a, e[6 + m]);
        mpq_add(det, det, a);
        mpq_mul(a, e[k], e[3 + m]);
        mpq_mul(a, a, e[6 + l]);
        mpq_sub(det, det, a);
    }
    const int sign = mpq_sgn(det);
    for (int k = 0; k < 9; k++) mpq_clear(e[k]);
    mpq_clears(a, b, s, det, NULL);
    return sign;
}

/* The corners moved by a linear map of columns a, b, c. */
static void mapped(const double a[3], const double b[3], const double c[3], double x[12])
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) x[3 * i + k] = a[k] * unit[3 * i] + b[k] * unit[3 * i + 1] + c[k] * unit[3 * i + 2];
}

TEST(first_times_of_known_motions)
{
    double x[12], lo, hi;
    /* diag(1 - 2t, 1 - 3t, 1): negative between 1/3 and 1/2 alone */
    mapped((double[]){ -1, 0, 0 }, (double[]){ 0, -2, 0 }, (double[]){ 0, 0, 1 }, x);
    CHECK(abut_ccd_exact_inverts(unit, x, &lo, &hi));
    CHECK(lo <= 1. / 3 && 1. / 3 <= hi && hi - lo < 1e-15);
    /* diag(1 - 2t, 1 - 2t, 1): 0 at one instant, negative never */
    mapped((double[]){ -1, 0, 0 }, (double[]){ 0, -1, 0 }, (double[]){ 0, 0, 1 }, x);
    CHECK(abut_ccd_exact_inverts(unit, x, &lo, &hi) && lo == 0.5 && hi == 0.5);
    /* a turn by any other angle, taken straight, only makes it smaller */
    for (int deg = 1; deg < 180; deg++) {
        const double c = cos(deg * 3.14159265358979 / 180), s = sin(deg * 3.14159265358979 / 180);
        mapped((double[]){ c, s, 0 }, (double[]){ -s, c, 0 }, (double[]){ 0, 0, 1 }, x);
        CHECK(!abut_ccd_exact_inverts(unit, x, NULL, NULL));
        CHECK(deg > 170 || abut_ccd_filter_volume(unit, x));
    }
    /* flat at the end, and at the start */
    mapped((double[]){ 1, 0, 0 }, (double[]){ 0, 1, 0 }, (double[]){ 0, 0, 0 }, x);
    CHECK(abut_ccd_exact_inverts(unit, x, &lo, &hi) && lo == 1 && hi == 1);
    CHECK(abut_ccd_exact_inverts(x, unit, &lo, &hi) && lo == 0 && hi == 0);
    CHECK(abut_ccd_exact_inverts(x, x, &lo, &hi) && lo == 0);
    CHECK(!abut_ccd_exact_inverts(unit, unit, &lo, &hi));
}

TEST(what_is_not_finite_or_huge_is_never_called_positive_by_mistake)
{
    double x[12];
    memcpy(x, unit, sizeof x);
    x[5] = NAN;
    CHECK(abut_ccd_exact_inverts(unit, x, NULL, NULL) && abut_ccd_exact_inverts(x, unit, NULL, NULL));
    x[5] = INFINITY;
    CHECK(abut_ccd_exact_inverts(unit, x, NULL, NULL));
    for (int k = 0; k < 12; k++) x[k] = 1e300 * unit[k];
    CHECK(!abut_ccd_exact_inverts(x, x, NULL, NULL) && !abut_ccd_exact_inverts(unit, x, NULL, NULL));
    for (int k = 0; k < 12; k++) x[k] = 1e-300 * unit[k];
    CHECK(!abut_ccd_exact_inverts(x, x, NULL, NULL));
}

/* Corners on a coarse lattice, so that flat instants are common: samples never contradict the answer, and volume is positive
 * before the first time and not at or right after it. */
SLOW_TEST(answers_agree_with_rational_arithmetic_on_random_motions)
{
    abut_rng r = { 3 };
    int yes = 0, no = 0, filtered = 0, flat = 0;
    for (int trial = 0; trial < 4000; trial++) {
        double x0[12], x1[12], lo = 0, hi = 1;
        const int coarse = trial % 2;
        for (int k = 0; k < 12; k++) {
            x0[k] = unit[k] + (coarse ? floor(abut_rng_real(&r, -1, 2)) / 4 : abut_rng_real(&r, -0.2, 0.2));
            x1[k] = unit[k] + (coarse ? floor(abut_rng_real(&r, -4, 5)) / 4 : abut_rng_real(&r, -0.7, 0.7));
        }
        const int inverts = abut_ccd_exact_inverts(x0, x1, &lo, &hi);
        int sampled = 0;
        for (int k = 0; k <= 64; k++) sampled |= volume_sign(x0, x1, k / 64.) <= 0;
        CHECK(inverts || !sampled);
        CHECK(inverts == abut_ccd_exact_inverts(x0, x1, NULL, NULL));
        if (abut_ccd_filter_volume(x0, x1)) {
            CHECK(!inverts);
            filtered++;
        }
        yes += inverts, no += !inverts;
        if (!inverts) continue;
        CHECK(0 <= lo && lo <= hi && hi <= 1 && hi - lo < 1e-14);
        CHECK(lo == hi ? volume_sign(x0, x1, lo) <= 0 : volume_sign(x0, x1, lo) > 0);
        for (int k = 0; k < 8; k++) CHECK(lo == 0 || volume_sign(x0, x1, lo * k / 8) > 0);
        flat += lo == hi && lo > 0;
    }
    CHECK(yes > 800 && no > 800 && filtered > 700 && flat > 20);
    printf("# %d invert (%d at a double), %d do not, %d of them told so by the filter\n", yes, flat, no, filtered);
}

/* Nearly flat tets: the filter must leave what rounding decides. */
TEST(slivers_are_decided_exactly)
{
    abut_rng r = { 11 };
    int yes = 0, no = 0;
    for (int trial = 0; trial < 2000; trial++) {
        double x0[12], x1[12];
        for (int k = 0; k < 12; k++) x0[k] = 10 + abut_rng_real(&r, -1, 1);
        for (int k = 0; k < 3; k++) {     /* the last corner in the plane of the others, but for rounding, and a few ulps off */
            x0[9 + k] = x0[k] + 0.3 * (x0[3 + k] - x0[k]) + 0.4 * (x0[6 + k] - x0[k]);
            x0[9 + k] += floor(abut_rng_real(&r, -2, 3)) * 0x1p-50;
        }
        for (int k = 0; k < 12; k++) x1[k] = x0[k] + floor(abut_rng_real(&r, -1, 2)) * 0x1p-50;
        const int inverts = abut_ccd_exact_inverts(x0, x1, NULL, NULL);
        int sampled = 0;
        for (int k = 0; k <= 16; k++) sampled |= volume_sign(x0, x1, k / 16.) <= 0;
        CHECK(inverts || !sampled);
        yes += inverts, no += !inverts;
    }
    CHECK(yes > 200 && no > 50);
    printf("# %d slivers invert, %d do not\n", yes, no);
}
