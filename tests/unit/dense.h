/* Dense twins of what solves on subspaces of a block matrix. */
#ifndef ABUT_TESTS_DENSE_H
#define ABUT_TESTS_DENSE_H

#include "sparse/bsr.h"

#include <math.h>
#include <stdlib.h>

/* A[n * n] */
static inline double *dense_of(const abut_bsr *A)
{
    const size_t n = 3 * (size_t)A->n;
    double *D = calloc(n * n, sizeof *D), *e = calloc(n, sizeof *e);
    for (size_t j = 0; j < n; j++) {
        e[j] = 1;
        abut_bsr_multiply(A, e, D + j * n);
        e[j] = 0;
    }
    free(e);
    return D;
}

/* x = D^-1 b by elimination with pivots; D[m * m] is lost */
static inline void dense_solve(double *D, double *b, size_t m)
{
    for (size_t c = 0; c < m; c++) {
        size_t p = c;
        for (size_t i = c + 1; i < m; i++) p = fabs(D[i * m + c]) > fabs(D[p * m + c]) ? i : p;
        for (size_t j = 0; j < m; j++) {
            const double t = D[c * m + j];
            D[c * m + j] = D[p * m + j];
            D[p * m + j] = t;
        }
        const double t = b[c];
        b[c] = b[p];
        b[p] = t;
        for (size_t i = c + 1; i < m; i++) {
            const double l = D[i * m + c] / D[c * m + c];
            for (size_t j = c; j < m; j++) D[i * m + j] -= l * D[c * m + j];
            b[i] -= l * b[c];
        }
    }
    for (size_t c = m; c-- > 0;) {
        for (size_t j = c + 1; j < m; j++) b[c] -= D[c * m + j] * b[j];
        b[c] /= D[c * m + c];
    }
}

/* z += B (B^T D B)^-1 B^T r for the m columns B[m][n] */
static inline void add_subspace(const double *D, const double *B, size_t m, size_t n, const double *r, double *z)
{
    double *M = calloc(m * m, sizeof *M), *b = calloc(m, sizeof *b), *DB = calloc(m * n, sizeof *DB);
    for (size_t i = 0; i < m; i++)
        for (size_t a = 0; a < n; a++) {
            b[i] += B[i * n + a] * r[a];
            for (size_t c = 0; c < n; c++) DB[i * n + a] += D[c * n + a] * B[i * n + c];
        }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t a = 0; a < n; a++) M[i * m + j] += B[i * n + a] * DB[j * n + a];
    dense_solve(M, b, m);
    for (size_t i = 0; i < m; i++)
        for (size_t a = 0; a < n; a++) z[a] += B[i * n + a] * b[i];
    free(M), free(b), free(DB);
}

#endif
