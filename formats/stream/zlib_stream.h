/* zlib as calls on whole buffers; deflate.c is the only file that includes it. */
#ifndef ABUT_FORMATS_STREAM_ZLIB_STREAM_H
#define ABUT_FORMATS_STREAM_ZLIB_STREAM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/** Compresses src[n] as a zlib stream if that is smaller than n bytes.
 * dst  out: malloc'ed, *m bytes; NULL when compression does not help (not an error)
 * Fails ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_deflate(const void *src, size_t n, int level, unsigned char **dst, size_t *m,
                                       abut_err *err);

/** Compresses src[n] as a zlib stream (RFC 1950) of any size, for formats that want one always (PNG, VTU).
 * dst  out: malloc'ed, *m bytes; NULL on failure
 * Fails ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_zlib_stream(const void *src, size_t n, int level, unsigned char **dst, size_t *m,
                                           abut_err *err);

/** Expands src[m] to exactly n bytes of dst.  Fails ABUT_E_FORMAT when it is no zlib stream of that size, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_inflate(const void *src, size_t m, void *dst, size_t n, abut_err *err);

/** Most bytes that m bytes can expand to: the limit of the format, 1032 : 1. */
size_t abut_inflate_bound(size_t m);

/** The CRC-32 of zlib, PNG and gzip (reflected polynomial 0xedb88320), continued from crc; 0 starts. */
uint32_t abut_crc32(uint32_t crc, const void *data, size_t n);

#endif
