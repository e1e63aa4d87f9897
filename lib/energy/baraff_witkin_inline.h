/* The membrane of Baraff and Witkin as a finite element (Kim 2020), for the processor and for a GPU: stretch along warp and weft
 * and shear between them, each by itself.  With f_u, f_v the columns of F, what unit lengths along warp and weft become,
 *
 *     psi = sum k_c w(|f_c|) (|f_c| - 1)^2 + k_s (f_u . f_v)^2,   w(s) = 1 for s >= 1, else the factor in compression.
 *
 * Eigenvalues of the second derivative of a stretch: 2 k w along f, 2 k w (1 - 1/|f|) twice across it, which are negative in
 * compression.  For the shear, over 2 k_s, with I = f_u . f_v, N = |f_u|^2 + |f_v|^2, g = (f_v, f_u), S that swaps the halves of
 * a 6-vector: (N +- sqrt(N^2 + 12 I^2))/2 with lambda g + I S g, and +-|I| twice each in the spaces of S, orthogonal to g.  Each
 * is projected by itself, so that the sum lies above the nearest semidefinite matrix. */
#ifndef ABUT_ENERGY_BARAFF_WITKIN_INLINE_H
#define ABUT_ENERGY_BARAFF_WITKIN_INLINE_H

#include "base/fn.h"

#include <math.h>

/* Numbers of a law: stiffness of both stretches, Pa; its factor in compression, in (0, 1]; stiffness of the shear, Pa. */
enum { ABUT_BW_WARP, ABUT_BW_WEFT, ABUT_BW_COMPRESSION, ABUT_BW_SHEAR, ABUT_BW_NUMBERS };

/* A deformation in the plane of the singular vectors. */
typedef struct abut_bw_plane {
    double f[2][2];         /* f_u, f_v */
    double length[2];       /* of these */
    double beyond[2];       /* length - 1, exact near rest */
    double weight[2];       /* k_c w */
    double dot;             /* f_u . f_v */
} abut_bw_plane;

ABUT_FN void abut_bw_plane_of(const double *law, const double s[2], const double V[4], abut_bw_plane *q)
{
    const double e[2] = { (s[0] - 1) * (s[0] + 1), (s[1] - 1) * (s[1] + 1) };
    /* V0 V2 + V1 V3 is 0: of both forms the one of smaller terms */
    const int near_rest = fabs(e[0]) + fabs(e[1]) < s[0] * s[0] + s[1] * s[1];
    q->dot = (near_rest ? e[0] : s[0] * s[0]) * V[0] * V[2] + (near_rest ? e[1] : s[1] * s[1]) * V[1] * V[3];
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 2; i++) q->f[c][i] = s[i] * V[2 * c + i];
        q->length[c] = sqrt(q->f[c][0] * q->f[c][0] + q->f[c][1] * q->f[c][1]);
        q->beyond[c] = (e[0] * V[2 * c] * V[2 * c] + e[1] * V[2 * c + 1] * V[2 * c + 1]) / (q->length[c] + 1);
        q->weight[c] = law[c] * (q->beyond[c] < 0 ? law[ABUT_BW_COMPRESSION] : 1);
    }
}

