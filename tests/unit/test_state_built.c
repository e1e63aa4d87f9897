/* Streams assembled by hand from the specification: those of later versions, and contradictory ones. */
#include "formats/stream/state_wire.h"
#include "stream_bytes.h"

static uint32_t crc_bitwise(uint32_t crc, const unsigned char *p, size_t n)
{
    crc = ~crc;     /* an independent CRC-32, straight from the polynomial */
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

typedef struct builder {
    bytes out;
    uint32_t crc;
    uint64_t sections, models, frames, arrays;
} builder;

static void build_crc(builder *b)
{
    unsigned char c[4];
    abut_put_le(c, b->crc, 4);
    append(&b->out, c, 4);
}

static void build_head(builder *b, int minor)
{
    unsigned char h[16] = { 0x89, 'A', 'B', 'T', '\r', '\n', 0x1a, '\n', 1, 0, (unsigned char)minor, 0, 4, 3, 2, 1 };
    append(&b->out, h, 16);
    b->crc = crc_bitwise(0, h, 16);
    build_crc(b);
}

static void build_section(builder *b, const char *tag, int version, int flags, const void *payload, size_t n)
{
    unsigned char h[16] = { 0 };
    memcpy(h, tag, 4);
    abut_put_le(h + 4, (uint64_t)version, 2);
    abut_put_le(h + 6, (uint64_t)flags, 2);
    abut_put_le(h + 8, n, 8);
    append(&b->out, h, 16);
    append(&b->out, payload, n);
    b->crc = crc_bitwise(crc_bitwise(b->crc, h, 16), payload, n);
    build_crc(b);
    b->sections++;
}

static void build_model(builder *b, unsigned arrays)
{
    unsigned char p[8] = { (unsigned char)arrays };
    build_section(b, "MODL", 1, 1, p, 8);
    b->models++;
}

/* An f64 array "a" of rank 1 whose extent, coding and data are as given. */
static void build_array(builder *b, uint64_t extent, int coding, const void *data, size_t n)
{
    unsigned char p[256] = { 1, 1, (unsigned char)coding, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
    abut_put_le(p + 12, extent, 8);
    p[20] = 'a';
    memcpy(p + 21, data, n);
    build_section(b, "ARRY", 1, 1, p, 21 + n);
    b->arrays++;
}

static void build_end(builder *b)
{
    unsigned char p[32];
    abut_put_le(p, b->sections, 8);
    abut_put_le(p + 8, b->models, 8);
    abut_put_le(p + 16, b->frames, 8);
    abut_put_le(p + 24, b->arrays, 8);
    build_section(b, "ENDS", 1, 1, p, 32);
}

TEST(a_stream_built_by_hand_from_the_specification_is_read)
{
    builder b = { 0 };
    const unsigned char x[16] = { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0 };    /* 1.0, -2.0 */
    build_head(&b, 3);      /* a newer minor version is accepted */
    build_model(&b, 1);
    build_array(&b, 2, 0, x, 16);
    build_end(&b);
    FILE *f = as_file(b.out.p, b.out.n);
    abut_reader *r;
    abut_arrays s = { 0 };
    abut_item item = ABUT_ITEM_END;
    CHECK(!abut_reader_open(f, "test", &r, NULL) && !abut_reader_next(r, &item, NULL, &s, NULL));
    CHECK(item == ABUT_ITEM_MODEL && s.n == 1 && s.a[0].shape[0] == 2);
    CHECK(((double *)s.a[0].data)[0] == 1 && ((double *)s.a[0].data)[1] == -2);
    CHECK(!abut_reader_next(r, &item, NULL, &s, NULL) && item == ABUT_ITEM_END && s.n == 0);
    CHECK(abut_reader_next(r, &item, NULL, &s, NULL) == ABUT_E_ARG);
    abut_reader_free(&r);
    fclose(f);
    bytes_free(&b.out);
}

TEST(unknown_sections_are_refused_kept_or_dropped_as_they_ask)
{
    builder b = { 0 };
    build_head(&b, 1);
    build_section(&b, "NEWQ", 1, 1, "x", 1);
    build_model(&b, 0);
    build_end(&b);
    refused_with(&b.out, "section NEWQ");
    bytes_free(&b.out);

    b = (builder){ 0 };
    build_head(&b, 1);
    build_section(&b, "NEWK", 7, 2, "keep", 4);
    build_section(&b, "NEWD", 1, 0, "drop me", 7);
    build_model(&b, 0);
    build_end(&b);
    FILE *f = as_file(b.out.p, b.out.n), *g = tmpfile();
    abut_reader *r;
    abut_writer *w = NULL;
    abut_arrays s = { 0 };
    abut_item item = ABUT_ITEM_END;
    abut_err err = { 0 };
    CHECK(!abut_reader_open(f, "test", &r, &err) && !abut_writer_open(g, 0, &w, &err));
    const char *note = abut_reader_note(r);
    CHECK(note && strstr(note, "NEWD") && !abut_reader_note(r));
    CHECK(!abut_reader_next(r, &item, NULL, &s, &err) && item == ABUT_ITEM_MODEL);
    CHECK(!abut_writer_kept(w, r, &err) && !abut_writer_model(w, &s, &err));
    CHECK(!abut_reader_next(r, &item, NULL, &s, &err) && item == ABUT_ITEM_END);
    CHECK(!abut_writer_kept(w, r, &err) && !abut_writer_close(w, &err));
    abut_writer_free(&w);
    abut_reader_free(&r);
    fclose(f);
    bytes_free(&b.out);
    bytes got = slurp(g);
    builder expected = { 0 };
    build_head(&expected, ABUT_STATE_MINOR);
    build_section(&expected, "NEWK", 7, 2, "keep", 4);
    build_model(&expected, 0);
    build_end(&expected);
    CHECK(got.n == expected.out.n && !memcmp(got.p, expected.out.p, got.n));
    bytes_free(&got);
    bytes_free(&expected.out);
}

TEST(contradictions_with_a_right_checksum_are_refused)
{
    static const struct { uint64_t extent; int coding; size_t n; const char *why; } bad[] = {
        { 3, 0, 16, "needs 24 bytes" },              { 1, 0, 16, "needs 8 bytes" },
        { (uint64_t)1 << 63, 0, 16, "dimension 0" }, { (uint64_t)1 << 60, 0, 16, "dimension 0" },
        { 2, 1, 16, "no zlib stream" },              { 2, 2, 16, "unknown coding 2" },
        { (uint64_t)1 << 32, 1, 16, "cannot expand" }, { (uint64_t)1 << 40, 1, 16, "expected at most 64" },
    };
    const unsigned char data[16] = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        builder b = { 0 };
        build_head(&b, 0);
        build_model(&b, 1);
        build_array(&b, bad[i].extent, bad[i].coding, data, bad[i].n);
        build_end(&b);
        refused_with(&b.out, bad[i].why);
        bytes_free(&b.out);
    }
    const unsigned char frame[24] = { 0 }, pending2[24] = { [16] = 2 }, nan_time[24] = { [14] = 0xf8, [15] = 0x7f };
    static const char *const why[] = { "twice", "without a MODEL", "before the MODEL", "phase 2", "time nan",
                                       "outside", "expected array 2 of 2", "version 2 of the section", "at most 4096" };
    for (int i = 0; i < 9; i++) {
        builder b = { 0 };
        const unsigned char many[8] = { 0, 0, 0, 1 };
        build_head(&b, 0);
        if (i == 0) build_model(&b, 2), build_array(&b, 2, 0, data, 16), build_array(&b, 2, 0, data, 16);
        if (i == 2) build_section(&b, "FRAM", 1, 1, frame, 24);
        if (i == 3) build_model(&b, 0), build_section(&b, "FRAM", 1, 1, pending2, 24);
        if (i == 4) build_model(&b, 0), build_section(&b, "FRAM", 1, 1, nan_time, 24);
        if (i == 5) build_model(&b, 0), build_array(&b, 2, 0, data, 16);
        if (i == 6) build_model(&b, 2), build_array(&b, 2, 0, data, 16);
        if (i == 7) build_section(&b, "MODL", 2, 1, frame, 8);
        if (i == 8) build_section(&b, "MODL", 1, 1, many, 8);
        build_end(&b);
        refused_with(&b.out, why[i]);
        bytes_free(&b.out);
    }
}

TEST(an_end_mark_with_other_counts_is_refused)
{
    builder b = { 0 };
    build_head(&b, 0);
    build_model(&b, 0);
    b.frames++;
    build_end(&b);
    refused_with(&b.out, "counts other sections");
    bytes_free(&b.out);
}
