/* Contacts that are exactly aligned: parallel edges, corners on corners.  The barrier of an edge pair alone has no derivative
 * there; the mollifier takes the pair out, and others have the load by then (Li 2020, 4.4.1). */
#include "scene_world.h"

#include "energy/barrier.h"

static const char *const EDGES =
    "{gravity: [0, 0, 0], contact: {dhat: 2 mm},\n"
    " objects: {\n"
    "  a: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}}},\n"
    "  b: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}}, translate: [0.201, 0.201, %g]}}}\n";

/* Barrier energy with box b turned by an angle about a skew axis through the middle between the edges; *slope its
 * derivative as the gradient has it, g[3 nv]. */
static double turned(world *w, double angle, double *slope, double *g)
{
    static const double axis[3] = { 0.8, 0.6, 0 }, mid[3] = { 0.1005, 0.1005, 0.02 };
    abut_search *s = &w->st.solver;
    const double c = cos(angle), q = sin(angle);
    double *d = calloc(3 * (size_t)w->model.nv, sizeof *d);
    for (int32_t i = 0; i < w->model.nv; i++) {
        const double *X = w->model.X + 3 * i;
        const double r[3] = { X[0] - mid[0], X[1] - mid[1], X[2] - mid[2] };
        const double along = axis[0] * r[0] + axis[1] * r[1] + axis[2] * r[2];
        for (int k = 0; k < 3; k++) {
            const double across = axis[(k + 1) % 3] * r[(k + 2) % 3] - axis[(k + 2) % 3] * r[(k + 1) % 3];
            const int moves = w->model.body[i] == 1;
            s->here.x[3 * i + k] = moves ? mid[k] + c * r[k] + q * across + (1 - c) * along * axis[k] : X[k];
            d[3 * i + k] = moves ? -q * r[k] + c * across + q * along * axis[k] : 0;
        }
    }
    abut_barrier_state_of(&s->prob.terms)->kappa = 1e8;
    abut_energy e = { 0 };
    CHECK(!abut_search_contacts(s, &w->rep, &w->err));
    const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
    CHECK(!abut_objective_energy(&s->prob, &at, &e, &s->scratch, &w->err));
    CHECK(!abut_objective_gradient(&s->prob, &at, 1 << ABUT_TERM_CONTACT, g, &s->scratch, &w->err));
    *slope = 0;
    for (int32_t i = 0; i < 3 * w->model.nv; i++) *slope += g[i] * d[i];
    free(d);
    return e.e[abut_terms_number(&s->prob.terms, "barrier")];
}

static double furthest(const double *a, const double *b, int32_t n)
{
    double big = 0;
    for (int32_t i = 0; i < n; i++) big = fmax(big, fabs(a[i] - b[i]));
    return big;
}

TEST(energy_and_every_force_go_through_parallel_edges_without_a_jump)
{
    for (int shifted = 0; shifted < 2; shifted++) {
        world w;
        world_scene(&w, EDGES, shifted ? 0.07 : 0.);
        CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
        const int32_t n = 3 * w.model.nv;
        double *g0 = calloc((size_t)n, sizeof *g0), *g = calloc((size_t)n, sizeof *g), *zero = calloc((size_t)n, sizeof *g);
        double slope0, slope, a, b;
        const double e0 = turned(&w, 0, &slope0, g0);
        CHECK(w.st.solver.here.pairs.n > w.st.solver.here.pairs.n_plain);     /* mollified pairs are among the contacts */
        CHECK(e0 > 0);
        /* how fast they change, from an angle where nothing is nearly parallel to rounding; the curve bends by less than 3 */
        const double far = 1e-4, de = 3 * fabs(turned(&w, far, &slope, g) - e0) / far + 3 * fabs(slope0);
        const double rate = 3 * furthest(g, g0, n) / far, size = furthest(g0, zero, n),
                     slope_rate = 3 * fabs(slope - slope0) / far;
        for (double t = 1e-4; t > 1e-15; t /= 10)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double e = turned(&w, sign * t, &slope, g);
                CHECK(isfinite(e) && fabs(e - e0) <= de * t + 1e-13 * e0);
                CHECK(furthest(g, g0, n) <= rate * t + 1e-7 * size);
                CHECK_NEAR(slope, slope0, slope_rate * t + 1e-9 * size);
                const double step = 1e-7;
                const double fd = (turned(&w, sign * t + step, &a, g) - turned(&w, sign * t - step, &b, g)) / (2 * step);
                CHECK_NEAR(fd, slope, 1e-6 * slope_rate + 1e-14 * e0 / step);
            }
        printf("# %s: E %.6g, dE/dangle %.3g, largest force %.3g (kg m)\n", shifted ? "shifted" : "side by side", e0, slope0,
               size);
        free(g0);
        free(g);
        free(zero);
        world_close(&w);
    }
}

