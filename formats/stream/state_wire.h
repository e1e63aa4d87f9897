/* The lowest layer of a state stream: bytes in order, sections, the chained checksum.  For state_io.c and state_array.c.
 *
 * Every section is [tag 4][version u16][flags u16][length u64][payload][crc u32].  crc is the CRC-32 (zlib's) of all
 * bytes of the stream before it, other crc fields left out: a section that is damaged, missing, there twice or out of
 * place is found where it happens. */
#ifndef ABUT_FORMATS_STREAM_STATE_WIRE_H
#define ABUT_FORMATS_STREAM_STATE_WIRE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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
/** Reads and checks magic, version and byte order.
 * Fails  ABUT_E_FORMAT what it is instead, or which version; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_source_head(abut_source *s, abut_err *err);
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

ABUT_MUST_USE abut_status abut_sink_head(abut_sink *s, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_section(abut_sink *s, const char tag[4], uint16_t version, uint16_t flags,
                                            uint64_t length, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_bytes(abut_sink *s, const void *from, size_t n, abut_err *err);
/** Writes the checksum; the payload must have the announced length. */
ABUT_MUST_USE abut_status abut_sink_section_end(abut_sink *s, abut_err *err);
ABUT_MUST_USE abut_status abut_sink_flush(abut_sink *s, abut_err *err);

#endif
