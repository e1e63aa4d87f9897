/* A frame with all data that writers of results need.  Borrows everything. */
#ifndef ABUT_FORMATS_RESULT_FRAME_VIEW_H
#define ABUT_FORMATS_RESULT_FRAME_VIEW_H

#include "formats/result/measure.h"
#include "formats/result/object_parts.h"
#include "formats/stream/state_io.h"

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

#endif
