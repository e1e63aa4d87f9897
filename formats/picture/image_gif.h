/* Pictures after each other as an animated GIF (GIF89a): 256 colours for each, found by cutting the colours that it has at their
 * medians (Heckbert 1982, Color image quantization for frame buffer display), in LZW codes (Welch 1984).  Of a picture after the
 * first only the rectangle that changes is written. */
#ifndef ABUT_FORMATS_PICTURE_IMAGE_GIF_H
#define ABUT_FORMATS_PICTURE_IMAGE_GIF_H

#include "formats/picture/image.h"

typedef struct abut_gif abut_gif;

/** Begins a film of pictures of w x h, at most 65535 each, each shown for so many hundredths of a second, that repeats forever.
 * Borrows f; write errors stay with it.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gif_open(FILE *f, int w, int h, int hundredths, abut_gif **g, abut_err *err);
/** Adds a picture of that size.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gif_picture(abut_gif *g, const abut_image *im, abut_err *err);
/** Ends the file, unless nothing was added. */
void abut_gif_close(abut_gif *g);
void abut_gif_free(abut_gif **g);

#endif
