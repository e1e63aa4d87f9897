/* Numbers with units, words and vectors out of a tree; what is missing or wrong is named with its place. */
#ifndef ABUT_FORMATS_SCENE_TREE_VALUE_H
#define ABUT_FORMATS_SCENE_TREE_VALUE_H

#include "base/units.h"
#include "formats/scene/tree.h"

#include <stdint.h>

/** A number in SI units, between -ABUT_FARTHEST and ABUT_FARTHEST; angles, and rates of rotation a second, up to ABUT_TURNS_MOST.
 * per_length (NULL: not allowed) is set to 1 when the unit is l or l/s.
 * Fails  ABUT_E_FORMAT with the place, the text found, the units or the range expected */
ABUT_MUST_USE abut_status abut_tree_real(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                         int *per_length, abut_err *err);
/** As abut_tree_real, more than 0. */
ABUT_MUST_USE abut_status abut_tree_positive(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                             int *per_length, abut_err *err);
/** As abut_tree_real, 0 or more; without l. */
ABUT_MUST_USE abut_status abut_tree_not_negative(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                                 abut_err *err);
/** A list of n such numbers. */
ABUT_MUST_USE abut_status abut_tree_vector(const abut_tree *t, const char *what, abut_quantity q, int n, double *out,
                                           abut_err *err);
/** Scales v by a power of two, its largest entry to between 1 and 2, so that squares neither overflow nor vanish.  Returns the
 * length of v after that, 0 if all entries are 0. */
double abut_tree_norm(double *v, int n);
/** An integer in [lo, hi]; a list of n of them. */
ABUT_MUST_USE abut_status abut_tree_int(const abut_tree *t, const char *what, int32_t lo, int32_t hi, int32_t *out,
                                        abut_err *err);
ABUT_MUST_USE abut_status abut_tree_ints(const abut_tree *t, const char *what, int n, int32_t lo, int32_t hi,
                                         int32_t *out, abut_err *err);
/** true or false. */
ABUT_MUST_USE abut_status abut_tree_flag(const abut_tree *t, const char *what, int *out, abut_err *err);
/** A text that is not empty, for instance `example`. */
ABUT_MUST_USE abut_status abut_tree_word(const abut_tree *t, const char *what, const char *example, const char **out,
                                         abut_err *err);
/** *out: index of the text among the names (NULL-terminated); an error names the nearest one. */
ABUT_MUST_USE abut_status abut_tree_choice(const abut_tree *t, const char *what, const char *const *names, int *out,
                                           abut_err *err);

#endif
