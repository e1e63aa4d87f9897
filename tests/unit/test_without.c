/* Solvers without one of their features: its name, its bits, and what a warm start is worth (the other features have tests of
 * their own, each beside a twin without it). */
#include "world.h"

#include "check.h"

TEST(lists_of_features_are_read_in_any_order_and_written_in_one)
{
    const abut_option *row = &abut_solve_table[ABUT_OPTION_search_without];
    abut_solve_options o = abut_solve_defaults;
    char text[ABUT_OPTION_SAID];
    abut_err err = { 0 };
    CHECK(!abut_option_word(row, &o, "beyond,look-ahead", text, &err) && !abut_option_word(row, &o, "reuse", text, &err));
    CHECK(o.search.without == (ABUT_WITHOUT_BEYOND | ABUT_WITHOUT_LOOK_AHEAD | ABUT_WITHOUT_REUSE));
    CHECK(!strcmp(text, "look-ahead,reuse,beyond"));
    CHECK(!abut_option_word(row, &o, "second-order,lengthen,warm-start,majorant,rotations,scale,pairs,blocked", text, &err));
    CHECK(o.search.without == 2047 && !strncmp(text, "look-ahead,second-order,lengthen,reuse,warm-start,majorant,beyond,", 66));
    const char *const bad[] = { "", "reuse,", ",reuse", "re", "reuses", "reuse beyond" };
    for (int i = 0; i < 6; i++) {
        CHECK(abut_option_word(row, &o, bad[i], text, &err) == ABUT_E_ARG);
        CHECK(strstr(err.msg, "know look-ahead, second-order, lengthen, reuse, warm-start, majorant, beyond, rotations, scale, "
                               "pairs, blocked"));
    }
}

/* A soft bar flies along with the handle at its end, which winds it up; every step is taken from the same frame with and without
 * a warm start. */
TEST(steps_without_a_warm_start_end_at_the_same_point_after_more_iterations)
{
    fixture *f = fixture_new();
    f->tol = 1e-7;
    fixture_box(f, 0, -0.05, -0.05, 1, 0.1, 0.1, 10, 1, 1, 0);
    fixture_move(f, 0, 0, -1e-6, 1e-6, (double[]){ 0, 10, 0 }, (double[]){ -6, 0, 0 });
    double v[3 * 64] = { 0 };
    for (int32_t i = 0; i < f->nv; i++) v[3 * i + 1] = 10;
    world w;
    world_open(&w, f, v);
    int newton = 0, cold = 0;
    double worst = 0;
    for (int k = 0; k < 10; k++) {
        world twin;
        world_twin(&twin, &w);
        world_without(&twin, ABUT_WITHOUT_WARM_START);
        CHECK(!abut_step_advance(&twin.st, &w.frame, 0, &twin.at, 0, &twin.next, &twin.rep, &twin.err));
        CHECK(!world_run(&w, 1));
        newton += w.rep.newton, cold += twin.rep.newton;
        const double *x = get(&w, "node/x"), *y = abut_arrays_find(&twin.next, "node/x")->data;
        for (int32_t i = 0; i < 3 * w.model.nv; i++) worst = fmax(worst, fabs(x[i] - y[i]));
        world_twin_close(&twin);
    }
    printf("# %d iterations, %d without a warm start; %.2g of the tolerance apart\n", newton, cold, worst / (f->h * f->tol));
    CHECK(newton < cold);
    CHECK(worst <= 2 * f->h * f->tol);
    world_close(&w);
}
