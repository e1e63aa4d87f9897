/* The table of solvers: names, options, promises; options applied to a model; steppers by their operations. */
#include "world.h"

#include "check.h"
#include "sparse/linear_solvers.h"
#include "solve/solvers.h"
#include "solve/step/options.h"

TEST(every_row_is_found_with_what_it_understands_and_refused_with_anything_else)
{
    for (const abut_solver_row *r = abut_solver_table; r->name; r++) {
        abut_err err = { 0 };
        CHECK(r->use && strlen(r->use) <= 32 && r->notes);
        CHECK(r->stepper && r->stepper->make && r->stepper->commit && r->stepper->free);
        CHECK(abut_solver_find(r->name, 0, &err) == r);
        CHECK(abut_solver_find(r->name, r->options, &err) == r);
        for (int k = 0; k < ABUT_OPTIONS; k++) {
            if (r->options & 1u << k) continue;
            CHECK(!abut_solver_find(r->name, 1u << k | r->options, &err) && err.code == ABUT_E_ARG);
            CHECK(strstr(err.msg, "not for ") && strstr(err.msg, r->name) && !strncmp(err.msg, "--", 2));
        }
        /* who has no operation does not understand its option */
        CHECK(!(r->options & ABUT_OPTION_ONE_PASS) == !r->stepper->suspend);
        CHECK(!(r->options & ABUT_OPTION_LAGS) == !r->stepper->settle);
        CHECK(!(r->options & ABUT_OPTION_DUMP_STUCK) == !r->stepper->stuck);
        CHECK(!r->linear || !(r->options & ABUT_OPTION_LINEAR));
        const abut_linear_solver_ops *linear;
        CHECK(!r->linear || !abut_linear_solver_find(r->linear, &linear, &err));
    }
}

/* Options that every solver has are no bits; a bit that no solver understands, or one beyond the last, is of no use. */
TEST(every_option_with_a_bit_is_understood_by_some_rows_and_not_by_others_and_named_once)
{
    char name[ABUT_OPTIONS][64];
    unsigned some = 0, every = ~0u;
    for (const abut_solver_row *r = abut_solver_table; r->name; r++) some |= r->options, every &= r->options;
    CHECK(some == (1u << ABUT_OPTIONS) - 1 && every == 0);
    for (int k = 0; k < ABUT_OPTIONS; k++) {
        const abut_solver_row *r = abut_solver_table;
        abut_err err = { 0 };
        while (r->options & 1u << k) r++;
        CHECK(!abut_solver_find(r->name, 1u << k, &err));
        snprintf(name[k], sizeof name[k], "%.*s", (int)strcspn(err.msg, ":"), err.msg);
        for (int i = 0; i < k; i++) CHECK(strcmp(name[i], name[k]) != 0);
        /* the message names the solvers that know the option, and no others */
        char *const rest = strstr(err.msg, ", not for ");
        CHECK(rest != NULL);
        rest[1] = 0;
        for (const abut_solver_row *of = abut_solver_table; of->name; of++) {
            char word[40];
            snprintf(word, sizeof word, " %s,", of->name);
            CHECK(!(of->options & 1u << k) == !strstr(err.msg, word));
        }
    }
}

TEST(an_unknown_solver_is_refused_with_the_nearest_and_all)
{
    abut_err err = { 0 };
    CHECK(!abut_solver_find("lbgfs-h", 0, &err) && err.code == ABUT_E_ARG);
    CHECK(strstr(err.msg, "did you mean lbfgs-h?") && strstr(err.msg, "know newton, newton-cg, "));
    CHECK(!abut_solver_find("", 0, &err));
}

static abut_status check(const char *solver, abut_step_options o, const char *says)
{
    abut_err err = { 0 };
    const abut_status rc = abut_solver_check(abut_solver_find(solver, 0, NULL), &o, &err);
    if (rc) CHECK(strstr(err.msg, says) != NULL);
    return rc;
}

TEST(values_that_do_not_go_together_are_refused)
{
    abut_step_options o = abut_step_defaults();
    for (const abut_solver_row *r = abut_solver_table; r->name; r++) CHECK(!check(r->name, o, ""));
    o.stop = ABUT_STOP_PUBLISHED;
    CHECK(!check("dot", o, "") && check("pd", o, "--stop published does not go with --solver pd"));
    o.force_tolerance = 0.1;
    CHECK(check("newton", o, "--force-tolerance does not go with --stop published"));
    /* no test ends a fixed number of iterations, with any solver that has it */
    for (const abut_solver_row *r = abut_solver_table; r->name; r++) {
        if (!(r->options & ABUT_OPTION_ITERATIONS)) continue;
        o = abut_step_defaults();
        o.iterations = 5;
        CHECK(!check(r->name, o, ""));
        o.tolerance = 1e-3;
        CHECK(check(r->name, o, "--tolerance does not go with --iterations 5"));
        o.tolerance = 0, o.max_newton = 7;
        CHECK(check(r->name, o, "--max-newton does not go with --iterations 5"));
        o.max_newton = abut_step_defaults().max_newton, o.stop = ABUT_STOP_CHARACTERISTIC;
        CHECK(check(r->name, o, "--stop does not go with --iterations 5"));
        o.iterations = 0;
        CHECK(!check(r->name, o, ""));
    }
    o = abut_step_defaults();
    CHECK(!abut_linear_solver_find("cg", &o.linear, NULL));
    CHECK(!check("newton", o, "") && check("lbfgs-h", o, "know own, cholmod"));
    o.cg_tolerance = 1e-4;
    CHECK(!check("newton", o, ""));
    o.linear = NULL;
    CHECK(!check("newton-cg", o, "") && check("newton", o, "--linear-solver own is direct"));
    o.cg_tolerance = 1;
    CHECK(check("newton-cg", o, "--cg-tolerance 1: want less than 1"));
    o.cg_tolerance = 0;
    CHECK(!abut_linear_solver_find("cg", &o.linear, NULL));
    o.device.kind = 1;
    CHECK(check("newton", o, "has a linear solver of its own"));
    o.linear = NULL;
    CHECK(!check("newton", o, ""));
    o.stop = ABUT_STOP_CHARACTERISTIC;
    CHECK(check("newton", o, "not characteristic"));
}

