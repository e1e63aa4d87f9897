/* Newton's method without a choice of linear solver: iterations where the factor of the elements would be dear. */
#include "scene_world.h"
#include "solve/direction.h"
#include "sparse/linear_solver.h"

/* A box of so many cells that bounces on the floor, in its first contact. */
static void open_box(world *w, int nx, int ny, int nz, const abut_linear_solver_ops *linear, double cg_tolerance)
{
    world_scene(w,
                "time: {step: 20 ms}\n"
                "gravity: [0, -9.81, 0]\n"
                "contact: {dhat: 1 mm}\n"
                "tolerance: 1e-4 m/s\n"
                "materials: {m: {density: 1000, young: 1e5, poisson: 0.4}}\n"
                "objects:\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
                "  a: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [%d, %d, %d]}}, translate: [0, 0.101, 0],\n"
                "      velocity: [0.1, -0.1, 0]}\n", nx, ny, nz);
    w->o.linear.solver = linear;
    w->o.linear.cg_tolerance = cg_tolerance;
    world_renew(w);
}

static double apart(const world *a, const world *b)
{
    const double *x = get(a, "node/x"), *y = get(b, "node/x");
    double worst = 0;
    for (int32_t i = 0; i < 3 * a->model.nv; i++) worst = fmax(worst, fabs(x[i] - y[i]));
    return worst;
}

SLOW_TEST(a_bulky_body_is_solved_by_iterations_and_ends_where_factors_end)
{
    world w, twin;
    open_box(&w, 18, 17, 18, NULL, 0);
    open_box(&twin, 18, 17, 18, &abut_linear_own, 0);
    CHECK(!world_judged(&w, 1) && !world_run(&twin, 1));
    CHECK(w.rep.planes > 100 && w.rep.cg_iterations > 0 && w.rep.factorisations == 0 && w.rep.iterations_given_up == 0);
    CHECK(twin.rep.factorisations > 0);
    printf("# %d and %d Newton iterations, %.2g of the tolerance apart\n", w.rep.newton, twin.rep.newton,
           apart(&w, &twin) / (w.model.h[0] * w.model.tolerance[0]));
    CHECK(apart(&w, &twin) <= 2 * w.model.h[0] * w.model.tolerance[0]);
    world_close(&w);
    world_close(&twin);
}

/* The motion of a body as a whole is in the coarse space, however stiff the body is. */
TEST(a_stiff_body_in_flight_takes_few_iterations)
{
    world w;
    world_scene(&w,
                "time: {step: 10 ms}\n"
                "gravity: [0, -9.81, 0]\n"
                "materials: {m: {density: 1000, young: 2e11, poisson: 0.4}}\n"
                "objects: {a: {generate: {box: {size: [1, 1, 1], cells: [18, 17, 18]}}}}\n");
    world_renew(&w);
    CHECK(!world_run(&w, 1));
    printf("# %d Newton iterations, %d of conjugate gradients\n", w.rep.newton, w.rep.cg_iterations);
    CHECK(w.rep.factorisations == 0 && w.rep.newton == 1 && w.rep.cg_iterations <= 10);
    for (int32_t i = 0; i < w.model.nv; i++) CHECK_NEAR(get(&w, "node/x")[3 * i + 1] - w.model.X[3 * i + 1], -9.81e-4, 1e-9);
    world_close(&w);
}

TEST(a_small_body_and_a_large_thin_one_are_solved_by_factors_to_the_same_bytes_as_with_the_name)
{
    static const int cells[2][3] = { { 8, 8, 8 }, { 90, 1, 30 } };
    for (int k = 0; k < 2; k++) {
        world w, twin;
        open_box(&w, cells[k][0], cells[k][1], cells[k][2], NULL, 0);
        open_box(&twin, cells[k][0], cells[k][1], cells[k][2], &abut_linear_own, 0);
        CHECK(!world_run(&w, 1) && !world_run(&twin, 1));
        CHECK(w.rep.factorisations > 0 && same_frames(&w.frame, &twin.frame));
        world_close(&w);
        world_close(&twin);
    }
}

