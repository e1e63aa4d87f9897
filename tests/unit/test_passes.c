/* Friction passes of a step: parts of one that does not converge, and the normal forces of a first frame. */
#include "energy/barrier.h"
#include "energy/friction.h"
#include "scene_world.h"
#include "solve/search/search_ops.h"

/* ---- steps in parts ---- */

/* A block that slides on the floor under a force that grows. */
static const char *const SLIDE =
    "time: {step: %.17g s, scheme: %s}\ntolerance: 1e-7 m/s\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.4, eps_v: 1e-2 m/s, lags: converged}}\n"
    "materials: {m: {model: fixed-corotated, young: 1e6}}\nobjects:\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: m, translate: [0, 0.0505, 0],\n"
    "      velocity: [1, -0.05, 0]}\n"
    "motion: [{select: {object: a}, force: [40, 0, 0], ramp: 1 s}]\n";
#define STEP 0.01

/* The operations of the barrier's stepper, which divide steps, from the frame of a world. */
typedef struct divided {
    world w;
    void *self;     /* an abut_stepper first */
    int solves;
} divided;

static abut_stepper *stepper_of(divided *d) { return d->self; }

static void divided_open(divided *d, double step, const char *scheme)
{
    *d = (divided){ 0 };
    world_scene(&d->w, SLIDE, step, scheme);
    CHECK(!abut_barrier_stepper_ops.make(&d->self, &d->w.model, &d->w.row, &d->w.o, &d->w.err));
}

static void divided_close(divided *d)
{
    abut_barrier_stepper_ops.free(d->self);
    world_close(&d->w);
}

/* Solves a pass and counts it as the `as`-th of its part, 0: as what it is.  Returns whether another follows. */
static int pass_of(divided *d, int as)
{
    int again = -1;
    CHECK(!abut_barrier_stepper_ops.solve(d->self, &d->w.rep, &d->w.err));
    d->solves++;
    if (as) stepper_of(d)->pass = as;
    CHECK(!abut_barrier_stepper_ops.settle(d->self, &again, &d->w.rep, &d->w.err));
    return again;
}

static void begin(divided *d)
{
    int written = 1;
    CHECK(!abut_barrier_stepper_ops.begin(d->self, &d->w.frame, d->w.at, &written, &d->w.rep, &d->w.err));
}

static void end(divided *d)
{
    CHECK(!abut_barrier_stepper_ops.commit(d->self, &d->w.frame, 0, &d->w.next, &d->w.at, &d->w.rep, &d->w.err));
}

/* Takes steps of these lengths one after another, each by a stepper of its own: their passes; x, v: the last frame. */
static int apart(const double *h, int n, double *x, double *v)
{
    world last = { .f = NULL };
    double time = 0;
    int passes = 0;
    for (int k = 0; k < n; k++) {
        world w;
        world_scene(&w, SLIDE, h[k], "implicit-euler");
        if (k) {
            abut_arrays_clear(&w.frame);
            for (int i = 0; i < last.frame.n; i++) CHECK(!abut_arrays_copy(&w.frame, &last.frame.a[i], NULL));
            world_close(&last);
        }
        w.at.time = time;
        CHECK(!world_run(&w, 1));
        time += h[k];
        passes += w.rep.passes;
        last = w;
    }
    memcpy(x, get(&last, "node/x"), 24 * sizeof *x);
    memcpy(v, get(&last, "node/v"), 24 * sizeof *v);
    world_close(&last);
    return passes;
}

