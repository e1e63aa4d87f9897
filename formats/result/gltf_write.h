/* glTF 2.0: one file with a mesh per object and the animation in it, for Blender, three.js and system viewers; binary, or,
 * where its name ends in .gltf, JSON with the buffer in base64.
 *
 * A mesh holds triangles with normals (split at sharp edges), lines and points as it has them.  Objects that move get
 * one morph target per frame after the first (positions and normals) and share one animation of their weights, so that
 * players blend from frame to frame.  Half-spaces become squares.  Scenes whose up is not +y hang under a rotated root. */
#ifndef ABUT_FORMATS_RESULT_GLTF_WRITE_H
#define ABUT_FORMATS_RESULT_GLTF_WRITE_H

#include "formats/result/frame_view.h"

enum { ABUT_GLTF_FRAMES_MAX = 4096,     /* weights grow with the square of the frames */
       ABUT_GLTF_FRAMES_SAFE = 256 };   /* morph targets that every WebGL 2 device must hold */

typedef struct abut_gltf abut_gltf;

/** Opens path (through path.part).  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_open(const char *path, int keep, abut_gltf **w, abut_err *err);
/** Takes one frame.
 * Fails  ABUT_E_FORMAT the model has changed, or time does not rise; ABUT_E_ARG too many frames; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_frame(abut_gltf *w, const abut_shot *s, abut_err *err);
/** Writes the file.  Fails  ABUT_E_FORMAT nothing to show; ABUT_E_ARG it would exceed 4 GiB; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_close(abut_gltf *w, abut_err *err);
/** Number of frames taken so far. */
int abut_gltf_count(const abut_gltf *w);
void abut_gltf_free(abut_gltf **w);

#endif
