/* Pieces of abut_scene_build: the elements of each object as they go into the model.  For build.c, build_motion.c and
 * build_check.c. */
#ifndef ABUT_MODEL_BUILD_PARTS_H
#define ABUT_MODEL_BUILD_PARTS_H

#include "model/build.h"

/* One object on its way into the model. */
typedef struct abut_part {
    const abut_scene_object *object;
    int32_t *node;          /* [mesh.nv] node of the model, -1: left out */
    int32_t *vertex;        /* [mesh.nv] collision vertex, -1: none */
    int32_t *tri, *edge;    /* surface, in points of the mesh */
    int32_t ntri, nedge;
    int32_t first, nodes;   /* nodes of the model: [first, first + nodes) */
} abut_part;

/* Everything abut_scene_build shares between its steps. */
typedef struct abut_build {
    const abut_scene *scene;
    abut_part *part;        /* [nobjects] */
    abut_built *out;
    abut_arrays *model, *frame;
    double *X, *mass;       /* of the model's arrays */
    int32_t *role;
} abut_build;

/** Lists inverted, flat and degenerate elements of all objects. */
ABUT_MUST_USE abut_status abut_build_check(const abut_build *b, abut_offenders *bad, abut_err *err);

/** Puts the motion arrays; marks handles in role. */
ABUT_MUST_USE abut_status abut_build_motions(abut_build *b, abut_err *err);

#endif
