/* Steps of --solver sqp and qp: weights on multipliers, momentum, collisions with moving objects, programs without a solution,
 * refusals. */
#include "run_made.h"

#include "solve/baselines/sqp.h"

static abut_solve_options with(int form, int set, double offset)
{
    abut_solve_options o = abut_solve_defaults;
    o.inequalities.form = form;
    o.inequalities.active_set = set;
    o.inequalities.offset = offset;
    o.search.max_newton = 200;
    return o;
}

/* One step; r->f is its frame. */
static abut_status step(run *r)
{
    const abut_status rc = advance_run(r);
    return rc ? rc : pass_on(r);
}

#define HEAD(gravity) "abut: 1\ntime: {step: 0.01 s}\ngravity: [0, " gravity ", 0]\ncontact: {dhat: 1 mm}\n" \
    "tolerance: 1e-6 m/s\n" \
    "materials: {soft: {model: fixed-corotated, density: 1000, young: 1e5, poisson: 0.4}}\n"
#define FALLING HEAD("-10") "objects:\n" \
    "  box: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.0521, 0]}\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"

/* A box of 1 kg comes to rest the offset above the floor, whose force is its weight: sum lambda = m g h^2. */
TEST(multipliers_of_a_box_at_rest_add_up_to_its_weight)
{
    for (int form = 0; form < ABUT_CONSTRAINTS; form++)
        for (int fixed = 0; fixed < 2; fixed++) {
            run r;
            const abut_solve_options o = with(form, ABUT_ACTIVE_BOTH, 2e-3);
            CHECK(!open_solver(&r, FALLING, fixed ? "qp" : "sqp", &o));
            for (int k = 0; k < 120; k++) CHECK(!step(&r) && r.rep.sqp.hits == 0);
            const abut_sqp *s = r.stepper;
            double sum = 0, mass = 0, low = INFINITY;
            for (size_t i = 0; i < s->set.n; i++) sum += s->lambda[i];
            for (int32_t i = 0; i < r.scene.m.nv; i++) {
                mass += r.scene.m.mass[i];
                low = fmin(low, r.f.x[3 * i + 1]);
            }
            CHECK_NEAR(sum / (mass * 10 * 1e-4), 1, 1e-4);
            CHECK_NEAR(low, 2e-3, 1e-7);
            CHECK_NEAR(r.rep.min_gap, 2e-3, 1e-7);
            CHECK(r.rep.planes == 4 && r.rep.contacts == 0 && r.rep.contact == ABUT_CONTACT_LINEARISED);
            close_run(&r);
        }
}

TEST(free_flight_is_that_of_newton)
{
    run a, b;
    const abut_solve_options o = with(0, 0, 1e-3);
    abut_solve_options plain = abut_solve_defaults;
    plain.search.tolerance = 1e-8;
    const char *text = HEAD("-10") "objects:\n"
        "  box: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, velocity: [1, 2, 0],\n"
        "        angular-velocity: {axis: [0, 1, 0], rate: 5 rad/s}}\n";
    CHECK(!open_solver(&a, text, "sqp", &o) && !open_solver(&b, text, "newton", &plain));
    double off = 0;
    for (int k = 0; k < 10; k++) {
        CHECK(!step(&a) && !step(&b) && a.rep.sqp.pairs == 0);
        for (int32_t i = 0; i < 3 * a.scene.m.nv; i++) off = fmax(off, fabs(a.f.x[i] - b.f.x[i]));
    }
    printf("# off by %.2g m\n", off);
    CHECK(off < 1e-9);
    close_run(&a);
    close_run(&b);
}

#define COLLIDING HEAD("0") "objects:\n" \
    "  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, velocity: [1, 0.3, 0]}\n" \
    "  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.12, 0.04, 0.02],\n" \
    "      rotate: {axis: [0, 1, 1], angle: 20 deg}, velocity: [-1, 0, 0.2]}\n"

TEST(bodies_that_collide_keep_their_momentum_and_stay_apart)
{
    for (int form = 0; form < ABUT_CONSTRAINTS; form++) {
        run r;
        const abut_solve_options o = with(form, ABUT_ACTIVE_BOTH, 1e-3);
        double start[3], off = 0;
        size_t pairs = 0, hits = 0;
        CHECK(!open_solver(&r, COLLIDING, "sqp", &o) && !step(&r));
        memcpy(start, r.rep.momentum, sizeof start);
        for (int k = 0; k < 12; k++) {
            const abut_status rc = step(&r);
            if (rc) printf("# %s\n", r.scene.err.msg);
            CHECK(!rc);
            for (int d = 0; d < 3; d++) off = fmax(off, fabs(r.rep.momentum[d] - start[d]));
            pairs += r.rep.sqp.pairs;
            hits += r.rep.sqp.hits;
        }
        printf("# %s: %zu pairs, momentum off by %.2g kg m/s\n", abut_constraint_names[form], pairs, off);
        CHECK(pairs > 10 && off < 1e-6 && hits == 0);
        close_run(&r);
    }
}

