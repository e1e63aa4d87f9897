#include "formats/stream/state_wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

/* ---- zlib ---- */

enum { PIECE_MOST = 1 << 30 };  /* zlib counts in unsigned int */

static uInt piece(size_t left) { return left < PIECE_MOST ? (uInt)left : PIECE_MOST; }

abut_status abut_deflate(const void *src, size_t n, int level, unsigned char **dst, size_t *m, abut_err *err)
{
    z_stream z = { 0 };
    *dst = NULL;
    *m = 0;
    if (n < 2) return ABUT_OK;
    unsigned char *out = malloc(n - 1);     /* it must become smaller to be of use */
    if (!out || deflateInit(&z, level) != Z_OK) {
        free(out);
        return abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", n);
    }
    size_t in_left = n, out_left = n - 1;
    int rc = Z_OK;
    z.next_in = (const Bytef *)src;
    z.next_out = out;
    while (rc == Z_OK && out_left) {
        const uInt give = piece(in_left), room = piece(out_left);
        z.avail_in = give;
        z.avail_out = room;
        rc = deflate(&z, give == in_left ? Z_FINISH : Z_NO_FLUSH);
        in_left -= give - z.avail_in;
        out_left -= room - z.avail_out;
    }
    deflateEnd(&z);
    if (rc != Z_STREAM_END) {
        free(out);
        return ABUT_OK;
    }
    *m = n - 1 - out_left;
    *dst = out;
    return ABUT_OK;
}

abut_status abut_zlib_stream(const void *src, size_t n, int level, unsigned char **dst, size_t *m, abut_err *err)
{
    uLongf size = compressBound((uLong)n);
    *dst = malloc(size);
    *m = 0;
    if (!*dst || compress2(*dst, &size, src, (uLong)n, level) != Z_OK) {
        free(*dst);
        *dst = NULL;
        return abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", n);
    }
    *m = size;
    return ABUT_OK;
}

abut_status abut_inflate(const void *src, size_t m, void *dst, size_t n, abut_err *err)
{
    z_stream z = { 0 };
    if (inflateInit(&z) != Z_OK) return abut_fail(err, ABUT_E_NOMEM, "no memory to expand %zu bytes", m);
    size_t in_left = m, out_left = n;
    int rc = Z_OK;
    z.next_in = (const Bytef *)src;
    z.next_out = dst;
    while (rc == Z_OK) {
        const uInt give = piece(in_left), room = piece(out_left);
        z.avail_in = give;
        z.avail_out = room;
        rc = inflate(&z, Z_NO_FLUSH);
        in_left -= give - z.avail_in;
        out_left -= room - z.avail_out;
        if (rc == Z_OK && z.avail_in == give && z.avail_out == room) rc = Z_BUF_ERROR;
    }
    inflateEnd(&z);
    if (rc == Z_MEM_ERROR) return abut_fail(err, ABUT_E_NOMEM, "no memory to expand %zu bytes", m);
    if (rc != Z_STREAM_END || in_left || out_left)
        return abut_fail(err, ABUT_E_FORMAT, "the compressed data is no zlib stream of %zu bytes", n);
    return ABUT_OK;
}

size_t abut_inflate_bound(size_t m) { return m > (SIZE_MAX - 1032) / 1032 ? SIZE_MAX : 1032 * m + 1032; }

uint32_t abut_crc32(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n) {
        const uInt m = piece(n);
        crc = (uint32_t)crc32(crc, p, m);
        p += m;
        n -= m;
    }
    return crc;
}

/* ---- the wire ---- */

/* ---- bytes ---- */

void abut_bytes_swap(void *data, size_t n, size_t size)
{
    unsigned char *p = data;
    for (size_t i = 0; i < n; i++, p += size)
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            const unsigned char t = p[a];
            p[a] = p[b];
            p[b] = t;
        }
}

void abut_bytes_shuffle(unsigned char *out, const unsigned char *in, size_t n, size_t size)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++) out[k * n + i] = in[i * size + k];
}

void abut_bytes_unshuffle(unsigned char *out, const unsigned char *in, size_t n, size_t size)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++) out[i * size + k] = in[k * n + i];
}

/* High bit, CR LF, ctrl-Z, LF: each transfer that takes the stream for text damages one of them. */
static const unsigned char magic[8] = { 0x89, 'A', 'B', 'T', '\r', '\n', 0x1a, '\n' };

enum { BYTE_ORDER_MARK = 0x01020304, PIECE = 1 << 20 };

/* ---- source ---- */

