/* Name of a primitive of the collision mesh in messages. */
#ifndef ABUT_CONTACT_PRIMITIVE_NAME_H
#define ABUT_CONTACT_PRIMITIVE_NAME_H

#include "contact/collision_mesh.h"

#include <stddef.h>

enum { ABUT_PRIMITIVE_NAME = 190 };     /* letters that every name fits in, with the final 0 */

/** "edge of 'ball' (nodes 4, 9) at (0.1, 0.2, 0.3)": a point, an edge or a triangle, nodes counted
 * within their object.
 *
 * set   the arrays of the model: object/name
 * y     [3 nc] m, collision vertices; the place is that of the first vertex
 * v     [n] collision vertices of one object, n = 1, 2, 3 */
void abut_primitive_name(const abut_collmesh *cm, const abut_arrays *set, const double *y, const int32_t *v, int n,
                         char name[ABUT_PRIMITIVE_NAME]);

#endif
