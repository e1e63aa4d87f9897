/* 3x3 matrices as raw double[9], row major: A[3 i + j] is row i, column j.  Outputs may not overlap inputs. */
#ifndef ABUT_MATH_MAT3_H
#define ABUT_MATH_MAT3_H

#include "base/fn.h"

#include <string.h>

ABUT_FN void abut_m3_identity(double A[9])
{
    memset(A, 0, 9 * sizeof *A);
    A[0] = A[4] = A[8] = 1;
}

/** C = A B */
ABUT_FN void abut_m3_mul(double C[9], const double A[9], const double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/** C = A B^T */
ABUT_FN void abut_m3_mul_nt(double C[9], const double A[9], const double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/** C -= A B^T */
ABUT_FN void abut_m3_subtract_nt(double C[9], const double A[9], const double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] -= A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/** y[3] += A x, and y += A^T x */
ABUT_FN void abut_m3_add_times(double *y, const double *A, const double *x)
{
    for (int i = 0; i < 3; i++) y[i] += A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}
ABUT_FN void abut_m3_add_t_times(double *y, const double *A, const double *x)
{
    for (int i = 0; i < 3; i++) y[i] += A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

/** C = cofactors of A = d det A / dA; C = det(A) A^-T where the inverse exists. */
ABUT_FN void abut_m3_cofactor(double C[9], const double A[9])
{
    C[0] = A[4] * A[8] - A[5] * A[7];
    C[1] = A[5] * A[6] - A[3] * A[8];
    C[2] = A[3] * A[7] - A[4] * A[6];
    C[3] = A[2] * A[7] - A[1] * A[8];
    C[4] = A[0] * A[8] - A[2] * A[6];
    C[5] = A[1] * A[6] - A[0] * A[7];
    C[6] = A[1] * A[5] - A[2] * A[4];
    C[7] = A[2] * A[3] - A[0] * A[5];
    C[8] = A[0] * A[4] - A[1] * A[3];
}

ABUT_FN double abut_m3_det(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) + A[1] * (A[5] * A[6] - A[3] * A[8]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/** C = A^-1 by cofactors; returns det A.  Not finite when det A is 0. */
ABUT_FN double abut_m3_inverse(double C[9], const double A[9])
{
    double cof[9];
    abut_m3_cofactor(cof, A);
    const double det = A[0] * cof[0] + A[1] * cof[1] + A[2] * cof[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = cof[3 * j + i] / det;
    return det;
}

#endif