/** psi at F = U diag(s) V^T, s > 0, J/m^3; P[4] its derivative in the frame of the singular vectors (abut_plane_frame). */
ABUT_FN double abut_bw_stress(const double *law, const double s[2], const double V[4], double P[4])
{
    abut_bw_plane q;
    double psi, d[2][2];
    abut_bw_plane_of(law, s, V, &q);
    psi = law[ABUT_BW_SHEAR] * q.dot * q.dot;
    for (int c = 0; c < 2; c++) {
        psi += q.weight[c] * q.beyond[c] * q.beyond[c];
        for (int i = 0; i < 2; i++)
            d[c][i] = 2 * (q.weight[c] * q.beyond[c] / q.length[c] * q.f[c][i] + law[ABUT_BW_SHEAR] * q.dot * q.f[1 - c][i]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) P[2 * i + j] = d[0][i] * V[j] + d[1][i] * V[2 + j];
    return psi;
}

/* d2psi/df_c df_d of the stretches, projected: H[4][4] in the plane, number 2 c + i; N[2][2] across it */
ABUT_FN void abut_bw_stretch_hessian(const abut_bw_plane *q, int project, double H[4][4], double N[2][2])
{
    for (int c = 0; c < 2; c++) {
        const double across = q->beyond[c] > 0 || !project ? 2 * q->weight[c] * q->beyond[c] / q->length[c] : 0;
        const double along = (2 * q->weight[c] - across) / (q->length[c] * q->length[c]);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                H[2 * c + i][2 * c + j] = along * q->f[c][i] * q->f[c][j] + (i == j ? across : 0);
        N[c][c] = across;
    }
}

/* Adds d2psi/df_c df_d of the shear, projected, to H and N. */
ABUT_FN void abut_bw_shear_hessian(const abut_bw_plane *q, double k, double H[4][4], double N[2][2])
{
    const double I = q->dot, size = fabs(I), sign = I < 0 ? -1 : 1;
    const double *u = q->f[0], *v = q->f[1], g[4] = { v[0], v[1], u[0], u[1] };
    const double sum = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3];
    const double high = 0.5 * (sum + sqrt(sum * sum + 12 * I * I)), t2 = 0.5 * sum + size;
    double w[4], t[4], w2 = 0;
    for (int i = 0; i < 4; i++) {
        const double other = g[(i + 2) % 4];
        w[i] = high * g[i] + I * other;
        t[i] = 0.5 * (g[i] + sign * other);
        w2 += w[i] * w[i];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const double mean = i == j ? 0.5 : (i + 2) % 4 == j ? 0.5 * sign : 0;
            H[i][j] += 2 * k * (high / w2 * w[i] * w[j] + size * (mean - t[i] * t[j] / t2));
        }
    for (int c = 0; c < 2; c++)
        for (int d = 0; d < 2; d++) N[c][d] += k * size * (c == d ? 1 : sign);
}

/* Adds d2psi/df_c df_d of the shear, not projected: 2 k (g g^T + I d2I/df2), g = (f_v, f_u) the derivative of I = f_u . f_v. */
ABUT_FN void abut_bw_shear_as_is(const abut_bw_plane *q, double k, double H[4][4], double N[2][2])
{
    const double *u = q->f[0], *v = q->f[1], g[4] = { v[0], v[1], u[0], u[1] };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) H[i][j] += 2 * k * (g[i] * g[j] + ((i + 2) % 4 == j ? q->dot : 0));
    N[0][1] += 2 * k * q->dot;
    N[1][0] += 2 * k * q->dot;
}

/** G[16] and R[3] (abut_plane_frame): d2psi/dF2 at s > 0; project: stretches and shear each by itself. */
ABUT_FN void abut_bw_hessian(const double *law, const double s[2], const double V[4], int project, double G[16], double R[3])
{
    abut_bw_plane q;
    double H[4][4] = { { 0 } }, N[2][2] = { { 0 } };
    abut_bw_plane_of(law, s, V, &q);
    abut_bw_stretch_hessian(&q, project, H, N);
    if (project) abut_bw_shear_hessian(&q, law[ABUT_BW_SHEAR], H, N);
    else abut_bw_shear_as_is(&q, law[ABUT_BW_SHEAR], H, N);
    for (int a = 0; a < 4; a++)         /* from warp and weft to the columns of V: u_i v_p^T is number 2 i + p */
        for (int b = 0; b < 4; b++) {
            const int i = a / 2, p = a % 2, j = b / 2, r = b % 2;
            G[4 * a + b] = V[p] * (H[i][j] * V[r] + H[i][2 + j] * V[2 + r]) +
                           V[2 + p] * (H[2 + i][j] * V[r] + H[2 + i][2 + j] * V[2 + r]);
        }
    for (int a = 0; a < 3; a++) {
        const int p = a / 2, r = (a + 1) / 2;
        R[a] = V[p] * (N[0][0] * V[r] + N[0][1] * V[2 + r]) + V[2 + p] * (N[1][0] * V[r] + N[1][1] * V[2 + r]);
    }
}

#endif
