#include "formats/picture/image.h"

#include <stdlib.h>
#include <string.h>

abut_status abut_image_make(abut_image *im, int w, int h, const uint8_t rgb[3], abut_err *err)
{
    uint8_t *p = malloc((size_t)w * (size_t)h * 3);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for a picture of %d x %d", w, h);
    for (size_t i = 0; i < (size_t)w * (size_t)h; i++) memcpy(p + 3 * i, rgb, 3);
    *im = (abut_image){ w, h, p };
    return ABUT_OK;
}

void abut_image_clear(abut_image *im)
{
    free(im->rgb);
    *im = (abut_image){ 0 };
}

void abut_image_paste(abut_image *dst, const abut_image *src, int x, int y)
{
    const int lo = x < 0 ? -x : 0, hi = x + src->w > dst->w ? dst->w - x : src->w;
    for (int r = 0; r < src->h; r++)
        if (y + r >= 0 && y + r < dst->h && lo < hi)
            memcpy(dst->rgb + 3 * ((size_t)(y + r) * (size_t)dst->w + (size_t)(x + lo)),
                   src->rgb + 3 * ((size_t)r * (size_t)src->w + (size_t)lo), 3 * (size_t)(hi - lo));
}

void abut_image_fill(abut_image *im, int x, int y, int w, int h, const uint8_t rgb[3], double alpha)
{
    for (int r = y < 0 ? 0 : y; r < y + h && r < im->h; r++)
        for (int c = x < 0 ? 0 : x; c < x + w && c < im->w; c++) {
            uint8_t *p = im->rgb + 3 * ((size_t)r * (size_t)im->w + (size_t)c);
            for (int d = 0; d < 3; d++) p[d] = (uint8_t)(p[d] + alpha * (rgb[d] - p[d]) + 0.5);
        }
}
