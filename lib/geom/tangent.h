/* The sliding plane of a contact: two unit tangents (Li 2020, App. H). */
#ifndef ABUT_GEOM_TANGENT_H
#define ABUT_GEOM_TANGENT_H

#include "geom/dist.h"

/** P[6]: two orthonormal vectors normal to the separation of stencil s (taken as its own active feature). */
void abut_tangent(abut_stencil s, const double *x, double P[6]);
/** P[6]: any two orthonormal vectors normal to n[3] (not zero); depends on n alone. */
void abut_tangent_plane(const double n[3], double P[6]);

#endif
