/* Candidates of motions that begin at the same place and differ little in their ends, as those of the iterations of a step do.
 *
 * One search finds the pairs of all motions whose vertices end in boxes, a box for each vertex.  A motion that ends in them has
 * some of those pairs.  A vertex that leaves its box gets a larger one, and the
 * search is repeated for the primitives of such vertices.  Which of the pairs a search of its own finds for a motion,
 * each pair says by itself (abut_candidate_test). */
#ifndef ABUT_CONTACT_REPEATED_SEARCH_H
#define ABUT_CONTACT_REPEATED_SEARCH_H

#include "contact/candidates.h"

/* Zero-filled is empty.  Serves one collision mesh. */
typedef struct abut_repeated_search {
    abut_candidates wide;       /* of all motions that end in the boxes */
    double *start, *low, *high; /* [3 nc] m: where motions begin; boxes of their ends; NULL: none yet */
    uint8_t *fixed;             /* [nc] for which vertices */
    uint8_t *changed;           /* [nc] room: whose boxes grow */
    int known;                  /* `wide` and the boxes are of start and fixed */
} abut_repeated_search;

/** s->wide: the candidates of y0 -> y1 with reach 0, and others.
 * fixed   [nc]
 * margin  m: boxes are larger than what they are made for by so much on each side, or half of what has left them
 * Fails   as abut_candidates_find */
ABUT_MUST_USE abut_status abut_repeated_search_find(abut_repeated_search *s, const abut_collmesh *cm, const double *y0,
                                                    const double *y1, const uint8_t *fixed, double margin, abut_err *err);
/** Asks of single pairs whether abut_candidates_find has them. */
typedef struct abut_candidate_test {
    abut_motion motion;
    double rounding;
} abut_candidate_test;
abut_candidate_test abut_candidate_test_of(const abut_collmesh *cm, const double *y0, const double *y1, double reach);
/** v[4]: the vertices of one pair of s->wide, of that kind. */
int abut_candidate_test_has(const abut_candidate_test *t, abut_stencil kind, const int32_t v[4]);
/** Its trees, for another search of the same collision mesh; what is known of motions is forgotten. */
abut_candidate_search *abut_repeated_search_lend(abut_repeated_search *s);
void abut_repeated_search_clear(abut_repeated_search *s);

#endif