/* A goal that no iterations reach: nothing is left of the right-hand side. */
SLOW_TEST(iterations_that_cost_more_than_the_factor_are_given_up_for_the_rest_of_the_step)
{
    world w, twin;
    open_box(&w, 18, 17, 18, NULL, 1e-300);
    open_box(&twin, 18, 17, 18, &abut_linear_own, 0);
    CHECK(!world_judged(&w, 1) && !world_run(&twin, 1));
    CHECK(w.rep.iterations_given_up == 1 && w.rep.factorisations > 0);
    CHECK(apart(&w, &twin) <= 2 * w.model.h[0] * w.model.tolerance[0]);
    CHECK(!world_run(&w, 1) && w.rep.iterations_given_up == 1);     /* the next step tries again */
    world_close(&w);
    world_close(&twin);
}

TEST(a_step_by_iterations_from_a_frame_is_that_of_a_process_that_made_the_frame)
{
    world w, fresh;
    open_box(&w, 18, 17, 18, NULL, 0);
    CHECK(!world_run(&w, 1));
    world_twin(&fresh, &w);
    CHECK(!abut_step_advance(&fresh.st, &w.frame, 0, &fresh.at, WORLD_WITH, &fresh.next, &fresh.rep, &fresh.err));
    CHECK(!world_run(&w, 1) && w.rep.cg_iterations > 0 && w.rep.factorisations == 0);
    CHECK(same_frames(&w.frame, &fresh.next));
    world_twin_close(&fresh);
    world_close(&w);
}

/* ---- L-BFGS on the Newton matrix, to a norm of the gradient ---- */

/* A bulky block held at one end, with nothing to touch. */
static void open_block(world *w, const abut_linear_solver_ops *linear, double norm)
{
    world_scene(w,
                "time: {step: 20 ms}\n"
                "gravity: [0, -9.81, 0]\n"
                "contact: off\n"
                "materials: {m: {density: 1000, young: 1e5, poisson: 0.4, model: fixed-corotated}}\n"
                "objects:\n"
                "  a: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [18, 17, 18]}}}\n"
                "motion: [{select: {object: a, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]\n");
    w->row.direction = &abut_direction_lbfgs_h;
    w->o.linear.solver = linear;
    w->o.search.stop = ABUT_STOP_CHARACTERISTIC;
    w->o.search.tolerance = norm;
    world_renew(w);
}

TEST(lbfgs_on_the_matrix_of_a_bulky_body_iterates_and_ends_where_factors_end)
{
    world w, twin;
    open_block(&w, NULL, 1e-8);
    open_block(&twin, &abut_linear_own, 1e-9);
    CHECK(!world_run(&w, 1) && !world_run(&twin, 1));
    printf("# %d and %d iterations, %d of conjugate gradients, %.2g m apart\n", w.rep.newton, twin.rep.newton,
           w.rep.cg_iterations, apart(&w, &twin));
    CHECK(w.rep.cg_iterations > 0 && w.rep.factorisations == 0 && w.rep.iterations_given_up == 0);
    CHECK(twin.rep.factorisations == 1 && twin.rep.cg_iterations == 0);
    CHECK(apart(&w, &twin) < 1e-6);
    world_close(&w);
    world_close(&twin);
}

TEST(lbfgs_that_needs_many_directions_makes_the_factor_once_and_a_restart_does_the_same)
{
    world w, fresh;
    open_block(&w, NULL, 1e-12);
    CHECK(!world_run(&w, 1));
    CHECK(w.rep.cg_iterations > 0 && w.rep.factorisations == 1 && w.rep.iterations_given_up == 1);
    world_twin(&fresh, &w);
    CHECK(!abut_step_advance(&fresh.st, &w.frame, 0, &fresh.at, WORLD_WITH, &fresh.next, &fresh.rep, &fresh.err));
    CHECK(!world_run(&w, 1) && w.rep.cg_iterations > 0);
    CHECK(same_frames(&w.frame, &fresh.next));
    world_twin_close(&fresh);
    world_close(&w);
}
