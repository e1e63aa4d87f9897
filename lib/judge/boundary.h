/* Depth of the true boundary of curved tets, for which contact has flat triangles, inside other bodies and half-spaces.
 *
 * For information, not for a verdict: a trajectory only guarantees that contact surfaces stay apart. */
#ifndef ABUT_JUDGE_BOUNDARY_H
#define ABUT_JUDGE_BOUNDARY_H

#include "model/model.h"

typedef struct abut_boundary_depth {
    double depth;               /* m: of the deepest sample; 0: all samples are outside */
    int32_t tet;                /* tet of that sample; -1: none */
    int32_t object, plane;      /* in the contact surface of this object, or under this half-space; -1 */
    double at[3];               /* m */
    size_t samples;
} abut_boundary_depth;

/** Samples every boundary face of curved tets at x[3 nv], with `segments` on a side: depth below half-spaces, and distance to the
 * closed contact surface of another object if the sample is inside it.
 * y[3 nc]  m: collision vertices; NULL: nodes themselves
 * Fails  ABUT_E_GEOM the boundary is not that of a solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_boundary(const abut_model *m, const double *x, const double *y, int segments,
                                              abut_boundary_depth *out, abut_err *err);

#endif
