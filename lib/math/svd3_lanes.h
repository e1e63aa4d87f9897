/* Four singular value decompositions at once. */
#ifndef ABUT_MATH_SVD3_LANES_H
#define ABUT_MATH_SVD3_LANES_H

#include "math/lanes.h"

/** What abut_svd3 (math/svd3.h) does, for four matrices: F[9], U[9], s[3], V[9] hold one entry of each; the same bits. */
void abut_svd3_lanes(const abut_lanes *F, abut_lanes *U, abut_lanes *s, abut_lanes *V);

#endif