abut_status abut_source_fail(const abut_source *s, abut_err *err, const char *fmt, ...)
{
    char why[300], where[48] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    if (s->section.tag[0]) snprintf(where, sizeof where, ", section %s", s->section.tag);
    return abut_fail(err, ABUT_E_FORMAT, "%s: byte %llu%s: %s", s->name, (unsigned long long)s->at, where, why);
}

/* n bytes that the checksum does not cover; *got is how many there were */
static abut_status take(abut_source *s, void *to, size_t n, size_t *got, abut_err *err)
{
    errno = 0;
    *got = n ? fread(to, 1, n, s->f) : 0;
    s->at += *got;
    if (*got < n && ferror(s->f))
        return abut_fail(err, ABUT_E_IO, "%s: byte %llu: %s", s->name, (unsigned long long)s->at, strerror(errno));
    return ABUT_OK;
}

static abut_status take_all(abut_source *s, void *to, size_t n, abut_err *err)
{
    size_t got;
    const abut_status rc = take(s, to, n, &got, err);
    if (rc) return rc;
    s->ended |= got < n;
    if (got < n)
        return abut_fail(err, ABUT_E_FORMAT, "%s ends after %llu bytes without an end mark: the stage that wrote it "
                         "failed or was interrupted", s->name, (unsigned long long)s->at);
    return ABUT_OK;
}

static abut_status check_crc(abut_source *s, abut_err *err)
{
    unsigned char b[4];
    const abut_status rc = take_all(s, b, 4, err);
    if (rc) return rc;
    const uint32_t found = (uint32_t)abut_get_le(b, 4);
    if (found == s->crc) return ABUT_OK;
    return abut_source_fail(s, err, "damaged (or a section is missing, doubled or out of place): checksum %08x, "
                            "expected %08x", found, s->crc);
}

static abut_status not_a_stream(const abut_source *s, const unsigned char *b, size_t n, abut_err *err)
{
    const char *what = "it starts with other bytes";
    size_t text = 0;    /* bytes that a text has */
    while (text < n && (b[text] >= 0x20 || (b[text] >= '\t' && b[text] <= '\r'))) text++;
    if (n > 0 && text == n && b[0] < 0x80) what = "it is text; mesh-prep makes a stream of a scene or of meshes";
    if (n == 0) what = "it is empty; the stage that should write it failed";
    else if (n < 8 && !memcmp(b, magic, n)) what = "it ends within the first 8 bytes";
    else if (n >= 4 && !memcmp(b, magic, 4)) what = "a text-mode transfer has changed its first bytes";
    else if (n >= 2 && b[0] == 0x1f && b[1] == 0x8b) what = "it is a gzip file; expand it first";
    return abut_fail(err, ABUT_E_FORMAT, "%s is not an abut state stream: %s", s->name, what);
}

int abut_is_state_stream(const void *bytes, size_t n) { return n >= sizeof magic && !memcmp(bytes, magic, sizeof magic); }

abut_status abut_source_head(abut_source *s, int major, abut_err *err)
{
    unsigned char b[ABUT_HEAD_BYTES - 4];
    size_t got;
    s->crc = 0;
    abut_status rc = take(s, b, 8, &got, err);
    if (rc) return rc;
    if (got < 8 || memcmp(b, magic, 8)) return not_a_stream(s, b, got, err);
    rc = take_all(s, b + 8, 8, err);
    if (rc) return rc;
    const int is = (int)abut_get_le(b + 8, 2), minor = (int)abut_get_le(b + 10, 2);
    const uint32_t order = (uint32_t)abut_get_le(b + 12, 4);
    if (order == 0x04030201)
        return abut_source_fail(s, err, "the stream is big-endian; version 1 is little-endian on every machine");
    if (is != major) return abut_source_fail(s, err, "version %d.%d, this program reads %d.x", is, minor, major);
    if (order != BYTE_ORDER_MARK) return abut_source_fail(s, err, "byte-order mark %08x, expected %08x", order, BYTE_ORDER_MARK);
    s->crc = abut_crc32(0, b, sizeof b);
    return check_crc(s, err);
}

static int tag_ok(const unsigned char *b)
{
    for (int i = 0; i < 4; i++)
        if (!(b[i] >= 'A' && b[i] <= 'Z') && !(b[i] >= '0' && b[i] <= '9')) return 0;
    return 1;
}

