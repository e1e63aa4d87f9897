/* Steps of --solver nodal on scenes, every one of which the judge of solve/nodal/failsafe.h has passed: slopes, momentum, energy,
 * stacks at rest. */
#include "run_made.h"

#include "solve/nodal/nodal.h"

/* Mean velocity by mass of the nodes of an object, m/s. */
static void velocity(const run *r, int32_t object, double v[3])
{
    double mass = 0;
    v[0] = v[1] = v[2] = 0;
    for (int32_t i = 0; i < r->scene.m.nv; i++) {
        if (r->scene.m.body[i] != object) continue;
        mass += r->scene.m.mass[i];
        for (int d = 0; d < 3; d++) v[d] += r->scene.m.mass[i] * r->f.v[3 * i + d];
    }
    for (int d = 0; d < 3; d++) v[d] /= mass;
}

#define SLOPE(mu) \
    "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ngravity: [4.387165371735013, -8.774330743470026, 0]\n" \
    "contact: {dhat: 1e-3 m, friction: {mu: " mu "}}\nnodal: {tolerance: 1e-12 m, iterations: 400}\n" \
    "materials: {stiff: {model: fixed-corotated, density: 1000, young: 1 GPa, poisson: 0.4}}\n" \
    "objects:\n" \
    "  block: {generate: {box: {size: [0.4, 0.2, 0.4], cells: [2, 1, 2]}}, material: stiff, translate: [0, 0.1005, 0]}\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"

TEST(a_solid_block_sticks_on_a_slope_without_creep)
{
    run r;
    double v[3];
    open_run(&r, SLOPE("0.52"));
    steps(&r, 30);
    double *x = malloc(3 * (size_t)r.scene.m.nv * sizeof *x), drift = 0;
    memcpy(x, r.f.x, 3 * (size_t)r.scene.m.nv * sizeof *x);
    steps(&r, 20);
    velocity(&r, 0, v);
    for (int32_t i = 0; i < 3 * r.scene.m.nv; i++) drift = fmax(drift, fabs(r.f.x[i] - x[i]));
    printf("# speed %.3g m/s, drift in 0.2 s %.3g m\n", v[0], drift);
    CHECK(fabs(v[0]) < 1e-12);
    CHECK(drift < 1e-12);
    free(x);
    close_run(&r);
}

TEST(a_solid_block_slides_down_a_slope_to_six_digits)
{
    run r;
    double before[3], after[3];
    open_run(&r, SLOPE("0.48"));
    steps(&r, 20);
    velocity(&r, 0, before);
    steps(&r, 20);
    velocity(&r, 0, after);
    const double expected = 4.387165371735013 - 0.48 * 8.774330743470026;
    printf("# acceleration %.12g, expected %.12g m/s^2\n", (after[0] - before[0]) / 0.2, expected);
    CHECK_NEAR((after[0] - before[0]) / 0.2 / expected, 1, 1e-6);
    CHECK(r.rep.nodal.sliding == r.rep.nodal.contacts);
    CHECK(r.rep.nodal.coulomb_residual < 1e-12);
    close_run(&r);
}

/* On a flat table of triangles, off its middle: what the iterations leave pushes the block nowhere. */
TEST(what_rests_without_friction_gets_no_momentum_along_the_table)
{
    run r;
    double most = 0;
    open_run(&r, "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ncontact: {friction: {mu: 0}}\n"
                 "materials: {m: {model: neo-hookean, density: 2500, young: 1e7, poisson: 0.3}}\n"
                 "objects:\n"
                 "  b: {generate: {box: {size: [0.1, 0.06, 0.1], cells: [2, 1, 2]}}, order: 2, translate: [0, 0.0303, 0.013],\n"
                 "      material: m}\n"
                 "  table: {generate: {box: {size: [1.2, 0.1, 0.4], cells: [8, 1, 3]}}, translate: [0, -0.05, 0],\n"
                 "          obstacle: true}\n");
    for (int k = 0; k < 30; k++) {
        steps(&r, 1);
        most = fmax(most, fmax(fabs(r.rep.momentum[0]), fabs(r.rep.momentum[2])));
    }
    printf("# %zu contacts, momentum along the table at most %.3g N s\n", (size_t)r.rep.nodal.contacts, most);
    CHECK(r.rep.nodal.contacts > 0);
    CHECK(most < 1e-11);
    close_run(&r);
}

