#include "formats/html/block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void abut_block_restart(abut_block *b)
{
    b->before = 0;
}

void abut_block_put(abut_block *b, uint32_t v)
{
    assert(b->at < b->n);
    const uint32_t d = v - b->before;
    for (size_t k = 0; k < b->size; k++) b->byte[k * b->n + b->at] = (uint8_t)(d >> 8 * k);
    b->at++;
    b->before = v;
}

void abut_block_indices(abut_block *b, const int32_t *v, size_t n)
{
    abut_block_restart(b);
    for (size_t i = 0; i < n; i++) abut_block_put(b, (uint32_t)v[i]);
}

uint8_t *abut_block_f32(uint8_t *to, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, v + i, 4);
        for (int k = 0; k < 4; k++) *to++ = (uint8_t)(bits >> 8 * k);
    }
    return to;
}

uint16_t abut_block_code(double v, double lo, double hi, int most)
{
    if (!isfinite(v)) return ABUT_CODE_NONE;
    const double u = hi > lo ? (v - lo) / (hi - lo) : 0;
    return (uint16_t)lrint(most * fmin(fmax(u, 0), 1));
}

void abut_block_count(abut_block_counts *c, uint16_t code)
{
    if (code == ABUT_CODE_NONE) return;
    c->all++;
    c->of[code >> 4]++;
}

double abut_block_top(const abut_block_counts *c)
{
    size_t beyond = c->all;
    for (int i = 0; i < 256; i++) {
        beyond -= c->of[i];
        if (200 * beyond <= c->all) return fmin((i + 1) / 256.0, 1);
    }
    return 1;
}