/* A pass that counts as the 24th of a whole step, or as the 12th of a part, gives it up. */
TEST(a_step_whose_passes_do_not_settle_is_that_of_its_halves_one_after_another)
{
    static const struct { int given_up[4] /* by part, 0: not */, n, parts; double h[4]; } row[] = {
        { { 24 }, 2, 2, { STEP / 2, STEP / 2 } },
        { { 24, 12 }, 4, 4, { STEP / 4, STEP / 4, STEP / 4, STEP / 4 } },
        { { 24, 0, 12 }, 3, 4, { STEP / 2, STEP / 4, STEP / 4 } },     /* the first half settles, the second does not */
    };
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        divided d;
        double x[24], v[24];
        int lost = 0, part = 0;
        divided_open(&d, STEP, "implicit-euler");
        begin(&d);
        for (int again = 1; again && d.solves < 100;) {
            const int as = stepper_of(&d)->pass == 0 && part < 4 ? row[r].given_up[part++] : 0;
            again = pass_of(&d, as);
            CHECK(!as || (again && stepper_of(&d)->pass == 0 && stepper_of(&d)->end_unwritten));
            lost += as;
        }
        end(&d);
        CHECK(!stepper_of(&d)->end_unwritten);      /* the last part ends where the frame is */
        const double *x1 = abut_arrays_find(&d.w.next, "node/x")->data, *v1 = abut_arrays_find(&d.w.next, "node/v")->data;
        const int passes = apart(row[r].h, row[r].n, x, v);
        CHECK(!memcmp(x1, x, sizeof x) && !memcmp(v1, v, sizeof v));
        CHECK(d.w.rep.passes == lost + passes && d.w.rep.lags.parts == row[r].parts);
        CHECK(d.w.at.step == 1 && d.w.at.time == STEP && d.w.rep.step == 1 && d.w.rep.time == STEP);
        const abut_path *path = abut_barrier_stepper_ops.path(d.self);
        CHECK(path->n >= 2 && !memcmp(path->point[0], get(&d.w, "node/x"), sizeof x));
        CHECK(!memcmp(path->point[path->n - 1], x1, sizeof x));
        divided_close(&d);
    }
}

TEST(a_part_is_a_sixteenth_at_least_and_the_next_step_is_whole)
{
    divided d;
    divided_open(&d, STEP, "implicit-euler");
    begin(&d);
    for (int k = 0; k < 4; k++) CHECK(pass_of(&d, k ? 12 : 24) && d.w.rep.lags.parts == 2 << k && stepper_of(&d)->pass == 0);
    CHECK(pass_of(&d, 12) && d.w.rep.lags.parts == 16 && stepper_of(&d)->pass == 12);    /* it goes on */
    int parts = 0;
    for (int again = 1; again && d.solves < 1000;) {
        again = pass_of(&d, 0);
        parts += stepper_of(&d)->pass == 0 || !again;
    }
    CHECK(parts == 16);
    end(&d);
    CHECK(d.w.at.step == 1 && d.w.at.time == STEP);
    world_go_on(&d.w);
    d.w.rep.lags.parts = 0;
    begin(&d);
    while (pass_of(&d, 0));
    end(&d);
    CHECK(d.w.rep.lags.parts == 0 && d.w.at.step == 2 && d.w.at.time == 2 * STEP && d.w.rep.passes == stepper_of(&d)->pass);
    divided_close(&d);
}

TEST(steps_are_divided_after_24_passes_and_only_those_whose_past_is_their_frame)
{
    divided d;
    divided_open(&d, STEP, "implicit-euler");
    begin(&d);
    CHECK(pass_of(&d, 23) && d.w.rep.lags.parts == 0);
    divided_close(&d);
    static const char *const scheme[] = { "bdf2", "implicit-newmark" };
    for (int k = 0; k < 2; k++) {
        divided_open(&d, STEP, scheme[k]);
        begin(&d);
        CHECK(pass_of(&d, 24) && d.w.rep.lags.parts == 0 && stepper_of(&d)->pass == 24);
        divided_close(&d);
    }
    /* a step that goes on from a PENDING frame does not know where it started */
    int written = 1, again;
    abut_arrays pending = { 0 };
    divided_open(&d, STEP, "implicit-euler");
    begin(&d);
    CHECK(!abut_barrier_stepper_ops.solve(d.self, &d.w.rep, &d.w.err));
    CHECK(!abut_barrier_stepper_ops.suspend(d.self, &d.w.frame, &pending, &d.w.err));
    CHECK(!abut_barrier_stepper_ops.resume(d.self, &pending, d.w.at, &written, &d.w.rep, &d.w.err));
    CHECK(stepper_of(&d)->pass == 1);
    stepper_of(&d)->pass = 24;
    CHECK(!abut_barrier_stepper_ops.settle(d.self, &again, &d.w.rep, &d.w.err) && again && d.w.rep.lags.parts == 0);
    abut_arrays_clear(&pending);
    divided_close(&d);
}