/* Two cubes that meet in free space, off centre and rotating. */
TEST(bodies_that_collide_keep_their_momentum_and_gain_no_energy)
{
    run r;
    open_run(&r, "abut: 1\nsolver: nodal\ntime: {step: 2 ms}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm, friction: {mu: 0.4}}\n"
                 "nodal: {tolerance: 1e-13 m, iterations: 300, beta: 1e9}\n"
                 "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.4}}\n"
                 "objects:\n"
                 "  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, velocity: [1, 0.3, 0]}\n"
                 "  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.12, 0.04, 0.02],\n"
                 "      rotate: {axis: [0, 1, 1], angle: 20 deg}, velocity: [-1, 0, 0.2]}\n");
    double start[3], energy = INFINITY, size = 0, off = 0, gained = 0;
    steps(&r, 1);
    memcpy(start, r.rep.momentum, sizeof start);
    size_t touched = 0;
    for (int32_t i = 0; i < 3 * r.scene.m.nv; i++) size += r.scene.m.mass[i / 3] * fabs(r.f.v[i]);
    for (int k = 0; k < 60; k++) {
        steps(&r, 1);
        touched += r.rep.nodal.contacts;
        for (int d = 0; d < 3; d++) off = fmax(off, fabs(r.rep.momentum[d] - start[d]) / size);
        const double now = r.rep.kinetic + r.rep.elastic;
        gained = fmax(gained, now / energy - 1);
        energy = now;
    }
    printf("# contacts in all %zu, momentum off by %.3g, energy gained %.3g\n", touched, off, gained);
    CHECK(off < 1e-9);
    CHECK(gained < 1e-12);
    CHECK(touched > 20);
    close_run(&r);
}

TEST(a_stack_comes_to_rest_and_stays)
{
    run r;
    double v[3];
    open_run(&r, "abut: 1\nsolver: nodal\ntime: {step: 5 ms}\ncontact: {dhat: 1 mm, friction: {mu: 0.4}}\n"
                 "nodal: {tolerance: 1e-9 m, iterations: 200, beta: 1e9}\n"
                 "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.4}}\n"
                 "objects:\n"
                 "  a: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0, 0.051, 0]}\n"
                 "  b: {generate: {box: {size: [0.15, 0.1, 0.15], cells: [2, 1, 2]}}, translate: [0.01, 0.153, 0.01]}\n"
                 "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n");
    steps(&r, 120);
    for (int32_t body = 0; body < 2; body++) {
        velocity(&r, body, v);
        printf("# body %d: %.3g %.3g %.3g m/s\n", body, v[0], v[1], v[2]);
        for (int d = 0; d < 3; d++) CHECK(fabs(v[d]) < 1e-6);
    }
    close_run(&r);
}

/* The factor of the library, which counts the rows that it is asked for; and one that knows no parts. */
static size_t n_rows, rows_asked, parts_solved;
static abut_status count_parts(void *self, const uint8_t *wanted, const double *b, double *x, abut_err *err)
{
    for (size_t i = 0; i < n_rows; i++) rows_asked += wanted[i];
    parts_solved++;
    return abut_linear_own.solve_parts(self, wanted, b, x, err);
}

/* Five cubes in a row, the first one moves: the others sleep until the one before them comes, within the iterations of a step. */
/* The sum of f[3 nv] over the nodes of an object, of all for -1. */
static void sum_of(const run *r, const double *f, int32_t object, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t i = 0; i < r->scene.m.nv; i++)
        for (int d = 0; d < 3 && (object < 0 || r->scene.m.body[i] == object); d++) sum[d] += f[3 * i + d];
}

/* A block on an obstacle, one in a corner of two half-spaces, and one above it whose upper side is held and pushed down. */
#define CORNER \
    "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ngravity: [2, -9.81, 0]\n" \
    "contact: {dhat: 1e-3 m, friction: {mu: 0.6}}\nnodal: {tolerance: 1e-12 m, iterations: 500}\ndamping: {mass: 10 1/s}\n" \
    "materials: {soft: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.3}}\n" \
    "objects:\n" \
    "  plate: {generate: {box: {size: [0.5, 0.05, 0.5], cells: [2, 1, 2]}}, obstacle: true}\n" \
    "  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.0756, 0]}\n" \
    "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [1, 0.0506, 0]}\n" \
    "  high: {generate: {box: {size: [0.06, 0.1, 0.06], cells: [1, 1, 1]}}, material: soft, translate: [1, 0.1513, 0]}\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n" \
    "  wall: {half-space: {point: [1.0506, 0, 0], normal: [-1, 0, 0]}}\n" \
    "motion:\n" \
    "  - {select: {object: high, relative-box: [[0, 1, 0], [1, 1, 1]]}, translate: [0, -0.01, 0], until: 0.3 s, hold: true}\n"

