#include "base/rng.h"
#include "check.h"
#include "formats/stream/state_io.h"
#include "formats/stream/state_wire.h"
#include "sample.h"
#include "stream_bytes.h"

#include <unistd.h>

/* ---- a stream to try things on ---- */

/* Arrays of every type and odd shapes, with every bit pattern a double can have of the special ones. */
static void odd_arrays(abut_arrays *s)
{
    const double special[] = { 0.0, -0.0, (double)INFINITY, -(double)INFINITY, 5e-324, -1.7976931348623157e308,
                               abut_double_of(0x7ff8dead0000beefu), abut_double_of(0xfff0000000000001u) };
    double *d = abut_arrays_put_rows(s, "odd/f64", ABUT_F64, 4, 2, "m/s", NULL);
    if (d) memcpy(d, special, sizeof special);
    float *f = abut_arrays_put(s, "odd/f32", ABUT_F32, 3, (int64_t[]){ 1, 2, 1 }, "", 0, NULL);
    if (f) f[1] = 1.5f;
    int64_t *l = abut_arrays_put_rows(s, "odd/i64", ABUT_I64, 2, 0, "", NULL);
    if (l) l[0] = INT64_MIN, l[1] = 0x0102030405060708;
    unsigned char *u = abut_arrays_put(s, "odd/u8", ABUT_U8, 1, (int64_t[]){ 3 }, "", ABUT_A_CARRY, NULL);
    if (u) u[0] = 255, u[2] = 7;
    CHECK(d && f && l && u);
    CHECK(abut_arrays_put(s, "odd/empty", ABUT_F64, 4, (int64_t[]){ 2, 0, 3, 1 }, "m", 0, NULL) != NULL);
    CHECK(!abut_arrays_put_text(s, "odd/text", "two\nlines \xc3\xa4\n", NULL));
    CHECK(!abut_arrays_put_f64(s, "odd/number", 0.1, "kg/m^2", NULL));
}

static bytes make_stream(int level, int frames, int finish)
{
    FILE *f = tmpfile();
    abut_writer *w = NULL;
    abut_arrays s = { 0 };
    abut_err err = { 0 };
    CHECK(f && !abut_writer_open(f, level, &w, &err));
    CHECK(!abut_writer_prov(w, "mesh-prep", "0.1.0", "{\"scene\": \"two\"}", &err));
    CHECK(!abut_writer_prov(w, "step", "0.1.0", "{}", &err));
    CHECK(!abut_writer_prov(w, "step", "0.1.0", "{}", &err));   /* equal to the last: not written */
    sample_model(&s);
    odd_arrays(&s);
    CHECK(!abut_writer_model(w, &s, &err));
    abut_arrays_clear(&s);
    for (int k = 0; k < frames; k++) {
        sample_frame(&s, k);
        const abut_frame_head h = { k, 0.01 * k, k + 1 < frames ? ABUT_COMMITTED : ABUT_PENDING };
        CHECK(!abut_writer_frame(w, &h, &s, &err));
        abut_arrays_clear(&s);
    }
    if (finish) CHECK(!abut_writer_close(w, &err));
    abut_writer_free(&w);
    return slurp(f);
}

static int same_start(const bytes *a, const bytes *whole)
{
    return a->n <= whole->n && (!a->n || !memcmp(a->p, whole->p, a->n));
}

/* ---- what must be ---- */

