/* Continuous collision detection along straight motions x(t) = x0 + t (x1 - x0), t in [0, 1].
 * Stencils as in geom/dist.h: x0, x1 hold 2, 3, 4 or 4 points.  Contact is closed, at t = 0 and t = 1 too. */
#ifndef ABUT_GEOM_CCD_H
#define ABUT_GEOM_CCD_H

#include "base/arena.h"
#include "geom/dist.h"

typedef enum abut_ccd_answer {
    ABUT_CCD_CLEAR,  /* no contact in [0, t_max]                                                        */
    ABUT_CCD_HIT,    /* *toi is a time up to which the motion is safe; contact later is possible        */
    ABUT_CCD_BAD     /* already in contact at t = 0, or too close to tell in double precision           */
} abut_ccd_answer;

/** A certified lower bound of the distance, m: never above the true one, whatever the shape or the offset. */
double abut_separation(abut_stencil s, const double *x);

/** Additive CCD (Li 2020, algorithm 4) with the certified distance: along [0, *toi] the distance stays above
 * min_sep + a fraction of the start gap; at a HIT at least `slack` (0 < slack < 1) of the start gap remains.
 * cap hit: ABUT_CCD_HIT with the safe time reached.
 *  t_max in (0, 1];  *toi = t_max when CLEAR, 0 when BAD */
abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi);

/** Inclusion-based CCD (Wang et al. 2021): never misses; reports near misses below delta.
 *  delta  m      size of the boxes that end the search (1e-6)
 *  scratch       queue of boxes; when max_boxes are spent the answer is HIT with the earliest open time */
abut_ccd_answer abut_ccd_inclusion(abut_stencil s, const double *x0, const double *x1, double min_sep, double delta,
                                   double t_max, long max_boxes, double *toi, abut_arena *scratch);

/** Exact: do the primitives touch at some t in [0, 1]?  Filtered floating point, then GMP.  1 yes, 0 no.
 * t_lo, t_hi (NULL to skip): an interval of doubles that holds the first contact time. */
int abut_ccd_exact(abut_stencil s, const double *x0, const double *x1, double *t_lo, double *t_hi);

#endif
