/* Scripted motion against closed forms, in every time scheme; keys of scenes for it, and refusals. */
#include "scene_world.h"

#include "base/rng.h"
#include "math/vec3.h"
#include "model/motion.h"

static const char *const SCHEME[LOW_SCHEMES] = { "implicit-euler", "implicit-newmark", "bdf2", "midpoint" };

static abut_vec3 at_rest(const world *w, int32_t i) { return abut_v3_get(w->model.X + 3 * i); }

/* Rotation by w, by the exponential series of its matrix: nothing shared with the code under test */
static abut_vec3 turned(abut_vec3 w, abut_vec3 d)
{
    abut_vec3 sum = d, term = d;
    for (int k = 1; k < 60; k++) {
        term = abut_v3_scale(1.0 / k, abut_v3_cross(w, term));
        sum = abut_v3_add(sum, term);
    }
    return sum;
}

/* Every node of an object is at f(rest position, time) up to rounding; 0: none of it is prescribed. */
static int follows(const world *w, int32_t object, abut_vec3 (*f)(abut_vec3, double))
{
    int n = 0;
    for (int32_t i = 0; i < w->model.nv; i++) {
        if (w->model.body[i] != object || w->model.role[i] == ABUT_NODE_FREE) continue;
        const abut_vec3 want = f(at_rest(w, i), w->at.time), x = abut_v3_get(get(w, "node/x") + 3 * i);
        CHECK_NEAR(abut_v3_norm(abut_v3_sub(x, want)), 0, 1e-12 * (1 + abut_v3_norm(want)));
        n++;
    }
    return n;
}

static double clamped(double t, double a, double b) { return t < a ? 0 : t > b ? b - a : t - a; }

/* Text of a scene whose block is far from the obstacle; `motion` moves what it selects. */
#define SCENE(scheme, motion) \
    "time: {step: 10 ms, scheme: %s}\ngravity: [0, -1, 0]\ntolerance: 1e-3 l/s\n" \
    "materials: {m: {model: fixed-corotated}}\nobjects:\n" \
    "  a: {generate: {box: {size: [1, 0.4, 0.4], cells: [2, 1, 1]}}}\n" \
    "  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [9, 1, 0]}\n" \
    "motion:\n" motion, scheme

static abut_vec3 growing(abut_vec3 X, double t)
{
    const abut_vec3 c = abut_v3(9, 0, 0), d = abut_v3_sub(X, c);
    const double u = clamped(t, 0.024, 0.171);      /* neither end on the grid of steps */
    return abut_v3_add(abut_v3_axpy(c, u, abut_v3(1, 0, 2)), abut_v3_scale(exp(-3 * u), turned(abut_v3(0, 0, 5 * u), d)));
}

TEST(scaling_turning_and_moving_follow_the_exponential_of_their_field)
{
    for (int k = 0; k < LOW_SCHEMES; k++) {
        world w;
        world_scene(&w, SCENE(SCHEME[k], "  - {select: {object: k}, translate: [1, 0, 2], rotate: {axis: [0, 0, 1], rate: 5 "
                              "rad/s},\n"
                                         "     scale: {rate: -3 1/s, center: [9, 0, 0]}, from: 24 ms, until: 171 ms}\n"));
        for (int n = 0; n < 20; n++) {
            CHECK(!world_run(&w, 1));
            CHECK(follows(&w, 1, growing) == 8);
        }
        world_close(&w);
    }
}

/* However short the step is, an obstacle follows the part of it that lies in the window. */
TEST(an_obstacle_stops_within_a_step_of_ten_microseconds)
{
    world w;
    world_scene(&w, "time: {step: 1e-5}\nobjects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                "  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [9, 0, 0]}\n"
                "motion: [{select: {object: k}, translate: [1, 0, 0], until: 7e-6}]\n");
    double *target = malloc(3 * (size_t)w.model.nv * sizeof *target);
    uint8_t *held = malloc((size_t)w.model.nv);
    const double *x = get(&w, "node/x");
    abut_motion_targets(&w.model, 0, x, target, held);
    for (int32_t i = 0; i < w.model.nv; i++) {
        CHECK(held[i] == (w.model.body[i] == 1));
        CHECK_NEAR(target[3 * i] - x[3 * i], held[i] ? 7e-6 : 0, 1e-14);
    }
    free(target), free(held);
    world_close(&w);
}