#define SHOT HEAD("0") "objects:\n" \
    "  board: {generate: {box: {size: [1, 0.02, 1], cells: [1, 1, 1]}}, obstacle: true}\n" \
    "  ball: {generate: {box: {size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, translate: [0, 0.1, 0], velocity: [0, -100, 0]}\n"

/* 1 m in a step through 2 cm: proximity at its ends does not show the collision, CCD does. */
TEST(a_step_that_passes_through_a_board_says_so_and_is_given_up_where_that_is_asked_for)
{
    run r;
    abut_solve_options o = with(ABUT_CONSTRAINT_GAP, ABUT_ACTIVE_NEAR, 1e-3);
    CHECK(!open_solver(&r, SHOT, "sqp", &o) && !step(&r));
    CHECK(r.rep.sqp.hits > 0 && r.f.x[3 * 8 + 1] < -0.5);
    CHECK(r.f.sqp_hits && r.f.sqp_hits[0] == (int32_t)r.rep.sqp.hits);
    close_run(&r);
    o.hard.strict = 1;
    CHECK(!open_solver(&r, SHOT, "sqp", &o));
    CHECK(step(&r) == ABUT_E_NUMERIC && strstr(r.scene.err.msg, "(--strict)") && strstr(r.scene.err.msg, "'board'"));
    close_run(&r);
    o.inequalities.active_set = ABUT_ACTIVE_IMPACTS;
    o.inequalities.form = ABUT_CONSTRAINT_IMPACT;
    CHECK(!open_solver(&r, SHOT, "sqp", &o) && !step(&r) && r.rep.sqp.hits == 0 && r.f.x[3 * 8 + 1] > 0);
    close_run(&r);
}

/* A plate of 1 mm in a slot of 3.5 mm, whose walls are to be kept 2 mm away from; at 1 mm there is room. */
TEST(walls_with_less_between_them_than_the_offsets_are_infeasible)
{
    const char *text = HEAD("-10") "objects:\n"
        "  plate: {generate: {box: {size: [0.1, 0.001, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.00175, 0]}\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
        "  roof: {half-space: {point: [0, 0.0035, 0], normal: [0, -1, 0]}}\n";
    for (int fixed = 0; fixed < 2; fixed++) {
        run r;
        abut_solve_options o = with(ABUT_CONSTRAINT_GAP, ABUT_ACTIVE_BOTH, 2e-3);
        CHECK(!open_solver(&r, text, fixed ? "qp" : "sqp", &o));
        CHECK(step(&r) == ABUT_E_NUMERIC && strstr(r.scene.err.msg, "exclude each other"));
        CHECK(strstr(r.scene.err.msg, "of 'plate' and ") && r.rep.sqp.last.answer == ABUT_QP_INFEASIBLE);
        close_run(&r);
        o.inequalities.offset = 1e-3;
        CHECK(!open_solver(&r, text, fixed ? "qp" : "sqp", &o));
        for (int k = 0; k < 5; k++) CHECK(!step(&r) && r.rep.sqp.hits == 0);
        close_run(&r);
    }
}

TEST(a_limit_of_iterations_that_is_reached_is_a_failure)
{
    run r;
    abut_solve_options o = with(ABUT_CONSTRAINT_GAP, ABUT_ACTIVE_BOTH, 2e-3);
    o.search.max_newton = 1;
    CHECK(!open_solver(&r, FALLING, "sqp", &o));
    CHECK(step(&r) == ABUT_E_NUMERIC && strstr(r.scene.err.msg, "not converged after 1 quadratic program"));
    close_run(&r);
}

TEST(what_it_cannot_do_is_refused_by_name)
{
    static const struct { const char *scene, *says; } bad[] = {
        { "abut: 1\ntime: {step: 0.01 s}\ncontact: {friction: {mu: 0.3}}\nobjects:\n" BOX, "friction coefficient of 0.3" },
        { "abut: 1\ntime: {step: 0.01 s, scheme: bdf2}\nobjects:\n" BOX, "expected implicit-euler" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run r;
        const abut_solve_options o = abut_solve_defaults;
        CHECK(open_solver(&r, bad[i].scene, "sqp", &o) == ABUT_E_FORMAT);
        CHECK(strstr(r.scene.err.msg, bad[i].says) != NULL);
        close_run(&r);
    }
}
