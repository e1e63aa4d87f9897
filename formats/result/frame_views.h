/* The chosen frames of a stream, one after another, each with its model and what was measured on it.
 *
 *     abut_shots shots;
 *     const abut_shot *s;
 *     abut_shots_open(&shots, reader, &opt);
 *     while (!abut_shots_next(&shots, &s, &err) && s) { ... *s is good until the next call ... }
 *     abut_shots_clear(&shots); */
#ifndef ABUT_FORMATS_RESULT_FRAME_VIEWS_H
#define ABUT_FORMATS_RESULT_FRAME_VIEWS_H

#include "formats/stream/frame_pick.h"
#include "formats/result/frame_view.h"

typedef struct abut_shots_opts {
    abut_pick pick;                 /* which frames; zero-filled: all */
    const char *const *names;       /* which objects; n_names 0: all */
    int n_names;
    int want;                       /* ABUT_WANT_* */
    abut_writer *copy;              /* receives every item read, chosen or not; NULL: none */
    int segments;                   /* on a side of curved tets (smooth_surface.h); 0: parts are contact surfaces */
    int thick;                      /* shells, rods and particles have the surface of their thickness (thick_surface.h) */
} abut_shots_opts;

/* Zero-filled is empty. */
typedef struct abut_shots {
    abut_reader *reader;            /* borrowed */
    abut_shots_opts opt;
    struct abut_held *first, *last; /* frames held back, oldest first */
    struct abut_scene *scene;       /* of the last MODEL */
    int n_models;
    int32_t n_held, seen;           /* frames held back; frames read */
    int ended;
    struct abut_held *given;        /* behind the shot given last */
    abut_shot shot;
    abut_fields fields;
    int smoothed, thickened;        /* whether `segments` and `thick` changed a surface of any model */
    char note[160];                 /* what the reader left out; "" */
} abut_shots;

/** Borrows reader and the names. */
void abut_shots_open(abut_shots *q, abut_reader *reader, const abut_shots_opts *opt);
/** The next chosen frame, or NULL after the last; then the stream has been read to its end mark.
 * Fails  ABUT_E_FORMAT, ABUT_E_IO as abut_reader_next and the views; ABUT_E_ARG an object or a frame is not there, or no
 *        frame was chosen; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_shots_next(abut_shots *q, const abut_shot **s, abut_err *err);
void abut_shots_clear(abut_shots *q);

#endif
