#include "formats/stream/zlib_stream.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

enum { PIECE = 1 << 30 };   /* zlib counts in unsigned int */

static uInt piece(size_t left)
{
    return left < PIECE ? (uInt)left : PIECE;
}

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

size_t abut_inflate_bound(size_t m)
{
    return m > (SIZE_MAX - 1032) / 1032 ? SIZE_MAX : 1032 * m + 1032;
}

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
