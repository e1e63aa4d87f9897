/* Features that a solver can do without: ablations of experiments (step --without LIST), and reference variants of tests.  Every
 * step ends by the same rule on the same objective, so its end differs within the tolerance, and its iterations show the value
 * of a feature. */
#ifndef ABUT_SOLVE_WITHOUT_H
#define ABUT_SOLVE_WITHOUT_H

#include "base/err.h"

enum {
    ABUT_WITHOUT_LOOK_AHEAD = 1,    /* look-ahead to contacts that directions run into */
    ABUT_WITHOUT_SECOND_ORDER = 2,  /* correction of the stretch of rotating shells and rods */
    ABUT_WITHOUT_LENGTHEN = 4,      /* longer steps after full ones whose curvature shows that they were too short */
    ABUT_WITHOUT_REUSE = 8,         /* directions by older factors and by factors in single precision */
    ABUT_WITHOUT_WARM_START = 16,   /* iterations that start at x + h v */
    ABUT_WITHOUT_MAJORANT = 32,     /* majorising friction Hessian if a direction crosses stick-slip */
    ABUT_WITHOUT_BEYOND = 64,       /* corrected steps beyond the bounds of shells on straight ones */
    ABUT_WITHOUT_ROTATIONS = 128,   /* steps of stiff bodies along their rotations */
    ABUT_WITHOUT_SCALE = 256        /* scale of constant matrices by the last step */
};
/* Size of a text with all words. */
enum { ABUT_WITHOUT_WORDS = 96 };

/** *without: the bits of a list like "reuse,look-ahead", in any order; NULL: 0.
 * Fails  ABUT_E_ARG naming the unknown word, and all known ones */
ABUT_MUST_USE abut_status abut_without_parse(const char *list, unsigned *without, abut_err *err);
/** Writes the list of these bits, in the order above; returns text. */
const char *abut_without_words(unsigned without, char text[ABUT_WITHOUT_WORDS]);

#endif
