/* Bodies at rest on each other and bodies that must not pass: what the barrier carries, and at which gap. */
#include "scene_world.h"

/* b'(D) of Li 2020, 4.6, of the squared distance */
static double barrier_slope(double D, double H)
{
    return (H - D) * (2 * log(D / H) - H / D + 1);
}

/* The gap at which a barrier of stiffness kappa pushes with a force: -2 d kappa b'(d^2) / h^2 falls from infinity to 0. */
static double gap_of(double force, double kappa, double dhat, double h)
{
    double lo = 0, hi = dhat;
    for (int k = 0; k < 200; k++) {
        const double d = (lo + hi) / 2;
        *(-2 * d * kappa * barrier_slope(d * d, dhat * dhat) / (h * h) > force ? &lo : &hi) = d;
    }
    return lo;
}

/* One tet on an equilateral base at height y, its top over the middle: each foot carries a third.  On a half-space, or
 * (plate) on one triangle of a plate. */
static fixture *tripod(double y, double h, double dhat, int plate)
{
    fixture *f = fixture_new();
    f->h = h;
    f->dhat = dhat;
    f->tol = 1e-10;
    f->young = 1e7;
    f->plane = !plate;
    const double r = 0.1, c = -0.5, s = sqrt(3) / 2;
    const double X[12] = { 0, y, r, r * s, y, c * r, -r * s, y, c * r, 0, y + 0.1, 0 };
    fixture_tet(f, X);
    if (plate) fixture_box(f, -0.8, -0.1, -2, 4, 0.1, 4, 1, 1, 1, 1);
    return f;
}

TEST(the_gap_of_a_body_at_rest_is_the_one_whose_barrier_carries_its_weight)
{
    for (int plate = 0; plate < 2; plate++)
        for (double h = 0.01; h > 1e-3; h /= 4)
            for (double dhat = 1e-2; dhat > 0.5e-5; dhat /= 10) {
                world w;
                world_open(&w, tripod(0.9 * dhat, h, dhat, plate), NULL);
                CHECK(!world_judged(&w, 120));
                const double *x = get(&w, "node/x"), *F = get(&w, "node/contact-force"), kappa = get(&w, "contact/kappa")[0];
                const double weight = 9.81 * mass_of(&w, 0), want = gap_of(weight / 3, kappa, dhat, h);
                CHECK_NEAR(F[1] + F[4] + F[7], weight, 1e-9 * weight);
                CHECK(F[10] == 0);
                for (int i = 0; i < 3; i++) CHECK_NEAR(x[3 * i + 1], want, 1e-8 * dhat);
                printf("# %s, h %g, dhat %g: gap %.6f dhat, want %.6f, kappa %g  F/W-1 %g v %g contacts %d\n",
                       plate ? "plate" : "half-space", h, dhat, x[1] / dhat, want / dhat, kappa,
                       (F[1] + F[4] + F[7]) / weight - 1, mean(&w, "node/v", 1, 0), w.rep.contacts);
                world_close(&w);
            }
}

/* ---- a block on a plane: forces at its nodes ---- */

enum { FEET = 25 };

static void forces_under_a_block(double dhat, double *force)
{
    world w;
    world_scene(&w, "{time: {step: 0.05}, tolerance: 1e-8 m/s, contact: {dhat: %.17g m}, damping: {mass: 20},\n"
                " materials: {a: {young: 1e5, density: 1000, poisson: 0.3}},\n"
                " objects: {a: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [4, 4, 4]}}, translate: [0, %.17g, 0]},\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n", dhat, 0.1 + 0.9 * dhat);
    CHECK(!world_run(&w, 59));
    CHECK(!world_judged(&w, 1));
    int n = 0;
    for (int32_t i = 0; i < w.model.nv; i++)
        if (w.model.X[3 * i + 1] < 0.01) force[n++] = get(&w, "node/contact-force")[3 * i + 1];
    CHECK(n == FEET);
    CHECK_NEAR(total(&w, "node/contact-force", 1, 0), 9.81 * 8, 1e-9 * 9.81 * 8);
    world_close(&w);
}

TEST(the_pressure_under_a_block_converges_in_proportion_to_dhat)
{
    double force[4][FEET], off[3] = { 0 }, most = 0;
    for (int c = 0; c < 4; c++) forces_under_a_block(1e-3 / pow(4, c), force[c]);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < FEET; i++) {
            off[c] = fmax(off[c], fabs(force[c][i] - force[3][i]));
            most = fmax(most, force[3][i]);
        }
    printf("# forces of up to %.4g N change by %.3g, %.3g, %.3g N to the finest dhat\n", most, off[0], off[1], off[2]);
    CHECK(off[1] < off[0] / 3.5 && off[2] < off[1] / 3.5);
    CHECK(off[2] < 0.005 * most);
}

/* ---- stacks of unequal bodies ---- */

