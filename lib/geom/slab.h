/* Slabs that keep two moving primitives apart.
 *
 * For any vector n with |n| <= 1, every point pair of two convex hulls is at least min_ij n.(a_i - b_j) apart: a linear
 * function on the difference of two hulls is smallest at a pair of vertices.  Along straight motions each of these numbers
 * is linear in t, so its values at t = 0 and t = 1, computed from the stored doubles with their rounding error taken off,
 * bound the distance at every time between.  Directions are guesses (geom/direction.h); nothing about them is trusted.
 * The difference a - b of each pair enters, never a coordinate: translation costs nothing. */
#ifndef ABUT_GEOM_SLAB_H
#define ABUT_GEOM_SLAB_H

#include "geom/dist.h"

/* Lower bounds of n.(a_i - b_j), m, at t = 0 and t = 1 for one unit vector n; their minima.  Not-a-number in any
 * coordinate makes a minimum not-a-number. */
typedef struct abut_slab {
    int n;                      /* vertex pairs */
    double h0[4], h1[4];
    double least0, least1;
} abut_slab;

/** Slab of the quick guess at x, a configuration of the motion x0 -> x1.  Returns the length of the guess: an upper bound of
 * the distance at x but for rounding.  A guess without direction gives a slab that certifies nothing (least -1). */
double abut_slab_quick(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l);
/** Replaces *l by the slab of the careful direction that certifies the largest distance at x0, if that is larger. */
void abut_slab_best(abut_stencil s, const double *x0, const double *x1, abut_slab *l);

/** The latest time in [t, 1] up to which the slab proves a distance >= target (m, > 0); t when it proves none at t. */
double abut_slab_advance(const abut_slab *l, double t, double target);
/** The furthest that any careful direction at x, the configuration at time t, leads. */
double abut_slab_furthest(abut_stencil s, const double *x, const double *x0, const double *x1, double t, double target);

#endif