/* the first of all nodes is one of it */
TEST(an_obstacle_that_is_the_first_object_moves_as_a_whole)
{
    world w;
    world_scene(&w, "objects:\n  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, velocity: [0, 2, 0]}\n"
                "  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [3, 0, 0]}\n");
    CHECK(w.model.body[0] == 0 && w.model.role[0] == ABUT_NODE_OBSTACLE);
    double target[48];
    uint8_t held[16];
    abut_motion_targets(&w.model, 0, get(&w, "node/x"), target, held);
    for (int i = 0; i < 16; i++) CHECK_NEAR(target[3 * i + 1] - get(&w, "node/x")[3 * i + 1], i < 8 ? 0.02 : 0, 1e-15);
    world_close(&w);
}

TEST(a_turn_of_less_than_half_between_keys_is_taken)
{
    for (int angle = 170; angle < 180; angle++) {
        world w;
        world_scene(&w, "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                    "  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [9, 0, 0]}\n"
                    "motion: [{select: {object: k}, center: [9, 0, 0], keyframes: [{time: 10 ms,\n"
                    "    rotate: {axis: [0, 0, 1], angle: %d deg}}]}]\n", angle);
        double target[48];
        uint8_t held[16];
        const double *x = get(&w, "node/x");
        abut_motion_targets(&w.model, 0, x, target, held);
        for (int i = 8; i < 16; i++) {
            const abut_vec3 d = abut_v3(x[3 * i] - 9, x[3 * i + 1], x[3 * i + 2]);
            const abut_vec3 want = turned(abut_v3(0, 0, angle * 3.141592653589793 / 180), d);
            CHECK_NEAR(target[3 * i], 9 + want.x, 1e-13);
            CHECK_NEAR(target[3 * i + 1], want.y, 1e-13);
        }
        world_close(&w);
    }
}

/* Two keys on either side of half a turn about z: quaternions whose real parts have different signs. */
TEST(between_keys_the_shorter_way_is_taken_whatever_the_signs)
{
    world w;
    world_scene(&w, "time: {step: 10 ms}\nobjects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                "  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [9, 0, 0]}\n"
                "motion: [{select: {object: k}, center: [9, 0, 0], keyframes: [\n"
                "    {time: 10 ms, quaternion: [0.1, 0, 0, 0.99498743710662]},\n"
                "    {time: 30 ms, quaternion: [-0.05, 0, 0, 0.99874921777190895]}]}]\n");
    double at[48], to[48];
    uint8_t held[16];
    memcpy(at, get(&w, "node/x"), sizeof at);
    for (int k = 0; k < 3; k++) {
        abut_motion_targets(&w.model, 0.01 * k, at, to, held);
        memcpy(at, to, sizeof at);
        const double first = 2 * acos(0.1), second = 2 * acos(-0.05), angle = first + 0.5 * k * (second - first);
        for (int i = 8; i < 16; i++) {
            const abut_vec3 d = abut_v3_sub(at_rest(&w, i), abut_v3(9, 0, 0));
            CHECK_NEAR(at[3 * i], 9 + cos(angle) * d.x - sin(angle) * d.y, 1e-13);
            CHECK_NEAR(at[3 * i + 1], sin(angle) * d.x + cos(angle) * d.y, 1e-13);
        }
    }
    world_close(&w);
}

/* Windows are closed at their start and open at their end; powers of 2, so that the middle of the step is hit exactly. */
TEST(a_step_whose_middle_is_the_end_of_a_motion_is_no_longer_of_it_but_of_the_next)
{
    world w;
    world_scene(&w, "time: {step: 0.25}\ngravity: [0, 0, 0]\nobjects:\n"
                "  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                "motion:\n  - {select: {object: a}, acceleration: [1, 0, 0], until: 0.625}\n"
                "  - {select: {object: a}, acceleration: [0, 3, 0], from: 0.625}\n");
    double acc[24];
    for (int k = 0; k < 4; k++) {
        abut_motion_acceleration(&w.model, 0.25 * k, w.model.X, 0.25 * k, acc);
        for (int i = 0; i < 8; i++) CHECK(acc[3 * i] == (k < 2) && acc[3 * i + 1] == (k < 2 ? 0 : 3) && acc[3 * i + 2] == 0);
    }
    world_close(&w);
}