abut_status abut_source_section(abut_source *s, abut_err *err)
{
    unsigned char b[ABUT_SECTION_HEAD_BYTES];
    s->section = (abut_section){ 0 };
    const abut_status rc = take_all(s, b, sizeof b, err);
    if (rc) return rc;
    if (!tag_ok(b)) return abut_source_fail(s, err, "damaged: no section starts here");
    s->crc = abut_crc32(s->crc, b, sizeof b);
    memcpy(s->section.tag, b, 4);
    s->section.version = (uint16_t)abut_get_le(b + 4, 2);
    s->section.flags = (uint16_t)abut_get_le(b + 6, 2);
    s->section.length = s->section.left = abut_get_le(b + 8, 8);
    return ABUT_OK;
}

abut_status abut_source_bytes(abut_source *s, void *to, size_t n, abut_err *err)
{
    if (n > s->section.left)
        return abut_source_fail(s, err, "the payload of %llu bytes is too short for its contents",
                                (unsigned long long)s->section.length);
    const abut_status rc = take_all(s, to, n, err);
    if (rc) return rc;
    s->crc = abut_crc32(s->crc, to, n);
    s->section.left -= n;
    return ABUT_OK;
}

abut_status abut_source_block(abut_source *s, uint64_t n, unsigned char **data, abut_err *err)
{
    unsigned char *buf = NULL;
    size_t have = 0, room = 0;
    abut_status rc = ABUT_OK;
    do {
        if (have == room) {
            room = room ? 2 * room : PIECE;
            if (room > n) room = (size_t)n;
            unsigned char *grown = room < SIZE_MAX ? realloc(buf, room + 1) : NULL;
            if (!grown) {
                free(buf);
                return abut_fail(err, ABUT_E_NOMEM, "%s: byte %llu: no memory for %zu bytes", s->name,
                                 (unsigned long long)s->at, room);
            }
            buf = grown;
        }
        rc = abut_source_bytes(s, buf + have, room - have, err);
        have = room;
    } while (!rc && have < n);
    if (rc) {
        free(buf);
        return rc;
    }
    buf[n] = 0;
    *data = buf;
    return ABUT_OK;
}

abut_status abut_source_section_end(abut_source *s, abut_err *err)
{
    if (s->section.left)
        return abut_source_fail(s, err, "%llu of %llu payload bytes are left over", (unsigned long long)s->section.left,
                                (unsigned long long)s->section.length);
    return check_crc(s, err);
}

abut_status abut_source_skip(abut_source *s, abut_err *err)
{
    unsigned char b[4096];
    while (s->section.left) {
        const size_t n = s->section.left < sizeof b ? (size_t)s->section.left : sizeof b;
        const abut_status rc = abut_source_bytes(s, b, n, err);
        if (rc) return rc;
    }
    return check_crc(s, err);
}

abut_status abut_source_at_end(abut_source *s, abut_err *err)
{
    unsigned char b;
    size_t got;
    const abut_status rc = take(s, &b, 1, &got, err);
    if (rc) return rc;
    return got ? abut_source_fail(s, err, "something follows the end mark") : ABUT_OK;
}

/* ---- sink ---- */

static abut_status write_failed(abut_err *err)
{
    const char *why = errno == EPIPE ? "closed by the reader" : errno ? strerror(errno) : "a write failed";
    return abut_fail(err, ABUT_E_IO, "output: %s", why);
}

static abut_status give(abut_sink *s, const void *from, size_t n, abut_err *err)
{
    errno = 0;
    if (n && fwrite(from, 1, n, s->f) != n) return write_failed(err);
    s->at += n;
    return ABUT_OK;
}

static abut_status give_crc(abut_sink *s, abut_err *err)
{
    unsigned char b[4];
    abut_put_le(b, s->crc, 4);
    return give(s, b, 4, err);
}

abut_status abut_sink_head(abut_sink *s, int major, int minor, abut_err *err)
{
    unsigned char b[ABUT_HEAD_BYTES - 4];
    memcpy(b, magic, 8);
    abut_put_le(b + 8, (uint64_t)major, 2);
    abut_put_le(b + 10, (uint64_t)minor, 2);
    abut_put_le(b + 12, BYTE_ORDER_MARK, 4);
    s->crc = abut_crc32(0, b, sizeof b);
    const abut_status rc = give(s, b, sizeof b, err);
    return rc ? rc : give_crc(s, err);
}

abut_status abut_sink_section(abut_sink *s, const char tag[4], uint16_t version, uint16_t flags, uint64_t length, abut_err *err)
{
    unsigned char b[ABUT_SECTION_HEAD_BYTES];
    memcpy(b, tag, 4);
    abut_put_le(b + 4, version, 2);
    abut_put_le(b + 6, flags, 2);
    abut_put_le(b + 8, length, 8);
    s->section_end = s->at + sizeof b + length;
    return abut_sink_bytes(s, b, sizeof b, err);
}

