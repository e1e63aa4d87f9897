#include "check.h"

#include "formats/result/shots.h"

/* Does a list of numbers name frame i of n?  As the tests mean it, spelled out. */
static int listed(const int *list, int n, int i)
{
    for (int k = 0; k < n; k++)
        if (list[k] == i) return 1;
    return 0;
}

static void check_picks(const char *text, int total, const int *want, int n)
{
    abut_pick p = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_pick_parse(text, &p, &err));
    for (int i = 0; i < total; i++) {
        if (abut_pick_takes(&p, i, total) != listed(want, n, i)) printf("# '%s' of %d: frame %d\n", text, total, i);
        CHECK(abut_pick_takes(&p, i, total) == listed(want, n, i));
    }
}

#define PICKS(text, total, ...) \
    check_picks(text, total, (const int[]){ __VA_ARGS__ }, (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)))

TEST(ranges_mean_what_they_mean_in_python)
{
    PICKS("0:10:3", 12, 0, 3, 6, 9);
    PICKS("2:5", 12, 2, 3, 4);
    PICKS(":", 4, 0, 1, 2, 3);
    PICKS("::2", 5, 0, 2, 4);
    PICKS("-3:", 10, 7, 8, 9);
    PICKS("-3:-1", 10, 7, 8);
    PICKS(":-7", 10, 0, 1, 2);
    PICKS("-20::2", 5, 0, 2, 4);
    PICKS("5:100", 7, 5, 6);
    PICKS("-5::2", 12, 7, 9, 11);
}

TEST(lists_name_single_frames_and_ranges)
{
    PICKS("7", 10, 7);
    PICKS("-1", 10, 9);
    PICKS("0,3,-1", 10, 0, 3, 9);
    PICKS("8:,1", 10, 1, 8, 9);
}

TEST(a_frame_that_leaves_the_queue_is_judged_as_at_the_end)
{
    static const char *const text[] = { "-4:", "1:-2:2", "-3,0,5", "-9:-4", ":", "-1" };
    for (int k = 0; k < 6; k++) {
        abut_pick p = { 0 };
        abut_err err = { 0 };
        CHECK(!abut_pick_parse(text[k], &p, &err));
        for (int total = 1; total < 25; total++)
            for (int i = 0; i + p.hold < total; i++)
                CHECK(abut_pick_takes(&p, i, i + p.hold + 1) == abut_pick_takes(&p, i, total));
    }
}

TEST(what_is_no_choice_of_frames_is_refused_by_name)
{
    static const char *const bad[] = { "", "a", "1:2:0", "1:2:-1", "1,,2", "3:4:5:6", "1.5", "99999999999", "1 2", "-" };
    for (int k = 0; k < 10; k++) {
        abut_pick p = { 0 };
        abut_err err = { 0 };
        CHECK(abut_pick_parse(bad[k], &p, &err) == ABUT_E_ARG);
        CHECK(strstr(err.msg, bad[k]) != NULL);
    }
}

TEST(a_single_frame_beyond_the_end_is_an_error_and_a_range_is_not)
{
    abut_pick p = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_pick_parse("3,12", &p, &err));
    CHECK(abut_pick_check(&p, 12, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "frame 12") && strstr(err.msg, "12 frames"));
    CHECK(!abut_pick_check(&p, 13, &(abut_err){ 0 }));
    CHECK(!abut_pick_parse("3:40", &p, &err));
    CHECK(!abut_pick_check(&p, 12, &(abut_err){ 0 }));
    CHECK(abut_pick_check(&p, 3, &(abut_err){ 0 }) == ABUT_E_ARG);
}
