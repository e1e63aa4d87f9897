/* Files that results go to: numbers and texts in them, and what is there under their names before and after. */
#define _XOPEN_SOURCE 700   /* mkdtemp */
#include "check.h"

#include "formats/result/out_file.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/abut-out.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][80];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    if (!f || fputs(text, f) < 0 || fclose(f)) abort();
}

/* Whether a file of the folder holds the text; NULL: there is none. */
static int holds(const char *name, const char *text)
{
    char got[100] = "";
    FILE *f = fopen(in_folder(name), "r");
    if (!f) return !text;
    const size_t n = fread(got, 1, sizeof got - 1, f);
    fclose(f);
    return text && n == strlen(text) && !strcmp(got, text);
}

SETUP
{
    if (!mkdtemp(folder)) abort();
}

TEARDOWN
{
    if (rmdir(folder)) printf("# %s stays\n", folder);
}

/* ---- texts ---- */

/* Checks that the statement `put` writes the text `want` into f. */
#define WRITTEN(want, put) \
    do { \
        abut_text_file t_; \
        abut_err err_ = { 0 }; \
        CHECK(!abut_text_file_open(&t_, &err_)); \
        FILE *const f = t_.f; \
        put; \
        CHECK(!abut_text_file_end(&t_, "a text", &err_)); \
        CHECK(t_.text && t_.size == strlen(want) && !strcmp(t_.text, want)); \
        abut_text_file_clear(&t_); \
    } while (0)

TEST(a_string_of_json_has_quotes_backslashes_and_control_characters_escaped)
{
    WRITTEN("\"\"", abut_json_string(f, ""));
    WRITTEN("\"a \\\"b\\\" \\\\ \\u000a\\u001f \x7f\xc3\xa9\"", abut_json_string(f, "a \"b\" \\ \n\x1f \x7f\xc3\xa9"));
}

TEST(numbers_are_as_short_as_they_read_back_and_json_has_null_for_what_is_none)
{
    WRITTEN("0.1", abut_json_number(f, 0.1));
    WRITTEN("0.30000000000000004", abut_json_number(f, 0.1 + 0.2));
    WRITTEN("-0", abut_json_number(f, -0.0));
    WRITTEN("null", abut_json_number(f, NAN));
    WRITTEN("null", abut_json_number(f, -INFINITY));
    WRITTEN("0.30000000000000004", abut_csv_number(f, 0.1 + 0.2));
    WRITTEN("inf", abut_csv_number(f, INFINITY));
    WRITTEN("", abut_csv_number(f, NAN));
}

TEST(a_cell_of_csv_is_in_quotes_if_a_reader_would_end_it_early)
{
    WRITTEN("plain; text", abut_csv_text(f, "plain; text"));
    WRITTEN("", abut_csv_text(f, ""));
    WRITTEN("\"a,b\"", abut_csv_text(f, "a,b"));
    WRITTEN("\"\"\"a\"\"\"", abut_csv_text(f, "\"a\""));
    WRITTEN("\"a\r\"", abut_csv_text(f, "a\r"));
    WRITTEN("\"\na\"", abut_csv_text(f, "\na"));
}

/* RFC 4648, section 10, and lengths around a line of 768 bytes, decoded a bit at a time. */
TEST(base64_reads_back_at_every_length)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char *const known[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
    uint8_t p[1600];
    for (size_t i = 0; i < sizeof p; i++) p[i] = (uint8_t)(i * 167 + i / 256);
    for (size_t n = 0; n < 7; n++) WRITTEN(known[n], abut_base64(f, (const uint8_t *)"foobar", n));
    for (size_t n = 765; n < 1540; n += n == 771 ? 763 : 1) {
        abut_text_file t;
        abut_err err = { 0 };
        size_t wrong = 0;
        CHECK(!abut_text_file_open(&t, &err));
        abut_base64(t.f, p, n);
        CHECK(!abut_text_file_end(&t, "digits", &err) && t.size == (n + 2) / 3 * 4);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            const char *at = strchr(digit, t.text[bit / 6]);
            wrong += !at || ((at - digit) >> (5 - bit % 6) & 1) != (p[bit / 8] >> (7 - bit % 8) & 1);
        }
        CHECK(wrong == 0);
        abut_text_file_clear(&t);
    }
}

TEST(a_text_in_memory_grows_with_what_is_written_and_ends_with_0)
{
    abut_text_file t;
    abut_err err = { 0 };
    size_t wrong = 0;
    CHECK(!abut_text_file_open(&t, &err));
    for (int i = 0; i < 30000; i++) fprintf(t.f, "%07d", i);
    CHECK(!abut_text_file_end(&t, "numbers", &err) && !t.f && t.size == 210000 && t.size < t.room && t.text[t.size] == 0);
    for (int i = 0; i < 30000; i++) {
        char want[8];
        snprintf(want, sizeof want, "%07d", i);
        wrong += memcmp(t.text + 7 * i, want, 7) != 0;
    }
    CHECK(wrong == 0);
    abut_text_file_clear(&t);
    CHECK(!abut_text_file_open(&t, &err) && !abut_text_file_end(&t, "nothing", &err) && t.size == 0 && !*t.text);
    abut_text_file_clear(&t);
}

/* ---- files ---- */

