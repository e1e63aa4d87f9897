/* Steps whose directions look ahead to contacts, beside twins from the same frames whose directions do not. */
#include "world.h"

#include "check.h"

enum { STEPS = 7 };

static void add_plate(fixture *f) { fixture_box(f, 0, 4e-4, 0, 0.4, 0.05, 0.4, 7, 1, 5, 0); }

/* A block that is turned twice; mirror -1: its lowest corner is its first node. */
static void add_block(fixture *f, double mirror)
{
    const int32_t first = f->nv;
    fixture_box(f, 0.1, 0.06, 0.1, 0.2, 0.1, 0.2, 5, 3, 5, 0);
    for (int32_t i = first; i < f->nv; i++) {
        double *X = f->X + 3 * i, x = X[0] - 0.19, y = X[1] - 0.06, z = X[2] - 0.21, t = 0.96 * y - mirror * 0.28 * x;
        X[0] = 0.19 + 0.96 * x + mirror * 0.28 * y;
        X[1] = 0.13 + 0.995 * t + 0.0999 * z;
        X[2] = 0.21 + 0.995 * z - 0.0999 * t;
    }
}

/* Makes a scene in which a plate will rest on a floor. */
static fixture *floor_scene(void)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->h = 0.02;
    f->tol = 1e-5;
    f->young = 2e4;
    f->stiffen_below = 0.1 * f->dhat;   /* softer barriers leave a step several minima */
    return f;
}

/* A soft block falls on a corner, onto a plate that rests on a floor. */
static fixture *impact(void)
{
    fixture *f = floor_scene();
    add_plate(f);
    add_block(f, 1);
    return f;
}

TEST(directions_that_look_ahead_reach_the_same_ends_in_fewer_iterations)
{
    double worst = 0;
    fixture *f = impact();
    world w;
    world_open(&w, f, NULL);
    int newton = 0, blind = 0, alike = 0, contacts = 0;
    for (int k = 0; k < STEPS; k++) {
        world twin;
        world_twin(&twin, &w);
        world_without(&twin, ABUT_WITHOUT_LOOK_AHEAD);
        CHECK(!abut_step_advance(&twin.st, &w.frame, 0, &twin.at, 0, &twin.next, &twin.rep, &twin.err));
        CHECK(!world_run(&w, 1));
        newton += w.rep.newton, blind += twin.rep.newton, contacts += w.rep.contacts + w.rep.planes;
        CHECK(w.rep.residual <= f->tol && twin.rep.residual <= f->tol);
        if (w.rep.kappa == twin.rep.kappa) {    /* the same objective */
            const double *x = get(&w, "node/x"), *y = abut_arrays_find(&twin.next, "node/x")->data;
            for (int32_t i = 0; i < 3 * w.model.nv; i++) worst = fmax(worst, fabs(x[i] - y[i]));
            alike++;
        }
        world_twin_close(&twin);
    }
    printf("# %d iterations, %d without looking ahead; %d of %d ends comparable, %.2g of the tolerance apart\n", newton, blind,
           alike, STEPS, worst / (f->h * f->tol));
    CHECK(contacts > 100 && alike >= STEPS - 2);
    CHECK(worst <= f->h * f->tol);
    CHECK(newton < 0.85 * blind);
    world_close(&w);
}

/* Node 0 is the corner that meets the plate, and a node in the middle of the numbers. */
TEST(the_first_node_is_met_as_any_other)
{
    int newton[2] = { 0, 0 };
    for (int last = 0; last < 2; last++) {
        fixture *f = floor_scene();
        if (last) add_plate(f);
        add_block(f, -1);
        if (!last) add_plate(f);
        world w;
        world_open(&w, f, NULL);
        for (int k = 0; k < STEPS; k++) {
            CHECK(!world_run(&w, 1));
            newton[last] += w.rep.newton;
        }
        CHECK(w.rep.contacts > 0);
        world_close(&w);
    }
    printf("# %d iterations, %d with the block behind the plate\n", newton[0], newton[1]);
    CHECK(newton[0] == newton[1]);
}

/* The direction itself, at the first impact. */
TEST(a_direction_that_looks_ahead_descends_and_is_bounded_later)
{
    fixture *f = impact();
    int seen = 0;
    world w;
    world_open(&w, f, NULL);
    for (int k = 0; k < STEPS; k++) {
        world twin;
        world_twin(&twin, &w);
        world_without(&twin, ABUT_WITHOUT_LOOK_AHEAD);
        CHECK(!abut_step_advance(&twin.st, &w.frame, 0, &twin.at, 0, &twin.next, &twin.rep, &twin.err));
        CHECK(!world_run(&w, 1));
        const abut_iteration *a = abut_report_row(&w.rep, 0), *b = abut_report_row(&twin.rep, 0);
        CHECK(a->residual == b->residual);          /* Newton's direction and its report are equal */
        CHECK(a->decrease > 0 && b->decrease > 0);
        if (b->bound < 0.9 && abut_limit_stencil(b->limit) >= 0) {
            CHECK(a->bound > b->bound);
            seen += a->decrease > 1.2 * b->decrease;
        }
        world_twin_close(&twin);
    }
    CHECK(seen > 0);
    world_close(&w);
}
