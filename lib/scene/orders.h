/* Orders of the tets of a scene: from the mesh as it was said to the nodes that displacement has.
 *
 * A straight mesh becomes one of the order of its rest shape where its surface approximates a smooth one (mesh/curve.h), before
 * it is placed: what is placed, scaled and repeated afterwards is curved.  At last its tets get the nodes of the order of
 * displacement.  Rigid motions and linear fields are sums of the bases of order k on a shape of order g only where g <= k, so the
 * shape gets the order min(g, k) unless more is asked for (Ferguson et al. 2023 have shapes of order 4 with k = 1 and 2). */
#ifndef ABUT_SCENE_ORDERS_H
#define ABUT_SCENE_ORDERS_H

#include "scene/scene.h"

/** The rest shape of an object: once, when its mesh has all its tets and before it is placed (of a surface that is filled with
 * tets: afterwards).
 * Fails  ABUT_E_FORMAT an order above 1 of what has no tets or is an obstacle, a shape of an order that the mesh does not have, a
 *        surface to put a mesh of order 2 or more onto; ABUT_E_GEOM as abut_mesh_curve; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_shape(abut_scene_object *o, abut_err *err);

/** The nodes of displacement of all objects: once, when all are placed.  Fails  ABUT_E_FORMAT too many points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_orders(abut_scene *s, abut_err *err);

/** Order of displacement: as it was said, or that of the mesh. */
int abut_scene_order_of(const abut_scene_object *o);

#endif
