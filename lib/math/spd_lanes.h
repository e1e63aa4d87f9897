/* Four small symmetric matrices at once. */
#ifndef ABUT_MATH_SPD_LANES_H
#define ABUT_MATH_SPD_LANES_H

#include "math/lanes.h"

/** Project four symmetric matrices of three, four, five or nine rows as abut_psd_project (math/spd.h) does, with its algorithm in
 * lockstep.  A[n * n], each entry of all four; the lower triangle is read, all entries are written.  The result of a lane does
 * not depend on the others.  Entries below 1e-140 count as zero. */
void abut_psd_project3_lanes(abut_lanes *A);
void abut_psd_project4_lanes(abut_lanes *A);
void abut_psd_project5_lanes(abut_lanes *A);
void abut_psd_project9_lanes(abut_lanes *A);

#endif
