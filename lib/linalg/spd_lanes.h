/* Four small symmetric matrices at once. */
#ifndef ABUT_LINALG_SPD_LANES_H
#define ABUT_LINALG_SPD_LANES_H

#include "linalg/lanes.h"

/** What abut_psd_project (linalg/spd.h) does, for four symmetric matrices of three to five rows: A[9] to A[25] holds one entry
 * of each; all entries are read and written.  Jacobi rotations until every off-diagonal entry is rounding beside the
 * norm; what a lane gives does not depend on the others. */
void abut_psd_project3_lanes(abut_lanes *A);
void abut_psd_project4_lanes(abut_lanes *A);
void abut_psd_project5_lanes(abut_lanes *A);

#endif
