/* Orders of the tets of a scene: from the given mesh to the nodes of displacement.
 *
 * A straight mesh whose surface approximates a smooth one (mesh/curve.h) gets the order of its rest shape before it is placed; so
 * curved tets are placed, scaled and repeated.  Last, tets get the nodes of the order of displacement.  Rigid motions and linear
 * fields are sums of the bases of order k on a shape of order g only if g <= k.  So the shape gets the order min(g, k) unless the
 * scene sets more (Ferguson et al. 2023 have shapes of order 4 with k = 1 and 2). */
#ifndef ABUT_SCENE_ORDERS_H
#define ABUT_SCENE_ORDERS_H

#include "scene/scene.h"

/** Makes the rest shape of an object: once, when its mesh has all its tets and before it is placed (a surface filled with tets:
 * after it is placed).
 * Fails  ABUT_E_FORMAT an order above 1 for an obstacle or an object without tets, a shape of an order above the mesh's, a
 *        surface for a mesh of order 2 or more; ABUT_E_GEOM as abut_mesh_curve; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_shape(abut_scene_object *o, abut_err *err);

/** Makes the nodes of displacement of all placed objects, once.  Fails  ABUT_E_FORMAT too many points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_orders(abut_scene *s, abut_err *err);

/** Order of displacement: as given, else of the mesh. */
int abut_scene_order_of(const abut_scene_object *o);

#endif
