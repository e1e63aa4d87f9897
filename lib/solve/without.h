/* Features that a solver can do without: ablations of experiments (step --without LIST), and reference variants of tests.  Every
 * step ends by the same rule on the same objective, so its end differs within the tolerance, and its iterations tell what a
 * feature is worth. */
#ifndef ABUT_SOLVE_WITHOUT_H
#define ABUT_SOLVE_WITHOUT_H

#include "base/err.h"

enum {
    ABUT_WITHOUT_LOOK_AHEAD = 1,    /* directions that take the contacts into account that they run into */
    ABUT_WITHOUT_SECOND_ORDER = 2,  /* steps corrected where they stretch shells and rods by rotating them */
    ABUT_WITHOUT_LENGTHEN = 4,      /* full steps made longer where their curvature says that they were too short */
    ABUT_WITHOUT_REUSE = 8,         /* directions by older factors and by factors in single precision */
    ABUT_WITHOUT_WARM_START = 16,   /* iterations that start at x + h v */
    ABUT_WITHOUT_MAJORANT = 32,     /* friction from above where a direction leads over the kink of its law */
    ABUT_WITHOUT_BEYOND = 64,       /* corrected steps longer than the bounds of shells let the straight ones be */
    ABUT_WITHOUT_ROTATIONS = 128,   /* steps of stiff bodies along their rotations */
    ABUT_WITHOUT_SCALE = 256        /* constant matrices multiplied by what the last step has met */
};
/* Room for the words of all. */
enum { ABUT_WITHOUT_WORDS = 96 };

/** *without: the bits of a list like "reuse,look-ahead", in any order; NULL: 0.
 * Fails  ABUT_E_ARG naming the word that is unknown, and those that there are */
ABUT_MUST_USE abut_status abut_without_parse(const char *list, unsigned *without, abut_err *err);
/** The list of these bits, in the order above; returns text. */
const char *abut_without_words(unsigned without, char text[ABUT_WITHOUT_WORDS]);

#endif
