#include "math/svd3.h"

#include "math/mat3.h"
#include "math/svd3_inline.h"

void abut_svd3(const double F[9], double U[9], double s[3], double V[9])
{
    abut_svd3_one(F, U, s, V);
}

/* -- four 3x3 matrices ---------------------------------------------------------------------------------------------- */

#include "math/forms_lanes.h"
#include "math/svd3_forms.h"
#include "math/forms_end.h"

/* U and s; flat: the lanes whose first two columns do not span a plane */
ABUT_LANES_INLINE void left_vectors(const abut_lanes *B, abut_lanes *U, abut_lanes *s, abut_lane_mask *flat)
{
    abut_lanes u[3][3];
    abut_lanes n0 = ABUT_SVD3_DOT(B, 0, 0);
    abut_lanes_sqrt(&n0);
    for (int i = 0; i < 3; i++) u[0][i] = B[3 * i] / n0;
    const abut_lanes along = u[0][0] * B[1] + u[0][1] * B[4] + u[0][2] * B[7];
    for (int i = 0; i < 3; i++) u[1][i] = B[3 * i + 1] - along * u[0][i];
    abut_lanes n1 = u[1][0] * u[1][0] + u[1][1] * u[1][1] + u[1][2] * u[1][2];
    abut_lanes_sqrt(&n1);
    for (int i = 0; i < 3; i++) u[1][i] = u[1][i] / n1;
    const abut_lane_mask against = u[1][0] * B[1] + u[1][1] * B[4] + u[1][2] * B[7] < 0;
    for (int i = 0; i < 3; i++) u[1][i] = ABUT_LANES_PICK(against, -u[1][i], u[1][i]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        u[2][i] = u[0][j] * u[1][k] - u[0][k] * u[1][j];
    }
    for (int c = 0; c < 3; c++) {
        s[c] = u[c][0] * B[c] + u[c][1] * B[3 + c] + u[c][2] * B[6 + c];
        for (int i = 0; i < 3; i++) U[3 * i + c] = u[c][i];
    }
    *flat = ~((n1 > ABUT_SVD3_TINY) & (n1 > 0.5 * ABUT_LANES_ABS(along)));
}

/* one lane by the scalar routine */
static void repeat_lane(const abut_lanes *F, abut_lanes *U, abut_lanes *s, abut_lanes *V, int l)
{
    double f[9], u[9], sv[3], v[9];
    for (int i = 0; i < 9; i++) f[i] = F[i][l];
    abut_svd3(f, u, sv, v);
    for (int i = 0; i < 9; i++) U[i][l] = u[i], V[i][l] = v[i];
    for (int i = 0; i < 3; i++) s[i][l] = sv[i];
}

ABUT_LANES_CLONES
void abut_svd3_lanes(const abut_lanes *F, abut_lanes *U, abut_lanes *s, abut_lanes *V)
{
    abut_lanes B[9], W[9], big = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) {
        const abut_lanes size = ABUT_LANES_ABS(F[i]);
        big = ABUT_LANES_PICK(size > big, size, big);
    }
    abut_svd3_right_vectors_lanes(F, W);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = F[3 * i] * W[j] + F[3 * i + 1] * W[3 + j] + F[3 * i + 2] * W[6 + j];
    abut_svd3_columns_lanes(B, W);
    abut_lane_mask flat;
    left_vectors(B, U, s, &flat);
    for (int i = 0; i < 9; i++) V[i] = W[i];
    const abut_lane_mask odd = flat | ~((big > 0x1p-20) & (big < 0x1p20));
    if (!abut_lanes_any(&odd)) return;
    for (int l = 0; l < ABUT_LANES; l++)
        if (odd[l]) repeat_lane(F, U, s, V, l);
}

/* -- four 3x2 matrices ---------------------------------------------------------------------------------------------- */

ABUT_LANES_CLONES
void abut_svd32_lanes(const abut_lanes F[6], abut_lanes U[6], abut_lanes s[2], abut_lanes V[4])
{
    abut_thin_svd_lanes(F, U, s, V);
}

/* -- rotations ------------------------------------------------------------------------------------------------------ */

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
