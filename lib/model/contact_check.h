/* Contact sees what is in contact/node, contact/edge and contact/triangle.  They follow from the elements: a stream whose arrays
 * lack a face, a side or a segment would pass through itself there without a word. */
#ifndef ABUT_MODEL_CONTACT_CHECK_H
#define ABUT_MODEL_CONTACT_CHECK_H

#include "model/model.h"

/** Whether the collision mesh of a checked model is whole: a triangle for each outer face of the tets and each shell, an edge
 * for each rod segment and, unless the reader finds them by itself (sides 0), for each side of a triangle, a vertex for each
 * particle.  Nothing to check where contact is off (no vertices); of vertices that are sums of nodes the sides alone.  Obstacles
 * have no elements but those.
 * Fails  ABUT_E_FORMAT naming the array, what lacks and its nodes; ABUT_E_GEOM tets that share a face in threes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err);

#endif
