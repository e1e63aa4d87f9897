/* Pictures after each other as a film: an animated GIF, or .mp4, .mov, .mkv and .webm by the program ffmpeg. */
#ifndef ABUT_FORMATS_PICTURE_FILM_H
#define ABUT_FORMATS_PICTURE_FILM_H

#include "formats/picture/image.h"

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
