#include "linalg/spd_lanes.h"

#include <float.h>

#define INLINE ABUT_LANES_INLINE
#define TINY 1e-140 /* its square is still a normal number */

/* rotates rows and columns p, q of A and rows p, q of Q; entries under the diagonal of A are kept up, n is a literal */
INLINE void turn(int n, abut_lanes *A, abut_lanes *Q, int p, int q, const abut_lanes *small, abut_lane_mask *turned)
{
    const abut_lanes app = A[n * p + p], aqq = A[n * q + q], apq = A[n * q + p], size = ABUT_LANES_ABS(apq);
    const abut_lane_mask need = size > *small;
    if (!abut_lanes_any(&need)) return;
    abut_lanes c, s;
    abut_lanes_jacobi(&need, &app, &apq, &aqq, &c, &s);
    const abut_lanes mixed = 2 * c * s * apq;
    A[n * p + p] = c * c * app - mixed + s * s * aqq;
    A[n * q + q] = s * s * app + mixed + c * c * aqq;
    A[n * q + p] = ABUT_LANES_PICK(need, ABUT_LANES_ALL(0.), apq);
    for (int k = 0; k < n; k++) {
        const abut_lanes qp = Q[n * p + k], qq = Q[n * q + k];
        Q[n * p + k] = c * qp - s * qq;
        Q[n * q + k] = s * qp + c * qq;
        if (k == p || k == q) continue;
        abut_lanes *kp = &A[k > p ? n * k + p : n * p + k], *kq = &A[k > q ? n * k + q : n * q + k];
        const abut_lanes akp = *kp, akq = *kq;
        *kp = c * akp - s * akq;
        *kq = s * akp + c * akq;
    }
    *turned |= need;
}

INLINE void project(int n, abut_lanes *A)
{
    const int odd = n - 1 + n % 2;
    abut_lanes D[25], Q[25], small = ABUT_LANES_ALL(0.);
    for (int i = 0; i < n * n; i++) {
        D[i] = A[i];
        Q[i] = i % (n + 1) ? ABUT_LANES_ALL(0.) : ABUT_LANES_ALL(1.);
        small += A[i] * A[i];
    }
    abut_lanes_sqrt(&small);
    small = 0.5 * DBL_EPSILON * small + TINY;
    for (int sweep = 0; sweep < 20; sweep++) {   /* six are many */
        abut_lane_mask turned = { 0 };
        /* round robin: the pairs of one round are disjoint, so their latencies overlap; the last of an even number stays */
        for (int r = 0; r < odd; r++) {
            for (int k = 1; k <= odd / 2; k++) {
                const int a = (r + k) % odd, b = (r + odd - k) % odd;
                turn(n, D, Q, a < b ? a : b, a < b ? b : a, &small, &turned);
            }
            if (odd < n) turn(n, D, Q, r, odd, &small, &turned);
        }
        if (!abut_lanes_any(&turned)) break;
    }
    for (int k = 0; k < n; k++) {
        const abut_lanes w = D[n * k + k], lift = ABUT_LANES_PICK(w < 0, -w, ABUT_LANES_ALL(0.));
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
