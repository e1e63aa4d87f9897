/* The golden streams of every release, their text, and the worked example of formats/STATE.md.  Runs in the root folder. */
#include "check.h"
#include "formats/stream/dump.h"
#include "formats/stream/state_wire.h"
#include "model/model.h"

#include <ctype.h>
#include <zlib.h>

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(1 << 20);
    if (!p) abort();
    *n = f ? fread(p, 1, (1 << 20) - 1, f) : 0;
    p[*n] = 0;
    if (!f) printf("# %s is missing\n", path);
    if (f) fclose(f);
    return p;
}

static void dump_equals(const char *stream, const char *text)
{
    abut_reader *r;
    abut_err err = { 0 };
    size_t n, m;
    FILE *f = fopen(stream, "rb"), *out = tmpfile();
    CHECK(f && out);
    if (!f || !out) return;
    abut_status rc = abut_reader_open(f, stream, &r, &err);
    if (!rc) rc = abut_dump(r, out, NULL, &err);
    CHECK(!rc);
    if (rc) printf("# %s\n", err.msg);
    abut_reader_free(&r);
    fclose(f);
    char *expected = slurp(text, &n), *got = calloc(1, n + 2);
    rewind(out);
    m = got ? fread(got, 1, n + 1, out) : 0;
    CHECK(n > 100 && m == n && !memcmp(expected, got, n));
    fclose(out);
    free(expected);
    free(got);
}

TEST(the_stored_stream_of_1_0_says_what_it_always_said)
{
    dump_equals("tests/golden/stored-1.0.abut", "tests/golden/1.0.txt");
}

TEST(a_stream_of_1_0_with_waypoints_says_what_it_always_said)
{
    dump_equals("tests/golden/waypoints-1.0.abut", "tests/golden/waypoints-1.0.txt");
}

TEST(a_stream_of_1_2_with_curved_tets_says_what_it_always_said)
{
    dump_equals("tests/golden/orders-1.2.abut", "tests/golden/orders-1.2.txt");
}

TEST(the_compressed_stream_of_1_0_says_the_same)
{
    dump_equals("tests/golden/compressed-1.0.abut", "tests/golden/1.0.txt");
}

/* Reads a stream, checks its views, writes it again at the same level. */
static char *copy(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb"), *out = tmpfile();
    abut_reader *r;
    abut_writer *w;
    abut_arrays s = { 0 }, models = { 0 };
    abut_model m = { 0 };
    abut_frame frame;
    abut_item item = ABUT_ITEM_MODEL;
    abut_frame_head h;
    abut_err err = { 0 };
    int nprov;
    CHECK(f && out && !abut_reader_open(f, path, &r, &err) && !abut_writer_open(out, 0, &w, &err));
    const abut_prov *p = abut_reader_prov(r, &nprov);
    for (int i = 0; i < nprov; i++) CHECK(!abut_writer_prov(w, p[i].tool, p[i].version, p[i].options, &err));
    while (!abut_reader_next(r, &item, &h, &s, &err) && item != ABUT_ITEM_END) {
        if (item == ABUT_ITEM_MODEL) {
            abut_arrays_clear(&models);
            CHECK(!abut_writer_model(w, &s, &err));
            models = s;
            s = (abut_arrays){ 0 };
            CHECK(!abut_model_view(&models, &m, &err));
        } else {
            CHECK(!abut_frame_view(&s, &m, &frame, &err));
            CHECK(!abut_writer_frame(w, &h, &s, &err));
        }
    }
    CHECK(!err.code && !abut_writer_close(w, &err));
    if (err.code) printf("# %s\n", err.msg);
    abut_arrays_clear(&models);
    abut_writer_free(&w);
    abut_reader_free(&r);
    fclose(f);
    char *got = calloc(1, 1 << 20);
    if (!got) abort();
    rewind(out);
    *n = fread(got, 1, 1 << 20, out);
    fclose(out);
    return got;
}

enum { MINOR = 10, HEAD = 16, SECTION = 16 };   /* bytes, each head and payload followed by a checksum of all before */

/* The stream p[n] as a writer of the present minor version has it: a byte of its head, and what follows from that. */
static void of_this_version(char *p, size_t n)
{
    unsigned char *b = (unsigned char *)p;
    b[MINOR] = ABUT_STATE_MINOR;
    unsigned long crc = crc32(0, b, HEAD);
    abut_put_le(b + HEAD, crc, 4);
    for (size_t at = HEAD + 4; at + SECTION < n;) {
        const size_t size = SECTION + abut_get_le(b + at + 8, 8);
        crc = crc32(crc, b + at, (unsigned)size);
        abut_put_le(b + at + size, crc, 4);
        at += size + 4;
    }
}

