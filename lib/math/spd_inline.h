/* Small dense symmetric matrices: eigenvalues and the nearest positive semidefinite matrix. */
#ifndef ABUT_MATH_SPD_INLINE_H
#define ABUT_MATH_SPD_INLINE_H

#include "math/elementary_inline.h"

#include <float.h>
#include <math.h>

enum { ABUT_SYM_MAX = 12 };

/** A = Q^T diag(w) Q of a symmetric n x n matrix, 1 <= n <= ABUT_SYM_MAX.
 *
 * A  [n * n] row major; the lower triangle is read
 * w  [n]     eigenvalues, in no order
 * Q  [n * n] row k (Q[n k + i]) is the unit eigenvector of w[k]
 * Householder tridiagonalisation and the implicit QL iteration (Wilkinson and Reinsch 1971, tred2 and imtql2):
 * backward stable, errors of a few units of rounding of the largest |w|, however small the entries are beside each other or all
 * of them; they must be less than 1e150. */
void abut_sym_eigen(int n, const double *A, double *w, double *Q);

/** Replaces A [n * n], symmetric, by the positive semidefinite matrix nearest to it in the Frobenius norm: negative
 * eigenvalues become 0 (Teran et al. 2005).  Adds only the correction, so a semidefinite A keeps its bits.
 * Returns the number of negative eigenvalues. */
int abut_psd_project(int n, double *A);

/* ---- for kernels: n is a literal, so that loops unroll ---- */

/* In a matrix of at least this size, a number without a normal square is far below its rounding. */
#define ABUT_SYM_LEAST 0x1p-300
#define ABUT_SYM_NO_SQUARE 0x1p-960

#ifdef __CUDACC__
#define ABUT_SYM_FN ABUT_FN
#else
#define ABUT_SYM_FN static inline __attribute__((always_inline))
#endif

/* Householder reduction to tridiagonal form: A = Q T Q^T.  In: Q holds A.  Out: Q, d the diagonal of T, e[1 .. n-1] the
 * entries under it. */
ABUT_SYM_FN void abut_sym_tridiagonalise(int n, double *Q, double *d, double *e)
{
    for (int i = n - 1; i > 0; i--) {
        double *row = Q + n * i, h = 0, scale = 0;
        for (int k = 0; k < i; k++) scale += fabs(row[k]);
        if (i == 1 || scale == 0) {
            e[i] = row[i - 1];
            d[i] = 0;
            continue;
        }
        for (int k = 0; k < i; k++) {
            row[k] /= scale;
            h += row[k] * row[k];
        }
        const double f = row[i - 1], g = f >= 0 ? -sqrt(h) : sqrt(h);
        e[i] = scale * g;
        h -= f * g;
        row[i - 1] = f - g;
        /* p = A u / h, then A <- A - u q^T - q u^T with q = p - (u.p / 2h) u */
        double up = 0;
        for (int j = 0; j < i; j++) {
            double p = 0;
            Q[n * j + i] = row[j] / h;
            for (int k = 0; k <= j; k++) p += Q[n * j + k] * row[k];
            for (int k = j + 1; k < i; k++) p += Q[n * k + j] * row[k];
            e[j] = p / h;
            up += e[j] * row[j];
        }
        const double half = up / (h + h);
        for (int j = 0; j < i; j++) {
            const double u = row[j], q = e[j] - half * u;
            e[j] = q;
            for (int k = 0; k <= j; k++) Q[n * j + k] -= u * e[k] + q * row[k];
        }
        d[i] = h;
    }
    d[0] = e[0] = 0;
    for (int i = 0; i < n; i++) {   /* the product of the reflections, from the innermost out */
        if (d[i] != 0)
            for (int j = 0; j < i; j++) {
                double g = 0;
                for (int k = 0; k < i; k++) g += Q[n * i + k] * Q[n * k + j];
                for (int k = 0; k < i; k++) Q[n * k + j] -= g * Q[n * k + i];
            }
        d[i] = Q[n * i + i];
        Q[n * i + i] = 1;
        for (int j = 0; j < i; j++) Q[n * j + i] = Q[n * i + j] = 0;
    }
}

/* rows k and k + 1 of Q rotated */
ABUT_SYM_FN void abut_sym_turn(int n, double *Q, int k, double c, double s)
{
    double *p = Q + n * k, *q = p + n;
    for (int i = 0; i < n; i++) {
        const double a = p[i], b = q[i];
        q[i] = s * a + c * b;
        p[i] = c * a - s * b;
    }
}

