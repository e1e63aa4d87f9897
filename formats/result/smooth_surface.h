/* A smooth surface to look at: the boundary of tets of order 2 and more, divided as finely as a picture needs.
 *
 * Its vertices are sums of nodes, as contact vertices are (formats/STATE.md), by a map of their own: functions that draw contact
 * surfaces draw it too.  It shows the shape of the tets; contact acts on the contact surface. */
#ifndef ABUT_FORMATS_RESULT_SMOOTH_SURFACE_H
#define ABUT_FORMATS_RESULT_SMOOTH_SURFACE_H

#include "model/model.h"

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_smooth {
    abut_model view;            /* the model, with these in place of its contact/ arrays; for looks alone */
    int32_t *first, *node, *tri, *edge;
    double *weight, *offset;
} abut_smooth;

/** Views the model with every boundary face of its bodies of curved tets divided into `segments` on a side.  A body with its
 * own contact surface keeps that surface, which is finer than the tets.
 * m must outlive it.  Fails  ABUT_E_FORMAT tets of two orders in an object; ABUT_E_GEOM a boundary is none of a solid;
 * ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_smooth_make(const abut_model *m, int segments, abut_smooth *out, abut_err *err);
void abut_smooth_clear(abut_smooth *s);

#endif