TEST(a_stream_of_curved_tets_is_valid_and_rewritten_with_the_same_bytes)
{
    size_t n, m;
    char *expected = slurp("tests/golden/orders-1.2.abut", &n), *got = copy("tests/golden/orders-1.2.abut", &m);
    CHECK(n > 100 && expected[MINOR] == 2);
    of_this_version(expected, n);
    CHECK(m == n && !memcmp(expected, got, n));
    free(expected);
    free(got);
}

TEST(a_stream_that_another_implementation_wrote_is_valid_and_rewritten_with_the_same_bytes)
{
    size_t n, m, k;
    char *expected = slurp("tests/golden/stored-1.0.abut", &n);
    char *got = copy("tests/golden/stored-1.0.abut", &m), *expanded = copy("tests/golden/compressed-1.0.abut", &k);
    CHECK(n > 100 && expected[MINOR] == 0);
    of_this_version(expected, n);
    CHECK(m == n && !memcmp(expected, got, n));
    CHECK(k == n && !memcmp(expected, expanded, n));
    free(expected);
    free(got);
    free(expanded);
}

/* The last frame of a stream of 1.0 has its waypoints under their former name. */
TEST(waypoints_of_1_0_are_viewed_and_carried_under_their_present_name)
{
    FILE *f = fopen("tests/golden/waypoints-1.0.abut", "rb");
    abut_reader *r = NULL;
    abut_arrays s = { 0 }, models = { 0 }, next = { 0 };
    abut_model m = { 0 };
    abut_frame frame = { 0 };
    abut_item item;
    abut_frame_head h;
    abut_err err = { 0 };
    CHECK(f && !abut_reader_open(f, "waypoints-1.0.abut", &r, &err));
    CHECK(!abut_reader_next(r, &item, &h, &models, &err) && !abut_model_view(&models, &m, &err));
    for (int k = 0; k < 2; k++) CHECK(!abut_reader_next(r, &item, &h, &s, &err) && !abut_frame_view(&s, &m, &frame, &err));
    CHECK(h.step == 12);
    abut_array *way = abut_arrays_find(&s, "step/way");
    CHECK(way && !abut_arrays_find(&s, "step/waypoints"));
    CHECK(frame.nw == 2 * m.nv && frame.waypoints == way->data);
    CHECK(abut_array_named(&s, "step/waypoints") == way && abut_array_known("step/way"));
    way->flags = ABUT_A_CARRY | ABUT_A_REQUIRED;
    CHECK(!abut_frame_view(&s, &m, &frame, &err));     /* it is understood */
    CHECK(!abut_frame_carry(&s, &next, &err));
    const abut_array *now = abut_arrays_find(&next, "step/waypoints");
    CHECK(now && !abut_arrays_find(&next, "step/way") && abut_array_count(now) == abut_array_count(way));
    CHECK(now && now->data != way->data && !memcmp(now->data, way->data, abut_array_bytes(way)));
    /* where both are there, the present one counts */
    double *both = abut_frame_put(&s, "step/waypoints", m.nv, &err);
    CHECK(both && !abut_frame_view(&s, &m, &frame, &err) && frame.waypoints == both && frame.nw == m.nv);
    CHECK(!abut_frame_put(&s, "step/way", m.nv, &err));
    abut_reader_free(&r);
    fclose(f);
    abut_arrays_clear(&s);
    abut_arrays_clear(&models);
    abut_arrays_clear(&next);
}

/* Bytes of the hex columns of the code block that follows the line "<!-- example -->". */
static size_t example_bytes(unsigned char *out, size_t room)
{
    size_t n = 0, size;
    char *text = slurp("formats/STATE.md", &size), *line = strstr(text, "<!-- example -->");
    line = line ? strstr(line, "```") : NULL;
    while (line && (line = strchr(line, '\n')) && strncmp(++line, "```", 3)) {
        const char *p = line;
        while (n < room && isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1]) && (p[2] == ' ' || p[2] == '\n')) {
            const char two[3] = { p[0], p[1], 0 };
            out[n++] = (unsigned char)strtoul(two, NULL, 16);
            p += p[2] == ' ' ? 3 : 2;
        }
    }
    free(text);
    return n;
}

