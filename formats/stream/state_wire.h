/* The lowest layer of a state stream: bytes in order, sections, the chained checksum.  For state_io.c.
 *
 * Every section is [tag 4][version u16][flags u16][length u64][payload][crc u32].  crc is the CRC-32 (zlib's) of all
 * bytes of the stream before it, other crc fields left out: a section that is damaged, missing, there twice or out of
 * place is found where it happens. */
#ifndef ABUT_FORMATS_STREAM_STATE_WIRE_H
#define ABUT_FORMATS_STREAM_STATE_WIRE_H

#include "base/array.h"
#include "base/err.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ABUT_HEAD_BYTES = 20, ABUT_SECTION_HEAD_BYTES = 16, ABUT_SECTION_VERSION = 1 };
enum { ABUT_SECTION_REQUIRED = 1 /* a reader that does not know it must refuse */,
       ABUT_SECTION_KEEP = 2 /* a reader that does not know it passes it on */ };

typedef struct abut_section {
    char tag[5];
    uint16_t version, flags;
    uint64_t length;    /* of the payload, bytes */
    uint64_t left;      /* of the payload, not read yet */
} abut_section;

/* Source of bytes. */
typedef struct abut_source {
    FILE *f;
    const char *name;   /* for messages */
    uint64_t at;        /* bytes read so far */
    uint32_t crc;       /* of them */
    int ended;          /* the bytes ended where more had to come */
    abut_section section;
} abut_source;

/** Whether bytes begin like a stream. */
int abut_is_state_stream(const void *bytes, size_t n);
/** Reads and checks magic, version (its major number) and byte order.
 * Fails  ABUT_E_FORMAT what it is instead, or which version; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_source_head(abut_source *s, int major, abut_err *err);
/** Reads the head of the next section into s->section. */
ABUT_MUST_USE abut_status abut_source_section(abut_source *s, abut_err *err);
/** Reads exactly n bytes of the section's payload. */
ABUT_MUST_USE abut_status abut_source_bytes(abut_source *s, void *to, size_t n, abut_err *err);
/** Reads n bytes of the payload into malloc'ed memory (+1 byte, 0), which grows as the bytes arrive: a length that
 * lies cannot allocate much more than the stream holds. */
ABUT_MUST_USE abut_status abut_source_block(abut_source *s, uint64_t n, unsigned char **data, abut_err *err);
/** Ends a section: all of the payload is read, and the checksum is right. */
ABUT_MUST_USE abut_status abut_source_section_end(abut_source *s, abut_err *err);
/** Reads past the payload and checks it. */
ABUT_MUST_USE abut_status abut_source_skip(abut_source *s, abut_err *err);
/** Fails ABUT_E_FORMAT when anything follows. */
ABUT_MUST_USE abut_status abut_source_at_end(abut_source *s, abut_err *err);
/** ABUT_E_FORMAT with name, byte offset and section before the message. */
abut_status abut_source_fail(const abut_source *s, abut_err *err, const char *fmt, ...) ABUT_PRINTF(3, 4);

/* Destination of bytes. */
typedef struct abut_sink {
    FILE *f;
    uint64_t at, section_end;
    uint32_t crc;
} abut_sink;

ABUT_MUST_USE abut_status abut_sink_head(abut_sink *s, int major, int minor, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_section(abut_sink *s, const char tag[4], uint16_t version, uint16_t flags,
                                            uint64_t length, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_bytes(abut_sink *s, const void *from, size_t n, abut_err *err);
/** Writes the checksum; the payload must have the announced length. */
ABUT_MUST_USE abut_status abut_sink_section_end(abut_sink *s, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_flush(abut_sink *s, abut_err *err);

/* Numbers as little-endian bytes on every host, and the two reorderings of array data. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { ABUT_HOST_BIG_ENDIAN = 1 };
#else
enum { ABUT_HOST_BIG_ENDIAN = 0 };
#endif

static inline void abut_put_le(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static inline uint64_t abut_get_le(const unsigned char *p, int bytes)
{
    assert(bytes <= 8);
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static inline uint64_t abut_bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double abut_double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/** Reverses the bytes of each of n elements of that size, in place. */
void abut_bytes_swap(void *data, size_t n, size_t size);

/** Groups bytes by significance: out[k * n + i] = in[i * size + k].  Slowly varying numbers compress better so. */
void abut_bytes_shuffle(unsigned char *out, const unsigned char *in, size_t n, size_t size);
/** The inverse. */
void abut_bytes_unshuffle(unsigned char *out, const unsigned char *in, size_t n, size_t size);

/** Reads one array: the payload and end of an ARRY section, whose head is s->section, and adds the array to set.
 * Fails  ABUT_E_FORMAT damaged, or the description contradicts the length; ABUT_E_IO; ABUT_E_NOMEM; set is unchanged */
ABUT_MUST_USE abut_status abut_array_read(abut_source *s, abut_arrays *set, abut_err *err);

/** Writes an array as one section; level 0 stores, 1..9 compresses where that makes it smaller. */
ABUT_MUST_USE abut_status abut_array_write(abut_sink *s, const abut_array *a, int level, abut_err *err);

/* zlib as calls on whole buffers. */

/** Compresses src[n] as a zlib stream if that is smaller than n bytes.
 * dst  out: malloc'ed, *m bytes; NULL when compression does not help (not an error)
 * Fails ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_deflate(const void *src, size_t n, int level, unsigned char **dst, size_t *m, abut_err *err);

/** Compresses src[n] as a zlib stream (RFC 1950) of any size, for formats that want one always (PNG, VTU).
 * dst  out: malloc'ed, *m bytes; NULL on failure
 * Fails ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_zlib_stream(const void *src, size_t n, int level, unsigned char **dst, size_t *m, abut_err *err);

/** Expands src[m] to exactly n bytes of dst.  Fails ABUT_E_FORMAT when it is no zlib stream of that size, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_inflate(const void *src, size_t m, void *dst, size_t n, abut_err *err);

/** Most bytes that m bytes can expand to: the limit of the format, 1032 : 1. */
size_t abut_inflate_bound(size_t m);

/** The CRC-32 of zlib, PNG and gzip (reflected polynomial 0xedb88320), continued from crc; 0 starts. */
uint32_t abut_crc32(uint32_t crc, const void *data, size_t n);

#endif
