/* Element Hessians that fall into pairs of modes: each pair contributes
 *     z^T [d o; o 0] z,   z = (u.dx, w.dx),
 * u and w rows over the displacements of four corners.  Hinges and bends of rods are made of such pairs in closed form. */
#ifndef ABUT_ENERGY_MATERIAL_TWO_MODES_H
#define ABUT_ENERGY_MATERIAL_TWO_MODES_H

#include "energy/material/two_modes_inline.h"

/** H[ABUT_PACKED] (sparse/elements.h) += d u u^T + o (u w^T + w u^T) for corners; u, w [3 corners], corners <= 4. */
void abut_two_modes_add(int corners, double d, double o, const double *u, const double *w, double *H);
/** abut_two_modes_add with the positive semidefinite matrix nearest to [d o; o 0]: its one positive eigenvalue
 * (d + sqrt(d^2 + 4 o^2))/2 is kept. */
void abut_two_modes_add_positive(int corners, double d, double o, const double *u, const double *w, double *H);
/** H[ABUT_PACKED] += the sum of v v^T over four vectors of four corners, v[4 * 12]. */
void abut_add_squares4(const double *v, double *H);
/** H[ABUT_PACKED] = that sum. */
void abut_set_squares4(const double *v, double *H);

#endif