TEST(what_was_written_is_read_back_bit_for_bit_at_every_compression_level)
{
    bytes first = { 0 };
    for (int level = 0; level <= 9; level += 3) {
        bytes b = make_stream(level, 3, 1);
        content c;
        abut_err err = { 0 };
        CHECK(!read_all(b.p, b.n, &c, &err));
        CHECK(c.items == 4 && c.prov == 2);
        bytes expected = { 0 };
        append(&expected, "mesh-prep", 10);
        append(&expected, "{\"scene\": \"two\"}", 17);
        append(&expected, "step", 5);
        append(&expected, "{}", 3);
        abut_arrays s = { 0 };
        sample_model(&s);
        odd_arrays(&s);
        append_set(&expected, &s);
        for (int64_t k = 0; k < 3; k++) {
            const double time = 0.01 * (double)k;
            const abut_phase phase = k < 2 ? ABUT_COMMITTED : ABUT_PENDING;
            abut_arrays_clear(&s);
            sample_frame(&s, (int)k);
            append(&expected, &k, sizeof k);
            append(&expected, &time, sizeof time);
            append(&expected, &phase, sizeof phase);
            append_set(&expected, &s);
        }
        CHECK(c.all.n == expected.n && !memcmp(c.all.p, expected.p, expected.n));
        if (level == 0) first = b, b.p = NULL;
        else CHECK(b.n < first.n);
        abut_arrays_clear(&s);
        bytes_free(&expected);
        bytes_free(&c.all);
        bytes_free(&b);
    }
    bytes_free(&first);
}

TEST(a_stream_cut_anywhere_is_refused_and_what_came_before_is_right)
{
    for (int level = 0; level <= 6; level += 6) {
        bytes b = make_stream(level, 2, 1);
        content whole, c;
        abut_err err = { 0 };
        CHECK(!read_all(b.p, b.n, &whole, &err));
        for (size_t n = 0; n < b.n; n++) {
            const abut_status rc = read_all(b.p, n, &c, &err);
            if (rc != ABUT_E_FORMAT || !same_start(&c.all, &whole.all) || !strstr(err.msg, "test")) {
                CHECK(!"a cut stream was accepted, or wrong data came");
                printf("# %zu of %zu bytes: status %d, %s\n", n, b.n, rc, err.msg);
                n = b.n;
            }
            bytes_free(&c.all);
        }
        bytes_free(&whole.all);
        bytes_free(&b);
    }
}

/* Damage of one kind at a random place; the result is in out. */
static void damage(const bytes *b, bytes *out, abut_rng *rng)
{
    out->n = 0;
    append(out, b->p, b->n);
    const uint32_t n = (uint32_t)b->n, at = abut_rng_below(rng, n);
    switch (abut_rng_below(rng, 6)) {
    case 0: out->p[at] ^= (unsigned char)(1u << abut_rng_below(rng, 8)); break;
    case 1: out->p[at] = (unsigned char)abut_rng_next(rng); break;
    case 2:     /* several bytes */
        for (uint32_t k = 0; k < 16 && at + k < n; k++) out->p[at + k] = (unsigned char)abut_rng_next(rng);
        break;
    case 3: {   /* a piece is lost */
        const uint32_t k = 1 + abut_rng_below(rng, n - at);
        memmove(out->p + at, out->p + at + k, n - at - k);
        out->n -= k;
        break;
    }
    case 4: {   /* a piece is there twice */
        const uint32_t k = 1 + abut_rng_below(rng, n - at);
        out->n = at + k;
        append(out, b->p + at, n - at);
        break;
    }
    case 5:     /* an extreme length or count */
        for (uint32_t k = 0; k < 8 && at + k < n; k++) out->p[at + k] = 0xff;
        break;
    }
}

TEST(ten_thousand_random_damages_give_an_error_or_the_right_data)
{
    abut_rng rng = { 7 };
    int refused = 0;
    for (int level = 0; level <= 6; level += 6) {
        bytes b = make_stream(level, 1, 1), bad = { 0 };
        content whole, c;
        abut_err err = { 0 };
        CHECK(!read_all(b.p, b.n, &whole, &err));
        for (int i = 0; i < 5000; i++) {
            damage(&b, &bad, &rng);
            const abut_status rc = read_all(bad.p, bad.n, &c, &err);
            const int complete = c.all.n == whole.all.n;
            if (!same_start(&c.all, &whole.all) || (!rc && !complete)) {
                CHECK(!"wrong data came");
                printf("# damage %d: status %d, %s\n", i, rc, err.msg);
                i = 5000;
            }
            refused += rc != ABUT_OK;
            bytes_free(&c.all);
        }
        bytes_free(&bad);
        bytes_free(&whole.all);
        bytes_free(&b);
    }
    CHECK(refused > 9900);     /* the rest changed nothing */
}

