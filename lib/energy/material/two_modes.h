/* Element Hessians that fall into pairs of modes: each pair contributes
 *     z^T [d o; o 0] z,   z = (u.dx, w.dx),
 * u and w rows over the displacements of four corners.  Hinges and bends of rods are made of such pairs in closed form. */
#ifndef ABUT_ENERGY_MATERIAL_TWO_MODES_H
#define ABUT_ENERGY_MATERIAL_TWO_MODES_H

#include "math/vec3.h"

/** row[3 corners] = scale (weight x dir): the component along dir of a weighted sum of the corners. */
ABUT_FN void abut_mode_row(int corners, const double *weight, abut_vec3 dir, double scale, double *row)
{
    for (int c = 0; c < corners; c++) abut_v3_put(row + 3 * c, abut_v3_scale(scale * weight[c], dir));
}

/** v[3 corners] of the positive semidefinite matrix nearest to [d o; o 0] of (u, w), which is v v^T. */
ABUT_FN void abut_two_modes_positive(int corners, double d, double o, const double *u, const double *w, double *v)
{
    const double r = sqrt(d * d + 4 * o * o), most = d > 0 ? 0.5 * (d + r) : 2 * o * o / (r - d);    /* without cancellation */
    /* along (1, t) */
    const int some = most > 0;
    const double t = some ? o / most : 0, root = some ? sqrt(most / (1 + t * t)) : 0;
    for (int k = 0; k < 3 * corners; k++) v[k] = root * (u[k] + t * w[k]);
}

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
