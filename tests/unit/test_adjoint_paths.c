/* Backward passes of runs that few scenes take: BDF of high order, several friction passes of equilibria and of sheets with
 * limits, poses and growth, ends where the second derivative is indefinite, pressure, wind, thickness. */
#include "adjoint_scenes.h"

/* Few steps and changes: high orders are slow where contact comes and goes. */
static void blocks_agree_in_few(const char *scheme, const char *lags, double h)
{
    static const change by[] = { { "young", by_young, 3, bar_young }, { "mu", by_mu, 3e-5, bar_mu },
                                 { "mass", by_mass, 1e-5, bar_mass },
                                 { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v } };
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char of[60];
    recorded r;
    two(&r, scheme, lags, "", "stable-neo-hookean", "", 9);
    *numbers(&r.model_set, "time/step") = h;
    snprintf(of, sizeof of, "blocks: %s, lags %s", scheme, lags);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back && r.frozen > 20);
    if (back) differences_agree(&r, by, sizeof by / sizeof *by, 1e-6, of);
    forget(&r);
}
/* impacts bring energy to high orders: with longer steps more than a tenth */
TEST(bdf4) { blocks_agree_in_few("bdf4", "1", 1e-2); }
TEST(bdf5) { blocks_agree_in_few("bdf5", "1", 6e-3); }
TEST(bdf6_with_two_friction_passes) { blocks_agree_in_few("bdf6", "2", 6e-3); }
TEST(midpoint_with_two_friction_passes) { blocks_agree_in_few("midpoint", "2", 1e-2); }
TEST(equilibria_with_two_friction_passes) { equilibria_agree("2"); }
TEST(equilibria_with_converged_friction) { equilibria_agree("converged"); }
SLOW_TEST(sheets_with_stretch_limits_and_two_friction_passes) { sheets_agree("bdf2", "2", "", ", stretch-limit: 1.05", 0); }
SLOW_TEST(sheets_with_converged_friction) { sheets_agree("implicit-euler", "converged", "", "", 0); }

/* A scene, its sweep against differences. */
static void scene_agrees(const char *text, int n, const change *by, int changes, const char *of)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    recorded r;
    recorded_scene(&r, text, n, 1e-10);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back && r.contacts > 10);
    if (back) differences_agree(&r, by, changes, 1e-6, of);
    forget(&r);
}

/* ---- motions ---- */

OF(key, "key/translation", 3, key_shift)
OF(last_key, "key/translation", 7, key_shift)
OF(key_size, "key/scale", 4, key_size)
OF(growth, "motion/scale", 3, growth)
OF(center, "motion/center", 3, center)

/* A block is led by poses along a floor; an obstacle beside it shrinks. */
TEST(poses_and_growth)
{
    static const char *const text =
        "{time: {step: 10 ms, scheme: bdf2}, tolerance: 1e-5 m/s,\n"
        " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900}},\n"
        " objects: {\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}},\n"
        "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 2, 1]}}, material: soft, translate: [0, 0.0535, 0]},\n"
        "  side: {generate: {box: {size: [0.05, 0.04, 0.06], cells: [1, 1, 1]}}, obstacle: true,\n"
        "         translate: [0.0785, 0.06, 0.013]}},\n"
        " motion: [{select: {object: low, box: [[-1, 0.1, -1], [1, 1, 1]]}, center: [0, 0.1, 0],\n"
        "           keyframes: [{time: 55 ms, translate: [-0.003, -0.001, 0.002], scale: [1.05, 1, 0.97]},\n"
        "                       {time: 150 ms, translate: [-0.006, -0.001, 0.004], rotate: {axis: [0, 1, 0], angle: 6 deg}}]},\n"
        "          {select: {object: side}, scale: {rate: -0.4 1/s, center: [0.1, 0.06, 0]}}]}\n";
    static const change by[] = { { "key", by_key, 1e-6, bar_key }, { "last key", by_last_key, 1e-6, bar_last_key },
                                 { "key size", by_key_size, 1e-5, bar_key_size }, { "growth", by_growth, 1e-4, bar_growth },
                                 { "centre", by_center, 1e-6, bar_center }, { "mu", by_mu, 1e-4, bar_mu },
                                 { "x", by_x, 1e-7, bar_x } };
    scene_agrees(text, 12, by, sizeof by / sizeof *by, "poses and growth, bdf2");
}

/* ---- loads that change in time ---- */

OF(first_factor, "key/factor", 0, key_factor)
OF(second_factor, "key/factor", 1, key_factor)
OF(third_factor, "key/factor", 2, key_factor)
OF(ramped_to, "key/factor", 4, key_factor)
OF(force, "motion/linear", 0, linear)

