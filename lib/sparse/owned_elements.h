/* The elements of sets that touch the rows of one rank (base/ranks.h), of which its part of a matrix is the sum.
 *
 * Values are read in place.  Rows keep their numbers.  Rows of the rank are complete, rows that share an element with them are
 * partial, and all others are empty. */
#ifndef ABUT_SPARSE_OWNED_ELEMENTS_H
#define ABUT_SPARSE_OWNED_ELEMENTS_H

#include "base/ranks.h"
#include "sparse/elements.h"

/* Arrays that the sets of a rank borrow.  Zero-filled is empty. */
typedef struct abut_owned_elements {
    abut_elements all[ABUT_SETS_MAX];   /* the sets that were given; sets of the rank read values from them */
    struct abut_owned_set {
        const abut_elements *of;
        int32_t *group;     /* [n] groups of four elements, ascending, of which one touches: packed ones are made by fours */
        int32_t *row;
        size_t n, cap;
    } set[ABUT_SETS_MAX];
} abut_owned_elements;

/** Replaces each of sets[nsets], of a matrix of n rows, by its elements that touch the rows of r.  The new sets are valid until
 * the next call, as long as the arrays of the given ones live.
 * Fails  ABUT_E_ARG a set has a map; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_owned_elements_take(abut_owned_elements *o, const abut_ranks *r, int32_t n, abut_elements *sets,
                                                   int nsets, abut_err *err);
void abut_owned_elements_clear(abut_owned_elements *o);

#endif
