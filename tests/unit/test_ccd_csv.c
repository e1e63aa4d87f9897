/* The reader of public CCD queries: exact values, named errors, and no harm from cut or damaged files. */
#include "base/rng.h"
#include "check.h"
#include "formats/mesh/ccd_csv.h"

#include <stdint.h>


static const char good[] =
    "1,4,1,4,1,1,1\n0,1,0,1,0,1,1\n1,1,0,1,0,1,1\n0,1,1,1,0,1,1\n"
    "1,4,1,4,-1,1,1\n0,1,0,1,0,1,1\n1,1,0,1,0,1,1\n0,1,1,1,0,1,1\n";

static abut_status first(const char *text, size_t n, abut_ccd_query *q, int *more, abut_err *err)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, n, "r");
    abut_ccd_csv r = { f, "test.csv", 0 };
    abut_status rc = ABUT_OK;
    for (*more = 1; !rc && *more;) rc = abut_ccd_csv_next(&r, q, more, err);
    fclose(f);
    return rc;
}

/* the message for a file whose first coordinate is this pair */
static const char *complaint(const char *pair, abut_err *err)
{
    char text[512];
    abut_ccd_query q;
    int more;
    *err = (abut_err){ 0 };
    snprintf(text, sizeof text, "%s%s", pair, good + 3);
    return first(text, strlen(text), &q, &more, err) == ABUT_E_FORMAT ? err->msg : "no error";
}

TEST(query_is_read_as_written)
{
    abut_ccd_query q;
    abut_err err = { 0 };
    int more;
    CHECK(first(good, sizeof good - 1, &q, &more, &err) == ABUT_OK);
    CHECK(q.truth == 1 && q.x0[0] == .25 && q.x0[2] == 1 && q.x1[2] == -1 && q.x0[6] == 1 && q.x1[10] == 1);
}

TEST(any_double_survives_numerator_and_denominator)
{
    static const struct {
        const char *pair;
        double v;
    } c[] = { { "3,6", .5 }, { "-9007199254740993,1", 0 }, { "+7,1", 7 }, { "-0,5", 0 }, { "0,7", 0 },
              { "36893488147419103232,36893488147419103232", 1 }, { "9007199254740991,4503599627370496", 0x1.fffffffffffffp0 } };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char text[512];
        abut_ccd_query q = { .truth = 0 };
        abut_err err = { 0 };
        int more;
        snprintf(text, sizeof text, "%s%s", c[i].pair, good + 3);
        const abut_status rc = first(text, strlen(text), &q, &more, &err);
        if (i == 1)
            CHECK(rc == ABUT_E_FORMAT && strstr(err.msg, "not exactly a double"));
        else
            CHECK(rc == ABUT_OK && q.x0[0] == c[i].v);
    }
}

TEST(errors_name_line_column_and_reason)
{
    abut_err err;
    CHECK(strstr(complaint("x,4", &err), "test.csv, line 1, column 1: expected a decimal integer"));
    CHECK(strstr(complaint("1,0", &err), "column 3: the denominator is below 1"));
    CHECK(strstr(complaint("1,-4", &err), "the denominator is below 1"));
    CHECK(strstr(complaint("1,3", &err), "the coordinate x is not exactly a double"));
    CHECK(strstr(complaint("1.5,1", &err), "expected a decimal integer"));
    CHECK(strstr(complaint("", &err), "expected a decimal integer"));
    char long_number[420];
    memset(long_number, '9', 400);
    strcpy(long_number + 400, ",1");
    CHECK(strstr(complaint(long_number, &err), "not exactly a double"));
    char tiny[420];
    strcpy(tiny, "1,1");
    memset(tiny + 3, '0', 400);
    tiny[403] = 0;
    CHECK(strstr(complaint(tiny, &err), "not exactly a double"));
}

TEST(disagreeing_truth_zero_bytes_and_long_rows_are_refused)
{
    char text[sizeof good];
    abut_ccd_query q;
    abut_err err = { 0 };
    int more;
    memcpy(text, good, sizeof good);
    text[sizeof good - 3] = '0';
    CHECK(first(text, sizeof good - 1, &q, &more, &err) && strstr(err.msg, "line 8: truth 0, but 1"));
    text[sizeof good - 3] = '2';
    CHECK(first(text, sizeof good - 1, &q, &more, &err) && strstr(err.msg, "neither 0 nor 1"));
    text[sizeof good - 3] = 0;
    CHECK(first(text, sizeof good - 1, &q, &more, &err) && strstr(err.msg, "line 8: a zero byte"));
    char *row = malloc(70000);
    memset(row, '1', 70000);
    CHECK(first(row, 70000, &q, &more, &err) && strstr(err.msg, "longer than 65535 bytes"));
    free(row);
}

TEST(file_cut_anywhere_is_an_error_unless_whole)
{
    for (size_t n = 1; n < sizeof good; n++) {
        abut_ccd_query q;
        abut_err err = { 0 };
        int more;
        const abut_status rc = first(good, n, &q, &more, &err);
        CHECK(n >= sizeof good - 2 ? rc == ABUT_OK : rc == ABUT_E_FORMAT && err.msg[0]);
    }
}

TEST(damaged_files_end_in_a_query_or_an_error)
{
    abut_rng r = { 21 };
    int bad = 0;
    for (int it = 0; it < 10000; it++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int k = (int)abut_rng_below(&r, 4); k >= 0; k--)
            text[abut_rng_below(&r, sizeof good - 1)] =
                it % 2 ? (char)abut_rng_next(&r) : "0123456789,-\n"[abut_rng_below(&r, 13)];
        abut_ccd_query q;
        abut_err err = { 0 };
        int more;
        const abut_status rc = first(text, sizeof good - 1, &q, &more, &err);
        CHECK(rc == ABUT_OK || (rc == ABUT_E_FORMAT && err.msg[0]));
        bad += rc != ABUT_OK;
    }
    CHECK(bad > 5000);
}
