/* One pair of modes (energy/material/two_modes.h). */
#ifndef ABUT_ENERGY_MATERIAL_TWO_MODES_INLINE_H
#define ABUT_ENERGY_MATERIAL_TWO_MODES_INLINE_H

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

#endif