/* Checks where these motions lead the middle of a cube, on x and y. */
static void comes_to(const char *text, double x, double y)
{
    world w;
    world_scene(&w, "time: {step: 10 ms}\ngravity: [0, 0, 0]\nobjects:\n"
                "  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\nmotion:\n%s", text);
    double at[24], target[24], sum[2] = { 0 };
    uint8_t held[8];
    memcpy(at, w.model.X, sizeof at);
    for (int n = 0; n < 12; n++) {
        abut_motion_targets(&w.model, 0.01 * n, at, target, held);
        memcpy(at, target, sizeof at);
    }
    for (int i = 0; i < 8; i++) sum[0] += at[3 * i] / 8, sum[1] += at[3 * i + 1] / 8;
    CHECK_NEAR(sum[0], x, 1e-14);
    CHECK_NEAR(sum[1], y, 1e-14);
    world_close(&w);
}

TEST(steps_make_the_whole_motion_wherever_its_ends_lie)
{
    comes_to("  - {select: {object: a}, translate: [1, 0, 0], until: 74 ms}\n", 0.074, 0);
    comes_to("  - {select: {object: a}, translate: [1, 0, 0], from: 13 ms, until: 74 ms}\n", 0.061, 0);
    comes_to("  - {select: {object: a}, translate: [1, 0, 0], from: 17 ms, until: 76 ms}\n", 0.059, 0);
    comes_to("  - {select: {object: a}, translate: [1, 0, 0], from: 14 ms, until: 16 ms, hold: true}\n", 0.002, 0);
    comes_to("  - {select: {object: a}, hold: true, keyframes: [{time: 74 ms, translate: [0.5, 0, 0]}]}\n", 0.5, 0);
    comes_to("  - {select: {object: a}, translate: [0, 1, 0], from: 44 ms, until: 82 ms}\n"
             "  - {select: {object: a}, translate: [1, 0, 0], until: 44 ms}\n", 0.044, 0.038);
    comes_to("  - {select: {object: a}, translate: [1, 0, 0], from: 55 ms, until: 65 ms}\n", 0.01, 0);
}

static abut_vec3 pressed(abut_vec3 X, double t)
{
    return abut_v3(X.x + 0.2 * t, -0.2 + (X.y + 0.2) * exp(-0.5 * t), X.z * exp(0.25 * t));
}

TEST(three_rates_scale_each_axis_of_a_handle)
{
    for (int k = 0; k < LOW_SCHEMES; k++) {
        world w;
        world_scene(&w, SCENE(SCHEME[k], "  - {select: {object: a}, translate: [0.2, 0, 0], scale: {rate: [0, -0.5 1/s, 0.25 "
                              "1/s],\n"
                                         "     center: [0, -0.2, 0]}}\n"));
        for (int n = 0; n < 12; n++) {
            CHECK(!world_run(&w, 1));
            CHECK(follows(&w, 0, pressed) == 12);
        }
        world_close(&w);
    }
}

#define KEYS(more) \
    "  - {select: {object: k}, center: [9, 1, 0], " more "from: 20 ms, keyframes: [\n" \
    "      {time: 50 ms, translate: [0.5, 0, 0], rotate: {axis: [0, 1, 0], angle: 90 deg}, scale: 0.5},\n" \
    "      {time: 75 ms, translate: [0.5, 1, 0], quaternion: [0, 0, 2, 2], scale: [0.5, 1, 2]}]}\n"

/* Motion by these keys, with rotation vectors: 90 degrees about y, then on to (j + k) / sqrt 2 by q1 conj(q0) =
 * (1/2, 1/2, 1/2, 1/2): 120 degrees about (1, 1, 1). */
static abut_vec3 keyed(abut_vec3 X, double t, int smooth)
{
    const abut_vec3 c = abut_v3(9, 1, 0), d = abut_v3_sub(X, c), quarter = abut_v3(0, 1.5707963267948966, 0);
    double u = t <= 0.07 ? clamped(t, 0.02, 0.07) / 0.05 : clamped(t, 0.07, 0.095) / 0.025;
    if (smooth) u = u * u * (3 - 2 * u);
    if (t <= 0.07)
        return abut_v3_add(abut_v3_add(c, abut_v3(0.5 * u, 0, 0)),
                           abut_v3_scale(1 - 0.5 * u, turned(abut_v3_scale(u, quarter), d)));
    const abut_vec3 e = abut_v3(0.5 * d.x, (0.5 + 0.5 * u) * d.y, (0.5 + 1.5 * u) * d.z);
    const double third = u * 2.0943951023931953 / sqrt(3);
    return abut_v3_add(abut_v3_add(c, abut_v3(0.5, u, 0)), turned(abut_v3(third, third, third), turned(quarter, e)));
}

static abut_vec3 keyed_evenly(abut_vec3 X, double t) { return keyed(X, t, 0); }
static abut_vec3 keyed_smoothly(abut_vec3 X, double t) { return keyed(X, t, 1); }

