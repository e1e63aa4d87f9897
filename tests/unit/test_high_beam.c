/* Bending and locking: a clamped beam of 48 tets (1 x 8 x 1 m) under a body force across it, as elements of each order see it.
 * Expected: an independent computation with the same 48 tets and more quadrature points; 384 tets of order 3 bend by 1.1990 m. */
#include "check.h"
#include "scene_world.h"

static double tip(int order, double poisson)
{
    world w;
    world_scene(&w, "{time: {step: 0.1 s, scheme: quasi-static}, gravity: [-2, 0, 0], tolerance: 1e-7 m/s,\n"
                " contact: {dhat: 1 mm}, materials: {m: {model: neo-hookean, density: 1000, young: 1e7, poisson: %g}},\n"
                " objects: {beam: {generate: {box: {size: [1, 8, 1], cells: [1, 8, 1]}}, order: %d}},\n"
                " motion: [{select: {object: beam, relative-box: [[0, 0, 0], [1, 0.001, 1]]}, fix: true}]}\n", poisson, order);
    CHECK(w.model.nt == 48);
    CHECK(!world_judged(&w, 1));
    double sum = 0;
    int n = 0;
    for (int32_t i = 0; i < w.model.nv; i++) {
        const double *X = w.model.X + 3 * i;
        if (fabs(X[1] - 4) > 1e-9 || fabs(fabs(X[0]) - 0.5) > 1e-9 || fabs(fabs(X[2]) - 0.5) > 1e-9) continue;
        sum += get(&w, "node/x")[3 * i] - X[0], n++;
    }
    CHECK(n == 4);
    world_close(&w);
    return sum / n;
}

TEST(t9_a_beam_of_each_order_bends_as_far_as_its_elements_let_it)
{
    const double want[4] = { -0.2130, -1.1353, -1.1859, -1.1972 };
    for (int k = 1; k <= 4; k++) CHECK_NEAR(tip(k, 0.4), want[k - 1], 1.5e-4);
}

/* Nearly incompressible, 48 tets of order 1 have no displacement that preserves volume; order 2 has some, order 3 enough: with
 * order 4 the beam loses 3 % of its deflection. */
TEST(t9_order_1_locks_as_poissons_ratio_nears_one_half_and_higher_orders_do_not)
{
    const double least[4] = { 0, 0.08, 0.82, 0.94 }, most[4] = { 0, 0.12, 0.86, 0.97 };
    for (int k = 1; k <= 3; k++) {
        const double left = tip(k, 0.499) / tip(k, 0.3);
        CHECK(left > least[k] && left < most[k]);
    }
}
