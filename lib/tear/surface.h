/* The contact surface of a torn model (tear/tear.h): the boundary of its tets, its shells or triangles of springs, its rods, and
 * what no tear changes: obstacles and points. */
#ifndef ABUT_TEAR_SURFACE_H
#define ABUT_TEAR_SURFACE_H

#include "tear/fans.h"

/** contact/node, contact/edge and contact/triangle; none where contact is off. */
ABUT_MUST_USE abut_status abut_tear_put_surface(const abut_tearing *w, abut_arrays *set, abut_err *err);

#endif
