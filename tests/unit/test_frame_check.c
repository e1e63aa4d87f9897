/* Frames against their model: what a view of one refuses. */
#include "check.h"
#include "sample.h"

/* The view of the frame must fail with a message that contains both texts. */
static void frame_refused(abut_arrays *s, const abut_model *m, const char *array, const char *why)
{
    abut_frame f = { .nv = 77 };
    abut_err err = { 0 };
    CHECK(abut_frame_view(s, m, &f, &err) == ABUT_E_FORMAT && f.nv == 77);
    if (!strstr(err.msg, array) || !strstr(err.msg, why)) {
        check_bad++;
        printf("# expected '%s' and '%s' in: %s\n", array, why, err.msg);
    }
    abut_arrays_clear(s);
}

TEST(only_carried_arrays_that_are_not_there_yet_go_into_a_new_frame)
{
    abut_arrays from = { 0 }, to = { 0 };
    int32_t *a = abut_arrays_put(&from, "x/carried", ABUT_I32, 0, NULL, "", ABUT_A_CARRY, NULL);
    int32_t *b = abut_arrays_put(&from, "x/renewed", ABUT_I32, 0, NULL, "", ABUT_A_CARRY, NULL);
    int32_t *c = abut_arrays_put(&to, "x/renewed", ABUT_I32, 0, NULL, "", ABUT_A_CARRY, NULL);
    CHECK(a && b && c && !abut_arrays_put_i32(&from, "x/left", 3, NULL));
    if (a && b && c) *a = 1, *b = 2, *c = 4;
    CHECK(!abut_frame_carry(&from, &to, NULL) && to.n == 2);
    CHECK(i32(&to, "x/carried")[0] == 1 && i32(&to, "x/renewed")[0] == 4 && !abut_arrays_find(&to, "x/left"));
    CHECK(abut_arrays_find(&to, "x/carried")->flags == ABUT_A_CARRY);
    abut_arrays_clear(&from);
    abut_arrays_clear(&to);
}

TEST(friction_names_vertices_where_they_are_sums_of_nodes)
{
    abut_arrays s = { 0 };
    const int32_t first[4] = { 0, 1, 0, 1 };
    const abut_model m = { .nv = 7, .nc = 2, .map_first = first };
    abut_frame f;
    sample_frame(&s, 1);
    frame_refused(&s, &m, "lag/node", "expected 'lag/vertex'");
    sample_frame(&s, 1);
    abut_arrays_remove(&s, "lag/node");
    frame_refused(&s, &m, "lag/vertex", "is missing");
    sample_frame(&s, 1);
    abut_arrays_remove(&s, "lag/node");
    SAMPLE_PUT(frame, &s, "lag/vertex", int32_t, 1, 1, -1, -1, -1);
    CHECK(!abut_frame_view(&s, &m, &f, NULL) && f.nl == 1 && f.lag_vertex[0] == 1);
    i32(&s, "lag/vertex")[0] = 2;
    frame_refused(&s, &m, "lag/vertex", "row 0: 2");
    sample_frame(&s, 1);
    SAMPLE_PUT(frame, &s, "lag/vertex", int32_t, 1, 1, -1, -1, -1);
    frame_refused(&s, &(abut_model){ .nv = 7 }, "lag/vertex", "expected 'lag/node'");
}