TEST(keyframes_pass_through_their_poses_and_between_them_at_even_speed)
{
    for (int k = 0; k < LOW_SCHEMES; k++) {
        world w;
        world_scene(&w, SCENE(SCHEME[k], KEYS("")));
        for (int n = 0; n < 12; n++) {
            CHECK(!world_run(&w, 1));
            CHECK(follows(&w, 1, keyed_evenly) == 8);
        }
        world_close(&w);
    }
}

TEST(smooth_keyframes_rest_at_every_key)
{
    world w;
    world_scene(&w, SCENE("bdf2", KEYS("interpolation: smooth, ")));
    for (int n = 0; n < 12; n++) {
        CHECK(!world_run(&w, 1));
        CHECK(follows(&w, 1, keyed_smoothly) == 8);
    }
    world_close(&w);
}

/* The left end of the block moves up, rests and returns; then it is free. */
#define UP_AND_BACK \
    "  - {select: {object: a, box: [[-0.51, -9, -9], [-0.49, 9, 9]]}, translate: [0, 1, 0], until: 30 ms, hold: true}\n" \
    "  - {select: {object: a, box: [[-0.51, -9, -9], [-0.49, 9, 9]]}, translate: [0, -1, 0], from: 60 ms, until: 80 ms}\n"

TEST(held_nodes_rest_until_the_next_motion_and_are_let_go_after_it)
{
    world w;
    world_scene(&w, SCENE("implicit-euler", UP_AND_BACK));
    CHECK(w.model.nmo == 3);
    for (int n = 1; n <= 10; n++) {
        CHECK(!world_run(&w, 1));
        const double t = w.at.time, up = clamped(t, 0, 0.03) - clamped(t, 0.06, 0.08);
        double drop = 0;
        for (int32_t i = 0; i < w.model.nv; i++)
            if (w.model.role[i] == ABUT_NODE_HANDLE)
                drop = fmax(drop, fabs(get(&w, "node/x")[3 * i + 1] - w.model.X[3 * i + 1] - up));
        if (n <= 8) CHECK_NEAR(drop, 0, 1e-14);
        else CHECK(drop > 1e-5);
    }
    world_close(&w);
}

TEST(a_restart_within_any_motion_gives_the_same_bytes)
{
    static const char *const moved[] = { KEYS("interpolation: smooth, ") UP_AND_BACK,
        "  - {select: {object: k}, rotate: {axis: [1, 2, 3], rate: 400 deg/s}, scale: {rate: 1 1/s}}\n" UP_AND_BACK };
    for (int s = 0; s < 2; s++)
        for (int cut = 1; cut < 10; cut += 4) {
            char text[2000];
            world a, b;
            snprintf(text, sizeof text, "%s", moved[s]);
            world_scene(&a, SCENE("implicit-newmark", "%s"), text);
            world_scene(&b, SCENE("implicit-newmark", "%s"), text);
            CHECK(!world_run(&a, 10) && !world_run(&b, cut));
            abut_stepper_clear(&b.st);
            abut_arrays_clear(&b.next);
            world_start(&b);
            CHECK(!world_run(&b, 10 - cut));
            CHECK(same_frames(&a.frame, &b.frame));
            world_close(&a);
            world_close(&b);
        }
}

/* ---- forces ---- */

/* Sum of mass times acceleration beside gravity, and of its moment about c, of the step from time t. */
static void resultant(const world *w, double t, abut_vec3 c, double force[3], double moment[3])
{
    double *acc = malloc(3 * (size_t)w->model.nv * sizeof *acc);
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    abut_motion_acceleration(&w->model, t, w->model.X, t, acc);
    for (int32_t i = 0; i < w->model.nv; i++) {
        const abut_vec3 a = abut_v3_sub(abut_v3_get(acc + 3 * i), abut_v3_get(w->model.gravity));
        const abut_vec3 f = abut_v3_scale(w->model.mass[i], a), l = abut_v3_cross(abut_v3_sub(at_rest(w, i), c), f);
        abut_v3_put(force, abut_v3_add(abut_v3_get(force), f));
        abut_v3_put(moment, abut_v3_add(abut_v3_get(moment), l));
    }
    free(acc);
}

