#include "formats/stream/state_wire.h"

#include "formats/stream/bytes.h"
#include "formats/stream/zlib_stream.h"
#include "formats/stream/state_io.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

abut_status abut_source_head(abut_source *s, abut_err *err)
{
    unsigned char b[ABUT_HEAD_BYTES - 4];
    size_t got;
    s->crc = 0;
    abut_status rc = take(s, b, 8, &got, err);
    if (rc) return rc;
    if (got < 8 || memcmp(b, magic, 8)) return not_a_stream(s, b, got, err);
    rc = take_all(s, b + 8, 8, err);
    if (rc) return rc;
    const unsigned major = (unsigned)abut_get_le(b + 8, 2), minor = (unsigned)abut_get_le(b + 10, 2);
    const uint32_t order = (uint32_t)abut_get_le(b + 12, 4);
    if (order == 0x04030201)
        return abut_source_fail(s, err, "the stream is big-endian; version 1 is little-endian on every machine");
    if (major != ABUT_STATE_MAJOR)
        return abut_source_fail(s, err, "version %u.%u, this program reads %d.x", major, minor, ABUT_STATE_MAJOR);
    if (order != BYTE_ORDER_MARK)
        return abut_source_fail(s, err, "byte-order mark %08x, expected %08x", order, BYTE_ORDER_MARK);
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

abut_status abut_sink_head(abut_sink *s, abut_err *err)
{
    unsigned char b[ABUT_HEAD_BYTES - 4];
    memcpy(b, magic, 8);
    abut_put_le(b + 8, ABUT_STATE_MAJOR, 2);
    abut_put_le(b + 10, ABUT_STATE_MINOR, 2);
    abut_put_le(b + 12, BYTE_ORDER_MARK, 4);
    s->crc = abut_crc32(0, b, sizeof b);
    const abut_status rc = give(s, b, sizeof b, err);
    return rc ? rc : give_crc(s, err);
}

abut_status abut_sink_section(abut_sink *s, const char tag[4], uint16_t version, uint16_t flags, uint64_t length,
                              abut_err *err)
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
