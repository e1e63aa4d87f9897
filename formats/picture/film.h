/* Pictures after each other as a film: .gif by image_gif.h; .mp4, .mov, .mkv and .webm by the program ffmpeg. */
#ifndef ABUT_FORMATS_PICTURE_FILM_H
#define ABUT_FORMATS_PICTURE_FILM_H

#include "formats/picture/image.h"

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
