/* The time step as a whole: closed forms, conservation, restart, and what must never happen. */
#include "base/par.h"
#include "base/rng.h"
#include "energy/friction.h"
#include "energy/barrier.h"
#include "energy/term.h"
#include "world.h"

extern const abut_term_ops abut_term_barrier;

TEST(free_fall_follows_implicit_euler)
{
    fixture *f = fixture_new();
    fixture_box(f, 0, 5, 0, 1, 1, 1, 2, 1, 1, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 10));
    CHECK_NEAR(mean(&w, "node/x", 1, 0) - 5.5, -9.81 * 0.01 * 0.01 * 55, 1e-12);
    CHECK_NEAR(mean(&w, "node/v", 1, 0), -9.81 * 0.1, 1e-11);
    CHECK(w.at.step == 10);
    CHECK_NEAR(w.at.time, 0.1, 1e-16);
    world_close(&w);
}

TEST(a_block_at_rest_weighs_its_weight)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->tol = 1e-7;
    f->h = 0.05;
    fixture_box(f, 0, 5e-4, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 120));
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    double force = 0;
    for (size_t i = 0; i < s->here.pairs.n_plane; i++)
        force += abut_barrier_force(&s->prob.cm, &s->here.pairs, s->here.y, get(&w, "contact/kappa")[0], f->h,
                                    s->here.pairs.n + i);
    CHECK_NEAR(force, 9.81 * 8, 9.81 * 8 * 1e-3);
    CHECK_NEAR(mean(&w, "node/v", 1, 0), 0, 1e-5);
    world_close(&w);
}

TEST(colliding_boxes_keep_their_momentum_and_never_touch)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    f->tol = 1e-6;
    fixture_box(f, 0, 0, 0, 0.3, 0.3, 0.3, 2, 2, 2, 0);
    fixture_box(f, 0.4, 0.05, 0.1, 0.3, 0.3, 0.3, 2, 2, 2, 0);
    const double v0[6] = { 2, 0, 0, -1, 0.1, 0 };
    world w;
    world_open(&w, f, v0);
    const double m = 27, p0[3] = { m * (2 - 1), m * 0.1, 0 };
    int touched = 0;
    for (int k = 0; k < 20; k++) {
        CHECK(!world_run(&w, 1));
        touched |= w.rep.contacts > 0;
        for (int d = 0; d < 3; d++) CHECK_NEAR(w.rep.momentum[d], p0[d], 54 * 1e-6 * (k + 1) + 1e-9);
    }
    CHECK(touched);
    CHECK(mean(&w, "node/v", 0, 0) < mean(&w, "node/v", 0, 1));
    world_close(&w);
}

static double plain_slope(double mu)
{
    fixture *f = fixture_new();
    f->lags = 30;
    return slope_speed(f, mu, 20);
}

TEST(a_block_sticks_above_the_critical_friction_and_slides_below)
{
    const double g = 9.81 * 2 / sqrt(5);
    CHECK(fabs(plain_slope(0.55)) < 2e-5);
    CHECK_NEAR(plain_slope(0.40), g * 0.1 * 0.2, g * 0.1 * 0.2 * 0.02);
}

/* A frame is a checkpoint, friction and moving obstacle included. */
static void pile(world *w)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->mu = 0.3;
    f->lags = 3;
    f->young = 3e4;
    fixture_box(f, 0, 2e-3, 0, 0.3, 0.2, 0.3, 2, 2, 2, 0);
    fixture_box(f, 0.1, 0.21, 0.05, 0.3, 0.2, 0.3, 2, 2, 2, 0);
    const int32_t wall = fixture_box(f, -0.12, 1e-3, -0.1, 0.1, 0.5, 0.5, 1, 1, 1, 1);
    fixture_move(f, wall, 0, -1, 1, (double[]){ 0.8, 0, 0 }, (double[]){ 0, 0, 0 });
    world_open(w, f, NULL);
}

