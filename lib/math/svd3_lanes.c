#include "math/svd3_lanes.h"

#include "math/svd3.h"

#include <float.h>

#define INLINE ABUT_LANES_INLINE
#define TINY 1e-140 /* as in svd3.c, whose steps are repeated here with masks for branches */

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
