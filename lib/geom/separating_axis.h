/* Directions along which two primitives may be told apart: guesses in plain floating point.  Whoever uses one proves what
 * it shows (geom/ccd/ccd.h does); a poor guess costs progress, never safety. */
#ifndef ABUT_GEOM_SEPARATING_AXIS_H
#define ABUT_GEOM_SEPARATING_AXIS_H

#include "geom/dist.h"

#define ABUT_AXES_MAX 10

/** n[3]: from the nearest point of the second primitive to that of the first, roughly, m; 0 when they meet. */
void abut_axis_nearest(abut_stencil s, const double *x, double n[3]);

/** All the directions of the closed forms, found as well as double allows: vertex differences, vertex-edge residuals
 * orthogonalised three times, the normal of the face or of the two edges with products taken exactly.  Returns how many. */
int abut_axis_all(abut_stencil s, const double *x, double n[ABUT_AXES_MAX][3]);

#endif