/* Offset of section number k (0: the first after the head). */
static size_t section_at(const bytes *b, int k)
{
    size_t at = 20;
    for (; k > 0; k--) at += 16 + (size_t)abut_get_le(b->p + at + 8, 8) + 4;
    return at;
}

TEST(dropped_doubled_and_swapped_sections_are_found_where_they_are)
{
    bytes b = make_stream(0, 2, 1);
    abut_err err = { 0 };
    content c;
    int n = 0;
    while (section_at(&b, n) < b.n) n++;
    for (int k = 0; k + 1 < n; k++) {
        const size_t s0 = section_at(&b, k), s1 = section_at(&b, k + 1), s2 = k + 2 < n ? section_at(&b, k + 2) : b.n;
        bytes dropped = { 0 }, doubled = { 0 }, swapped = { 0 };
        append(&dropped, b.p, s0);
        append(&dropped, b.p + s1, b.n - s1);
        append(&doubled, b.p, s1);
        append(&doubled, b.p + s0, b.n - s0);
        append(&swapped, b.p, s0);
        append(&swapped, b.p + s1, s2 - s1);
        append(&swapped, b.p + s0, s1 - s0);
        append(&swapped, b.p + s2, b.n - s2);
        bytes *const bad[] = { &dropped, &doubled, &swapped };
        for (int i = 0; i < 3; i++) {
            CHECK(read_all(bad[i]->p, bad[i]->n, &c, &err) == ABUT_E_FORMAT);
            bytes_free(&c.all);
            bytes_free(bad[i]);
        }
    }
    bytes_free(&b);
}

TEST(other_files_and_other_versions_are_named)
{
    const bytes empty = { (unsigned char *)"", 0 }, text = { (unsigned char *)"# OBJ file\nv 0 0 0\n", 19 },
                gz = { (unsigned char *)"\x1f\x8b\x08zzzzzzzzzzz", 14 }, lf = { (unsigned char *)"\x89" "ABT\n\x1a\n12345", 12 };
    refused_with(&empty, "empty");
    refused_with(&text, "not an abut state stream");
    refused_with(&gz, "gzip");
    refused_with(&lf, "text-mode");
    bytes b = make_stream(0, 1, 1);
    b.p[8] = 2;
    refused_with(&b, "version 2.2, this program reads 1.x");
    b.p[8] = 1;
    unsigned char mark[4] = { 1, 2, 3, 4 };
    memcpy(b.p + 12, mark, 4);
    refused_with(&b, "big-endian");
    bytes_free(&b);
    b = make_stream(0, 1, 1);
    append(&b, "x", 1);
    refused_with(&b, "follows the end mark");
    bytes_free(&b);
    b = make_stream(0, 1, 0);
    refused_with(&b, "without an end mark");
    bytes_free(&b);
}

/* ---- writing ---- */

TEST(a_writer_refuses_what_would_make_no_stream)
{
    FILE *f = tmpfile();
    abut_writer *w;
    abut_arrays s = { 0 };
    abut_err err = { 0 };
    const abut_frame_head h = { 0, 0, ABUT_COMMITTED }, bad = { -1, 0, ABUT_COMMITTED };
    CHECK(abut_writer_open(f, 10, &w, &err) == ABUT_E_ARG && !w);
    CHECK(!abut_writer_open(f, 0, &w, &err));
    CHECK(abut_writer_close(w, &err) == ABUT_E_ARG);
    CHECK(abut_writer_frame(w, &h, &s, &err) == ABUT_E_ARG);
    CHECK(!abut_writer_model(w, &s, &err));
    CHECK(abut_writer_prov(w, "late", "1", "{}", &err) == ABUT_E_ARG);
    CHECK(abut_writer_frame(w, &bad, &s, &err) == ABUT_E_ARG);
    CHECK(!abut_writer_frame(w, &h, &s, &err) && !abut_writer_close(w, &err));
    CHECK(abut_writer_frame(w, &h, &s, &err) == ABUT_E_ARG);
    abut_writer_free(&w);
    fclose(f);
}

