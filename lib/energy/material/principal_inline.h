/* Isotropic densities by principal stretches (energy/material/density.h). */
#ifndef ABUT_ENERGY_MATERIAL_PRINCIPAL_INLINE_H
#define ABUT_ENERGY_MATERIAL_PRINCIPAL_INLINE_H

#include "base/fn.h"

/* Everything the second derivative of an isotropic density needs, at principal stretches s.
 * The nine eigenpairs of d2psi/dF2: three in the span of U diag(q) V^T, from the eigenvectors q of A; for each pair
 * i, j with third index k, a symmetric mode U (E_ij + E_ji) V^T / sqrt 2 with eigenvalue flip[k] =
 * (psi_i - psi_j)/(s_i - s_j) and a skew mode with eigenvalue twist[k] = (psi_i + psi_j)/(s_i + s_j). */
typedef struct abut_principal {
    double psi;         /* J/m^3 */
    double d[3];        /* psi_i = dpsi/ds_i */
    double A[9];        /* d2psi/ds_i ds_j, row major */
    double flip[3];
    double twist[3];
} abut_principal;

/** s_i + s_j kept away from zero, with its sign: beyond the flip of an inverted element the twist has no limit. */
ABUT_FN double abut_stretch_sum(double si, double sj)
{
    const double sum = si + sj;
    return sum >= 1e-6 || sum <= -1e-6 ? sum : sum < 0 ? -1e-6 : 1e-6;
}

#endif