TEST(contact_forces_on_bodies_obstacles_and_half_spaces_sum_to_nothing_and_bear_the_weights)
{
    run r;
    double all[3], rubbed[3], plate[3], rub[3], held[3];
    open_run(&r, CORNER);
    for (int n = 0; n < 3; n++) {
        steps_with(&r, n == 2 ? 60 : 10, ABUT_WITH_FORCES);
        const double *on = r.f.f_plane_contact, *along = r.f.f_plane_friction;
        CHECK(on && along && r.f.f_reaction);
        sum_of(&r, r.f.f_contact, -1, all);
        sum_of(&r, r.f.f_friction, -1, rubbed);
        for (int d = 0; d < 3; d++) {
            CHECK_NEAR(all[d] + on[d] + on[3 + d], 0, 1e-12);
            CHECK_NEAR(rubbed[d] + along[d] + along[3 + d], 0, 1e-12);
        }
        CHECK(on[0] == 0 && along[1] == 0 && on[4] == 0 && along[3] == 0);
        CHECK(on[1] < -1 && on[3] > 0);
    }
    /* at rest: each bears what is on it, the held body's upper side the rest */
    const double mass = 1000 * 0.001, upper = 1000 * 0.1 * 0.06 * 0.06, *on = r.f.f_plane_contact, *along = r.f.f_plane_friction;
    sum_of(&r, r.f.f_contact, 0, plate);
    sum_of(&r, r.f.f_friction, 0, rub);
    CHECK_NEAR(plate[1] + rub[1], -mass * 9.81, 1e-3);
    CHECK_NEAR(plate[0] + rub[0], mass * 2, 1e-3);
    sum_of(&r, r.f.f_reaction, 3, held);
    printf("# floor %.9g N, wall %.9g N, hand %.9g N\n", on[1], on[3], held[1]);
    CHECK(held[1] < -1);
    CHECK_NEAR(on[1] + along[4], held[1] - (mass + upper) * 9.81, 0.02);
    CHECK_NEAR(on[3] + along[0] - held[0], (mass + upper) * 2, 0.02);
    /* an obstacle is held against what touches it */
    sum_of(&r, r.f.f_reaction, 0, held);
    for (int d = 0; d < 3; d++) CHECK_NEAR(held[d] + plate[d] + rub[d], 0, 1e-12);
    close_run(&r);
}

TEST(a_body_sleeps_until_the_contacts_of_a_step_reach_it_and_no_bit_shows_that)
{
    static const char text[] =
        "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ngravity: [0, 0, 0]\ncontact: {dhat: 0.1 mm, friction: {mu: 0.3}}\n"
        "nodal: {iterations: 40}\n"
        "materials: {rubber: {model: fixed-corotated, density: 1000, young: 1e6, poisson: 0.4}}\n"
        "objects:\n"
        "  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, velocity: [1, 0.05, 0]}\n"
        "  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.101, 0.01, 0.01]}\n"
        "  c: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.202, 0, 0.02]}\n"
        "  d: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.303, 0.01, 0]}\n"
        "  e: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.6, 0, 0]}\n";
    abut_linear_solver_ops counting = abut_linear_own, whole = abut_linear_own;
    counting.solve_parts = count_parts;
    whole.solve_parts = NULL;
    run r, w;
    double v[3];
    size_t appended = 0;
    rows_asked = parts_solved = 0;
    open_run_with(&r, text, &counting);
    open_run_with(&w, text, &whole);
    const size_t rows = n_rows = (size_t)r.scene.m.nv, one = rows / 5;
    for (int k = 0; k < 3; k++) {
        steps(&r, 1);
        steps(&w, 1);
        CHECK(!memcmp(r.f.x, w.f.x, 3 * rows * sizeof *r.f.x) && !memcmp(r.f.v, w.f.v, 3 * rows * sizeof *r.f.v));
        CHECK(!memcmp(r.f.impulse, w.f.impulse, 3 * rows * sizeof *r.f.v));
        CHECK(r.rep.nodal.iterations == w.rep.nodal.iterations && r.rep.nodal.contacts == w.rep.nodal.contacts);
        appended += r.rep.nodal.appended;
        velocity(&r, 2, v);
        if (k == 0) CHECK(v[0] > 1e-3);     /* the third was met in the first step, of which it knew nothing at its start */
        velocity(&r, 4, v);
        CHECK(fabs(v[0]) + fabs(v[1]) + fabs(v[2]) < 1e-12);
    }
    CHECK(appended > 0 && parts_solved > 20);
    CHECK(rows_asked >= 2 * one * parts_solved && rows_asked < 4 * one * parts_solved);
    close_run(&r);
    close_run(&w);
}