/* A block on a floor is pushed to and fro, and pressed harder and harder. */
static void pushed_agrees(const char *scheme)
{
    static const char *const text =
        "{time: {step: 10 ms, scheme: %s}, tolerance: 1e-5 m/s,\n"
        " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900}},\n"
        " objects: {\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}},\n"
        "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 2, 1]}}, material: soft, translate: [0, 0.0535, 0]}},\n"
        " motion: [{select: {object: low}, force: [6, -1, 2], interpolation: smooth,\n"
        "           factor: {times: [5 ms, 45 ms, 95 ms], values: [0.2, 1, -0.6]}, from: 10 ms},\n"
        "          {select: {object: low, box: [[-1, 0.1, -1], [1, 1, 1]]}, traction: [20, -300, 0], ramp: 90 ms}]}\n";
    static const change by[] = {
        { "first factor", by_first_factor, 1e-4, bar_first_factor }, { "third factor", by_third_factor, 1e-4, bar_third_factor },
        { "second factor", by_second_factor, 1e-4, bar_second_factor }, { "end of the ramp", by_ramped_to, 1e-4, bar_ramped_to },
        { "force", by_force, 1e-4, bar_force }, { "mu", by_mu, 1e-4, bar_mu }, { "x", by_x, 1e-7, bar_x }
    };
    char full[2048], of[60];
    snprintf(full, sizeof full, text, scheme);
    snprintf(of, sizeof of, "pushed: %s", scheme);
    scene_agrees(full, 12, by, sizeof by / sizeof *by, of);
}
TEST(loads_that_change_in_time_in_bdf2) { pushed_agrees("bdf2"); }
TEST(loads_that_change_in_time_in_newmark) { pushed_agrees("implicit-newmark"); }
TEST(loads_that_change_in_time_in_midpoint) { pushed_agrees("midpoint"); }

/* ---- air ---- */

static void by_thickness(recorded *r, double by)
{
    const double by_array[3] = { 1 + by, 1 + by, pow(1 + by, 3) };
    static const char *const name[3] = { "shell/thickness", "node/mass", "hinge/stiffness" };
    for (int i = 0; i < 3; i++) {
        const abut_array *a = abut_arrays_find(&r->model_set, name[i]);
        for (int64_t k = 0; k < a->shape[0]; k++) ((double *)a->data)[k] *= by_array[i];
    }
}
static double bar_thickness(const recorded *r) { return r->bars.thickness[0]; }
OF(pressure, "object/pressure", 0, pressure)
OF(drag_of, "object/drag", 0, drag)
OF(wind, "world/wind", 2, wind)

/* A balloon falls on a floor, under this pressure; `by` has one change more than those of all balloons. */
static void balloon_agrees(const char *scheme, const char *pressure, const change *more)
{
    static const char *const text =
        "{time: {step: 10 ms, scheme: %s}, gravity: [1, -9.81, 0.3], tolerance: 1e-5 m/s,\n"
        " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {skin: {young: 1e5, poisson: 0.3, density: 1000}},\n"
        " objects: {\n"
        "  skin: {generate: {icosphere: {radius: 0.1, divisions: 2}}, material: skin, translate: [0, 0.104, 0],\n"
        "         velocity: [0, -0.4, 0], shell: {thickness: 2 mm, pressure: %s}},\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n";
    change by[7] = { { "pressure", by_pressure, 1e-2, bar_pressure }, { "thickness", by_thickness, 1e-5, bar_thickness },
                     { "young", by_sheet_young, 3, bar_sheet_young }, { "mu", by_mu_own, 1e-4, bar_mu_own },
                     { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v } };
    char full[2048], of[60];
    if (more) by[6] = *more;
    snprintf(full, sizeof full, text, scheme, pressure);
    snprintf(of, sizeof of, "balloon: %s", scheme);
    scene_agrees(full, 12, by, more ? 7 : 6, of);
}
TEST(a_balloon_in_implicit_euler) { balloon_agrees("implicit-euler", "150", NULL); }
TEST(a_balloon_in_newmark) { balloon_agrees("implicit-newmark", "150", NULL); }
TEST(a_balloon_in_midpoint) { balloon_agrees("midpoint", "150", NULL); }
TEST(a_balloon_with_a_stretch_limit) { balloon_agrees("implicit-euler", "150, stretch-limit: 1.03", NULL); }
TEST(a_balloon_with_a_stretch_limit_in_midpoint) { balloon_agrees("midpoint", "150, stretch-limit: 1.03", NULL); }

