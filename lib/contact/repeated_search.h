/* Candidates of motions with the same start and similar ends, such as the motions of the iterations of a step.
 *
 * One search finds the pairs of all motions whose vertices end in boxes, a box for each vertex.  If a motion ends in the boxes,
 * its pairs are among these.  A vertex that leaves its box gets a larger box, and the search is repeated for the primitives of
 * such vertices.  abut_candidate_test decides for each pair whether a search for one motion alone finds it. */
#ifndef ABUT_CONTACT_REPEATED_SEARCH_H
#define ABUT_CONTACT_REPEATED_SEARCH_H

#include "contact/candidates.h"

/* Zero-filled is empty.  Serves one collision mesh. */
typedef struct abut_repeated_search {
    abut_candidates wide;       /* of all motions that end in the boxes */
    double *start, *low, *high; /* [3 nc] m: start of the motions; boxes of their ends; NULL: none yet */
    uint8_t *fixed;             /* [nc] fixed vertices of the search */
    uint8_t *changed;           /* [nc] scratch: vertices whose boxes grow */
    int known;                  /* 1: `wide` and the boxes are valid for start and fixed */
} abut_repeated_search;

/** Computes s->wide, which contains the candidates of y0 -> y1 with reach 0.
 * fixed   [nc]
 * margin  m: boxes are enlarged by this on each side, or by half the distance by which an end has left its box
 * Fails   as abut_candidates_find */
ABUT_MUST_USE abut_status abut_repeated_search_find(abut_repeated_search *s, const abut_collmesh *cm, const double *y0,
                                                    const double *y1, const uint8_t *fixed, double margin, abut_err *err);
/** Test of single pairs: does abut_candidates_find find them? */
typedef struct abut_candidate_test {
    abut_motion motion;
    double rounding;
} abut_candidate_test;
abut_candidate_test abut_candidate_test_of(const abut_collmesh *cm, const double *y0, const double *y1, double reach);
/** 1: it finds the pair of s->wide of that kind with vertices v[4]. */
int abut_candidate_test_has(const abut_candidate_test *t, abut_stencil kind, const int32_t v[4]);
/** Returns the trees of s, for another search of the same collision mesh; drops the boxes and pairs of s. */
abut_candidate_search *abut_repeated_search_lend(abut_repeated_search *s);
void abut_repeated_search_clear(abut_repeated_search *s);

#endif