TEST(a_full_disk_is_an_error_and_no_end_mark_follows)
{
    FILE *f = fopen("/dev/full", "wb");
    if (!f) return;
    abut_writer *w;
    abut_arrays s = { 0 };
    abut_err err = { 0 };
    sample_model(&s);
    abut_status rc = abut_writer_open(f, 0, &w, &err);
    CHECK(!rc);
    rc = abut_writer_model(w, &s, &err);
    CHECK(rc == ABUT_E_IO && strstr(err.msg, "No space left"));
    CHECK(abut_writer_close(w, &err) == ABUT_E_ARG);
    abut_arrays_clear(&s);
    abut_writer_free(&w);
    fclose(f);
}

TEST(a_pipe_needs_no_seeking_and_a_frame_can_be_read_before_the_next_is_written)
{
    int fd[2];
    CHECK(!pipe(fd));
    FILE *in = fdopen(fd[0], "rb"), *out = fdopen(fd[1], "wb");
    abut_writer *w;
    abut_reader *r;
    abut_arrays s = { 0 }, got = { 0 };
    abut_item item;
    abut_frame_head h = { 5, 0.5, ABUT_COMMITTED }, gh = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_writer_open(out, 0, &w, &err) && !abut_writer_model(w, &s, &err));
    CHECK(!abut_reader_open(in, "pipe", &r, &err) && !abut_reader_next(r, &item, &gh, &got, &err));
    sample_frame(&s, 1);
    for (int i = 0; i < 3; i++) {
        h.step++;
        CHECK(!abut_writer_frame(w, &h, &s, &err));
        CHECK(!abut_reader_next(r, &item, &gh, &got, &err) && item == ABUT_ITEM_FRAME && gh.step == h.step);
        CHECK(got.n == s.n);
    }
    abut_arrays_clear(&s);
    CHECK(!abut_writer_close(w, &err));
    abut_writer_free(&w);
    fclose(out);
    CHECK(!abut_reader_next(r, &item, &gh, &got, &err) && item == ABUT_ITEM_END && !got.n);
    abut_reader_free(&r);
    fclose(in);
}

TEST(byte_reorderings_are_their_own_or_each_others_inverse)
{
    unsigned char v[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, w[8], back[8];
    abut_bytes_swap(v, 2, 4);
    CHECK(!memcmp(v, (unsigned char[]){ 4, 3, 2, 1, 8, 7, 6, 5 }, 8));
    abut_bytes_shuffle(w, v, 2, 4);
    CHECK(!memcmp(w, (unsigned char[]){ 4, 8, 3, 7, 2, 6, 1, 5 }, 8));
    abut_bytes_unshuffle(back, w, 2, 4);
    CHECK(!memcmp(back, v, 8));
}

TEST(compression_declines_noise_and_inflate_demands_the_exact_size)
{
    unsigned char noise[400], zeros[400] = { 0 }, out[401], *p;
    size_t m;
    abut_rng rng = { 1 };
    abut_err err = { 0 };
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (unsigned char)abut_rng_next(&rng);
    CHECK(!abut_deflate(noise, sizeof noise, 9, &p, &m, &err) && !p);
    CHECK(!abut_deflate(zeros, sizeof zeros, 1, &p, &m, &err) && p && m < 40);
    CHECK(!abut_inflate(p, m, out, 400, &err) && !memcmp(out, zeros, 400));
    CHECK(abut_inflate(p, m, out, 399, &err) == ABUT_E_FORMAT);
    CHECK(abut_inflate(p, m, out, 401, &err) == ABUT_E_FORMAT);
    CHECK(abut_inflate(p, m - 1, out, 400, &err) == ABUT_E_FORMAT);
    free(p);
}
