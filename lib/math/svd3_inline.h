/* The singular value decompositions of math/svd3.h, of one matrix. */
#ifndef ABUT_MATH_SVD3_INLINE_H
#define ABUT_MATH_SVD3_INLINE_H

#include "math/elementary_inline.h"
#include "math/mat3.h"

#include <float.h>
#include <math.h>

#define ABUT_SVD3_TINY 1e-140 /* its square is still a normal number; beside it F has an entry of 1e-6 or more */

#define ABUT_SVD3_DOT(A, p, q) ((A)[p] * (A)[q] + (A)[3 + (p)] * (A)[3 + (q)] + (A)[6 + (p)] * (A)[6 + (q)]) /* of two columns */

#include "math/forms_one.h"
#include "math/svd3_forms.h"
#include "math/forms_end.h"

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
    const double n0 = sqrt(ABUT_SVD3_DOT(B, 0, 0));
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
    abut_svd3_right_vectors_one(F, V);
    abut_m3_mul(B, F, V);
    abut_svd3_columns_one(B, V);
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

#endif
