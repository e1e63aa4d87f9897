/* Contact uses only contact/node, contact/edge and contact/triangle, which follow from the elements.  Where these arrays lack a
 * face, a side or a segment, a body would penetrate without a message. */
#ifndef ABUT_MODEL_CONTACT_CHECK_H
#define ABUT_MODEL_CONTACT_CHECK_H

#include "model/model.h"

/** Checks that the collision mesh of a checked model is complete: a triangle for each outer face of the tets and each shell; an
 * edge for each rod segment and, unless sides is 0 (the reader finds them itself), for each side of a triangle; a vertex for each
 * particle.  If contact is off (no vertices), nothing is checked; if vertices are sums of nodes, sides alone.  Obstacles have no
 * other elements.
 * Fails  ABUT_E_FORMAT naming the array, the missing item and its nodes; ABUT_E_GEOM three tets share a face; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err);

#endif
