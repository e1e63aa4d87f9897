#include "math/spd_inline.h"

#include "math/lanes.h"

#include <float.h>

void abut_sym_eigen(int n, const double *A, double *w, double *Q)
{
    switch (n) {
    case 3: abut_sym_eigen_of(3, A, w, Q); break;
    case 5: abut_sym_eigen_of(5, A, w, Q); break;
    default: abut_sym_eigen_of(n, A, w, Q);
    }
}

int abut_psd_project(int n, double *A)
{
    double w[ABUT_SYM_MAX], Q[ABUT_SYM_MAX * ABUT_SYM_MAX];
    abut_sym_eigen(n, A, w, Q);
    return abut_psd_lift(n, w, Q, A);
}

/* -- four matrices -------------------------------------------------------------------------------------------------- */

/* The algorithm of math/spd_inline.h for four matrices in lockstep: n is a literal at every call, and lanes that are done are
 * rotated by the identity. */
#include "math/forms_lanes.h"
#define MOST 9
#define NO_SQUARE 0x1p-960      /* smaller squares are too inexact for a rotation: they count as 0 */

/* Householder reduction to tridiagonal form, A = Q T Q^T.  In: Q holds A, whose lower triangle is read.  Out: Q, d the diagonal
 * of T, e[1 .. n-1] the entries under it. */
FORM void tridiagonalise(int n, abut_lanes *Q, abut_lanes *d, abut_lanes *e)
{
    for (int i = n - 1; i > 1; i--) {
        abut_lanes *row = Q + n * i, h = ALL(0.), up = ALL(0.);
        for (int k = 0; k < i; k++) h += row[k] * row[k];
        abut_lanes g = h;
        const abut_lanes f = row[i - 1];
        abut_lanes_sqrt(&g);
        const abut_lane_mask some = h > NO_SQUARE;              /* a row of zeros is not reflected */
        g = PICK(f >= 0, -g, g);
        e[i] = PICK(some, g, ALL(0.));
        h -= f * g;
        row[i - 1] = f - g;
        const abut_lanes inv = PICK(some, 1 / h, ALL(0.));
        /* p = A u / h, then A <- A - u q^T - q u^T with q = p - (u.p / 2h) u */
        for (int j = 0; j < i; j++) {
            abut_lanes p = ALL(0.);
            Q[n * j + i] = row[j] * inv;
            for (int k = 0; k <= j; k++) p += Q[n * j + k] * row[k];
            for (int k = j + 1; k < i; k++) p += Q[n * k + j] * row[k];
            e[j] = p * inv;
            up += e[j] * row[j];
        }
        const abut_lanes half = 0.5 * up * inv;
        for (int j = 0; j < i; j++) {
            const abut_lanes u = row[j], q = e[j] - half * u;
            e[j] = q;
            for (int k = 0; k <= j; k++) Q[n * j + k] -= u * e[k] + q * row[k];
        }
    }
    e[1] = Q[n];
    for (int i = 0; i < n; i++) {   /* the product of the reflections, from the innermost out */
        for (int j = 0; j < i && i > 1; j++) {
            abut_lanes g = ALL(0.);
            for (int k = 0; k < i; k++) g += Q[n * i + k] * Q[n * k + j];
            for (int k = 0; k < i; k++) Q[n * k + j] -= g * Q[n * k + i];
        }
        d[i] = Q[n * i + i];
        Q[n * i + i] = ALL(1.);
        for (int j = 0; j < i; j++) Q[n * j + i] = Q[n * i + j] = ALL(0.);
    }
}

/* *m: end of the block that begins at l, in each lane; l if the block is done.  Returns 0 if it is done in all lanes. */
FORM int block_end(int n, int l, const abut_lanes *d, const abut_lanes *e, abut_lane_mask *m)
{
    *m = (abut_lane_mask){ n - 1, n - 1, n - 1, n - 1 };
    for (int k = n - 2; k >= l; k--) {
        const abut_lane_mask small = ABUT_LANES_ABS(e[k]) <= DBL_EPSILON * (ABUT_LANES_ABS(d[k]) + ABUT_LANES_ABS(d[k + 1]));
        *m = (small & k) | (~small & *m);
    }
    const abut_lane_mask left = *m > l;
    return abut_lanes_any(&left);
}

