/* Pictures of frames: PNG files, a film, and film strips.
 *
 * Frames are put aside until the last one has come, so that one camera, one size of the world and one colour scale hold
 * for all of them. */
#ifndef ABUT_FORMATS_PICTURE_PICTURE_H
#define ABUT_FORMATS_PICTURE_PICTURE_H

#include "formats/picture/draw.h"
#include "formats/result/shots.h"

typedef struct abut_picture_opts {
    const char *dir;        /* a PNG per frame there; NULL: none */
    const char *strip;      /* a strip of several frames in this file; NULL: none */
    const char *film;       /* all pictures after each other in this file (image.h); NULL: none */
    int keep;               /* files that appear meanwhile under these names stay (formats/result/out_file.h) */
    double per_second;      /* pictures of the film; NAN: real time where that is 5 to 60, else 25 */
    int w, h;               /* pixels of a picture of dir and film */
    int strip_w, strip_h;   /* pixels of a picture of the strip */
    int panels;             /* pictures in the strip, spread evenly over the frames; 0: all of them up to 12, else 5 */
    abut_view view;
    const char *field;      /* whose values are colours (formats/result/point_fields.h); NULL: a colour for each object */
    double range[2];        /* of the colour scale, in the field's unit; NaN: from the frames */
    int wireframe, label;   /* label: write the time, and the colour scale */
} abut_picture_opts;
abut_picture_opts abut_picture_defaults(void);

/** Reads "WxH".  Fails  ABUT_E_ARG */
ABUT_MUST_USE abut_status abut_size_parse(const char *text, int *w, int *h, abut_err *err);

typedef struct abut_picture abut_picture;

/** Opens OpenGL and the outputs.  Fails  ABUT_E_IO no OpenGL (names the package), no folder, no file */
ABUT_MUST_USE abut_status abut_picture_open(const abut_picture_opts *opt, abut_picture **p, abut_err *err);
/** Returns the ABUT_WANT_* that abut_measure_frame must compute for these pictures. */
int abut_picture_want(const abut_picture_opts *opt);
/** Takes one frame.  Fails  ABUT_E_ARG no such field; ABUT_E_FORMAT the model has changed; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_picture_frame(abut_picture *p, const abut_shot *s, abut_err *err);
/** Draws the next picture, after the last frame; *left: pictures that remain; to be called until it is 0.
 * Fails  ABUT_E_FORMAT no frame was taken; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_picture_draw(abut_picture *p, int *left, abut_err *err);
void abut_picture_free(abut_picture **p);

#endif
