/* A smooth surface to look at: the boundary of tets of order 2 and more, divided as finely as a picture needs.
 *
 * Its vertices are sums of nodes as those of contact are (formats/STATE.md), by a map of their own, so that what draws a contact
 * surface draws it.  It shows what the tets say; what touches is the contact surface. */
#ifndef ABUT_FORMATS_RESULT_SMOOTH_SURFACE_H
#define ABUT_FORMATS_RESULT_SMOOTH_SURFACE_H

#include "model/model.h"

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_smooth {
    abut_model view;            /* the model, with these in place of its contact/ arrays; for looks alone */
    int32_t *first, *node, *tri, *edge;
    double *weight, *offset;
} abut_smooth;

/** The model as it is, but for its bodies of curved tets whose contact surface is the boundary, or that have none: those have
 * every face of the boundary in `segments` on a side.  A contact surface of its own in the tets stays: it is finer than they are.
 * m must outlive it.  Fails  ABUT_E_FORMAT tets of two orders in an object; ABUT_E_GEOM a boundary is none of a solid;
 * ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_smooth_make(const abut_model *m, int segments, abut_smooth *out, abut_err *err);
void abut_smooth_clear(abut_smooth *s);

#endif
