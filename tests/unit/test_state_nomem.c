/* The n-th allocation fails, for every n: the state stream reports it, frees everything, crashes nowhere. */
#include "check.h"
#include "failing_malloc.h"
#include "formats/stream/state_io.h"
#include "sample.h"

#ifdef ALLOCATOR_STAYS

TEST(every_failing_allocation_of_a_writer_and_a_reader_is_reported_and_nothing_leaks)
{
    SKIP("the allocator cannot be replaced here");
}
#else

static char buffer[1 << 16];

static abut_status write_all(FILE *f, int level, const abut_arrays *model, const abut_arrays *frame, abut_err *err)
{
    const abut_frame_head h = { 1, 0.01, ABUT_COMMITTED };
    abut_writer *w;
    abut_status rc = abut_writer_open(f, level, &w, err);
    if (!rc && !(rc = abut_writer_prov(w, "tool", "1", "{}", err)) && !(rc = abut_writer_model(w, model, err)) &&
        !(rc = abut_writer_frame(w, &h, frame, err)))
        rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    return rc;
}

static abut_status read_all(FILE *f, abut_err *err)
{
    abut_reader *r;
    abut_arrays s = { 0 };
    abut_item item = ABUT_ITEM_MODEL;
    abut_frame_head h;
    abut_status rc = abut_reader_open(f, "test", &r, err);
    while (!rc && item != ABUT_ITEM_END) rc = abut_reader_next(r, &item, &h, &s, err);
    abut_arrays_clear(&s);
    abut_reader_free(&r);
    return rc;
}

/* Runs with the n-th allocation failing for n = 0, 1, ... until one run needs no more; returns how many there were. */
static int exhaust(FILE *f, int level, int reading, const abut_arrays *model, const abut_arrays *frame)
{
    for (int n = 0;; n++) {
        abut_err err = { 0 };
        rewind(f);
        const int before = live;
        failed = 0;
        countdown = n;
        const abut_status rc = reading ? read_all(f, &err) : write_all(f, level, model, frame, &err);
        countdown = -1;
        if (!failed) {
            CHECK(!rc);
            return n;
        }
        if (rc != ABUT_E_NOMEM || live != before || err.code != rc || !err.msg[0]) {
            CHECK(!"allocation failure was not reported, or leaks");
            printf("# allocation %d: status %d, %d left, %s\n", n, rc, live - before, err.msg);
            return n;
        }
    }
}

TEST(every_failing_allocation_of_a_writer_and_a_reader_is_reported_and_nothing_leaks)
{
    abut_arrays model = { 0 }, frame = { 0 };
    sample_model(&model);
    sample_frame(&frame, 1);
    for (int level = 0; level <= 6; level += 6) {
        FILE *f = tmpfile();
        if (!f || setvbuf(f, buffer, _IOFBF, sizeof buffer)) abort();
        const int writes = exhaust(f, level, 0, &model, &frame), reads = exhaust(f, level, 1, &model, &frame);
        CHECK(writes > (level ? 100 : 1) && reads > 40);
        fclose(f);
    }
    abut_arrays_clear(&model);
    abut_arrays_clear(&frame);
}

#endif
