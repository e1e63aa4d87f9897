/* Equilibria: closed forms, patch test, contact forces, friction, and that neither the time step nor the way matters. */
#include "base/rng.h"
#include "world.h"

#include <math.h>

static fixture *quasi_static(double h)
{
    fixture *f = fixture_new();
    f->scheme = ABUT_QUASI_STATIC;
    f->h = h;
    f->tol = 1e-9 / h;
    return f;
}

/* a bar along y, held at its upper end y = 1 */
static void hang(fixture *f, int cells)
{
    fixture_box(f, 0, 0, 0, 0.1, 1, 0.1, 1, cells, 1, 0);
    fixture_move(f, 0, 1, 1 - 1e-9, 2, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
}

TEST(a_hanging_bar_follows_the_closed_form)
{
    /* u(s) = rho g (L s - s^2 / 2) / E at the distance s below the support; Poisson's ratio 0, strain 1e-5 */
    fixture *f = quasi_static(1);
    f->poisson = 0;
    f->young = 1e9;
    f->tol = 1e-13;
    hang(f, 10);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 1));
    for (int level = 0; level <= 10; level++) {
        const double s = 1 - level / 10.0, u = 1000 * 9.81 / 1e9 * (s - s * s / 2);
        double mean_y = 0;
        for (int32_t i = 0; i < w.model.nv; i++)
            if (fabs(w.model.X[3 * i + 1] - level / 10.0) < 1e-9)
                mean_y += (get(&w, "node/x")[3 * i + 1] - w.model.X[3 * i + 1]) / 4;
        CHECK_NEAR(mean_y, -u, 1e-3 * u + 1e-12);
    }
    world_close(&w);
}

TEST(uniform_stretch_passes_the_patch_test)
{
    /* Without Poisson's effect a bar pulled to 1.5 times its length is stretched uniformly in every mesh. */
    fixture *f = quasi_static(1);
    f->poisson = 0;
    f->gravity[1] = 0;
    fixture_box(f, 0, 0, 0, 0.3, 0.3, 0.3, 3, 3, 3, 0);
    abut_rng rng = { 5 };
    for (int32_t i = 0; i < f->nv; i++)
        for (int k = 0; k < 3; k++) {
            const double *X = f->X + 3 * i;
            const int inner = fabs(X[0] - 0.15) < 0.1 && fabs(X[1] - 0.15) < 0.1 && fabs(X[2] - 0.15) < 0.1;
            if (inner) f->X[3 * i + k] += abut_rng_real(&rng, -0.02, 0.02);
        }
    fixture_move(f, 0, 0, -1e-9, 1e-9, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 0.3 - 1e-9, 0.4, (double[]){ 0.15, 0, 0 }, (double[]){ 0, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 1));
    for (int32_t i = 0; i < w.model.nv; i++)
        for (int k = 0; k < 3; k++) CHECK_NEAR(get(&w, "node/x")[3 * i + k], (k ? 1 : 1.5) * w.model.X[3 * i + k], 1e-9);
    world_close(&w);
}