static const char *const HEAVY_ON_LIGHT =   /* 10^4 kg on 1 kg, ten times as wide: the small cube is crushed to a third */
    "{time: {step: 0.025}, tolerance: 1e-4 m/s, contact: {dhat: 1e-3 m, friction: {mu: 0.5}},\n"
    " materials: {big: {young: 1e8, density: 1e4}, small: {young: 1e6, density: 1000}},\n"
    " objects: {\n"
    "  small: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.051, 0], material: small},\n"
    "  big: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 0.602, 0], material: big},\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n";

static const char *const THREE =
    "{time: {step: 0.02}, tolerance: 1e-5 m/s, contact: {dhat: 1e-3 m, friction: {mu: 0.5, eps_v: 1e-4 m/s}}, damping: {mass: "
    "5},\n"
    " materials: {mid: {young: %g, density: %g}, others: {young: %g, density: %g}},\n"
    " objects: {\n"
    "  low: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [2, 2, 2]}}, translate: [0, 0.101, 0], material: others},\n"
    "  mid: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0.01, 0.252, 0.02], material: mid},\n"
    "  top: {generate: {box: {size: [0.15, 0.1, 0.15], cells: [2, 2, 2]}}, translate: [0, 0.353, 0], material: others},\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n";

/* n steps; then each body's contact forces add up to its weight, to a share of the load that it carries, and no body of the
 * stack goes up or down any more. */
static void stands(world *w, const char *name, int n, double share, double speed)
{
    int newton = 0;
    double load = 0, gap = INFINITY;
    for (int k = 0; k < n; k++) {
        CHECK(!world_judged(w, 1));
        newton += w->rep.newton;
        gap = fmin(gap, w->rep.min_gap > 0 ? w->rep.min_gap : INFINITY);
    }
    printf("# %s: %.1f iterations a step, smallest gap %.3g m;", name, (double)newton / n, gap);
    for (int32_t o = w->model.no; o-- > 0;) {
        const double weight = 9.81 * mass_of(w, o), force = total(w, "node/contact-force", 1, o);
        load += weight;
        printf(" %.6g N of %.6g N under %.6g N", force, weight, load);
        CHECK_NEAR(force, weight, share * load);
        CHECK(fabs(mean(w, "node/v", 1, o)) < speed);
    }
    printf("\n");
}

TEST(stacks_stand_at_mass_ratios_of_10000_and_stiffness_ratios_of_a_million)
{
    world w;
    world_scene(&w, "%s", HEAVY_ON_LIGHT);
    stands(&w, "10^4 kg on 1 kg", 45, 1e-3, 1e-3);
    world_close(&w);
    world_scene(&w, THREE, 1e9, 1e7, 1e9, 1e3);
    stands(&w, "10^4 times as dense in the middle", 60, 1e-3, 1e-4);
    world_close(&w);
    world_scene(&w, THREE, 1e10, 1e3, 1e4, 1e2);
    stands(&w, "10^6 times as stiff in the middle", 120, 1e-3, 1e-4);
    world_close(&w);
    world_scene(&w, THREE, 1e4, 1e2, 1e10, 1e2);
    stands(&w, "10^6 times as soft in the middle", 120, 1e-3, 1e-4);
    world_close(&w);
}

/* ---- nothing passes a thin board ---- */

static const char *const BALL =
    "{time: {step: 0.02}, gravity: [0, 0, 0], tolerance: 1e-2 m/s, contact: {dhat: 1e-4 m},\n"
    " materials: {a: {young: 1e6}},\n"
    " objects: {\n"
    "  ball: {generate: {sphere: {radius: 0.05, cells: 6}}, translate: [0, 0.0701, 0], velocity: [0, -%g, 0]},\n"
    "  board: {generate: {box: {size: [1, 0.02, 1], cells: [2, 1, 2]}}, translate: [0, 0.01, 0], obstacle: true}}}\n";

/* The ball is 0.2, 2 or 20 m of travel away from the other side of a board of 2 cm when the step begins. */
TEST(a_ball_of_10_100_and_1000_metres_a_second_comes_back_from_a_thin_board)
{
    for (double v = 10; v <= 1000; v *= 10) {
        world w;
        int newton = 0;
        world_scene(&w, BALL, v);
        for (int k = 0; k < 15; k++) {
            CHECK(!world_judged(&w, 1));
            newton += w.rep.newton;
            for (int32_t i = 0; i < w.model.nv; i++)
                if (w.model.body[i] == 0) CHECK(get(&w, "node/x")[3 * i + 1] > 0.02);
        }
        printf("# %g m/s: %d iterations, back with %.3g m/s from %.3g m\n", v, newton, mean(&w, "node/v", 1, 0),
               mean(&w, "node/x", 1, 0));
        CHECK(mean(&w, "node/v", 1, 0) > 0);
        CHECK(w.rep.contacts == 0);
        world_close(&w);
    }
}
