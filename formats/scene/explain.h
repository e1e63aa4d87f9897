/* Every derived parameter of a scene, with its unit and its reason: mesh-prep --explain. */
#ifndef ABUT_FORMATS_SCENE_EXPLAIN_H
#define ABUT_FORMATS_SCENE_EXPLAIN_H

#include "scene/build.h"

#include <stdio.h>

/* Facts that mesh-prep finds beyond abut_scene_build. */
typedef struct abut_explain {
    double gap; /* m: smallest distance less thickness at the start; INFINITY: larger than `reach` everywhere */
    double reach;                   /* m: how far it was looked for */
    char closest[400];              /* the closest pair */
} abut_explain;

/** Writes the report; errors of f are the caller's to check. */
void abut_explain_write(FILE *f, const abut_scene *s, const abut_built *b, const abut_explain *e);

#endif