/* f[o]: the sum of contact and friction forces on each object in a frame, N. */
static void forces_in(run *r, const abut_arrays *frame, double (*f)[3])
{
    abut_frame v;
    CHECK(!abut_frame_view(frame, &r->scene.m, &v, &r->scene.err));
    memset(f, 0, 4 * sizeof *f);
    for (int32_t i = 0; i < 3 * r->scene.m.nv; i++) f[r->scene.m.body[i / 3]][i % 3] += v.f_contact[i] + v.f_friction[i];
}

/* Takes the same step of both, one of which iterates until nothing changes, and compares their forces with the estimate. */
static void compare_step(run *r, run *exact, const char *name, int *seen)
{
    double f[4][3], g[4][3];
    abut_arrays_clear(&exact->now);
    for (int i = 0; i < r->now.n; i++) CHECK(!abut_arrays_copy(&exact->now, &r->now.a[i], NULL));
    exact->at = r->at;
    CHECK(!advance_run_with(exact, ABUT_WITH_FORCES) && !advance_run_with(r, ABUT_WITH_FORCES));
    forces_in(r, &r->next, f);
    forces_in(exact, &exact->next, g);
    const double (*part)[3] = (const double (*)[3])abut_arrays_find(&r->next, "object/contact-error")->data;
    double worst = 0;
    for (int32_t o = 0; o < r->scene.m.no; o++) {
        const double d[3] = { f[o][0] - g[o][0], f[o][1] - g[o][1], f[o][2] - g[o][2] };
        const double error = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), estimate = part[o][0] + part[o][1] + part[o][2];
        const double size = sqrt(g[o][0] * g[o][0] + g[o][1] * g[o][1] + g[o][2] * g[o][2]);
        printf("# %-8s step %2d, %d: %.4g N, error %.2g, estimate %.2g (law %.1g, balance %.1g)\n", name, (int)r->rep.step, o,
               size, error, estimate, part[o][1], part[o][0]);
        CHECK(part[o][2] == 0);
        worst = fmax(worst, estimate);
        if (error <= 1e-9 * size) continue;     /* rounding */
        CHECK(error <= 3 * estimate);
        CHECK(estimate <= 30 * error || estimate < 1e-6 * size);
        *seen += error > 1e-6 * size;
    }
    CHECK((worst > 0) == (abut_error_sum(r->rep.contact_error) > 0));
    CHECK(!pass_on(r));
}

TEST(contact_forces_are_as_wrong_as_their_estimate_says)
{
#define CUBE "{generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: "
    static const struct { const char *name, *gravity, *objects; } of[] = {
        { "rest", "[0, -9.81, 0]", "  block: " CUBE "[0, 0.0502, 0]}\n" },
        { "slope", "[3.4, -9.2, 0]", "  block: " CUBE "[0, 0.0502, 0], velocity: [0.5, 0, 0]}\n" },
        { "stack", "[0, -9.81, 0]", "  low: " CUBE "[0, 0.0502, 0]}\n  high: " CUBE "[0.01, 0.1507, 0.005]}\n" },
        { "shell", "[0, -9.81, 0]", "  sheet: {generate: {cloth: {size: [0.2, 0.2], cells: [4, 4]}}, translate: [0, 0.0006, 0],\n"
                                    "      shell: {thickness: 1 mm}}\n  block: " CUBE "[0.013, 0.0514, 0.007]}\n" } };
    int seen = 0;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[1200], exact[1200];
        run r, e;
        for (int j = 0; j < 2; j++)
            snprintf(j ? exact : text, sizeof text, "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ngravity: %s\n%s"
                     "contact: {dhat: 1 mm, friction: {mu: 0.3}}\n"
                     "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}\n"
                     "objects:\n%s  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n", of[k].gravity,
                     j ? "nodal: {tolerance: 1e-13 m, iterations: 1000}\n" : "", of[k].objects);
        open_run(&r, text);
        open_run(&e, exact);
        for (int j = 0; j < 3; j++) {
            compare_step(&r, &e, of[k].name, &seen);
            steps(&r, j ? 10 : 2);
        }
        close_run(&r);
        close_run(&e);
    }
    CHECK(seen >= 4);
}

