/* The rotations in four 3x3 matrices at once. */
#ifndef ABUT_MATH_POLAR3_H
#define ABUT_MATH_POLAR3_H

#include "math/lanes.h"

/** R, the rotation nearest to F: R = U V^T with the rotations U and V of abut_svd3 (math/svd3.h).  F[9], R[9] hold one entry of
 * each of four matrices, row major; each result depends on its own F alone.
 *
 * Newton's iteration X <- (X + X^-T)/2 (Higham 1986), less work than the decomposition; where F is nearly
 * singular, reflects or is far from size 1, abut_svd3 decides.  Accurate to rounding over the condition of the rotation,
 * 2 / (s_1 + s_2). */
void abut_polar3_lanes(const abut_lanes *F, abut_lanes *R);

#endif
