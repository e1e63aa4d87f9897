/* The table of solvers: names, options, promises; options applied to a model; steppers by their operations. */
#include "world.h"

#include "check.h"
#include "sparse/linear_solver.h"
#include "rows.h"
#include "solve/options.h"

enum { ROWS = ABUT_SOLVE_OPTIONS_COUNT };

static const abut_option *const NONE[] = { NULL };

/* Whether a solver understands an option: the row of the table, or the trait of one that a program has beside it. */
static int understands(const abut_solver_row *r, const abut_option *o) { return !o->solvers || r->options & o->solvers; }

TEST(every_row_is_found_with_what_it_understands_and_refused_with_anything_else)
{
    for (const abut_solver_row *const *at = all_solvers(); *at; at++) {
        const abut_solver_row *r = *at;
        const abut_option *given[ROWS + 2] = { NULL };
        abut_err err = { 0 };
        int n = 0;
        CHECK(r->use && strlen(r->use) <= 32 && r->notes);
        CHECK(r->stepper && r->stepper->make && r->stepper->commit && r->stepper->free);
        for (int k = 0; k < ROWS; k++)
            if (understands(r, &abut_solve_table[k])) given[n++] = &abut_solve_table[k];
        CHECK(abut_solver_find(r->name, NULL, &err) == r && abut_solver_find(r->name, NONE, &err) == r);
        CHECK(abut_solver_find(r->name, given, &err) == r);
        for (int k = 0; k < ROWS; k++) {
            given[n] = &abut_solve_table[k];
            if (understands(r, given[n])) continue;
            CHECK(!abut_solver_find(r->name, given, &err) && err.code == ABUT_E_ARG);
            CHECK(strstr(err.msg, "not for ") && strstr(err.msg, r->name) && !strncmp(err.msg, "--", 2));
        }
        /* who has no operation does not understand its option */
        CHECK(!(r->options & ABUT_FOR_BARRIER) == !r->stepper->suspend);
        CHECK(!(r->options & ABUT_FOR_BARRIER) == !r->stepper->settle);
        CHECK(!(r->options & (ABUT_FOR_BARRIER | ABUT_FOR_NODAL)) == !r->stepper->stuck);
        CHECK(!r->linear || !(r->options & ABUT_FOR_FACTORS));
    }
}

TEST(every_trait_brings_an_option_and_the_message_names_the_solvers_that_understand_it)
{
    unsigned traits = 0, used = 0;
    for (const abut_solver_row *const *r = all_solvers(); *r; r++) traits |= (*r)->options;
    for (int k = 0; k < ROWS; k++) {
        const abut_option *const given[] = { &abut_solve_table[k], NULL };
        const abut_solver_row *const *at = all_solvers();
        char start[60];
        abut_err err = { 0 };
        used |= given[0]->solvers;
        CHECK(!(given[0]->solvers & ~traits));
        for (int i = 0; i < k; i++) CHECK(strcmp(abut_solve_table[i].name, given[0]->name) != 0);
        while (*at && understands(*at, given[0])) at++;
        if (!given[0]->solvers) continue;
        CHECK(*at && !abut_solver_find((*at)->name, given, &err));
        snprintf(start, sizeof start, "--%s: for --solver ", given[0]->name);
        CHECK(!strncmp(err.msg, start, strlen(start)));
        char *const rest = strstr(err.msg, ", not for ");
        CHECK(rest != NULL);
        rest[1] = 0;
        for (const abut_solver_row *const *of = all_solvers(); *of; of++) {
            char word[40];
            snprintf(word, sizeof word, " %s,", (*of)->name);
            CHECK(!understands(*of, given[0]) == !strstr(err.msg, word));
        }
    }
    CHECK(used == traits);
}