/* A motion pushes with this force in its window, 10 ms to 30 ms, without a moment about c, and not outside of it. */
static void pushes(const char *motion, abut_vec3 want, abut_vec3 c)
{
    world w;
    double f[3], l[3];
    world_scene(&w, "materials: {light: {density: 100}, heavy: {density: 5000}}\nobjects:\n"
                "  a: {generate: {box: {size: [1, 2, 4], cells: [2, 3, 4]}}, material: light}\n"
                "  b: {generate: {sphere: {radius: 1, cells: 4}}, material: heavy, translate: [5, 0, 0]}\n"
                "motion: [{%s, from: 10 ms, until: 30 ms}]\n", motion);
    for (int n = 0; n < 4; n++) {
        const int on = n == 1 || n == 2;
        resultant(&w, 0.01 * n, c, f, l);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(f[k], on ? (k == 0 ? want.x : k == 1 ? want.y : want.z) : 0, 1e-11);
            if (isfinite(c.x)) CHECK_NEAR(l[k], 0, 1e-10);
        }
    }
    world_close(&w);
}

TEST(forces_add_up_to_what_is_said_whatever_the_mesh_and_the_density)
{
    const abut_vec3 middle = abut_v3(0, 0, 0), nowhere = abut_v3((double)NAN, 0, 0);
    pushes("select: {object: a}, force: [1, -2, 6]", abut_v3(1, -2, 6), nowhere);
    pushes("select: {object: a}, acceleration: [0, 3, 0]", abut_v3(0, 3 * 800, 0), middle);
    pushes("select: {object: a}, force-density: [2, 0, -1]", abut_v3(16, 0, -8), middle);
    /* the upper face, 1 x 4 */
    pushes("select: {object: a, relative-box: [[0, 0.99, 0], [1, 1, 1]]}, traction: [3, -2, 1]", abut_v3(12, -8, 4),
           abut_v3(0, 1, 0));
    pushes("select: {object: a, relative-box: [[0, 0.99, 0], [1, 1, 1]]}, pressure: 1.5", abut_v3(0, -6, 0), abut_v3(0, 1, 0));
    /* all around: nothing, as the surface is closed */
    pushes("select: {object: b, surface: true}, pressure: 2 kPa", abut_v3(0, 0, 0), abut_v3(5, 0, 0));
}

/* The force along x that a motion of the block `a` gives it in all, in the step from time t, with factors at the time `at`. */
static double along_x(const world *w, double t, double at)
{
    double sum = 0, *acc = malloc(3 * (size_t)w->model.nv * sizeof *acc);
    abut_motion_acceleration(&w->model, t, w->model.X, at, acc);
    for (int32_t i = 0; i < w->model.nv; i++) sum += w->model.role[i] == ABUT_NODE_OBSTACLE ? 0 : w->model.mass[i] * acc[3 * i];
    free(acc);
    return sum;
}

TEST(a_load_follows_its_factor_in_its_window_and_keeps_that_of_the_last_key)
{
    world w;
    world_scene(&w, SCENE("implicit-euler", "  - {select: {object: a}, force: [4, 0, 0], from: 100 ms, until: 505 ms,\n"
                          "     factor: {times: [0.1 s, 0.2 s, 0.4 s], values: [0.5, 1, -2]}}\n"));
    CHECK(w.model.key_factor && !w.model.key_shift && !w.model.mo_smooth && w.model.nk == 3);
    static const double at[] = { 0.05, 0.2, 0.25, 0.3, 0.4, 0.5, 0.505, 9 }, want[] = { 0.5, 0.5, 0.75, 1, -0.5, -2, -2, -2 };
    for (int i = 0; i < 8; i++) CHECK_NEAR(along_x(&w, 0.2, at[i]), 4 * want[i], 1e-12);
    CHECK(along_x(&w, 0.09, 0.3) == 0 && along_x(&w, 0.51, 0.3) == 0);      /* before and after */
    CHECK_NEAR(abut_motion_load_time(&w.model, 0.2), 0.21, 1e-15);
    world_close(&w);
    world_scene(&w, SCENE("midpoint", "  - {select: {object: a}, force: [4, 0, 0], ramp: 1 s, interpolation: smooth, until: 0.3 "
                          "s}\n"
                          "  - {select: {object: a}, force: [0.5, 0, 0]}\n"));
    CHECK_NEAR(along_x(&w, 0.2, 0.25), 0.5 + 4 * 0.25 * 0.25 * 2.5, 1e-12);
    CHECK_NEAR(along_x(&w, 0.29, 0.7), 0.5 + 4 * 0.3 * 0.3 * 2.4, 1e-12);   /* no further than its end */
    CHECK_NEAR(abut_motion_load_time(&w.model, 0.2), 0.205, 1e-15);
    world_close(&w);
}

