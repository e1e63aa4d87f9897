/* The singular value decompositions of math/svd3.h, of one matrix. */
#ifndef ABUT_MATH_SVD3_INLINE_H
#define ABUT_MATH_SVD3_INLINE_H

#include "math/elementary_inline.h"
#include "math/mat3.h"

#include <float.h>
#include <math.h>

#define ABUT_SVD3_TINY 1e-140 /* its square is still a normal number; beside it F has an entry of 1e-6 or more */

/* cosine and sine of the rotation that makes [app apq; apq aqq] diagonal, the smaller angle of the two */
ABUT_FN void abut_svd3_jacobi_angle(double app, double apq, double aqq, double *c, double *s)
{
    const double x = aqq - app, y = 2 * apq, h = fabs(x) + sqrt(x * x + y * y), n = sqrt(h * h + y * y);
    *c = h / n;
    *s = (x < 0 ? -y : y) / n;
}

/* columns p and q of A rotated: a_p = c a_p - s a_q, a_q = s a_p + c a_q */
ABUT_FN void abut_svd3_rotate_columns(double A[9], int p, int q, double c, double s)
{
    for (int i = 0; i < 3; i++) {
        const double ap = A[3 * i + p], aq = A[3 * i + q];
        A[3 * i + p] = c * ap - s * aq;
        A[3 * i + q] = s * ap + c * aq;
    }
}

ABUT_FN double abut_svd3_column_dot(const double A[9], int p, int q)
{
    return A[p] * A[q] + A[3 + p] * A[3 + q] + A[6 + p] * A[6 + q];
}

/* One Jacobi rotation on the symmetric matrix with diagonal d[3] and off-diagonal o[3], o[r] = S_pq, r the third index.
 * 0 when the entry is already rounding. */
ABUT_FN int abut_svd3_rotate_symmetric(double d[3], double o[3], double V[9], int p, int q, int r)
{
    const double apq = o[r];
    if (fabs(apq) <= DBL_EPSILON * fabs(d[p] + d[q]) || fabs(apq) < ABUT_SVD3_TINY) return 0;
    double c, s;
    abut_svd3_jacobi_angle(d[p], apq, d[q], &c, &s);
    const double app = d[p], aqq = d[q], apr = o[q], aqr = o[p];
    d[p] = c * c * app - 2 * c * s * apq + s * s * aqq;
    d[q] = s * s * app + 2 * c * s * apq + c * c * aqq;
    o[r] = 0;
    o[q] = c * apr - s * aqr;
    o[p] = s * apr + c * aqr;
    abut_svd3_rotate_columns(V, p, q, c, s);
    return 1;
}

/* V with V^T F^T F V diagonal up to the rounding of F^T F */
ABUT_FN void abut_svd3_right_vectors(const double F[9], double V[9])
{
    double d[3] = { abut_svd3_column_dot(F, 0, 0), abut_svd3_column_dot(F, 1, 1), abut_svd3_column_dot(F, 2, 2) };
    double o[3] = { abut_svd3_column_dot(F, 1, 2), abut_svd3_column_dot(F, 0, 2), abut_svd3_column_dot(F, 0, 1) };
    abut_m3_identity(V);
    for (int sweep = 0; sweep < 8; sweep++) {
        const int turned = abut_svd3_rotate_symmetric(d, o, V, 0, 1, 2) | abut_svd3_rotate_symmetric(d, o, V, 0, 2, 1) |
                           abut_svd3_rotate_symmetric(d, o, V, 1, 2, 0);
        if (!turned) return;
    }
}

/* One-sided Jacobi on two columns of B = F V.  0 when they are orthogonal to rounding (or one of them vanishes). */
ABUT_FN int abut_svd3_rotate_one_sided(double B[9], double V[9], int p, int q)
{
    const double apq = abut_svd3_column_dot(B, p, q), app = abut_svd3_column_dot(B, p, p), aqq = abut_svd3_column_dot(B, q, q);
    const double tol = 4 * DBL_EPSILON;
    if (apq * apq <= tol * tol * app * aqq) return 0;
    double c, s;
    abut_svd3_jacobi_angle(app, apq, aqq, &c, &s);
    abut_svd3_rotate_columns(B, p, q, c, s);
    abut_svd3_rotate_columns(V, p, q, c, s);
    return 1;
}

