#include "math/polar3.h"

#include "math/mat3.h"
#include "math/svd3.h"

#define MOST 14
#define CLOSE 1e-8      /* the next step is half the square of this one */
#define FLAT 1e-3       /* det F over |F|^3: below, inverses lose digits */

/* X <- (X + X^-T)/2 in the lanes that have not converged. */
ABUT_LANES_INLINE void improve(abut_lanes *X, abut_lane_mask *moves)
{
    abut_lanes C[9], most = ABUT_LANES_ALL(0.);
    abut_lanes_cofactors(X, C);
    const abut_lanes half = 0.5 / (X[0] * C[0] + X[1] * C[1] + X[2] * C[2]);
    for (int i = 0; i < 9; i++) {
        const abut_lanes next = 0.5 * X[i] + half * C[i], change = ABUT_LANES_ABS(next - X[i]);
        most = ABUT_LANES_PICK(change > most, change, most);
        X[i] = ABUT_LANES_PICK(*moves, next, X[i]);
    }
    *moves &= most > CLOSE;
}

/* one lane by its singular vectors */
static void decompose_lane(const abut_lanes *F, abut_lanes *R, int l)
{
    double f[9], u[9], s[3], v[9], r[9];
    for (int i = 0; i < 9; i++) f[i] = F[i][l];
    abut_svd3(f, u, s, v);
    abut_m3_mul_nt(r, u, v);
    for (int i = 0; i < 9; i++) R[i][l] = r[i];
}

ABUT_LANES_CLONES
void abut_polar3_lanes(const abut_lanes *F, abut_lanes *R)
{
    abut_lanes C[9], X[9], size2 = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) size2 += F[i] * F[i];
    abut_lanes size = size2;
    abut_lanes_sqrt(&size);
    abut_lanes_cofactors(F, C);
    const abut_lane_mask regular = F[0] * C[0] + F[1] * C[1] + F[2] * C[2] > FLAT * size * size2;
    abut_lane_mask moves = regular;
    for (int i = 0; i < 9; i++) X[i] = F[i];
    for (int k = 0; k < MOST && abut_lanes_any(&moves); k++) improve(X, &moves);
    for (int i = 0; i < 9; i++) R[i] = X[i];
    const abut_lane_mask odd = ~regular | moves;
    if (!abut_lanes_any(&odd)) return;
    for (int l = 0; l < ABUT_LANES; l++)
        if (odd[l]) decompose_lane(F, R, l);
}
