/* What lies wholly inside of a body touches nothing: vertices inside of closed contact surfaces. */
#ifndef ABUT_JUDGE_INSIDE_H
#define ABUT_JUDGE_INSIDE_H

#include "judge/judge.h"

/** Appends a hit for every vertex that is inside of the contact surface at x of an object of tets, not its own: where the surface
 * winds around it, that is where the triangles above it, counted with the sides that they show, do not cancel.  Exact for any
 * finite doubles.  What is on a surface, a hit of its own, may be appended or not.  Left out: surfaces with a rim, where a side
 * is not met as often in one direction as in the other, and one piece of an object in another.  Only for shapes whose collision
 * vertices are sums of nodes: elsewhere tets say what is inside.  Fails  ABUT_E_GEOM a position is not finite;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_judge_inside(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err);

#endif
