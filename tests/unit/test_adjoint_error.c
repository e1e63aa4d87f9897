/* The estimated error of derivatives, their change if ends of steps are refined, beside the true error. */
#include "adjoint_scenes.h"

/* The derivative of a run at some tolerance, of the refined one, and of a run that is converged. */
static void errors_agree(const char *scheme, const char *lags, const char *more, double tolerance, int n)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 }, as_refined = { .lags = -1, .threads = 1, .refined = 1 };
    recorded r, exact, refined;
    two(&exact, scheme, lags, more, "stable-neo-hookean", "", n);
    recorded_like(&r, &exact);
    *numbers(&r.model_set, "solve/tolerance") = tolerance;
    CHECK(record(&exact, 1));
    CHECK(record(&r, 1));
    const int ok = backwards(&exact, &o) && backwards(&r, &o) && refine(&r, &refined);
    CHECK(ok);
    CHECK(ok && backwards(&refined, &as_refined));
    if (getenv("ADJOINT_SHOW"))
        printf("# L %.12g, off %.3g, estimated %.3g, refined %.3g; residuals %.3g and %.3g m/s\n", exact.loss,
               exact.loss - r.loss, r.correction, refined.loss - r.loss, r.residual, refined.residual);
    /* the loss: to first order, and refined */
    CHECK_NEAR(r.loss + r.correction, exact.loss, 0.05 * fabs(r.loss - exact.loss));
    CHECK_NEAR(refined.loss, exact.loss, 0.05 * fabs(r.loss - exact.loss));
    CHECK(refined.residual < 0.01 * r.residual);
    for (int i = 0; i < NALL && ok; i++) {
        const change *c = &ALL_OF_TWO[i];
        const double off = c->bar(&r) - c->bar(&exact), estimate = c->bar(&r) - c->bar(&refined), size = fabs(c->bar(&exact));
        if (getenv("ADJOINT_SHOW"))
            printf("# %s, lags %s, %.0e m/s %-16s %12.4e %10.2e %10.2e %.3f\n", scheme, lags, tolerance, c->what, c->bar(&exact),
                   off / size, estimate / size, estimate / off);
        /* both below the rounding error of the derivative: nothing to compare */
        if (fabs(off) < 1e-9 * size && fabs(estimate) < 1e-9 * size) continue;
        if (fabs(estimate - off) <= 0.2 * fabs(off)) continue;
        check_bad++;
        printf("# %s, lags %s, %.0e m/s, by %s: off by %.3g, estimated %.3g\n", scheme, lags, tolerance, c->what, off, estimate);
    }
    forget(&r);
    forget(&exact);
    forget(&refined);
}

TEST(the_estimate_is_the_error_to_a_fifth_in_implicit_euler) { errors_agree("implicit-euler", "1", "", 1e-4, 16); }
TEST(the_estimate_is_the_error_to_a_fifth_at_a_tighter_tolerance) { errors_agree("implicit-euler", "1", "", 1e-6, 16); }
TEST(the_estimate_is_the_error_to_a_fifth_with_two_friction_passes) { errors_agree("implicit-euler", "2", "", 1e-5, 12); }
TEST(the_estimate_is_the_error_to_a_fifth_with_converged_friction) { errors_agree("implicit-euler", "converged", "", 1e-5, 12); }
TEST(the_estimate_is_the_error_to_a_fifth_in_bdf2) { errors_agree("bdf2", "1", "", 1e-5, 16); }
TEST(the_estimate_is_the_error_to_a_fifth_in_newmark) { errors_agree("implicit-newmark", "1", "", 1e-5, 16); }
TEST(the_estimate_is_the_error_to_a_fifth_in_midpoint) { errors_agree("midpoint", "1", "", 1e-5, 16); }