TEST(a_restart_gives_the_same_bytes)
{
    world a, b;
    pile(&a);
    CHECK(!world_run(&a, 12));
    pile(&b);
    CHECK(!world_run(&b, 5));
    world_forget(&b);
    CHECK(!world_run(&b, 7));
    CHECK(same_frames(&a.frame, &b.frame));
    CHECK(a.rep.contacts > 0);
    world_close(&a);
    world_close(&b);
}

TEST(the_limit_of_a_step_is_the_tightest_of_its_iterations)
{
    world w;
    int bounded = 0;
    pile(&w);
    for (int step = 0; step < 14; step++) {
        CHECK(!world_run(&w, 1));
        int tightest = -1;
        for (int k = 0; k < w.rep.newton; k++)
            if (w.rep.it[k].bound < (tightest < 0 ? 1 : w.rep.it[tightest].bound)) tightest = k;
        bounded += tightest >= 0;
        CHECK((w.rep.limit_iteration > 0) == (tightest >= 0));
        if (tightest < 0) continue;
        CHECK(w.rep.limit_iteration == tightest + 1 && w.rep.limit.alpha == w.rep.it[tightest].bound);
    }
    CHECK(bounded > 2);
    world_close(&w);
}

TEST(the_thread_count_changes_no_byte)
{
    world a, b;
    const int before = abut_threads();
    abut_threads_set(1);
    pile(&a);
    CHECK(!world_run(&a, 8));
    for (int n = 2; n <= 7; n += 5) {
        abut_threads_set(n);
        pile(&b);
        CHECK(!world_run(&b, 8));
        CHECK(same_frames(&a.frame, &b.frame));
        world_close(&b);
    }
    abut_threads_set(before);
    world_close(&a);
}

TEST(passes_in_separate_processes_give_the_same_bytes)
{
    world a, b;
    pile(&a);
    CHECK(!world_run(&a, 6));
    pile(&b);
    for (int k = 0; k < 6; k++) {
        abut_instant at = b.at;
        int pending = 0;
        for (;;) { /* step --one-pass | friction-lag, each starting from nothing but the frame */
            world_forget(&b);
            CHECK(!(pending ? abut_step_resume : abut_step_begin)(&b.st, &b.frame, at, &b.rep, &b.err));
            CHECK(!abut_step_solve(&b.st, &b.rep, &b.err));
            CHECK(!abut_step_suspend(&b.st, &b.frame, &b.next, &b.err));
            world_forget(&b);
            CHECK(!abut_step_resume(&b.st, &b.next, at, &b.rep, &b.err));
            CHECK(!abut_step_refresh(&b.st, 1, &b.rep, &b.err));
            int settled = 0;
            CHECK(!abut_step_settled(&b.st, &b.rep, b.model.lags[0], b.model.tolerance[0], &settled, &b.err));
            pending = !settled;
            CHECK(!(pending ? abut_step_suspend(&b.st, &b.next, &b.frame, &b.err)
                            : abut_step_commit(&b.st, &b.next, WORLD_WITH, &b.frame, &b.at, &b.rep, &b.err)));
            if (!pending) break;
        }
    }
    CHECK(same_frames(&a.frame, &b.frame));
    world_close(&a);
    world_close(&b);
}

