/* Starts in which the barrier already acts between two bodies, or a body and an obstacle or half-space: its energy turns into
 * kinetic energy. */
#ifndef ABUT_SCENE_PRESSED_H
#define ABUT_SCENE_PRESSED_H

#include "scene/build.h"

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
/** "'a' and half-space 'floor' start 1e-05 m apart, within dhat, 0.001 m: the barrier parts them at 0.2 m/s"; returns text, "" if
 * there is no pair. */
const char *abut_pressed_words(const abut_pressed *p, const abut_model *m, char text[ABUT_PRESSED_WORDS]);

#endif