TEST(loads_that_are_constant_have_no_factors_and_poses_beside_one_keep_theirs)
{
    world w;
    world_scene(&w, SCENE("implicit-euler", "  - {select: {object: a}, force: [4, 0, 0]}\n"));
    CHECK(!w.model.key_factor && !w.model.mo_key && w.model.nk == 0);
    world_close(&w);
    world_scene(&w, SCENE("implicit-euler", "  - {select: {object: k}, keyframes: [{time: 1 s, translate: [0, 1, 0]}]}\n"
                          "  - {select: {object: a}, force: [4, 0, 0], ramp: 2 s}\n"
                          "  - {select: {object: a}, force: [1, 0, 0]}\n"));
    CHECK(w.model.nk == 4 && w.model.key_shift && w.model.key_factor[0] == 1 && w.model.key_factor[1] == 1);
    CHECK_NEAR(along_x(&w, 0.2, 0.5), 2, 1e-12);
    CHECK(abut_arrays_find(&w.model_set, "key/factor")->flags & ABUT_A_REQUIRED);
    world_close(&w);
}

/* ---- targets that cannot be reached at once ---- */

/* A punch whose upper face is a handle goes down through a soft block on the ground. */
#define PUNCH(motion) \
    "time: {step: 0.05}\ntolerance: 2e-2 l/s\nmaterials: {m: {young: 2e4}}\nobjects:\n" \
    "  block: {generate: {box: {size: [1, 0.4, 1], cells: [3, 2, 3]}}, translate: [0, 0.21, 0]}\n" \
    "  punch: {generate: {box: {size: [0.4, 0.2, 0.4], cells: [2, 1, 2]}}, translate: [0.02, 0.53, 0.01]}\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n" \
    "motion:\n  - {select: {object: punch, relative-box: [[0, 0.9, 0], [1, 1, 1]]}, " motion "}\n"

TEST(a_blocked_handle_reaches_its_target_within_the_step)
{
    world w;
    int blocked = 0;
    /* a step ends when a thousandth of its way is missing, in the root mean square: one of nine nodes may miss three */
    const double missing = 3 * 1e-3 * 0.15;
    world_scene(&w, PUNCH("translate: [0, -3, 0], until: 0.1 s, hold: true"));
    for (int n = 1; n <= 3; n++) {
        CHECK(!world_judged(&w, 1));
        CHECK(w.rep.eta >= 0.999);
        blocked |= w.rep.eta < 1;
        const double way = fmin(3 * w.at.time, 0.3);
        for (int32_t i = 0; i < w.model.nv; i++)
            if (w.model.role[i] == ABUT_NODE_HANDLE)
                CHECK_NEAR(get(&w, "node/x")[3 * i + 1], w.model.X[3 * i + 1] - way, 2 * missing);
    }
    CHECK(blocked);
    world_close(&w);
}

TEST(a_handle_whose_target_lies_in_the_ground_is_a_failure_by_name)
{
    world w;
    world_scene(&w, PUNCH("translate: [0, -16, 0], until: 0.1 s"));
    w.o.search.max_newton = 60;
    CHECK(world_run(&w, 2) == ABUT_E_NUMERIC);
    CHECK(strstr(w.err.msg, "scripted motion"));
    world_close(&w);
}

/* ---- selections ---- */

/* Rows of the first motion of a scene with a box of 5^3 nodes, side 1 about the origin. */
static int chosen(const char *select)
{
    world w;
    world_scene(&w, "objects: {a: {generate: {box: {size: [1, 1, 1], cells: [4, 4, 4]}}}}\nmotion: [{select: %s, fix: true}]\n",
                select);
    const int n = w.model.mo_first[1] - w.model.mo_first[0];
    world_close(&w);
    return n;
}

TEST(conditions_select_the_nodes_they_describe)
{
    CHECK(chosen("{}") == 125);
    CHECK(chosen("{surface: true}") == 125 - 27);
    CHECK(chosen("{half-space: {point: [0, -0.25, 0], normal: [0, 1, 0]}}") == 50);
    CHECK(chosen("{half-space: {point: [0.1, 0, 0], normal: [-3, 0, 0]}}") == 50);
    CHECK(chosen("{cylinder: {axis: [[0, -1, 0], [0, 0.1, 0]], radius: 0.26}}") == 3 * 5);
    CHECK(chosen("{cylinder: {axis: [[-0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], radius: 1 mm}}") == 5);
    CHECK(chosen("{object: a, nodes: [124, 0, 7]}") == 3);
    CHECK(chosen("{object: a, nodes: [0, 1, 2, 3, 4, 5, 6], box: [[-0.5, -0.5, -0.5], [-0.5, 0.5, -0.5]], surface: true}") == 2);
}

