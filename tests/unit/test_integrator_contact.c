/* Time schemes in whole steps with contact and friction: forces, the gradient of the objective, frames as checkpoints. */
#include "energy/friction.h"
#include "world.h"

/* The schemes, and after them Newmark's with other parameters. */
enum { VARIANTS = LOW_SCHEMES + 1 };
static void take_variant(fixture *f, int32_t variant)
{
    f->scheme = variant == LOW_SCHEMES ? ABUT_IMPLICIT_NEWMARK : variant;
    if (variant == LOW_SCHEMES) f->newmark[0] = 0.3025, f->newmark[1] = 0.6;
}

TEST(contact_forces_in_newtons_explain_the_change_of_momentum)
{
    for (int32_t scheme = 0; scheme < VARIANTS; scheme++) {
        fixture *f = fixture_new();
        take_variant(f, scheme);
        f->plane = 1;
        f->tol = 1e-9;
        f->h = 0.004;
        fixture_box(f, 0, 5e-3, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
        world w;
        world_open(&w, f, (double[]){ 0, -0.2, 0 });
        const double h = f->h, weight = -9.81 * 8;
        double p = -0.2 * 8, p1 = 0, force = 0, most = 0;
        for (int k = 0; k < 50; k++) {
            CHECK(!world_run(&w, 1));
            double now = 0, want = 0;
            for (int32_t i = 0; i < w.model.nv; i++) now += get(&w, "node/contact-force")[3 * i + 1];
            if (scheme == LOW_SCHEMES) want = p + h * (weight + 0.4 * force + 0.6 * now);
            else if (scheme == ABUT_BDF2 && k) want = (4 * p - p1) / 3 + 2 * h / 3 * (weight + now);
            else want = p + h * (weight + now);
            CHECK_NEAR(w.rep.momentum[1], want, 1e-6 * 8);
            p1 = p, p = w.rep.momentum[1], force = now;
            most = fmax(most, now);
        }
        CHECK(most > 2 * -weight);
        world_close(&w);
    }
}

TEST(a_block_at_rest_weighs_its_weight_in_every_scheme)
{
    for (int32_t scheme = 0; scheme < VARIANTS; scheme++) {
        fixture *f = fixture_new();
        take_variant(f, scheme);
        f->plane = 1;
        f->tol = 1e-8;
        f->h = 0.002;
        f->damp_mass = 100;
        fixture_box(f, 0, 8e-4, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
        world w;
        world_open(&w, f, NULL);
        CHECK(!world_run(&w, 300));
        double force = 0;
        for (int32_t i = 0; i < w.model.nv; i++) force += get(&w, "node/contact-force")[3 * i + 1];
        CHECK_NEAR(force, 9.81 * 8, 9.81 * 8 * 1e-3);
        CHECK_NEAR(mean(&w, "node/v", 1, 0), 0, 1e-5);
        world_close(&w);
    }
}

/* damping makes an end of the block's bouncing on the barrier */
static double damped_slope(int32_t scheme, double mu)
{
    fixture *f = fixture_new();
    f->h = 0.005;
    f->lags = 4;
    take_variant(f, scheme);
    f->damp_mass = 100;
    return slope_speed(f, mu, 60);
}

TEST(a_block_sticks_and_slides_on_a_slope_in_every_scheme)
{
    const double slide = 9.81 * 2 / sqrt(5) * 0.1 / 100;    /* terminal */
    for (int32_t scheme = 0; scheme < VARIANTS; scheme++) {
        const double held = damped_slope(scheme, 0.6), free = damped_slope(scheme, 0.4);
        printf("# scheme %d: mu 0.6 %.3g m/s, mu 0.4 %.4g m/s, want %.4g\n", scheme, held, free, slide);
        CHECK(fabs(held) < 2e-4);
        CHECK_NEAR(free, slide, 0.03 * slide);
    }
}

static void pile(world *w, int32_t scheme)
{
    fixture *f = fixture_new();
    take_variant(f, scheme);
    f->plane = 1;
    f->mu = 0.3;
    f->lags = 2;
    f->young = 3e4;
    f->damp_mass = 0.5;
    f->damp_stiffness = 1e-3;
    fixture_box(f, 0, 2e-3, 0, 0.3, 0.2, 0.3, 2, 1, 1, 0);
    fixture_box(f, 0.1, 0.21, 0.05, 0.3, 0.2, 0.3, 1, 1, 1, 0);
    const int32_t wall = fixture_box(f, -0.12, 1e-3, -0.1, 0.1, 0.5, 0.5, 1, 1, 1, 1);
    fixture_move(f, wall, 0, -1, 1, (double[]){ 0.8, 0, 0 }, (double[]){ 0, 0, 0 });
    world_open(w, f, NULL);
}

/* ---- the objective ---- */

TEST(the_gradient_is_the_derivative_of_the_objective_in_every_scheme)
{
    for (int32_t scheme = 0; scheme < VARIANTS; scheme++) {
        world w;
        pile(&w, scheme);
        CHECK(!world_run(&w, 6));
        CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
        abut_search *s = &w.st.solver;
        const int32_t n3 = 3 * w.model.nv;
        double *d = calloc((size_t)n3, sizeof *d);
        CHECK(s->here.pairs.n + s->here.pairs.n_plane > 0);
        CHECK(abut_lag_of(&s->prob.terms)->n > 0);
        for (int32_t i = 0; i < n3; i++) d[i] = s->prob.row[i / 3] < 0 ? 0 : sin(1 + 3.7 * i);
        CHECK(slope_agrees(&w, d));
        free(d);
        world_close(&w);
    }
}

/* ---- restart ---- */

/* a step in processes that know nothing but the frame: step --one-pass | friction-lag, until it is done */
static void step_in_stages(world *w)
{
    abut_instant at = w->at;
    for (int pending = 0, done = 0; !done; pending = 1) {
        world_forget(w);
        CHECK(!(pending ? abut_step_resume : abut_step_begin)(&w->st, &w->frame, at, &w->rep, &w->err));
        CHECK(!abut_step_solve(&w->st, &w->rep, &w->err));
        CHECK(!abut_step_suspend(&w->st, &w->frame, &w->next, &w->err));
        world_forget(w);
        CHECK(!abut_step_resume(&w->st, &w->next, at, &w->rep, &w->err));
        CHECK(!abut_step_refresh(&w->st, 1, &w->rep, &w->err));
        CHECK(!abut_step_settled(&w->st, &w->rep, w->model.lags[0], w->model.tolerance[0], &done, &w->err));
        CHECK(!(done ? abut_step_commit(&w->st, &w->next, WORLD_WITH, &w->frame, &w->at, &w->rep, &w->err)
                     : abut_step_suspend(&w->st, &w->next, &w->frame, &w->err)));
        if (w->err.code) {
            printf("# scheme %d: %s\n", w->f->scheme, w->err.msg);
            return;
        }
    }
}

TEST(a_frame_is_a_checkpoint_in_every_scheme)
{
    for (int32_t scheme = 0; scheme < VARIANTS; scheme++) {
        world a, b;
        pile(&a, scheme);
        pile(&b, scheme);
        for (int k = 0; k < 8; k++) {
            CHECK(!world_run(&a, 1));
            step_in_stages(&b);
            CHECK(same_frames(&a.frame, &b.frame));
        }
        CHECK(a.rep.contacts + a.rep.planes > 0);
        world_close(&a);
        world_close(&b);
    }
}

/* a pile with contact and friction; every step of the start-up has another order */
TEST(a_frame_is_a_checkpoint_in_bdf_of_every_order)
{
    for (int order = 3; order <= 6; order++) {
        world a, b;
        pile(&a, abut_integrator_bdf(order - 1));
        pile(&b, abut_integrator_bdf(order - 1));
        for (int k = 0; k < 8; k++) {
            CHECK(!world_run(&a, 1));
            step_in_stages(&b);
            CHECK(same_frames(&a.frame, &b.frame));
            char name[24];      /* as much past as the next step reads, and no more */
            for (int i = 1; i <= ABUT_PAST; i++) {
                snprintf(name, sizeof name, "node/x%d", i);
                CHECK((abut_arrays_find(&a.frame, name) != NULL) == (i <= k + 1 && i < order));
            }
        }
        CHECK(a.rep.contacts + a.rep.planes > 0);
        world_close(&a);
        world_close(&b);
    }
}

TEST(a_past_that_is_not_whole_is_refused)
{
    world w;
    pile(&w, ABUT_BDF2);
    CHECK(!world_run(&w, 1));
    abut_arrays_remove(&w.frame, "node/v1");
    abut_report_clear(&w.rep);
    CHECK(abut_step_advance(&w.st, &w.frame, 0, &w.at, 0, &w.next, &w.rep, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "'node/v1' is missing: the frame has 'node/x1'") != NULL);
    world_close(&w);
    pile(&w, ABUT_BDF4);
    CHECK(!world_run(&w, 3));
    abut_arrays_remove(&w.frame, "node/x2");
    abut_arrays_remove(&w.frame, "node/v2");
    abut_report_clear(&w.rep);
    CHECK(abut_step_advance(&w.st, &w.frame, 0, &w.at, 0, &w.next, &w.rep, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "'node/x2' is missing: the frame has 'node/x3'") != NULL);
    world_close(&w);
}