TEST(the_example_of_the_specification_is_what_the_writer_writes)
{
    unsigned char example[512], got[512];
    const size_t n = example_bytes(example, sizeof example);
    FILE *f = tmpfile();
    abut_writer *w;
    abut_arrays s = { 0 };
    abut_frame_head h = { 1, 0.01, ABUT_COMMITTED };
    CHECK(!abut_writer_open(f, 0, &w, NULL) && !abut_writer_prov(w, "demo", "0.1.0", "{}", NULL));
    CHECK(!abut_arrays_put_f64(&s, "time/step", 0.01, "s", NULL) && !abut_writer_model(w, &s, NULL));
    abut_arrays_clear(&s);
    double *x = abut_arrays_put_rows(&s, "node/x", ABUT_F64, 1, 3, "m", NULL);
    if (x) x[0] = 1, x[2] = -2;
    CHECK(!abut_writer_frame(w, &h, &s, NULL) && !abut_writer_close(w, NULL));
    abut_arrays_clear(&s);
    abut_writer_free(&w);
    rewind(f);
    const size_t m = fread(got, 1, sizeof got, f);
    CHECK(m == n && !memcmp(example, got, n));
    if (m != n || memcmp(example, got, n))
        for (size_t i = 0; i < m; i++) printf("%s%02x%s", i % 16 ? "" : "# ", got[i], i % 16 == 15 || i + 1 == m ? "\n" : " ");
    fclose(f);
}

/* "| `node/X` | f64 [nv, 3] | m |", as the tables of the specification have it */
static int documented(const char *text, const char *name, const char *type, const char *rows, const char *width,
                      const char *unit)
{
    char line[160], shape[40];
    if (!strcmp(rows, "1")) snprintf(shape, sizeof shape, "[]");
    else if (!strcmp(width, "0")) snprintf(shape, sizeof shape, "[%s]", rows + (!strcmp(rows, "n3")));
    else snprintf(shape, sizeof shape, "[%s, %s]", rows, width);
    snprintf(line, sizeof line, "\n| `%s` | %s %s |%s%s |", name, type, shape, *unit ? " " : "", unit);
    if (strstr(text, line)) return 1;
    printf("# formats/STATE.md lacks: %s\n", line + 1);
    return 0;
}

#define DOCUMENTED(m, name, ctype, dtype, rows, width, unit, rule, range) \
    CHECK(documented(text, name, abut_dtype_name(ABUT_##dtype), #rows, #width, unit));

TEST(every_array_of_the_model_and_frame_tables_is_in_the_specification)
{
    size_t n;
    char *text = slurp("formats/STATE.md", &n);
    ABUT_MODEL_FIELDS(DOCUMENTED)
    ABUT_FRAME_FIELDS(DOCUMENTED)
    free(text);
}

TEST(numbers_are_printed_short_and_exact)
{
    char buf[ABUT_NUMBER_MAX];
    CHECK(!strcmp(abut_print_f64(buf, 0.1), "0.1") && !strcmp(abut_print_f64(buf, -0.0), "-0"));
    CHECK(!strcmp(abut_print_f64(buf, 1. / 3), "0.3333333333333333"));
    CHECK(!strcmp(abut_print_f64(buf, 0.1 + 0.2), "0.30000000000000004"));
    CHECK(!strcmp(abut_print_f64(buf, 5e-324), "4.94065645841247e-324"));
    CHECK(!strcmp(abut_print_f64(buf, -(double)INFINITY), "-inf") && !strncmp(abut_print_f64(buf, (double)NAN), "nan(0x", 6));
}

TEST(a_dump_can_be_narrowed_to_some_arrays_and_to_their_descriptions)
{
    static const char *const patterns[] = { "lag/*", "contact/kappa" };
    const abut_dump_opts opts = { patterns, 2, 1 };
    FILE *f = fopen("tests/golden/stored-1.0.abut", "rb"), *out = tmpfile();
    abut_reader *r;
    char text[4096] = "";
    CHECK(f && out && !abut_reader_open(f, "golden", &r, NULL) && !abut_dump(r, out, &opts, NULL));
    rewind(out);
    CHECK(fread(text, 1, sizeof text - 1, out) > 0);
    CHECK(strstr(text, "array lag/node i32 [1, 4]\narray lag/weight f64 [1, 4]\n"));
    CHECK(strstr(text, "array contact/kappa f64 [] kg/m^2\n") && !strstr(text, "node/x") && !strstr(text, "kappa-min"));
    abut_reader_free(&r);
    fclose(f);
    fclose(out);
}
