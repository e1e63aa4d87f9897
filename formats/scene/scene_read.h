/* The scene language (formats/SCENE.md): from a document tree to a scene. */
#ifndef ABUT_FORMATS_SCENE_SCENE_READ_H
#define ABUT_FORMATS_SCENE_SCENE_READ_H

#include "formats/scene/tree.h"
#include "scene/scene.h"

/** Understands root as a scene; loads the meshes it names (relative to the folder `base`, "" for the current one) and
 * generates others; meshes are scaled, rotated and moved, but not yet filled (tetrahedralize) or fitted (fit).
 *
 * out  filled on success, abut_scene_clear'ed by the caller
 * Fails  ABUT_E_FORMAT with file, line, column: unknown keys (with the nearest known name), wrong types, missing units,
 *        missing files, names that nothing bears; ABUT_E_NOMEM; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_scene_read(const abut_tree *root, const char *base, abut_scene *out, abut_err *err);

#endif
