/* Pictures in memory, as PNG files, letters on them, and films of them. */
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

/* Pictures after each other as a film: an animated GIF, or .mp4, .mov, .mkv and .webm by the program ffmpeg. */

/* An animated GIF (GIF89a): 256 colours for each picture, found by cutting the colours that it has at their medians (Heckbert
 * 1982, Color image quantization for frame buffer display), in LZW codes (Welch 1984).  A picture after the first is written as
 * the rectangle that changes. */
typedef struct abut_gif abut_gif;

/** Begins a film of pictures of w x h, at most 65535 each, each shown for so many hundredths of a second, that repeats forever.
 * Borrows f; write errors stay with it.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gif_open(FILE *f, int w, int h, int hundredths, abut_gif **g, abut_err *err);
/** Adds a picture of that size.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gif_picture(abut_gif *g, const abut_image *im, abut_err *err);
/** Ends the file, unless nothing was added. */
void abut_gif_close(abut_gif *g);
void abut_gif_free(abut_gif **g);

/* A film of any kind. */
typedef struct abut_film abut_film;

/** Checks that a film of that name can be made.  Fails  ABUT_E_ARG an unknown ending; ABUT_E_IO ffmpeg is not on the PATH */
ABUT_MUST_USE abut_status abut_film_check(const char *path, abut_err *err);
/** Begins a film of pictures of w x h, per_second a second; the file appears when complete.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_film_open(const char *path, int keep, int w, int h, double per_second, abut_film **film,
                                         abut_err *err);
ABUT_MUST_USE abut_status abut_film_picture(abut_film *film, const abut_image *im, abut_err *err);
/** Completes the film.  Fails  ABUT_E_IO the disk is full, or ffmpeg has failed */
ABUT_MUST_USE abut_status abut_film_close(abut_film *film, abut_err *err);
/** Frees the film; a file that was not closed is removed. */
void abut_film_free(abut_film **film);

#endif
