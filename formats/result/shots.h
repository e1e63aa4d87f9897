/* Shots: the chosen frames of a stream, one after another, each with its model and its measured quantities.
 *
 *     abut_shots shots;
 *     const abut_shot *s;
 *     abut_shots_open(&shots, reader, &opt);
 *     while (!abut_shots_next(&shots, &s, &err) && s) { ... *s is good until the next call ... }
 *     abut_shots_clear(&shots); */
#ifndef ABUT_FORMATS_RESULT_SHOTS_H
#define ABUT_FORMATS_RESULT_SHOTS_H

#include "formats/result/measure.h"
#include "formats/result/object_parts.h"
#include "formats/stream/state_io.h"

/* A frame with all data that writers of results need.  Borrows everything. */
typedef struct abut_shot {
    int index;                      /* place of the frame in the stream, from 0 */
    int model_index;                /* place of its MODEL among the models of the stream, from 0 */
    const abut_frame_head *head;
    const abut_arrays *model_set, *frame_set;
    const abut_model *model;
    const abut_frame *frame;
    const abut_parts *parts;        /* the chosen objects */
    const double *X, *x, *v;        /* [3 parts->n_points] m, m/s: of the points of the model at rest and in the frame */
    const abut_fields *fields;      /* as requested from abut_measure_frame */
} abut_shot;

enum { ABUT_PICK_MAX = 64 };

/* Which frames of a stream are wanted, by their place in it: --frames.
 *
 *     7          one frame; the first is 0, -1 is the last
 *     A:B:C      from A up to but without B, every C-th, each may be left out: as in Python, C > 0
 *     0,10,40:   several of these; frames come in stream order, each once
 *
 * A stream's length is known only at its end, so frames counted from the end are decided late: the reader holds back the last
 * `hold` frames.  When a frame leaves these, it calls abut_pick_takes with the number of frames read. */
typedef struct abut_pick {
    int n;                      /* 0: every frame */
    int32_t hold;               /* frames to hold back */
    struct abut_pick_range {
        int single;             /* just `from` */
        int open;               /* no `to` */
        int32_t from, to, by;
    } range[ABUT_PICK_MAX];
} abut_pick;

/** Fails  ABUT_E_ARG naming the part that is no frame, range or positive stride */
ABUT_MUST_USE abut_status abut_pick_parse(const char *text, abut_pick *p, abut_err *err);

/** Returns whether frame i is wanted; total: frames read, all of the stream or at least i + hold + 1. */
int abut_pick_takes(const abut_pick *p, int32_t i, int32_t total);

/** Checks, at the end of the stream, that every frame named alone exists and that a frame was chosen.
 * Fails  ABUT_E_ARG; ABUT_E_FORMAT there are no frames at all */
ABUT_MUST_USE abut_status abut_pick_check(const abut_pick *p, int32_t total, abut_err *err);

typedef struct abut_shots_opts {
    abut_pick pick;                 /* which frames; zero-filled: all */
    const char *const *names;       /* which objects; n_names 0: all */
    int n_names;
    int want;                       /* ABUT_WANT_* */
    abut_writer *copy;              /* receives every item read, chosen or not; NULL: none */
    int segments;                   /* on a side of curved tets (surfaces.h); 0: parts are contact surfaces */
    int thick;                      /* shells, rods and particles have the surface of their thickness (surfaces.h) */
} abut_shots_opts;

/* Zero-filled is empty. */
typedef struct abut_shots {
    abut_reader *reader;            /* borrowed */
    abut_shots_opts opt;
    struct abut_held *first, *last; /* frames held back, oldest first */
    struct abut_shot_model *scene;  /* the last MODEL */
    int n_models;
    int32_t n_held, seen;           /* frames held back; frames read */
    int ended;
    struct abut_held *given;        /* the frame of `shot` */
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
