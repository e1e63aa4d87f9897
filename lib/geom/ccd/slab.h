/* Slabs that keep two moving primitives apart.
 *
 * For any vector n with |n| <= 1, every point pair of two convex hulls is at least min_ij n.(a_i - b_j) apart: a linear
 * function on the difference of two hulls is smallest at a pair of vertices.  Along straight motions each of these numbers
 * is linear in t, so its values at t = 0 and t = 1, computed from the stored doubles with their rounding error taken off,
 * bound the distance at every time between.  Directions are guesses (geom/ccd/slab_inline.h) and need no accuracy.  Only the
 * differences a - b of pairs enter, never a coordinate: bounds do not depend on translation.
 *
 * Neighbours that rotate together leave every such slab soon, after gap / size radians.  With a direction that moves from one
 * vector to another, linearly in t (|n| <= 1 between), the numbers of each pair are quadratic in t, and at least the smallest of
 * their three Bernstein coefficients: the two ends, and the mean of each direction with the other's positions. */
#ifndef ABUT_GEOM_CCD_SLAB_H
#define ABUT_GEOM_CCD_SLAB_H

#include "geom/dist.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define ABUT_SLAB_EPS 0x1p-53
/* n.(a - b): one rounding in a difference, one in a product, two in the sum; two more pay for taking off the error and
 * for |n| = 1 + 4 eps. */
#define ABUT_SLAB_DOT_ERROR (6 * (1 + 0x1p-20) * ABUT_SLAB_EPS)
#define ABUT_SLAB_DOT_TINY 0x1p-1020

/* Lower bounds of n.(a_i - b_j), m, for one unit vector n: a line for each pair of vertices, its values at t = 0 and t = 1, their
 * minima.  Not-a-number in any coordinate makes a minimum not-a-number. */
typedef struct abut_slab {
    int n;                      /* vertex pairs */
    double h0[4], h1[4];
    double least0, least1;
} abut_slab;

/** Slab of the quick guess at x, a configuration of the motion x0 -> x1.  Returns the length of the guess: an upper bound of
 * the distance at x but for rounding.  A guess without direction gives a slab that certifies nothing (least -1). */
double abut_slab_quick(abut_stencil s, const double *x, const double *x0, const double *x1, abut_slab *l);

/** Squared lower bound of the distance of the hulls of a[na] and b[nb], vertices of y, m^2: the gap of the slab along the line
 * of their centroids; 0 if that slab does not separate them.  A fraction of the cost of the distance, and sufficient for most
 * neighbours on a surface.  na, nb are literals at the calls, so the loops unroll. */
ABUT_FN_LITERAL double abut_slab_centroids2(const double *y, const int32_t *a, int na, const int32_t *b, int nb)
{
    const double rounding = 8 * 0x1p-53;
    double r[9][3], n[3] = { 0, 0, 0 }, least = INFINITY, nn = 0;
    for (int k = 0; k < na * nb; k++)
        for (int c = 0; c < 3; c++) {
            r[k][c] = y[3 * (size_t)a[k / nb] + (size_t)c] - y[3 * (size_t)b[k % nb] + (size_t)c];
            n[c] += r[k][c];
        }
    for (int k = 0; k < na * nb; k++) {
        const double u = n[0] * r[k][0], v = n[1] * r[k][1], w = n[2] * r[k][2];
        const double h = u + v + w - rounding * (fabs(u) + fabs(v) + fabs(w));
        least = h < least || h != h ? h : least;    /* a NaN is taken and then kept */
    }
    for (int c = 0; c < 3; c++) nn += n[c] * n[c];
    return least > 0x1p-500 && nn < 0x1p500 ? (1 - 4 * rounding) * least * least / nn : 0;
}

/** The latest time in [t, 1] up to which the slab proves a distance >= target (m, > 0); t when it proves none at t. */
double abut_slab_advance(const abut_slab *l, double t, double target);

#endif
