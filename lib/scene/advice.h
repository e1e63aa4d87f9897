/* Judgements on a built scene: starts that the barrier parts, and advice on results that may be worse than its author expects.
 * No advice is an error. */
#ifndef ABUT_SCENE_ADVICE_H
#define ABUT_SCENE_ADVICE_H

#include "model/model.h"
#include "scene/build.h"

/* ---- starts in which the barrier already acts between two bodies, or a body and an obstacle or half-space.  Its
 * energy turns into kinetic energy. ---- */

#define ABUT_GAP_TINY 1e-6      /* of dhat: rounding of positions decides forces at smaller gaps */

/* The pair that matters most.  Things are objects, then half-spaces. */
typedef struct abut_pressed {
    int32_t pairs;          /* pairs of two things that start within dhat; 0, and not is_tiny: nothing else is set */
    int32_t thing[2];       /* which two; twice the same: parts of one object, with a tiny gap */
    double gap, dhat;       /* m, the smallest of the two things; within which their contact acts */
    double speed, most;     /* m/s: at which the barrier parts them; above which the start is refused */
    int is_tiny;            /* gap < ABUT_GAP_TINY dhat */
} abut_pressed;

/** Finds the pair with the smallest gap over dhat if one is tiny, else that with the largest speed over `most`.
 *
 * The speed is the relative one of the centres of mass after the barrier, with the stiffness kappa-min of the pair, has separated
 * the two surfaces along its resultant force, in time steps of the scene.  A step minimises 1/2 m (u - uhat)^2 + kappa B(u), u
 * the motion of the surfaces and m the reduced mass of the parts that elastic waves reach in a step.  Gravity that presses the
 * two together counts.  A body that is scripted in part has an infinite mass; the speed of two such bodies is 0, and so are all
 * speeds in equilibria.  A step begins with a larger stiffness than kappa-min only if the barrier then separates nothing.
 * `most` is a tenth of sqrt(g l), l of the smaller body; without gravity a tenth of the speed of the scene.
 * x      [3 nv] m, a start in which nothing touches (contact/start_check.h)
 * Fails  ABUT_E_NOMEM, ABUT_E_GEOM as abut_pairs_find */
ABUT_MUST_USE abut_status abut_pressed_find(const abut_scene *s, const abut_model *m, const abut_built *b, const double *x,
                                            abut_pressed *out, abut_err *err);

/** Fails  ABUT_E_GEOM a gap is tiny, or the speed is above `most` (names the two things) */
ABUT_MUST_USE abut_status abut_pressed_refuse(const abut_pressed *p, const abut_model *m, abut_err *err);

enum { ABUT_PRESSED_WORDS = 320 };

/* ---- advice ---- */

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
 * rigid      bodies that the time scheme stretches, or whose inertia is 3 times that of their mesh, or a third
 * forces     asked to balance to more than 0.1 of the largest on a body: they are that far off
 * Fails      ABUT_E_NOMEM, ABUT_E_GEOM as abut_surface_triangles */
ABUT_MUST_USE abut_status abut_advice_find(const abut_scene *s, const abut_model *m, const abut_built *b,
                                           const abut_pressed *start, abut_advice *a, abut_err *err);

#endif
