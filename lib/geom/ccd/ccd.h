/* Continuous collision detection along straight motions x(t) = x0 + t (x1 - x0), t in [0, 1].
 * Stencils as in geom/dist.h: x0, x1 hold 2, 3, 4 or 4 points.  Contact is closed, at t = 0 and t = 1 too. */
#ifndef ABUT_GEOM_CCD_CCD_H
#define ABUT_GEOM_CCD_CCD_H

#include "base/arena.h"
#include "geom/dist.h"

#include <stdint.h>

typedef enum abut_ccd_answer {
    ABUT_CCD_CLEAR,  /* no contact in [0, t_max]                                                        */
    ABUT_CCD_HIT,    /* *toi is a time up to which the motion is safe; contact later is possible        */
    ABUT_CCD_BAD     /* already in contact at t = 0, or too close to tell in double precision           */
} abut_ccd_answer;

/** A certified lower bound of the distance, m: never above the true distance, for every shape and offset.
 * Loses some 2^-53 of the size of the pair (of size / angle for edges whose angle and gap are both tiny). */
double abut_separation(abut_stencil s, const double *x);

/** Additive CCD (Li 2020, algorithm 4), its steps made longer and its distances certified: a unit vector n between the
 * nearest points shows a gap min_ij n.(a_i - b_j) that is linear in time for every pair of vertices, so the step ends where
 * this gap, rounding errors taken off, falls to the goal.  It is never shorter than gap / (largest relative speed) of the
 * published method, and a pair that slides without coming closer is clear in one step.  After 16 steps directions that move are
 * tried (geom/ccd/slab.h): they prove neighbours clear that rotate together.
 *
 * Along [0, *toi] the distance stays above min_sep + slack * (start gap), start gap = abut_separation - min_sep (less up to 1e-6
 * of it by the first slab).  At the rounded positions x0 + *toi (x1 - x0) it stays above 15/16 of that slack.
 * ABUT_CCD_HIT: the bound is (nearly) reached at *toi > 0, or 10000 steps are spent.  ABUT_CCD_BAD: in contact at t = 0, the
 * start gap is within rounding (about 1.4e-14 of the largest coordinate / slack), or a coordinate is not finite.
 *  min_sep >= 0, m;   0 < slack < 1;   t_max in (0, 1];   *toi = t_max when CLEAR, 0 when BAD */
abut_ccd_answer abut_ccd_additive(abut_stencil s, const double *x0, const double *x1, double min_sep, double slack,
                                  double t_max, double *toi);

/** For four pairs at once: bit l is set if abut_ccd_additive returns CLEAR for the stencil of vertices v[l] of y0 -> y1 by its
 * first slab: in [0, t_max] the pair stays beyond min_sep[l] + slack * (start gap - min_sep[l]).  Other pairs may be clear, too.
 *  tiny  m: slack * (start gap - min_sep) below it is left open; at least 1000 * 2^-53 of the largest coordinate
 * Source: abut_slab_quick, abut_slab_advance at t = 0, in lanes. */
int abut_slab_clear_lanes(abut_stencil s, const double *y0, const double *y1, const int32_t v[4][4],
                          const double min_sep[4], double slack, double tiny, double t_max);

/** Inclusion-based CCD (Wang et al. 2021): bisects (t, u, v), drops boxes whose image is proved to miss a cube of
 * half-width min_sep (plus the rounding error: 12 or 24 times 2^-53 of the largest coordinate of an axis; the published
 * constants are not conservative far from coordinates of size 1).  Never misses; reports near misses below delta, in the
 * maximum norm.  *toi is not later than the first contact.
 *  min_sep >= 0, m;   delta > 0, m: size of the images that end the search (1e-6);   t_max in (0, 1]
 *  max_boxes      1e6; 0: no limit.  If they are spent, or scratch is full, the answer is a contact, with a time before which
 *                 there is none
 *  *toi = t_max when CLEAR, 0 when BAD: contact or a near miss at t = 0, or a coordinate is not finite
 *  scratch        under 400 bytes for every box open at one level, given back before return */
abut_ccd_answer abut_ccd_bisect(abut_stencil s, const double *x0, const double *x1, double min_sep, double delta,
                                double t_max, long max_boxes, double *toi, abut_arena *scratch);

/** abut_ccd_bisect at a fraction of the cost.  Separating slabs (geom/ccd/slab.h) clear most pairs, and much of the time of the
 * others, before any box is tested.  A search beyond 64 boxes is decided exactly instead (abut_ccd_exact_within for
 * min_sep > 0): such pairs slide or touch, and bisection needs of the order of area / delta^2 boxes. */
abut_ccd_answer abut_ccd_inclusion(abut_stencil s, const double *x0, const double *x1, double min_sep, double delta,
                                   double t_max, long max_boxes, double *toi, abut_arena *scratch);

/** Exact: do the closed primitives touch at some t in [0, 1], in real arithmetic on the stored doubles?  1 yes, 0 no.
 * A face may be a segment or a point, an edge a point, the points may lie on one plane or not move: nothing is skipped.
 * Filtered floating point, then polynomials over big integers.  A coordinate that is not finite: 1, at any time.
 * t_lo, t_hi (NULL to skip; set when 1): doubles that enclose the first contact time; equal when that is a double. */
int abut_ccd_exact(abut_stencil s, const double *x0, const double *x1, double *t_lo, double *t_hi);

/** Exact: does a tetrahedron lose its positive volume, det(p1 - p0, p2 - p0, p3 - p0) > 0, at some t in [0, 1]?  A volume of 0
 * at one instant is lost.  Arithmetic and coordinates that are not finite: as abut_ccd_exact; t_lo, t_hi enclose the first such
 * time. */
int abut_ccd_exact_inverts(const double x0[12], const double x1[12], double *t_lo, double *t_hi);

/** Do the closed primitives come within sep (m, > 0, finite) of each other at some t in [0, 1]: distance <= sep in real
 * arithmetic on the stored doubles?  1 yes, 0 no.  A coordinate that is not finite: 1, at any time.
 * t_lo, t_hi (NULL to skip; set when 1): doubles that enclose the first such time.
 *
 * A floating filter first, then polynomials over big integers: squared distances of all features (two points, degree 2; point
 * and line, 4; point and plane or two lines, 6) against sep^2, each with the conditions that the nearest points are inside. */
int abut_ccd_exact_within(abut_stencil s, const double *x0, const double *x1, double sep, double *t_lo, double *t_hi);

#endif