TEST(a_pending_frame_that_lacks_what_the_step_needs_is_refused_by_name)
{
    static const char *const needed[] = { "step/x0", "step/pass", "contact/kappa" };
    world w;
    pile(&w);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err) && !abut_step_solve(&w.st, &w.rep, &w.err));
    for (int k = 0; k < 6; k++) {
        w.err = (abut_err){ 0 };
        CHECK(!abut_step_suspend(&w.st, &w.frame, &w.next, &w.err));
        const char *name = k < 3 ? needed[k] : "step/penalty";
        if (k < 3) abut_arrays_remove(&w.next, name);
        /* half of what belongs to an augmented Lagrangian; an integer for a real number; rows that are missing */
        if (k == 3) CHECK(!abut_arrays_put_f64(&w.next, name, 1e6, "", &w.err));
        if (k == 4) CHECK(!abut_arrays_put_i32(&w.next, name, 1, &w.err));
        const int64_t rows = w.model.nv - (k == 5);
        if (k > 3) CHECK(abut_arrays_put_rows(&w.next, "step/multiplier", ABUT_F64, rows, 3, "kg^(1/2) m", &w.err) != NULL);
        if (k == 5) CHECK(!abut_arrays_put_f64(&w.next, name, 1e6, "", &w.err));
        CHECK(abut_step_resume(&w.st, &w.next, w.at, &w.rep, &w.err) == ABUT_E_FORMAT);
        CHECK(strstr(w.err.msg, k == 5 ? "step/multiplier" : name) && strstr(w.err.msg, "frame 0"));
    }
    world_close(&w);
}

TEST(the_way_of_a_pending_frame_is_proven_before_a_step_goes_on)
{
    static const char *const said[] = { "bodies meet on the last straight line", "bodies meet on the straight line to waypoint 0",
                                        "at the start of its step (step/x0)", "at a waypoint (step/waypoints)" };
    world w;
    pile(&w);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err) && !abut_step_solve(&w.st, &w.rep, &w.err));
    CHECK(!abut_step_suspend(&w.st, &w.frame, &w.next, &w.err));
    for (int k = 0; k < 5; k++) {
        abut_arrays pending = { 0 };
        w.err = (abut_err){ 0 };
        for (int i = 0; i < w.next.n; i++) CHECK(!abut_arrays_copy(&pending, &w.next.a[i], NULL));
        double *x = abut_arrays_find(&pending, "node/x")->data, *x0 = abut_arrays_find(&pending, "step/x0")->data;
        double *way = abut_frame_put(&pending, "step/waypoints", w.model.nv, &w.err), *moved = k == 0 ? x : k == 2 ? x0 : way;
        memcpy(way, x, 3 * (size_t)w.model.nv * sizeof *way);
        /* the lower body goes through the upper one and beyond, or into it, or everything goes below the floor */
        for (int32_t i = 0; i < w.model.nv && k < 4; i++)
            if (k == 3 || w.model.body[i] == w.model.body[0]) moved[3 * i + 1] += k == 3 ? -5 : k == 2 ? 0.1 : 5;
        CHECK(abut_step_resume(&w.st, &pending, w.at, &w.rep, &w.err) == (k < 4 ? ABUT_E_GEOM : ABUT_OK));
        CHECK(k == 4 || strstr(w.err.msg, said[k]));
        if (k < 4 && !strstr(w.err.msg, said[k])) printf("# %d: %s\n", k, w.err.msg);
        abut_arrays_clear(&pending);
    }
    world_close(&w);
}

TEST(passes_end_when_they_converge_or_are_spent_and_never_without_saying_so)
{
    world w;
    int settled = -1;
    pile(&w);
    w.rep.lag_residual = 2;
    w.st.pass = 4;
    CHECK(!abut_step_settled(&w.st, &w.rep, 5, 1, &settled, &w.err) && settled == 0);
    CHECK(!abut_step_settled(&w.st, &w.rep, 4, 1, &settled, &w.err) && settled == 1);   /* spent */
    CHECK(!abut_step_settled(&w.st, &w.rep, 0, 1, &settled, &w.err) && settled == 0);
    CHECK(!abut_step_settled(&w.st, &w.rep, 0, 2, &settled, &w.err) && settled == 1);   /* converged */
    w.st.pass = ABUT_LAGS_MAX;
    CHECK(abut_step_settled(&w.st, &w.rep, 0, 1, &settled, &w.err) == ABUT_E_NUMERIC);
    CHECK(strstr(w.err.msg, "has not converged after 1000 passes: lag residual 2 m/s, want 1; a smaller time step"));
    CHECK(strstr(w.err.msg, "step --lags 20"));
    w.err = (abut_err){ 0 };
    world_close(&w);

    /* as many passes as it takes: the end of every step is an equilibrium with the friction that belongs to it */
    pile(&w);
    *(int32_t *)abut_arrays_find(&w.model_set, "contact/lags")->data = 0;
    int most = 0;
    for (int k = 0; k < 12; k++) {
        CHECK(!world_run(&w, 1));
        CHECK(w.rep.lag_residual >= 0 && w.rep.lag_residual <= w.model.tolerance[0]);
        most = w.rep.passes > most ? w.rep.passes : most;
    }
    CHECK(most > 1);
    world_close(&w);
}

