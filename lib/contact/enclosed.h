/* Vertices inside closed contact surfaces that are no faces of tets: a primitive wholly inside a body touches no surface. */
#ifndef ABUT_CONTACT_ENCLOSED_H
#define ABUT_CONTACT_ENCLOSED_H

#include "contact/collision_mesh.h"

/** in[nc]: the first body of tets, of another object, whose closed contact surface at y[3 nc] encloses the vertex; -1: none.
 * Vertices of bodies that do not meet have -1.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_enclosed_find(const abut_collmesh *cm, const double *y, int32_t *in, abut_err *err);

#endif
