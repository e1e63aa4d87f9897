/* Advice on a built scene: results that may be worse than its author expects.  No advice is an error. */
#ifndef ABUT_SCENE_ADVICE_H
#define ABUT_SCENE_ADVICE_H

#include "model/model.h"
#include "scene/build.h"
#include "scene/pressed.h"

enum { ABUT_ADVICE_MOST = 24, ABUT_ADVICE_TEXT = 320 };

/* Sentences, objects by name.  Zero-filled is empty. */
typedef struct abut_advice {
    int n, left_out;    /* left_out: more than there is room for */
    char text[ABUT_ADVICE_MOST][ABUT_ADVICE_TEXT];
} abut_advice;

/** Looks at a model made of s:
 *
 * depth      slender bodies (L^3 / V >= 16, L the diagonal of the bounding box) of tets of order 1 with fewer than four
 *            elements through their depth, that is where every node is on the surface or in a tet with a node that is:
 *            they bend too stiffly
 * dhat       not below half the shortest edge of a surface
 * impact     steps longer than an impact lasts, 2 d sqrt(density / E) of a body of the least extent d: a wave to and fro
 * thickness  of a shell, more than the side of its triangles
 * times      a step longer than the scene, a motion that begins after its end
 * rotations  of nodes that all lie on the axis
 * sizes      a coefficient of friction above 5, gravity above 1000 m/s^2
 * loads      on nodes that are all prescribed as long as they act
 * start      within dhat: which two, and the speed at which the barrier parts them
 * scheme     BDF of order 3 to 6, if the step amplifies oscillations of the bodies by more than a tenth until the end of the
 *            scene, or in a second: which, and the step that does not
 * forces     asked to balance to more than 0.1 of the largest on a body: they are that far off
 * Fails      ABUT_E_NOMEM, ABUT_E_GEOM as abut_surface_triangles */
ABUT_MUST_USE abut_status abut_advice_find(const abut_scene *s, const abut_model *m, const abut_built *b,
                                           const abut_pressed *start, abut_advice *a, abut_err *err);

#endif
