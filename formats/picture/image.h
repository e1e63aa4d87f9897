/* Pictures in memory, as PNG files, and letters on them. */
#ifndef ABUT_FORMATS_PICTURE_IMAGE_H
#define ABUT_FORMATS_PICTURE_IMAGE_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

/* sRGB, 8 bits, row 0 on top.  Zero-filled is empty. */
typedef struct abut_image {
    int w, h;
    uint8_t *rgb;           /* [h * w * 3] */
} abut_image;

/** An image filled with one colour.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_image_make(abut_image *im, int w, int h, const uint8_t rgb[3], abut_err *err);
void abut_image_clear(abut_image *im);

/** Copies src into dst with its upper left corner at x, y; what lies outside is cut off. */
void abut_image_paste(abut_image *dst, const abut_image *src, int x, int y);

/** Fills a rectangle, mixed over what is there with weight alpha in [0, 1]. */
void abut_image_fill(abut_image *im, int x, int y, int w, int h, const uint8_t rgb[3], double alpha);

/** Writes the lines of text ('\n' between them) in a 5x7 bitmap font, every dot a square of `scale` pixels; x, y is the
 * upper left corner.  Characters outside of ASCII are shown as boxes. */
void abut_image_text(abut_image *im, int x, int y, int scale, const char *text, const uint8_t rgb[3]);
/** Width and height of one line of that text, pixels. */
int abut_image_text_width(const char *text, int scale);
int abut_image_text_height(int scale);

/** Writes a PNG file (8-bit RGB).  Fails  ABUT_E_NOMEM; write errors stay with f */
ABUT_MUST_USE abut_status abut_image_png(const abut_image *im, FILE *f, abut_err *err);

#endif
