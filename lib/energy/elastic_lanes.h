/* Tets four at a time; for elastic.c and elastic_hess.c. */
#ifndef ABUT_ENERGY_ELASTIC_LANES_H
#define ABUT_ENERGY_ELASTIC_LANES_H

#include "energy/elastic.h"

/** B[9] and F[9] of tets t .. t + n - 1 at x, n <= ABUT_LANES, with the first one again in lanes without one; F to the bit that
 * of abut_elastic_deformation. */
ABUT_LANES_INLINE void abut_elastic_load(const abut_elastic *e, const double *x, size_t t, size_t n, abut_lanes *B, abut_lanes *F)
{
    const double *b[ABUT_LANES], *p[4][ABUT_LANES];
    abut_lanes D[9];
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const size_t k = t + (l < n ? l : 0);
        b[l] = e->B + 9 * k;
        for (int c = 0; c < 4; c++) p[c][l] = x + 3 * (size_t)e->model->tet[4 * k + (size_t)c];
    }
    for (int i = 0; i < 3; i++) {
        const abut_lanes x0 = { p[0][0][i], p[0][1][i], p[0][2][i], p[0][3][i] };
        for (int c = 0; c < 3; c++)
            D[3 * i + c] = (abut_lanes){ p[c + 1][0][i], p[c + 1][1][i], p[c + 1][2][i], p[c + 1][3][i] } - x0;
    }
    for (int i = 0; i < 9; i++) B[i] = (abut_lanes){ b[0][i], b[1][i], b[2][i], b[3][i] };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) F[3 * i + j] = D[3 * i] * B[j] + D[3 * i + 1] * B[3 + j] + D[3 * i + 2] * B[6 + j];
}

#endif