static void block_over_floor(fixture *f, double gap)
{
    f->plane = 1;
    fixture_box(f, 0, gap, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
}

static double lift(const world *w)
{
    double sum = 0;
    for (int32_t i = 0; i < w->model.nv; i++) sum += get(w, "node/contact-force")[3 * i + 1];
    return sum;
}

TEST(a_block_rests_on_the_floor_with_its_weight_wherever_it_starts)
{
    for (double gap = 5e-4; gap < 100; gap *= 100) {
        fixture *f = quasi_static(1);
        block_over_floor(f, gap);
        world w;
        world_open(&w, f, NULL);
        CHECK(!world_run(&w, 1));
        CHECK_NEAR(lift(&w), 8 * 9.81, 8 * 9.81 * 1e-5);
        CHECK(w.rep.min_gap > 0 && w.rep.min_gap < f->dhat);
        CHECK_NEAR(mean(&w, "node/v", 1, 0), 0, 0);
        world_close(&w);
    }
}

TEST(the_time_step_does_not_matter_to_a_static_load)
{
    world a, b;
    fixture *f = quasi_static(0.01);
    block_over_floor(f, 5e-4);
    world_open(&a, f, NULL);
    CHECK(!world_run(&a, 1));
    for (double h = 1; h <= 64; h *= 64) {
        f = quasi_static(h);
        block_over_floor(f, 5e-4);
        world_open(&b, f, NULL);
        CHECK(!world_run(&b, 1));
        for (int32_t i = 0; i < 3 * b.model.nv; i++) {
            CHECK_NEAR(get(&a, "node/x")[i], get(&b, "node/x")[i], 1e-9);
            CHECK_NEAR(get(&a, "node/contact-force")[i], get(&b, "node/contact-force")[i], 1e-3);
        }
        world_close(&b);
    }
    /* and the next steps, under the same load, find nothing to do */
    const double y = mean(&a, "node/x", 1, 0);
    CHECK(!world_run(&a, 3));
    CHECK(a.rep.newton == 1);
    CHECK_NEAR(mean(&a, "node/x", 1, 0), y, 1e-9);
    world_close(&a);
}

TEST(the_equilibrium_is_where_a_damped_body_comes_to_rest)
{
    world still, moving;
    fixture *f = quasi_static(1);
    f->young = 5e4;         /* a strain of 0.2: far from linear */
    hang(f, 6);
    world_open(&still, f, NULL);
    CHECK(!world_run(&still, 1));

    f = fixture_new();
    f->h = 0.05;
    f->tol = 1e-8;
    f->young = 5e4;
    f->damp_mass = 5;
    hang(f, 6);
    world_open(&moving, f, NULL);
    CHECK(!world_run(&moving, 150));
    for (int32_t i = 0; i < 3 * still.model.nv; i++) CHECK_NEAR(get(&still, "node/x")[i], get(&moving, "node/x")[i], 1e-7);
    CHECK(mean(&still, "node/x", 1, 0) < 0.45);
    world_close(&still);
    world_close(&moving);
}

TEST(with_contact_too)
{
    world still, moving;
    fixture *f = quasi_static(1);
    f->young = 2e4;
    block_over_floor(f, 0.01);
    world_open(&still, f, NULL);
    CHECK(!world_run(&still, 1));
    f = fixture_new();
    f->tol = 1e-7;
    f->young = 2e4;
    f->damp_stiffness = 0.02;
    block_over_floor(f, 0.01);
    world_open(&moving, f, NULL);
    CHECK(!world_run(&moving, 150));
    /* their barriers are not equally stiff, so their gaps differ, by less than dhat */
    for (int32_t i = 0; i < 3 * still.model.nv; i++) CHECK_NEAR(get(&still, "node/x")[i], get(&moving, "node/x")[i], 1e-3);
    CHECK_NEAR(lift(&still), lift(&moving), 0.01);
    world_close(&still);
    world_close(&moving);
}

static void twist(world *w, double h)
{
    fixture *f = quasi_static(h);
    f->gravity[1] = 0;
    fixture_box(f, 0, -0.05, -0.05, 0.5, 0.1, 0.1, 5, 1, 1, 0);
    fixture_move(f, 0, 0, -1e-9, 1e-9, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 0.5 - 1e-9, 1, (double[]){ 0, 0, 0 }, (double[]){ 2, 0, 0 });
    world_open(w, f, NULL);
}

TEST(one_large_step_ends_where_many_small_ones_do_and_handles_are_in_their_places)
{
    world one, many;
    twist(&one, 1);
    twist(&many, 0.125);
    CHECK(!world_run(&one, 1));
    CHECK(!world_run(&many, 8));
    CHECK(one.rep.eta == 1);
    for (int32_t i = 0; i < one.model.nv; i++) {
        const double *X = one.model.X + 3 * i, *x = get(&one, "node/x") + 3 * i;
        for (int k = 0; k < 3; k++) CHECK_NEAR(x[k], get(&many, "node/x")[3 * i + k], 1e-7);
        if (X[0] < 0.4999) continue;
        CHECK_NEAR(x[1], cos(2) * X[1] - sin(2) * X[2], 1e-12);
        CHECK_NEAR(x[2], sin(2) * X[1] + cos(2) * X[2], 1e-12);
    }
    world_close(&one);
    world_close(&many);
}

TEST(a_body_that_nothing_holds_is_named)
{
    fixture *f = quasi_static(1);
    hang(f, 2);
    fixture_box(f, 1, 0, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!abut_arrays_put_text(&w.model_set, "object/name", "held\nloose\n", &w.err));
    CHECK(!abut_model_view(&w.model_set, &w.model, &w.err));
    w.o.names = &w.model_set;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_FLOATING && w.st.solver.failed.iterations < 200);
    CHECK(strstr(w.err.msg, "'loose' floats"));
    world_close(&w);
}