abut_status abut_sink_bytes(abut_sink *s, const void *from, size_t n, abut_err *err)
{
    s->crc = abut_crc32(s->crc, from, n);
    return give(s, from, n, err);
}

abut_status abut_sink_section_end(abut_sink *s, abut_err *err)
{
    assert(s->at == s->section_end);
    return give_crc(s, err);
}

abut_status abut_sink_flush(abut_sink *s, abut_err *err)
{
    errno = 0;
    return fflush(s->f) ? write_failed(err) : ABUT_OK;
}

/* ---- one array as an ARRY section ---- */

/* Payload: [type u8][rank u8][coding u8][name bytes u8][unit bytes u8][0 0 0][flags u32][shape i64 x rank][name][unit]
 * [data].  DEFLATED data is the zlib stream of the shuffled bytes. */
enum { STORED = 0, DEFLATED = 1, FIXED_BYTES = 12 };
static const size_t ARRAY_MOST = (size_t)64 << 30;      /* bytes: the largest count of rows, four numbers each */

/* ---- reading ---- */

/* The description at the start of the payload; *bytes: size of the data once expanded. */
static abut_status read_form(abut_source *s, abut_array *a, int *coding, size_t *bytes, abut_err *err)
{
    unsigned char b[FIXED_BYTES], shape[8 * ABUT_RANK_MAX];
    abut_status rc = abut_source_bytes(s, b, sizeof b, err);
    if (rc) return rc;
    a->type = (abut_dtype)b[0];
    a->rank = b[1];
    *coding = b[2];
    a->flags = (uint32_t)abut_get_le(b + 8, 4);
    if (!abut_dtype_size(a->type)) return abut_source_fail(s, err, "array of unknown type %d", b[0]);
    if (a->rank > ABUT_RANK_MAX) return abut_source_fail(s, err, "array of rank %d, at most %d", a->rank, ABUT_RANK_MAX);
    if (*coding != STORED && *coding != DEFLATED) return abut_source_fail(s, err, "array of unknown coding %d", *coding);
    if (b[3] > ABUT_NAME_MAX || b[4] > ABUT_UNIT_MAX || b[5] || b[6] || b[7])
        return abut_source_fail(s, err, "array with a name of %d and a unit of %d bytes", b[3], b[4]);
    if ((rc = abut_source_bytes(s, shape, 8 * (size_t)a->rank, err)) || (rc = abut_source_bytes(s, a->name, b[3], err)) ||
        (rc = abut_source_bytes(s, a->unit, b[4], err)))
        return rc;
    if (strlen(a->name) != b[3] || strlen(a->unit) != b[4]) return abut_source_fail(s, err, "a 0 byte in a name or unit");
    size_t n = abut_dtype_size(a->type);
    for (int d = 0; d < a->rank; d++) {
        const uint64_t extent = abut_get_le(shape + 8 * d, 8);
        if (extent > INT64_MAX || (extent && n > (SIZE_MAX >> 2) / extent))
            return abut_source_fail(s, err, "array '%s': dimension %d is %llu", a->name, d, (unsigned long long)extent);
        a->shape[d] = (int64_t)extent;
        n *= (size_t)extent;
    }
    if (n > ARRAY_MOST)
        return abut_source_fail(s, err, "array '%s' of %.3g GiB, expected at most %zu", a->name, (double)n / (1 << 30),
                                ARRAY_MOST >> 30);
    *bytes = n;
    return ABUT_OK;
}

/* Expands zlib data that has arrived whole into new memory. */
static abut_status expand(const abut_array *a, const unsigned char *packed, size_t m, size_t bytes, unsigned char **data,
                          abut_err *err)
{
    const size_t size = abut_dtype_size(a->type);
    if (bytes > abut_inflate_bound(m))
        return abut_fail(err, ABUT_E_FORMAT, "array '%s': %zu bytes cannot expand to %zu", a->name, m, bytes);
    unsigned char *shuffled = malloc(bytes + 1), *plain = malloc(bytes + 1);
    abut_status rc = ABUT_OK;
    if (!shuffled || !plain)
        rc = abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for %zu bytes", a->name, bytes);
    else if (abut_inflate(packed, m, shuffled, bytes, err)) rc = abut_wrap(err, "array '%s'", a->name);
    else abut_bytes_unshuffle(plain, shuffled, bytes / size, size);
    free(shuffled);
    if (rc) {
        free(plain);
        return rc;
    }
    *data = plain;
    return ABUT_OK;
}

