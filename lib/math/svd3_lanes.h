/* Four singular value decompositions at once. */
#ifndef ABUT_MATH_SVD3_LANES_H
#define ABUT_MATH_SVD3_LANES_H

#include "math/lanes.h"

/** abut_svd3 (math/svd3.h) of four matrices, with the same bits; each of F[9], U[9], s[3], V[9] is one entry of all four. */
void abut_svd3_lanes(const abut_lanes *F, abut_lanes *U, abut_lanes *s, abut_lanes *V);

#endif