TEST(nothing_tunnels_at_any_speed)
{
    for (double v = 10; v <= 1000; v *= 10) {
        fixture *f = fixture_new();
        f->h = 0.02;
        f->gravity[1] = 0;
        f->young = 1e6;
        fixture_box(f, -0.05, 0.05, -0.05, 0.1, 0.1, 0.1, 2, 2, 2, 0);
        fixture_box(f, -0.5, -0.02, -0.5, 1, 0.02, 1, 2, 1, 2, 1);
        const double v0[6] = { 0, -v, 0, 0, 0, 0 };
        world w;
        world_open(&w, f, v0);
        CHECK(!world_run(&w, 6));
        CHECK(mean(&w, "node/x", 1, 0) > 0);
        CHECK(mean(&w, "node/v", 1, 0) > -1e-3);
        world_close(&w);
    }
}

/* A box that moves along x at 1 m/s, 10 mm in a step; an obstacle `gap` in front of it. */
static void shot(world *w, double gap)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 0, 0, 0, 0.1, 0.1, 0.1, 2, 2, 2, 0);
    fixture_box(f, 0.1 + gap, -0.1, -0.1, 0.1, 0.3, 0.3, 1, 1, 1, 1);
    world_open(w, f, (const double[6]){ 1, 0, 0, 0, 0, 0 });
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
}

TEST(a_step_starts_where_bodies_get_by_themselves_and_stays_where_that_way_is_not_free)
{
    for (int blocked = 0; blocked < 2; blocked++) {
        world w;
        shot(&w, blocked ? 0.005 : 0.2);
        const double *X = w.model.X, h = w.model.h[0];
        for (int32_t i = 0; i < 3 * w.model.nv; i++) {
            const int flies = !blocked && w.model.body[i / 3] == 0 && i % 3 == 0;
            CHECK_NEAR(w.st.solver.here.x[i], X[i] + (flies ? h : 0), flies ? 1e-15 : 0);
        }
        CHECK(!abut_step_solve(&w.st, &w.rep, &w.err));
        CHECK(blocked ? w.rep.newton > 1 : w.rep.newton == 1);
        world_close(&w);
    }
}

TEST(an_impact_stiffens_the_barrier_inside_its_bounds)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 0, 0, 0, 0.1, 0.1, 0.1, 2, 2, 2, 0);
    fixture_box(f, 0.11, -0.1, -0.1, 0.1, 0.3, 0.3, 1, 1, 1, 1);
    f->stiffen_below = 0.1 * f->dhat;
    world w;
    world_open(&w, f, (const double[6]){ 10, 0, 0, 0, 0, 0 });
    CHECK(!world_run(&w, 1));
    CHECK(w.rep.contacts > 0);
    CHECK(w.rep.kappa > w.model.kappa_min[0]);
    CHECK(w.rep.kappa <= w.model.kappa_max[0]);
    world_close(&w);
}