TEST(points_of_the_barrier_of_det_f_are_in_tets_of_higher_order)
{
    abut_arrays s = { 0 };
    static const int32_t order[1] = { 2 };
    const abut_model m = { .nv = 7, .nt = 1, .tet_order = order }, linear = { .nv = 7, .nt = 1 };
    abut_frame f;
    abut_err err = { 0 };
    sample_frame(&s, 1);
    SAMPLE_PUT(frame, &s, "step/jacobian-tet", int32_t, 2, 0, 0);
    frame_refused(&s, &m, "step/jacobian-point", "is missing");
    sample_frame(&s, 1);
    SAMPLE_PUT(frame, &s, "step/jacobian-point", double, 2, 1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25);
    frame_refused(&s, &m, "step/jacobian-tet", "is missing");
    for (int k = 0; k < 6; k++) {
        static const char *const name[] = { NULL, "step/jacobian-tet", "step/jacobian-tet", "step/jacobian-point",
                                            "step/jacobian-point", "step/jacobian-point" };
        static const char *const words[] = { NULL, "row 0: tet 0, expected one of order 2 or more", "row 1: 1",
                                             "row 1: least -0.25",
                                             "row 0: least 0, sum 1.5", "row 1" };
        sample_frame(&s, 1);
        SAMPLE_PUT(frame, &s, "step/jacobian-tet", int32_t, 2, 0, k == 2);
        SAMPLE_PUT(frame, &s, "step/jacobian-point", double, 2, k == 4 ? 1.5 : 1, 0, 0, 0, 0.25, k == 3 ? -0.25 : 0.25,
                   k == 5 ? (double)NAN : 0.25, k == 3 ? 0.75 : 0.25);
        if (k) frame_refused(&s, k == 1 ? &linear : &m, name[k], words[k]);
        if (!k) CHECK(!abut_frame_view(&s, &m, &f, &err) && f.njp == 2 && f.point_tet && f.point_at[4] == 0.25);
    }
}

/* A frame with the results of friction passes: pass/count, rows of pass/x (-1: none), of pass/kappa and pass/strain-kappa. */
static void pass_frame(abut_arrays *s, int count, int x, int kappa, int strain)
{
    abut_err err = { 0 };
    sample_frame(s, 1);
    if (count >= 0) *(int32_t *)abut_frame_put(s, "pass/count", 1, &err) = count;
    if (x >= 0) CHECK(abut_frame_put(s, "pass/x", x, &err) != NULL);
    double *k = kappa >= 0 ? abut_frame_put(s, "pass/kappa", kappa, &err) : NULL;
    for (int i = 0; i < kappa; i++) k[i] = 2 + i;
    k = strain >= 0 ? abut_frame_put(s, "pass/strain-kappa", strain, &err) : NULL;
    for (int i = 0; i < strain; i++) k[i] = 1000;
}

TEST(results_of_friction_passes_are_of_all_but_the_last)
{
    static const struct {
        int count, x, kappa, strain;
        const char *array, *why;
    } wrong[] = {
        { 3, 7, 2, -1, "pass/x", "has 7 rows, expected 14: 3 passes but the last, 7 nodes" },
        { 3, 21, 2, 2, "pass/x", "has 21 rows" }, { 1, 7, -1, -1, "pass/x", "has 7 rows, expected 0" },
        { 3, 14, 3, -1, "pass/kappa", "has 3 rows, expected 2" }, { 3, 14, -1, -1, "pass/kappa", "is missing" },
        { 1, -1, -1, 1, "pass/strain-kappa", "has 1 row, expected 0" }, { 3, 14, -1, 2, "pass/kappa", "is missing" },
        { -1, 14, 2, -1, "pass/count", "is missing" }, { 0, -1, -1, -1, "pass/count", "row 0: 0" },
    };
    const abut_model m = { .nv = 7 };
    abut_arrays s = { 0 };
    abut_frame f;
    abut_err err = { 0 };
    pass_frame(&s, 3, 14, 2, 2);
    CHECK(!abut_frame_view(&s, &m, &f, &err) && f.passes[0] == 3 && f.nip == 2 && f.nix == 14 && f.pass_kappa[1] == 3);
    abut_arrays_clear(&s);
    pass_frame(&s, 1, -1, -1, -1);
    CHECK(!abut_frame_view(&s, &m, &f, &err) && f.passes[0] == 1 && !f.pass_x);
    abut_arrays_clear(&s);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pass_frame(&s, wrong[i].count, wrong[i].x, wrong[i].kappa, wrong[i].strain);
        frame_refused(&s, &m, wrong[i].array, wrong[i].why);
    }
    pass_frame(&s, 2, 7, 1, 1);
    f64(&s, "pass/x")[4] = 1e99;
    frame_refused(&s, &m, "pass/x", "row 1: 1e+99");
    pass_frame(&s, 2, 7, 1, 1);
    f64(&s, "pass/kappa")[0] = -1;
    frame_refused(&s, &m, "pass/kappa", "row 0");
    pass_frame(&s, 2, 7, 1, 1);
    f64(&s, "pass/strain-kappa")[0] = -1;
    frame_refused(&s, &m, "pass/strain-kappa", "row 0");
}

