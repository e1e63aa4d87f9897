/* Functions of four numbers at once against the C library's of one. */
#include "check.h"

#include "base/rng.h"
#include "math/lanes.h"

#include <float.h>

TEST(angles_are_those_of_the_library)
{
    abut_rng r = { 3 };
    for (int k = 0; k < 100000; k++) {
        abut_lanes x, y, a;
        for (int l = 0; l < ABUT_LANES; l++) {      /* all directions, many of them close to an axis or a diagonal */
            const double near = pow(10, abut_rng_real(&r, -20, 0)), turn = abut_rng_real(&r, -1, 1);
            const double at = k % 2 ? 0.25 * (double)((int)abut_rng_below(&r, 9) - 4) + near * turn : turn;
            const double size = pow(10, abut_rng_real(&r, -50, 50));
            x[l] = size * cos(at * 3.14159265358979323846);
            y[l] = size * sin(at * 3.14159265358979323846);
        }
        abut_atan2_lanes(&y, &x, &a);
        for (int l = 0; l < ABUT_LANES; l++) CHECK_NEAR(a[l], atan2(y[l], x[l]), 2 * DBL_EPSILON * fabs(atan2(y[l], x[l])));
    }
}

TEST(angles_of_the_axes_and_diagonals_are_exact)
{
    static const double at[9][2] = { { 1, 0 }, { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 },
                                     { 1, -0. } };
    for (int k = 0; k < 9; k++) {
        const abut_lanes x = ABUT_LANES_ALL(at[k][0]), y = ABUT_LANES_ALL(at[k][1]);
        abut_lanes a;
        abut_atan2_lanes(&y, &x, &a);
        CHECK(a[1] == atan2(at[k][1], at[k][0]) && signbit(a[1]) == signbit(at[k][1]));
    }
    const abut_lanes zero = ABUT_LANES_ALL(0.), nan = ABUT_LANES_ALL((double)NAN), one = ABUT_LANES_ALL(1.);
    abut_lanes a;
    abut_atan2_lanes(&zero, &zero, &a);
    CHECK(isnan(a[0]));
    abut_atan2_lanes(&one, &nan, &a);
    CHECK(isnan(a[0]));
    abut_atan2_lanes(&nan, &one, &a);
    CHECK(isnan(a[0]));
}

TEST(logarithms_near_one_are_those_of_the_library)
{
    abut_rng r = { 7 };
    for (int k = 0; k < 100000; k++) {
        abut_lanes x, y;
        for (int l = 0; l < ABUT_LANES; l++) {      /* tiny, any, close to -1 */
            const double small = pow(10, abut_rng_real(&r, -300, 0)) * (abut_rng_below(&r, 2) ? 1 : -1);
            const uint32_t sort = abut_rng_below(&r, 3);
            x[l] = sort == 0 ? small : sort == 1 ? abut_rng_real(&r, -1, 1) : pow(10, abut_rng_real(&r, -15, 0)) - 1;
        }
        abut_log1p_lanes(&x, &y);
        for (int l = 0; l < ABUT_LANES; l++) CHECK_NEAR(y[l], log1p(x[l]), 2 * DBL_EPSILON * fabs(log1p(x[l])));
    }
    const abut_lanes some = { 0, 1, -0.5, 0x1p-53 - 1 };
    abut_lanes y;
    abut_log1p_lanes(&some, &y);
    CHECK(y[0] == 0 && y[1] == log(2) && y[2] == -log(2));
    CHECK_NEAR(y[3], -53 * log(2), 1e-14);
}

TEST(logarithms_are_those_of_the_library)
{
    abut_rng r = { 8 };
    for (int k = 0; k < 100000; k++) {
        abut_lanes x, y;
        for (int l = 0; l < ABUT_LANES; l++) {      /* of any size, subnormal ones too, and close to 1 */
            const double near = abut_rng_real(&r, -1, 1) * pow(10, abut_rng_real(&r, -16, 0));
            x[l] = k % 2 ? pow(2, abut_rng_real(&r, -1074, 1024)) : 1 + near;
        }
        abut_log_lanes(&x, &y);
        for (int l = 0; l < ABUT_LANES; l++) CHECK_NEAR(y[l], log(x[l]), 2 * DBL_EPSILON * fabs(log(x[l])));
    }
    const abut_lanes some = { 1, 2, 0.25, 0x1p-1074 }, none = { -1, 0, INFINITY, NAN };
    abut_lanes y;
    abut_log_lanes(&some, &y);
    CHECK(y[0] == 0 && y[1] == log(2) && y[2] == log(0.25) && y[3] == log(0x1p-1074));
    abut_log_lanes(&none, &y);
    for (int l = 0; l < ABUT_LANES; l++) CHECK(isnan(y[l]));
}
