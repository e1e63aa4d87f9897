#include "math/svd32.h"

ABUT_LANES_CLONES
void abut_svd32_lanes(const abut_lanes F[6], abut_lanes U[6], abut_lanes s[2], abut_lanes V[4])
{
    const abut_lanes one = ABUT_LANES_ALL(1.), zero = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 6; i++) U[i] = F[i];
    V[0] = V[3] = one;
    V[1] = V[2] = zero;
    for (int round = 0; round < 2; round++) {
        abut_lanes pp = zero, pq = zero, qq = zero, c, w;
        for (int i = 0; i < 6; i += 2) pp += U[i] * U[i], pq += U[i] * U[i + 1], qq += U[i + 1] * U[i + 1];
        const abut_lane_mask need = pq * pq > 1e-34 * pp * qq;
        if (!abut_lanes_any(&need)) break;
        abut_lanes_jacobi(&need, &pp, &pq, &qq, &c, &w);
        for (int i = 0; i < 6; i += 2) {
            const abut_lanes p = U[i], q = U[i + 1];
            U[i] = c * p - w * q;
            U[i + 1] = w * p + c * q;
        }
        for (int i = 0; i < 4; i += 2) {
            const abut_lanes p = V[i], q = V[i + 1];
            V[i] = c * p - w * q;
            V[i + 1] = w * p + c * q;
        }
    }
    for (int j = 0; j < 2; j++) {
        s[j] = U[j] * U[j] + U[2 + j] * U[2 + j] + U[4 + j] * U[4 + j];
        abut_lanes_sqrt(&s[j]);
        for (int i = j; i < 6; i += 2) U[i] = U[i] / s[j];
    }
}