TEST(every_option_of_the_table_is_read_into_its_member_and_refused_out_of_range)
{
    for (int k = 0; k < ROWS; k++) {
        const abut_option *row = &abut_solve_table[k];
        abut_solve_options o = abut_solve_defaults;
        char said[ABUT_OPTION_SAID], notes[100] = "";
        abut_err err = { 0 };
        const char *at = (const char *)&o + row->at;
        CHECK((row->help != NULL) != (row->describe != NULL));
        CHECK(!abut_solve_options_check(&o, &err));
        if (row->kind == ABUT_OPTION_WHOLE) {
            CHECK(!abut_option_number(row, &o, row->least, said, &err) && *(const int *)at == (int)row->least);
            CHECK(abut_option_number(row, &o, row->least - 1, said, &err) == ABUT_E_ARG);
            if (row->most) CHECK(abut_option_number(row, &o, row->most + 1, said, &err) == ABUT_E_ARG);
        } else if (row->kind == ABUT_OPTION_POSITIVE) {
            CHECK(!abut_option_number(row, &o, 0.5, said, &err) && *(const double *)at == 0.5 && !strcmp(said, "0.5"));
            CHECK(abut_option_number(row, &o, 0, said, &err) == ABUT_E_ARG);
            if (row->most) CHECK(abut_option_number(row, &o, row->most, said, &err) && strstr(err.msg, "want less than 1"));
            if (row->most) CHECK(abut_solve_options_check(&o, &err) == ABUT_E_ARG);
        } else if (row->kind == ABUT_OPTION_FLAG) {
            CHECK(!abut_option_number(row, &o, 1, said, &err) && *(const int *)at == 1 && !strcmp(said, "true"));
        } else if (row->kind == ABUT_OPTION_CHOICE) {
            for (int i = 0; row->names[i]; i++)
                CHECK(!abut_option_word(row, &o, row->names[i], said, &err) && *(const int *)at == i);
        }
        if (row->names || row->read) CHECK(abut_option_word(row, &o, "?", said, &err) == ABUT_E_ARG);
        abut_option_note(row, "a-b", notes, sizeof notes);
        CHECK(!(row->flags & ABUT_OPTION_SHAPES) == !*notes && !strchr(notes, '-') == !*notes);
    }
}

TEST(an_unknown_solver_is_refused_with_the_nearest_and_all)
{
    abut_err err = { 0 };
    CHECK(!abut_solver_find("lbgfs-h", NULL, &err) && err.code == ABUT_E_ARG);
    CHECK(strstr(err.msg, "did you mean lbfgs-h?") && strstr(err.msg, "know newton, newton-cg, "));
    CHECK(!abut_solver_find("", NULL, &err));
}

static abut_status check(const char *solver, abut_solve_options o, const char *says)
{
    abut_err err = { 0 };
    const abut_status rc = abut_solver_check(abut_solver_find(solver, NULL, NULL), &o, &err);
    if (rc) CHECK(strstr(err.msg, says) != NULL);
    return rc;
}