/* ---- three cubes, corner on corner, edge on edge ---- */

static const char *const TOWER =
    "{time: {step: 0.02}, tolerance: 1e-5 m/s, contact: {dhat: 1e-3 m, kappa-scale: 4, friction: {mu: 0.3, eps_v: 1e-4 m/s}},\n"
    " materials: {a: {young: 1e6, poisson: 0.3}},\n"
    " objects: {\n"
    "  low: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}, translate: [0, 0.1009, 0]},\n"
    "  mid: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}, rotate: {axis: [0, 1, 0], angle: %g deg},\n"
    "    translate: [0, 0.3018, 0]},\n"
    "  top: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}, rotate: {axis: [0, 1, 0], angle: %g deg},\n"
    "    translate: [0, 0.5027, 0]},\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}}}\n";

/* Newton iterations of 60 steps; *drift: the furthest that a cube went sideways (the tets lean, so they do when they bounce) */
static int tower(double angle, double *drift)
{
    world w;
    int newton = 0;
    *drift = 0;
    world_scene(&w, TOWER, angle, -angle);
    for (int k = 0; k < 60; k++) {
        CHECK(!world_judged(&w, 1));
        newton += w.rep.newton;
    }
    for (int32_t i = 0; i < 3 * w.model.no; i++) {
        if (i % 3 == 1) continue;
        double X = 0, n = 0;
        for (int32_t j = 0; j < w.model.nv; j++)
            if (w.model.body[j] == i / 3) X += w.model.X[3 * j + i % 3], n++;
        *drift = fmax(*drift, fabs(mean(&w, "node/x", i % 3, i / 3) - X / n));
    }
    for (int32_t o = 0; o < 3; o++) {
        const double weight = 9.81 * mass_of(&w, o);
        /* normal forces; friction holds the rest where edges that cross under a small angle meet at a slant */
        CHECK_NEAR(total(&w, "node/contact-force", 1, o), weight, 0.02 * weight);
        for (int k = 0; k < 3; k++) CHECK(fabs(mean(&w, "node/v", k, o)) < 2e-5);
    }
    printf("# turned by %g degrees: %d Newton iterations, sideways drift %.2g m, smallest gap %.3g m\n", angle, newton, *drift,
           w.rep.min_gap);
    CHECK(*drift < 1e-3 * 0.2 * 1.5);
    CHECK(w.rep.contacts > 0 && w.rep.min_gap > 1e-5);
    world_close(&w);
    return newton;
}

TEST(an_aligned_tower_stands_like_one_that_is_slightly_turned)
{
    static const double angle[] = { 1e-9, 1e-6, 1e-3, 0.3, 3 };
    double drift0, drift;
    const int aligned = tower(0, &drift0);
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        const int newton = tower(angle[i], &drift);
        CHECK(aligned < 1.5 * newton && newton < 1.5 * aligned);
        CHECK_NEAR(drift, drift0, 0.2 * drift0);
    }
}