TEST(options_change_a_view_of_the_model_and_not_the_model)
{
    world w;
    fixture *f = fixture_new();
    f->lags = 3;
    fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    const abut_model before = w.model;
    abut_step_options o = abut_step_defaults();
    abut_step_model m;
    abut_step_model_view(&m, &w.model, &o);
    CHECK(!memcmp(&m.view, &w.model, sizeof m.view));
    o.passes.lags = 0, o.tolerance = 1e-7, o.force_tolerance = 0.25;
    abut_step_model_view(&m, &w.model, &o);
    CHECK(m.view.lags[0] == 0 && m.view.tolerance[0] == 1e-7 && m.view.force_tolerance[0] == 0.25);
    CHECK(w.model.lags[0] == 3 && !memcmp(&before, &w.model, sizeof before));
    o.stop = ABUT_STOP_CHARACTERISTIC;  /* its tolerance is no speed */
    abut_step_model_view(&m, &w.model, &o);
    CHECK(m.view.tolerance == w.model.tolerance && abut_step_norm(&o) == 1e-7);
    o.stop = ABUT_STOP_GRADIENT;        /* nor is this one: N/m */
    abut_step_model_view(&m, &w.model, &o);
    CHECK(m.view.tolerance == w.model.tolerance && abut_step_norm(&o) == 1e-7);
    o.tolerance = 0;
    CHECK(abut_step_norm(&o) == 3e-2);
    o.stop = ABUT_STOP_STEP, o.tolerance = 1e-7;
    abut_step_model_view(&m, &w.model, &o);
    CHECK(m.view.tolerance[0] == 1e-7 && abut_step_norm(&o) == 0);
    world_close(&w);
}

/* Two steps of a box on a floor with friction, by operations alone: in one call, and in passes with PENDING frames between. */
TEST(a_step_in_passes_ends_on_the_frame_of_a_step_in_one_call)
{
    world w;
    fixture *f = fixture_new();
    f->plane = 1;
    f->mu = 0.5;
    f->lags = 1;
    fixture_box(f, 0, 1e-4, 0, 0.2, 0.1, 0.2, 2, 1, 2, 0);
    world_open(&w, f, NULL);
    const abut_solver_row *row = abut_solver_find("newton", 0, NULL);
    const abut_stepper_ops *ops = row->stepper;
    const abut_step_options o = abut_step_defaults();
    void *one = NULL, *two = NULL;
    abut_arrays frame = { 0 }, pending = { 0 };
    abut_report rep = { 0 };
    abut_instant at = { 0, 0 };
    int written = 1;
    CHECK(!ops->make(&one, &w.model, row, &o, &w.err) && !ops->make(&two, &w.model, row, &o, &w.err));
    CHECK(!abut_stepper_advance(ops, one, &w.frame, 0, &at, &written, 0, &frame, &rep, &w.err));
    CHECK(at.step == 1 && at.time == f->h && rep.step == 1 && rep.seconds.total > 0 && written == 1);
    abut_instant start = { 0, 0 };
    CHECK(!abut_stepper_pass(ops, two, &w.frame, 0, start, &written, &rep, &w.err));
    CHECK(!ops->suspend(two, &w.frame, &pending, &w.err));
    CHECK(abut_arrays_find(&pending, "step/x0") != NULL);
    int again = 1;
    CHECK(!ops->settle(two, &again, &rep, &w.err) && !again);
    CHECK(!ops->commit(two, &w.frame, 0, &w.next, &start, &rep, &w.err));
    CHECK(start.step == 1 && same_frames(&frame, &w.next));
    ops->free(one);
    ops->free(two);
    abut_arrays_clear(&frame);
    abut_arrays_clear(&pending);
    abut_report_clear(&rep);
    world_close(&w);
}

TEST(a_stepper_without_resume_refuses_a_pending_frame)
{
    world w;
    fixture *f = fixture_new();
    fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    const abut_solver_row *row = abut_solver_find("pd", 0, NULL);
    abut_step_options o = abut_step_defaults();
    o.contact = ABUT_CONTACT_IGNORE;
    void *self = NULL;
    int written = 1;
    CHECK(!row->stepper->make(&self, &w.model, row, &o, &w.err));
    CHECK(abut_stepper_pass(row->stepper, self, &w.frame, 1, w.at, &written, &w.rep, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "frame 0 is PENDING") != NULL);
    row->stepper->free(self);
    world_close(&w);
}
