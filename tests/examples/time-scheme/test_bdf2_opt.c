/* A time scheme of one's own: the mean of the backward differences of second and third order, 5/3 x' - 5/2 x + x1 - x2/6 = h v'.
 * It is of second order, with a smaller error than BDF2 (Vatsa, Carpenter and Lockard 2010).  rows.diff has its row. */
#include "check.h"
#include "solve/integrator.h"

#include <math.h>

/* |error| after a time of 1 of x'' = -w^2 x from an exact past, n steps */
static double error_of(int scheme, int n)
{
    const double h = 1.0 / n, w = 3;
    const uint8_t held[1] = { 0 };
    const abut_model m = { .nv = 1, .h = &h };
    double x[3][3], v[3][3], none[3] = { 0 }, xhat[3], end[3], speed[3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) x[k][i] = sin(-w * k * h), v[k][i] = w * cos(-w * k * h);
    for (int step = 0; step < n; step++) {
        double *const past_x[] = { x[1], x[2] }, *const past_v[] = { v[1], v[2] };
        const abut_start at = { x[0], v[0], none, NULL, past_x, past_v };
        abut_integrator_predict(&m, scheme, &at, xhat);
        for (int i = 0; i < 3; i++) end[i] = xhat[i] / (1 + abut_integrator_step_weight(&m, scheme) * h * h * w * w);
        abut_integrator_finish(&m, scheme, &at, held, xhat, end, speed, NULL);
        memmove(x[1], x[0], 2 * sizeof *x), memmove(v[1], v[0], 2 * sizeof *v);
        memcpy(x[0], end, sizeof end), memcpy(v[0], speed, sizeof speed);
    }
    return hypot(x[0][0] - sin(w), v[0][0] / w - cos(w));
}

TEST(its_error_is_of_second_order_and_below_that_of_bdf2)
{
    const double coarse = error_of(ABUT_BDF2_OPT, 400), fine = error_of(ABUT_BDF2_OPT, 800), other = error_of(ABUT_BDF2, 800);
    printf("# error %.3g, %.3g; of BDF2 %.3g\n", coarse, fine, other);
    CHECK_NEAR(coarse / fine, 4, 0.1);
    CHECK(fine < 0.6 * other);
}