/* ---- what rolls ---- */

#define ROLLS(step, young, body, speed, rate) \
    "abut: 1\nsolver: nodal\ntime: {step: " step "}\ncontact: {friction: {mu: 0.5}}\n" \
    "materials: {m: {model: neo-hookean, density: 2500, young: " young ", poisson: 0.3}}\nobjects:\n" \
    "  b: {" body ", velocity: [" speed ", 0, 0], angular-velocity: {axis: [0, 0, -1], rate: " rate "},\n" \
    "      translate: [-0.2, 0.1001, 0.013]}\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
#define PRISM(sides) \
    "generate: {revolution: {profile: [[0, -0.05], [0.1, -0.05], [0.1, 0.05], [0, 0.05]], cells: [" sides ", 1]}},\n" \
    "      weld: 1e-6 m, frame: true, rotate: {axis: [1, 0, 0], angle: 90 deg}"

static double energy_of(const run *r)
{
    return r->rep.kinetic + r->rep.elastic + r->rep.gravity;
}

/* A rigid prism of n sides that tips from side to side keeps (1/2 + cos(2 pi/n)) / (3/2) of its speed at each: the angular
 * momentum about the next edge.  This one is elastic, and loses less. */
TEST(a_prism_that_rolls_never_gains_energy_and_loses_less_than_a_rigid_one)
{
    static const struct { const char *text; double speed, h; int sides; } all[] = {
        { ROLLS("20 ms", "1e7", PRISM("40"), "0.1", "1 rad/s"), 0.1, 0.02, 40 },
        { ROLLS("10 ms", "1e7", PRISM("150"), "0.3", "3 rad/s"), 0.3, 0.01, 150 },
        { ROLLS("5 ms", "1e7", PRISM("150"), "0.3", "3 rad/s"), 0.3, 0.005, 150 },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        run r;
        double v0[3], v[3], rise = 0, growth = 0;
        open_run(&r, all[k].text);
        const int before = (int)lround(0.1 / all[k].h), n = (int)lround(0.5 / all[k].h);
        steps(&r, before);
        velocity(&r, 0, v0);
        double last = energy_of(&r);
        const double motion = r.rep.kinetic;
        for (int i = 0; i < n; i++) {
            steps(&r, 1);
            rise = fmax(rise, (energy_of(&r) - last) / motion);
            growth = fmax(growth, r.rep.energy_growth);
            last = energy_of(&r);
        }
        velocity(&r, 0, v);
        const double turn = 2 * acos(-1) / all[k].sides, edges = all[k].speed * 0.5 / (0.1 * turn);
        const double rigid = 1 - pow((0.5 + cos(turn)) / 1.5, edges + 1);
        printf("# %d sides, %g s: lost %.4f of the speed, rigid %.4f; energy rises by %.2g of the motion, growth %.6g\n",
               all[k].sides, all[k].h, 1 - v[0] / v0[0], rigid, rise, growth);
        CHECK(v[0] < v0[0] && (k == 0 || 1 - v[0] / v0[0] < rigid));
        CHECK(rise < 1e-3);
        CHECK_NEAR(growth, 1, 1e-9);
        close_run(&r);
    }
}

/* The gain of its turn is what its stress damps as the places that touch pass on: nothing is to be taken. */
TEST(a_soft_ball_rolls_on_as_fast_as_in_steps_a_quarter_as_long)
{
    static const char *const text[] = {
        ROLLS("10 ms", "1e5", "generate: {ball: {radius: 0.1, divisions: 4}}", "0.3", "3 rad/s"),
        ROLLS("2.5 ms", "1e5", "generate: {ball: {radius: 0.1, divisions: 4}}", "0.3", "3 rad/s") };
    double v[2][3];
    for (int k = 0; k < 2; k++) {
        run r;
        open_run(&r, text[k]);
        steps(&r, k ? 200 : 50);
        velocity(&r, 0, v[k]);
        close_run(&r);
    }
    printf("# %.4f and %.4f m/s\n", v[0][0], v[1][0]);
    CHECK_NEAR(v[0][0] / v[1][0], 1, 0.06);
}