/* swaps two columns of A and reverses one: a rotation, too */
ABUT_FN void abut_svd3_swap_columns(double A[9], int p, int q)
{
    for (int i = 0; i < 3; i++) {
        const double t = A[3 * i + p];
        A[3 * i + p] = A[3 * i + q];
        A[3 * i + q] = -t;
    }
}

ABUT_FN void abut_svd3_sort_columns(double B[9], double V[9])
{
    double n[3] = { abut_svd3_column_dot(B, 0, 0), abut_svd3_column_dot(B, 1, 1), abut_svd3_column_dot(B, 2, 2) };
    for (int k = 0; k < 3; k++) {
        const int p = k == 1, q = p + 1;
        if (n[p] >= n[q]) continue;
        const double t = n[p];
        n[p] = n[q];
        n[q] = t;
        abut_svd3_swap_columns(B, p, q);
        abut_svd3_swap_columns(V, p, q);
    }
}

/* any unit vector normal to the unit vector u */
ABUT_FN void abut_svd3_any_normal(const double u[3], double n[3])
{
    const double ax = fabs(u[0]), ay = fabs(u[1]), az = fabs(u[2]);
    const int k = ax <= ay && ax <= az ? 0 : ay <= az ? 1 : 2, i = (k + 1) % 3, j = (k + 2) % 3;
    const double len = sqrt(u[i] * u[i] + u[j] * u[j]);
    n[k] = 0;
    n[i] = -u[j] / len;
    n[j] = u[i] / len;
}

/* the rotation U that comes closest to the directions of the sorted orthogonal columns of B, and s = diag(U^T B) */
ABUT_FN void abut_svd3_left_vectors(const double B[9], double U[9], double s[3])
{
    double u[3][3];
    const double n0 = sqrt(abut_svd3_column_dot(B, 0, 0));
    for (int i = 0; i < 3; i++) u[0][i] = n0 > 0 ? B[3 * i] / n0 : i == 0;
    const double along = u[0][0] * B[1] + u[0][1] * B[4] + u[0][2] * B[7];
    for (int i = 0; i < 3; i++) u[1][i] = B[3 * i + 1] - along * u[0][i];
    const double n1 = sqrt(u[1][0] * u[1][0] + u[1][1] * u[1][1] + u[1][2] * u[1][2]);
    if (n1 > ABUT_SVD3_TINY && n1 > 0.5 * fabs(along))
        for (int i = 0; i < 3; i++) u[1][i] /= n1;
    else   /* the column is noise beside the first one */
        abut_svd3_any_normal(u[0], u[1]);
    if (u[1][0] * B[1] + u[1][1] * B[4] + u[1][2] * B[7] < 0)
        for (int i = 0; i < 3; i++) u[1][i] = -u[1][i];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        u[2][i] = u[0][j] * u[1][k] - u[0][k] * u[1][j];
    }
    for (int c = 0; c < 3; c++) {
        s[c] = u[c][0] * B[c] + u[c][1] * B[3 + c] + u[c][2] * B[6 + c];
        for (int i = 0; i < 3; i++) U[3 * i + c] = u[c][i];
    }
}

/* abut_svd3 of an F whose squares of squares are in range */
ABUT_FN void abut_svd3_in_range(const double F[9], double U[9], double s[3], double V[9])
{
    double B[9];
    abut_svd3_right_vectors(F, V);
    abut_m3_mul(B, F, V);
    for (int sweep = 0; sweep < 12; sweep++) {
        const int turned = abut_svd3_rotate_one_sided(B, V, 0, 1) | abut_svd3_rotate_one_sided(B, V, 0, 2) |
                           abut_svd3_rotate_one_sided(B, V, 1, 2);
        if (!turned) break;
    }
    abut_svd3_sort_columns(B, V);
    abut_svd3_left_vectors(B, U, s);
}

/** F = U diag(s) V^T. */
ABUT_FN void abut_svd3_one(const double F[9], double U[9], double s[3], double V[9])
{
    double A[9], big = 0;
    int e = 0;
    for (int i = 0; i < 9; i++) big = fabs(F[i]) > big ? fabs(F[i]) : big;
    if (big > 0 && big <= DBL_MAX && !(big > 0x1p-20 && big < 0x1p20)) e = abut_exponent(big);
    for (int i = 0; i < 9; i++) A[i] = e ? abut_times_power2(F[i], -e) : F[i];
    abut_svd3_in_range(A, U, s, V);
    for (int i = 0; i < 3 && e; i++) s[i] = abut_times_power2(s[i], e);
}

/** F = U diag(s) V^T with the bits of abut_svd32_lanes. */
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
