#include "sparse/mas/dense.h"

#include "base/simd.h"

#include <math.h>

enum { N = ABUT_MAS_SIDE, LANES = ABUT_MAS_LANES };

/* Least pivot as a fraction of its diagonal entry: smaller ones are rounding. */
static const double least = 1e-13;

ABUT_SIMD
unsigned abut_mas_dense_factor(double *restrict M)
{
    double smallest[N][LANES];
    unsigned bad = 0;
    for (size_t k = 0; k < N; k++)
        for (int c = 0; c < LANES; c++) smallest[k][c] = least * M[LANES * abut_mas_entry(k, k) + (size_t)c];
    for (size_t k = 0; k < N; k++) {
        double *column = M + LANES * abut_mas_entry(k, k), inverse[LANES];
        for (int c = 0; c < LANES; c++) {
            const int good = column[c] > smallest[k][c] && smallest[k][c] > 0;
            if (!good) bad |= 1u << c;
            inverse[c] = 1 / sqrt(good ? column[c] : 1);
        }
        for (int c = 0; c < LANES; c++) column[c] = inverse[c];
        for (size_t i = 1; i < N - k; i++)
            for (int c = 0; c < LANES; c++) column[LANES * i + (size_t)c] *= inverse[c];
        for (size_t j = 1; j < N - k; j++) {
            double *to = M + LANES * abut_mas_entry(k + j, k + j), factor[LANES];
            const double *from = column + LANES * j;
            for (int c = 0; c < LANES; c++) factor[c] = from[c];
            for (size_t i = 0; i < N - k - j; i++)
                for (int c = 0; c < LANES; c++) to[LANES * i + (size_t)c] -= from[LANES * i + (size_t)c] * factor[c];
        }
    }
    return bad;
}

ABUT_SIMD
void abut_mas_dense_solve(const float *restrict L, double *restrict x)
{
    for (size_t k = 0; k < N; k++) {
        const float *column = L + LANES * abut_mas_entry(k, k);
        double y[LANES];
        for (int c = 0; c < LANES; c++) y[c] = x[LANES * k + (size_t)c] *= (double)column[c];
        for (size_t i = 1; i < N - k; i++)
            for (int c = 0; c < LANES; c++) x[LANES * (k + i) + (size_t)c] -= (double)column[LANES * i + (size_t)c] * y[c];
    }
    for (size_t k = N; k-- > 0;) {
        const float *column = L + LANES * abut_mas_entry(k, k);
        double y[LANES];
        for (int c = 0; c < LANES; c++) y[c] = x[LANES * k + (size_t)c];
        for (size_t i = 1; i < N - k; i++)
            for (int c = 0; c < LANES; c++) y[c] -= (double)column[LANES * i + (size_t)c] * x[LANES * (k + i) + (size_t)c];
        for (int c = 0; c < LANES; c++) x[LANES * k + (size_t)c] = y[c] * (double)column[c];
    }
}