/* ---- what is refused ---- */

static int refused(const char *motion, const char *part)
{
    char text[2000];
    snprintf(text, sizeof text, "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
             "  k: {generate: {rod: {length: 1, cells: 2}}, obstacle: true, translate: [5, 0, 0]}\n"
             "  g: {half-space: {point: [0, -3, 0], normal: [0, 1, 0]}}\nmotion:\n  - %s\n", motion);
    return scene_refused(text, ABUT_E_FORMAT, part, "test.yaml:");
}

TEST(what_a_motion_must_not_say_is_refused_by_name)
{
#define A "{select: {object: a}, "
#define KEYED(list) A "keyframes: " list "}"
#define FACTOR(table) A "force: [1, 0, 0], factor: {" table "}}"
    CHECK(refused(KEYED("[{time: 1, scale: 2}, {time: 0.5}]"), "a keyframe at 0.5 s, after one at 1 s: expected ascending "
                  "times"));
    CHECK(refused(KEYED("[{time: 1}, {time: 1}]"), "a keyframe at 1 s, after one at 1 s"));
    CHECK(refused(KEYED("[{time: -1}]"), "a keyframe at -1 s, after one at 0 s"));
    CHECK(refused(KEYED("[]"), "keyframes is an empty list: expected a list of one or more, [{time: 1 s, "));
    CHECK(refused(KEYED("[{time: 0}]"), "expected one after 0 s"));
    CHECK(refused(KEYED("[{time: 0, translate: [1, 0, 0]}, {time: 1}]"), "a keyframe at 0 s: the nodes are then where they are"));
    CHECK(refused(KEYED("[{translate: [1, 0, 0]}]"), "'time' is missing"));
    CHECK(refused(KEYED("[{time: 1, rotat: 3}]"), "did you mean 'rotate'"));
    CHECK(refused(KEYED("[{time: 1, scale: [1, 0, 1]}]"), "scale is '0': expected more than 0"));
    CHECK(refused(KEYED("[{time: 1, quaternion: [0, 0, 0, 0]}]"), "not all 0"));
    CHECK(refused(KEYED("[{time: 1, quaternion: [1, 0, 0, 0], rotate: {axis: [1, 0, 0], angle: 1 rad}}]"),
                  "expected one of rotate and quaternion"));
    CHECK(refused(KEYED("[{time: 1, rotate: {axis: [1, 0, 0], angle: 360 deg}}]"), "180 degrees or more since the last"));
    CHECK(refused(KEYED("[{time: 1, quaternion: [0, 1, 0, 0]}]"), "180 degrees or more since the last keyframe"));
    CHECK(refused(KEYED("[{time: 1, rotate: {axis: [1, 0, 0], angle: 90 deg}}, {time: 2, rotate: {axis: [-1, 0, 0], angle: 100 "
                        "deg}}]"),
                  "180 degrees or more since the last keyframe"));
    CHECK(refused(A "keyframes: [{time: 1}], until: 3 s}", "until: the last key ends the motion"));
    CHECK(refused(A "keyframes: [{time: 1}], interpolation: cubic}", "interpolation is 'cubic'"));
    CHECK(refused(A "fix: true, interpolation: smooth}", "interpolation: of keyframes, sequences and loads that change"));
    CHECK(refused(A "force: [1, 0, 0], ramp: 0 s}", "test.yaml:6:51: ramp is '0 s': expected more than 0"));
    CHECK(refused(A "force: [1, 0, 0], ramp: 2 m}", "ramp is '2 m': expected a number, if it has a unit one of s"));
    CHECK(refused(A "force: [1, 0, 0], ramp: 1 s, factor: {times: [0], values: [1]}}", "expected one of ramp and factor"));
    CHECK(refused(A "force: [1, 0, 0], interpolation: smooth}", "interpolation: of keyframes, sequences and loads that change"));
    CHECK(refused(A "translate: [1, 0, 0], ramp: 1 s}", "ramp: of a load: expected acceleration, force"));
    CHECK(refused(A "fix: true, factor: {times: [0], values: [1]}}", "factor: of a load: expected acceleration, force"));
    CHECK(refused(FACTOR("times: [], values: []"), "times: expected a list of one number or more"));
    CHECK(refused(FACTOR("times: [0], values: 3"), "values: expected a list of one number or more"));
    CHECK(refused(FACTOR("times: [0, 1 s], values: [1, 2, 3]"), "values: 3 for 2 times: expected as many"));
    CHECK(refused(FACTOR("times: [0, 2 s, 2 s], values: [1, 2, 3]"), "times: 2 s after 2 s: expected ascending times"));
    CHECK(refused(FACTOR("times: [0, 2 s, 1 s], values: [1, 2, 3]"), "times: 1 s after 2 s: expected ascending times"));
    CHECK(refused(FACTOR("times: [-1 s, 2 s], values: [1, 2]"), "test.yaml:6:62: times is '-1 s': expected 0 or more"));
    CHECK(refused(FACTOR("times: [0, 2 s], values: [1, .nan]"), "values is '.nan': expected a number"));
    CHECK(refused(FACTOR("times: [0, 2 s], values: [1, 1 N]"), "values is '1 N': expected a number"));
    CHECK(refused(FACTOR("times: [0, 2 s]"), "'values'"));
    CHECK(refused(FACTOR("times: [0], values: [1], value: 2"), "'value'"));
    CHECK(refused(A "fix: true, hold: true}", "hold: the motion never ends"));
    CHECK(refused(A "force: [1, 0, 0], until: 1 s, hold: true}", "hold: a force holds nothing"));
    CHECK(refused(A "pressure: [1, 0, 0]}", "pressure is a list of 3: expected a number, if it has a unit one of Pa"));
    CHECK(refused(A "force-density: [1 N, 0, 0]}", "expected a number, if it has a unit one of N/m^3"));
    CHECK(refused("{select: {object: a, nodes: [0, 1]}, traction: [1, 0, 0]}", "no triangle of a surface has all its corners "
                  "among the 2"));
    CHECK(refused("{select: {object: k}, pressure: 3}", "a force on an obstacle"));
    CHECK(refused(A "translate: [1, 0, 0], center: [0, 0, 0]}", "center: of keyframes"));
    CHECK(refused(A "scale: {rate: 1 m/s}}", "rate is '1 m/s': expected a number, if it has a unit one of 1/s"));
    CHECK(refused(A "scale: {}}", "scale: expected {rate"));
    CHECK(refused(A "scale: {rate: 1, center: [0, 0, 0]}, rotate: {axis: [1, 0, 0], rate: 1 rad/s, center: [0, 0, 0]}}",
                  "center: given twice"));
    CHECK(refused(A "scale: {rate: [1, 2, 1]}, rotate: {axis: [1, 0, 0], rate: 1 rad/s}}", "three rates together with rotate"));
    CHECK(refused("{select: {}, sequence: {files: x%d.obj, step: 1 s}}", "expected 'object' in select"));
    CHECK(refused(A "sequence: {files: x.obj, step: 1 s}}", "expected a path with %d in its name"));
    CHECK(refused(A "sequence: {files: x%d.obj}}", "sequence: 'step' is missing"));
    CHECK(refused(A "sequence: {files: [x.obj]}}", "expected one of 'times' and 'step'"));
    CHECK(refused(A "sequence: {files: [x.obj, y.obj], times: [1 s]}}", "times: 1 for 2 files: expected as many"));
    CHECK(refused(A "sequence: {files: [no-such-file.obj], times: [1 s]}}", "no-such-file.obj"));
    CHECK(refused("{select: {object: g}, fix: true}", "'g' is a half-space, which has no nodes and never moves"));
    CHECK(refused("{select: {nodes: [1]}, fix: true}", "nodes: numbers of nodes of one object: expected one 'object' too"));
    CHECK(refused("{select: {object: a, nodes: [8]}, fix: true}", "nodes: a point is '8': expected an integer from 0 to 7"));
    CHECK(refused("{select: {object: a, nodes: [3, 1, 3]}, fix: true}", "nodes: 3 twice"));
    CHECK(refused("{select: {object: a, cylinder: {axis: [[0, 0, 0], [0, 0, 0]], radius: 1}}, fix: true}",
                  "twice the same point"));
    CHECK(refused("{select: {half-space: {point: [0, 0, 0]}}, fix: true}", "half-space: expected {point"));
    CHECK(refused("{select: {sphere: {center: [9, 9, 9], radius: 1}}, fix: true}",
                  "test.yaml:6:5: this motion selects no node: none of the 8 nodes of all bodies satisfies test.yaml:6:14"));
    CHECK(refused(A "translate: [1, 0, 0], until: 2 s, hold: true}\n  - " A "fix: true, from: 1 s}",
                  "is moved by another motion (test.yaml:6:5) at the same time, from 1 s"));
}
