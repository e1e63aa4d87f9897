/* Tets four at a time; for elastic.c and elastic_hess.c. */
#ifndef ABUT_ENERGY_ELASTIC_LANES_H
#define ABUT_ENERGY_ELASTIC_LANES_H

#include "energy/elastic.h"

/** B[9] and F[9] of tets t .. t + n - 1 at x, n <= ABUT_LANES, with the first one again in lanes without one; F to the bit that
 * of abut_elastic_deformation. */
ABUT_LANES_INLINE void abut_elastic_load(const abut_elastic *e, const double *x, size_t t, size_t n, abut_lanes *B, abut_lanes *F)
{
    const int32_t *tet[ABUT_LANES];
    const double *at[ABUT_LANES];
    abut_lanes D[9], x0[3], xc[3];
    for (size_t l = 0; l < ABUT_LANES; l++) tet[l] = e->model->tet + 4 * (t + (l < n ? l : 0));
    for (int c = 0; c < 4; c++) {
        for (int l = 0; l < ABUT_LANES; l++) at[l] = x + 3 * (size_t)tet[l][c];
        abut_lanes_gather3(at, c ? xc : x0);
        for (int i = 0; c && i < 3; i++) D[3 * i + c - 1] = xc[i] - x0[i];
    }
    for (int j = 0; j < 3; j++) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = e->B + 9 * (t + (l < n ? l : 0)) + 3 * j;
        abut_lanes_gather3(at, B + 3 * j);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) F[3 * i + j] = D[3 * i] * B[j] + D[3 * i + 1] * B[3 + j] + D[3 * i + 2] * B[6 + j];
}

/** Lame's parameters of the same tets. */
ABUT_LANES_INLINE void abut_elastic_moduli(const abut_elastic *e, size_t t, size_t n, abut_lanes *mu, abut_lanes *lambda)
{
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const double *of = e->lame + 2 * (t + (l < n ? l : 0));
        (*mu)[l] = of[0];
        (*lambda)[l] = of[1];
    }
}

/** The principal forms of the same tets at stretches s[3]. */
void abut_elastic_principals(const abut_elastic *e, size_t t, size_t n, const abut_lanes *s, abut_principals *out);

#endif
