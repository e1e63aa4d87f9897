/* Summary of a stream, in a page of text. */
#ifndef ABUT_FORMATS_RESULT_SUMMARY_H
#define ABUT_FORMATS_RESULT_SUMMARY_H

#include "formats/result/frame_view.h"

#include <stdio.h>

/* Zero-filled: nothing seen yet. */
typedef struct abut_summary {
    int model_index;            /* of the frames counted */
    int n;                      /* frames of that model so far */
    abut_frame_head first, last;
    double force_residual;      /* the largest of the frames that have one; negative: none has */
    char *arrays;               /* of the last frame: names and shapes */
} abut_summary;

/** The history of the stream: one line per stage. */
void abut_summary_history(FILE *f, const abut_prov *prov, int n);
/** Counts a frame; with the first frame of a model its objects, materials and parameters are written.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_summary_frame(abut_summary *s, FILE *f, const abut_shot *shot, abut_err *err);
/** Writes what was counted since the last model. */
void abut_summary_end(abut_summary *s, FILE *f);
void abut_summary_clear(abut_summary *s);

#endif
