#include "formats/stream/bytes.h"

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
