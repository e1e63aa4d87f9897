/* Bodies that shall have the mass and the centre of another mesh. */
#ifndef ABUT_SCENE_MATCH_H
#define ABUT_SCENE_MATCH_H

#include "scene/scene.h"

/** Fills `density` of the objects that have a reference: once, when all are placed and have their orders.
 * Fails  ABUT_E_GEOM a reference without volume, tets that cannot have its mass; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_match(abut_scene *s, abut_err *err);

#endif