abut_status abut_array_read(abut_source *s, abut_arrays *set, abut_err *err)
{
    abut_array a = { 0 };
    int coding;
    size_t bytes = 0;
    unsigned char *data = NULL;
    abut_status rc = read_form(s, &a, &coding, &bytes, err);
    if (rc) return rc;
    if (coding == STORED && s->section.left != bytes)
        return abut_source_fail(s, err, "array '%s' needs %zu bytes of data, the section has %llu", a.name, bytes,
                                (unsigned long long)s->section.left);
    const uint64_t arrives = s->section.left;
    if ((rc = abut_source_block(s, arrives, &data, err))) return rc;
    if ((rc = abut_source_section_end(s, err))) goto done;
    if (coding == DEFLATED) {
        unsigned char *plain = NULL;
        if ((rc = expand(&a, data, (size_t)arrives, bytes, &plain, err))) {
            abut_wrap(err, "%s", s->name);
            goto done;
        }
        free(data);
        data = plain;
    }
    if (ABUT_HOST_BIG_ENDIAN) abut_bytes_swap(data, bytes / abut_dtype_size(a.type), abut_dtype_size(a.type));
    if (abut_arrays_find(set, a.name)) {
        rc = abut_source_fail(s, err, "array '%s' is there twice", a.name);
        goto done;
    }
    a.data = data;
    rc = abut_arrays_take(set, &a, err);
    if (rc == ABUT_E_ARG) rc = abut_source_fail(s, err, "array '%s': bad name", a.name);
    if (!rc) data = NULL;
done:
    free(data);
    return rc;
}

/* ---- writing ---- */

/* The bytes of the data as they go on the wire: the array's own, or new memory (*own) that the caller frees. */
static abut_status prepare(const abut_array *a, int level, const unsigned char **data, size_t *n, int *coding,
                           unsigned char **own, abut_err *err)
{
    const size_t size = abut_dtype_size(a->type), bytes = abut_array_bytes(a);
    *own = NULL;
    *coding = STORED;
    *data = a->data;
    *n = bytes;
    if (level <= 0 && !ABUT_HOST_BIG_ENDIAN) return ABUT_OK;
    unsigned char *plain = malloc(bytes + 1), *shuffled = malloc(bytes + 1), *packed = NULL;
    size_t m = 0;
    if (!plain || !shuffled) {
        free(plain);
        free(shuffled);
        return abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for %zu bytes", a->name, bytes);
    }
    memcpy(plain, a->data, bytes);
    if (ABUT_HOST_BIG_ENDIAN) abut_bytes_swap(plain, bytes / size, size);
    abut_bytes_shuffle(shuffled, plain, bytes / size, size);
    const abut_status rc = level > 0 ? abut_deflate(shuffled, bytes, level, &packed, &m, err) : ABUT_OK;
    free(shuffled);
    if (rc) {
        free(plain);
        return abut_wrap(err, "array '%s'", a->name);
    }
    *own = packed ? packed : plain;
    if (packed) {
        free(plain);
        *coding = DEFLATED;
        *n = m;
    }
    *data = *own;
    return ABUT_OK;
}

static size_t put_form(unsigned char *b, const abut_array *a, int coding)
{
    const size_t name = strlen(a->name), unit = strlen(a->unit);
    memset(b, 0, FIXED_BYTES);
    b[0] = (unsigned char)a->type;
    b[1] = (unsigned char)a->rank;
    b[2] = (unsigned char)coding;
    b[3] = (unsigned char)name;
    b[4] = (unsigned char)unit;
    abut_put_le(b + 8, a->flags, 4);
    unsigned char *p = b + FIXED_BYTES;
    for (int d = 0; d < a->rank; d++, p += 8) abut_put_le(p, (uint64_t)a->shape[d], 8);
    memcpy(p, a->name, name);
    memcpy(p + name, a->unit, unit);
    return (size_t)(p - b) + name + unit;
}

abut_status abut_array_write(abut_sink *s, const abut_array *a, int level, abut_err *err)
{
    unsigned char form[FIXED_BYTES + 8 * ABUT_RANK_MAX + ABUT_NAME_MAX + ABUT_UNIT_MAX], *own;
    const unsigned char *data;
    size_t n;
    int coding;
    abut_status rc = prepare(a, level, &data, &n, &coding, &own, err);
    if (rc) return rc;
    const size_t nform = put_form(form, a, coding);
    if (!(rc = abut_sink_section(s, "ARRY", ABUT_SECTION_VERSION, ABUT_SECTION_REQUIRED, nform + n, err)) &&
        !(rc = abut_sink_bytes(s, form, nform, err)) && !(rc = abut_sink_bytes(s, data, n, err)))
        rc = abut_sink_section_end(s, err);
    free(own);
    return rc;
}
