/* The sliding plane of a contact: two unit tangents (Li 2020, App. H). */
#ifndef ABUT_GEOM_TANGENT_H
#define ABUT_GEOM_TANGENT_H

#include "geom/dist.h"

/** P[6]: two orthonormal vectors normal to the separation of stencil s (taken as its own active feature).
 * PT: along t1 - t0 and n x (t1 - t0);  EE: along a1 - a0 and n x (a1 - a0), n the common normal;  PE: along e = e1 - e0
 * and e x (p - e0);  PP: as abut_tangent_plane of b - a.  Degenerate input gives a plane normal to the remaining separation. */
void abut_tangent(abut_stencil s, const double *x, double P[6]);
/** P[6]: two orthonormal vectors normal to n[3], depending on n alone: t = X x n or Y x n, the longer one, and n x t.
 * n = 0 gives the plane of X and Y. */
void abut_tangent_plane(const double n[3], double P[6]);

#endif
