/* The true boundary of curved tets, which contact sees as flat triangles: how deep is it in what contact keeps out?
 *
 * A remark, never a verdict: what a trajectory promises is that contact surfaces stay apart. */
#ifndef ABUT_JUDGE_BOUNDARY_H
#define ABUT_JUDGE_BOUNDARY_H

#include "model/model.h"

typedef struct abut_boundary_depth {
    double depth;               /* m: of the deepest sample; 0: none is in anything */
    int32_t tet;                /* of that sample; -1 */
    int32_t object, plane;      /* in the contact surface of this object, or under this half-space; -1 */
    double at[3];               /* m */
    size_t samples;
} abut_boundary_depth;

/** Samples every face of curved tets that is on the boundary at x[3 nv], with so many segments on a side: depth below half-spaces
 * and distance to the closed contact surface of another object that the sample is inside of.
 * y[3 nc]  m: collision vertices; NULL: nodes themselves
 * Fails  ABUT_E_GEOM the boundary is none of a solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_boundary(const abut_model *m, const double *x, const double *y, int segments,
                                              abut_boundary_depth *out, abut_err *err);

#endif