/* The first factor counts at the start, where Newmark has an acceleration of its own. */
static void inflated_agrees(const char *scheme)
{
    static const change first = { "first factor", by_first_factor, 1e-4, bar_first_factor };
    balloon_agrees(scheme, "{value: 150, factor: {times: [0, 60 ms, 200 ms], values: [0.3, 1, 0.5]}}", &first);
}
TEST(a_balloon_that_is_inflated_in_bdf2) { inflated_agrees("bdf2"); }
TEST(a_balloon_that_is_inflated_in_newmark) { inflated_agrees("implicit-newmark"); }
TEST(a_balloon_that_is_inflated_in_midpoint) { inflated_agrees("midpoint"); }

/* A sheet in the wind over a bar. */
static void sail_agrees(const char *scheme)
{
    static const char *const text =
        "{time: {step: 10 ms, scheme: %s}, tolerance: 1e-5 m/s, wind: [1, 3, -2],\n"
        " contact: {dhat: 5 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {sheet: {young: 4e4, poisson: 0.3, density: 300, bending-young: 4e5}},\n"
        " objects: {\n"
        "  sheet: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: sheet, translate: [0, 0.0085, 0.01],\n"
        "          velocity: [0.1, -0.3, 0], shell: {thickness: 2 mm, drag: 0.6}},\n"
        "  bar: {generate: {box: {size: [0.07, 0.05, 0.5], cells: [1, 1, 2]}}, obstacle: true, translate: [0.02, -0.022, 0]}}}\n";
    static const change by[] = { { "drag", by_drag_of, 1e-4, bar_drag_of }, { "wind", by_wind, 1e-2, bar_wind },
                                 { "thickness", by_thickness, 1e-5, bar_thickness },
                                 { "young", by_sheet_young, 4, bar_sheet_young },
                                 { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v } };
    char full[2048], of[60];
    snprintf(full, sizeof full, text, scheme);
    snprintf(of, sizeof of, "sail: %s", scheme);
    scene_agrees(full, 12, by, sizeof by / sizeof *by, of);
}
TEST(a_sail_in_implicit_euler) { sail_agrees("implicit-euler"); }
TEST(a_sail_in_bdf2) { sail_agrees("bdf2"); }
TEST(a_sail_in_midpoint) { sail_agrees("midpoint"); }

/* ---- saddles ---- */

/* A particle between two springs in one line, which its neighbours compress: along the line it is at rest where forces balance,
 * across it that is a maximum of the energy.  Along: differences.  Across: y' (m + h^2 K) = m (y + h v) with the stiffness
 * K = sum k (1 - L/l) < 0 of the springs, forwards. */
TEST(ends_at_saddles)
{
    static const char *const text =
        "{time: {step: 10 ms}, gravity: [2, 0, 0], tolerance: 1e-5 m/s, contact: off,\n"
        " materials: {m: {density: 1000}},\n"
        " objects: {a: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, material: m, particle: {radius: 1 cm}},\n"
        "  p: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, material: m, particle: {radius: 1 cm},\n"
        "      translate: [0.1, 0, 0]},\n"
        "  b: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, material: m, particle: {radius: 1 cm},\n"
        "      translate: [0.25, 0, 0]}},\n"
        " motion: [{select: {object: a}, translate: [0.3, 0, 0]}, {select: {object: b}, translate: [-0.4, 0, 0]}]}\n";
    static const change by[] = { { "spring k", by_spring_k, 1e-2, bar_spring_k },
                                 { "spring length", by_spring_l, 1e-6, bar_spring_l },
                                 { "gravity x", by_gravity, 1, bar_gravity }, { "linear", by_linear, 1e-5, bar_linear } };
    static const int32_t node[4] = { 0, 1, 1, 2 };
    static const double length[2] = { 0.11, 0.16 }, k[2] = { 900, 1100 };
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    abut_err err = { 0 };
    recorded r;
    recorded_scene(&r, text, 8, 1e-10);
    memcpy(abut_model_put(&r.model_set, "spring/node", 2, &err), node, sizeof node);
    memcpy(abut_model_put(&r.model_set, "spring/length", 2, &err), length, sizeof length);
    memcpy(abut_model_put(&r.model_set, "spring/stiffness", 2, &err), k, sizeof k);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back && r.indefinite == 8);
    if (back) differences_agree(&r, by, sizeof by / sizeof *by, 1e-6, "saddles");
    for (int d = 1; d < 3 && back; d++) {
        const double h = r.m.h[0], m = r.m.mass[1];
        double y = 0, v = 1, L = 0;
        for (int n = 1; n <= r.n; n++) {
            const double *x = abut_arrays_find(&r.frame[n], "node/x")->data;
            const double K = k[0] * (1 - length[0] / (x[3] - x[0])) + k[1] * (1 - length[1] / (x[6] - x[3]));
            const double next = m * (y + h * v) / (m + h * h * K);
            v = (next - y) / h, y = next;
            L += loss_weight(n, 3 + d) * (x[3 + d] - loss_target(3 + d)) * y;
        }
        L += 0.01 * loss_weight(1, 3 + d) * v;
        CHECK_NEAR(r.bar.v[3 + d], L, 1e-9 * fabs(L));
    }
    forget(&r);
}