/* ---- the normal forces of a first frame ---- */

/* Sums of normal forces on the floor and between bodies, N. */
typedef struct sums {
    double floor, between;
} sums;

static sums frozen(const world *w)
{
    const abut_lag *lag = abut_lag_of(&w->st.solver.prob.terms);
    sums s = { 0, 0 };
    for (size_t i = 0; i < lag->n; i++) *(lag->node[i][1] < 0 ? &s.floor : &s.between) += lag->force[i];
    return s;
}

/* The forces of the barrier where bodies have moved up by these ways. */
static sums of_barrier(world *w, double low, double high)
{
    abut_search *s = &w->st.solver;
    const abut_objective *p = &s->prob;
    const double kappa = abut_barrier_state_of(&p->terms)->kappa;
    sums of = { 0, 0 };
    double *x = malloc(3 * (size_t)w->model.nv * sizeof *x);
    memcpy(x, get(w, "node/x"), 3 * (size_t)w->model.nv * sizeof *x);
    for (int32_t i = 0; i < w->model.nv; i++) x[3 * i + 1] += w->model.body[i] ? high : low;
    abut_search_place(s, x);
    if (abut_search_contacts(s, &w->rep, &w->err)) of.floor = of.between = INFINITY;
    const abut_pairs *q = &s->here.pairs;
    for (size_t i = 0; i < q->n + q->n_plane && isfinite(of.floor); i++)
        *(i < q->n ? &of.between : &of.floor) += abut_barrier_force(&p->cm, q, s->here.y, kappa, p->w.h_force, i);
    free(x);
    return of;
}

/* A block over the floor and a smaller one on it, with gaps of this part of dhat; velocities up; more of the scene. */
static void stack(world *w, double gap, const double up[2], const char *more)
{
    world_scene(w, "time: {step: 1 ms}\ntolerance: 1e-6 m/s\n"
                "contact: {formulation: area, dhat: 1 mm, friction: {mu: 0.5}, barrier: {pressure: 3e4 Pa}}\n"
                "materials: {m: {model: neo-hookean, density: 1000, young: 1e6}}\nobjects:\n"
                "  a: {material: m, generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0, %.17g, 0],\n"
                "      velocity: [0, %.17g, 0]}\n"
                "  b: {material: m, generate: {box: {size: [0.1, 0.05, 0.13], cells: [1, 1, 1]}},\n"
                "      translate: [0.011, %.17g, 0.017], velocity: [0, %.17g, 0]}\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n%s",
                0.05 + 1e-3 * gap, up[0], 0.125 + 2e-3 * gap, up[1], more);
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
}

/* By hand: each body bears the weight of those above it and their change of momentum, but no gap gives more than where inertia
 * leads. */
TEST(normal_forces_of_a_first_frame_bear_what_is_above_them_up_to_what_acts_where_inertia_leads)
{
    static const struct { double gap, up[2]; int most; } row[] = {
        { 0.6, { 0, 0 }, 0 }, { 0.6, { 4e-3, 4e-3 }, 0 }, { 0.6, { -0.05, -0.05 }, 0 }, { 0.9, { 0, 0 }, 0 },
        { 0.9, { 0, -0.05 }, 0 }, { 0.9, { 0.02, 0.02 }, 0 },       /* the last flies up */
        { 0.98, { 0, 0 }, 1 }, { 0.98, { -0.05, -0.05 }, 1 }, { 0.98, { -0.05, -0.1 }, 1 }, { 0.5, { -0.7, -0.7 }, 0 }
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        world w;
        const double h = 1e-3, *up = row[k].up, g = 9.81;
        stack(&w, row[k].gap, up, "");
        const sums got = frozen(&w), now = of_barrier(&w, 0, 0);
        const sums ahead = of_barrier(&w, h * up[0] - g * h * h, h * up[1] - g * h * h);
        const double needs = fmax(0, mass_of(&w, 1) * (g - up[1] / h)), between = fmin(needs, ahead.between);
        const double under = fmin(fmax(0, mass_of(&w, 0) * (g - up[0] / h) + between), ahead.floor);
        CHECK_NEAR(got.between, between, 1e-5 * now.between);
        CHECK_NEAR(got.floor, under, 1e-5 * now.floor);
        CHECK((between < needs) == row[k].most && (between > 0) == (up[1] < 0.01));
        printf("# %g dhat, %g and %g m/s: between %.6g N of %.4g, floor %.6g N of %.4g\n", row[k].gap, up[0], up[1], got.between,
               ahead.between, got.floor, ahead.floor);
        world_close(&w);
    }
}