TEST(a_file_appears_when_it_is_closed_and_replaces_one_unless_that_is_kept)
{
    abut_out_file o;
    abut_err err = { 0 };
    put_file("a.csv", "old");
    CHECK(!abut_out_open(&o, in_folder("a.csv"), 0, &err) && fputs("new", o.f) > 0 && !fflush(o.f));
    CHECK(holds("a.csv", "old") && holds("a.csv.part", "new"));
    CHECK(!abut_out_close(&o, &err) && !o.f && !o.path);
    CHECK(holds("a.csv", "new") && holds("a.csv.part", NULL));

    remove(in_folder("a.csv"));
    CHECK(!abut_out_open(&o, in_folder("a.csv"), 1, &err) && fputs("second", o.f) > 0);
    CHECK(!abut_out_close(&o, &err) && holds("a.csv", "second") && holds("a.csv.part", NULL));

    remove(in_folder("a.csv"));
    CHECK(!abut_out_open(&o, in_folder("a.csv"), 1, &err) && fputs("late", o.f) > 0);
    put_file("a.csv", "early");     /* another program was faster */
    CHECK(abut_out_close(&o, &err) == ABUT_E_IO && holds("a.csv", "early") && holds("a.csv.part", "late"));
    CHECK(strstr(err.msg, "/a.csv: has appeared during the run and stays, as --no-clobber says; the output is /tmp/") &&
          strstr(err.msg, "/a.csv.part"));
    remove(in_folder("a.csv"));
    remove(in_folder("a.csv.part"));
}

TEST(a_file_that_is_dropped_or_follows_an_error_leaves_nothing_and_the_old_one_as_it_was)
{
    abut_out_file o;
    abut_err err = { 0 };
    put_file("a.csv", "old");
    CHECK(!abut_out_open(&o, in_folder("a.csv"), 0, &err) && fputs("new", o.f) > 0);
    abut_out_drop(&o);
    CHECK(holds("a.csv", "old") && holds("a.csv.part", NULL));
    CHECK(!abut_out_open(&o, in_folder("a.csv"), 0, &err) && fputs("new", o.f) > 0);
    abut_fail(&err, ABUT_E_GEOM, "before");
    CHECK(abut_out_close(&o, &err) == ABUT_E_GEOM && !strcmp(err.msg, "before"));
    CHECK(holds("a.csv", "old") && holds("a.csv.part", NULL));
    remove(in_folder("a.csv"));
}

TEST(files_of_a_series_are_numbered_with_four_digits_or_more)
{
    abut_out_file o;
    abut_err err = { 0 };
    static const struct { int number; const char *name; } of[] = { { 7, "nodes_0007.csv" }, { 12345, "nodes_12345.csv" } };
    for (int k = 0; k < 2; k++) {
        CHECK(!abut_out_open_numbered(&o, folder, "nodes", of[k].number, ".csv", 0, &err) && fputs("x", o.f) > 0);
        CHECK(!abut_out_close(&o, &err) && holds(of[k].name, "x"));
        remove(in_folder(of[k].name));
    }
}

TEST(what_is_in_the_way_of_an_output_is_named)
{
    abut_out_file o;
    abut_err err = { 0 };
    put_file("file", "x");
    CHECK(abut_out_folder(in_folder("file"), &err) == ABUT_E_IO && strstr(err.msg, "/file: is no folder"));
    CHECK(abut_out_folder(in_folder("no/such"), &err) == ABUT_E_IO);
    CHECK(strstr(err.msg, "/no/such: cannot make the folder: No such"));
    CHECK(!abut_out_folder(in_folder("new"), &err) && !abut_out_folder(in_folder("new"), &err));

    CHECK(!rename(in_folder("new"), in_folder("a.part")));
    CHECK(abut_out_open(&o, in_folder("a"), 0, &err) == ABUT_E_IO);
    CHECK(strstr(err.msg, "a.part: is a folder; the output is written"));
    CHECK(!o.f && !o.path);
    CHECK(!rmdir(in_folder("a.part")) && !symlink("file", in_folder("a.part")));
    CHECK(abut_out_open(&o, in_folder("a"), 0, &err) == ABUT_E_IO && strstr(err.msg, "a.part: is a symbolic link"));
    CHECK(holds("file", "x"));
    remove(in_folder("a.part"));
    CHECK(!mkfifo(in_folder("a.part"), 0600));
    CHECK(abut_out_open(&o, in_folder("a"), 0, &err) == ABUT_E_IO && strstr(err.msg, "a.part: is a fifo"));
    remove(in_folder("a.part"));
    remove(in_folder("file"));
}

TEST(devices_are_written_directly_and_a_full_one_is_named)
{
    abut_out_file o;
    abut_err err = { 0 };
    CHECK(abut_out_direct("/dev/null") && abut_out_direct("/proc/self/fd/1") && abut_out_direct(folder));
    CHECK(!abut_out_direct(in_folder("none")) && !abut_out_direct("/device"));
    CHECK(!abut_out_open(&o, "/dev/full", 0, &err) && !o.part && fputs("x", o.f) > 0);
    CHECK(abut_out_close(&o, &err) == ABUT_E_IO && !strcmp(err.msg, "/dev/full: No space left on device"));
}

TEST(a_stream_that_is_lent_stays_open)
{
    abut_out_file o;
    abut_err err = { 0 };
    FILE *f = tmpfile();
    if (!f) abort();
    abut_out_lend(&o, f);
    CHECK(fputs("x", o.f) > 0 && !abut_out_close(&o, &err) && !o.f);
    CHECK(fputs("y", f) > 0 && ftell(f) == 2);
    abut_out_lend(&o, f);
    abut_out_drop(&o);
    CHECK(fputs("z", f) > 0 && ftell(f) == 3 && !fclose(f));
    f = fopen("/dev/full", "w");
    if (!f) abort();
    abut_out_lend(&o, f);
    CHECK(fputs("x", o.f) > 0 && abut_out_close(&o, &err) == ABUT_E_IO && !strcmp(err.msg, "output: No space left on device"));
    fclose(f);
}
