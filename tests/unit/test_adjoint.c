#include "adjoint_scenes.h"

#include "energy/material/materials.h"

TEST(implicit_euler_with_one_friction_pass) { blocks_agree("implicit-euler", "1", "", "", 1e-6); }
/* materials whose stress goes by stretches, and has more than moduli */
TEST(a_material_of_stretches)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    recorded r;
    two(&r, "implicit-euler", "1", "", "arap, volume: 2e4", "", 12);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (back) differences_agree(&r, BY_MODULI, 2, 1e-6, "blocks: implicit-euler, lags 1, model: arap");
    forget(&r);
}

TEST(stresses_are_linear_in_the_moduli)
{
    const double F[9] = { 1.1, 0.2, -0.05, 0.1, 0.9, 0.03, -0.2, 0.15, 1.05 };
    for (int i = 0; abut_material_names[i]; i++) {
        double P[3][9], Q[3][9];
        if (!strcmp(abut_material_names[i], "spline")) continue;    /* has none */
        for (int k = 0; k < 3; k++) {
            (void)abut_psi(i, 1e4 * (k + 1), 2e4, F, P[k]);
            (void)abut_psi(i, 1e4, 2e4 * (k + 1), F, Q[k]);
        }
        for (int j = 0; j < 9; j++) {
            CHECK_NEAR(P[2][j] - P[1][j], P[1][j] - P[0][j], 1e-9 * (fabs(P[2][j]) + 1e4));
            CHECK_NEAR(Q[2][j] - Q[1][j], Q[1][j] - Q[0][j], 1e-9 * (fabs(Q[2][j]) + 1e4));
        }
    }
}

TEST(implicit_euler_with_two_friction_passes) { blocks_agree("implicit-euler", "2", "", "", 1e-6); }
SLOW_TEST(implicit_euler_with_converged_friction) { blocks_agree("implicit-euler", "converged", "", "", 1e-6); }
TEST(equilibria_one_after_the_other) { equilibria_agree("1"); }

SLOW_TEST(bdf2_with_three_friction_passes) { blocks_agree("bdf2", "3", "", "", 1e-6); }
SLOW_TEST(newmark_with_converged_friction) { blocks_agree("implicit-newmark", "converged", "", "", 1e-6); }
TEST(bdf2_with_one_friction_pass) { blocks_agree("bdf2", "1", "", "", 1e-6); }
TEST(bdf3_with_one_friction_pass) { blocks_agree("bdf3", "1", "", "", 1e-6); }
TEST(newmark_with_one_friction_pass) { blocks_agree("implicit-newmark", "1", "", "", 1e-6); }
TEST(newmark_that_damps)
{
    blocks_agree("implicit-newmark, newmark: {beta: 0.36, gamma: 0.6}", "1", "", "", 1e-6);
}
/* The first frame of a run may be the last of another: then it has node/a, and the run depends on that. */
TEST(newmark_from_the_middle_of_a_run)
{
    static const change by[] = { { "a", by_a, 1e-3, bar_a }, { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v },
                                 { "young", by_young, 3, bar_young }, { "mass", by_mass, 1e-5, bar_mass } };
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    recorded first, r;
    two(&first, "implicit-newmark", "1", "", "stable-neo-hookean", "", 8);
    CHECK(record(&first, 0));
    recorded_like(&r, &first);
    abut_arrays_clear(&r.frame[0]);
    abut_err err = { 0 };
    /* without friction data, which would stay while positions change */
    for (int i = 0; i < first.frame[8].n; i++)
        if (strncmp(first.frame[8].a[i].name, "lag/", 4)) CHECK(!abut_arrays_copy(&r.frame[0], &first.frame[8].a[i], &err));
    CHECK(abut_arrays_find(&r.frame[0], "node/a"));
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (back) differences_agree(&r, by, sizeof by / sizeof *by, 1e-6, "blocks: implicit-newmark, from a frame with node/a");
    forget(&r);
    forget(&first);
}

/* The mass of object 0. */
static void by_cube(recorded *r, double by)
{
    const abut_array *a = abut_arrays_find(&r->model_set, "node/mass");
    for (int i = 0; i < a->shape[0]; i++) ((double *)a->data)[i] *= 1 + by;
}
static double bar_cube(const recorded *r) { return r->bars.obj_density[0]; }