TEST(without_a_load_a_free_body_stays_where_it_is)
{
    fixture *f = quasi_static(1);
    f->gravity[1] = 0;
    fixture_box(f, 1, 2, 3, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 2));
    for (int32_t i = 0; i < 3 * w.model.nv; i++) CHECK_NEAR(get(&w, "node/x")[i], w.model.X[i], 1e-12);
    world_close(&w);
}

TEST(damping_by_mass_lets_a_free_body_sink_at_its_final_speed)
{
    fixture *f = quasi_static(0.5);
    f->damp_mass = 20;
    fixture_box(f, 0, 2, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 3));
    CHECK_NEAR(mean(&w, "node/x", 1, 0), 2.1 - 3 * 0.5 * 9.81 / 20, 1e-7);
    world_close(&w);
}

/* Sticking friction on a slope of tangent 0.5: mu N f1(u / w) = N / 2, so u = w (1 - sqrt(1 - 0.5 / mu)), w = eps_v h. */
static void slope(world *w, double mu, double h)
{
    fixture *f = quasi_static(h);
    f->plane = 1;
    f->mu = mu;
    f->eps_v = 1e-5;
    f->young = 1e8;
    f->lags = 50;
    f->gravity[0] = 9.81 / sqrt(5), f->gravity[1] = -2 * 9.81 / sqrt(5);
    fixture_box(f, 0, 8.7e-4, 0, 0.4, 0.1, 0.4, 1, 1, 1, 0);
    world_open(w, f, NULL);
}

TEST(friction_holds_a_block_on_a_slope_or_it_floats_away)
{
    for (double h = 0.5; h <= 4; h *= 8) {
        world w;
        slope(&w, 0.6, h);
        CHECK(!world_run(&w, 1));
        double below = 0;
        int n = 0;
        for (int32_t i = 0; i < w.model.nv; i++)
            if (w.model.X[3 * i + 1] < 0.01) below += get(&w, "node/x")[3 * i] - w.model.X[3 * i], n++;
        const double slide = 1e-5 * h * (1 - sqrt(1 - 0.5 / 0.6));
        CHECK_NEAR(below / n, slide, 0.05 * slide);
        world_close(&w);
    }
    world w;
    slope(&w, 0.4, 1);
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_FLOATING);
    world_close(&w);
}

TEST(the_gradient_without_inertia_is_the_derivative)
{
    fixture *f = quasi_static(1);
    block_over_floor(f, 5e-4);
    world w;
    world_open(&w, f, NULL);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    double x0[3 * 27], g[3 * 27], d[3 * 27], slope_g = 0, e[2];
    abut_rng rng = { 11 };
    memcpy(x0, s->here.x, sizeof x0);
    const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
    CHECK(!abut_objective_gradient(&s->prob, &at, ABUT_KINDS_ALL, g, &s->scratch, &w.err));
    for (int i = 0; i < 81; i++) d[i] = abut_rng_real(&rng, -1, 1), slope_g += g[i] * d[i];
    for (int k = 0; k < 2; k++) {
        abut_energy part;
        for (int i = 0; i < 81; i++) s->here.x[i] = x0[i] + (k ? 1e-7 : -1e-7) * d[i];
        CHECK(!abut_search_contacts(s, &w.rep, &w.err));
        const abut_at there = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
        CHECK(!abut_objective_energy(&s->prob, &there, &part, &s->scratch, &w.err));
        e[k] = part.sum;
    }
    CHECK_NEAR((e[1] - e[0]) / 2e-7, slope_g, 1e-5 * fabs(slope_g));
    world_close(&w);
}

TEST(a_restart_gives_the_same_bytes)
{
    world a, b;
    twist(&a, 0.125);
    CHECK(!world_run(&a, 3));
    twist(&b, 0.125);
    CHECK(!world_run(&b, 1));
    world_forget(&b);
    CHECK(!world_run(&b, 2));
    CHECK(same_frames(&a.frame, &b.frame));
    world_close(&a);
    world_close(&b);
}