TEST(a_frame_is_checked_against_its_model)
{
    abut_arrays s = { 0 };
    const abut_model m = { .nv = 7 };
    abut_frame f;
    abut_err err = { 0 };
    sample_frame(&s, 1);
    CHECK(!abut_frame_view(&s, &m, &f, &err));
    CHECK(f.nv == 7 && f.nl == 1 && f.x[1] == 0.999 && *f.kappa == 10. / 3);
    abut_arrays_remove(&s, "contact/kappa");
    CHECK(!abut_frame_view(&s, &m, &f, &err) && !f.kappa);
    abut_arrays_remove(&s, "lag/mu");
    frame_refused(&s, &m, "lag/mu", "missing");
    sample_frame(&s, 1);
    CHECK(abut_frame_put(&s, "step/waypoints", 10, &err) != NULL);
    frame_refused(&s, &m, "step/waypoints", "10 rows, expected a multiple of the 7 nodes");
    sample_frame(&s, 1);
    const abut_model other = { .nv = 8 };
    frame_refused(&s, &other, "node/x", "expected 8 (nv) as in 'node/X of the MODEL'");
    sample_frame(&s, 1);
    i32(&s, "lag/node")[0] = -1;
    frame_refused(&s, &m, "lag/node", "expected a node");
    sample_frame(&s, 1);
    i32(&s, "lag/node")[1] = 7;
    frame_refused(&s, &m, "lag/node", "row 0: 7");
    sample_frame(&s, 1);
    i32(&s, "lag/node")[2] = 3;
    frame_refused(&s, &m, "lag/node", "row 0: 3 after -1, expected -1");
    sample_frame(&s, 1);
    f64(&s, "lag/basis")[5] = 2;
    frame_refused(&s, &m, "lag/basis", "row 0: length 2");
    sample_frame(&s, 1);
    f64(&s, "lag/normal-force")[0] = -1;
    frame_refused(&s, &m, "lag/normal-force", "row 0");
}

TEST(hard_contacts_have_ranges_of_the_nodes_that_move)
{
    static const struct { int at, value; const char *why; } wrong[] = {
        { 0, -1, "row 0: -1, 2, expected a range of the 3 rows of touch/node" }, { 1, 4, "row 0: 0, 4, expected" },
        { 2, 4, "row 1: 4, 3, expected" }, { 3, 1, "row 1: 2, 1, expected" },
    };
    const abut_model m = { .nv = 7 };
    abut_frame f;
    for (int k = -1; k < 4; k++) {
        abut_arrays s = { 0 };
        sample_frame(&s, 1);
        SAMPLE_PUT(frame, &s, "touch/first", int32_t, 2, 0, 2, 2, 3);
        SAMPLE_PUT(frame, &s, "touch/node", int32_t, 3, 0, 1, 2);
        SAMPLE_PUT(frame, &s, "touch/weight", double, 3, 1, 1, 1);
        SAMPLE_PUT(frame, &s, "touch/point", double, 2, 0, 0, 0, 0, 0, 0);
        SAMPLE_PUT(frame, &s, "touch/normal", double, 2, 0, 1, 0, 0, 1, 0);
        SAMPLE_PUT(frame, &s, "touch/impulse", double, 2, 0, 1, 0, 0, 1, 0);
        SAMPLE_PUT(frame, &s, "touch/mu", double, 2, 0, 1);
        SAMPLE_PUT(frame, &s, "touch/state", int32_t, 2, 0, 1);
        if (k >= 0) {
            i32(&s, "touch/first")[wrong[k].at] = wrong[k].value;
            frame_refused(&s, &m, "touch/first", wrong[k].why);
            continue;
        }
        i32(&s, "touch/first")[2] = i32(&s, "touch/first")[3];      /* an empty range is one */
        CHECK(!abut_frame_view(&s, &m, &f, NULL) && f.ntc == 2 && f.ntn == 3);
        abut_arrays_clear(&s);
    }
}
