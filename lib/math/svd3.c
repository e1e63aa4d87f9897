#include "math/svd3.h"

#include "math/mat3.h"
#include "math/svd3_inline.h"

#include <float.h>

void abut_svd3(const double F[9], double U[9], double s[3], double V[9])
{
    abut_svd3_one(F, U, s, V);
}

/* -- four 3x3 matrices ---------------------------------------------------------------------------------------------- */

#define INLINE ABUT_LANES_INLINE
#define TINY 1e-140 /* as in math/svd3_inline.h, whose steps are repeated here with masks for branches */

#define COLUMN_DOT(A, p, q) ((A)[p] * (A)[q] + (A)[3 + (p)] * (A)[3 + (q)] + (A)[6 + (p)] * (A)[6 + (q)])

INLINE void turn_columns(abut_lanes *A, int p, int q, const abut_lanes *c, const abut_lanes *s)
{
    for (int i = 0; i < 3; i++) {
        const abut_lanes ap = A[3 * i + p], aq = A[3 * i + q];
        A[3 * i + p] = *c * ap - *s * aq;
        A[3 * i + q] = *s * ap + *c * aq;
    }
}

/* adds the lanes that are rotated to *turned */
INLINE void turn_symmetric(abut_lanes *d, abut_lanes *o, abut_lanes *V, int p, int q, int r, abut_lane_mask *turned)
{
    const abut_lanes apq = o[r], size = ABUT_LANES_ABS(apq), sum = d[p] + d[q];
    const abut_lane_mask need = ~((size <= DBL_EPSILON * ABUT_LANES_ABS(sum)) | (size < TINY));
    if (!abut_lanes_any(&need)) return;
    abut_lanes c, s;
    abut_lanes_jacobi(&need, &d[p], &apq, &d[q], &c, &s);
    const abut_lanes app = d[p], aqq = d[q], apr = o[q], aqr = o[p];
    d[p] = c * c * app - 2 * c * s * apq + s * s * aqq;
    d[q] = s * s * app + 2 * c * s * apq + c * c * aqq;
    o[r] = ABUT_LANES_PICK(need, ABUT_LANES_ALL(0.), apq);
    o[q] = c * apr - s * aqr;
    o[p] = s * apr + c * aqr;
    turn_columns(V, p, q, &c, &s);
    *turned |= need;
}

INLINE void right_vectors(const abut_lanes *F, abut_lanes *V)
{
    abut_lanes d[3] = { COLUMN_DOT(F, 0, 0), COLUMN_DOT(F, 1, 1), COLUMN_DOT(F, 2, 2) };
    abut_lanes o[3] = { COLUMN_DOT(F, 1, 2), COLUMN_DOT(F, 0, 2), COLUMN_DOT(F, 0, 1) };
    for (int i = 0; i < 9; i++) V[i] = i % 4 ? ABUT_LANES_ALL(0.) : ABUT_LANES_ALL(1.);
    for (int sweep = 0; sweep < 8; sweep++) {
        abut_lane_mask turned = { 0 };
        turn_symmetric(d, o, V, 0, 1, 2, &turned);
        turn_symmetric(d, o, V, 0, 2, 1, &turned);
        turn_symmetric(d, o, V, 1, 2, 0, &turned);
        if (!abut_lanes_any(&turned)) return;
    }
}

INLINE void turn_one_sided(abut_lanes *B, abut_lanes *V, int p, int q, abut_lane_mask *turned)
{
    const abut_lanes apq = COLUMN_DOT(B, p, q), app = COLUMN_DOT(B, p, p), aqq = COLUMN_DOT(B, q, q);
    const double tol = 4 * DBL_EPSILON;
    const abut_lane_mask need = ~(apq * apq <= tol * tol * app * aqq);
    if (!abut_lanes_any(&need)) return;
    abut_lanes c, s;
    abut_lanes_jacobi(&need, &app, &apq, &aqq, &c, &s);
    turn_columns(B, p, q, &c, &s);
    turn_columns(V, p, q, &c, &s);
    *turned |= need;
}

INLINE void swap_columns(const abut_lane_mask *m, abut_lanes *A, int p, int q)
{
    for (int i = 0; i < 3; i++) {
        const abut_lanes ap = A[3 * i + p], aq = A[3 * i + q];
        A[3 * i + p] = ABUT_LANES_PICK(*m, aq, ap);
        A[3 * i + q] = ABUT_LANES_PICK(*m, -ap, aq);
    }
}

INLINE void sort_columns(abut_lanes *B, abut_lanes *V)
{
    static const int order[3][2] = { { 0, 1 }, { 1, 2 }, { 0, 1 } };
    abut_lanes n[3] = { COLUMN_DOT(B, 0, 0), COLUMN_DOT(B, 1, 1), COLUMN_DOT(B, 2, 2) };
    for (int k = 0; k < 3; k++) {
        const int p = order[k][0], q = order[k][1];
        const abut_lane_mask m = ~(n[p] >= n[q]);
        const abut_lanes np = n[p];
        n[p] = ABUT_LANES_PICK(m, n[q], np);
        n[q] = ABUT_LANES_PICK(m, np, n[q]);
        swap_columns(&m, B, p, q);
        swap_columns(&m, V, p, q);
    }
}

/* U and s; flat: the lanes whose first two columns do not span a plane */
INLINE void left_vectors(const abut_lanes *B, abut_lanes *U, abut_lanes *s, abut_lane_mask *flat)
{
    abut_lanes u[3][3];
    abut_lanes n0 = COLUMN_DOT(B, 0, 0);
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
    *flat = ~((n1 > TINY) & (n1 > 0.5 * ABUT_LANES_ABS(along)));
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
    right_vectors(F, W);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = F[3 * i] * W[j] + F[3 * i + 1] * W[3 + j] + F[3 * i + 2] * W[6 + j];
    for (int sweep = 0; sweep < 12; sweep++) {
        abut_lane_mask turned = { 0 };
        turn_one_sided(B, W, 0, 1, &turned);
        turn_one_sided(B, W, 0, 2, &turned);
        turn_one_sided(B, W, 1, 2, &turned);
        if (!abut_lanes_any(&turned)) break;
    }
    sort_columns(B, W);
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