/* ---- contact by area ---- */

static void by_stiffness(recorded *r, double by) { *numbers(&r->model_set, "contact/pressure") *= 1 + by; }
OF(table, "motion/linear", 0, linear)

/* Two blocks of sharp edges, turned, on a half-space; the first changes. */
static void blocks_by_area_agree(const char *scheme, const char *lags, int changes)
{
    static const char *const text =
        "{time: {step: 10 ms, scheme: %s}, gravity: [1.5, -9.81, 0.3], tolerance: 1e-5 m/s,\n"
        " contact: {formulation: area, dhat: 8 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: %s}},\n"
        " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900},\n"
        "             hard: {model: stable-neo-hookean, young: 6e4, poisson: 0.25}},\n"
        " objects: {\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.4},\n"
        "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.063, 0],\n"
        "        rotate: {axis: [1, 0, 0.3], angle: 3 deg}, velocity: [0.4, -0.4, 0.1]},\n"
        "  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: hard, velocity: [0, -0.7, 0.2],\n"
        "         rotate: {axis: [0.2, 1, 0.1], angle: 20 deg}, translate: [0.023, 0.184, 0.017]}}}\n";
    static const change by[] = {
        { "young", by_young, 3, bar_young }, { "poisson", by_poisson, 2e-5, bar_poisson }, { "mu", by_mu, 3e-5, bar_mu },
        { "gravity y", by_fall, 1e-4, bar_fall }, { "mass", by_mass, 1e-5, bar_mass },
        { "stiffness", by_stiffness, 1e-4, bar_kappa },
        { "x", by_x, 1e-7, bar_x }, { "v", by_v, 3e-5, bar_v }, { "eps_v", by_eps_v, 1e-5, bar_eps_v }
    };
    char full[2048], of[60];
    snprintf(full, sizeof full, text, scheme, lags);
    snprintf(of, sizeof of, "blocks by area: %s, lags %s", scheme, lags);
    scene_agrees(full, 14, by, changes, of);
}
TEST(blocks_by_area) { blocks_by_area_agree("implicit-euler", "1", 9); }
/* its derivative by eps_v is a tenth of the others: differences over kinks of friction scatter by 1e-6 to 8e-6 around it */
TEST(blocks_by_area_with_two_friction_passes_in_bdf2) { blocks_by_area_agree("bdf2", "2", 8); }
SLOW_TEST(blocks_by_area_with_converged_friction) { blocks_by_area_agree("implicit-newmark", "converged", 9); }

/* A sheet, a rod and grains land on each other and on a table of triangles that moves. */
TEST(thin_bodies_by_area_on_triangles)
{
    static const char *const text =
        "{time: {step: 10 ms}, gravity: [0.4, -9.81, 0.2], tolerance: 1e-5 m/s,\n"
        " contact: {formulation: area, dhat: 5 mm, barrier: {pressure: 1e3},\n"
        "           friction: {mu: 0.3, eps_v: 0.05 m/s, lags: 1}},\n"
        " materials: {soft: {young: 4e4, poisson: 0.3, density: 500}},\n"
        " objects: {\n"
        "  sheet: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: soft, translate: [0, 0.0085, 0.01],\n"
        "          velocity: [0, -0.4, 0], shell: {thickness: 2 mm}},\n"
        "  rod: {generate: {rod: {length: 0.3, cells: 5}}, material: soft, rod: {radius: 4 mm}, translate: [0.01, 0.03, 0.02],\n"
        "        rotate: {axis: [0, 1, 0], angle: 50 deg}, velocity: [0, -0.8, 0]},\n"
        "  grains: {generate: {particles: {size: [0.06, 0.001, 0.06], count: [3, 1, 3]}}, material: soft,\n"
        "           particle: {radius: 4 mm}, translate: [0.01, 0.02, -0.06], velocity: [0, -0.5, 0]},\n"
        "  bar: {generate: {box: {size: [0.37, 0.05, 0.5], cells: [2, 1, 2]}}, obstacle: true, translate: [0.02, -0.025, 0]}},\n"
        " motion: [{select: {object: bar}, translate: [0.3, -0.02, -0.02]}]}\n";
    static const change by[] = {
        { "young", by_young, 100, bar_young }, { "mu", by_mu_own, 1e-4, bar_mu_own }, { "gravity y", by_fall, 1e-4, bar_fall },
        { "linear of the table", by_table, 1e-5, bar_table }, { "stiffness", by_stiffness, 1e-4, bar_kappa },
        { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v }
    };
    scene_agrees(text, 12, by, sizeof by / sizeof *by, "thin bodies by area");
}
