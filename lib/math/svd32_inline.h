/* The singular values of math/svd32.h, one matrix at a time and to the same bits. */
#ifndef ABUT_MATH_SVD32_INLINE_H
#define ABUT_MATH_SVD32_INLINE_H

#include "math/svd3_inline.h"

/** F = U diag(s) V^T: see math/svd32.h. */
ABUT_FN void abut_svd32(const double F[6], double U[6], double s[2], double V[4])
{
    for (int i = 0; i < 6; i++) U[i] = F[i];
    V[0] = V[3] = 1;
    V[1] = V[2] = 0;
    for (int round = 0; round < 2; round++) {
        double pp = 0, pq = 0, qq = 0, c, w;
        for (int i = 0; i < 6; i += 2) {
            pp += U[i] * U[i];
            pq += U[i] * U[i + 1];
            qq += U[i + 1] * U[i + 1];
        }
        if (!(pq * pq > 1e-34 * pp * qq)) break;
        abut_svd3_jacobi_angle(pp, pq, qq, &c, &w);
        for (int i = 0; i < 6; i += 2) {
            const double p = U[i], q = U[i + 1];
            U[i] = c * p - w * q;
            U[i + 1] = w * p + c * q;
        }
        for (int i = 0; i < 4; i += 2) {
            const double p = V[i], q = V[i + 1];
            V[i] = c * p - w * q;
            V[i + 1] = w * p + c * q;
        }
    }
    for (int j = 0; j < 2; j++) {
        s[j] = sqrt(U[j] * U[j] + U[2 + j] * U[2 + j] + U[4 + j] * U[4 + j]);
        for (int i = j; i < 6; i += 2) U[i] = U[i] / s[j];
    }
}

#endif
