#include "formats/result/base64.h"

void abut_base64(FILE *f, const uint8_t *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 256];
    size_t at = 0;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        line[at++] = digit[v >> 18];
        line[at++] = digit[v >> 12 & 63];
        line[at++] = left > 1 ? digit[v >> 6 & 63] : '=';
        line[at++] = left > 2 ? digit[v & 63] : '=';
        if (at == sizeof line) {
            fwrite(line, 1, at, f);
            at = 0;
        }
    }
    fwrite(line, 1, at, f);
}
