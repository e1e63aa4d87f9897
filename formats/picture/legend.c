#include "formats/picture/legend.h"

#include "formats/result/palette.h"

#include <string.h>

static const uint8_t ink[3] = { 52, 60, 72 };

/* Dots of the font: 1 pixel on thumbnails, 2 on usual pictures. */
static int font_scale(const abut_image *im)
{
    const int s = im->h / 300;
    return s < 1 ? 1 : s;
}

void abut_legend_time(abut_image *im, double time, int decimals)
{
    char text[48];
    const int s = font_scale(im);
    snprintf(text, sizeof text, "t = %.*f s", decimals, time);
    abut_image_text(im, 7 * s, 7 * s, s, text, ink);
}

void abut_legend_scale(abut_image *im, const abut_point_field *field, const double range[2])
{
    const int s = font_scale(im), w = im->w / 3, h = 5 * s, x = 7 * s, y = im->h - 7 * s - h;
    const char *unit = field->unit;
    double scale = 1;
    if (!strcmp(unit, "Pa")) {
        unit = range[1] >= 1e9 ? "GPa" : range[1] >= 1e6 ? "MPa" : range[1] >= 1e3 ? "kPa" : "Pa";
        scale = range[1] >= 1e9 ? 1e-9 : range[1] >= 1e6 ? 1e-6 : range[1] >= 1e3 ? 1e-3 : 1;
    }
    for (int i = 0; i < w; i++) {
        float c[3];
        abut_palette_scale((i + 0.5) / w, c);
        abut_image_fill(im, x + i, y, 1, h,
                        (uint8_t[3]){ (uint8_t)(255 * c[0] + 0.5f), (uint8_t)(255 * c[1] + 0.5f), (uint8_t)(255 * c[2] + 0.5f) },
                        1);
    }
    char text[96];
    const int above = y - 4 * s - abut_image_text_height(s);
    snprintf(text, sizeof text, "%.3g", scale * range[0]);
    abut_image_text(im, x, above, s, text, ink);
    snprintf(text, sizeof text, "%.3g%s%s", scale * range[1], *unit ? " " : "", unit);
    abut_image_text(im, x + w - abut_image_text_width(text, s), above, s, text, ink);
    abut_image_text(im, x, above - 4 * s - abut_image_text_height(s), s, field->label ? field->label : field->name, ink);
}