TEST(a_wall_faster_than_the_body_still_arrives)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 0, 0, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
    const int32_t wall = fixture_box(f, -0.11, -0.1, -0.1, 0.1, 0.4, 0.4, 1, 1, 1, 1);
    fixture_move(f, wall, 0, -1, 1, (double[]){ 8, 0, 0 }, (double[]){ 0, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    for (int k = 0; k < 4; k++) {
        CHECK(!world_run(&w, 1));
        CHECK(w.rep.eta >= 0.999);
    }
    CHECK_NEAR(mean(&w, "node/x", 0, 1), -0.06 + 8 * 0.04, 8 * 0.04 * 2e-3);
    CHECK(mean(&w, "node/x", 0, 0) > mean(&w, "node/x", 0, 1) + 0.05);
    world_close(&w);
}

/* A slender bar squeezed by two fifths of its length in ten steps: it buckles.  Newton iterations, and in *longer those whose
 * step went beyond the direction. */
static int buckle(int lags, unsigned without, int *longer)
{
    fixture *f = fixture_new();
    f->gravity[1] = 1;
    f->lags = lags;
    fixture_box(f, 0, -0.02, -0.02, 2, 0.04, 0.04, 16, 1, 1, 0);
    fixture_move(f, 0, 0, -1e-6, 1e-6, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 2 - 1e-6, 2 + 1e-6, (double[]){ -8, 0, 0 }, (double[]){ 0, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    world_without(&w, without);
    int newton = 0;
    *longer = 0;
    for (int k = 0; k < 10; k++) {
        CHECK(!world_run(&w, 1));
        newton += w.rep.newton;
        for (int i = 0; i < w.rep.newton; i++) *longer += w.rep.it[i].alpha > 1;
    }
    world_close(&w);
    return newton;
}

TEST(directions_that_are_too_short_are_lengthened_and_save_iterations)
{
    int longer, never;
    const int few = buckle(1, 0, &longer), many = buckle(2, 0, &never);
    CHECK(longer > 0);
    CHECK(never == 0);
    CHECK(buckle(1, ABUT_WITHOUT_LENGTHEN, &never) > few);
    CHECK(never == 0);
    CHECK(few < many);
    printf("# %d iterations, %d of them lengthened; %d without\n", few, longer, many);
}

/* A soft slab spins on the floor.  Every step is taken twice from the same frame, once with friction by its second derivative
 * alone: the same point within the tolerance, in fewer trials. */
TEST(friction_modelled_from_above_ends_where_its_second_derivative_ends)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->mu = 0.8;
    f->tol = 1e-6;
    f->young = 1e3;
    fixture_box(f, 0, 5e-4, 0, 0.4, 0.05, 0.3, 6, 1, 4, 0);
    double v[3 * 128] = { 0 };
    for (int32_t i = 0; i < f->nv; i++) {
        v[3 * i] = 8 * (f->X[3 * i + 2] - 0.15);
        v[3 * i + 2] = -8 * (f->X[3 * i] - 0.2);
    }
    world w;
    int trials[2] = { 0, 0 };
    world_open(&w, f, v);
    CHECK(!world_run(&w, 3));
    world_without(&w, ABUT_WITHOUT_REUSE);      /* the two differ in nothing else */
    for (int k = 0; k < 12; k++) {
        world twin;
        world_twin(&twin, &w);
        world_without(&twin, ABUT_WITHOUT_REUSE | ABUT_WITHOUT_MAJORANT);
        CHECK(!abut_step_advance(&twin.st, &w.frame, 0, &twin.at, 0, &twin.next, &twin.rep, &twin.err));
        CHECK(!world_run(&w, 1));
        trials[0] += w.rep.trials, trials[1] += twin.rep.trials;
        const double *x = get(&w, "node/x"), *y = abut_arrays_find(&twin.next, "node/x")->data;
        for (int32_t i = 0; i < 3 * w.model.nv; i++) CHECK_NEAR(x[i], y[i], f->h * f->tol);
        world_twin_close(&twin);
    }
    CHECK(trials[0] < trials[1]);
    printf("# %d trials; %d by the second derivative alone\n", trials[0], trials[1]);
    world_close(&w);
}

TEST(twisted_handles_follow_their_script)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 0, -0.05, -0.05, 1, 0.1, 0.1, 6, 1, 1, 0);
    fixture_move(f, 0, 0, -1e-6, 1e-6, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 1 - 1e-6, 1 + 1e-6, (double[]){ 0, 0, 0 }, (double[]){ 10, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 10));
    for (int32_t i = 0; i < w.model.nv; i++) {
        const double *X = w.model.X + 3 * i, *x = get(&w, "node/x") + 3 * i;
        if (X[0] < 1e-9)
            for (int k = 0; k < 3; k++) CHECK(x[k] == X[k]);
        if (X[0] > 1 - 1e-9) {
            CHECK_NEAR(x[1], cos(1) * X[1] - sin(1) * X[2], 1e-12);
            CHECK_NEAR(x[2], sin(1) * X[1] + cos(1) * X[2], 1e-12);
        }
    }
    world_close(&w);
}