/* One implicit QL sweep with the shift of the 2x2 block at l, on rows l .. m of each lane; e[k] couples k and k + 1, rows of Q
 * are eigenvectors. */
FORM void ql_sweep(int n, int l, const abut_lane_mask *m, abut_lanes *d, abut_lanes *e, abut_lanes *Q)
{
    abut_lane_mask on = *m > l;
    const abut_lanes el = PICK(on, e[l], ALL(1.));
    abut_lanes g = (d[l + 1] - d[l]) / (2 * el), r = g * g + 1, c = ALL(1.), s = ALL(1.), p = ALL(0.), last = d[l];
    abut_lanes_sqrt(&r);
    for (int k = l + 1; k < n; k++) last = PICK(*m == k, d[k], last);
    g = last - d[l] + el / (g + PICK(g < 0, -r, r));
    for (int i = n - 2; i >= l; i--) {
        const abut_lane_mask turns = on & (*m > i);
        const abut_lanes f = s * e[i], b = c * e[i];
        r = f * f + g * g;
        const abut_lane_mask apart = turns & (r < NO_SQUARE), goes = turns & ~apart;    /* the matrix has come apart here */
        abut_lanes_sqrt(&r);
        const abut_lanes inv = 1 / PICK(goes, r, ALL(1.)), was = d[i + 1] - p;
        e[i + 1] = PICK(goes, r, PICK(apart, ALL(0.), e[i + 1]));
        e[i] = PICK(apart, b, e[i]);
        s = PICK(goes, f * inv, s);
        c = PICK(goes, g * inv, c);
        const abut_lanes t = (d[i] - was) * s + 2 * c * b;
        d[i + 1] = PICK(goes, was + s * t, PICK(apart, was, d[i + 1]));
        p = PICK(goes, s * t, p);
        g = PICK(goes, c * t - b, g);
        on &= ~apart;
        const abut_lanes ct = PICK(goes, c, ALL(1.)), st = PICK(goes, s, ALL(0.));
        for (int k = 0; k < n; k++) {
            const abut_lanes u = Q[n * i + k], v = Q[n * (i + 1) + k];
            Q[n * (i + 1) + k] = st * u + ct * v;
            Q[n * i + k] = ct * u - st * v;
        }
    }
    d[l] = PICK(on, d[l] - p, d[l]);
    e[l] = PICK(on, g, e[l]);
    for (int k = l + 1; k < n; k++) e[k] = PICK((*m == k) & (*m > l), ALL(0.), e[k]);
}

/* Rows of Q: unit eigenvectors of the eigenvalues w. */
FORM void eigen(int n, const abut_lanes *A, abut_lanes *w, abut_lanes *Q)
{
    abut_lanes e[MOST];
    abut_lane_mask m = { 0 };
    for (int i = 0; i < n * n; i++) Q[i] = A[i];
    tridiagonalise(n, Q, w, e);
    for (int i = 1; i < n; i++) e[i - 1] = e[i];
    e[n - 1] = ALL(0.);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const abut_lanes t = Q[n * i + j];
            Q[n * i + j] = Q[n * j + i];
            Q[n * j + i] = t;
        }
    for (int l = 0; l < n - 1; l++)
        for (int sweep = 0; sweep < 60 && block_end(n, l, w, e, &m); sweep++) ql_sweep(n, l, &m, w, e, Q);  /* two are usual */
}

FORM void project(int n, abut_lanes *A)
{
    abut_lanes w[MOST], Q[MOST * MOST];
    eigen(n, A, w, Q);
    for (int k = 0; k < n; k++) {
        const abut_lanes lift = PICK(w[k] < 0, -w[k], ALL(0.));
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) A[n * i + j] += lift * Q[n * k + i] * Q[n * k + j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[n * j + i] = A[n * i + j];
}

ABUT_LANES_CLONES
void abut_psd_project3_lanes(abut_lanes *A)
{
    project(3, A);
}

ABUT_LANES_CLONES
void abut_psd_project4_lanes(abut_lanes *A)
{
    project(4, A);
}

ABUT_LANES_CLONES
void abut_psd_project5_lanes(abut_lanes *A)
{
    project(5, A);
}

ABUT_LANES_CLONES
void abut_psd_project9_lanes(abut_lanes *A)
{
    project(9, A);
}