TEST(values_that_do_not_go_together_are_refused)
{
    abut_solve_options o = abut_solve_defaults;
    for (const abut_solver_row *const *r = all_solvers(); *r; r++) CHECK(!check((*r)->name, o, ""));
    o.search.stop = ABUT_STOP_PUBLISHED;
    CHECK(!check("dot", o, "") && check("pd", o, "--stop published does not go with --solver pd"));
    o.search.force_tolerance = 0.1;
    CHECK(check("newton", o, "--force-tolerance does not go with --stop published"));
    /* no test ends a fixed number of iterations, with any solver that has it */
    for (const abut_solver_row *const *at = all_solvers(); *at; at++) {
        const abut_solver_row *r = *at;
        if (!(r->options & (ABUT_FOR_BARRIER | ABUT_FOR_CONSTANT))) continue;
        o = abut_solve_defaults;
        o.real_time.iterations = 5;
        CHECK(!check(r->name, o, ""));
        o.search.tolerance = 1e-3;
        CHECK(check(r->name, o, "--tolerance does not go with --iterations 5"));
        o.search.tolerance = 0, o.search.max_newton = 7;
        CHECK(check(r->name, o, "--max-newton does not go with --iterations 5"));
        o.search.max_newton = abut_solve_defaults.search.max_newton, o.search.stop = ABUT_STOP_CHARACTERISTIC;
        CHECK(check(r->name, o, "--stop does not go with --iterations 5"));
        o.real_time.iterations = 0;
        CHECK(!check(r->name, o, ""));
    }
    o = abut_solve_defaults;
    CHECK(!abut_linear_solver_find("cg", &o.linear.solver, NULL));
    CHECK(!check("newton", o, "") && check("lbfgs-h", o, "know own, cholmod"));
    o.linear.cg_tolerance = 1e-4;
    CHECK(!check("newton", o, ""));
    o.linear.solver = NULL;
    CHECK(!check("newton-cg", o, "") && check("newton", o, "--linear-solver own is direct"));
    o.linear.cg_tolerance = 1;
    CHECK(check("newton-cg", o, "--cg-tolerance 1: want less than 1"));
    o.linear.cg_tolerance = 0;
    CHECK(!abut_linear_solver_find("cg", &o.linear.solver, NULL));
    o.device.place.kind = 1;
    CHECK(check("newton", o, "has a linear solver of its own"));
    o.linear.solver = NULL;
    CHECK(!check("newton", o, ""));
    o.search.stop = ABUT_STOP_CHARACTERISTIC;
    CHECK(check("newton", o, "not characteristic"));
    o = abut_solve_defaults;
    o.hard.lenient = 1;
    CHECK(!check("nodal", o, ""));
    o.hard.strict = 1;
    CHECK(check("nodal", o, "--strict gives up the steps that --lenient keeps"));
}

TEST(options_change_a_view_of_the_model_and_not_the_model)
{
    world w;
    fixture *f = fixture_new();
    f->lags = 3;
    fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    const abut_model before = w.model;
    abut_solve_options o = abut_solve_defaults;
    abut_model m;
    abut_solve_view(&m, &w.model, &o);
    CHECK(!memcmp(&m, &w.model, sizeof m));
    o.passes.lags = 0, o.search.tolerance = 1e-7, o.search.force_tolerance = 0.25;
    abut_solve_view(&m, &w.model, &o);
    CHECK(m.lags[0] == 0 && m.tolerance[0] == 1e-7 && m.force_tolerance[0] == 0.25);
    CHECK(w.model.lags[0] == 3 && !memcmp(&before, &w.model, sizeof before));
    o.search.stop = ABUT_STOP_CHARACTERISTIC;  /* its tolerance is no speed */
    abut_solve_view(&m, &w.model, &o);
    CHECK(m.tolerance == w.model.tolerance && abut_stop_norm(&o.search) == 1e-7);
    o.search.stop = ABUT_STOP_GRADIENT;        /* nor is this one: N/m */
    abut_solve_view(&m, &w.model, &o);
    CHECK(m.tolerance == w.model.tolerance && abut_stop_norm(&o.search) == 1e-7);
    o.search.tolerance = 0;
    CHECK(abut_stop_norm(&o.search) == 3e-2);
    o.search.stop = ABUT_STOP_STEP, o.search.tolerance = 1e-7;
    abut_solve_view(&m, &w.model, &o);
    CHECK(m.tolerance[0] == 1e-7 && abut_stop_norm(&o.search) == 0);
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
    const abut_solver_row *row = abut_solver_find("newton", NULL, NULL);
    const abut_stepper_ops *ops = row->stepper;
    const abut_solve_options o = abut_solve_defaults;
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
    const abut_solver_row *row = abut_solver_find("pd", NULL, NULL);
    abut_solve_options o = abut_solve_defaults;
    o.real_time.contact = ABUT_CONTACT_IGNORE;
    void *self = NULL;
    int written = 1;
    CHECK(!row->stepper->make(&self, &w.model, row, &o, &w.err));
    CHECK(abut_stepper_pass(row->stepper, self, &w.frame, 1, w.at, &written, &w.rep, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "frame 0 is PENDING") != NULL);
    row->stepper->free(self);
    world_close(&w);
}
