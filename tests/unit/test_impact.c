/* The impact of an elastic bar: the wave solution in one dimension.
 *
 * A bar of length L, section A and speed v that meets a rigid wall is stopped by a wave that runs to its free end and back:
 * the wall feels the force rho c A v for the time 2 L / c, c = sqrt(E / rho), and the bar leaves with -v and no energy lost
 * (Saint-Venant 1867; Goldsmith 1960, 3.1).  A bar at rest of the same kind in place of the wall feels half the force for as
 * long, takes the speed v, and leaves the other one at rest.  With Poisson's ratio 0 and sides much shorter than L this is
 * also the solution in three dimensions.  Mesh, step and dhat are refined together: the front of a wave is a jump, so an
 * error of order p in smooth motion is one of p / (p + 1) in the time integral of |F - exact|. */
#include "scene_world.h"

static const char *const SCHEME[LOW_SCHEMES] = { "implicit-euler", "implicit-newmark", "bdf2", "midpoint" };

static const double SIDE = 0.05, SPEED = 0.1, RHO = 1000, WAVE = 100;     /* m, m/s, kg/m^3, m/s; L = 1 m */

static const char *const WALL = "  wall: {half-space: {point: [0, 0, 0], normal: [1, 0, 0]}}}}\n";
static const char *const BAR =
    "{time: {step: %.17g, scheme: %s}, gravity: [0, 0, 0], tolerance: 1e-6 m/s, contact: {dhat: %.17g m},\n"
    " materials: {a: {young: 1e7, poisson: 0, model: %s}},\n"
    " objects: {bar: {generate: {box: {size: [1, 0.05, 0.05], cells: [%d, 1, 1]}}, translate: [%.17g, 0, 0],\n"
    "    velocity: [-0.1, 0, 0]},\n%s";

/* All values relative to the wave solution, 1 = exact; error 0. */
typedef struct impact {
    double impulse, force, duration, rebound;   /* force: the mean between 10 % and 90 % of the time; rebound: change of speed */
    double error;           /* integral of |F - exact| over that of exact */
    double energy;          /* after, over before */
} impact;

/* n cells along a bar; two: against a bar at rest */
static impact impact_of(int32_t scheme, const char *material, int n, int two)
{
    const double h = 1 / (n * WAVE), dhat = 4e-3 / n, end = 2 / WAVE, mass = RHO * SIDE * SIDE;
    const double F = RHO * WAVE * SIDE * SIDE * SPEED / (two ? 2 : 1);
    char other[256];
    world w;
    impact q = { 0 };
    double inside = 0;
    snprintf(other, sizeof other,
             "  other: {generate: {box: {size: [1, 0.05, 0.05], cells: [%d, 1, 1]}}, translate: [-0.5, 0, 0]}}}\n", n);
    world_scene(&w, BAR, h, SCHEME[scheme], dhat, material, n, 0.5 + dhat, two ? other : WALL);
    for (int k = 1; k <= 3 * n; k++) {
        CHECK(!(n <= 20 ? world_judged : world_run)(&w, 1));
        const double f = total(&w, "node/contact-force", 0, 0), t = k * h;
        q.impulse += h * f / (F * end);
        q.error += h * fabs(f - (t <= end ? F : 0)) / (F * end);
        if (t > 0.1 * end && t < 0.9 * end) q.force += f / F, inside++;
        if (f > 0) q.duration = t / end;
    }
    q.force /= inside;
    q.rebound = (mean(&w, "node/v", 0, 0) + SPEED) / (two ? SPEED : 2 * SPEED);
    q.energy = (w.rep.kinetic + w.rep.elastic) / (0.5 * mass * SPEED * SPEED);
    if (two) CHECK_NEAR(mean(&w, "node/v", 0, 1), -SPEED * q.rebound, 1e-3 * SPEED);
    printf("# %s, %s, %d cells: impulse %.4f, force %.4f, duration %.3f, rebound %.4f, error %.4f, energy %.3f\n", SCHEME[scheme],
           two ? "two bars" : "wall", n, q.impulse, q.force, q.duration, q.rebound, q.error, q.energy);
    world_close(&w);
    return q;
}

static void converges(int32_t scheme, const char *material, int two, int finest, double order)
{
    impact coarse = impact_of(scheme, material, 20, two);
    for (int n = 40; n <= finest; n *= 2) {
        const impact fine = impact_of(scheme, material, n, two);
        CHECK_NEAR(log2(coarse.error / fine.error), order, 0.12);
        CHECK(fabs(fine.rebound - 1) < 0.8 * fabs(coarse.rebound - 1));
        CHECK(fabs(fine.impulse - 1) < 0.8 * fabs(coarse.impulse - 1));
        CHECK(fine.energy > coarse.energy && fine.energy < 1);
        CHECK_NEAR(fine.duration, 1, 1.0 / n);
        coarse = fine;
    }
    CHECK_NEAR(coarse.force, 1, 1.0 / finest);
}

SLOW_TEST(a_bar_that_hits_a_wall_feels_the_force_of_the_wave_and_leaves_when_it_is_back)
{
    const int finest = check_runs(80, 160);
    converges(ABUT_IMPLICIT_EULER, "linear-corotated", 0, finest, 1 / 2.);
    converges(ABUT_BDF2, "neo-hookean", 0, finest, 2 / 3.);
}

TEST(a_bar_that_hits_an_equal_one_stops_and_the_other_takes_its_speed)
{
    const int finest = check_runs(40, 80);
    converges(ABUT_IMPLICIT_EULER, "neo-hookean", 1, finest, 1 / 2.);
    converges(ABUT_BDF2, "linear-corotated", 1, finest, 2 / 3.);
}

/* Without damping of its own the midpoint rule lets the last nodes rattle on the wall: the force is right in the mean. */
TEST(the_midpoint_rule_has_the_impulse_and_the_energy_of_the_wave)
{
    const int finest = check_runs(40, 80);
    impact coarse = impact_of(ABUT_MIDPOINT, "linear-corotated", 20, 0);
    for (int n = 40; n <= finest; n *= 2) {
        const impact fine = impact_of(ABUT_MIDPOINT, "linear-corotated", n, 0);
        CHECK(fabs(fine.rebound - 1) < 0.8 * fabs(coarse.rebound - 1));
        CHECK(1 - fine.energy < 0.8 * (1 - coarse.energy) && fine.energy < 1);
        CHECK_NEAR(fine.force, 1, 0.01);
        CHECK_NEAR(fine.duration, 1, 1.0 / n);
        coarse = fine;
    }
}