TEST(the_gradient_of_the_objective_is_its_derivative)
{
    world w;
    pile(&w);
    CHECK(!world_run(&w, 6));
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    const int32_t n3 = 3 * w.model.nv;
    abut_rng rng = { 7 };
    double *d = calloc((size_t)n3, sizeof *d);
    CHECK(s->here.pairs.n > 0);
    CHECK(abut_lag_of(&s->prob.terms)->n > 0);
    for (int32_t i = 0; i < n3; i++) d[i] = s->prob.row[i / 3] < 0 ? 0 : abut_rng_real(&rng, -1, 1);
    CHECK(slope_agrees(&w, d));
    free(d);
    world_close(&w);
}

TEST(running_out_of_iterations_is_an_error_that_says_so)
{
    world w;
    pile(&w);
    w.o.search.stop = ABUT_STOP_PUBLISHED;    /* free fall takes one, and a second one to be seen */
    w.o.search.max_newton = 1;
    CHECK(world_run(&w, 12) == ABUT_E_NUMERIC);
    CHECK(strstr(w.err.msg, "not converged after 1 Newton iteration"));
    CHECK(w.next.n == 0);
    world_close(&w);
}

/* ---- frames that no step starts from ---- */

TEST(an_element_that_is_inverted_at_the_start_is_named)
{
    fixture *f = fixture_new();
    f->material = ABUT_NEO_HOOKEAN;
    fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
    fixture_tet(f, (const double[12]){ 3, 0, 0, 4, 0, 0, 3, 1, 0, 3, 0, 1 });
    world w;
    world_open(&w, f, NULL);
    get(&w, "node/x")[3 * 8 + 2] = 2;      /* the first corner beyond the others */
    CHECK(abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err) == ABUT_E_GEOM);
    CHECK(strstr(w.err.msg, "frame 0: tet 0 of object 1 is inverted at the start"));
    world_close(&w);
}

TEST(a_shell_that_is_beyond_its_limit_at_the_start_is_named_with_its_nodes)
{
    fixture *f = fixture_new();
    f->limit[2] = 1.05, f->limit[3] = 1.2;
    for (int k = 0; k < 2; k++) fixture_sheet(f, 2 * k, 0, 0, 1, 1, 1, 1);
    world w;
    world_open(&w, f, NULL);
    for (int32_t i = 4; i < 8; i++) get(&w, "node/x")[3 * i] = 2 + 1.5 * (w.model.X[3 * i] - 2);
    CHECK(abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err) == ABUT_E_GEOM);
    CHECK(!strcmp(w.err.msg, "frame 0: shell 0 of object 1 (nodes 0, 2, 3): largest stretch 1.5, expected less than 1.2, at the "
                             "start"));
    world_close(&w);
}

/* ---- contacts that have bounded a direction ---- */

