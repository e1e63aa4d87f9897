/* Element Hessians that fall into pairs of modes: each pair contributes
 *     z^T [d o; o 0] z,   z = (u.dx, w.dx),
 * u and w rows over the displacements of four corners.  Hinges and bends of rods are made of such pairs in closed form. */
#ifndef ABUT_ENERGY_MATERIAL_TWO_MODES_H
#define ABUT_ENERGY_MATERIAL_TWO_MODES_H

#include "math/vec3.h"

/** H[ABUT_PACKED] (sparse/elements.h) += d u u^T + o (u w^T + w u^T) for corners; u, w [3 corners], corners <= 4. */
void abut_two_modes_add(int corners, double d, double o, const double *u, const double *w, double *H);
/** The same with [d o; o 0] replaced by the positive semidefinite matrix nearest to it: its one positive eigenvalue
 * (d + sqrt(d^2 + 4 o^2))/2 is kept. */
void abut_two_modes_add_positive(int corners, double d, double o, const double *u, const double *w, double *H);
/** v[3 corners] of that matrix, which is v v^T. */
void abut_two_modes_positive(int corners, double d, double o, const double *u, const double *w, double *v);
/** H[ABUT_PACKED] += the sum of v v^T over four such vectors of four corners, v[4 * 12]. */
void abut_add_squares4(const double *v, double *H);
/** The same with =. */
void abut_set_squares4(const double *v, double *H);

/** row[3 corners] = scale (weight x dir): the component along dir of a weighted sum of the corners. */
static inline void abut_mode_row(int corners, const double *weight, abut_vec3 dir, double scale, double *row)
{
    for (int c = 0; c < corners; c++) abut_v3_put(row + 3 * c, abut_v3_scale(scale * weight[c], dir));
}

#endif
