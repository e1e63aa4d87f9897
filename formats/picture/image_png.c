/* PNG (ISO/IEC 15948): every row takes the filter with the smallest sum of absolute differences. */
#include "formats/stream/zlib_stream.h"
#include "formats/picture/image.h"

#include <stdlib.h>
#include <string.h>

enum { PIXEL = 3, FILTERS = 5, LEVEL = 6 };

static void put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put_chunk(FILE *f, const char *type, const uint8_t *data, size_t n)
{
    uint8_t word[4];
    put_be32(word, (uint32_t)n);
    fwrite(word, 1, 4, f);
    fwrite(type, 1, 4, f);
    if (n) fwrite(data, 1, n, f);
    put_be32(word, abut_crc32(abut_crc32(0, type, 4), data, n));
    fwrite(word, 1, 4, f);
}

/* left, above, above left */
static uint8_t paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static uint8_t predict(int filter, const uint8_t *row, const uint8_t *above, size_t i)
{
    const int a = i >= PIXEL ? row[i - PIXEL] : 0, b = above ? above[i] : 0, c = above && i >= PIXEL ? above[i - PIXEL] : 0;
    switch (filter) {
    case 1: return (uint8_t)a;
    case 2: return (uint8_t)b;
    case 3: return (uint8_t)((a + b) / 2);
    case 4: return paeth(a, b, c);
    default: return 0;
    }
}

static void filter_row(const uint8_t *row, const uint8_t *above, size_t n, uint8_t *out, uint8_t *trial)
{
    unsigned long least = (unsigned long)-1;
    for (int filter = 0; filter < FILTERS; filter++) {
        unsigned long sum = 0;
        trial[0] = (uint8_t)filter;
        for (size_t i = 0; i < n; i++) {
            trial[1 + i] = (uint8_t)(row[i] - predict(filter, row, above, i));
            sum += (unsigned)abs((int8_t)trial[1 + i]);
        }
        if (sum >= least) continue;
        least = sum;
        memcpy(out, trial, n + 1);
    }
}

abut_status abut_image_png(const abut_image *im, FILE *f, abut_err *err)
{
    const size_t row = PIXEL * (size_t)im->w, total = (row + 1) * (size_t)im->h;
    uint8_t *filtered = malloc(total + 1), *trial = malloc(row + 1), *z = NULL;
    size_t nz = 0;
    abut_status rc = ABUT_OK;
    if (!filtered || !trial) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a picture of %d x %d", im->w, im->h);
    for (int y = 0; y < im->h && !rc; y++) {
        const uint8_t *p = im->rgb + (size_t)y * row;
        filter_row(p, y ? p - row : NULL, row, filtered + (size_t)y * (row + 1), trial);
    }
    if (!rc) rc = abut_zlib_stream(filtered, total, LEVEL, &z, &nz, err);
    if (!rc) {
        uint8_t head[13] = { [8] = 8 /* bits */, [9] = 2 /* RGB */ };
        put_be32(head, (uint32_t)im->w);
        put_be32(head + 4, (uint32_t)im->h);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
        put_chunk(f, "IHDR", head, sizeof head);
        put_chunk(f, "sRGB", (const uint8_t[1]){ 0 }, 1);
        put_chunk(f, "IDAT", z, nz);
        put_chunk(f, "IEND", NULL, 0);
    }
    free(filtered);
    free(trial);
    free(z);
    return rc;
}