/* kg m: the force of the barrier of a vertex at height d, by differences of -(D - Dhat)^2 ln(D / Dhat). */
static double force_at(double kappa, double dhat, double d)
{
    double b[2];
    for (int s = 0; s < 2; s++) {
        const double e = d + (s ? 1e-5 : -1e-5) * d, D = e * e, Dhat = dhat * dhat;
        b[s] = D < Dhat ? -(D - Dhat) * (D - Dhat) * log(D / Dhat) : 0;
    }
    return -kappa * (b[1] - b[0]) / (2e-5 * d);
}

static double curvature_at(double kappa, double dhat, double d)
{
    return (force_at(kappa, dhat, (1 - 1e-4) * d) - force_at(kappa, dhat, (1 + 1e-4) * d)) / (2e-4 * d);
}

/* kg: the curvature that a vertex above the half-space has beyond its barrier, which leads to `force` unless a quarter of the gap
 * is left. */
static double further_curvature(double force, double F, double k, double gap)
{
    return fmax(force / gap, (force - F) / (0.75 * gap)) - k;
}

TEST(a_contact_that_has_bounded_a_direction_has_the_curvature_that_leads_to_its_force)
{
    for (int beyond = 0; beyond < 2; beyond++) {
        fixture *f = fixture_new();
        const double gap = (beyond ? 2.5 : 0.6) * f->dhat;
        f->plane = 1;
        fixture_box(f, 0, gap, 0, 0.1, 0.1, 0.1, 1, 1, 1, 0);
        world w;
        world_open(&w, f, NULL);
        CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
        abut_search *s = &w.st.solver;
        abut_search_place(s, get(&w, "node/x"));
        CHECK(!abut_search_contacts(s, &w.rep, &w.err));
        abut_barrier_state *b = abut_barrier_state_of(&s->prob.terms);
        b->kappa = 7;
        const abut_at at = abut_point_at(&s->here, &s->prob);
        const double F = force_at(7, f->dhat, gap), k = curvature_at(7, f->dhat, gap);
        const double stiff = fmax(k, curvature_at(7, f->dhat, 0.1 * f->dhat));
        const abut_impact hit = { .kind = ABUT_PP, .vert = { 0, -1, -1, -1 }, .plane = 0 };
        const size_t n = beyond ? 0 : 4;
        double p[3 * 8] = { 0 }, to[3 * 8], val[90 * 5];
        abut_elements set = { 0 };
        const int32_t node = abut_collmesh_node(&s->prob.cm, 0);
        p[3 * node + 1] = -3 * gap;     /* through the half-space */
        CHECK(!abut_barrier_block(b, &at, p, &hit, 1, &w.err));
        CHECK(!abut_barrier_block(b, &at, p, &hit, 1, &w.err) && b->n_blocked == 1);   /* once, however often it bounds */

        double force = F + stiff * 3 * gap;
        memcpy(to, s->here.x, sizeof to);
        to[3 * node + 1] -= 0.1 * gap;
        for (int step = 0; step < 3; step++) {
            CHECK(!abut_term_barrier.elements(b, &at, &set, &w.err) && set.n == n + 1 && set.row[4 * n] == node);
            abut_term_barrier.hessian(b, &at, 1, 0, set.n, val);
            const double *H = val + 90 * n, want = further_curvature(force, F, k, gap);
            CHECK(want > 0);
            for (int i = 0; i < 90; i++) CHECK_NEAR(H[i], i == 4 ? want : 0, 1e-4 * want);
            if (step) force = F + (k + want) * 0.1 * gap / 0.25;    /* of the whole direction; a new one keeps its force */
            abut_term_barrier.forecast_step(b, &at, to, 0.25);
        }
        CHECK(b->n_blocked == 1);
        CHECK(abut_term_barrier.forecast_is_fair(b, &at) == !(further_curvature(force, F, k, gap) > 0));
        to[3 * node + 1] += 0.2 * gap;                              /* opens: the barrier alone is left */
        abut_term_barrier.forecast_step(b, &at, to, 1);
        CHECK(b->n_blocked == 0 && abut_term_barrier.forecast_is_fair(b, &at));
        world_close(&w);
    }
}
