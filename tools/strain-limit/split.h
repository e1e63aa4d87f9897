/* strain-limit --project: the last frame of a stream becomes its projection onto the limits, from the frame before. */
#ifndef ABUT_TOOLS_STRAIN_LIMIT_SPLIT_H
#define ABUT_TOOLS_STRAIN_LIMIT_SPLIT_H

#include "solve/step/barrier_stepper.h"
#include "tools/cli/stream.h"

/* Zero-filled is empty. */
typedef struct abut_strain_split {
    abut_arrays model_set;      /* of the projection */
    abut_model model;
    abut_solve_options solve;
    abut_stepper stepper;
    abut_arrays last, held;     /* the last frame written, and the one that may be the stream's last */
    abut_frame_head last_head, held_head;
    int frames;                 /* of this model, read so far */
    int iterations;             /* of Newton */
    double moved;               /* m: furthest that the projection moved a node */
} abut_strain_split;

/** Writes the frame that is held, if there is one: before a MODEL follows it. */
ABUT_MUST_USE abut_status abut_strain_split_release(abut_strain_split *p, abut_stream *s, abut_err *err);
/** Prepares for a MODEL of the stream; its limits have been set. */
ABUT_MUST_USE abut_status abut_strain_split_model(abut_strain_split *p, const abut_stream *s, abut_err *err);
/** Holds the frame of the stream back, and writes the one that was held. */
ABUT_MUST_USE abut_status abut_strain_split_frame(abut_strain_split *p, abut_stream *s, abut_err *err);
/** Projects the held frame at the end of the stream; it becomes the stream's frame, as if it had been read.
 * Fails  ABUT_E_FORMAT there are not two frames, or they are not one time step apart */
ABUT_MUST_USE abut_status abut_strain_split_finish(abut_strain_split *p, abut_stream *s, abut_err *err);
void abut_strain_split_clear(abut_strain_split *p);

#endif