/* The last node of the lower block is prescribed, at its upper side: what it bears the floor does not tell. */
TEST(the_floor_below_a_held_body_bears_what_balances_the_scene_and_what_lies_on_it_its_weight)
{
    world w;
    double local;
    stack(&w, 0.6, (double[]){ 0, 0 }, "motion: [{select: {object: a, nodes: [17]}, fix: true}]\n");
    CHECK(w.model.X[3 * 17 + 1] > 0.1 && w.model.body[17] == 0 && w.model.role[17] == ABUT_NODE_HANDLE);
    const sums got = frozen(&w), now = of_barrier(&w, 0, 0);
    abut_search *s = &w.st.solver;
    const double kappa = abut_barrier_state_of(&s->prob.terms)->kappa;
    const abut_at here = abut_point_at(&s->here, &s->prob);
    CHECK(!abut_objective_balance(&s->prob, &here, &local, &s->scratch, &w.err) && local > 0 && local < kappa);
    CHECK_NEAR(got.between, 9.81 * mass_of(&w, 1), 1e-5 * now.between);
    CHECK_NEAR(got.floor / now.floor, local / kappa, 1e-12);
    CHECK(fabs(got.floor - 9.81 * (mass_of(&w, 0) + mass_of(&w, 1))) > 1);      /* which is not the weight of both */
    world_close(&w);
}

/* Two blocks on the floor that run into each other with opposite momenta: the floor bears each, and what is between them stops
 * both. */
TEST(normal_forces_of_a_first_frame_balance_bodies_along_every_axis)
{
    world w;
    const double h = 1e-3, p = 4 * 0.01, c = sqrt(0.75), s = 0.5;     /* kg m/s; along x turned about y by 30 degrees */
    world_scene(&w, "time: {step: 1 ms}\ntolerance: 1e-6 m/s\n"
                "contact: {formulation: area, dhat: 1 mm, friction: {mu: 0.5}, barrier: {pressure: 3e4 Pa}}\n"
                "materials: {m: {model: neo-hookean, density: 1000, young: 1e6}}\nobjects:\n"
                "  a: {material: m, generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0, 0.0506, 0],\n"
                "      rotate: {axis: [0, 1, 0], angle: 30 deg}, velocity: [%.17g, 0, %.17g]}\n"
                "  b: {material: m, generate: {box: {size: [0.1, 0.05, 0.13], cells: [1, 1, 1]}},\n"
                "      rotate: {axis: [0, 1, 0], angle: 30 deg}, translate: [%.17g, 0.0256, %.17g],\n"
                "      velocity: [%.17g, 0, %.17g]}\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
                p / 4 * c, -p / 4 * s, 0.1506 * c + 0.017 * s, 0.017 * c - 0.1506 * s, -p / 0.65 * c, p / 0.65 * s);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    const sums got = frozen(&w), now = of_barrier(&w, 0, 0);
    printf("# floor %.6g N, between %.6g N of %.6g\n", got.floor, got.between, now.between);
    CHECK_NEAR(got.between, p / h, 1e-4 * now.between);
    CHECK_NEAR(got.floor, 9.81 * 4.65, 1e-4 * now.floor);
    world_close(&w);
}
