/* Numbers as little-endian bytes on every host, and the two reorderings of array data. */
#ifndef ABUT_FORMATS_STREAM_BYTES_H
#define ABUT_FORMATS_STREAM_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#endif