/* One implicit QL sweep with the shift of the 2x2 block at l, on rows l .. m.  Returns whether it met a gap that T had come to
 * have by underflow. */
ABUT_SYM_FN int abut_sym_ql_sweep(int n, int l, int m, double *d, double *e, double *Q)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
    g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
    double c = 1, s = 1, p = 0;
    for (int i = m - 1; i >= l; i--) {
        const double f = s * e[i], b = c * e[i];
        const double r2 = f * f + g * g;
        r = sqrt(r2);
        e[i + 1] = r;
        if (r2 < ABUT_SYM_NO_SQUARE) {   /* the matrix has come apart here: r has no digits to rotate by */
            d[i + 1] -= p;
            e[i] = b;
            e[i + 1] = e[m] = 0;
            return 1;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        abut_sym_turn(n, Q, i, c, s);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
    return 0;
}

ABUT_FN double abut_sym_size_of(int n, const double *d, const double *e)
{
    double size = 0;
    for (int i = 0; i < n; i++) size += fabs(d[i]) + fabs(e[i]);
    return size;
}

/* Returns 0, or the size of the matrix if it is too small for squares: w and Q are then undefined. */
ABUT_SYM_FN double abut_sym_eigen_once(int n, const double *A, double *w, double *Q)
{
    double e[ABUT_SYM_MAX];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) Q[n * i + j] = Q[n * j + i] = A[n * i + j];
    abut_sym_tridiagonalise(n, Q, w, e);
    for (int i = 1; i < n; i++) e[i - 1] = e[i];
    e[n - 1] = 0;
    for (int i = 0; i < n; i++)   /* eigenvectors into rows: the sweeps rotate two at a time */
        for (int j = 0; j < i; j++) {
            const double t = Q[n * i + j];
            Q[n * i + j] = Q[n * j + i];
            Q[n * j + i] = t;
        }
    for (int l = 0; l < n; l++)
        for (int sweep = 0; sweep < 60; sweep++) {   /* two are usual; 60 is beyond any case known */
            int m = l;
            while (m < n - 1 && fabs(e[m]) > DBL_EPSILON * (fabs(w[m]) + fabs(w[m + 1]))) m++;
            if (m == l) break;
            if (!abut_sym_ql_sweep(n, l, m, w, e, Q)) continue;
            const double size = abut_sym_size_of(n, w, e);
            if (size < ABUT_SYM_LEAST) return size;
        }
    return 0;
}

/** abut_sym_eigen. */
ABUT_SYM_FN void abut_sym_eigen_of(int n, const double *A, double *w, double *Q)
{
    const double small = abut_sym_eigen_once(n, A, w, Q);
    if (!(small > 0)) return;
    double B[ABUT_SYM_MAX * ABUT_SYM_MAX];
    const int exponent = abut_exponent(small);
    for (int i = 0; i < n * n; i++) B[i] = abut_times_power2(A[i], -exponent);
    (void)abut_sym_eigen_once(n, B, w, Q);
    for (int i = 0; i < n; i++) w[i] = abut_times_power2(w[i], exponent);
}

/** abut_psd_project from the eigenvalues w[n] and eigenvectors Q[n * n] of A. */
ABUT_SYM_FN int abut_psd_lift(int n, const double *w, const double *Q, double *A)
{
    int negative = 0;
    for (int k = 0; k < n; k++) {
        if (!(w[k] < 0)) continue;
        const double *q = Q + n * k;
        negative++;
        for (int i = 0; i < n; i++) {
            const double f = -w[k] * q[i];
            for (int j = 0; j <= i; j++) A[n * i + j] += f * q[j];
        }
    }
    if (!negative) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[n * j + i] = A[n * i + j];
    return negative;
}

/** abut_psd_project of a 3x3 matrix. */
ABUT_FN int abut_psd_project3(double A[9])
{
    double w[3], Q[9];
    abut_sym_eigen_of(3, A, w, Q);
    return abut_psd_lift(3, w, Q, A);
}

/** 1 when the pivots of the symmetric A[9] are positive: then it needs no projection. */
ABUT_FN int abut_is_definite3(const double A[9])
{
    const double l1 = A[3] / A[0], l2 = A[6] / A[0];
    const double d1 = A[4] - l1 * A[3], e = A[7] - l1 * A[6];
    return (A[0] > 0) & (d1 > 0) & (A[8] - l2 * A[6] - e * e / d1 > 0);
}

#endif
