/* Tables of keys (formats/scene/keys.h): every kind of row, every interval, and the messages. */
#include "check.h"

#include "formats/scene/keys.h"

typedef struct thing {
    double length, axis[3], size[3], box[2][3];
    abut_param dhat;
    int32_t count, cells[2];
    int law, flag, has_count, sum;
    const abut_tree *tree;
} thing;

static abut_status add(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    int32_t n = 0;
    (void)r;
    const abut_status rc = abut_tree_int(t, "more", 0, 9, &n, err);
    ((thing *)to)->sum += n;
    return rc;
}

static abut_status check_part(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r;
    return ((thing *)to)->flag ? ABUT_OK : abut_tree_fail(t, err, "part: expected a flag");
}

static const abut_key PART_KEYS[] = { { ABUT_FLAG(thing, "flag", flag), .fallback = "false" }, { 0 } };
static const abut_keys PART = { "part", "part.", PART_KEYS, 0, NULL };
static const abut_key PART_COUNT = { ABUT_WHOLE(thing, "part", count, "[1,9]") };
static const abut_key THING_KEYS[] = {
    { ABUT_NUMBER(thing, "length", length, LENGTH, "(0,)") },
    { ABUT_NUMBER(thing, "axis", axis, PURE, NULL) },
    { .name = "size", .kind = ABUT_KEY_AXES, .range = "[-1,2)", ABUT_AT(thing, size) },
    { ABUT_POINTS(thing, "box", box, LENGTH) },
    { ABUT_NUMBER(thing, "dhat", dhat, LENGTH_OR_L, "(0,1]") },
    { ABUT_WHOLE(thing, "count", count, "[0,)"), ABUT_HAS(thing, has_count) },
    { ABUT_WHOLE(thing, "cells", cells, "[1,4]") },
    { ABUT_WORD(thing, "law", law, ABUT_WORDS("ipc", "log2")) },
    { ABUT_CHECKED("part", &PART, check_part), .instead = &PART_COUNT },
    { .name = "more", .kind = ABUT_KEY_READ, .read = add },
    { ABUT_TREE(thing, "tree", tree) },
    { .name = "later", .kind = ABUT_KEY_LATER },
    { 0 }
};
static const abut_keys THING = { "thing", "thing.", THING_KEYS, 1, NULL };

static abut_status read_thing(const char *text, thing *to, abut_err *err)
{
    abut_arena arena = { 0 };
    abut_tree *root = NULL;
    const abut_scene_reader r = { 0 };
    abut_status rc = abut_yaml_read(&arena, "t", text, strlen(text), &root, err);
    if (!rc) rc = abut_keys_read(&r, &THING, root, to, err);
    if (to->tree) to->count += to->tree->n;
    abut_arena_clear(&arena);
    return rc;
}

TEST(a_row_puts_its_value_into_its_member_and_no_other)
{
    abut_err err = { 0 };
    thing t = { .axis = { 7, 8, 9 }, .cells = { 5, 6 } };
    CHECK(!read_thing("{length: 2 mm, size: 0.5, dhat: 0.25 l, law: log2, part: {flag: true}, more: 4, later: [x]}", &t, &err));
    CHECK(t.length == 2 * 1e-3 && t.size[0] == 0.5 && t.size[2] == 0.5 && t.law == 1 && t.flag == 1 && t.sum == 4);
    CHECK(t.dhat.value == 0.25 && t.dhat.per_length && !strcmp(t.dhat.from, "t:1:33"));
    CHECK(t.axis[0] == 7 && t.axis[2] == 9 && t.cells[1] == 6 && !t.has_count && t.box[1][2] == 0);
    t = (thing){ 0 };
    CHECK(!read_thing("{length: 1, axis: [1, 2, 3], size: [-1, 0, 1.9], box: [[0, 1, 2], [3, 4, 5]], count: 0, cells: [1, 4]}",
                      &t, &err));
    CHECK(t.axis[1] == 2 && t.size[0] == -1 && t.size[2] == 1.9 && t.box[0][1] == 1 && t.box[1][2] == 5);
    CHECK(t.has_count && t.count == 0 && t.cells[0] == 1 && t.cells[1] == 4);
    t = (thing){ 0 };
    CHECK(!read_thing("{length: 1, part: 3, tree: [a, b]}", &t, &err));
    CHECK(t.count == 5 && t.flag == 0);
}

