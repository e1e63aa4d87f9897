/* Vertices inside closed contact surfaces: a primitive wholly inside a body touches nothing. */
#ifndef ABUT_JUDGE_INSIDE_H
#define ABUT_JUDGE_INSIDE_H

#include "judge/judge.h"

/** Appends a hit for every vertex inside the contact surface at x of another object of tets.  A vertex is inside if the surface
 * winds around it: the triangles above it, signed by the side that they show, do not cancel.  Exact for all finite doubles.  A
 * vertex on a surface, which is another hit, may be appended or not.  Left out: surfaces with a rim, and one piece of an object
 * in another.  Only for shapes whose collision vertices are sums of nodes; for other shapes tets decide.
 * Fails  ABUT_E_GEOM a position is not finite;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_inside(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

#endif