/* A cube turns far in a step as it lands: implicit Euler takes some steps, after which node/a is not of a Newmark step. */
static void spinning_agrees(const char *scheme)
{
    static const char *const text =
        "{time: {step: 20 ms, scheme: %s}, gravity: [1, -9.81, 0.3], tolerance: 1e-5 m/s, damping: {mass: 0.7},\n"
        " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {soft: {model: stable-neo-hookean, young: 4e5, poisson: 0.3, density: 1000}},\n"
        " objects: {\n"
        "  cube: {generate: {box: {size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}}, material: soft, translate: [0, 0.25, 0],\n"
        "         velocity: [0, -1, 0], angular-velocity: {axis: [0, 0, 1], rate: 22 rad/s}},\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n";
    static const change by[] = { { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v }, { "young", by_young, 3, bar_young },
                                 { "mass", by_cube, 1e-5, bar_cube }, { "gravity x", by_gravity, 1e-4, bar_gravity },
                                 { "damping.mass", by_drag, 1e-4, bar_drag } };
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char full[2048], of[60];
    recorded r;
    int damped = 0;
    snprintf(full, sizeof full, text, scheme);
    snprintf(of, sizeof of, "a cube that spins: %s", scheme);
    recorded_scene(&r, full, 12, 1e-10);
    CHECK(record(&r, 1));
    for (int k = 0; k < r.n; k++) {
        abut_frame from, to;
        CHECK(!abut_frame_view(&r.frame[k], &r.m, &from, NULL) && !abut_frame_view(&r.frame[k + 1], &r.m, &to, NULL));
        damped += abut_integrator_damped(&from, &to);
    }
    printf("# %d damped\n", damped);
    CHECK(damped > 1 && damped < 12);
    const int back = backwards(&r, &o);
    CHECK(back && r.contacts > 0);
    if (back) differences_agree(&r, by, sizeof by / sizeof *by, 1e-6, of);
    forget(&r);
}
TEST(newmark_steps_that_implicit_euler_takes) { spinning_agrees("implicit-newmark"); }
TEST(midpoint_steps_that_implicit_euler_takes) { spinning_agrees("midpoint"); }

TEST(midpoint_with_one_friction_pass) { blocks_agree("midpoint", "1", "", "", 1e-6); }
/* Damping by stiffness takes a projected matrix, which has kinks: differences of short runs over them are less exact. */
static void damped_agree(const char *scheme, double tol)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char of[80];
    recorded r;
    snprintf(of, sizeof of, "blocks: %s, lags 1, damping: {mass: 0.7, stiffness: 2 ms}", scheme);
    two(&r, scheme, "1", "damping: {mass: 0.7, stiffness: 2 ms},", "stable-neo-hookean", "", 12);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (back) differences_agree(&r, DAMPED, sizeof DAMPED / sizeof *DAMPED, tol, of);
    forget(&r);
}

TEST(damping_by_stiffness_in_implicit_euler) { damped_agree("implicit-euler", 1e-5); }
TEST(damping_by_stiffness_in_midpoint) { damped_agree("midpoint", 1e-5); }
TEST(bdf2_with_damping) { blocks_agree("bdf2", "1", "damping: {mass: 0.7},", "", 1e-6); }

/* ---- sheets, rods, springs, prescribed nodes ---- */

TEST(sheets_rods_springs_and_scripts_in_implicit_euler) { sheets_agree("implicit-euler", "1", "", "", 0); }
TEST(sheets_rods_springs_and_scripts_in_bdf2) { sheets_agree("bdf2", "1", "", "", 0); }
SLOW_TEST(sheets_rods_springs_and_scripts_in_midpoint) { sheets_agree("midpoint", "1", "", "", 0); }
SLOW_TEST(sheets_with_stretch_limits) { sheets_agree("implicit-euler", "1", "", ", stretch-limit: 1.05", 0); }
TEST(sheets_with_stretch_limits_in_midpoint) { sheets_agree("midpoint", "1", "", ", stretch-limit: 1.05", 0); }
TEST(woven_sheets)
{
    static const char *const woven = ", membrane: baraff-witkin, fabric: {warp: 3e4, weft: 2e4, shear: 5e3, compression: 0.3}";
    sheets_agree("implicit-euler", "1", woven, "", 2);   /* of which Young's modulus and Poisson's ratio are no numbers */
}