TEST(a_value_that_no_row_takes_is_refused_with_what_was_expected)
{
    static const struct { const char *text, *part; } bad[] = {
        { "{}", "t:1:1: thing: 'length' is missing" },
        { "{length: 1, lenght: 2}", "t:1:13: thing: unknown key 'lenght'; did you mean 'length'?" },
        { "{length: 0}", "t:1:10: thing.length is '0': expected more than 0" },
        { "{length: 1 s}", "thing.length is '1 s': expected a number, if it has a unit one of m," },
        { "{length: 1, size: 2}", "thing.size is '2': expected -1 or more and less than 2" },
        { "{length: 1, size: [0, -2, 0]}", "t:1:23: thing.size is '-2': expected -1 or more and less than 2" },
        { "{length: 1, dhat: 1.5 m}", "thing.dhat is '1.5 m': expected more than 0 and at most 1" },
        { "{length: 1, axis: [1, 2]}", "thing.axis is a list of 2: expected a list of 3 numbers" },
        { "{length: 1, box: [[0, 1, 2]]}", "thing.box is a list of 1: expected a list of 2" },
        { "{length: 1, count: -1}", "thing.count is '-1': expected an integer from 0 to 2147483647" },
        { "{length: 1, cells: [1, 5]}", "thing.cells is '5': expected an integer from 1 to 4" },
        { "{length: 1, law: log3}", "thing.law is 'log3'; did you mean 'log2'?" },
        { "{length: 1, part: {flag: 2}}", "part.flag is '2': expected one of false, true" },
        { "{length: 1, part: {}}", "part: expected a flag" },
        { "{length: 1, part: 10}", "thing.part is '10': expected an integer from 1 to 9" },
        { "{length: 1, part: [1]}", "part is a list of 1: expected a map with keys among flag" },
        { "{length: 1, more: 10}", "more is '10': expected an integer from 0 to 9" },
        { "[1]", "thing is a list of 1: expected a map with keys among length, axis," },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        abut_err err = { 0 };
        thing t = { 0 };
        const abut_status rc = read_thing(bad[i].text, &t, &err);
        CHECK(rc == ABUT_E_FORMAT && strstr(err.msg, bad[i].part));
        if (!strstr(err.msg, bad[i].part)) printf("# %s: %s\n", bad[i].text, err.msg);
    }
}

TEST(the_list_of_keys_has_what_a_row_takes_its_range_and_its_default)
{
    char text[4096] = "";
    FILE *f = tmpfile();
    const thing usual = { .length = 3, .law = 1, .dhat = { 0.5, 1, "default" } };
    abut_keys_write(f, "a", &THING, &usual);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CHECK(strstr(text, "a.length\tnumber (m, cm, mm, um, nm)\tmore than 0\t3\n") == text);
    CHECK(strstr(text, "\na.size\tnumber, or 3 numbers\t-1 or more and less than 2\t\n"));
    CHECK(strstr(text, "\na.box\t2 points (m, cm, mm, um, nm)\t\t\n"));
    CHECK(strstr(text, "\na.dhat\tnumber (m, cm, mm, um, nm, l)\tmore than 0 and at most 1\t0.5 l\n"));
    CHECK(strstr(text, "\na.cells\t2 integers\t1 or more and at most 4\t\n"));
    CHECK(strstr(text, "\na.law\tone of ipc, log2\t\tlog2\n"));
    CHECK(strstr(text, "\na.part\tmap\t\t\na.part.flag\ttrue or false\t\tfalse\n"));
}
