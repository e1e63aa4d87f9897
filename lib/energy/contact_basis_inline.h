/* Bases over the points of a stencil, in which projected Hessians of contacts are small matrices. */
#ifndef ABUT_ENERGY_CONTACT_BASIS_INLINE_H
#define ABUT_ENERGY_CONTACT_BASIS_INLINE_H

#include "geom/dist.h"

#define ABUT_ROOT_HALF 0.70710678118654752440
#define ABUT_ROOT_6TH 0.40824829046386301637
#define ABUT_ROOT_12TH 0.28867513459481288225

/** Orthonormal vectors c_l over the points a of a stencil, sum c = 0: they span w and the columns of W_beta. */
ABUT_FN_LITERAL double abut_zero_sum(abut_stencil kind, int l, int a)
{
    const double r2 = ABUT_ROOT_HALF, r6 = ABUT_ROOT_6TH, r12 = ABUT_ROOT_12TH;
    if (kind == ABUT_EE) {
        if (l == 2) return a < 2 ? 0.5 : -0.5;
        return a / 2 != l ? 0 : a % 2 ? -r2 : r2;
    }
    if (l == 0) return a == 1 ? r2 : a == 2 ? -r2 : 0;
    if (kind == ABUT_PE) return a == 0 ? 2 * r6 : a < 3 ? -r6 : 0;
    if (l == 1) return a == 0 ? 0 : a < 3 ? r6 : -2 * r6;
    return a == 0 ? 3 * r12 : -r12;
}

/** Column j of W_beta has +1 at one point and -1 at another, and A_j = dr/dbeta_j = x[plus] - x[minus]. */
ABUT_FN_LITERAL int abut_beta_plus(abut_stencil kind, int j) { return kind == ABUT_EE ? 1 + j : 1; }
ABUT_FN_LITERAL int abut_beta_minus(abut_stencil kind, int j) { return kind == ABUT_EE ? 3 * j : 2 + j; }
/** c_l . column j of W_beta */
ABUT_FN_LITERAL double abut_zero_sum_beta(abut_stencil kind, int l, int j)
{
    return abut_zero_sum(kind, l, abut_beta_plus(kind, j)) - abut_zero_sum(kind, l, abut_beta_minus(kind, j));
}

#endif
