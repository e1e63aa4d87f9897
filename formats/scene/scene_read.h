/* The scene language (formats/SCENE.md): from a document tree to a scene; and every derived parameter of one. */
#ifndef ABUT_FORMATS_SCENE_SCENE_READ_H
#define ABUT_FORMATS_SCENE_SCENE_READ_H

#include "formats/scene/tree.h"
#include "scene/build.h"
#include "scene/scene.h"

#include <stdio.h>

/** Understands root as a scene; loads the meshes it names (relative to the folder `base`, "" for the current one) and
 * generates others; meshes are scaled, rotated and moved, but not yet filled (tetrahedralize) or fitted (fit).
 *
 * out  filled on success, abut_scene_clear'ed by the caller
 * Fails  ABUT_E_FORMAT with file, line, column: unknown keys (with the nearest known name), wrong types, missing units,
 *        missing files, names that nothing bears; ABUT_E_NOMEM; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_scene_read(const abut_tree *root, const char *base, abut_scene *out, abut_err *err);

/** Replaces `robots` of a scene by the objects and joints of their URDF files (robots.c), and sets `max` of motors by the efforts
 * of their joints.  Before abut_scene_read, which takes no `robots`.
 *
 * root   the scene; keys that it has for an object or joint of a robot stay
 * base   as for abut_scene_read
 * notes  out: texts, remarks for the user, in the arena; NULL: there are no robots
 * Fails  ABUT_E_FORMAT with file and line; ABUT_E_NOMEM; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_scene_robots(abut_arena *arena, abut_tree *root, const char *base, const abut_tree **notes,
                                            abut_err *err);

/** Writes every key of the scene language, one a line: path, what it takes, range, default; tabs between. */
void abut_scene_keys_write(FILE *f);

/* Facts that mesh-prep finds beyond abut_scene_build. */
typedef struct abut_explain {
    double gap; /* m: smallest distance less thickness at the start; INFINITY: larger than `reach` everywhere */
    double reach;                   /* m: how far it was looked for */
    char closest[400];              /* the closest pair */
} abut_explain;

/** Writes every derived parameter of a scene, with its unit and its reason (mesh-prep --explain).  The caller
 * checks f for errors. */
void abut_explain_write(FILE *f, const abut_scene *s, const abut_built *b, const abut_explain *e);

#endif
