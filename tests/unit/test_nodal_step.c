/* Steps of --solver nodal on scenes, every one of which the judge of solve/nodal/failsafe.h has passed: slopes, momentum, energy,
 * stacks at rest. */
#include "run_made.h"

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