/* A block that flies by itself keeps its energy: what was before is made less by hand. */
TEST(a_step_of_hard_contact_with_a_tenth_more_energy_than_ever_is_refused)
{
    run r;
    abut_nodal s;
    abut_nodal_options o = abut_nodal_defaults();
    open_run(&r, "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ngravity: [0, 0, 0]\n"
                 "materials: {rubber: {model: fixed-corotated, density: 1000, young: 1e6, poisson: 0.4}}\n"
                 "objects: {b: {generate: {box: {size: [0.3, 0.2, 0.2], cells: [1, 1, 1]}}, velocity: [2, 0, 0]}}\n");
    CHECK(!abut_nodal_init(&s, &r.scene.m, &o, &r.scene.err));
    abut_status rc = ABUT_OK;
    const double E = 0.5 * 12 * 4, most[] = { 0, 0, 0.91, 0.88, 0.88 }, growth[] = { 1, 1, 1.09, 1.12, 1.12 };
    for (int k = 0; k < 5; k++) {
        const abut_instant at = { .step = k, .time = 0.01 * k };
        r.rep = (abut_report){ 0 };
        if (most[k] > 0) s.watch.most = most[k] * E;
        s.opt.keeps = k == 3;
        CHECK(!abut_nodal_begin(&s, &r.now, at, &r.scene.err) && !abut_nodal_solve(&s, &r.rep, &r.scene.err));
        rc = abut_nodal_put_frame(&s, &r.now, &r.next, &r.rep, &r.scene.err);
        CHECK_NEAR(r.rep.energy_growth, growth[k], 1e-9);
        CHECK(r.rep.energy_grows == (k > 2) && rc == (k == 4 ? ABUT_E_NUMERIC : ABUT_OK));
        CHECK(rc || !pass_on(&r));
        abut_report_clear(&r.rep);
    }
    printf("# %s\n", r.scene.err.msg);
    CHECK(strstr(r.scene.err.msg, "total energy has grown to 1.12 times what it was"));
    abut_nodal_clear(&s);
    close_run(&r);
}

/* A block that is led over a board and down beside it, 0.1 m in a step: the straight line of four steps cuts the board. */
TEST(frames_of_several_steps_have_the_points_that_their_way_needs)
{
    static const char text[] =
        "abut: 1\nsolver: nodal\ntime: {step: 0.01 s}\ncontact: {dhat: 1 mm}\n"
        "materials: {rubber: {model: fixed-corotated, density: 1000, young: 1e6, poisson: 0.4}}\nobjects:\n"
        "  led: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: rubber}\n"
        "  board: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, obstacle: true, translate: [0.04, -0.12, 0]}\n"
        "motion:\n  - {select: {object: led}, hold: true, keyframes: [{time: 20 ms, translate: [0.2, 0, 0]},\n"
        "      {time: 40 ms, translate: [0.2, -0.2, 0]}]}\n";
    run r;
    double x[5][48];
    open_run(&r, text);
    CHECK(r.scene.m.nv == 16);
    for (int k = 0; k < 9; k++) {
        int written = k == 3 || k >= 7;     /* four steps to a frame, twice, and one */
        abut_report_clear(&r.rep);
        r.rep = (abut_report){ 0 };
        if (k <= 4) memcpy(x[k], r.f.x, sizeof x[k]);
        CHECK(!abut_stepper_advance(r.ops, r.stepper, &r.now, 0, &r.at, &written, 0, &r.next, &r.rep, &r.scene.err));
        CHECK(!pass_on(&r));
        if (k != 3 && k < 7) continue;
        const abut_array *way = abut_arrays_find(&r.now, "step/waypoints");
        CHECK((way != NULL) == (k == 3) && r.rep.waypoints == (way ? way->shape[0] / 16 : 0));
        if (!way) continue;
        int met = 0;
        for (int64_t i = 0, at = 1; i < r.rep.waypoints; i++, at++) {
            while (at < 4 && memcmp(x[at], (const double *)way->data + 48 * i, sizeof x[at])) at++;
            met += at < 4;      /* where a step has ended */
        }
        CHECK(r.rep.waypoints > 0 && met == r.rep.waypoints);
        const double *first = way->data, *last = first + 48 * (r.rep.waypoints - 1);
        CHECK(first[1] == -0.05 && last[0] > 0.14);     /* beyond the board before it goes down */
    }
    close_run(&r);
}
